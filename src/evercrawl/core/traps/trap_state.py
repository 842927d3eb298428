"""What has each part of a site yielded? Every visit is booked to the patterns of its URL, within bounds.

A visit is worth the new text that it brought, or that its best new link promises by what such pages brought
before. The narrowest pattern that explains a poor yield gets the blame: folders are not charged for what a
shape or a parameter in them is known for.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from evercrawl.core.traps.irrelevant_parts import PartEvidence, PartialUrl, UrlPartStats, learn_parts
from evercrawl.core.traps.link_sketch import LinkSketch
from evercrawl.core.traps.not_found import ProbeOutcome, Soft404Page, is_soft_404
from evercrawl.core.traps.novelty import MEMORY_BYTES, NOTHING_NEW, NewText, TextMemory, new_text
from evercrawl.core.traps.pattern_stats import PatternState, PatternStats, VisitGain, after_request, suspect_stats
from evercrawl.core.traps.url_parts import choices_in, split_url
from evercrawl.core.traps.url_pattern import (
    Breadth,
    UrlPattern,
    is_extension,
    lengthens,
    parent_shape,
    path_of_shape,
    patterns_of,
)
from evercrawl.model.document import Link

MOST_PATTERNS, KEPT_PATTERNS = 512, 384
"""Patterns of one site that are remembered; when there are more, the least used open ones are forgotten."""
SUSPICIOUS_LEAST, SUSPICIOUS_SHARE = 8, 0.2
"""Pages that say nothing new, and their share, from which on it is asked which segments matter."""
OVERSPENT_LEAST = 150
"""Requests for nothing from which on a site is asked whether they are more than the others."""
CYCLE_LONGER = 1
"""Segments by which a path is longer than another that showed the same."""
LINKS_WEIGHED = 24
"""New links of one page that are looked at one by one."""
LEAST_NEW = 0.1
"""A smaller share of new text is a new date or a new counter in an old page."""
LEAST_PROMISE = 0.3
"""A link counts for the page that it is on from this much expected new text on."""
SAYS_NOTHING = frozenset((0, 408, 425, 429))
"""Failures of the moment; they and those of the server (5xx) say nothing about a pattern."""


class VisitObservation(NamedTuple):
    """What a visit brought."""

    url: str
    status: int
    new: NewText = NOTHING_NEW
    duplicate: bool = False
    """The same or nearly the same text as another page."""
    duplicate_of: str = ""
    """That page, where it is known."""
    soft_404: bool = False
    new_links: Sequence[str] = ()
    """URLs of the same site that were not known before."""
    redirects_back: bool = False
    """A redirect to a page of the site that was known, or that is left out."""


@dataclass(frozen=True, slots=True)
class TrapState:
    """All that is remembered about the yield of one site; bounded, whatever the site does."""

    requests: int = 0
    wasted: int = 0
    """Those of them that brought nothing, other than the news that there is no such page."""
    patterns: dict[str, PatternStats] = field(default_factory=dict)
    text_memory: TextMemory = field(default_factory=TextMemory)
    url_parts: UrlPartStats = field(default_factory=UrlPartStats)
    soft_404: tuple[Soft404Page, ...] = ()
    not_found_pages: tuple[Soft404Page, ...] = ()
    """What is said for addresses that do not exist; other answers to made-up addresses may be empty pages."""
    not_found_redirects: tuple[str, ...] = ()
    """Where addresses that do not exist are redirected to."""
    mazes: tuple[str, ...] = ()
    """Patterns that answer made-up addresses with invented pages; what lengthens them is fenced too."""
    not_found_phrases: tuple[int, ...] = ()
    """Phrases, as numbers, with which it says that there is no such page, whatever stands beside them."""
    repeats: int = 0
    """Requests for pages that said nothing new, be it that they led to something."""

    @property
    def is_suspicious(self) -> bool:
        """It repeats itself: it is worth to ask which parts of the URLs matter."""
        return self.repeats >= max(SUSPICIOUS_LEAST, SUSPICIOUS_SHARE * self.requests)

    @property
    def is_overspent(self) -> bool:
        """More requests brought nothing than something."""
        return self.wasted >= max(OVERSPENT_LEAST, self.requests / 2)


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
    """What a visit brought, measured against what the site said before; the text is remembered.

    `links`: all links of the page; `redirects_back`: see `Observation`.
    """
    share, said = new_text(site.text_memory, text, choices=choices_in(url))
    soft = any(is_soft_404(text, known) for known in site.soft_404)
    seen = VisitObservation(url, status, share, duplicate, duplicate_of, soft, new_links, redirects_back)
    is_page = 200 <= status < 300 and not soft
    parameters = (
        learn_parts(site.url_parts, url, text, links=links, new_links=new_links, with_names=site.is_suspicious)
        if is_page
        else site.url_parts
    )
    return seen, replace(site, text_memory=said, url_parts=parameters)


def record_visit(site: TrapState, seen: VisitObservation) -> TrapState:
    """The site's yield with one more visit in it."""
    if seen.status >= 500 or seen.status in SAYS_NOTHING:
        return site
    records = dict(site.patterns)
    patterns = patterns_of(seen.url)
    gains = _gains(records, seen)
    offered = [patterns_of(link) for link in seen.new_links[:LINKS_WEIGHED]]
    charged = _charged(records, patterns)
    for pattern in charged:
        record = records.get(pattern.name) or _fresh(records, pattern, seen.url)
        growth = sum(is_extension(pattern, others) for others in offered)
        records[pattern.name] = after_request(
            record,
            seen.url,
            gains,
            growth=growth,
            overspent=site.is_overspent,
            lengthens=_state(records, parent_shape(pattern)) is PatternState.BLOCKED,
        )
    for name in site.mazes:
        is_charged = any(name == pattern.name for pattern in charged)
        if name in records and not is_charged and lengthens(patterns, name):
            records[name] = records[name]._replace(probes=records[name].probes + 1)
    wasted = site.wasted + (gains.value == 0.0 and seen.status < 400)
    repeats = site.repeats + (gains.page_value == 0.0 and seen.status < 300)
    return replace(site, requests=site.requests + 1, wasted=wasted, patterns=_bounded(records), repeats=repeats)


