"""Character encodings of HTML and text: labels, codecs and detection, as the WHATWG standards describe them.
Encoding standard section 4.2 (labels); HTML standard 13.2.3 (byte order mark, Content-Type, prescan, guess)."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

_SPACE = "\t\n\f\r "

_FILE = files("evercrawl.core.document").joinpath("encodings.txt")  # Each encoding of the standard with its labels.
_LABELS = dict(line.split(": ", 1) for line in _FILE.read_text("utf-8").splitlines())
_ENCODING_OF = {label: name for name, labels in _LABELS.items() for label in labels.split()}

ENCODINGS = tuple(_LABELS)


def encoding_for_label(label: str) -> str | None:
    """Return the standard's name of an encoding in lower case; None if the label is unknown, as utf-7 is."""
    return _ENCODING_OF.get(label.strip(_SPACE).lower())


# Python codecs that cover the standard's encoding where the codec of the same name does not.
_CODECS = {
    "iso-8859-8-i": "iso8859_8",
    "macintosh": "mac_roman",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso-2022-jp": "iso2022_jp_ext",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "utf-16be": "utf_16_be",
    "utf-16le": "utf_16_le",
}
# The gbk encoder writes no four-byte sequences (Encoding standard, 10.1.2).
_ENCODERS = {"gbk": "gbk"}
_MULTI_BYTE = frozenset(
    ("gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr", "utf-16be", "utf-16le")
)
_NOT_ASCII_COMPATIBLE = frozenset(("iso-2022-jp", "utf-16be", "utf-16le", "replacement"))

DECODE_ONLY = frozenset(("utf-16be", "utf-16le", "replacement", "x-user-defined"))
"""Encodings that are only decoded; the standard encodes as UTF-8 instead."""
USER_DEFINED_SHIFT = 0xF700  # x-user-defined maps byte 0x80 to U+F780 and so on.


def decode_body(body: bytes, encoding: str) -> str:
    """Decode a body; invalid bytes become U+FFFD."""
    if encoding == "utf-8":
        return body.decode("utf-8", "replace")
    if encoding == "replacement":
        return "�" if body else ""
    if encoding in _MULTI_BYTE:
        return body.decode(_python_codec(encoding), "replace")
    return codecs.charmap_decode(body, "replace", _byte_table(encoding))[0]


def is_utf8_compatible(body: bytes, encoding: str) -> bool:
    """Return whether the bytes mean the same in UTF-8 and need no decoding."""
    return encoding == "utf-8" or (encoding not in _NOT_ASCII_COMPATIBLE and body.isascii())


def encode_text(text: str, encoding: str) -> bytes:
    """Encode a text; raises UnicodeEncodeError if the encoding lacks a character."""
    if encoding == "utf-8" or encoding in DECODE_ONLY:
        return text.encode("utf-8", "replace")
    return text.encode(_ENCODERS.get(encoding) or _python_codec(encoding))


def _python_codec(encoding: str) -> str:
    return _CODECS.get(encoding, encoding)


@lru_cache(maxsize=64)
def _byte_table(encoding: str) -> str:
    """Return the character of each byte; where Python leaves 0x80 to 0x9F undefined, these are the C1 controls."""
    if encoding == "x-user-defined":
        return "".join(chr(byte if byte < 0x80 else USER_DEFINED_SHIFT + byte) for byte in range(256))
    table = [bytes((byte,)).decode(_python_codec(encoding), "replace") for byte in range(256)]
    for byte in range(0x80, 0xA0):
        if table[byte] == "�":
            table[byte] = chr(byte)
    return "".join(table)


PRESCAN_BYTES = 1024
MAX_CACHED_HEADS = 256
DEFAULT_ENCODING = "windows-1252"
MAX_UTF8_TAIL_BYTES = 3  # Bytes of one character that a truncated body may end with.

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
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
    """An encoding, whether a later meta element may still change it, and the length of the byte order mark."""

    encoding: str
    is_tentative: bool
    bom_bytes: int = 0


def detect_charset(body: bytes, content_type: str | None) -> Charset:
    """Return the encoding of an HTML page."""
    detected = _bom_charset(body)
    if detected is not None:
        return detected
    encoding = charset_parameter(content_type) or prescan(body[:PRESCAN_BYTES])
    if encoding is not None:
        return Charset(encoding, is_tentative=False)
    return Charset(guess_encoding(body), is_tentative=True)


def detect_text_charset(body: bytes, content_type: str | None) -> Charset:
    """Return the encoding of plain text, which cannot declare one."""
    detected = _bom_charset(body)
    if detected is not None:
        return detected
    return Charset(charset_parameter(content_type) or guess_encoding(body), is_tentative=False)


def _bom_charset(body: bytes) -> Charset | None:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return Charset(encoding, is_tentative=False, bom_bytes=len(mark))
    return None


