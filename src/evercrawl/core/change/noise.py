"""Recognises what in a text is noise: clocks, counts of readers, ages, copyright years, request numbers.
`significant_text` removes these from short texts; `text_shape` replaces numbers and dates. To add a language, add its
words to each list of `words.txt`; without them, it is learned from visits."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from functools import lru_cache

from evercrawl.core.document.word_lists import read_lists
from evercrawl.core.search.tokenizer import normalize_characters

_LISTS = read_lists("evercrawl.core.change", "words.txt")
# Words beside a number that counts readers, not things: no guests, no members, no stock.
COUNT_WORDS, COUNT_SIGNS = "|".join(_LISTS["words of counts"]), "|".join(_LISTS["signs of counts"])
UPKEEP_WORDS, UPKEEP_SIGNS = "|".join(_LISTS["words of upkeep"]), "|".join(_LISTS["signs of upkeep"])
# Words that stand before a clock; beside other words they say nothing about numbers.
NOW_WORDS, NOW_SIGNS = "|".join(_LISTS["words of now"]), "|".join(_LISTS["signs of now"])
COUNTED_PEOPLE = (
    r"\b(?:users?|guests?|members?|people|players?|customers?|others)\b.{0,20}?"
    r"\b(?:online|active|viewing|watching|browsing|looking|reading|here now|right now)\b"
)
COUNTED_TIMES = r"\b(?:read|seen|viewed|visited|opened|played|shared|downloaded|requested|accessed)\b.{0,12}?\btimes?\b"
SMALL_WORDS = frozenset(" ".join(_LISTS["small words"]).split())
UNITS_OF_TIME = r"(?:s|sec|secs|seconds?|min|mins|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?|mo|y|w)"
RELATIVE_TIMES = tuple(age.replace("UNITS", UNITS_OF_TIME) for age in _LISTS["ages"])
MONTHS = "|".join(_LISTS["months"])
_MONTH_STARTS = (
    "jan ene gen", "feb fév fev", "mar mär maa", "apr avr abr", "may mai mei maj mag", "jun giu", "jul lug",
    "aug aoû ago", "sep set", "oct okt ott out", "nov", "dec dez déc dic",
)  # fmt: skip
MONTH_NUMBERS = {start: number for number, starts in enumerate(_MONTH_STARTS, 1) for start in starts.split()}
WEEKDAYS = "|".join(_LISTS["weekdays"])
PRICE = (
    r"[$€£¥₹₽₩₺₴₫฿]"
    r"|\b(?:usd|eur|gbp|chf|jpy|cny|inr|rub|pln|czk|sek|nok|dkk|kr|zł|kč|ft|lei|euros?|dollars?)\b|円|元|원|руб"
)
IDENTITY_WORDS = (
    r"(?:request|session|trace|transaction|correlation|visit|ray|error|cache|server|node|host|event)"
    r"[ -]?(?:id|key|no)|token|nonce|uuid|served by|sitzungs?-?id|anfrage-?id|vorgangsnummer"
    r"|id de (?:requête|session|sesión)|id (?:sessione|запроса)"
)
SHORT_WORDS = 14
SHORT_CHARS = 140
TINY_WORDS = 7
MIN_LETTER_SHARE = 0.05
PROSE_WORDS = 8  # From this length on a text is a statement rather than a label.
DENSE_CHARS_PER_WORD, LONG_CHARS_PER_WORD = 2, 5
"""For scripts without spaces between words: of signs that are words or syllables, and of letters as in Thai."""
MAX_CACHED_TEXTS = 4096
YEAR_DIGITS = 4
MIN_CODE_DIGITS = 7
MOMENT_DAYS = 7  # A date with a clock that is so many days old says when something last happened.

_ANY = re.IGNORECASE
_NUMBER = re.compile(r"(?:(?<![\w#])[-+−])?\d(?:[\d.,:/'’+\u00a0\u202f-]|(?<=\d) (?=\d{3}\b))*(?:[kKM]\b|万|億)?")
_CLOCK = re.compile(
    r"\b\d{1,2}(?::|h| h |\.(?=\d{2} ?uhr))\d{2}(?: ?[ap]\.?m\.?\b| ?uhr\b| ?h\b)?"
    r"|\d{1,2}[時时시]\s?\d{1,2}[分분]"
    r"|\b\d{1,2} uhr(?: \d{1,2})?\b",
    _ANY,
)
_STAMP = re.compile(
    r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
    r"|\b\d{1,2}[:.]\d{2}[:.]\d{2}(?:[.,]\d+)?(?: ?[ap]\.?m\.?\b)?(?![.\d])",
    _ANY,
)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th|er|º|ª|\.)?\s*(?:de |di |of )?(?:{MONTHS})\b\.?"
    rf"|(?:{MONTHS})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b)(?:,?\s*(?:de |del )?\d{{4}}(?: г\.)?)?"
    rf"|\b\d{{1,2}}[/-](?:{MONTHS})[/-]\d{{2,4}}\b"
    r"|\b\d{4}[./-]\d{1,2}[./-]\d{1,2}\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b"
    r"|(?:\d{2,4}\s?[年년]\s?)?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]",
    _ANY,
)
_WEEKDAY = re.compile(rf"\b(?:{WEEKDAYS})\b\.?|[月火水木金土日]曜日?|星期[一二三四五六日天]|[월화수목금토일]요일", _ANY)
_COUNT = re.compile(rf"\b(?:{COUNT_WORDS})\b|{COUNT_SIGNS}|{COUNTED_TIMES}|{COUNTED_PEOPLE}", _ANY)
_UPKEEP = re.compile(rf"\b(?:{UPKEEP_WORDS})\b|{UPKEEP_SIGNS}", _ANY)
_DURATION = re.compile(  # How long it took to make a page.
    r"\b\d{1,4}(?:[.,]\d{1,9})? ?(?:[mµ]?s|msecs?|secs?|seconds?|milliseconds?|sek(?:unden?)?|secondes?|segundos?"
    r"|second[oi]|seconden|sekunder|sekund[ay]?|сек(?:унд\w?)?|秒|초)(?!\w)",
    _ANY,
)
_NOW = re.compile(rf"\b(?:{NOW_WORDS})\b|{NOW_SIGNS}", _ANY)
_D, _FEW_DIGITS = r"\d+", r"\d{1,6}"  # An age has few digits; more would take quadratic time.
# Vowel signs, as of Hindi and Thai, are no letters to regular expressions.
_UNIT = r"[^\s\d]{1,24}"
_RELATIVE = (
    one.replace(_D, _FEW_DIGITS).replace(r" \w+ ", f" {_UNIT} ").replace(r"?\w+", f"?{_UNIT}") for one in RELATIVE_TIMES
)
_AGE = re.compile("|".join(f"(?<!\\w)(?:{one})(?!\\w)" for one in _RELATIVE), _ANY)
_MONTH = re.compile(rf"\b(?:{MONTHS})\b", _ANY)
_PRICE = re.compile(PRICE, _ANY)
_COMPACT_AGE = re.compile(r"\d{1,3}(?:s|m|h|d|w|mo|y)")
_SHORT_AGE = re.compile(rf"(?:(?:about|over|almost|less than) )?(?:\d{{1,3}} ?|an? |one ){UNITS_OF_TIME}\.?", _ANY)
_COPYRIGHT = re.compile(r"©|\(c\)|\bcopyright\b", _ANY)
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_IDENTITY = re.compile(rf"\b(?:{IDENTITY_WORDS})\b", _ANY)
_TOKEN = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]{6,}\b")
_GROUPED = re.compile(r"(?<![\d-])[1-9]\d{0,2}(?:[.,'’ \u00a0\u202f]\d{3})+(?![\d-])")
_CODE = re.compile(
    r"(?<![\w.,])[+(]?\d{2,5}\)?[ /-]{1,3}(?:\d{2,8}[ /-]){0,4}\d{2,8}(?![\d.,:/]{0,8}\d)|\b[A-Z]{1,5}-\d{3,8}\b"
)
_VERSION = re.compile(r"(?<![\d.])v?(?!\d{1,3}(?:\.\d{3})+(?![\d.]))\d{1,4}(?:\.\d{1,4}){2,3}(?![\d.])")
_TITLE_COUNT = re.compile(r"^\s*[(\[]\d+\+?[)\]]\s*")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LETTERS_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS = re.compile(r"#(?:[\s.,:;/'-]*#)+")
_TYPOGRAPHY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})


def count_words(text: str) -> float:
    """Return the number of words; an estimate for scripts without spaces."""
    words = len(text.split())
    if text.isascii():
        return words
    letters = sum(len(found) - 1 for found in _LETTERS_WITHOUT_SPACES.findall(text))
    return words + len(_DENSE.findall(text)) / DENSE_CHARS_PER_WORD + letters / LONG_CHARS_PER_WORD


def is_count(text: str) -> bool:
    """Return whether the text is a number and nothing else."""
    return text.rstrip("kKM").replace(",", "").replace(".", "").isdecimal()


def is_prose(text: str) -> bool:
    """Return whether the text is a statement rather than a label, count or headline."""
    return count_words(text) >= PROSE_WORDS


def has_price(text: str) -> bool:
    """Return whether the text names a price."""
    return _PRICE.search(text) is not None


def is_identifier(text: str) -> bool:
    """Return whether the text has a number that counts nothing: of a telephone, an article, a version."""
    if _VERSION.search(text) is not None and not is_time(text):
        return True
    bare = _GROUPED.sub("#", _CLOCK.sub("#", _DATE.sub("#", _STAMP.sub("#", text))))
    found = _CODE.search(bare)
    return found is not None and (found[0][0].isalpha() or sum(map(str.isdigit, found[0])) >= MIN_CODE_DIGITS)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def significant_text(text: str) -> str:
    """Return the text without noise and spaces; empty if nothing is left."""
    text_form = normalize_text(text)
    if is_drawing(text_form):
        return ""
    if len(text_form) > SHORT_CHARS or count_words(text_form) > SHORT_WORDS:
        return _without_space(_without_timestamps(text_form))
    return _significant_short_text(text_form)


def is_drawing(text: str) -> bool:
    """Return whether a text has hardly a letter or digit: a picture made of signs, as some captchas are."""
    return len(text) > SHORT_CHARS and sum(map(str.isalnum, text)) < MIN_LETTER_SHARE * len(text)


def normalize_text(text: str) -> str:
    """Return the text with normalized characters."""
    return _INVISIBLE.sub("", text if text.isascii() else normalize_characters(text).translate(_TYPOGRAPHY))


def _without_timestamps(text: str) -> str:
    """Return the text without times to the second, which only machines write, and dates beside them."""
    without_stamps = _STAMP.sub("#", text)
    return _WEEKDAY.sub("#", _DATE.sub("#", without_stamps)) if without_stamps != text else text


def _significant_short_text(text: str) -> str:
    ageless = _AGE.sub("#", _DURATION.sub("#", text) if _UPKEEP.search(text) else text)
    if ageless != text and not _has_other_words(ageless):
        return ""
    if _COPYRIGHT.search(ageless):
        ageless = _YEAR.sub("#", ageless)
    if _NUMBER.search(ageless) and _COUNT.search(ageless) and not _PRICE.search(ageless):
        counted = _NUMBER.sub("#", ageless)
        return "" if count_words(counted) <= TINY_WORDS else _without_space(counted)
    dateless = _without_clock(ageless)
    return _without_space(_TOKEN.sub("#", dateless) if _IDENTITY.search(dateless) else dateless)


def _without_clock(text: str) -> str:
    """Return the text without date and time if it says nothing else, or is about the page's upkeep.
    A date alone stays, since it may be that of an event; so do times alone, which may be opening hours."""
    without_stamps = _without_timestamps(text)
    is_stamped = without_stamps != text
    dateless = _DATE.sub("#", without_stamps)
    has_date = is_stamped or dateless != text
    bare, clocks = _CLOCK.subn("#", dateless)
    if not has_date and not clocks:
        return text
    is_upkeep = _UPKEEP.search(bare) is not None
    bare = _WEEKDAY.sub("#", bare)
    if not _has_other_words(bare) and not _NUMBER.search(bare):
        is_clock = is_stamped or is_upkeep or (has_date and clocks == 1) or (clocks == 1 and bool(_NOW.search(bare)))
        return "" if is_clock else text
    return bare if is_stamped or is_upkeep else text


def is_upkeep(text: str) -> bool:
    """Return whether the text counts readers, says how old something is, or when the page was updated."""
    return any(pattern.search(text) for pattern in (_COUNT, _AGE, _UPKEEP, _COPYRIGHT, _IDENTITY)) or is_time(text)


def is_moment(text: str) -> bool:
    """Return whether the text has a date and a time of day, and does not say that it is about the page's upkeep."""
    dateless, dates = _DATE.subn("#", text)
    is_upkeep_time = _UPKEEP.search(text) or _NOW.search(text)
    return bool(dates) and _CLOCK.search(dateless) is not None and not is_upkeep_time


