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
from evercrawl.core.change.noise import (
    count_words,
    has_age,
    has_price,
    is_age,
    is_compact_age,
    is_prose,
    is_time,
    is_todays_date,
    significant_text,
    text_shape,
)
from evercrawl.core.change.segments import (
    MAX_SEGMENTS,
    OTHER_FORM,
    SegmentChange,
    is_statement,
    sentences,
    slot_number,
    split_segments,
)
from evercrawl.core.change.snapshot import Snapshot, snapshot_html, unmarked
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


SLOT_THRESHOLD = ChangeThreshold(pages=4, differed=6, rate=0.3)
SLOT_NUMBER_THRESHOLD = ChangeThreshold(pages=3, differed=4, rate=0.25)
STATEMENT_THRESHOLD = ChangeThreshold(pages=4, differed=8, rate=0.8)
SLOT_VALUE_THRESHOLD = ChangeThreshold(pages=3, differed=12, rate=0.6)
METADATA_LINE_THRESHOLD = ChangeThreshold(pages=4, differed=6, rate=0.08)
METADATA_LINE_SEGMENTS = 2
BARE_NUMBER_THRESHOLD = ChangeThreshold(pages=2, differed=3, rate=0.02)
REFERENCE_THRESHOLD = ChangeThreshold(pages=3, differed=5, rate=0.08)
TURN_THRESHOLD = ChangeThreshold(pages=3, differed=6, rate=0.12)
COUNTER_ROW_THRESHOLD = ChangeThreshold(pages=2, differed=8, rate=0.2)
COUNTER_COLUMN_THRESHOLD = ChangeThreshold(pages=1, differed=24, rate=0.3)
COUNTER_THRESHOLD = ChangeThreshold(pages=2, differed=4, rate=0.05)
COUNTER_SHARE = 0.9  # Share of the differences at a counter that are increases.
MIN_COUNTERS = 3
AGE_LINE_SEGMENTS = 3  # In a line of so many segments, a time that grows is an age.
MIN_SLOT_COMPARISONS = 8  # From here on a slot with class names counts more than one without.
UNKNOWN_NAME_RATE = 0.6
MIN_NAME_WORDS = 3
SLOT_COLUMN_THRESHOLD = ChangeThreshold(pages=2, differed=20, rate=0.4)
SLOT_FEW_THRESHOLD = ChangeThreshold(pages=2, differed=2, rate=0.75)
SLOT_COUNTER_THRESHOLD = ChangeThreshold(pages=1, differed=24, rate=0.7)
PROSE_NUMBER_THRESHOLD = ChangeThreshold(pages=3, differed=4, rate=0.8)
LABEL_THRESHOLD = ChangeThreshold(pages=5, differed=5, rate=0.8)
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
MIN_OTHER_PAGES = 2  # A statement on this many other pages is not the page's own.
SITEWIDE_PAGES = 3
SITEWIDE_OWN_PAGES, SITEWIDE_OWN_SHARE = 8, 0.5
"""In the page's own part, more pages must have an edit: this share of the site's, up to this number."""
SITEWIDE_SHARE = 0.8  # Share of the visits since an edit was first seen that must have seen it too.
TEMPLATE_SHARE = 0.75  # A text on this share of the site's pages belongs to the template.


class ChangeContext(NamedTuple):
    """What is known when a page is compared."""

    page: PageChangeHistory
    site: SiteChangeHistory
    page_mark: int
    now: datetime | None
    counters: frozenset[Location] = frozenset()  # Slots of this page whose numbers all grew.
    has_prose: bool = False
    is_counted: bool = False  # The site's history has the edits of this page already.
    rotating: frozenset[int] = frozenset()  # Name paths of this page where names of other pages replaced each other.


def location_of(hunk: Hunk) -> Location:
    """Return the exact location of a difference: for numbers, that of the words around them."""
    return Location(hunk.name, hash_text(text_shape(hunk.added))) if hunk.is_number else Location(hunk.name)


