"""What trap detection knows about one site, and how a visit changes it.
The value of a visit is the new text on the page, or the new text that its best new link promises. The narrowest pattern
that explains a poor value gets the blame: a folder is not charged for a known bad shape or parameter."""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from evercrawl.core.document.compression import inflate
from evercrawl.core.traps.irrelevant_parts import PartEvidence, PartialUrl, UrlPartStats, learn_parts
from evercrawl.core.traps.link_sketch import LinkSketch
from evercrawl.core.traps.not_found import ProbeOutcome, Soft404Page, is_soft_404
from evercrawl.core.traps.novelty import MEMORY_BYTES, NOTHING_NEW, NewText, TextMemory, new_text
from evercrawl.core.traps.pattern_stats import (
    MIN_TRIED_REQUESTS,
    THROTTLE_BELOW,
    PatternState,
    PatternStats,
    VisitGain,
    after_request,
    suspect_stats,
)
from evercrawl.core.traps.url_choices import Choices, learn_choices, patterns_with_choices
from evercrawl.core.traps.url_parts import choices_in, split_url
from evercrawl.core.traps.url_pattern import (
    Breadth,
    UrlPattern,
    is_extension,
    lengthens,
    parent_shape,
    path_of_shape,
    shape_among,
)
from evercrawl.model.document import Link

MAX_PATTERNS, KEPT_PATTERNS = 512, 384
"""Patterns kept per site. If there are more, the least used open ones are dropped."""
MIN_REPEATS, MIN_REPEAT_SHARE = 8, 0.2  # Repeated pages, and their share, that make detection compare URL parts.
MIN_WASTED = 150  # Wasted requests before a site can be overspent.
CYCLE_LONGER = 1  # Extra path segments of a page that repeats another.
MAX_LINKS = 24  # New links of one page that are examined.
MIN_NEW_LINES = 0.5  # Share of new paragraphs that makes a page distinct.
MIN_NEW_TEXT = 0.1  # A smaller share of new text is a new date or counter on an old page.
MIN_EXPLORED, EXPLORED_SHARE = 100, 0.1
"""Requests that may explore what only a wider pattern blocks: this number plus this share of the site's requests."""
MIN_PROMISE = 0.3  # Expected new text from which a link adds to the value of its page.
TEMPORARY_STATUSES = frozenset((0, 408, 425, 429))  # Temporary failures. They and 5xx say nothing about a pattern.


class VisitObservation(NamedTuple):
    """What one visit found."""

    url: str
    status: int
    new: NewText = NOTHING_NEW
    duplicate: bool = False  # True if the text equals or nearly equals that of another page.
    duplicate_of: str = ""  # That page, if known.
    soft_404: bool = False
    new_links: Sequence[str] = ()  # URLs of the same site that were unknown before.
    redirects_back: bool = False  # True for a redirect to a known or refused page of the site.


@dataclass(frozen=True, slots=True)
class TrapState:
    """Everything that trap detection keeps about one site. Bounded, whatever the site does."""

    requests: int = 0
    wasted: int = 0  # Requests without new content, except for not-found answers.
    patterns: dict[str, PatternStats] = field(default_factory=dict)
    text_memory: TextMemory = field(default_factory=TextMemory)
    url_parts: UrlPartStats = field(default_factory=UrlPartStats)
    soft_404: tuple[Soft404Page, ...] = ()
    not_found_pages: tuple[Soft404Page, ...] = ()
    """Answers to URLs that do not exist. Other answers to invented URLs may be empty pages."""
    not_found_redirects: tuple[str, ...] = ()  # Redirect targets of URLs that do not exist.
    walls: tuple[Soft404Page, ...] = ()  # Texts that real pages showed instead of their own, as during maintenance.
    hides_missing: bool = False  # Pages that do not exist are marked noindex, and real ones are not.
    mazes: tuple[str, ...] = ()
    """Patterns that answer invented URLs with invented pages. Everything below them is blocked too."""
    not_found_phrases: tuple[int, ...] = ()  # Hashes of the phrases with which the site reports a missing page.
    repeats: int = 0  # Requests for pages without new text, even if they led to something.
    choices: Choices = field(default_factory=dict)
    explored: int = 0  # Requests without new content for kinds of pages of which only a wider pattern was blocked.
    offered: dict[str, int] = field(default_factory=dict)
    """Links found of kinds that were hardly tried, while a wider pattern was throttled or blocked."""

    @property
    def is_suspicious(self) -> bool:
        """True if the site repeats itself often enough to compare URL parts."""
        return self.repeats >= max(MIN_REPEATS, MIN_REPEAT_SHARE * self.requests)

    @property
    def is_overspent(self) -> bool:
        """True if more requests were wasted than not."""
        return self.wasted >= max(MIN_WASTED, self.requests / 2)

    @property
    def may_explore(self) -> bool:
        """True if kinds of pages that were hardly tried may still pass the block of a wider pattern."""
        return self.explored < MIN_EXPLORED + EXPLORED_SHARE * self.requests

    def patterns_of(self, url: str) -> tuple[UrlPattern, ...]:
        """Return every pattern of a URL, the narrowest first."""
        return patterns_with_choices(self.choices, url)


