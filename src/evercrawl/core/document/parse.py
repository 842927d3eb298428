"""Bytes to a document: which kind of content is this, and what does it say? Never raises, whatever the bytes
are.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from evercrawl.core.document.bounds import bounded
from evercrawl.core.document.charset import Charset, charset_of, charset_of_text
from evercrawl.core.document.codec import decoded, is_same_as_utf8
from evercrawl.core.document.element import Elements, tree_of
from evercrawl.core.document.html import directives_of, html_document
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers, header
from evercrawl.model.settings import ParseSettings

SNIFFED_BYTES = 1445
"""MIME Sniffing standard, section 5: more is never looked at."""
HTML_TYPES = ("text/html", "application/xhtml+xml")

_ESSENCE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_MARKUP = re.compile(rb"<(?:!doctype|!--|\?xml|/?[a-z][a-z0-9]*[\s/>])", re.IGNORECASE)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_CUT_BEHIND_A_VALUE = re.compile(rb"<[A-Za-z][^<>]*=\s*(?:\"[^\"<>]*\"|'[^'<>]*')\s*\Z")
LONGEST_CUT_TAG = 4096
# XML lets every element be empty in this way; for HTML the rest of the page would lie inside.
_EMPTY_IN_XML = re.compile(rb"<(a|div|iframe|noscript|p|script|span|style|textarea|title)(\s[^<>]*)?/>")


class ParsedPage(NamedTuple):
    """A page as a tree, the elements in it that matter, its encoding, and the number of bytes left out."""

    tree: LexborHTMLParser
    elements: Elements
    encoding: str
    unread: int


def media_type(headers: Headers, body: bytes) -> str:
    """The media type that the server names, or where it names none that can be one, what the bytes look
    like.
    """
    named = (header(headers, "content-type") or "").partition(";")[0].strip().lower()
    return named if _ESSENCE.match(named) else _looks_like(body[:SNIFFED_BYTES])


def _looks_like(start: bytes) -> str:
    if start.startswith((b"\xfe\xff", b"\xff\xfe")):
        return "text/html"
    if _BINARY.search(start):
        return "application/octet-stream"
    return "text/html" if _MARKUP.search(start) else "text/plain"


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
    """The document in an answer; media types other than HTML and text give one without links and text.

    Without `all_details` anchor texts, headings and embeds are left out, which saves a tenth of the work;
    with `wants_outline` only the embeds are. The snapshot for change detection is made of HTML only, where
    it is wanted.
    """
    kind = media_type(headers, body)
    if kind in HTML_TYPES:
        page = parsed_page(headers, body, kind=kind)
        return html_document(
            url,
            headers,
            page.tree,
            page.elements,
            encoding=page.encoding,
            unread=page.unread,
            agent=agent,
            limits=limits,
            all_details=all_details,
            wants_snapshot=wants_snapshot,
            wants_outline=wants_outline,
        )
    text = ""
    charset = charset_of_text(body, header(headers, "content-type"))
    if kind.startswith("text/"):
        text = decoded(body[charset.mark_bytes :], charset.encoding)[: limits.text_chars].replace("\0", "�")
    return Document(charset.encoding, url, text=text, robots=directives_of(headers, [], agent=agent))


def parsed_page(headers: Headers, body: bytes, *, kind: str = "text/html", every_anchor: bool = False) -> ParsedPage:
    """An HTML page as a tree, as far as it can be read without harm."""
    body = _in_html_terms(body, kind)
    charset = charset_of(body, header(headers, "content-type"))
    return _tree_in_its_encoding(body, charset, every_anchor=every_anchor)


def _in_html_terms(body: bytes, kind: str) -> bytes:
    if kind == "application/xhtml+xml":
        body = _EMPTY_IN_XML.sub(rb"<\1\2></\1>", body)
    if not body.endswith((b">", b">\n")) and _CUT_BEHIND_A_VALUE.search(body, max(0, len(body) - LONGEST_CUT_TAG)):
        # A page cut off within a tag, behind a whole value: the tag counts.
        body += b">"
    return body


def _tree_in_its_encoding(body: bytes, charset: Charset, *, every_anchor: bool) -> ParsedPage:
    """The tree, built again where the page itself names another encoding than we began with."""
    encoding = charset.encoding
    whole = body[charset.mark_bytes :] if charset.mark_bytes else body
    body = bounded(whole)
    tree, elements = _built(body, encoding, every_anchor=every_anchor)
    if charset.is_tentative and elements.charset not in (None, encoding):
        encoding = elements.charset or encoding
        tree, elements = _built(body, encoding, every_anchor=every_anchor)
    return ParsedPage(tree, elements, encoding, len(whole) - len(body))


def _built(body: bytes, encoding: str, *, every_anchor: bool) -> tuple[LexborHTMLParser, Elements]:
    tree = tree_of(body if is_same_as_utf8(body, encoding) else decoded(body, encoding))
    return tree, Elements(tree, every_anchor=every_anchor)
