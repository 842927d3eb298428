"""What is a word? Texts and queries pass through here alike before they are cut into words.

Letters are brought into one form (NFKC), marks that are seldom written are left out, every character of a
script without spaces (and of Korean, which glues particles to words) stands alone so that any run of them is
found as a phrase, and an emoji becomes a word of its own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Points of Hebrew, Arabic and Latin, the Arabic elongation, soft hyphens, joiners and directions, variants.
_UNWRITTEN_CHARS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff"
)
# Thai to Myanmar, Khmer, kana, bopomofo, the ideographs, Hangul.
_ALONE_CHARS = (
    "\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_EMOJI_CHARS = "\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_ACCENTED_CHARS = "άέήίόύώϊϋΐΰΆΈΉΊΌΎΏёЁ"
# What has more than one form: accents apart, Jamo, polytonic Greek, signs like letters, widths, ligatures.
_OTHER_CHARS = "\u0300-\u036f\u1100-\u11ff\u1f00-\u1fff\u2070-\u214f\ufb00-\ufb4f\uff00-\uffef\U0001d400-\U0001d7ff"
_UNWRITTEN = re.compile(f"[{_UNWRITTEN_CHARS}]")
_ALONE = re.compile(f"[{_ALONE_CHARS}]")
_EMOJI = re.compile(f"[{_EMOJI_CHARS}]")
_COMPOSED = re.compile(f"[{_OTHER_CHARS}]")
_SPECIAL = re.compile(f"[{_UNWRITTEN_CHARS}{_ALONE_CHARS}{_EMOJI_CHARS}{_ACCENTED_CHARS}\ud800-\udfff]")
_STROKED = {"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i", "ħ": "h"}
"""Letters whose stroke is no accent to Unicode, and that people type without it."""
_ACCENTED = str.maketrans(_ACCENTED_CHARS, "αεηιουωιυιυΑΕΗΙΟΥΩеЕ")
"""Of Greek and Russian; accents of Latin letters are left out by the index itself."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_EMOJI_PREFIX = "emojix"


def normalize_for_index(text: str) -> str:
    """The text in the form in which it is cut into words."""
    if text.isascii() or _is_western(text):
        return text
    if _COMPOSED.search(text):
        text = unicodedata.normalize("NFKC", text)
    return _SPECIAL.sub(_written, text)


def _written(match: re.Match[str]) -> str:
    return _written_char(match[0])


@lru_cache(maxsize=16_384)
def _written_char(char: str) -> str:
    """What stands in the index for a character that needs care."""
    if _UNWRITTEN.match(char):
        return ""
    if _ALONE.match(char):
        return f" {char} "
    if _EMOJI.match(char):
        return f" {_EMOJI_PREFIX}{ord(char):x} "
    return " " if "\ud800" <= char <= "\udfff" else char.translate(_ACCENTED)


def _is_western(text: str) -> bool:
    """Nothing in it needs care: Latin letters and the usual signs; to try is faster than to look."""
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return "\u00ad" not in text


def display_word(word: str) -> str:
    """The characters that a word of `searchable` stands for: of an emoji the emoji."""
    code = word.removeprefix(_EMOJI_PREFIX)
    return chr(int(code, 16)) if code != word and re.fullmatch("[0-9a-f]{4,5}", code) else word


def is_single_char_word(char: str) -> bool:
    """The character is a word of its own."""
    return _ALONE.match(char) is not None or _EMOJI.match(char) is not None


def fold_text(text: str) -> str:
    """The text in lower case and without accents, character for character: places stay what they are."""
    lowered = text.lower()
    if text.isascii():
        return lowered
    if len(lowered) != len(text):
        return "".join(map(_folded_char, text))
    return _NOT_ASCII.sub(lambda match: _folded_char(match[0]), lowered)


@lru_cache(maxsize=8192)
def _folded_char(char: str) -> str:
    if char in _STROKED:
        return _STROKED[char]
    is_latin = char < "\u0250" or "\u1e00" <= char <= "\u1eff"
    plain = unicodedata.normalize("NFD" if is_latin else "NFKC", char).lower().translate(_ACCENTED)
    return plain[0] if is_latin or len(plain) == 1 else char


_URL_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EVERYWHERE = "http https www html htm php asp aspx jsp index com org net"
_NOISE = frozenset(_EVERYWHERE.split())


_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def _unescaped(url: str) -> str:
    return _ESCAPES.sub(lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), url)


def url_words(url: str) -> str:
    """The words that an address is made of, without what nearly every address has."""
    cut = url.rfind("/") + 1
    return f"{_words_of_part(url[:cut])} {_words_in(url[cut:])}"


def _words_in(part: str) -> str:
    readable = _CAMEL.sub(" ", _unescaped(part) if "%" in part else part)
    return " ".join([word for word in _URL_WORD.findall(readable) if word.lower() not in _NOISE])


@lru_cache(maxsize=4096)
def _words_of_part(part: str) -> str:
    return _words_in(part)