def observe_visit(
    site: TrapState,
    url: str,
    *,
    status: int,
    text: str,
    duplicate: bool,
    new_links: Sequence[str],
    duplicate_of: str = "",
    links: Sequence[Link] = (),
    redirects_back: bool = False,
) -> tuple[VisitObservation, TrapState]:
    """Measure a visit against what the site showed before, and store its text. `links`: all links of the page."""
    share, memory = new_text(site.text_memory, text, choices=choices_in(url))
    soft = any(is_soft_404(text, known, url) for known in site.soft_404)
    seen = VisitObservation(url, status, share, duplicate, duplicate_of, soft, new_links, redirects_back)
    is_page = 200 <= status < 300 and not soft
    parameters = (
        learn_parts(site.url_parts, url, text, links=links, new_links=new_links, with_names=site.is_suspicious)
        if is_page
        else site.url_parts
    )
    return seen, replace(site, text_memory=memory, url_parts=parameters)


def record_visit(site: TrapState, seen: VisitObservation) -> TrapState:
    """Return the state with one more visit."""
    if seen.status >= 500 or seen.status in TEMPORARY_STATUSES:
        return site
    known = dict(site.patterns)
    patterns = site.patterns_of(seen.url)
    offered = [site.patterns_of(link) for link in seen.new_links[:MAX_LINKS]]
    gain = _visit_gain(known, seen, patterns, offered)
    charged = _patterns_to_charge(known, patterns)
    own, wider = known.get(patterns[0].name), worst_state(known, patterns[1:])
    is_poor = own is None or own.requests < MIN_TRIED_REQUESTS or own.value < THROTTLE_BELOW
    is_exploring = wider is PatternState.BLOCKED and is_poor
    for pattern in charged:
        stats = known.get(pattern.name) or _new_stats(known, pattern, seen.url)
        growth = sum(is_extension(pattern, others) for others in offered)
        is_longer = _state(known, parent_shape(pattern)) is PatternState.BLOCKED
        known[pattern.name] = after_request(
            stats, seen.url, gain, growth=growth, overspent=site.is_overspent, lengthens=is_longer
        )
    for name in site.mazes:
        is_charged = any(name == pattern.name for pattern in charged)
        if name in known and not is_charged and lengthens(patterns, name):
            known[name] = known[name]._replace(probes=known[name].probes + 1)
    wasted = site.wasted + (gain.value == 0.0 and seen.status < 400)
    repeats = site.repeats + (gain.page_value == 0.0 and seen.status < 300)
    return replace(
        site,
        requests=site.requests + 1,
        wasted=wasted,
        patterns=_drop_least_used(known),
        repeats=repeats,
        choices=learn_choices(site.choices, seen.url) if seen.status < 400 else site.choices,
        explored=site.explored + (is_exploring and gain.value == 0.0),
        offered=_count_offered(site.offered, known, offered),
    )


def worst_state(known: dict[str, PatternStats], patterns: Sequence[UrlPattern]) -> PatternState:
    """Return the strictest state of these patterns."""
    return max((_state(known, pattern.name) for pattern in patterns), default=PatternState.OPEN)


