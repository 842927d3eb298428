"""Classifies the differences between two versions as content, metadata, template or noise.
Outside the page's own part a difference is a template edit, or noise where the location changes all the time. In it, it
is content, unless the location's history here and on other pages says noise. Prices and prose need the most evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import Enum
from itertools import chain
from typing import NamedTuple

from evercrawl.core.change.change_history import (
    Location,
    LocationStats,
    PageChangeHistory,
    SiteChangeHistory,
    hash_text,
)
from evercrawl.core.change.noise import count_words, has_price, is_prose, is_todays_date, text_shape
from evercrawl.core.change.snapshot import Snapshot, snapshot_html
from evercrawl.core.change.snapshot_diff import (
    MOVED,
    TITLE,
    Hunk,
    KeyedEdit,
    RowPosition,
    SnapshotDiff,
    combine_keys,
    diff_snapshots,
    edits_in,
    ignored_edits,
    moved_edit,
    own_block_test,
)
from evercrawl.core.change.text_diff import limit_edits, make_edit
from evercrawl.model.change import NO_CHANGE, Change, ChangeClass, Edit

MAX_TODAY_WORDS = 14  # In a longer text a date is that of an event.


class ChangeThreshold(NamedTuple):
    """How often a location must have differed on a site: pages, differences, and their rate."""

    pages: int
    differed: int
    rate: float


NUMBER_THRESHOLD = ChangeThreshold(pages=2, differed=2, rate=0.75)
PROSE_NUMBER_THRESHOLD = ChangeThreshold(pages=3, differed=4, rate=0.8)
PRICE_THRESHOLD = ChangeThreshold(pages=3, differed=10, rate=0.9)
LABEL_THRESHOLD = ChangeThreshold(pages=3, differed=3, rate=0.8)
VOLATILE_THRESHOLD = ChangeThreshold(pages=1, differed=3, rate=0.25)
RECURRING_THRESHOLD = ChangeThreshold(pages=2, differed=3, rate=0.4)
ROTATION_THRESHOLD = ChangeThreshold(pages=3, differed=4, rate=0.7)
UNSEEN_ROTATION_THRESHOLD = ChangeThreshold(pages=4, differed=4, rate=0.9)

MIN_ROTATIONS = 2
MIN_ROTATION_SHARE = 0.12  # Share of the differences at a location that must have been rotations.
MIN_ROTATION_RATE = 0.3
MIN_MINOR_SHARE = 0.7  # Share of the differences at a location that must have left the rest of the page alone.
STABLE_PAGES, STABLE_RATE = 3, 0.5
"""A location that differs less often on this many pages is content that changes a lot on this one."""
RECENT_VISITS, MANY_RECENT, SOME_RECENT = 6, 5, 2
MIN_REMOVALS = 3  # A text that was removed this often is recurring.
SITEWIDE_PAGES = 3
SITEWIDE_SHARE = 0.8  # Share of the visits since an edit was first seen that must have seen it too.
TEMPLATE_SHARE = 0.75  # A text on this share of the site's pages belongs to the template.


class ChangeContext(NamedTuple):
    """What is known when a page is compared."""

    page: PageChangeHistory
    site: SiteChangeHistory
    page_mark: int
    now: datetime | None


def location_of(hunk: Hunk) -> Location:
    """Return the exact location of a difference: for numbers, that of the words around them."""
    return Location(hunk.path, hash_text(text_shape(hunk.added))) if hunk.is_number else Location(hunk.path)


def row_end_locations(hunk: Hunk) -> tuple[Location, ...]:
    """Return the row end at which a difference stands; empty if it stands elsewhere."""
    return (Location(hunk.path, hunk.position),) if hunk.position in (RowPosition.FIRST, RowPosition.LAST) else ()


def locations_of(hunks: Iterable[Hunk]) -> set[Location]:
    """Return where learning stores differences: exact locations, paths and ends of rows."""
    return {
        location for hunk in hunks for location in (location_of(hunk), Location(hunk.path), *row_end_locations(hunk))
    }


def is_noise(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether this location shows such differences all the time."""
    if not hunk.is_number:
        return _is_noise_text(hunk, context)
    is_today = context.now is not None and is_todays_date(hunk.added, now=context.now)
    return (is_today and count_words(hunk.added) <= MAX_TODAY_WORDS) or _is_noise_number(hunk, context)


