"""Where does this page lead, and what does it load? Absolute, without fragment, in order, each once."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from evercrawl.core.document.element import AREA, LINK, META, A, Attributes, Elements, asks_not_to_follow
from evercrawl.core.document.reference import Joiner
from evercrawl.core.document.refresh import parse_refresh
from evercrawl.core.document.srcset import srcset_urls
from evercrawl.core.document.tag import tag_id
from evercrawl.model.document import Link
from evercrawl.model.settings import ParseSettings

MOST_EMBEDS = 10_000
SPACE_FACTOR = 4
"""So many times its limit of a text is looked at before the space in it is collapsed."""

_IMAGE, _OBJECT, _INPUT = tag_id("img"), tag_id("object"), tag_id("input")


def links_of(elements: Elements, joiner: Joiner, limits: ParseSettings, *, with_text: bool = True) -> tuple[Link, ...]:
    """The links; one that stands on the page several times is nofollow only where it is so each time."""
    places: dict[str, int] = {}
    links: list[Link] = []
    most, most_chars = limits.links, limits.anchor_chars
    for tag, node, attributes in elements.links:
        reference = attributes.get("href") if tag == A else _reference(tag, attributes)
        if reference is None and (reference := attributes.get("xlink:href")) is None:
            continue
        url = joiner.url(reference)
        if url is None:
            continue
        place = places.get(url)
        if place is not None:
            if links[place].nofollow and not asks_not_to_follow(attributes):
                links[place] = links[place]._replace(nofollow=False)
            continue
        if len(links) >= most:
            break
        places[url] = len(links)
        text = node.text_lexbor() if with_text and tag == A else ""
        if text:
            text = " ".join(text.split()) if len(text) <= most_chars else collapsed(text, most_chars)
        if with_text and not text:
            text = _substitute(tag, node, attributes, most_chars)
        links.append(Link(url, text, asks_not_to_follow(attributes)))
    return tuple(links)


def collapsed(text: str, most_chars: int) -> str:
    """The text with single spaces, at most so long."""
    if len(text) > most_chars:
        return " ".join(text[: most_chars * SPACE_FACTOR].split())[:most_chars]
    return " ".join(text.split())


def _reference(tag: int, attributes: Attributes) -> str | None:
    """What an element other than `a` refers to, if that is a page."""
    if tag in (AREA, LINK):
        return attributes.get("href")
    if tag == META:
        target = parse_refresh(attributes.get("content") or "")
        return (target.reference or None) if target is not None else None
    return attributes.get("src") or None


def _substitute(tag: int, node: LexborNode, attributes: Attributes, most_chars: int) -> str:
    """What stands for the anchor text where there is none: the alternative text of an image, or a title."""
    if tag == A:
        images = (inner.attributes for inner in node.traverse() if inner.tag_id == _IMAGE)
        alternative = next((image["alt"] for image in images if "alt" in image), None)
        return collapsed(alternative or "", most_chars)
    return collapsed(attributes.get("alt" if tag == AREA else "title") or "", most_chars)


def embeds_of(elements: Elements, joiner: Joiner) -> tuple[str, ...]:
    """What a browser would load to show the page: images, styles, scripts and other media."""
    found: dict[str, None] = {}
    for node in elements.embeds:
        for reference in _loaded(node.tag_id, node.attributes):
            url = joiner.url(reference)
            if url is not None:
                found[url] = None
        if len(found) >= MOST_EMBEDS:
            break
    return tuple(found)[:MOST_EMBEDS]


def _loaded(tag: int, attributes: Attributes) -> Iterator[str]:
    names: tuple[str, ...] = ("src", "poster")
    if tag == LINK:
        names = ("href",)
    elif tag == _INPUT:
        names = ("src",) if (attributes.get("type") or "").lower() == "image" else ()
    elif tag == _OBJECT:
        names = ("data",)
    for name in names:
        reference = attributes.get(name)
        if reference:
            yield reference
    for name in ("srcset", "imagesrcset"):
        candidates = attributes.get(name)
        if candidates:
            yield from srcset_urls(candidates)
