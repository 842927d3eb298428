"""Character encodings of HTML and text: labels, codecs and detection, as the WHATWG standards describe them.
Encoding standard section 4.2 (labels); HTML standard 13.2.3 (byte order mark, Content-Type, prescan, guess)."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import NamedTuple

_SPACE = "\t\n\f\r "

_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866 ibm866",
    "iso-8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e"
    " iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597"
    " iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598"
    " iso_8859-8 iso_8859-8:1988 visual",
    "iso-8859-8-i": "csiso88598i iso-8859-8-i logical",
    "iso-8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso-8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "macintosh": "csmacintosh mac macintosh x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "windows-1250": "cp1250 windows-1250 x-cp1250",
    "windows-1251": "cp1251 windows-1251 x-cp1251",
    "windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591"
    " iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "windows-1253": "cp1253 windows-1253 x-cp1253",
    "windows-1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9"
    " iso_8859-9:1989 l5 latin5"
    " windows-1254 x-cp1254",
    "windows-1255": "cp1255 windows-1255 x-cp1255",
    "windows-1256": "cp1256 windows-1256 x-cp1256",
    "windows-1257": "cp1257 windows-1257 x-cp1257",
    "windows-1258": "cp1258 windows-1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "gb18030": "gb18030",
    "big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso-2022-jp": "csiso2022jp iso-2022-jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "euc-kr": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601"
    " windows-949",
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement",
    "utf-16be": "unicodefffe utf-16be",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "x-user-defined": "x-user-defined",
}
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
