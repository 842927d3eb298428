"""Recognise sites that answer 200 for pages that do not exist (soft 404).
A short text with the right words is enough. Otherwise two invented URLs tell the site apart: not found, the same text
for everything, or a new page every time. Numbers and the words of the URL are ignored: such pages repeat them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple
from urllib.parse import unquote

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from evercrawl.core.duplicates.minhash import EMPTY_SIGNATURE, signature_similarity, text_signature, text_tokens
from evercrawl.core.traps.url_pattern import placeholder

MAX_NOT_FOUND_CHARS = 600  # Characters. A longer page is about something.
READ_CHARS = 4000  # Characters searched for phrases, which stand at the top.
SURE_CHARS = 200  # A text this short with such a phrase says nothing else.

_NOT_FOUND = re.compile(
    r"\b(?:page|file|document|site|url|address|content|article|item|product|resource|topic|thread|post|entry|message|"
    r"listing|offer|job|seite|artikel|beitrag|thema|p[aá]gina|sujet)\b.{0,60}?"
    r"\b(?:not (?:be )?found|(?:never|(?:does|did) ?n[o']t|no longer) (?:existed?|exists?|available)|"
    r"could ?n[o']t be found|(?:has|have|was|were) (?:been )?(?:moved|removed|deleted)|is (?:gone|missing|unavailable)|"
    r"nicht gefunden|existiert nicht|introuvable|no (?:existe|encontrada))\b"
    r"|\b(?:not|nothing) found\b|\b404\b.{0,40}\b(?:error|found|page)\b|\berror 404\b"
    r"|\b(?:could|can) ?n[o']t (?:be found|find)\b|\bno such (?:page|file|document|article|item)\b"
    r"|\bn'existe (?:pas|plus)\b|\bnicht gefunden\b|\bno se encuentra\b",
    re.IGNORECASE | re.DOTALL,
)
_END = re.compile(r"[\n.!?|:\u2014\u3002\uff01\uff1f]+")
_DIGITS = re.compile(r"\d+")


def not_found_phrases(title: str | None, text: str) -> frozenset[int]:
    """Return the hashes of the phrases that report a missing page, ignoring numbers."""
    phrases = _END.split(f"{title or ''}\n{text[:READ_CHARS]}")
    return frozenset(
        _hash(_DIGITS.sub("0", " ".join(phrase.lower().split())))
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
MIN_PHRASE_SHARE = 0.5  # Share of the known phrases that a missing page shows.
MAX_PHRASES = 8
NONSENSE_LETTERS = 11
MIN_YEAR, MAX_YEAR = 1500, 2400
FIRST_INVENTED_YEAR = 2500  # Invented years begin here.

_DATE = re.compile(
    r"(?:1[5-9]|2[0-3])\d\d([-_.]?)(?:0?[1-9]|1[0-2])(?:\1(?:0?[1-9]|[12]\d|3[01]))?"
    r"(?:[t ].*|(?:\d\d){2,3})?\Z",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"[^/?&;=#]+")
_NUMBER_RANK, _DATE_RANK = 2, 3
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

    signature: bytes  # Empty if the text differs from page to page.
    chars: int
    phrases: tuple[int, ...] = ()  # Hashes of the phrases that all missing pages show and real pages do not.


class ProbeAnswer(NamedTuple):
    """The answer to an invented URL."""

    status: int
    text: str = ""
    links: int = 0  # Links to pages of the site.
    new_links: int = 0  # Those that were unknown.
    same_shape_links: int = 0  # New links with the shape of the invented URL.
    title: str = ""
    url: str = ""
    has_login: bool = False  # It asks for a password.
    noindex: bool = False


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
        return _DATE_RANK, 0
    return (_NUMBER_RANK, 0) if kind.startswith("{n}") else (1, len(piece))


def _is_year(number: int) -> bool:
    return MIN_YEAR <= number <= MAX_YEAR


def invented_urls(url: str, *, seed: int, in_query: bool = False) -> tuple[str, str]:
    """Invent two URLs of the same kind: another last segment of the path, or another value `in_query`."""
    if not in_query:
        url = url.partition("?")[0]
    one, other = (_invented_url(url, seed=seed + turn) for turn in (0, 1))
    return one, other


def _invented_url(url: str, *, seed: int) -> str:
    offset, places = _path_start(url), _places(url)
    query = url.find("?", offset)
    in_query = [place for place in places if 0 <= query < offset + place[0]]
    if in_query:
        chosen = [max(in_query, key=lambda place: (any(map(str.isdigit, place[2])), len(place[2])))]
    else:
        kinds = [_rank(value)[0] for _, _, value in places]
        numbers = [] if _DATE_RANK in kinds else [place for place in places[:-1] if _rank(place[2])[0] == _NUMBER_RANK]
        chosen = numbers + places[-1:]
    if not chosen:
        return url + ("" if url.endswith("/") else "/") + _nonsense(_seeded(url, seed))
    for start, end, value in reversed(chosen):
        # Different URLs of a site must not get the same invented name.
        other = invented_value(value, seed=_seeded(url, seed) & 0xFFFF)
        url = url[: offset + start] + other + url[offset + end :]
    return url


def _seeded(text: str, seed: int) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), seed=seed)


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
    number = _seeded(value, seed & 0xFFFF_FFFF)
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


def soft_404_page(text: str, url: str = "", *, phrases: Sequence[int] = ()) -> Soft404Page:
    """Return what is stored of the answer to an invented URL."""
    return Soft404Page(text_signature("\n".join(_own_phrases(text, url))), len(text), tuple(phrases))


def is_soft_404(text: str, known: Soft404Page, url: str = "") -> bool:
    """True if the text is the one that the site shows for missing pages."""
    shorter, longer = sorted((len(text), known.chars))
    if known.signature == EMPTY_SIGNATURE or shorter < MIN_SIZE_RATIO * longer:
        return False
    own = text_signature("\n".join(_own_phrases(text, url)))
    return signature_similarity(own, known.signature) >= MIN_SIMILARITY


def has_same_message(text: str, known: Soft404Page, url: str = "", *, before: str = "") -> bool:
    """True if the text has phrases that the site shows for missing pages and it had not `before`."""
    if not known.phrases:
        return False
    own = set(map(_hash, _own_phrases(text, url))).difference(map(_hash, _own_phrases(before, url)))
    return sum(phrase in own for phrase in known.phrases) >= MIN_PHRASE_SHARE * len(known.phrases)


def common_message(answers: Sequence[ProbeAnswer], real: Sequence[ProbeAnswer]) -> tuple[int, ...]:
    """Return the hashes of the phrases that all answers to invented URLs show and no real page does."""
    lists = [dict.fromkeys(map(_hash, _own_phrases(answer.text, answer.url))) for answer in answers]
    elsewhere = {_hash(phrase) for page in real for phrase in _own_phrases(page.text, page.url)}
    shared = [phrase for phrase in lists[0] if phrase not in elsewhere and all(phrase in other for other in lists[1:])]
    return tuple(shared[:MAX_PHRASES])


def _own_phrases(text: str, url: str) -> list[str]:
    """Return the phrases of a text without numbers and the words of the URL."""
    path = unquote(url).casefold()[_path_start(url) :]
    named = set(_WORD.findall(path.rstrip("/").rpartition("/")[2]))
    phrases = []
    for phrase in _END.split(text[:READ_CHARS].casefold()):
        words = [word for word in _WORD.findall(phrase) if word not in named and not any(map(str.isdigit, word))]
        if words:
            phrases.append(" ".join(words))
    return phrases


def _hash(phrase: str) -> int:
    return xxh32_intdigest(phrase.encode("utf-8", "surrogatepass"))


COMPARED_CHARS = 20_000
MAX_KEPT_TEXT = 0.12  # A page that kept no more of its word pairs has lost its text.
MIN_NEW_TEXT = 0.5
MIN_MESSAGE_WORDS = 6
MIN_LOST_CHARS = 120  # A shorter text is too little to lose.
MAX_LEFT_SHARE = 0.5  # A page that is left with more text is about something else now.


def has_lost_text(before: str | None, after: str) -> bool:
    """True if nearly nothing is left of the text that the page had."""
    return bool(before) and _kept_share(before or "", after) <= MAX_KEPT_TEXT


def has_new_text(before: str | None, after: str) -> bool:
    """True if most of what a page shows is new. A page that was shortened shows its own text, or the site's menu."""
    return 1 - _kept_share(after, before or "") >= MIN_NEW_TEXT