def has_same_day(one: str, other: str) -> bool:
    """Return whether two texts name the same days, at least one."""
    days = _DATE.findall(one)
    return bool(days) and days == _DATE.findall(other)


def is_same_moment(one: str, other: str) -> bool:
    """Return whether two texts name the same minute in two forms, as "Sun, Feb 2, 11:04", "Feb 02 2025, 11:04" do."""
    clocks = _CLOCK.findall(one)
    if not clocks or clocks != _CLOCK.findall(other) or not (is_time(one) and is_time(other)):
        return False
    months = [found[0].lower() for found in (_MONTH.search(one), _MONTH.search(other)) if found is not None]
    numbers = [Counter(int(number) for number in re.findall(r"\d+", text)) for text in (one, other)]
    return len({month[:3] for month in months}) <= 1 and (numbers[0] <= numbers[1] or numbers[1] <= numbers[0])


def has_age(text: str) -> bool:
    """Return whether the text says somewhere how long ago something was."""
    return _AGE.search(text) is not None


def without_ages(text: str) -> str:
    """Return the text without what says how long ago something was."""
    return _AGE.sub("", text)


def without_times(text: str) -> str:
    """Return the text without dates, times of day and ages, which say nothing themselves."""
    return _WEEKDAY.sub("", _CLOCK.sub("", _DATE.sub("", _STAMP.sub("", _AGE.sub("", text)))))


