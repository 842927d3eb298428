"""In which encoding is this page written? As browsers decide it.

HTML standard 13.2.3 (encoding sniffing): byte order mark, then the charset of Content-Type, then a look at
the first 1024 bytes, then a guess. Where browsers ask the user's locale we look whether the bytes are valid
UTF-8.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.document.label import encoding_of_label

PRESCAN_BYTES = 1024
MOST_HEADS = 256
"""Beginnings of pages that are remembered."""
DEFAULT_ENCODING = "windows-1252"
LONGEST_UTF8_TAIL = 3
"""Bytes of one character that a cut body may end with."""

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_PARAMETER = re.compile(r';[\t\n\r ]*([^;="]*)(?:=(?:"((?:[^"\\]|\\.)*)"?[^;]*|([^;]*)))?', re.DOTALL)
_UNQUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)

_TAG_START = re.compile(rb"</?[A-Za-z][^\t\n\x0c\r >]*")
_META = re.compile(rb"<meta[\t\n\x0c\r /]", re.IGNORECASE)
_BODY = re.compile(rb"<body[\t\n\x0c\r />]", re.IGNORECASE)
_COMMENT_END = re.compile(rb"-->")
_ATTRIBUTE = re.compile(
    rb"[\t\n\x0c\r /]*([^\t\n\x0c\r />][^\t\n\x0c\r />=]*)[\t\n\x0c\r ]*"
    rb"(?:=[\t\n\x0c\r ]*(?:\"([^\"]*)(\")?|'([^']*)(')?|([^\t\n\x0c\r >\"'][^\t\n\x0c\r >]*)?))?"
)
_ATTRIBUTES_END = re.compile(rb"[\t\n\x0c\r /]*>")
_CHARSET_IN_CONTENT = re.compile(rb"charset[\t\n\x0c\r ]*=[\t\n\x0c\r ]*", re.IGNORECASE)
_BARE_LABEL = re.compile(rb"[^\t\n\x0c\r ;]*")
_XML_ENCODING = re.compile(rb"<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\"]*)\"|'([^']*)')")


class Charset(NamedTuple):
    """The encoding, whether a later meta element may still change it, and the length of the byte order
    mark.
    """

    encoding: str
    is_tentative: bool
    mark_bytes: int = 0


def charset_of(body: bytes, content_type: str | None) -> Charset:
    """The encoding of an HTML page."""
    marked = _marked(body)
    if marked is not None:
        return marked
    encoding = charset_parameter(content_type) or prescanned(body[:PRESCAN_BYTES])
    if encoding is not None:
        return Charset(encoding, is_tentative=False)
    return Charset(guessed(body), is_tentative=True)


def charset_of_text(body: bytes, content_type: str | None) -> Charset:
    """The encoding of plain text, which cannot declare one inside."""
    marked = _marked(body)
    if marked is not None:
        return marked
    return Charset(charset_parameter(content_type) or guessed(body), is_tentative=False)


def _marked(body: bytes) -> Charset | None:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return Charset(encoding, is_tentative=False, mark_bytes=len(mark))
    return None


def guessed(body: bytes) -> str:
    """UTF-8 where the bytes are valid UTF-8 and need it, else the web's old default."""
    if body.isascii():
        return DEFAULT_ENCODING
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut = error.reason == "unexpected end of data" and error.start >= len(body) - LONGEST_UTF8_TAIL
        return "utf-8" if is_cut and not body[: error.start].isascii() else DEFAULT_ENCODING
    return "utf-8"


def charset_parameter(content_type: str | None) -> str | None:
    """The encoding that a Content-Type names (MIME Sniffing standard 4.4); None: none that is known."""
    if not content_type:
        return None
    for match in _PARAMETER.finditer(content_type):
        name, quoted, bare = match.groups()
        if name.lower() == "charset" and (quoted is not None or bare):
            label = bare if quoted is None else _UNQUOTED_PAIR.sub(r"\1", quoted)
            return encoding_of_label(label)
    return None


