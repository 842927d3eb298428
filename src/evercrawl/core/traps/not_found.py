"""Recognise sites that answer 200 for pages that do not exist (soft 404).
A short text with the right words is enough. Otherwise two invented URLs tell the site apart: not found, the same text
for everything, or a new page every time. Numbers and addresses are ignored: such pages repeat them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from evercrawl.core.duplicates.minhash import signature_similarity, text_signature
from evercrawl.core.traps.url_pattern import placeholder

MAX_NOT_FOUND_CHARS = 600  # Characters. A longer page is about something.
READ_CHARS = 4000  # Characters searched for phrases, which stand at the top.
SURE_CHARS = 200  # A text this short with such a phrase says nothing else.

_NOT_FOUND = re.compile(
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
    """Return the hashes of the phrases that report a missing page, ignoring numbers."""
    phrases = _END.split(f"{title or ''}\n{text[:READ_CHARS]}")
    return frozenset(
        xxh32_intdigest(_DIGITS.sub("0", " ".join(phrase.lower().split())).encode("utf-8", "surrogatepass"))
        for phrase in phrases
        if _NOT_FOUND.search(phrase) is not None
    )


def says_not_found(title: str | None, text: str) -> bool:
    """True if the page is short and reports a missing page."""
    return len(text) <= MAX_NOT_FOUND_CHARS and _NOT_FOUND.search(f"{title or ''}\n{text}") is not None


def says_only_not_found(title: str | None, text: str) -> bool:
    """True if it says that and nothing else."""
    return len(text) <= SURE_CHARS and says_not_found(title, text)


MIN_SIMILARITY = 0.8  # Similarity of equal answers, well above two pages of one template.
MIN_TEMPLATE_SIMILARITY = 0.2  # A not-found page with changing recommendations is not an invented page.
NEW_LINKS_SHARE = 0.8
MIN_SIZE_RATIO = 0.7
NONSENSE_LETTERS = 11
MIN_YEAR, MAX_YEAR = 1500, 2400
FIRST_INVENTED_YEAR = 2500  # Invented years begin here.

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
    ANSWERED = 2  # With a page for every URL.
    INVENTED = 3  # With new text and new links for every URL: a maze.
    SAME = 4  # With the same page for every URL.
    LEADS_ON = 5  # With a page for every URL that links to more of its kind: the set has no end.
    NOT_FOUND_AGAIN = 6  # Not found in a second probe either: the site knows its URLs.


class Soft404Page(NamedTuple):
    """The text that a site shows for missing pages."""

    signature: bytes
    chars: int


class ProbeAnswer(NamedTuple):
    """The answer to an invented URL."""

    status: int
    text: str = ""
    links: int = 0  # Links to pages of the site.
    new_links: int = 0  # Those that were unknown.
    same_shape_links: int = 0  # New links with the shape of the invented URL.
    title: str = ""


def probe_url(first: str, last: str, *, seed: int) -> str:
    """Invent a URL like the two given ones by changing the place where they differ.
    A year is changed first, then the last number, a random value last, since it may be a session id."""
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
    """Rank how well a place suits invention; among words, the longest wins."""
    kind = placeholder(piece) or ""
    if kind.startswith("{id}"):
        return 0, 0
    if kind.startswith("{date}") or (len(piece) == 4 and piece.isdigit() and _is_year(int(piece))):
        return 3, 0
    return (2, 0) if kind.startswith("{n}") else (1, len(piece))


def _is_year(number: int) -> bool:
    return MIN_YEAR <= number <= MAX_YEAR


def invented_urls(url: str, *, seed: int) -> tuple[str, str]:
    """Invent two URLs in the folder of the URL."""
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
    """Return the segments and values after the host with their positions."""
    path = url[_path_start(url) :]
    question = path.find("?")
    found = []
    for match in _TOKEN.finditer(path):
        is_name = 0 <= question < match.start() and path[match.end() : match.end() + 1] == "="
        if not is_name:
            found.append((match.start(), match.end(), match[0]))
    return found


def invented_value(value: str, *, seed: int) -> str:
    """Invent a value of the same kind, the same for the same seed."""
    number = xxh3_64_intdigest(value.encode("utf-8", "surrogatepass"), seed=seed & 0xFFFF_FFFF)
    if _DATE.match(value):
        # Most of these years have a February 29, so the date stays valid.
        return str(FIRST_INVENTED_YEAR + 4 * (1 + number % 99)) + value[4:]
    digits = _DIGITS.search(value)
    if digits is not None and len(digits[0]) * 2 >= len(value.partition(".")[0]):
        return value[: digits.start()] + _invented_number(digits[0], number) + value[digits.end() :]
    stem, dot, ending = value.rpartition(".")
    mark = value[: len(value) - len(value.lstrip("~!@$_-"))]
    return mark + _nonsense(number) + (dot + ending if stem and len(ending) <= 5 else "")


def _invented_number(digits: str, number: int) -> str:
    if len(digits) == 4 and _is_year(int(digits)):
        return str(FIRST_INVENTED_YEAR + number % 400)
    return str(1 + number % 9) + str(number)[: len(digits) + 3].zfill(len(digits) + 3)


def _nonsense(number: int) -> str:
    letters = []
    for place in range(NONSENSE_LETTERS):
        pool = _VOWELS if place % 2 else _CONSONANTS
        number, pick = divmod(number, len(pool))
        letters.append(pool[pick])
    return "".join(letters)


def soft_404_page(text: str) -> Soft404Page:
    """Return what is stored of the answer to an invented URL."""
    return Soft404Page(text_signature(_ADDRESS.sub("0", text)), len(text))


def is_soft_404(text: str, known: Soft404Page) -> bool:
    """True if the text is the one that the site shows for missing pages."""
    shorter, longer = sorted((len(text), known.chars))
    if shorter < MIN_SIZE_RATIO * longer:
        return False
    return signature_similarity(text_signature(_ADDRESS.sub("0", text)), known.signature) >= MIN_SIMILARITY


def common_not_found_phrases(answers: Sequence[ProbeAnswer]) -> frozenset[int]:
    """Return the hashes of the not-found phrases that all answers share."""
    return frozenset.intersection(*(not_found_phrases(one.title, one.text) for one in answers))


def judge_probe(one: ProbeAnswer, other: ProbeAnswer) -> tuple[ProbeOutcome, Soft404Page | None]:
    """Judge the answers to two invented URLs. Also return the text if both are the same."""
    if not all(200 <= answer.status < 300 for answer in (one, other)):
        return ProbeOutcome.NOT_FOUND, None
    same = soft_404_page(one.text)
    if is_soft_404(other.text, same):
        # Pages like this answer are not real. Others are, because the site tells them apart.
        return ProbeOutcome.SAME, same
    if common_not_found_phrases((one, other)):
        return ProbeOutcome.NOT_FOUND, None
    has_template = signature_similarity(same.signature, soft_404_page(other.text).signature) >= MIN_TEMPLATE_SIMILARITY
    invents = not has_template and _leads_on(one) and _leads_on(other)
    if invents:
        return ProbeOutcome.INVENTED, None
    return (ProbeOutcome.LEADS_ON if one.same_shape_links and other.same_shape_links else ProbeOutcome.ANSWERED), None


def _leads_on(answer: ProbeAnswer) -> bool:
    """True if nearly all its links are unknown. A not-found page also links to known pages."""
    return answer.new_links > 0 and answer.new_links >= NEW_LINKS_SHARE * answer.links
