"""Classifies the differences between two versions as content, metadata, template or noise.
Outside the page's own part a difference is a template edit, or noise where the location changes all the time. In it, it
is content, unless the location's history here and on other pages says noise."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from enum import Enum
from itertools import chain
from typing import NamedTuple

from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.hunk import (
    DESCRIPTION,
    TITLE,
    Hunk,
    KeyedEdit,
    SnapshotDiff,
    combine_keys,
    edits_in,
    moved_edit,
)
from evercrawl.core.change.noise import count_words, has_price, is_drawing, is_identifier, is_moment
from evercrawl.core.change.segments import is_statement
from evercrawl.core.change.snapshot import Snapshot, snapshot_html
from evercrawl.core.change.snapshot_diff import diff_snapshots, own_block_test
from evercrawl.core.change.text_diff import limit_edits, make_edit
from evercrawl.core.change.volatility import (
    ChangeContext,
    counters_in,
    is_companion,
    is_noise,
    is_noise_order,
    is_only_later,
    is_page_value,
    is_turning_name,
    is_volatile,
    rotating_in,
)
from evercrawl.model.change import NO_CHANGE, Change, ChangeClass, Edit

SITEWIDE_PAGES = 3
MIN_SITE_PAGES = 4  # On a smaller site other pages tell little.
SITEWIDE_OWN_PAGES, SITEWIDE_OWN_SHARE = 8, 0.5
"""In the page's own part, more pages must have an edit: this share of the site's, up to this number."""
SITEWIDE_SHARE = 0.8  # Share of the visits since an edit was first seen that must have seen it too.
TEMPLATE_SHARE = 0.75  # A text on this share of the site's pages belongs to the template.
MAX_NOISE_EDITS = 8  # Edits called noise that are kept, so that a user can look them up.
METADATA_FIELDS = 4
PAGE_MAJORITY = 0.6  # A page with this share of its own words left out as noise is about that noise.
NUMBER_MAJORITY = 0.25  # The same where only numbers differ.
_WORD = re.compile(r"\w+")
MAX_HUNKS = 300  # A page with more differences is another page; the rest are not classified.


def is_sitewide(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether nearly all pages visited since the first one had the same edit.
    One page is enough for a text that nearly all had, and outside the page's own part unless it is volatile there."""
    site = context.site
    least = 1
    is_rare = hunk.is_own and site.page_share(hunk.removed) < TEMPLATE_SHARE
    if is_rare and hunk.is_number and not hunk.is_metadata and not is_moment(hunk.added):
        # Counters of similar pages may all increase at the same time; the same moment is that of a rebuilt site.
        return False
    if is_rare:
        # The same edit on a few pages is content, also when only these were visited.
        least = max(SITEWIDE_PAGES, min(SITEWIDE_OWN_PAGES, round(SITEWIDE_OWN_SHARE * site.pages)))
    elif not hunk.is_own and is_volatile(hunk, context):
        least = SITEWIDE_PAGES
    least += context.is_counted
    edits = [(is_sitewide_key(site, edit.key, least=least), edit.text) for edit in edits_in(hunk)]
    if not any(is_same for is_same, _ in edits):
        return False
    return not hunk.is_own or all(is_same or site.is_recurring(text, least=1) for is_same, text in edits)


def is_sitewide_key(site: SiteChangeHistory, key: int, *, least: int = SITEWIDE_PAGES) -> bool:
    """Return whether enough pages had the edit, and nearly all since the first."""
    same = site.edits.get(key)
    return same is not None and same.pages >= max(least, SITEWIDE_SHARE * (site.visits - same.visits_before))


class HunkClass(Enum):
    """What a difference is."""

    NOISE = 0
    TEMPLATE = 1
    METADATA = 2
    CONTENT = 3


class ClassifiedChange(NamedTuple):
    """The change and the class of each difference."""

    change: Change
    classes: list[tuple[Hunk, HunkClass]]
    found: SnapshotDiff
    own_words: int


def compare(before: bytes | str, after: bytes | str) -> Change:
    """Return the change between two versions of a page without context."""
    if before == after:
        return NO_CHANGE
    nothing = ChangeContext(PageChangeHistory(), SiteChangeHistory(), 0, None)
    return classify_change(snapshot_html(before), snapshot_html(after), nothing).change


def classify_change(before: Snapshot, after: Snapshot, context: ChangeContext) -> ClassifiedChange:
    """Return the change between two snapshots in its context."""
    found = diff_snapshots(before, after)
    words = max(_own_words(before), _own_words(after), 1)
    return classify_difference(found, context, own_words=words)


