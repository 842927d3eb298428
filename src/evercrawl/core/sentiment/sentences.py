"""Words and sentences of a text, the test for English, and the sentiment of pages and sites."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

MAX_TEXT_CHARS = 200_000  # The rest of a text is ignored.
MAX_SENTENCE_CHARS = 2_000  # A longer run without an end is cut: tables and lists have no sentences.

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[!?.,;:]")
_CONTRACTION = re.compile(r"n't\b")
_LOOSE_SUFFIX = re.compile(r" '(?=s\b|re\b|ve\b|ll\b|d\b|m\b)")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n+")
_SYMBOL = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")


def tokenize(text: str) -> list[str]:
    """Return words in lower case and punctuation; `isn't` becomes `is not`, a pictogram its name."""
    text = text.lower()
    if not text.isascii():
        text = text.replace("\u2019", "'")
        text = _SYMBOL.sub(lambda match: f" {unicodedata.name(match[0], '').lower()} ", text)
    if "'" in text:
        text = _LOOSE_SUFFIX.sub("'", _CONTRACTION.sub(" not", text))
    return _WORD.findall(text)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text; a line end ends a sentence."""
    pieces = (piece.strip() for piece in _SENTENCE_END.split(text[:MAX_TEXT_CHARS]))
    return [piece[:MAX_SENTENCE_CHARS] for piece in pieces if piece]


LANGUAGE_SAMPLE_CHARS = 5_000
MAX_FOREIGN_SHARE = 0.3
_LETTERS = re.compile(r"[^\W\d_]+")
_ENGLISH_TEXT = """
the and is it was of to in that this for with are not you but have they be on as at from i my we its has had
an there would will very so if all what when who which by or their no were been just about
"""
_FOREIGN_TEXT = """
der das und ist nicht ein eine mit für auf von dem sich auch wird sehr ich wir
le la les des est une dans pour qui que sur avec cette sont je nous très et
el los las una del por para es muy pero como más está fue lo
il di che non è sono della questo molto
os um uma não em da é são muito
het een niet zijn voor maar deze ik wij zeer
och är att det som på inte med jag av nie się jest na
"""
"""Common words of German, French, Spanish, Italian, Portuguese, Dutch, Swedish and Polish that are not English."""
ENGLISH_WORDS = frozenset(_ENGLISH_TEXT.split())
FOREIGN_WORDS = frozenset(_FOREIGN_TEXT.split())
_LANGUAGES = {
    "ARMENIAN": "hy", "CJK": "zh ja", "DEVANAGARI": "hi mr ne", "ETHIOPIC": "am", "GEORGIAN": "ka", "GREEK": "el",
    "GUJARATI": "gu", "GURMUKHI": "pa", "HANGUL": "ko", "HEBREW": "he yi", "HIRAGANA": "ja", "KANNADA": "kn",
    "KATAKANA": "ja", "KHMER": "km", "LAO": "lo", "MALAYALAM": "ml", "MYANMAR": "my", "SINHALA": "si", "TAMIL": "ta",
    "TELUGU": "te", "THAANA": "dv", "THAI": "th", "TIBETAN": "bo",
}  # fmt: skip
LANGUAGES_WITH_SCRIPT = frozenset(" ".join(_LANGUAGES.values()).split())
"""Languages that are written in a script of their own, which no language outside the same entry uses."""


def languages_of_script(letters: Iterable[str]) -> list[str]:
    """Return the languages of the script of most letters; none for scripts of many languages, as Latin."""
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    return _LANGUAGES.get(max(scripts, key=scripts.__getitem__, default=""), "").split()


def is_english(text: str, *, lang: str | None = None) -> bool:
    """Return whether a text is English, by its declared language or else by its words.
    Only signs of another language count against English: short sentences may have no common word."""
    if lang:
        return lang.lower().split("-")[0].split("_")[0] == "en"
    words = _LETTERS.findall(text[:LANGUAGE_SAMPLE_CHARS].lower())
    letters = sum(map(len, words))
    foreign_letters = sum(len(word) for word in words if max(word) >= "\u0250")
    if foreign_letters > MAX_FOREIGN_SHARE * letters:
        return False
    english = sum(word in ENGLISH_WORDS for word in words)
    foreign = sum(word in FOREIGN_WORDS for word in words)
    accented = sum(not word.isascii() for word in words)
    return foreign == 0 or foreign + accented <= english or (foreign == 1 and not accented and len(words) > 6)


CLEAR_SCORE = 0.25  # A sentence with a smaller score is neutral.
MIN_SENTENCE_WORDS = 3  # Shorter lines are labels if a page has other sentences.
MAX_SENTENCES = 500
MAX_PAGE_WEIGHT = 100  # A page counts in its site by its sentences, up to this.


class Sentiment(NamedTuple):
    """Mean score of some sentences, -1 to 1, and how many are clearly positive or negative."""

    score: float
    sentences: int
    positive: int
    negative: int


def page_sentiment(
    text: str, score: Callable[[str], float], *, lang: str | None = None, clear: float = CLEAR_SCORE
) -> Sentiment | None:
    """Return the mean over the sentences of a page; None if it has none or is not in English.
    With `clear` 0 every sentence is positive or negative, as in paper D."""
    if not is_english(text, lang=lang):
        return None
    sentences = split_sentences(text)
    longer = [sentence for sentence in sentences if len(sentence.split()) >= MIN_SENTENCE_WORDS]
    scores = [score(sentence) for sentence in (longer or sentences)[:MAX_SENTENCES]]
    if not scores:
        return None
    positive = sum(value >= clear for value in scores)
    negative = sum(value < 0 and value <= -clear for value in scores)
    return Sentiment(sum(scores) / len(scores), len(scores), positive, negative)


def site_sentiment(pages: Iterable[Sentiment]) -> Sentiment | None:
    """Return the mean over pages by their sentences; one huge page does not dominate."""
    pages = list(pages)
    weights = [min(page.sentences, MAX_PAGE_WEIGHT) for page in pages]
    if not sum(weights):
        return None
    mean = sum(page.score * weight for page, weight in zip(pages, weights, strict=True)) / sum(weights)
    return Sentiment(
        mean,
        sum(page.sentences for page in pages),
        sum(page.positive for page in pages),
        sum(page.negative for page in pages),
    )
