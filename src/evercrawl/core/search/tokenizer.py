"""Normalization of texts and queries before they are split into words.
Letters are normalized (NFKC), rarely written marks removed. Each character of a script without spaces, and of Korean,
stands alone, so that any run is found as a phrase; an emoji becomes a word."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby, islice
from urllib.parse import unquote

# Diacritics of Hebrew, Arabic and Latin, Arabic elongation, soft hyphens, joiners, directions, variants.
_DROPPED_CHARS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff"
)
# Thai to Myanmar, Khmer, kana, bopomofo, the ideographs, Hangul.
_SINGLE_CHARS = (
    "\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_EMOJI_CHARS = "\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_ACCENTED_CHARS = "άέήίόύώϊϋΐΰΆΈΉΊΌΎΏёЁ"
# Characters with several forms: combining accents, Jamo, polytonic Greek, letterlike signs, widths, ligatures.
_OTHER_CHARS = "\u0300-\u036f\u1100-\u11ff\u1f00-\u1fff\u2070-\u214f\ufb00-\ufb4f\uff00-\uffef\U0001d400-\U0001d7ff"
_DROPPED = re.compile(f"[{_DROPPED_CHARS}]")
_SINGLE = re.compile(f"[{_SINGLE_CHARS}]")
_EMOJI = re.compile(f"[{_EMOJI_CHARS}]")
_COMPOSED = re.compile(f"[{_OTHER_CHARS}]")
_SPECIAL = re.compile(f"[{_DROPPED_CHARS}{_SINGLE_CHARS}{_EMOJI_CHARS}{_ACCENTED_CHARS}\ud800-\udfff]")
_STROKED = {"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i", "ħ": "h"}
"""Letters whose stroke is no accent in Unicode, but that people type without it."""
_ACCENTED = str.maketrans(_ACCENTED_CHARS, "αεηιουωιυιυΑΕΗΙΟΥΩеЕ")
"""Accents of Greek and Russian; the index removes those of Latin letters."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
MAX_MARKS = 30  # Marks on one letter, as in the stream-safe text format (Unicode annex 15).
_EMOJI_PREFIX = "emojix"


def normalize_characters(text: str) -> str:
    """Return the text in the compatible composed form (NFKC).
    Normalization sorts the marks on a letter in quadratic time; more than Unicode's stream-safe format allows are cut.
    """
    if any(map(unicodedata.combining, text[::MAX_MARKS])):  # A longer run covers one of these places.
        runs = groupby(text, key=lambda char: unicodedata.combining(char) > 0)
        text = "".join("".join(islice(run, MAX_MARKS) if is_mark else run) for is_mark, run in runs)
    return unicodedata.normalize("NFKC", text)


def normalize_for_index(text: str) -> str:
    """Return the text as it is split into words."""
    if text.isascii() or _is_western(text):
        return text
    if _COMPOSED.search(text):
        text = normalize_characters(text)
    return _SPECIAL.sub(lambda match: _index_form(match[0]), text)


@lru_cache(maxsize=16_384)
def _index_form(char: str) -> str:
    """Return what stands for a special character in the index."""
    if _DROPPED.match(char):
        return ""
    if _SINGLE.match(char):
        return f" {char} "
    if _EMOJI.match(char):
        return f" {_EMOJI_PREFIX}{ord(char):x} "
    return " " if "\ud800" <= char <= "\udfff" else char.translate(_ACCENTED)


def _is_western(text: str) -> bool:
    """Return whether the text is Latin letters and common signs; encoding it is the fastest test."""
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return "\u00ad" not in text


def display_word(word: str) -> str:
    """Return the characters that an index word stands for."""
    code = word.removeprefix(_EMOJI_PREFIX)
    return chr(int(code, 16)) if code != word and re.fullmatch("[0-9a-f]{4,5}", code) else word


def is_single_char_word(char: str) -> bool:
    """Return whether the character is a word of its own."""
    return _SINGLE.match(char) is not None or _EMOJI.match(char) is not None


def fold_text(text: str) -> str:
    """Return the text in lower case without accents; positions stay the same."""
    lowered = text.lower()
    if text.isascii():
        return lowered
    if len(lowered) != len(text):
        return "".join(map(_fold_char, text))
    return _NOT_ASCII.sub(lambda match: _fold_char(match[0]), lowered)


@lru_cache(maxsize=8192)
def _fold_char(char: str) -> str:
    if char in _STROKED:
        return _STROKED[char]
    is_latin = char < "\u0250" or "\u1e00" <= char <= "\u1eff"
    plain = unicodedata.normalize("NFD" if is_latin else "NFKC", char).lower().translate(_ACCENTED)
    return plain[0] if is_latin or len(plain) == 1 else char


_URL_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COMMON_NAMES = "http https www html htm php asp aspx jsp index com org net"
_COMMON_URL_WORDS = frozenset(_COMMON_NAMES.split())


def url_words(url: str) -> str:
    """Return the words of a URL without those that nearly every URL has."""
    cut = url.rfind("/") + 1
    return f"{_cached_words(url[:cut])} {_words_in(url[cut:])}"


def _words_in(part: str) -> str:
    readable = _CAMEL.sub(" ", unquote(part) if "%" in part else part)
    return " ".join([word for word in _URL_WORD.findall(readable) if word.lower() not in _COMMON_URL_WORDS])


_cached_words = lru_cache(maxsize=4096)(_words_in)