def classify_difference(found: SnapshotDiff, context: ChangeContext, *, own_words: int) -> ClassifiedChange:
    """Return the change that differences make in their context; `own_words`: how many the page has."""
    context = context._replace(
        counters=counters_in(found.hunks), rotating=rotating_in(found.hunks, context), has_prose=found.has_prose
    )
    classes = [(hunk, classify_hunk(hunk, context)) for hunk in found.hunks[:MAX_HUNKS]]
    classes = _with_companions(classes, context)
    if _is_most_of_the_page(classes, own_words, context):
        classes = [
            (hunk, HunkClass.CONTENT if _is_doubtful(hunk, hunk_class, context) else hunk_class)
            for hunk, hunk_class in classes
        ]
    remaining = [hunk._replace(is_surplus=True) for hunk in found.hunks[MAX_HUNKS:] if hunk.is_own]
    classes += [(hunk, HunkClass.CONTENT) for hunk in remaining]
    return ClassifiedChange(_change(found, classes, context, own_words), classes, found, own_words)


def _with_companions(classes: list[tuple[Hunk, HunkClass]], context: ChangeContext) -> list[tuple[Hunk, HunkClass]]:
    """Return the classes where facts beside a name that took another's place go with it: its price, date and badge."""
    names: dict[tuple[int, int], set[HunkClass]] = defaultdict(set)
    for hunk, hunk_class in classes:
        if hunk.is_own and is_turning_name(hunk):
            for run in enumerate(hunk.runs):
                names[run].add(hunk_class)
    turning = {run for run, found in names.items() if found == {HunkClass.NOISE} and run[1] >= 0}
    return [
        (hunk, HunkClass.NOISE)
        if hunk_class is HunkClass.CONTENT
        and not turning.isdisjoint(enumerate(hunk.runs))
        and is_companion(hunk, context)
        else (hunk, hunk_class)
        for hunk, hunk_class in classes
    ]


def classify_hunk(hunk: Hunk, context: ChangeContext) -> HunkClass:
    """Return the class of one difference."""
    if hunk.is_surplus:
        return HunkClass.CONTENT if hunk.is_own else HunkClass.TEMPLATE
    if is_sitewide(hunk, context):
        return HunkClass.NOISE if _is_passing(hunk, context) else HunkClass.TEMPLATE
    if is_noise(hunk, context):
        return HunkClass.NOISE
    if not hunk.is_own:
        if context.site.pages >= MIN_SITE_PAGES and is_page_value(hunk, context):
            return HunkClass.CONTENT
        return HunkClass.NOISE if is_volatile(hunk, context) else HunkClass.TEMPLATE
    is_telling = hunk.path == TITLE or is_statement(hunk.removed)
    if hunk.removed and is_telling and context.site.page_share(hunk.removed) >= TEMPLATE_SHARE:
        return HunkClass.TEMPLATE
    return HunkClass.METADATA if hunk.is_metadata else HunkClass.CONTENT


