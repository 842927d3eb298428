"""How does an encoding of the WHATWG standard turn into text? Python's codecs, mended where they differ."""

from __future__ import annotations

import codecs
from functools import lru_cache

# Where the standard's encoding is a superset of what Python has under the same name, the wider codec stands.
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
# The encoder of gbk writes no four-byte sequences (Encoding standard, 10.1.2).
_ENCODERS = {"gbk": "gbk"}
_MANY_BYTE = frozenset(
    ("gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr", "utf-16be", "utf-16le")
)
_NOT_OVER_ASCII = frozenset(("iso-2022-jp", "utf-16be", "utf-16le", "replacement"))

NOT_FOR_WRITING = frozenset(("utf-16be", "utf-16le", "replacement", "x-user-defined"))
"""Encodings that are only read; the standard writes UTF-8 instead of most of them."""
USER_DEFINED_SHIFT = 0xF700
"""x-user-defined maps the byte 0x80 to U+F780 and so on."""


def decoded(body: bytes, encoding: str) -> str:
    """The text of a body; what is not valid becomes U+FFFD, and nothing raises."""
    if encoding == "utf-8":
        return body.decode("utf-8", "replace")
    if encoding == "replacement":
        return "�" if body else ""
    if encoding in _MANY_BYTE:
        return body.decode(_codec(encoding), "replace")
    return codecs.charmap_decode(body, "replace", _byte_table(encoding))[0]


def is_same_as_utf8(body: bytes, encoding: str) -> bool:
    """The bytes mean the same in UTF-8, so that they need not be decoded."""
    return encoding == "utf-8" or (encoding not in _NOT_OVER_ASCII and body.isascii())


def encoded(text: str, encoding: str) -> bytes:
    """The bytes of a text; UnicodeEncodeError where the encoding lacks a character."""
    if encoding == "utf-8" or encoding in NOT_FOR_WRITING:
        return text.encode("utf-8", "replace")
    return text.encode(_ENCODERS.get(encoding) or _codec(encoding))


def _codec(encoding: str) -> str:
    return _CODECS.get(encoding, encoding)


@lru_cache(maxsize=64)
def _byte_table(encoding: str) -> str:
    """What each byte stands for; where Python leaves 0x80 to 0x9F open, the standard has the C1 controls."""
    if encoding == "x-user-defined":
        return "".join(chr(byte if byte < 0x80 else USER_DEFINED_SHIFT + byte) for byte in range(256))
    table = [bytes((byte,)).decode(_codec(encoding), "replace") for byte in range(256)]
    for byte in range(0x80, 0xA0):
        if table[byte] == "�":
            table[byte] = chr(byte)
    return "".join(table)