def _charged(records: dict[str, PatternStats], patterns: tuple[UrlPattern, ...]) -> list[UrlPattern]:
    narrow = [pattern for pattern in patterns if pattern.breadth < Breadth.FOLDER]
    is_explained = any(_state(records, pattern.name) is not PatternState.OPEN for pattern in narrow)
    return narrow if is_explained else list(patterns)


def _gains(records: dict[str, PatternStats], seen: VisitObservation) -> VisitGain:
    is_nothing = seen.soft_404 or seen.status >= 400
    is_copy = seen.soft_404 or seen.duplicate or seen.redirects_back
    essential = 0.0 if is_nothing or is_copy or seen.new.essential < LEAST_NEW else seen.new.essential
    literal = 0.0 if is_nothing or seen.new.literal < LEAST_NEW else seen.new.literal
    promise = _promise(records, seen)
    return VisitGain(
        value=max(essential, promise),
        literal_value=max(literal, promise),
        page_value=essential,
        is_duplicate=is_copy,
        is_cycle=seen.duplicate and _is_longer_way(seen.url, seen.duplicate_of),
        promise=promise,
        redirects_back=seen.redirects_back,
    )


def _is_longer_way(url: str, other: str) -> bool:
    """The path ends like the other one, and has more segments on the way, or the same in another order."""
    here, there = split_url(url).segments, split_url(other).segments
    if not there or here[-1:] != there[-1:]:
        return False
    return len(here) >= len(there) + CYCLE_LONGER or sorted(here) == sorted(there)


def _promise(records: dict[str, PatternStats], seen: VisitObservation) -> float:
    """The new text that the best new link promises; more of the same path promises only what it brings."""
    own = path_of_shape(patterns_of(seen.url)[0])
    promises = (_expected(records, link, own) for link in seen.new_links[:LINKS_WEIGHED])
    best = max(promises, default=0.0)
    return best if best >= LEAST_PROMISE else 0.0


def _expected(records: dict[str, PatternStats], url: str, own: str) -> float:
    """The new text that pages like this one brought; for an unknown kind that of what it lengthens.

    A path that lengthens the page's own promises nothing before one of its kind was seen: each page of a
    maze leads deeper.
    """
    shape = patterns_of(url)[0]
    path = path_of_shape(shape)
    record = records.get(shape.name)
    if path == own or (record is None and path.startswith(own.removesuffix("/") + "/") and own != "/"):
        return 0.0
    record = record or _fresh(records, shape, url)
    return min(record.page_value, record.value)