def row_end_locations(hunk: Hunk) -> tuple[Location, ...]:
    """Return the row ends at which one text replaced another; empty if it stands elsewhere."""
    found = []
    for path, position in {(hunk.path, hunk.position), (hunk.name, hunk.name_position)}:
        if position in (RowPosition.FIRST, RowPosition.LAST) and hunk.removed and hunk.added:
            found.append(Location(path, position))
    return tuple(found)


def locations_of(hunks: Iterable[Hunk]) -> set[Location]:
    """Return where learning stores differences: exact locations, paths and ends of rows."""
    return {
        location
        for hunk in hunks
        for location in (location_of(hunk), Location(hunk.name), Location(hunk.path), *row_end_locations(hunk))
    }


MAX_SLOT = 0x600
STATEMENT_FORM = 0
TURN_SLOT = 0x5FF  # Slot of entries, whatever their form.
COME_SLOT = 0x500  # Slots of whole blocks that come and go, by form.


def block_slot(count: int, *, is_linked: bool) -> int:
    """Return the slot of a whole block by its number of segments."""
    return COME_SLOT + (min(count, MAX_SEGMENTS) << 1) + is_linked


def slots_of(hunk: Hunk) -> list[int]:
    """Return the slots that differ at a hunk."""
    has_statement = hunk.form <= 1 and is_statement(hunk.added or hunk.removed)
    is_replaced = hunk.form <= 1 and hunk.is_linked and not hunk.is_variation and " " in hunk.added
    if hunk.segments and not has_statement and not is_replaced:
        return [change.slot for change in hunk.segments]
    return [block_slot(STATEMENT_FORM if has_statement else hunk.form, is_linked=hunk.is_linked)]


def slot_locations(hunk: Hunk) -> set[Location]:
    """Return the slots that differ at a hunk, by path and by name path."""
    slots = [*slots_of(hunk), TURN_SLOT] if _is_turn(hunk) else slots_of(hunk)
    return {Location(path, slot) for slot in slots for path in (hunk.path, hunk.name)}


def _is_turn(hunk: Hunk) -> bool:
    """Return whether an entry that names something came, went or was replaced."""
    if not (hunk.is_linked or hunk.is_row or hunk.is_entry):
        return False
    return not (hunk.removed and hunk.added) or names_in(hunk.old_marked) != names_in(hunk.new_marked)