def _kept_share(text: str, other: str) -> float:
    """Return the share of the word pairs of a text that another has too."""
    own = set(text_tokens(text[:COMPARED_CHARS]))
    return len(own.intersection(text_tokens(other[:COMPARED_CHARS]))) / len(own) if own else 1.0


def is_left_empty(before: str | None, after: str) -> bool:
    """True if a page has lost its text and is left with much less."""
    if before is None or len(before) < MIN_LOST_CHARS:
        return False
    return len(after) <= max(MAX_NOT_FOUND_CHARS, MAX_LEFT_SHARE * len(before)) and has_lost_text(before, after)


def common_not_found_phrases(answers: Sequence[ProbeAnswer]) -> frozenset[int]:
    """Return the hashes of the not-found phrases that all answers share."""
    return frozenset.intersection(*(not_found_phrases(one.title, one.text) for one in answers))


def judge_probe(one: ProbeAnswer, other: ProbeAnswer) -> tuple[ProbeOutcome, Soft404Page | None]:
    """Judge the answers to two invented URLs. Also return the text if both are the same."""
    if not all(200 <= answer.status < 300 for answer in (one, other)):
        return ProbeOutcome.NOT_FOUND, None
    same = soft_404_page(one.text, one.url)
    words = sum(len(phrase.split()) for phrase in _own_phrases(one.text, one.url))
    # A few words beside a number are no message about missing pages: a clock, a counter.
    is_message = words >= MIN_MESSAGE_WORDS or one.text == other.text
    if is_message and is_soft_404(other.text, same, other.url):
        # Pages like this answer are not real. Others are, because the site tells them apart.
        return ProbeOutcome.SAME, same
    if common_not_found_phrases((one, other)):
        return ProbeOutcome.NOT_FOUND, None
    other_page = soft_404_page(other.text, other.url)
    has_template = signature_similarity(same.signature, other_page.signature) >= MIN_TEMPLATE_SIMILARITY
    invents = not has_template and _leads_on(one) and _leads_on(other)
    if invents:
        return ProbeOutcome.INVENTED, None
    return (ProbeOutcome.LEADS_ON if one.same_shape_links and other.same_shape_links else ProbeOutcome.ANSWERED), None


def _leads_on(answer: ProbeAnswer) -> bool:
    """True if nearly all its links are unknown. A not-found page also links to known pages."""
    return answer.new_links > 0 and answer.new_links >= NEW_LINKS_SHARE * answer.links