def guess_encoding(body: bytes) -> str:
    """Return UTF-8 for valid UTF-8 that is not ASCII, else the default of the web."""
    if body.isascii():
        return DEFAULT_ENCODING
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut = error.reason == "unexpected end of data" and error.start >= len(body) - MAX_UTF8_TAIL_BYTES
        return "utf-8" if is_cut and not body[: error.start].isascii() else DEFAULT_ENCODING
    return "utf-8"


def charset_parameter(content_type: str | None) -> str | None:
    """Return the known encoding that a Content-Type names (MIME Sniffing standard 4.4)."""
    if not content_type:
        return None
    for match in _PARAMETER.finditer(content_type):
        name, quoted, bare = match.groups()
        if name.lower() == "charset" and (quoted is not None or bare):
            label = bare if quoted is None else _UNQUOTED_PAIR.sub(r"\1", quoted)
            return encoding_for_label(label)
    return None


def meta_encoding(charset: str | None, http_equiv: str | None, content: str | None) -> str | None:
    """Return the encoding that a meta element of the parsed tree declares."""
    if charset:
        return _effective_encoding(encoding_for_label(charset))
    if content and http_equiv and http_equiv.lower() == "content-type":
        return _effective_encoding(_encoding_in_content(content.encode("utf-8", "replace")))
    return None


def prescan(start: bytes) -> str | None:
    """Return the encoding that the first bytes declare (HTML standard, "prescan a byte stream")."""
    if start.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if start.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    title = start.find(b"<title")
    encoding = _prescan_head(start[:title]) if title > 0 else None
    return _effective_encoding(encoding or _prescan_metas(start)) or _effective_encoding(
        _xml_declaration_encoding(start)
    )


def _effective_encoding(encoding: str | None) -> str | None:
    # Markup that reads as ASCII is not UTF-16, whatever it declares.
    if encoding in ("utf-16be", "utf-16le"):
        return "utf-8"
    return DEFAULT_ENCODING if encoding == "x-user-defined" else encoding


def _prescan_metas(start: bytes) -> str | None:
    at = start.find(b"<")
    while at >= 0:
        if start.startswith(b"<!--", at):
            # The end may share its two dashes with the start.
            end = _COMMENT_END.search(start, at + 2)
            at = -1 if end is None else end.end()
        elif _META.match(start, at):
            encoding, at = _read_meta(start, at + 5)
            if encoding is not None:
                return encoding
        elif _BODY.match(start, at):
            # Stop where the content begins, as w3lib does: user content must not choose the encoding.
            return None
        elif tag := _TAG_START.match(start, at):
            at = _skip_attributes(start, tag.end())
        elif start[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = start.find(b">", at)
        else:
            at += 1
        at = start.find(b"<", at) if at >= 0 else -1
    return None


_prescan_head = lru_cache(maxsize=MAX_CACHED_HEADS)(_prescan_metas)  # Pages of a site are alike up to the title.


def _read_meta(start: bytes, at: int) -> tuple[str | None, int]:
    """Return the encoding that a meta element declares and where its attributes end; -1: not within the bytes."""
    found: dict[bytes, bytes] = {}
    while not (end := _ATTRIBUTES_END.match(start, at)):
        match = _ATTRIBUTE.match(start, at)
        if match is None or match.end() >= len(start) or _is_unclosed_quote(match):
            return None, -1
        value = match[2] or match[4] or match[6] or b""
        found.setdefault(match[1].lower(), value.lower())
        at = match.end()
    if b"charset" in found:
        return encoding_for_label(found[b"charset"].decode("latin-1")), end.end()
    if found.get(b"http-equiv") == b"content-type":
        return _encoding_in_content(found.get(b"content", b"")), end.end()
    return None, end.end()


def _is_unclosed_quote(match: re.Match[bytes]) -> bool:
    return (match[2] is not None and match[3] is None) or (match[4] is not None and match[5] is None)


def _skip_attributes(start: bytes, at: int) -> int:
    while not (end := _ATTRIBUTES_END.match(start, at)):
        match = _ATTRIBUTE.match(start, at)
        if match is None or match.end() >= len(start) or _is_unclosed_quote(match):
            return -1
        at = match.end()
    return end.end()


def _encoding_in_content(content: bytes) -> str | None:
    """Return the encoding (HTML standard, "extracting a character encoding from a meta element")."""
    match = _CHARSET_IN_CONTENT.search(content)
    if match is None:
        return None
    at = match.end()
    quote = content[at : at + 1]
    if quote in (b'"', b"'"):
        end = content.find(quote, at + 1)
        return encoding_for_label(content[at + 1 : end].decode("latin-1")) if end >= 0 else None
    bare = _BARE_LABEL.match(content, at)
    return encoding_for_label(bare[0].decode("latin-1")) if bare else None


def _xml_declaration_encoding(start: bytes) -> str | None:
    match = _XML_ENCODING.match(start)
    if match is None:
        return None
    label = match[1] if match[1] is not None else match[2]
    return encoding_for_label(label.decode("latin-1")) if min(label, default=0) > 0x20 else None