def is_noise(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether this location shows such differences all the time."""
    if not hunk.is_significant:
        return True
    if hunk.is_metadata:
        return hunk.is_number and (_is_today(hunk.added, context) or _is_noise_number(hunk, context))
    if hunk.segments and all(
        _is_noise_segment(hunk, change, context) or _is_restless(hunk, change, context) for change in hunk.segments
    ):
        return True
    if hunk.is_reference and (
        _slot_reaches(hunk, TURN_SLOT, TURN_THRESHOLD, context)
        or _slot_reaches(hunk, hunk.segments[0].slot, REFERENCE_THRESHOLD, context)
    ):
        return True
    if _is_one_of_rotating(hunk, context):
        return True
    if context.has_prose and _is_turn(hunk) and _slot_reaches(hunk, TURN_SLOT, TURN_THRESHOLD, context):
        return True
    if _is_part_of_line(hunk):
        # Where only a part of the line differs, the line's other parts say nothing about it.
        return False
    return _is_noise_number(hunk, context) if hunk.is_number else _is_noise_text(hunk, context)


def _is_part_of_line(hunk: Hunk) -> bool:
    """Return whether only some facts of a line differ; a line of links is one list, and one of another form is new."""
    is_same_form = all(change.slot < OTHER_FORM for change in hunk.segments)
    return 0 < len(hunk.segments) < hunk.form and is_same_form and not hunk.is_linked


def _is_today(text: str, context: ChangeContext) -> bool:
    is_short = count_words(text) <= MAX_TODAY_WORDS
    return context.now is not None and is_short and is_todays_date(text, now=context.now)


def _is_noise_segment(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether a segment changes by itself: by what it says, or because such segments do on many pages."""
    # A date alone may be that of an event: the rest of the line does not say.
    is_date = is_time(change.added) and not is_age(change.added)
    is_pair = bool(change.removed and change.added) and not is_date
    if is_pair and significant_text(change.removed) == significant_text(change.added):
        return True
    if is_age(change.removed) and is_time(change.added) and not change.is_number:
        return True
    if change.is_number and _is_today(change.added, context):
        return True
    if change.is_statement:
        slot = slots_of(hunk)[0] if hunk.form <= 1 else change.slot
        if change.is_number and _slot_reaches(hunk, slot, SLOT_VALUE_THRESHOLD, context):
            return True
        return _is_noise_statement(change, context) or _is_turning_statement(hunk, slot, context)
    if change.is_age and change.is_increase and hunk.form >= AGE_LINE_SEGMENTS:
        return True
    if not hunk.is_row and is_compact_age(change.removed) and is_compact_age(change.added):
        return True
    if (change.is_increase or change.is_age) and not has_price(change.added) and _is_counter(hunk, change, context):
        return True
    if has_price(change.added) or hunk.is_row:
        thresholds = (SLOT_VALUE_THRESHOLD, SLOT_COLUMN_THRESHOLD)
        return any(_slot_reaches(hunk, change.slot, threshold, context) for threshold in thresholds)
    few = (SLOT_FEW_THRESHOLD, SLOT_COUNTER_THRESHOLD)
    if change.is_number and any(_slot_reaches(hunk, change.slot, threshold, context) for threshold in few):
        return True
    if change.is_number and _slot_reaches(hunk, change.slot, SLOT_NUMBER_THRESHOLD, context):
        return True
    is_counter_like = change.is_bare_number and change.is_increase and _is_in_metadata_line(hunk, context)
    if is_counter_like and _slot_reaches(hunk, change.slot, BARE_NUMBER_THRESHOLD, context):
        return True
    if _slot_reaches(hunk, change.slot, SLOT_THRESHOLD, context):
        return True
    return _is_in_metadata_line(hunk, context) and _slot_reaches(hunk, change.slot, METADATA_LINE_THRESHOLD, context)


def _is_turning_statement(hunk: Hunk, slot: int, context: ChangeContext) -> bool:
    """Return whether statements here were replaced nearly always, on other pages and on this one before."""
    is_moving = any(_recent_differences(Location(path, slot), context) for path in (hunk.path, hunk.name))
    return is_moving and _slot_reaches(hunk, slot, STATEMENT_THRESHOLD, context)


def _is_counter(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether the numbers of this slot only grow, on several pages or on this one at once."""
    if (not hunk.is_row or change.is_age) and Location(hunk.path, change.slot) in context.counters:
        return True
    for path in (hunk.name, hunk.path):
        stats = context.site.locations.get(Location(path, change.slot))
        if (
            stats is not None
            and stats.rotated >= COUNTER_SHARE * stats.differed
            and (
                _is_reached(stats, COUNTER_ROW_THRESHOLD if hunk.is_row else COUNTER_THRESHOLD)
                or _is_reached(stats, COUNTER_COLUMN_THRESHOLD)
            )
        ):
            return True
    return False


def counters_in(hunks: Iterable[Hunk]) -> frozenset[Location]:
    """Return the slots of which several instances on one page grew at once, and none shrank."""
    grown: Counter[Location] = Counter()
    others: set[Location] = set()
    for hunk in hunks:
        for change in hunk.segments:
            location = Location(hunk.path, change.slot)
            if change.is_increase or change.is_age:
                grown[location] += 1
            elif change.is_number:
                others.add(location)
    return frozenset(location for location, count in grown.items() if count >= MIN_COUNTERS and location not in others)


def _rotating_in(hunks: Iterable[Hunk], context: ChangeContext) -> frozenset[int]:
    """Return the name paths where the page lost and gained names that other pages show too."""
    lost: Counter[int] = Counter()
    gained: Counter[int] = Counter()
    for hunk in hunks:
        lost[hunk.name] += _names_others(hunk, hunk.old_marked, context)
        gained[hunk.name] += _names_others(hunk, hunk.new_marked, context)
    return frozenset(name for name, count in lost.items() if count and gained[name] and count + gained[name] > 2)


def _names_others(hunk: Hunk, marked: str, context: ChangeContext) -> bool:
    """Return whether a link or line names other pages: all its names stand on other pages too."""
    names = names_in(marked) if hunk.form > 1 else [unmarked(marked)] if hunk.is_linked and " " in marked else []
    return bool(names) and all(context.site.is_on_other_pages(name, page=context.page_mark) for name in names)


def _is_one_of_rotating(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether names of other pages take turns here, on this page and on others."""
    if hunk.name not in context.rotating:
        return False
    sides = [marked for marked in (hunk.old_marked, hunk.new_marked) if marked]
    if not all(_names_others(hunk, marked, context) for marked in sides):
        return False
    stats = (context.site.locations.get(Location(path)) for path in (hunk.name, hunk.path))
    return any(one is not None and one.pages >= MIN_ROTATIONS for one in stats)


def _is_in_metadata_line(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether another segment of such lines changes by itself; then the line is about the page's upkeep."""
    return hunk.form >= METADATA_LINE_SEGMENTS and any(
        _slot_reaches(hunk, slot_number(hunk.form, index, has_digit=digit), SLOT_THRESHOLD, context)
        for index in range(min(hunk.form, MAX_SEGMENTS))
        for digit in (True, False)
    )


def _is_restless(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether a short segment of this very page differed at nearly all of its last visits."""
    if hunk.form <= 1 or hunk.is_row or change.is_statement or is_prose(change.added) or has_price(change.added):
        return False
    location = Location(hunk.name, change.slot)
    return not _is_stable(location, context) and _recent_differences(location, context) >= MANY_RECENT


def _slot_reaches(hunk: Hunk, slot: int, threshold: ChangeThreshold, context: ChangeContext) -> bool:
    """Return whether a slot reaches a threshold; class names tell similar slots apart where they are known."""
    named = context.site.locations.get(Location(hunk.name, slot))
    if named is not None and _is_reached(named, threshold):
        return True
    if hunk.has_same_name:
        if named is None:
            # Under this name it was never seen to differ.
            threshold = threshold._replace(rate=max(threshold.rate, UNKNOWN_NAME_RATE))
        elif named.compared >= MIN_SLOT_COMPARISONS and named.rate < threshold.rate:
            return False
    return _reaches(Location(hunk.path, slot), threshold, context)


def _is_noise_statement(change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether all sentences that differ are ones that other pages show too."""
    old, new = sentences(change.removed), sentences(change.added)
    differing = {*old} ^ {*new}
    return bool(differing) and all(
        context.site.is_on_other_pages(sentence, page=context.page_mark, least=MIN_OTHER_PAGES)
        for sentence in differing
    )


def is_noise_order(context: ChangeContext) -> bool:
    """Return whether the order of paragraphs differs all the time."""
    location = Location(MOVED)
    return _reaches(location, LABEL_THRESHOLD, context) or _recent_differences(location, context) >= MANY_RECENT


def is_volatile(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the location differs often, which is enough outside the page's own part."""
    return (
        _reaches(Location(hunk.name), VOLATILE_THRESHOLD, context)
        or _reaches(Location(hunk.path), VOLATILE_THRESHOLD, context)
        or _recent_differences(location_of(hunk), context) >= SOME_RECENT
    )


def is_rotation(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a text of other pages replaced another such text."""
    if hunk.form > 1 and hunk.removed and hunk.added:
        old, new = names_in(hunk.old_marked), names_in(hunk.new_marked)
        sides = [name for name in old if name not in new] + [name for name in new if name not in old]
        is_both = sides and any(name in old for name in sides) and any(name in new for name in sides)
        return bool(is_both) and all(context.site.is_on_other_pages(name, page=context.page_mark) for name in sides)
    return all(
        text and context.site.is_on_other_pages(text, page=context.page_mark) for text in (hunk.removed, hunk.added)
    )


def names_in(marked: str) -> list[str]:
    """Return the segments of a line that may name another page: several words without a full stop."""
    return [
        segment.text
        for segment in split_segments(marked)
        if not segment.is_statement and count_words(segment.text) >= MIN_NAME_WORDS
    ]


def is_sitewide(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether nearly all pages visited since the first one had the same edit.
    One page is enough for a text that nearly all had, and outside the page's own part unless it is volatile there."""
    site = context.site
    least = 1
    is_rare = hunk.is_own and site.page_share(hunk.removed) < TEMPLATE_SHARE
    if is_rare and hunk.is_number and not hunk.is_metadata:
        # Counters of similar pages may all increase at the same time.
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


def _is_noise_number(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the numbers change at nearly every visit, on several pages or on this one."""
    location = location_of(hunk)
    if has_price(hunk.added):
        return False
    if is_prose(hunk.added):
        return _reaches(location, PROSE_NUMBER_THRESHOLD, context)
    if _has_active_position(hunk, context):
        return True
    return not _is_stable(location, context) and _recent_differences(location, context) >= MANY_RECENT


def _is_noise_text(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the text rotates, or is a label or link that always changes."""
    texts = [text for text in (hunk.removed, hunk.added) if text]
    has_statement = any(map(is_statement, texts)) and not hunk.is_linked
    if has_statement:
        is_shared = all(
            context.site.is_on_other_pages(text, page=context.page_mark, least=MIN_OTHER_PAGES) for text in texts
        )
        is_turning = hunk.form <= 1 and _is_turning_statement(hunk, slots_of(hunk)[0], context)
        return is_shared or is_turning or _is_rotating_text(hunk, context) or _is_recurring(hunk, texts, context)
    if hunk.form <= 1 and len(texts) == 1 and has_age(texts[0]):
        return True
    if _is_rotating_text(hunk, context) or _has_active_position(hunk, context):
        return True
    slot = slots_of(hunk)[0]
    if slot >= COME_SLOT and _slot_reaches(hunk, slot, SLOT_THRESHOLD, context):
        return True
    if _is_recurring(hunk, texts, context):
        return True
    location = Location(hunk.name)
    is_label = hunk.name_position is not RowPosition.WITHIN or hunk.is_linked or hunk.is_variation
    is_label = is_label and (hunk.is_linked or not any(map(is_prose, texts)))
    return is_label and not _is_stable(location, context) and _recent_differences(location, context) >= MANY_RECENT


def _is_recurring(hunk: Hunk, texts: list[str], context: ChangeContext) -> bool:
    """Return whether the texts come and go at a location that often differs."""
    return _changes_often(hunk, context) and all(context.site.is_recurring(text, least=MIN_REMOVALS) for text in texts)


def _is_rotating_text(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether texts of other pages rotate here, and this difference is such a rotation.
    At a rotating position new texts are noise too; where blocks share the location, an added one may be content."""
    if _has_rotating_position(hunk, context):
        return True
    stats = context.site.locations.get(Location(hunk.name), LocationStats())
    is_rotating = stats.pages >= MIN_ROTATIONS <= stats.rotated and stats.rotation_rate >= MIN_ROTATION_RATE
    return is_rotating and is_rotation(hunk, context) and (hunk.name_position is RowPosition.ALONE or hunk.is_balanced)


def _seats(hunk: Hunk) -> list[Location]:
    """Return the locations where the block is the first, the last or the only one."""
    found = [(hunk.name, hunk.name_position), (hunk.path, hunk.position)]
    return [Location(path, position) for path, position in found if position is not RowPosition.WITHIN]


def _has_rotating_position(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether texts rotate at this position: some are on other pages, or nothing else differs."""
    for location in _seats(hunk):
        stats = context.site.locations.get(location, LocationStats())
        if _is_reached(stats, ROTATION_THRESHOLD):
            fewest = max(MIN_ROTATIONS, MIN_ROTATION_SHARE * stats.differed)
            if stats.rotated >= fewest:
                return True
        if stats.minor >= MIN_MINOR_SHARE * stats.differed and _is_reached(stats, UNSEEN_ROTATION_THRESHOLD):
            return True
    return False


def _changes_often(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether something differs here at every second or third visit to any page."""
    return any(_reaches(location, RECURRING_THRESHOLD, context) for location in (Location(hunk.name), *_seats(hunk)))


def _has_active_position(hunk: Hunk, context: ChangeContext) -> bool:
    return any(_reaches(location, LABEL_THRESHOLD, context) for location in _seats(hunk))


def _reaches(location: Location, threshold: ChangeThreshold, context: ChangeContext) -> bool:
    stats = context.site.locations.get(location)
    return stats is not None and _is_reached(stats, threshold)


def _is_reached(stats: LocationStats, threshold: ChangeThreshold) -> bool:
    return stats.pages >= threshold.pages and stats.differed >= threshold.differed and stats.rate >= threshold.rate


def _is_stable(location: Location, context: ChangeContext) -> bool:
    stats = context.site.locations.get(location)
    return stats is not None and stats.pages >= STABLE_PAGES and stats.rate < STABLE_RATE


def _recent_differences(location: Location, context: ChangeContext) -> int:
    """Return at how many of the last visits to this page the location differed."""
    history = context.page.locations.get(location)
    return history.recent(RECENT_VISITS) if history is not None else 0


MAX_NOISE_EDITS = 8  # Edits called noise that are kept, so that a user can look them up.
METADATA_FIELDS = 4
PAGE_MAJORITY = 0.6  # A page with this share of its own words left out as noise is about that noise.
NUMBER_MAJORITY = 0.25  # The same where only numbers differ.
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
        counters=counters_in(found.hunks), rotating=_rotating_in(found.hunks, context), has_prose=found.has_prose
    )
    classes = [(hunk, classify_hunk(hunk, context)) for hunk in found.hunks[:MAX_HUNKS]]
    if _is_most_of_the_page(classes, own_words, context):
        classes = [
            (hunk, HunkClass.CONTENT if _is_doubtful(hunk, hunk_class, context) else hunk_class)
            for hunk, hunk_class in classes
        ]
    remaining = [hunk for hunk in found.hunks[MAX_HUNKS:] if hunk.is_own]
    classes += [(hunk, HunkClass.CONTENT) for hunk in remaining]
    return ClassifiedChange(_change(found, classes, context, own_words), classes, found, own_words)


def classify_hunk(hunk: Hunk, context: ChangeContext) -> HunkClass:
    """Return the class of one difference."""
    if is_sitewide(hunk, context):
        return HunkClass.TEMPLATE
    if is_noise(hunk, context):
        return HunkClass.NOISE
    if not hunk.is_own:
        return HunkClass.NOISE if is_volatile(hunk, context) else HunkClass.TEMPLATE
    is_telling = hunk.path == TITLE or is_statement(hunk.removed)
    if hunk.removed and is_telling and context.site.page_share(hunk.removed) >= TEMPLATE_SHARE:
        return HunkClass.TEMPLATE
    return HunkClass.METADATA if hunk.is_metadata else HunkClass.CONTENT


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
    moved = [] if is_noise_order(context) else found.moved
    template = _template_edits(classes, context)
    kind, size, key_edits = ChangeClass.NOISE, 0.0, template
    moves = [moved_edit(moved)] if moved else []
    if own or moved:
        kind, size, key_edits = ChangeClass.CONTENT, _size(own, own_words), _keyed_edits(own) + moves
    elif metadata:
        kind, size, key_edits = ChangeClass.METADATA, min(1.0, len(metadata) / METADATA_FIELDS), _keyed_edits(metadata)
    move_edits = (make_edit(*edit, is_template=False) for edit in moves)
    edits, omitted = limit_edits(chain(_edits(own + metadata), move_edits))
    template_edits, _ = limit_edits(make_edit(*edit, is_template=True) for edit in template)
    noise = tuple(make_edit(*edit, is_template=True) for edit in _noise_edits(classes)[:MAX_NOISE_EDITS])
    return Change(kind, size, edits + template_edits, combine_keys({edit.key for edit in key_edits}), omitted, noise)


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