def _count_offered(
    counts: dict[str, int], known: dict[str, PatternStats], offered: Sequence[tuple[UrlPattern, ...]]
) -> dict[str, int]:
    """Count the links to kinds that a wider pattern would hold back before they were tried."""
    closed = {name for name, stats in known.items() if stats.state}
    if not closed or not offered:
        return counts
    after = dict(counts)
    for patterns in offered:
        own = known.get(patterns[0].name)
        is_held = own is None or own.requests < MIN_TRIED_REQUESTS
        if is_held and any(pattern.name in closed for pattern in patterns[1:]):
            after[patterns[0].name] = after.get(patterns[0].name, 0) + 1
    return after if len(after) <= MAX_PATTERNS else dict(list(after.items())[-KEPT_PATTERNS:])


def _patterns_to_charge(known: dict[str, PatternStats], patterns: tuple[UrlPattern, ...]) -> list[UrlPattern]:
    narrow = [pattern for pattern in patterns if pattern.breadth < Breadth.FOLDER]
    is_explained = any(_state(known, pattern.name) is not PatternState.OPEN for pattern in narrow)
    return narrow if is_explained else list(patterns)


def _visit_gain(
    known: dict[str, PatternStats],
    seen: VisitObservation,
    patterns: tuple[UrlPattern, ...],
    offered: Sequence[tuple[UrlPattern, ...]],
) -> VisitGain:
    is_nothing = seen.soft_404 or seen.status >= 400
    is_copy = seen.soft_404 or seen.duplicate or seen.redirects_back
    essential = 0.0 if is_nothing or is_copy or seen.new.essential < MIN_NEW_TEXT else seen.new.essential
    literal = 0.0 if is_nothing or seen.new.literal < MIN_NEW_TEXT else seen.new.literal
    promise = _best_promise(known, patterns, offered)
    return VisitGain(
        value=max(essential, promise),
        literal_value=max(literal, promise),
        page_value=essential,
        is_duplicate=is_copy,
        is_cycle=seen.duplicate and _is_detour(seen.url, seen.duplicate_of),
        promise=promise,
        redirects_back=seen.redirects_back,
        is_distinct=not is_nothing and not is_copy and seen.new.lines >= MIN_NEW_LINES,
    )


def _is_detour(url: str, other: str) -> bool:
    """True if the path ends like the other but has extra segments, or the same in another order."""
    here, there = split_url(url).segments, split_url(other).segments
    if not there or here[-1:] != there[-1:]:
        return False
    return len(here) >= len(there) + CYCLE_LONGER or sorted(here) == sorted(there)


def _best_promise(
    known: dict[str, PatternStats], own: tuple[UrlPattern, ...], offered: Sequence[tuple[UrlPattern, ...]]
) -> float:
    """Return the new text that the best new link promises."""
    best = max((_expected(known, patterns, own) for patterns in offered), default=0.0)
    return best if best >= MIN_PROMISE else 0.0


def _expected(known: dict[str, PatternStats], patterns: tuple[UrlPattern, ...], own: tuple[UrlPattern, ...]) -> float:
    """Return the average new text of pages of this kind, or of the kind that it extends.
    A longer URL promises nothing until one of its kind was seen: each page of a maze leads deeper."""
    kind, own_kind = patterns[0], own[0]
    stats = known.get(kind.name)
    if kind.name == own_kind.name or (stats is None and _adds_to(kind, own_kind)):
        return 0.0
    if stats is None or stats.requests < MIN_TRIED_REQUESTS:
        shape = shape_among(patterns)
        stats = known.get(shape.name) or _new_stats(known, shape, "")
    return min(stats.page_value, stats.value)


def _adds_to(kind: UrlPattern, own: UrlPattern) -> bool:
    """True if a kind of URL only adds segments or parameters to another."""
    path, own_path = path_of_shape(kind), path_of_shape(own)
    if path == own_path:
        return True
    return own_path != "/" and path.startswith(own_path.removesuffix("/") + "/")


def _new_stats(known: dict[str, PatternStats], pattern: UrlPattern, url: str) -> PatternStats:
    if _state(known, parent_shape(pattern)) is not PatternState.OPEN:
        return suspect_stats(pattern.breadth, url)
    return PatternStats(pattern.breadth, first_url=url, last_url=url)


def _state(known: dict[str, PatternStats], name: str) -> PatternState:
    stats = known.get(name)
    return PatternState.OPEN if stats is None else stats.state


