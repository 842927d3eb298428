"""Does a page say that there is no such page, although the server says 200?

Only a short text can be an apology: a manual of status codes uses the same words. Longer ones are told by
what made-up addresses are answered with (`soft404.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from evercrawl.core.duplicates.minhash import signature_similarity, text_signature
from evercrawl.core.traps.url_pattern import placeholder

MAX_NOT_FOUND_CHARS = 600
"""Characters of text; a longer page is about something."""
READ_CHARS = 4000
"""Of a text in which phrases are looked for; an apology stands at the top."""
SURE_CHARS = 200
"""A text this short that apologises is nothing else."""

_WORDS = re.compile(
    r"\b(?:page|file|document|site|url|address|content|article|item|product|resource|seite|p[aá]gina)\b.{0,60}?"
    r"\b(?:not (?:be )?found|(?:never|(?:does|did) ?n[o']t|no longer) (?:existed?|available)|"
    r"could ?n[o']t be found|has (?:been )?(?:moved|removed|deleted)|is (?:gone|missing|unavailable)|"
    r"nicht gefunden|existiert nicht|introuvable|no (?:existe|encontrada))\b"
    r"|\b(?:not|nothing) found\b|\b404\b.{0,40}\b(?:error|found|page)\b|\berror 404\b"
    r"|\b(?:could|can) ?n[o']t (?:be found|find)\b|\bno such (?:page|file|document|article|item)\b"
    r"|\bn'existe (?:pas|plus)\b|\bnicht gefunden\b|\bno se encuentra\b",
    re.IGNORECASE | re.DOTALL,
)
_END = re.compile(r"[\n.!?|:\u2014]+")
_DIGITS = re.compile(r"\d+")


def not_found_phrases(title: str | None, text: str) -> frozenset[int]:
    """The phrases, as numbers, that say that something was not found; numbers in them do not matter."""
    phrases = _END.split(f"{title or ''}\n{text[:READ_CHARS]}")
    return frozenset(
        xxh32_intdigest(_DIGITS.sub("0", " ".join(phrase.lower().split())).encode("utf-8", "surrogatepass"))
        for phrase in phrases
        if _WORDS.search(phrase) is not None
    )


def says_not_found(title: str | None, text: str) -> bool:
    """The page is short and says that something was not found."""
    return len(text) <= MAX_NOT_FOUND_CHARS and _WORDS.search(f"{title or ''}\n{text}") is not None


def says_only_not_found(title: str | None, text: str) -> bool:
    """It says that and nothing else."""
    return len(text) <= SURE_CHARS and says_not_found(title, text)


ALIKE = 0.8
"""Similarity from which on an answer is the same for all; well above that of two pages of one template."""
ALIKE_IN_PART = 0.2
"""An apology that comes with ever other recommendations is no invented page."""
NEW_LINKS_SHARE = 0.8
SIZES_ALIKE = 0.7
NONSENSE_LETTERS = 11
LEAST_YEAR, MOST_YEAR = 1500, 2400
MADE_UP_YEAR = 2500
"""From here on the made-up years begin."""

_DATE = re.compile(
    r"(?:1[5-9]|2[0-3])\d\d([-_.]?)(?:0?[1-9]|1[0-2])(?:\1(?:0?[1-9]|[12]\d|3[01]))?"
    r"(?:[t ].*|(?:\d\d){2,3})?\Z",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\S*[\d/]\S*")
_TOKEN = re.compile(r"[^/?&=#]+")
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


class ProbeOutcome(IntEnum):
    """How a site answers invented URLs of a pattern."""

    UNPROBED = 0
    NOT_FOUND = 1
    ANSWERED = 2
    """With a page for every URL."""
    INVENTED = 3
    """With new text and new links for every URL: a maze."""
    SAME = 4
    """With the same page for every URL."""
    LEADS_ON = 5
    """With a page for every URL that links to more of its kind: the set has no end."""
    NOT_FOUND_AGAIN = 6
    """Not found in a second probe either: the site knows its URLs."""


class Soft404Page(NamedTuple):
    """The text that a site gives for addresses that do not exist."""

    signature: bytes
    chars: int


class ProbeAnswer(NamedTuple):
    """How a made-up address was answered."""

    status: int
    text: str = ""
    links: int = 0
    """Links of the answer to pages of the site."""
    new_links: int = 0
    """Those of them that were not known before."""
    further: int = 0
    """Those of the new ones that are of the same shape as the made-up address."""
    title: str = ""


def probe_url(first: str, last: str, *, seed: int) -> str:
    """An address like the two given ones that nobody ever linked to: the place at which they differ, made up.

    Of several such places a year is taken first, then the last number: names must exist, numbers go on. One
    that looks drawn by lot is taken only where there is no other, since a session is none that was made up.
    """
    ones, others = _places(first), _places(last)
    places = [
        (start, end)
        for (start, end, value), (_, _, other) in zip(others, ones, strict=False)
        if value != other and start > 0
    ]
    if len(ones) != len(others) or not places:
        places = [(start, end) for start, end, _ in others[-1:]]
    offset = _path_start(last)
    start, end = max(places, key=lambda place: (_rank(last[offset + place[0] : offset + place[1]]), place[0]))
    return (
        last[: offset + start] + invented_value(last[offset + start : offset + end], seed=seed) + last[offset + end :]
    )


def _rank(piece: str) -> tuple[int, int]:
    """How much a place deserves to be made up; among words the longest."""
    kind = placeholder(piece) or ""
    if kind.startswith("{id}"):
        return 0, 0
    if kind.startswith("{date}") or (len(piece) == 4 and piece.isdigit() and _is_year(int(piece))):
        return 3, 0
    return (2, 0) if kind.startswith("{n}") else (1, len(piece))


def _is_year(number: int) -> bool:
    return LEAST_YEAR <= number <= MOST_YEAR


def invented_urls(url: str, *, seed: int) -> tuple[str, str]:
    """Two addresses in the folder of the URL that nobody ever linked to."""
    path = url.partition("?")[0]
    start = _path_start(path)
    folder = path[: path.rindex("/") + 1] if start < len(path) else path + "/"
    last = path[len(folder) :]
    ending = last[last.rindex(".") :] if "." in last and len(last) - last.rindex(".") <= 6 else ""
    numbers = (xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"), seed=seed + turn) for turn in (0, 1))
    one, other = (folder + _nonsense(number) + ending for number in numbers)
    return one, other


def _path_start(url: str) -> int:
    start = url.find("/", url.find("//") + 2)
    return start if start >= 0 else len(url)


def _places(url: str) -> list[tuple[int, int, str]]:
    """Segments and values behind the host, with where they stand; names of parameters are left out."""
    path = url[_path_start(url) :]
    question = path.find("?")
    found = []
    for match in _TOKEN.finditer(path):
        is_name = 0 <= question < match.start() and path[match.end() : match.end() + 1] == "="
        if not is_name:
            found.append((match.start(), match.end(), match[0]))
    return found


def invented_value(value: str, *, seed: int) -> str:
    """A value of the same kind that does not exist, the same for the same seed."""
    number = xxh3_64_intdigest(value.encode("utf-8", "surrogatepass"), seed=seed & 0xFFFF_FFFF)
    if _DATE.match(value):
        # Most of these years have a 29th of February, so the date stays one.
        return str(MADE_UP_YEAR + 4 * (1 + number % 99)) + value[4:]
    digits = _DIGITS.search(value)
    if digits is not None and len(digits[0]) * 2 >= len(value.partition(".")[0]):
        return value[: digits.start()] + _made_up_number(digits[0], number) + value[digits.end() :]
    stem, dot, ending = value.rpartition(".")
    mark = value[: len(value) - len(value.lstrip("~!@$_-"))]
    return mark + _nonsense(number) + (dot + ending if stem and len(ending) <= 5 else "")


def _made_up_number(digits: str, number: int) -> str:
    if len(digits) == 4 and _is_year(int(digits)):
        return str(MADE_UP_YEAR + number % 400)
    return str(1 + number % 9) + str(number)[: len(digits) + 3].zfill(len(digits) + 3)


def _nonsense(number: int) -> str:
    letters = []
    for place in range(NONSENSE_LETTERS):
        pool = _VOWELS if place % 2 else _CONSONANTS
        number, pick = divmod(number, len(pool))
        letters.append(pool[pick])
    return "".join(letters)


def soft_404_page(text: str) -> Soft404Page:
    """What is kept of the text that made-up addresses get."""
    return Soft404Page(text_signature(_ADDRESS.sub("0", text)), len(text))


def is_soft_404(text: str, known: Soft404Page) -> bool:
    """The text is the one that the site gives for addresses that do not exist."""
    shorter, longer = sorted((len(text), known.chars))
    if shorter < SIZES_ALIKE * longer:
        return False
    return signature_similarity(text_signature(_ADDRESS.sub("0", text)), known.signature) >= ALIKE


def common_not_found_phrases(answers: Sequence[ProbeAnswer]) -> frozenset[int]:
    """The phrases, as numbers, with which all the answers say that there is no such page."""
    return frozenset.intersection(*(not_found_phrases(one.title, one.text) for one in answers))


def judge_probe(one: ProbeAnswer, other: ProbeAnswer) -> tuple[ProbeOutcome, Soft404Page | None]:
    """What two answers to made-up addresses say about the site; the text, where it is the same for all."""
    if not all(200 <= answer.status < 300 for answer in (one, other)):
        return ProbeOutcome.NOT_FOUND, None
    same = soft_404_page(one.text)
    if is_soft_404(other.text, same):
        # What is like this answer is no page; the others are real, for the site can tell them apart.
        return ProbeOutcome.SAME, same
    if common_not_found_phrases((one, other)):
        return ProbeOutcome.NOT_FOUND, None
    has_template = signature_similarity(same.signature, soft_404_page(other.text).signature) >= ALIKE_IN_PART
    invents = not has_template and _leads_on(one) and _leads_on(other)
    if invents:
        return ProbeOutcome.INVENTED, None
    return (ProbeOutcome.LEADS_ON if one.further and other.further else ProbeOutcome.ANSWERED), None


def _leads_on(answer: ProbeAnswer) -> bool:
    """Nearly all of its links are unknown; an apology also links to what the site is known for."""
    return answer.new_links > 0 and answer.new_links >= NEW_LINKS_SHARE * answer.links
