"""Has this page changed, and does it mean anything? The verdict on each difference, then on the whole.

A difference outside the page's own part is the site's: an edit of its template, or noise where that place
changes all the time. In the page's own part a difference is content, unless there is evidence that it is
noise. Prose that nobody else has is content at every visit.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import NamedTuple

from evercrawl.core.change.difference import TITLE, Difference, Hunk, difference
from evercrawl.core.change.edit import Part, joined_key, parts_of
from evercrawl.core.change.evidence import (
    TEMPLATE_SHARE,
    Known,
    is_everywhere,
    is_noise,
    is_noise_move,
    is_restless,
    is_same_everywhere,
)
from evercrawl.core.change.layout import own_test
from evercrawl.core.change.memory import PageMemory, SiteMemory
from evercrawl.core.change.snapshot import Snapshot, snapshot_of_html
from evercrawl.model.change import NO_CHANGE, Change, ChangeClass, Edit

MOST_EDITS_SHOWN = 8
SHOWN_CHARS = 200
METADATA_FIELDS = 4
MOST_OF_A_PAGE = 0.5
"""A page of which this share of the own words is set aside as noise has nothing else to say."""
MOST_JUDGED = 300
"""A page with more differences is another page; the rest of them count as they are."""


class Verdict(Enum):
    """What a difference is."""

    NOISE = 0
    TEMPLATE = 1
    METADATA = 2
    CONTENT = 3


class Judged(NamedTuple):
    """The change, and what it was made of: each difference with its verdict."""

    change: Change
    verdicts: list[tuple[Hunk, Verdict]]
    has_moved: bool


def compare(before: bytes | str, after: bytes | str, *, page_url: str = "") -> Change:
    """The change between two versions of a page, of which nothing else is known."""
    if before == after:
        return NO_CHANGE
    nothing = Known(PageMemory(), SiteMemory(), 0, None)
    return judged(snapshot_of_html(before), snapshot_of_html(after), nothing).change


def judged(before: Snapshot, after: Snapshot, known: Known) -> Judged:
    """The change between two snapshots, after all that is known."""
    found = difference(before, after)
    verdicts = [(hunk, verdict_on(hunk, known)) for hunk in found.hunks[:MOST_JUDGED]]
    if _is_most_of_the_page(before, after, verdicts):
        verdicts = [(hunk, Verdict.CONTENT if _is_doubtful(hunk, verdict) else verdict) for hunk, verdict in verdicts]
    rest = [hunk for hunk in found.hunks[MOST_JUDGED:] if hunk.is_own]
    verdicts += [(hunk, Verdict.CONTENT) for hunk in rest]
    return Judged(_change(before, after, found, verdicts, known), verdicts, bool(found.moved))


def verdict_on(hunk: Hunk, known: Known) -> Verdict:
    """What one difference is."""
    if is_everywhere(hunk, known):
        return Verdict.TEMPLATE
    if is_noise(hunk, known):
        return Verdict.NOISE
    if not hunk.is_own:
        return Verdict.NOISE if is_restless(hunk, known) else Verdict.TEMPLATE
    if hunk.path == TITLE and known.site.share_with(hunk.removed) >= TEMPLATE_SHARE:
        return Verdict.TEMPLATE
    return Verdict.METADATA if hunk.is_metadata else Verdict.CONTENT


def _is_doubtful(hunk: Hunk, verdict: Verdict) -> bool:
    """In the page's own part, and set aside as a running number or because other pages had the same edit."""
    set_aside = verdict is Verdict.TEMPLATE or (verdict is Verdict.NOISE and hunk.is_number)
    return set_aside and hunk.is_own and not hunk.is_metadata


def _is_most_of_the_page(before: Snapshot, after: Snapshot, verdicts: list[tuple[Hunk, Verdict]]) -> bool:
    """What was set aside is most of what the page says: then the page is about that."""
    doubtful = [hunk for hunk, verdict in verdicts if _is_doubtful(hunk, verdict)]
    words = sum(max(len(hunk.removed.split()), len(hunk.added.split())) for hunk in doubtful)
    return bool(doubtful) and words >= MOST_OF_A_PAGE * max(_own_words(before), _own_words(after))


def _change(
    before: Snapshot, after: Snapshot, found: Difference, verdicts: list[tuple[Hunk, Verdict]], known: Known
) -> Change:
    own = [hunk for hunk, verdict in verdicts if verdict is Verdict.CONTENT]
    metadata = [hunk for hunk, verdict in verdicts if verdict is Verdict.METADATA]
    moved = [] if is_noise_move(known) else found.moved
    template = _template_parts(verdicts, known)
    kind, size, keyed = ChangeClass.NOISE, 0.0, template
    if own or moved:
        kind, size, keyed = ChangeClass.CONTENT, _size(before, after, own), _parts(own)
    elif metadata:
        kind, size, keyed = ChangeClass.METADATA, min(1.0, len(metadata) / METADATA_FIELDS), _parts(metadata)
    edits = _edits(_parts(own + metadata), is_template=False) + _edits(template, is_template=True)
    return Change(kind, size, tuple(edits), joined_key({part.key for part in keyed}))


def _parts(hunks: list[Hunk]) -> list[Part]:
    return [part for hunk in hunks for part in parts_of(hunk)]


def _template_parts(verdicts: list[tuple[Hunk, Verdict]], known: Known) -> list[Part]:
    """Edits of the template, and those parts of noise that are made everywhere: in a place where texts
    take turns, something new may have come for good.
    """
    return [
        part
        for hunk, verdict in verdicts
        for part in parts_of(hunk)
        if verdict is Verdict.TEMPLATE or (verdict is Verdict.NOISE and is_same_everywhere(known.site, part.key))
    ]


def _edits(parts: list[Part], *, is_template: bool) -> list[Edit]:
    return [
        Edit(part.key, is_template, part.removed[:SHOWN_CHARS], part.added[:SHOWN_CHARS])
        for part in parts[:MOST_EDITS_SHOWN]
    ]


def _size(before: Snapshot, after: Snapshot, own: list[Hunk]) -> float:
    """The share of the page's own words that differ; never 0 for a change."""
    total = max(_own_words(before), _own_words(after), 1)
    differing = sum(_differing_words(hunk) for hunk in own)
    return min(1.0, max(differing, 1) / total)


def _own_words(snapshot: Snapshot) -> int:
    is_own = own_test(snapshot)
    blocks = zip(snapshot.flags, snapshot.texts, strict=True)
    return sum(len(text.split()) for flag, text in blocks if is_own(flag))


def _differing_words(hunk: Hunk) -> int:
    old, new = Counter(hunk.removed.split()), Counter(hunk.added.split())
    return max((old - new).total(), (new - old).total(), 1)