def counts_in(text: str) -> list[float]:
    """Return the numbers in a text; none if one of them is a time or a version."""
    found = _NUMBER.findall(text) if _VERSION.search(text) is None else []
    return [] if any(":" in number for number in found) else [_count(number) for number in found]


def _count(number: str) -> float:
    factor = {"k": 1e3, "K": 1e3, "M": 1e6}.get(number[-1], 1.0)
    digits = re.sub(r"[^\d.]" if factor > 1 else r"\D", "", number.rstrip("kKM"))
    try:
        return float(digits) * factor
    except ValueError:
        return 0.0


def is_age(text: str) -> bool:
    """Return whether the text says how long ago something was, and nothing else."""
    return _AGE.fullmatch(text) is not None or _SHORT_AGE.fullmatch(text) is not None


def is_compact_age(text: str) -> bool:
    """Return whether the text is an age as lists of posts write it: `13m`, `2d`."""
    return _COMPACT_AGE.fullmatch(text) is not None


def is_time(text: str) -> bool:
    """Return whether the text is an age, a date or a time, and nothing else."""
    if is_age(text):
        return True
    bare = _WEEKDAY.sub("#", _CLOCK.sub("#", _DATE.sub("#", _STAMP.sub("#", text))))
    return bare != text and not _has_other_words(bare) and not _NUMBER.search(bare)


