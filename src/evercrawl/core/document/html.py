"""Parsing of HTML and text answers into documents. Never raises, whatever the bytes are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import orjson
from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.change.snapshot import pack_snapshot, take_snapshot
from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.elements import Attributes, Elements, is_refresh, parse_tree
from evercrawl.core.document.encoding import (
    Charset,
    decode_body,
    detect_charset,
    detect_text_charset,
    is_utf8_compatible,
)
from evercrawl.core.document.links import (
    HeaderLink,
    collapse_space,
    extract_embeds,
    extract_links,
    parse_link_header,
    parse_refresh,
    parse_srcset,
)
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.document.metadata import extract_headings, extract_metadata, parse_directives
from evercrawl.core.document.native_pass import (
    IS_HARMLESS,
    MAY_HAVE_ROOTS,
    MAY_NAME_LICENCE,
    extract_main_text,
    scan_elements,
    survey,
)
from evercrawl.core.document.reference import ReferenceResolver
from evercrawl.core.url import canonical_of_href, join, parse, without_user
from evercrawl.core.usage_terms import page_terms
from evercrawl.model.document import Alternate, Directives, Document, Refresh
from evercrawl.model.fetch import Headers, header, header_values
from evercrawl.model.settings import ParseSettings
from evercrawl.model.user_agent import product_token

MAX_ALTERNATES = 1000
MAX_LANG_CHARS = 35  # RFC 5646 section 4.4.1.
FEED_TYPES = frozenset(("application/rss+xml", "application/atom+xml", "application/feed+json"))


class ScanOptions(NamedTuple):
    """What is wanted of a page whose nodes, embeds and code are not."""

    wants_texts: bool


class ParsedPage(NamedTuple):
    """A parsed page with its encoding, the number of bytes left out, and the others if one may name a licence."""

    tree: LexborHTMLParser
    elements: Elements
    encoding: str
    unread: int
    markup: bytes


def _html_document(
    url: str,
    headers: Headers,
    page: ParsedPage,
    *,
    agent: str,
    limits: ParseSettings,
    all_details: bool,
    wants_snapshot: bool,
    wants_outline: bool,
) -> Document:
    tree, elements, encoding, unread, markup = page
    base = base_url(url, elements.base)
    resolver = ReferenceResolver(url, base, encoding)
    alternates = _alternates(elements, headers, resolver)
    body = tree.body
    title = page_title(elements, limits)
    stated = extract_metadata(tree, elements)
    document = Document(
        encoding=encoding,
        base_url=base,
        title=title,
        author=stated.author,
        published=stated.published,
        modified=stated.modified,
        lang=_lang(tree, elements.metas, headers),
        links=extract_links(elements, resolver, limits, with_text=all_details or wants_outline),
        embeds=extract_embeds(elements, resolver) if all_details else (),
        canonical=canonical_link(elements, headers, resolver),
        alternates=alternates,
        feeds=tuple(dict.fromkeys(other.url for other in alternates if other.type in FEED_TYPES)),
        refresh=find_refresh(url, headers, elements.metas, resolver),
        robots=robots_directives(headers, elements.metas, agent=agent),
        terms=page_terms(url, tree, elements, markup, agent=product_token(agent).lower()),
        text=extract_main_text(body, most_chars=limits.max_text_chars, title=title) if body is not None else "",
        headings=extract_headings(elements) if all_details or wants_outline else (),
        snapshot=pack_snapshot(take_snapshot(tree, elements)) if wants_snapshot else None,
        unread=unread,
    )
    resolver.close()
    return document


MAX_BASE_CHARS = 4096  # A longer base element does not count: every link of the page would be as long.


def base_url(page_url: str, href: str | None) -> str:
    """Return the URL that references resolve against: the first usable base element (HTML 4.2.3)."""
    if href is None or len(href) > MAX_BASE_CHARS:
        return page_url
    joined = join(page_url, href) if page_url else parse(href)
    return page_url if joined is None or joined.startswith(("data:", "javascript:")) else joined


def robots_directives(headers: Headers, metas: list[Attributes], *, agent: str) -> Directives:
    """Return what the page asks of robots."""
    named = [(meta.get("name") or "", meta.get("content") or "") for meta in metas if meta.get("name")]
    return parse_directives(product_token(agent), named, header_values(headers, "x-robots-tag"))


def page_title(elements: Elements, limits: ParseSettings) -> str | None:
    """Return the title with collapsed space."""
    if elements.title is None:
        return None
    return collapse_space(elements.title, limits.max_title_chars) or None


def _lang(tree: LexborHTMLParser, metas: list[Attributes], headers: Headers) -> str | None:
    """Return the language of the root element, else of the meta element or header if it names just one."""
    root = tree.root.attributes if tree.root is not None else {}
    lang = root.get("lang") or root.get("xml:lang")
    for meta in metas if not lang else ():
        if (meta.get("http-equiv") or "").lower() == "content-language":
            lang = meta.get("content")
            break
    lang = (lang or header(headers, "content-language") or "").strip()
    return lang if 0 < len(lang) <= MAX_LANG_CHARS and "," not in lang and " " not in lang else None


def canonical_link(elements: Elements, headers: Headers, resolver: ReferenceResolver) -> str | None:
    """Return the canonical URL from a link element in the head, else from the Link header (RFC 6596)."""
    for attributes, rel, is_in_head in elements.relations:
        if is_in_head and "canonical" in rel:
            return resolver.resolve(attributes.get("href") or "")
    for link in _header_links(headers):
        if "canonical" in link.rel:
            return resolver.resolve(link.reference)
    return None


def _alternates(elements: Elements, headers: Headers, resolver: ReferenceResolver) -> tuple[Alternate, ...]:
    found: dict[Alternate, None] = {}
    for attributes, rel, _ in elements.relations:
        if "alternate" in rel and "stylesheet" not in rel:
            _add_alternate(
                found,
                resolver.resolve(attributes.get("href") or ""),
                attributes.get("hreflang"),
                attributes.get("type"),
            )
    for link in _header_links(headers):
        if "alternate" in link.rel and "stylesheet" not in link.rel:
            _add_alternate(found, resolver.resolve(link.reference), link.hreflang, link.type)
    return tuple(found)[:MAX_ALTERNATES]


def _add_alternate(found: dict[Alternate, None], url: str | None, hreflang: str | None, media_type: str | None) -> None:
    if url is not None:
        kind = (media_type or "").partition(";")[0].strip().lower() or None
        found[Alternate(url, (hreflang or "").strip() or None, kind)] = None


def _header_links(headers: Headers) -> Iterator[HeaderLink]:
    for value in header_values(headers, "link"):
        yield from parse_link_header(value)


def find_refresh(
    page_url: str, headers: Headers, metas: list[Attributes], resolver: ReferenceResolver
) -> Refresh | None:
    """Return the first usable refresh; the header precedes the page (HTML 7.4.2.1 and 4.2.5.3)."""
    contents = [header(headers, "refresh") or ""]
    contents += [meta.get("content") or "" for meta in metas if is_refresh(meta)]
    for content in contents:
        target = parse_refresh(content)
        if target is None:
            continue
        url = resolver.resolve(target.reference) if target.reference else page_url
        if url is not None:
            return Refresh(float(target.delay), url)
    return None


_CUT_AFTER_VALUE = re.compile(rb"<[A-Za-z][^<>]*=\s*(?:\"[^\"<>]*\"|'[^'<>]*')\s*\Z")
MAX_CUT_TAG_BYTES = 4096
# XML closes any element this way; in HTML the rest of the page would be inside it.
_SELF_CLOSED = re.compile(rb"<(a|div|iframe|noscript|p|script|span|style|textarea|title)(\s[^<>]*)?/>")
_STREAMED = re.compile(rb'<div hidden(?:="")? id="([^"<>]{0,40})S:([0-9a-f]+)">')
MAX_STREAMED = 100  # Parts of a page that its server sent later.
_TEMPLATE = re.compile(rb"<(/?)template\b([^<>]*)>", re.IGNORECASE)


def parse_document(
    url: str,
    headers: Headers,
    body: bytes,
    *,
    agent: str,
    limits: ParseSettings,
    all_details: bool = True,
    wants_snapshot: bool = False,
    wants_outline: bool = False,
) -> Document:
    """Return the document of an answer; types other than HTML and text have no links and no text.
    Without `all_details` anchor texts, headings and embeds are left out (`wants_outline`: only the embeds)."""
    kind = sniff_media_type(headers, body)
    if kind in HTML_TYPES:
        outline = None if all_details else ScanOptions(wants_outline)
        return _html_document(
            url,
            headers,
            parse_page(headers, body, kind=kind, outline=outline),
            agent=agent,
            limits=limits,
            all_details=all_details,
            wants_snapshot=wants_snapshot,
            wants_outline=wants_outline,
        )
    text = ""
    charset = detect_text_charset(body, header(headers, "content-type"))
    if kind.startswith("text/"):
        text = decode_body(body[charset.bom_bytes :], charset.encoding)[: limits.max_text_chars].replace("\0", "�")
    return Document(charset.encoding, url, text=text, robots=robots_directives(headers, [], agent=agent))


def parse_page(
    headers: Headers,
    body: bytes,
    *,
    kind: str = "text/html",
    every_anchor: bool = False,
    outline: ScanOptions | None = None,
) -> ParsedPage:
    """Parse an HTML page as far as it is safe."""
    marks = survey(body)
    repaired = _repair_markup(body, kind, marks)
    if repaired is not body:
        body, marks = repaired, survey(repaired)
    charset = detect_charset(body, header(headers, "content-type"))
    return _parse_with_charset(body, charset, marks, every_anchor=every_anchor, outline=outline)


def _repair_markup(body: bytes, kind: str, marks: int) -> bytes:
    if kind == "application/xhtml+xml":
        body = _SELF_CLOSED.sub(rb"<\1\2></\1>", body)
    if marks & MAY_HAVE_ROOTS:
        body = open_shadow_roots(body)
    if b"S:" in body and b"<div hidden" in body:
        body = _join_streamed(body)
    if not body.endswith((b">", b">\n")) and _CUT_AFTER_VALUE.search(body, max(0, len(body) - MAX_CUT_TAG_BYTES)):
        # The page is cut inside a tag, after a complete value: keep the tag.
        body += b">"
    return body


def _join_streamed(body: bytes) -> bytes:
    """Return a page with the parts that React's server sends later where its script puts them; until then they are
    hidden at the end. A part without a place is shown where it is."""
    joined, *parts = _STREAMED.split(body, MAX_STREAMED)
    for prefix, number, rest in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        part, end, tail = rest.rpartition(b"</div><script")
        before, mark, after = joined.partition(b'<template id="%bB:%b"></template>' % (prefix, number))
        if mark:  # What stands there until then ends with this comment.
            after = after.partition(b"<!--/$-->")[2] or after
        else:
            before, mark, after = joined.partition(b'<template id="%bP:%b"></template>' % (prefix, number))
        joined = b"".join((before, part, after, end[6:], tail) if mark and end else (joined, b"<div>", rest))
    return joined.replace(b'<div hidden id="S:', b'<div id="S:')


def open_shadow_roots(body: bytes) -> bytes:
    """Return a page with elements instead of declarative shadow roots: browsers show them, unlike other templates."""
    if b"shadowrootmode" not in body:
        return body
    opened: list[bool] = []

    def replaced(tag: re.Match[bytes]) -> bytes:
        if not tag[1]:
            opened.append(b"shadowrootmode" in tag[2])
            return b"<div>" if opened[-1] else tag[0]
        return b"</div>" if opened and opened.pop() else tag[0]

    return _TEMPLATE.sub(replaced, body)


def _parse_with_charset(
    body: bytes, charset: Charset, marks: int, *, every_anchor: bool, outline: ScanOptions | None
) -> ParsedPage:
    """Build the tree, and again if the page declares another encoding."""
    encoding = charset.encoding
    whole = body[charset.bom_bytes :] if charset.bom_bytes else body
    body = whole if marks & IS_HARMLESS else truncate_markup(whole)
    tree, elements = _build(body, encoding, every_anchor=every_anchor, outline=outline)
    if charset.is_tentative and elements.charset not in (None, encoding):
        encoding = elements.charset or encoding
        tree, elements = _build(body, encoding, every_anchor=every_anchor, outline=outline)
    licences = body if marks & MAY_NAME_LICENCE else b""
    return ParsedPage(tree, elements, encoding, len(whole) - len(body), licences)


def _build(
    body: bytes, encoding: str, *, every_anchor: bool, outline: ScanOptions | None
) -> tuple[LexborHTMLParser, Elements]:
    tree = parse_tree(body if is_utf8_compatible(body, encoding) else decode_body(body, encoding))
    scanned = scan_elements(tree, wants_texts=outline.wants_texts) if outline is not None else None
    return tree, Elements(tree, every_anchor=every_anchor, scanned=scanned)


# Assets: what a browser loads to show the page. CSS is read as tokens (CSS Syntax 3), so that URLs in comments and
# plain strings do not count.

MAX_ICONS = 50  # Of a web app manifest.
MAX_CSS_CHARS = 5_000_000  # Characters of one style sheet that are read.
STYLE_TYPE = "text/css"
_STRING = r""""(?:[^"\\\n]|\\(?:\r\n|.))*+"?|'(?:[^'\\\n]|\\(?:\r\n|.))*+'?"""
_TOKEN = re.compile(
    rf"""/\*(?:[^*]|\*(?!/))*+(?:\*/)?|(?P<string>{_STRING})|(?P<rule>@(?:import|namespace|charset)\b)
    |url\(\s*+(?:(?P<quoted>{_STRING})|(?P<bare>(?:[^\s"'()\\]|\\.)*+))\s*+(?:\)|\Z)|(?P<set>image-set\()|(?P<mark>[();{{}}])""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\f\r]?|(\r\n|.))", re.DOTALL)
_NOT_PLAIN = re.compile(r"[\x00-\x20\"'()\\\x7f]")
# Elements whose references the parser does not collect: SVG images and sprites, and backgrounds of early HTML.
_OTHER_SELECTOR = "image, use, feImage, body[background], table[background], td[background], th[background], [style]"
LAZY_SOURCES = ("data-src", "data-lazy-src", "data-original", "data-bg")
LAZY_SRCSETS = ("data-srcset", "data-lazy-srcset")
"""Attributes from which scripts take the images of elements that come into view."""
_LAZY_SELECTOR = ", ".join(f"{tag}[{name}]" for name in LAZY_SOURCES + LAZY_SRCSETS for tag in ("img", "source", "div"))
_LOOKS_LIKE_FILE = re.compile(r"[^\s/.]*[/.]\S+")

Place = Callable[[str], str | None]  # Reference as written -> what to write instead; None: leave it as it is.


class _Reference(NamedTuple):
    """A reference in a style sheet: its position, its text, and whether it stands in `url()`."""

    start: int
    end: int
    text: str
    is_function: bool


def _references(css: str) -> Iterator[_Reference]:
    rule, set_depth, depth = "", 0, 0
    for token in _TOKEN.finditer(css):
        if token["rule"]:
            rule = token["rule"].lower()
        elif token["set"]:
            depth += 1
            set_depth = set_depth or depth
        elif mark := token["mark"]:
            depth += (mark == "(") - (mark == ")")
            if depth < set_depth:
                set_depth = 0
            if mark in ";{}":
                rule, depth, set_depth = "", 0, 0
        elif token["string"]:
            if rule == "@import" or (set_depth and depth == set_depth):
                yield _Reference(token.start(), token.end(), _unescape(token["string"][1:]), is_function=False)
                rule = ""
        elif (token["quoted"] or token["bare"]) and rule not in ("@namespace", "@charset"):
            quoted = token["quoted"]
            yield _Reference(token.start(), token.end(), _unescape(quoted[1:] if quoted else token["bare"]), True)
            rule = ""


def _unescape(text: str) -> str:
    """Return a CSS string without its closing quote and escapes."""
    text = text[:-1] if text[-1:] in ('"', "'") and not text.endswith(("\\'", '\\"')) else text
    return _ESCAPE.sub(_unescape_one, text) if "\\" in text else text


def _unescape_one(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "�"
    return "" if match[2] in ("\n", "\r\n", "\f") else match[2]


def css_references(css: str) -> list[str]:
    """Return the references of a style sheet: `url()`, `@import` and `image-set()`."""
    return [found.text for found in _references(css[:MAX_CSS_CHARS])]


def rewrite_css(css: str, place: Place) -> str:
    """Return a style sheet with every reference replaced."""
    parts, at = [], 0
    for found in _references(css):
        new = place(found.text)
        if new is not None:
            escaped = _NOT_PLAIN.sub(lambda bad: f"\\{ord(bad[0]):x} ", new)
            parts += [css[at : found.start], f'url("{escaped}")' if found.is_function else f'"{escaped}"']
            at = found.end
    return "".join((*parts, css[at:]))


_SRCSET = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)((?:[^(),]|\([^)]*+\)?)*+)")


def rewrite_srcset(srcset: str, place: Place) -> str:
    """Return the candidates of a srcset with every reference replaced."""
    candidates, at = [], 0
    while match := _SRCSET.match(srcset, at):
        at = match.end()
        url, descriptors = match[1], match[2]
        if url.endswith(","):
            url, descriptors, at = url.rstrip(","), "", match.end(1)
        new = place(url) or url
        candidates.append(f"{new.replace(',', '%2C').replace(' ', '%20')} {descriptors.strip()}".strip())
    return ", ".join(candidates)


def page_assets(url: str, headers: Headers, body: bytes) -> tuple[str, ...]:
    """Return the assets of a page, canonical and each once; empty if it is not HTML."""
    kind = sniff_media_type(headers, body)
    if kind not in HTML_TYPES:
        return ()
    tree, elements, encoding, *_ = parse_page(headers, body, kind=kind)
    base = base_url(url, elements.base)
    resolver = ReferenceResolver(url, base, encoding)
    found = list(extract_embeds(elements, resolver))
    resolver.close()
    references: list[str] = []
    for node in tree.css(_OTHER_SELECTOR):
        attributes = node.attributes
        references += css_references(attributes.get("style") or "")
        if node.tag in ("image", "use", "feimage"):
            references.append(attributes.get("href") or attributes.get("xlink:href") or "")
        references.append(attributes.get("background") or "")
    for node in tree.css(_LAZY_SELECTOR):
        sets = (parse_srcset(node.attributes.get(name) or "") for name in LAZY_SRCSETS)
        written = [*(node.attributes.get(name) or "" for name in LAZY_SOURCES), *chain.from_iterable(sets)]
        references += filter(_LOOKS_LIKE_FILE.fullmatch, written)
    for node in tree.css("style"):
        references += css_references(node.text() or "")
    return tuple(dict.fromkeys([*_canonical_each(found), *_resolve(references, base)]))


def style_assets(url: str, headers: Headers, body: bytes) -> tuple[str, ...]:
    """Return the assets of a style sheet, canonical and each once."""
    return tuple(dict.fromkeys(_resolve(css_references(decode_style(headers, body)), url)))


def manifest_assets(url: str, body: bytes) -> tuple[str, ...]:
    """Return the icons of a web app manifest, canonical and each once."""
    try:
        manifest = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ()
    icons = manifest.get("icons") if isinstance(manifest, dict) else None
    icons = icons[:MAX_ICONS] if isinstance(icons, list) else []
    found = [icon["src"] for icon in icons if isinstance(icon, dict) and isinstance(icon.get("src"), str)]
    return tuple(dict.fromkeys(_resolve(found, url)))


def is_manifest(headers: Headers, url: str) -> bool:
    """Return whether an asset is a web app manifest, by its type or its name."""
    kind = (header(headers, "content-type") or "").partition(";")[0].strip().lower()
    return kind == "application/manifest+json" or url.partition("?")[0].endswith(("manifest.json", ".webmanifest"))


def decode_style(headers: Headers, body: bytes) -> str:
    """Return the text of a style sheet."""
    charset = detect_text_charset(body, header(headers, "content-type"))
    return decode_body(body[charset.bom_bytes :], charset.encoding)


def is_style(headers: Headers, url: str) -> bool:
    """Return whether an asset is a style sheet, by its type or, if it has none, by its name."""
    kind = (header(headers, "content-type") or "").partition(";")[0].strip().lower()
    return kind == STYLE_TYPE or (not kind and url.partition("?")[0].endswith(".css"))


def _resolve(references: list[str], base: str) -> list[str]:
    joined = (join(base, written) for text in references if (written := text.strip()) and not written.startswith("#"))
    return _canonical_each([href for href in joined if href is not None])


def _canonical_each(hrefs: list[str]) -> list[str]:
    return [name for href in hrefs if (name := canonical_of_href(without_user(href))) is not None]