def declared_in_meta(charset: str | None, http_equiv: str | None, content: str | None) -> str | None:
    """The encoding that a meta element of the parsed tree declares."""
    if charset:
        return _as_declared(encoding_of_label(charset))
    if content and http_equiv and http_equiv.lower() == "content-type":
        return _as_declared(_content_label(content.encode("utf-8", "replace")))
    return None


def prescanned(start: bytes) -> str | None:
    """The encoding that the first bytes declare (HTML standard, "prescan a byte stream"); None: none."""
    if start.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if start.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    title = start.find(b"<title")
    encoding = _prescanned_head(start[:title]) if title > 0 else None
    return _as_declared(encoding or _prescanned_meta(start)) or _as_declared(_xml_encoding(start))


def _as_declared(encoding: str | None) -> str | None:
    # Markup that can be read as ASCII is not UTF-16, whatever it says of itself.
    if encoding in ("utf-16be", "utf-16le"):
        return "utf-8"
    return DEFAULT_ENCODING if encoding == "x-user-defined" else encoding


@lru_cache(maxsize=MOST_HEADS)
def _prescanned_head(head: bytes) -> str | None:
    # Up to its title a page begins like the others of its site. What is found there comes first anyway.
    return _prescanned_meta(head)


def _prescanned_meta(start: bytes) -> str | None:
    at = start.find(b"<")
    while at >= 0:
        if start.startswith(b"<!--", at):
            # The two dashes of the end may be those of the beginning.
            end = _COMMENT_END.search(start, at + 2)
            at = -1 if end is None else end.end()
        elif _META.match(start, at):
            encoding, at = _meta_at(start, at + 5)
            if encoding is not None:
                return encoding
        elif _BODY.match(start, at):
            # Content, not a declaration. Browsers go on here; w3lib does not, and a page of others' words
            # should not choose its own encoding.
            return None
        elif tag := _TAG_START.match(start, at):
            at = _after_attributes(start, tag.end())
        elif start[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = start.find(b">", at)
        else:
            at += 1
        at = start.find(b"<", at) if at >= 0 else -1
    return None


def _meta_at(start: bytes, at: int) -> tuple[str | None, int]:
    """What the meta element whose attributes begin here declares, and where they end; -1: not within the
    bytes.
    """
    found: dict[bytes, bytes] = {}
    while not (end := _ATTRIBUTES_END.match(start, at)):
        match = _ATTRIBUTE.match(start, at)
        if match is None or match.end() >= len(start) or _is_open_quote(match):
            return None, -1
        value = match[2] or match[4] or match[6] or b""
        found.setdefault(match[1].lower(), value.lower())
        at = match.end()
    if b"charset" in found:
        return encoding_of_label(found[b"charset"].decode("latin-1")), end.end()
    if found.get(b"http-equiv") == b"content-type":
        return _content_label(found.get(b"content", b"")), end.end()
    return None, end.end()


def _is_open_quote(match: re.Match[bytes]) -> bool:
    return (match[2] is not None and match[3] is None) or (match[4] is not None and match[5] is None)


def _after_attributes(start: bytes, at: int) -> int:
    while not (end := _ATTRIBUTES_END.match(start, at)):
        match = _ATTRIBUTE.match(start, at)
        if match is None or match.end() >= len(start) or _is_open_quote(match):
            return -1
        at = match.end()
    return end.end()


def _content_label(content: bytes) -> str | None:
    """HTML standard, "extracting a character encoding from a meta element"."""
    match = _CHARSET_IN_CONTENT.search(content)
    if match is None:
        return None
    at = match.end()
    quote = content[at : at + 1]
    if quote in (b'"', b"'"):
        end = content.find(quote, at + 1)
        return encoding_of_label(content[at + 1 : end].decode("latin-1")) if end >= 0 else None
    bare = _BARE_LABEL.match(content, at)
    return encoding_of_label(bare[0].decode("latin-1")) if bare else None


def _xml_encoding(start: bytes) -> str | None:
    match = _XML_ENCODING.match(start)
    if match is None:
        return None
    label = match[1] if match[1] is not None else match[2]
    return encoding_of_label(label.decode("latin-1")) if min(label, default=0) > 0x20 else None