def _is_passing(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether several pages may have the difference by chance: a later time, or a number that always changes."""
    if is_only_later(hunk, context):
        return True
    is_count = hunk.is_number and not is_identifier(hunk.added) and not has_price(hunk.added)
    return is_count and not hunk.is_own and is_volatile(hunk, context)


def _is_doubtful(hunk: Hunk, hunk_class: HunkClass, context: ChangeContext) -> bool:
    """Return whether an own difference was left out as a number, a statement or a sitewide edit."""
    is_left_out = hunk_class is HunkClass.TEMPLATE or (hunk_class is HunkClass.NOISE and _may_be_content(hunk, context))
    is_age = bool(hunk.segments) and all(change.is_age for change in hunk.segments)
    return is_left_out and hunk.is_own and not hunk.is_metadata and not is_age


def _may_be_content(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a difference is in numbers, or in a statement of this page alone."""
    texts = [text for text in (hunk.removed, hunk.added) if text]
    if hunk.is_number or not any(map(is_statement, texts)):
        return hunk.is_number
    if all(map(is_drawing, texts)):
        return False
    return not any(context.site.is_on_other_pages(text, page=context.page_mark) for text in texts)


def _is_most_of_the_page(classes: list[tuple[Hunk, HunkClass]], own_words: int, context: ChangeContext) -> bool:
    """Return whether most of the page was left out: then the page is about that."""
    doubtful = [hunk for hunk, hunk_class in classes if _is_doubtful(hunk, hunk_class, context)]
    numbers = sum(_differing_words(hunk) for hunk in doubtful if hunk.is_number)
    words = sum(_differing_words(hunk) for hunk in doubtful)
    return bool(doubtful) and (numbers >= NUMBER_MAJORITY * own_words or words >= PAGE_MAJORITY * own_words)


def _change(
    found: SnapshotDiff, classes: list[tuple[Hunk, HunkClass]], context: ChangeContext, own_words: int
) -> Change:
    own = [hunk for hunk, hunk_class in classes if hunk_class is HunkClass.CONTENT]
    metadata = [hunk for hunk, hunk_class in classes if hunk_class is HunkClass.METADATA]
    metadata = [hunk for hunk in metadata if not _is_repeated(hunk, own)]
    moved = [move for move in found.moved if not is_noise_order(move.path, context)]
    template = _template_edits(classes, context)
    kind, size, key_edits = ChangeClass.NOISE, 0.0, template
    moves = [moved_edit(moved)] if moved else []
    if own or moved:
        kind, size, key_edits = ChangeClass.CONTENT, _size(own, own_words), _keyed_edits(own) + moves
    elif metadata:
        kind, size, key_edits = ChangeClass.METADATA, min(1.0, len(metadata) / METADATA_FIELDS), _keyed_edits(metadata)
    is_entry = all(move.is_linked for move in moved)
    move_edits = (make_edit(*edit, is_template=False, is_entry=is_entry) for edit in moves)
    count = len(_keyed_edits(own + metadata)) + len(moves)
    edits, omitted = limit_edits(chain(_edits(own + metadata), move_edits), count)
    template_edits, _ = limit_edits((make_edit(*edit, is_template=True) for edit in template), len(template))
    noise = tuple(make_edit(*edit, is_template=True) for edit in _noise_edits(classes)[:MAX_NOISE_EDITS])
    return Change(kind, size, edits + template_edits, combine_keys({edit.key for edit in key_edits}), omitted, noise)


def _is_repeated(hunk: Hunk, own: list[Hunk]) -> bool:
    """Return whether a description differs in words in which the content does too: it is a part of it."""
    if hunk.path != DESCRIPTION or not own:
        return False
    went, came = _word_changes([hunk])
    all_went, all_came = _word_changes(own)
    return went <= all_went and came <= all_came


def _word_changes(hunks: list[Hunk]) -> tuple[set[str], set[str]]:
    """Return the words that differences remove and add."""
    old = Counter(word for hunk in hunks for word in _WORD.findall(hunk.removed.casefold()))
    new = Counter(word for hunk in hunks for word in _WORD.findall(hunk.added.casefold()))
    return {*(old - new)}, {*(new - old)}


def _noise_edits(classes: list[tuple[Hunk, HunkClass]]) -> list[KeyedEdit]:
    return _keyed_edits([hunk for hunk, hunk_class in classes if hunk_class is HunkClass.NOISE])


def _keyed_edits(hunks: list[Hunk]) -> list[KeyedEdit]:
    return [edit for hunk in hunks for edit in edits_in(hunk)]


def _template_edits(classes: list[tuple[Hunk, HunkClass]], context: ChangeContext) -> list[KeyedEdit]:
    """Return template edits, and sitewide parts of noise: at a rotating location something may be new for good."""
    return [
        edit
        for hunk, hunk_class in classes
        for edit in edits_in(hunk)
        if hunk_class is HunkClass.TEMPLATE
        or (
            hunk_class is HunkClass.NOISE and is_sitewide_key(context.site, edit.key) and not _is_passing(hunk, context)
        )
    ]


def _edits(hunks: list[Hunk]) -> Iterator[Edit]:
    for hunk in hunks:
        for edit in edits_in(hunk):
            yield make_edit(*edit, is_template=False, is_entry=hunk.is_linked)


def _size(own: list[Hunk], own_words: int) -> float:
    """Return the share of the page's own words that differ; never 0 for a change."""
    differing = sum(_differing_words(hunk) for hunk in own)
    return min(1.0, max(differing, 1) / own_words)


def _own_words(snapshot: Snapshot) -> int:
    is_own = own_block_test(snapshot)
    blocks = zip(snapshot.flags, snapshot.texts, strict=True)
    return round(sum(count_words(text) for flag, text in blocks if is_own(flag)))


def _differing_words(hunk: Hunk) -> int:
    old, new = Counter(hunk.removed.split()), Counter(hunk.added.split())
    return max((old - new).total(), (new - old).total(), 1)