def is_noise_order(context: ChangeContext) -> bool:
    """Return whether the order of paragraphs differs all the time."""
    location = Location(MOVED)
    return _reaches(location, LABEL_THRESHOLD, context) or _recent_differences(location, context) >= MANY_RECENT


def is_volatile(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the location differs often, which is enough outside the page's own part."""
    return (
        _reaches(Location(hunk.path), VOLATILE_THRESHOLD, context)
        or _recent_differences(location_of(hunk), context) >= SOME_RECENT
    )


def is_rotation(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a text of other pages replaced another such text."""
    sides = (hunk.removed, hunk.added)
    return all(text and context.site.is_on_other_pages(text, page=context.page_mark) for text in sides)


def is_sitewide(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether nearly all pages visited since the first one had the same edit.
    One page is enough for a text that nearly all had, and outside the page's own part unless it is volatile there."""
    site = context.site
    least = 1
    is_rare = hunk.is_own and site.page_share(hunk.removed) < TEMPLATE_SHARE
    if is_rare and hunk.is_number and not hunk.is_metadata:
        # Counters of similar pages may all increase at the same time.
        return False
    if is_rare or (not hunk.is_own and is_volatile(hunk, context)):
        least = SITEWIDE_PAGES
    edits = [(is_sitewide_key(site, edit.key, least=least), edit.text) for edit in edits_in(hunk)]
    if not any(is_same for is_same, _ in edits):
        return False
    return not hunk.is_own or all(is_same or site.is_recurring(text, least=1) for is_same, text in edits)


def is_sitewide_key(site: SiteChangeHistory, key: int, *, least: int = SITEWIDE_PAGES) -> bool:
    """Return whether enough pages had the edit, and nearly all since the first."""
    same = site.edits.get(key)
    return same is not None and same.pages >= max(least, SITEWIDE_SHARE * (site.visits - same.visits_before))


def _is_noise_number(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the numbers change at nearly every visit, on several pages or on this one."""
    location = location_of(hunk)
    if has_price(hunk.added):
        return _reaches(location, PRICE_THRESHOLD, context)
    if is_prose(hunk.added):
        return _reaches(location, PROSE_NUMBER_THRESHOLD, context)
    if _reaches(location, NUMBER_THRESHOLD, context) or _has_active_position(hunk, context):
        return True
    return not _is_stable(location, context) and _recent_differences(location, context) >= MANY_RECENT


def _is_noise_text(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the text rotates, or is a label or link that always changes."""
    texts = [text for text in (hunk.removed, hunk.added) if text]
    location = Location(hunk.path)
    is_statement = any(map(is_prose, texts)) and not hunk.is_linked
    is_label = not is_statement and (hunk.position is not RowPosition.WITHIN or hunk.is_linked or hunk.is_variation)
    if not hunk.is_metadata:
        if _is_rotating_text(hunk, context):
            return True
        if is_label and (_has_active_position(hunk, context) or _reaches(location, LABEL_THRESHOLD, context)):
            return True
        if _changes_often(hunk, context) and all(context.site.is_recurring(text, least=MIN_REMOVALS) for text in texts):
            return True
    return is_label and not _is_stable(location, context) and _recent_differences(location, context) >= MANY_RECENT


def _is_rotating_text(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether texts of other pages rotate here, and this difference is such a rotation.
    At a rotating position new texts are noise too; where blocks share the location, an added one may be content."""
    if _has_rotating_position(hunk, context):
        return True
    stats = context.site.locations.get(Location(hunk.path), LocationStats())
    is_rotating = stats.pages >= MIN_ROTATIONS <= stats.rotated and stats.rotation_rate >= MIN_ROTATION_RATE
    return is_rotating and is_rotation(hunk, context) and (hunk.position is RowPosition.ALONE or hunk.is_balanced)


def _has_rotating_position(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether texts rotate at this position: some are on other pages, or nothing else differs."""
    if hunk.position is RowPosition.WITHIN:
        return False
    location = Location(hunk.path, hunk.position)
    stats = context.site.locations.get(location, LocationStats())
    if _reaches(location, ROTATION_THRESHOLD, context):
        fewest = max(MIN_ROTATIONS, MIN_ROTATION_SHARE * stats.differed)
        if stats.rotated >= fewest:
            return True
    is_minor = stats.minor >= MIN_MINOR_SHARE * stats.differed
    return is_minor and _reaches(location, UNSEEN_ROTATION_THRESHOLD, context)


def _changes_often(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether something differs here at every second or third visit to any page."""
    position = Location(hunk.path, hunk.position if hunk.position is not RowPosition.WITHIN else RowPosition.ALONE)
    return _reaches(Location(hunk.path), RECURRING_THRESHOLD, context) or _reaches(
        position, RECURRING_THRESHOLD, context
    )


def _has_active_position(hunk: Hunk, context: ChangeContext) -> bool:
    return hunk.position is not RowPosition.WITHIN and _reaches(
        Location(hunk.path, hunk.position), LABEL_THRESHOLD, context
    )


def _reaches(location: Location, threshold: ChangeThreshold, context: ChangeContext) -> bool:
    stats = context.site.locations.get(location)
    return (
        stats is not None
        and stats.pages >= threshold.pages
        and stats.differed >= threshold.differed
        and stats.rate >= threshold.rate
    )


def _is_stable(location: Location, context: ChangeContext) -> bool:
    stats = context.site.locations.get(location)
    return stats is not None and stats.pages >= STABLE_PAGES and stats.rate < STABLE_RATE


def _recent_differences(location: Location, context: ChangeContext) -> int:
    """Return at how many of the last visits to this page the location differed."""
    history = context.page.locations.get(location)
    return history.recent(RECENT_VISITS) if history is not None else 0


MAX_NOISE_EDITS = 8  # Edits called noise that are kept, so that a user can look them up.
METADATA_FIELDS = 4
PAGE_MAJORITY = 0.5  # A page with this share of its own words left out as noise is about that noise.
MAX_HUNKS = 300  # A page with more differences is another page; the rest are not classified.


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
    has_moved: bool


def compare(before: bytes | str, after: bytes | str) -> Change:
    """Return the change between two versions of a page without context."""
    if before == after:
        return NO_CHANGE
    nothing = ChangeContext(PageChangeHistory(), SiteChangeHistory(), 0, None)
    return classify_change(snapshot_html(before), snapshot_html(after), nothing).change


def classify_change(before: Snapshot, after: Snapshot, context: ChangeContext) -> ClassifiedChange:
    """Return the change between two snapshots in its context."""
    found = diff_snapshots(before, after)
    classes = [(hunk, classify_hunk(hunk, context)) for hunk in found.hunks[:MAX_HUNKS]]
    if _is_most_of_the_page(before, after, classes):
        classes = [
            (hunk, HunkClass.CONTENT if _is_doubtful(hunk, hunk_class) else hunk_class) for hunk, hunk_class in classes
        ]
    remaining = [hunk for hunk in found.hunks[MAX_HUNKS:] if hunk.is_own]
    classes += [(hunk, HunkClass.CONTENT) for hunk in remaining]
    return ClassifiedChange(_change(before, after, found, classes, context), classes, bool(found.moved))


def classify_hunk(hunk: Hunk, context: ChangeContext) -> HunkClass:
    """Return the class of one difference."""
    if is_sitewide(hunk, context):
        return HunkClass.TEMPLATE
    if is_noise(hunk, context):
        return HunkClass.NOISE
    if not hunk.is_own:
        return HunkClass.NOISE if is_volatile(hunk, context) else HunkClass.TEMPLATE
    if hunk.path == TITLE and context.site.page_share(hunk.removed) >= TEMPLATE_SHARE:
        return HunkClass.TEMPLATE
    return HunkClass.METADATA if hunk.is_metadata else HunkClass.CONTENT


def _is_doubtful(hunk: Hunk, hunk_class: HunkClass) -> bool:
    """Return whether an own difference was left out as a number or a sitewide edit."""
    is_left_out = hunk_class is HunkClass.TEMPLATE or (hunk_class is HunkClass.NOISE and hunk.is_number)
    return is_left_out and hunk.is_own and not hunk.is_metadata


def _is_most_of_the_page(before: Snapshot, after: Snapshot, classes: list[tuple[Hunk, HunkClass]]) -> bool:
    """Return whether most of the page was left out: then the page is about that."""
    doubtful = [hunk for hunk, hunk_class in classes if _is_doubtful(hunk, hunk_class)]
    words = sum(max(len(hunk.removed.split()), len(hunk.added.split())) for hunk in doubtful)
    return bool(doubtful) and words >= PAGE_MAJORITY * max(_own_words(before), _own_words(after))


def _change(
    before: Snapshot,
    after: Snapshot,
    found: SnapshotDiff,
    classes: list[tuple[Hunk, HunkClass]],
    context: ChangeContext,
) -> Change:
    own = [hunk for hunk, hunk_class in classes if hunk_class is HunkClass.CONTENT]
    metadata = [hunk for hunk, hunk_class in classes if hunk_class is HunkClass.METADATA]
    moved = [] if is_noise_order(context) else found.moved
    template = _template_edits(classes, context)
    kind, size, key_edits = ChangeClass.NOISE, 0.0, template
    moves = [moved_edit(moved)] if moved else []
    if own or moved:
        kind, size, key_edits = ChangeClass.CONTENT, _size(before, after, own), _keyed_edits(own) + moves
    elif metadata:
        kind, size, key_edits = ChangeClass.METADATA, min(1.0, len(metadata) / METADATA_FIELDS), _keyed_edits(metadata)
    move_edits = (make_edit(*edit, is_template=False) for edit in moves)
    edits, omitted = limit_edits(chain(_edits(_reading_order(own, before, after) + metadata), move_edits))
    template_edits, _ = limit_edits(make_edit(*edit, is_template=True) for edit in template)
    silenced = _noise_edits(classes) + ignored_edits(found.ignored[:MAX_NOISE_EDITS])
    noise = tuple(make_edit(*edit, is_template=True) for edit in silenced[:MAX_NOISE_EDITS])
    return Change(kind, size, edits + template_edits, combine_keys({edit.key for edit in key_edits}), omitted, noise)


def _reading_order(hunks: list[Hunk], before: Snapshot, after: Snapshot) -> list[Hunk]:
    """Return the hunks in the order of the page; a removed text stands where it was."""
    old, new = ({text: at / len(side) for at, text in enumerate(side)} for side in (before.texts, after.texts))
    return sorted(hunks, key=lambda hunk: new[hunk.added] if hunk.added in new else old.get(hunk.removed, 0.0))


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
        or (hunk_class is HunkClass.NOISE and is_sitewide_key(context.site, edit.key))
    ]


def _edits(hunks: list[Hunk]) -> Iterator[Edit]:
    for hunk in hunks:
        for edit in edits_in(hunk):
            yield make_edit(*edit, is_template=False, is_entry=hunk.is_linked)


def _size(before: Snapshot, after: Snapshot, own: list[Hunk]) -> float:
    """Return the share of the page's own words that differ; never 0 for a change."""
    total = max(_own_words(before), _own_words(after), 1)
    differing = sum(_differing_words(hunk) for hunk in own)
    return min(1.0, max(differing, 1) / total)


def _own_words(snapshot: Snapshot) -> int:
    is_own = own_block_test(snapshot)
    blocks = zip(snapshot.flags, snapshot.texts, strict=True)
    return sum(len(text.split()) for flag, text in blocks if is_own(flag))


def _differing_words(hunk: Hunk) -> int:
    old, new = Counter(hunk.removed.split()), Counter(hunk.added.split())
    return max((old - new).total(), (new - old).total(), 1)