def _fresh(records: dict[str, PatternStats], pattern: UrlPattern, url: str) -> PatternStats:
    if _state(records, parent_shape(pattern)) is not PatternState.OPEN:
        return suspect_stats(pattern.breadth, url)
    return PatternStats(pattern.breadth, first_url=url, last_url=url)


def _state(records: dict[str, PatternStats], name: str) -> PatternState:
    record = records.get(name)
    return PatternState.OPEN if record is None else record.state


def _bounded(records: dict[str, PatternStats]) -> dict[str, PatternStats]:
    if len(records) <= MOST_PATTERNS:
        return records
    by_weight = sorted(records.items(), key=lambda item: (item[1].state, item[1].requests), reverse=True)
    kept = {name for name, _ in by_weight[:KEPT_PATTERNS]}
    return {name: record for name, record in records.items() if name in kept}


VERSION = 3
LEVEL = 6
DIGITS = 4
"""Of the averages as many are kept."""

_LENGTH = struct.Struct("<I")
_ROW = struct.Struct("<IIIIIQ")


def trap_state_bytes(site: TrapState) -> bytes:
    """The blob; averages are rounded."""
    said = site.text_memory
    head = orjson.dumps({
        "requests": [site.requests, site.wasted, site.repeats],
        "patterns": [[name, *_rounded(record)] for name, record in site.patterns.items()],
        "text_memory": [said.count, bool(said.recent), bool(said.previous)],
        "soft_404": _signs(site.soft_404),
        "not_found_pages": _signs(site.not_found_pages),
        "not_found_redirects": site.not_found_redirects,
        "mazes": site.mazes,
        "not_found_phrases": site.not_found_phrases,
        "part_evidence": [[name, *tally] for name, tally in site.url_parts.evidence.items()],
        "rechecks": site.url_parts.rechecks,
    })  # fmt: skip
    rows = b"".join(
        _ROW.pack(key, rest.value, rest.content, *rest.links) for key, rest in site.url_parts.variants.items()
    )
    plain = _LENGTH.pack(len(head)) + head + said.recent + said.previous + rows
    return bytes([VERSION]) + zlib.compress(plain, LEVEL)


def _signs(known: tuple[Soft404Page, ...]) -> list[tuple[str, int]]:
    return [(b64encode(one.signature).decode(), one.chars) for one in known]


def _same(stored: list[list[Any]]) -> tuple[Soft404Page, ...]:
    return tuple(Soft404Page(b64decode(sign), chars) for sign, chars in stored)


def _rounded(record: PatternStats) -> list[Any]:
    return [round(value, DIGITS) if isinstance(value, float) else value for value in record]


def trap_state_of(blob: bytes) -> TrapState:
    """The yield in a blob; an empty one or one of another version gives a fresh start."""
    if not blob or blob[0] != VERSION:
        return TrapState()
    plain = zlib.decompress(blob[1:])
    (length,) = _LENGTH.unpack_from(plain)
    at = _LENGTH.size + length
    head = orjson.loads(plain[_LENGTH.size : at])
    requests, wasted, repeats = head["requests"]
    count, has_young, has_old = head["text_memory"]
    young, at = plain[at : at + MEMORY_BYTES * has_young], at + MEMORY_BYTES * has_young
    old, at = plain[at : at + MEMORY_BYTES * has_old], at + MEMORY_BYTES * has_old
    rests = {
        key: PartialUrl(value, content, LinkSketch(*offered))
        for key, value, content, *offered in _ROW.iter_unpack(plain[at:])
    }
    tallies = {name: PartEvidence(*counts) for name, *counts in head["part_evidence"]}
    return TrapState(
        requests,
        wasted,
        {row[0]: _record(row[1:]) for row in head["patterns"]},
        TextMemory(young, old, count),
        UrlPartStats(tallies, rests, head["rechecks"]),
        _same(head["soft_404"]),
        _same(head["not_found_pages"]),
        tuple(head["not_found_redirects"]),
        tuple(head["mazes"]),
        tuple(head["not_found_phrases"]),
        repeats,
    )


def _record(row: list[Any]) -> PatternStats:
    fields = dict(zip(PatternStats._fields, row, strict=False))
    fields |= {
        "breadth": Breadth(fields["breadth"]),
        "state": PatternState(fields["state"]),
        "probe_outcome": ProbeOutcome(fields["probe_outcome"]),
    }
    return PatternStats(**fields)
