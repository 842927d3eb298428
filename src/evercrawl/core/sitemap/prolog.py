"""Where does the sitemap begin, and in which encoding is it?

The protocol wants UTF-8, so bytes that are valid UTF-8 are UTF-8 whatever anything declares. Byte order
marks, white space, a program's warnings before the XML declaration, the declaration and the document type are
taken off: no entity is ever declared, so none can expand or name a file.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder

from evercrawl.core.document.encoding import DEFAULT_ENCODING, charset_parameter, decode_body, prescan

PRESCAN_BYTES = 1024
LONGEST_PREAMBLE = 64 * 1024
"""Bytes before the sitemap that are looked through for its beginning."""
LONGEST_DOCTYPE = 16 * 1024

_SLICE_BYTES = 1024 * 1024
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_WIDE_STARTS = ((b"<\0", "utf-16le"), (b"\0<", "utf-16be"))
_EMPTY = re.compile(rb"(?:\xef\xbb\xbf|[\s\0])*+")
_BEFORE_ROOT = re.compile(rb"(?:\s++|<!--.*?-->|<\?.*?(?:\?>|>))*+", re.DOTALL)
_START = re.compile(rb"<\?xml\s|<(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s>]", re.IGNORECASE)
_DOCTYPE = re.compile(
    rb"""<!DOCTYPE(?:[^\[\]<>"']|"[^"]*+"|'[^']*+')*+"""
    rb"""(?:\[(?:[^\]<"']|"[^"]*+"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<)*+\]\s*+)?+>""",
    re.DOTALL | re.IGNORECASE,
)
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|script|h1)[\s>]", re.IGNORECASE)


def as_utf8(body: bytes, content_type: str | None) -> bytes:
    """The document in valid UTF-8, without byte order mark and the white space around its beginning."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _from(body[len(mark) :], encoding)
    for start, encoding in _WIDE_STARTS:
        if body.startswith(start):
            return _from(body, encoding)
    if _is_utf8(body):
        return _trimmed(body)
    return _from(body, _declared(body, content_type))


def _from(body: bytes, encoding: str) -> bytes:
    if encoding == "utf-8" and _is_utf8(body):
        return _trimmed(body)
    return _trimmed(decode_body(body, encoding).encode("utf-8", "replace"))


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    # In slices: the text of a large body would be up to four times as large.
    decoder = getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(body), _SLICE_BYTES):
            decoder.decode(body[at : at + _SLICE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _declared(body: bytes, content_type: str | None) -> str:
    """The first name that can be true of bytes that are not UTF-8; UTF-8 where only that is named."""
    named = (prescan(body[:PRESCAN_BYTES].lstrip()), charset_parameter(content_type))
    for encoding in named:
        if encoding is not None and encoding != "utf-8":
            return encoding
    return "utf-8" if "utf-8" in named else DEFAULT_ENCODING


def _trimmed(document: bytes) -> bytes:
    found = _EMPTY.match(document)
    return document[found.end() :] if found else document


def is_html(document: bytes) -> bool:
    """The document is a web page, as a server's page of errors is."""
    return _HTML.match(document, _root_at(document)) is not None


def _root_at(document: bytes) -> int:
    found = _BEFORE_ROOT.match(document)
    return found.end() if found else 0


def markup_of(document: bytes) -> bytes | None:
    """The document from its root element on (or comments before it); None where it is no markup."""
    if not document.startswith(b"<"):
        found = _START.search(document, 0, LONGEST_PREAMBLE)
        if found is None:
            return None
        document = document[found.start() :]
    at = _root_at(document)
    if doctype := _DOCTYPE.match(document[at : at + LONGEST_DOCTYPE]):
        at += doctype.end()
    return document[at:]
