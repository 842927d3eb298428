"""What is a word? Texts and queries pass through here alike before they are cut into words.

Letters are brought into one form (NFKC), marks that are seldom written are left out, every character of a
script without spaces (and of Korean, which glues particles to words) stands alone so that any run of them is
found as a phrase, and an emoji becomes a word of its own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MOST_WORD_CHARS = 200
"""A longer run of letters is known by its beginning alone."""

# Points of Hebrew, Arabic and Latin, the Arabic elongation, soft hyphens, joiners and directions, variants.
_UNWRITTEN = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u00ad\u200c-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff]"
)
# Thai to Myanmar, Khmer, kana, bopomofo, the ideographs, Hangul.
_ALONE = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
_EMOJI = re.compile("[\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_STROKED = {"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i", "ħ": "h"}
"""Letters whose stroke is no accent to Unicode, and that people type without it."""
_ACCENTED = str.maketrans("άέήίόύώϊϋΐΰΆΈΉΊΌΎΏёЁ", "αεηιουωιυιυΑΕΗΙΟΥΩеЕ")
"""Of Greek and Russian; accents of Latin letters are left out by the index itself."""
_LONG_RUN = re.compile(rf"\w{{{MOST_WORD_CHARS + 1},}}")
_EMOJI_PREFIX = "emojix"
_SURROGATE = re.compile("[\ud800-\udfff]")


def searchable(text: str) -> str:
    """The text in the form in which it is cut into words."""
    if not text.isascii():
        text = _SURROGATE.sub(" ", unicodedata.normalize("NFKC", text))
        text = _ALONE.sub(r" \g<0> ", _UNWRITTEN.sub("", text))
        text = _EMOJI.sub(_emoji_word, text).translate(_ACCENTED)
    return _LONG_RUN.sub(_beginning, text) if len(text) > MOST_WORD_CHARS else text


def _emoji_word(match: re.Match[str]) -> str:
    return f" {_EMOJI_PREFIX}{ord(match[0]):x} "


def shown(word: str) -> str:
    """The characters that a word of `searchable` stands for: of an emoji the emoji."""
    code = word.removeprefix(_EMOJI_PREFIX)
    return chr(int(code, 16)) if code != word and re.fullmatch("[0-9a-f]{4,5}", code) else word


def _beginning(match: re.Match[str]) -> str:
    return match[0][:MOST_WORD_CHARS]


def stands_alone(char: str) -> bool:
    """The character is a word of its own."""
    return _ALONE.match(char) is not None or _EMOJI.match(char) is not None


def folded(text: str) -> str:
    """The text in lower case and without accents, character for character: places stay what they are."""
    lowered = text.lower()
    if text.isascii():
        return lowered
    return "".join(map(_folded_char, text))


@lru_cache(maxsize=8192)
def _folded_char(char: str) -> str:
    if char in _STROKED:
        return _STROKED[char]
    is_latin = char < "\u0250" or "\u1e00" <= char <= "\u1eff"
    plain = unicodedata.normalize("NFD" if is_latin else "NFKC", char).lower().translate(_ACCENTED)
    return plain[0] if is_latin or len(plain) == 1 else char


_URL_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NOISE = frozenset(
    ("http", "https", "www", "html", "htm", "php", "asp", "aspx", "jsp", "index", "com", "org", "net")
)


_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def _unescaped(url: str) -> str:
    return _ESCAPES.sub(lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), url)


def url_words(url: str) -> str:
    """The words that an address is made of, without what nearly every address has."""
    readable = _CAMEL.sub(" ", _unescaped(url))
    return " ".join(word for word in _URL_WORD.findall(readable) if word.lower() not in _NOISE)
