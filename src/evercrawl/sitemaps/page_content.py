"""Summarise a page for the sitemap: a digest of its own content, and whether it may be listed.
The digest covers title, description, texts and links of the main part. Menus, sidebars, footers, scripts, styles,
comments, white space, timestamps and counters are ignored, so a new menu entry does not change every page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.change.noise import significant_text
from evercrawl.core.change.snapshot import (
    BODY,
    NAME_CLASSES,
    REGION_BITS,
    SITE,
    SITE_BY_NAME,
    Snapshot,
    is_site_role,
    take_snapshot,
)
from evercrawl.core.digest import content_digest, text_digest
from evercrawl.core.document.elements import Elements, tag_ids
from evercrawl.core.document.html import (
    base_url,
    canonical_link,
    find_refresh,
    page_title,
    parse_page,
    robots_directives,
)
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.document.reference import ReferenceResolver
from evercrawl.model.fetch import Headers
from evercrawl.model.settings import ParseSettings

MAX_NAMED_RATIO = 2
"""If parts that look like navigation by name are this many times larger than the rest, ignore their names."""

_SITE_ELEMENTS = tag_ids("nav aside footer dialog menu")
_HEADER = tag_ids("header")
_OWN_ELEMENTS = tag_ids("main article")
_DIGIT = re.compile(r"\d")
_LIMITS = ParseSettings()
_FIELD, _ENTRY = "\x1e", "\x1f"


class ContentSummary(NamedTuple):
    """What a sitemap needs to know about a page."""

    digest: bytes  # Equal for equal content.
    title: str = ""
    noindex: bool = False
    canonical: str | None = None  # The page's canonical URL.
    moves_to: str | None = None  # Target of an immediate redirect.


def read_content(url: str, headers: Headers, body: bytes, *, agent: str, site: str) -> ContentSummary:
    """Summarise a file or a response. For anything but HTML, every byte counts.
    Links below `site` are digested without it, so that moving a whole site does not change its pages."""
    kind = sniff_media_type(headers, body)
    if kind not in HTML_TYPES:
        return ContentSummary(content_digest(body), noindex=robots_directives(headers, [], agent=agent).noindex)
    tree, elements, encoding, *_ = parse_page(headers, body, kind=kind, every_anchor=True)
    resolver = ReferenceResolver(url, base_url(url, elements.base), encoding)
    refresh = find_refresh(url, headers, elements.metas, resolver)
    reading = ContentSummary(
        digest=_digest(tree, elements, resolver, site),
        title=page_title(elements, _LIMITS) or _headline(tree),
        noindex=robots_directives(headers, elements.metas, agent=agent).noindex,
        canonical=canonical_link(elements, headers, resolver),
        moves_to=refresh.url if refresh is not None and refresh.delay == 0 else None,
    )
    resolver.close()
    return reading


def _headline(tree: LexborHTMLParser) -> str:
    node = tree.css_first("h1")
    return " ".join(node.text_lexbor().split())[: _LIMITS.max_title_chars] if node is not None else ""


def _digest(tree: LexborHTMLParser, elements: Elements, resolver: ReferenceResolver, site: str) -> bytes:
    snapshot = take_snapshot(tree, elements)
    texts = (significant_text(text) if _DIGIT.search(text) else text for text in own_texts(snapshot))
    links = _ENTRY.join(target.removeprefix(site) for target in _own_links(elements, resolver))
    about = snapshot.metadata
    return text_digest(_FIELD.join((about.title, about.description, _ENTRY.join(filter(None, texts)), links)))


def own_texts(snapshot: Snapshot) -> list[str]:
    """Return the text blocks outside of navigation, or all of them if there are no others."""
    blocks = list(zip(snapshot.flags, snapshot.texts, strict=True))
    chars = [0] * (REGION_BITS + 1)
    for flag, text in blocks:
        chars[flag & REGION_BITS] += len(text)
    free = sum(chars[BODY:SITE_BY_NAME])
    first_refused = SITE if chars[SITE_BY_NAME] > MAX_NAMED_RATIO * free else SITE_BY_NAME
    own = [text for flag, text in blocks if flag & REGION_BITS < first_refused]
    return own or list(snapshot.texts)


def _own_links(elements: Elements, resolver: ReferenceResolver) -> Iterator[str]:
    """Return the targets of links outside of navigation, in order."""
    cache: dict[int, bool] = {}
    for _, node, attributes in elements.links:
        href = attributes.get("href")
        if href and node is not None and not _is_in_site_part(node.parent, cache):
            target = resolver.resolve(href)
            if target is not None:
                yield target


def _is_in_site_part(node: LexborNode | None, cache: dict[int, bool]) -> bool:
    """Check whether an element is inside navigation; cache the answer for its ancestors."""
    visited: list[int] = []
    is_site = False
    while node is not None:
        identity = node.mem_id
        if identity in cache:
            is_site = cache[identity]
            break
        visited.append(identity)
        if node.tag_id in _OWN_ELEMENTS:
            break
        if _is_site_part(node):
            is_site = True
            break
        node = node.parent
    cache.update(dict.fromkeys(visited, is_site))
    return is_site


def _is_site_part(node: LexborNode) -> bool:
    if node.tag_id in _SITE_ELEMENTS or node.tag_id in _HEADER:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".strip()
    return bool(names and NAME_CLASSES[names].is_site) or is_site_role(attributes.get("role"))