def _drop_least_used(known: dict[str, PatternStats]) -> dict[str, PatternStats]:
    if len(known) <= MAX_PATTERNS:
        return known
    by_weight = sorted(known.items(), key=lambda item: (item[1].state, item[1].requests), reverse=True)
    kept = {name for name, _ in by_weight[:KEPT_PATTERNS]}
    return {name: stats for name, stats in known.items() if name in kept}


VERSION = 5
LEVEL = 6
DIGITS = 4  # Digits of the averages that are stored.

_LENGTH = struct.Struct("<I")
_ROW = struct.Struct("<IIIIIQ")


def trap_state_bytes(site: TrapState) -> bytes:
    """Return the stored form: a version byte, then zlib over JSON and its length, the bitmaps and the URL variants."""
    memory = site.text_memory
    head = orjson.dumps({
        "requests": [site.requests, site.wasted, site.repeats],
        "patterns": [
            [name, *(round(value, DIGITS) if isinstance(value, float) else value for value in stats)]
            for name, stats in site.patterns.items()
        ],
        "text_memory": [memory.count, bool(memory.recent), bool(memory.previous)],
        "soft_404": _packed_pages(site.soft_404),
        "not_found_pages": _packed_pages(site.not_found_pages),
        "not_found_redirects": site.not_found_redirects,
        "walls": _packed_pages(site.walls),
        "hides_missing": site.hides_missing,
        "mazes": site.mazes,
        "not_found_phrases": site.not_found_phrases,
        "part_evidence": [[name, *counts_of] for name, counts_of in site.url_parts.evidence.items()],
        "rechecks": site.url_parts.rechecks,
        "choices": site.choices,
        "explored": site.explored,
        "offered": site.offered,
    })  # fmt: skip
    rows = b"".join(
        _ROW.pack(key, variant.value, variant.content, *variant.links)
        for key, variant in site.url_parts.variants.items()
    )
    plain = _LENGTH.pack(len(head)) + head + memory.recent + memory.previous + rows
    return bytes([VERSION]) + zlib.compress(plain, LEVEL)


def _packed_pages(known: tuple[Soft404Page, ...]) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(b64encode(one.signature).decode(), one.chars, one.phrases) for one in known]


def _unpacked_pages(stored: list[list[Any]]) -> tuple[Soft404Page, ...]:
    return tuple(Soft404Page(b64decode(sign), chars, tuple(phrases)) for sign, chars, phrases in stored)


def trap_state_of(blob: bytes) -> TrapState:
    """Read the stored form; a new state if it is empty or of another version."""
    if not blob or blob[0] != VERSION:
        return TrapState()
    plain = inflate(blob[1:])
    (length,) = _LENGTH.unpack_from(plain)
    at = _LENGTH.size + length
    head = orjson.loads(plain[_LENGTH.size : at])
    requests, wasted, repeats = head["requests"]
    count, has_recent, has_previous = head["text_memory"]
    recent, at = plain[at : at + MEMORY_BYTES * has_recent], at + MEMORY_BYTES * has_recent
    previous, at = plain[at : at + MEMORY_BYTES * has_previous], at + MEMORY_BYTES * has_previous
    variants = {
        key: PartialUrl(value, content, LinkSketch(*offered))
        for key, value, content, *offered in _ROW.iter_unpack(plain[at:])
    }
    evidence = {name: PartEvidence(*counts) for name, *counts in head["part_evidence"]}
    return TrapState(
        requests,
        wasted,
        {row[0]: _record(row[1:]) for row in head["patterns"]},
        TextMemory(recent, previous, count),
        UrlPartStats(evidence, variants, head["rechecks"]),
        _unpacked_pages(head["soft_404"]),
        _unpacked_pages(head["not_found_pages"]),
        tuple(head["not_found_redirects"]),
        _unpacked_pages(head["walls"]),
        head["hides_missing"],
        tuple(head["mazes"]),
        tuple(head["not_found_phrases"]),
        repeats,
        {place: tuple(values) for place, values in head["choices"].items()},
        head["explored"],
        head["offered"],
    )


def _record(row: list[Any]) -> PatternStats:
    fields = dict(zip(PatternStats._fields, row, strict=False))
    fields |= {
        "breadth": Breadth(fields["breadth"]),
        "state": PatternState(fields["state"]),
        "probe_outcome": ProbeOutcome(fields["probe_outcome"]),
    }
    return PatternStats(**fields)