def _has_other_words(text: str) -> bool:
    """Return whether there is a word that is not about the page's upkeep."""
    rest = _NOW.sub(" ", _UPKEEP.sub(" ", text))
    return any(word.lower() not in SMALL_WORDS for word in _WORD.findall(rest))


def _without_space(text: str) -> str:
    return "".join(text.split())


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def text_shape(text: str) -> str:
    """Return the text with each run of numbers, dates and times replaced by one sign."""
    dateless = _WEEKDAY.sub("#", _DATE.sub("#", _STAMP.sub("#", _TOKEN.sub("#", normalize_text(text)))))
    return _SIGNS.sub("#", _without_space(_NUMBER.sub("#", _CLOCK.sub("#", dateless))))


def text_similarity(one: str, other: str) -> float:
    """Return the share of the shorter text that both begin or end with, numbers aside."""
    first, second = text_shape(one), text_shape(other)
    if not (_WORD.search(first) and _WORD.search(second)):
        # Of two numbers, or a number and a text, nothing is common but that there is a number.
        return float(bool(first) and first == second)
    shortest = min(len(first), len(second))
    return min(1.0, (common_prefix(first, second) + common_prefix(first[::-1], second[::-1])) / shortest)


def common_prefix(one: str, other: str) -> int:
    """Return the length of the common prefix, by bisection."""
    same, differs = 0, min(len(one), len(other)) + 1
    while differs - same > 1:
        middle = (same + differs) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            differs = middle
    return same


def significant_title(title: str) -> str:
    """Return a title without the count of unread items in front."""
    return significant_text(_TITLE_COUNT.sub("", title))


def is_todays_date(text: str, *, now: datetime, clock_days: int = MOMENT_DAYS) -> bool:
    """Return whether the text names the day of `now`, in any time zone; with a clock, one of the last `clock_days`."""
    day_text, clocks = _CLOCK.subn(" ", text)
    numbers = Counter(int(found) for found in re.findall(r"\d+", day_text) if len(found) <= YEAR_DIGITS)
    month_name = _MONTH.search(text)
    oldest = -clock_days if clocks else -1
    return any(_matches_day(numbers, now + timedelta(days=shift), month_name) for shift in range(oldest, 2))


def _matches_day(numbers: Counter[int], day: datetime, month_name: re.Match[str] | None) -> bool:
    """Return whether day and month are among the numbers, and the year unless the month is written out."""
    if month_name is not None:
        # Names of months in languages that are not listed match any month.
        return day.day in numbers and MONTH_NUMBERS.get(month_name[0][:3].lower(), day.month) == day.month
    return any(Counter((day.day, day.month, year)) <= numbers for year in (day.year, day.year % 100))
