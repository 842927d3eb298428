"""Links and embedded resources of a page: anchors, Link headers, refreshes and srcset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from evercrawl.core.document.elements import AREA, LINK, META, A, Attributes, Elements, FoundLink, is_nofollow, tag_id
from evercrawl.core.document.reference import ReferenceResolver
from evercrawl.model.document import Link
from evercrawl.model.settings import ParseSettings

MAX_HEADER_LINKS = 200

_LINK = re.compile(r'<([^<>]*+)>((?:[^,"<]|"(?:[^"\\]|\\.)*+"?+)*+)', re.DOTALL)
_PARAMETER = re.compile(r';\s*+([^\s=;,"]++)\s*+(?:=\s*+(?:"((?:[^"\\]|\\.)*+)"?|([^\s;,"]*+)))?', re.DOTALL)


class HeaderLink(NamedTuple):
    """A link of a Link header; `rel` holds its relation types in lower case."""

    reference: str
    rel: frozenset[str]
    hreflang: str | None
    type: str | None


def parse_link_header(value: str) -> Iterator[HeaderLink]:
    """Yield the links of a Link header (RFC 8288 section 3) except those about another page (`anchor`)."""
    for count, match in enumerate(_LINK.finditer(value)):
        if count >= MAX_HEADER_LINKS:
            return
        parameters: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(match[2]):
            parameters.setdefault(name.lower(), quoted or bare)
        if "anchor" not in parameters:
            rel = frozenset(parameters.get("rel", "").lower().split())
            yield HeaderLink(match[1].strip(), rel, parameters.get("hreflang"), parameters.get("type"))


MAX_DELAY_DIGITS = 9

_DELAY = re.compile(r"[\t\n\f\r ]*(?:([0-9]+)|(?=\.))[0-9.]*")
_SEPARATOR = re.compile(r"(?:[;,]|[\t\n\f\r ])")
_GAP = re.compile(r"[\t\n\f\r ]*[;,]?[\t\n\f\r ]*")
_URL_NAME = re.compile(r"url[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)


class RefreshTarget(NamedTuple):
    """Delay in seconds and the reference as written; an empty one is the page itself."""

    delay: int
    reference: str


def parse_refresh(content: str) -> RefreshTarget | None:
    """Parse the content of a refresh (HTML standard, "shared declarative refresh steps")."""
    match = _DELAY.match(content)
    if match is None:
        return None
    delay = int((match[1] or "0")[:MAX_DELAY_DIGITS])
    at = match.end()
    if at < len(content) and not _SEPARATOR.match(content, at):
        return None
    gap = _GAP.match(content, at)
    rest = content[gap.end() if gap else at :]
    return RefreshTarget(delay, _target(rest))


def _target(rest: str) -> str:
    name = _URL_NAME.match(rest)
    if name is not None:
        rest = rest[name.end() :]
    return rest[1:].partition(rest[0])[0] if rest[:1] in ('"', "'") else rest


MAX_CANDIDATES = 200

_BEFORE_URL = re.compile(r"[\t\n\f\r ,]*")
_URL = re.compile(r"[^\t\n\f\r ]+")
_DESCRIPTORS = re.compile(r"(?:[^(),]|\([^)]*\)?)*")
_WIDTH = re.compile(r"[0-9]+w\Z")
_HEIGHT = re.compile(r"[0-9]+h\Z")
_DENSITY = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?x\Z")
_SPACE_OUTSIDE_PARENTHESES = re.compile(r"(?:[^\t\n\f\r (]|\([^)]*\)?)+")


def parse_srcset(srcset: str) -> list[str]:
    """Return the references of the valid candidates (HTML standard, "parse a srcset attribute")."""
    found: list[str] = []
    at = 0
    while len(found) < MAX_CANDIDATES:
        at = _end(_BEFORE_URL, srcset, at)
        match = _URL.match(srcset, at)
        if match is None:
            break
        url, at = match[0], match.end()
        if url.endswith(","):
            found.append(url.rstrip(","))
            continue
        end = _end(_DESCRIPTORS, srcset, at)
        if _are_valid(_SPACE_OUTSIDE_PARENTHESES.findall(srcset[at:end])):
            found.append(url)
        at = end + 1
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _are_valid(descriptors: list[str]) -> bool:
    """Allow one width or density; a height only with a width; no zero width, no negative density."""
    widths = [word for word in descriptors if _WIDTH.match(word)]
    heights = [word for word in descriptors if _HEIGHT.match(word)]
    densities = [word for word in descriptors if _DENSITY.match(word)]
    if len(widths) + len(heights) + len(densities) != len(descriptors):
        return False
    if len(widths) > 1 or len(heights) > 1 or len(densities) > 1 or (densities and (widths or heights)):
        return False
    if heights and not widths:
        return False
    return all(int(word[:-1][:18]) > 0 for word in widths + heights) and all(
        float(word[:-1]) >= 0 for word in densities
    )


MAX_EMBEDS = 10_000
SPACE_FACTOR = 4  # Multiple of a text's limit that is read before its space is collapsed.

_IMAGE, _OBJECT, _INPUT = tag_id("img"), tag_id("object"), tag_id("input")


def extract_links(
    elements: Elements, resolver: ReferenceResolver, limits: ParseSettings, *, with_text: bool = True
) -> tuple[Link, ...]:
    """Return the links of a page, each URL once; nofollow only if every occurrence is."""
    if elements.anchors is not None:
        found = _found_links(elements, limits.max_anchor_chars, with_text=with_text)
        others = [(place, *link) for place, link in zip(elements.places, found, strict=True) if link is not None]
        chars = limits.max_anchor_chars if with_text else 0
        return elements.anchors.links(resolver, others, limits.max_links, chars)
    index_of: dict[str, int] = {}
    links: list[Link] = []
    most = limits.max_links
    for link in _found_links(elements, limits.max_anchor_chars, with_text=with_text):
        if link is None:
            continue
        reference, text, nofollow = link
        url = resolver.resolve(reference)
        if url is None:
            continue
        index = index_of.get(url)
        if index is not None:
            if links[index].nofollow and not nofollow:
                links[index] = links[index]._replace(nofollow=False)
            continue
        if len(links) >= most:
            break
        index_of[url] = len(links)
        links.append(Link(url, text, nofollow))
    return tuple(links)


def _found_links(elements: Elements, most_chars: int, *, with_text: bool) -> list[FoundLink | None]:
    """Return the links in document order, as written; None: an element has no reference."""
    found: list[FoundLink | None] = []
    for tag, node, attributes in elements.links:
        reference = attributes.get("href") if tag == A else _reference(tag, attributes)
        if reference is None and (reference := attributes.get("xlink:href")) is None:
            found.append(None)
            continue
        text = _anchor_text(node, most_chars) if with_text and tag == A and node is not None else ""
        if with_text and not text:
            text = _fallback_text(tag, node, attributes, most_chars)
        found.append((reference, text, is_nofollow(attributes)))
    return found


def _anchor_text(node: LexborNode, most_chars: int) -> str:
    text: str = node.text_lexbor()
    return collapse_space(text, most_chars) if text else ""


def collapse_space(text: str, most_chars: int) -> str:
    """Return the text with single spaces, cut to a length."""
    if len(text) > most_chars:
        return " ".join(text[: most_chars * SPACE_FACTOR].split())[:most_chars]
    return " ".join(text.split())


def _reference(tag: int, attributes: Attributes) -> str | None:
    """Return the page that an element other than `a` refers to."""
    if tag in (AREA, LINK):
        return attributes.get("href")
    if tag == META:
        target = parse_refresh(attributes.get("content") or "")
        return (target.reference or None) if target is not None else None
    return attributes.get("src") or None


def _fallback_text(tag: int, node: LexborNode | None, attributes: Attributes, most_chars: int) -> str:
    """Return the alternative text of an image or a title, for a link without text."""
    if tag == A and node is not None:
        images = (inner.attributes for inner in node.traverse() if inner.tag_id == _IMAGE)
        alternative = next((image["alt"] for image in images if "alt" in image), None)
        return collapse_space(alternative or "", most_chars)
    return collapse_space(attributes.get("alt" if tag == AREA else "title") or "", most_chars)


def extract_embeds(elements: Elements, resolver: ReferenceResolver) -> tuple[str, ...]:
    """Return what a browser loads to show the page: images, styles, scripts and other media."""
    found: dict[str, None] = {}
    for node in elements.embeds:
        for reference in _loaded_references(node.tag_id, node.attributes):
            url = resolver.resolve(reference)
            if url is not None:
                found[url] = None
        if len(found) >= MAX_EMBEDS:
            break
    return tuple(found)[:MAX_EMBEDS]


def _loaded_references(tag: int, attributes: Attributes) -> Iterator[str]:
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
            yield from parse_srcset(candidates)
