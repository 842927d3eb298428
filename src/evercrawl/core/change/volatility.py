"""Tells from the histories of a page and its site whether a difference is noise.
What differs is counted per slot and per location. How often it must have differed depends on what it is: little for a
counter, much for prices, and nearly always for sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from evercrawl.core.change.change_history import (
    Location,
    LocationStats,
    PageChangeHistory,
    SiteChangeHistory,
    hash_text,
)
from evercrawl.core.change.hunk import IMAGE_SLOT, MOVED, Hunk, RowPosition, edits_in
from evercrawl.core.change.noise import (
    MOMENT_DAYS,
    count_words,
    has_age,
    has_price,
    has_same_day,
    is_age,
    is_compact_age,
    is_count,
    is_identifier,
    is_moment,
    is_prose,
    is_same_moment,
    is_time,
    is_todays_date,
    significant_text,
    text_shape,
    without_ages,
)
from evercrawl.core.change.segments import (
    MAX_SEGMENTS,
    OTHER_FORM,
    SegmentChange,
    has_digit,
    is_statement,
    sentences,
    slot_number,
    split_segments,
)
from evercrawl.core.change.snapshot import INLINE_BORDER, unmarked


class Limit(NamedTuple):
    """How often something must have differed on a site to be noise: the rate, on how many pages, how many times."""

    rate: float
    pages: int
    differed: int


# Rates of slots are estimates, see `_slot_rate`.
COUNTER = Limit(0.05, pages=2, differed=3)  # Numbers that only grow.
TICK = Limit(0.01, pages=2, differed=3)  # Large ones that grow by a little.
ROW = Limit(0.2, pages=2, differed=8)  # Counters and turns in tables.
UPKEEP_LINE = Limit(0.08, pages=4, differed=6)  # Words in a line of which another part is noise.
ENTRY = Limit(0.1, pages=3, differed=5)  # Entries of lists beside prose, targets of links and images.
NUMBER = Limit(0.25, pages=2, differed=2)
WORDS = Limit(0.3, pages=4, differed=4)
BLOCK = Limit(0.3, pages=4, differed=6)  # Whole blocks that come and go; a few edits on one day are content.
TURNS = Limit(0.5, pages=4, differed=8)  # Blocks of which most are replaced.
VALUE = Limit(0.45, pages=3, differed=8)  # Prices and cells of tables.
STATEMENT = Limit(0.75, pages=4, differed=8)
ALL_STATEMENTS = Limit(0.85, pages=6, differed=12)  # The same on a page that was not compared before.
# Rates of locations are those seen.
SITE_PART = Limit(0.25, pages=1, differed=3)
RECURRING = Limit(0.4, pages=2, differed=3)
ROTATION = Limit(0.7, pages=3, differed=4)
ALWAYS = Limit(0.8, pages=4, differed=4)
COMPANION = Limit(0.3, pages=2, differed=2)  # What stands beside a name that another replaced.
ORDERING = Limit(0.2, pages=3, differed=4)  # Entries in another order.

QUIET_COMPARISONS = 4  # Added to those of a slot: a few differences are not a rate yet.
PATH_WEIGHT = 2  # Comparisons that the rate of a path weighs in that of a name path.
MIN_KNOWN_PAGES, MIN_KNOWN_COMPARISONS = 2, 5
"""From here on the rate of a name path, or of the words around numbers, is known."""
CALM_COMPARISONS, CALM_PAGES = 12, 4  # From here on a low rate says that a location is calm.
CALM_VISITS = 24  # Visits to a site after which a location that never differed is calm.
CALM_RATE = 0.1
MAX_VALUE_SHARE, MAX_LABELLED_SHARE = 0.3, 0.6
"""A text on more of the site's pages is not about one of them; a value beside a label may be on some more."""
UNKNOWN_SLOT_RATE = 0.6  # Rate of a path that is enough where nothing else is known.
MANY_INSTANCES = 24  # So many differences are enough on a single page.
COUNTER_SHARE = 0.9  # Share of the differences at a counter that are increases.
MIN_COUNTERS = 3
AGE_LINE_SEGMENTS = 3  # In a line of so many segments, a time that grows is an age.
UPKEEP_LINE_SEGMENTS = 2
ACTIVITY_SEGMENTS = 4  # Title, author, count and age of another thread.
MIN_TICKING, MAX_TICK = 100, 0.01  # A number of this size that grows by at most this share counts something.
MAX_STEP = 3  # So much a slow counter grows between two visits.
MIN_NAME_WORDS = 3
MAX_TODAY_WORDS = 14  # In a longer text a date is that of an event.
MIN_ROTATIONS = 2
MIN_ROTATION_SHARE = 0.12  # Share of the differences at a location that must have been rotations.
MIN_ROTATION_RATE = 0.3
MIN_MINOR_SHARE = 0.7  # Share of the differences at a location that must have left the rest of the page alone.
STABLE_PAGES, STABLE_RATE = 3, 0.5
"""A location that differs less often on this many pages is content that changes a lot on this one."""
RECENT_VISITS, MANY_RECENT, SOME_RECENT = 6, 5, 2
MIN_REMOVALS = 3  # A text that was removed this often is recurring.
MIN_LABEL_REMOVALS = 2
MIN_LABEL_SHARE = 0.2  # A label on this share of the site's pages is one of the template.
MIN_SHARED_EDITS = 3  # An edit on this many pages is not about one of them.
MIN_OTHER_PAGES = 2  # A statement on this many other pages is not the page's own.


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
    return Location(hunk.path, hash_text(text_shape(hunk.added))) if hunk.is_number else Location(hunk.name)


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


ORDER = 4  # Shape of the location of an order, after those of `RowPosition`.
MAX_SLOT = 0x600
STATEMENT_FORM = 0
TURN_SLOT = 0x5FB  # Slot of blocks that others replace, whatever their form; the next one in links.
LABEL_SLOT = 0x5FD  # Slot of what stands beside a label, wherever that is; the next one in links.
BLOCK_SLOT = 0x500  # Slots of whole blocks, by form.


def label_location(label: str, *, is_linked: bool) -> Location:
    """Return the location of what stands beside a label; what looks like one in a link is part of a name."""
    return Location(hash_text(label), LABEL_SLOT + is_linked)


def segment_locations(hunk: Hunk, change: SegmentChange) -> set[Location]:
    """Return the locations of a segment: by path, by name path, and by the label beside it."""
    found = {Location(path, change.slot) for path in (hunk.path, hunk.name)}
    return found | {label_location(change.label, is_linked=hunk.is_linked)} if change.label else found


def turn_slot(*, is_linked: bool) -> int:
    """Return the slot of blocks that others replace; links and the entries beside them do so at their own rates."""
    return TURN_SLOT + is_linked


def block_slot(count: int, *, is_linked: bool) -> int:
    """Return the slot of a whole block by its number of segments."""
    return BLOCK_SLOT + (min(count, MAX_SEGMENTS) << 1) + is_linked


def slots_of(hunk: Hunk) -> list[int]:
    """Return the slots that differ at a hunk: those of its segments, or that of the whole block."""
    block = _whole_slot(hunk)
    return [change.slot for change in hunk.segments] if block is None else [block]


def _whole_slot(hunk: Hunk) -> int | None:
    """Return the slot of a block that counts as a whole: one that came or went, a statement, or the text of a link."""
    has_statement = hunk.form <= 1 and is_statement(hunk.added or hunk.removed)
    is_replaced = hunk.form <= 1 and hunk.is_linked and not hunk.is_number and " " in hunk.added
    if hunk.segments and not has_statement and not is_replaced:
        return None
    return block_slot(STATEMENT_FORM if has_statement else hunk.form, is_linked=hunk.is_linked)


def slot_locations(hunk: Hunk) -> set[Location]:
    """Return the slots that differ at a hunk, by path and by name path."""
    slots = [*slots_of(hunk), turn_slot(is_linked=hunk.is_linked)] if _is_turn(hunk) else slots_of(hunk)
    labels = {change.label for change in hunk.segments if change.label}
    labelled = {label_location(label, is_linked=hunk.is_linked) for label in labels}
    return {Location(path, slot) for slot in slots for path in (hunk.path, hunk.name)} | labelled


def _is_turn(hunk: Hunk) -> bool:
    """Return whether a block that names something came, went or was replaced."""
    if hunk.is_reference or hunk.is_metadata or _has_own_statement(hunk):
        return False
    if not (hunk.removed and hunk.added):
        return True
    old, new = names_in(hunk.old_marked), names_in(hunk.new_marked)
    # Lines about different things may end alike, with the same age or place.
    is_other = hunk.is_linked or not hunk.is_variation or (hunk.form > 1 and _have_other_names(old, new))
    return is_other and old != new


def _have_other_names(old: list[str], new: list[str]) -> bool:
    """Return whether the names in two lines are all different, numbers aside."""
    return bool(old and new) and {*map(text_shape, old)}.isdisjoint(map(text_shape, new))


def is_turning_name(hunk: Hunk) -> bool:
    """Return whether a link of several words was added, removed or took the place of another."""
    return (
        hunk.is_linked
        and not hunk.is_reference
        and _is_turn(hunk)
        and bool(names_in(hunk.new_marked or hunk.old_marked))
    )


def is_companion(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a difference is a short fact, as stands beside the name of an entry."""
    texts = (hunk.removed, hunk.added)
    return (
        hunk.is_own
        and not (hunk.is_metadata or hunk.is_reference or hunk.is_surplus)
        and not any(map(is_statement, texts))
        and (context.has_prose or not hunk.is_row)
        and not 0 < len(hunk.segments) < hunk.form
        and _reaches(Location(hunk.name), COMPANION, context)
        and not has_calm_label(hunk, context)
    )


def _has_own_statement(hunk: Hunk) -> bool:
    return not hunk.is_linked and any(map(is_statement, (hunk.removed, hunk.added)))


def names_in(marked: str) -> list[str]:
    """Return the segments of a line that may name another page: several words without a full stop."""
    return [
        segment.text
        for segment in split_segments(marked)
        if not segment.is_statement and count_words(segment.text) >= MIN_NAME_WORDS
    ]


def is_noise(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether this location shows such differences all the time."""
    if not hunk.is_significant and not _is_of_event(hunk, context):
        return True
    if hunk.is_metadata:
        return hunk.is_number and (_is_today(hunk.added, context) or _is_noise_number(hunk, context))
    if hunk.is_reference:
        return _is_noise_reference(hunk, hunk.segments[0], context)
    if hunk.segments and all(_is_noise_segment(hunk, change, context) for change in hunk.segments):
        return True
    if has_calm_label(hunk, context):
        return False
    if context.has_prose and hunk.is_linked and not hunk.is_number and _images_turn(hunk, context):
        return True
    if _is_one_of_rotating(hunk, context) or (context.has_prose and _is_activity_line(hunk)):
        return True
    if context.has_prose and ((_is_turn(hunk) and _takes_turns(hunk, context)) or _always_turns(hunk, context)):
        return True
    if _is_part_of_line(hunk) or _has_calm_part(hunk, context):
        # What the other parts of the line do says nothing about a part that differs alone, or that hardly ever does.
        return False
    return _is_noise_number(hunk, context) if hunk.is_number else _is_noise_text(hunk, context)


def has_calm_label(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a fact differs whose label says on other pages too what a fact is that hardly ever does."""
    return any(_is_calm_label(change, hunk, context) for change in hunk.segments)


def _is_calm_label(change: SegmentChange, hunk: Hunk, context: ChangeContext) -> bool:
    # What looks like a label in a link is a part of a name.
    is_name = hunk.is_linked and hunk.form > 1
    if not change.label or is_name or context.site.page_share(change.label) < MIN_LABEL_SHARE:
        return False
    stats = _label_stats(change.label, hunk, context)
    if stats is None or stats.differed <= 1:
        # What never differed before has no stats of these visits.
        is_count = change.is_increase and not (has_price(change.added) or is_identifier(change.added))
        return context.site.visits >= CALM_VISITS and not is_count
    if _is_step(change) and _is_spread(stats, COUNTER, is_growing=True):
        return False
    return _is_well_known(stats) and stats.rate < CALM_RATE


def _images_turn(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether most images of such entries are replaced; then their other links go with them."""
    stats = context.site.locations.get(Location(hunk.name, IMAGE_SLOT))
    return stats is not None and _is_reached(stats, TURNS)


def _is_activity_line(hunk: Hunk) -> bool:
    """Return whether an entry of several facts has a count and an age, as in lists of other threads beside a text."""
    sides = [[segment.text for segment in split_segments(marked)] for marked in (hunk.old_marked, hunk.new_marked)]
    is_told = all(any(map(is_count, side)) and any(map(is_age, side)) for side in sides if side)
    is_long = all(len(side) >= ACTIVITY_SEGMENTS for side in sides if side)
    return (hunk.is_row or hunk.is_entry) and is_told and is_long and not _has_own_statement(hunk)


def is_only_later(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a difference says only that time passed, as pages made in the same second do all alike."""
    if not (hunk.removed and hunk.added):
        return False
    if not hunk.is_significant and not _is_of_event(hunk, context):
        return True
    is_passing = bool(hunk.segments) and all(_is_time_passing(hunk, change, context) for change in hunk.segments)
    return is_passing or without_ages(hunk.removed) == without_ages(hunk.added)


def _is_of_event(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a date with a time of day was replaced by one that is neither today nor a few days ago."""
    sides = hunk.removed, hunk.added
    # What is said to have happened on the same day as before, but at another time, was corrected.
    days = 1 if has_same_day(*sides) else MOMENT_DAYS
    return context.now is not None and all(
        is_moment(text) and not is_todays_date(text, now=context.now, clock_days=days) for text in sides
    )


def _is_noise_reference(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether targets differ here all the time; images that other pages have too are icons, showing a state."""
    if change.slot == IMAGE_SLOT and all(
        context.site.is_on_other_pages(target, page=context.page_mark)
        for target in (change.removed, change.added)
        if target
    ):
        return True
    slots = (turn_slot(is_linked=False), turn_slot(is_linked=True)) if change.slot != IMAGE_SLOT else ()
    is_entry = hunk.is_entry or any(Location(hunk.name, slot) in context.site.locations for slot in slots)
    if change.slot != IMAGE_SLOT and _images_turn(hunk, context):
        return True
    return _slot_reaches(hunk, change.slot, ENTRY, context) or (is_entry and _takes_turns(hunk, context))


def _takes_turns(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether entries come and go here; in tables, and blocks outside of lists, more often than elsewhere."""
    limit = ROW if hunk.is_row else ENTRY if hunk.is_linked or hunk.is_entry or hunk.is_reference else TURNS
    slots = {turn_slot(is_linked=hunk.is_linked), turn_slot(is_linked=hunk.is_linked or hunk.is_reference)}
    return any(_slot_reaches(hunk, slot, limit, context) for slot in slots)


def _always_turns(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether most blocks are replaced here; then a small difference is one that replaced a similar one."""
    slot = turn_slot(is_linked=hunk.is_linked)
    return not _has_own_statement(hunk) and _slot_reaches(hunk, slot, TURNS, context)


def _is_part_of_line(hunk: Hunk) -> bool:
    """Return whether only some facts of a line differ; a line of links is one list, and one of another form is new
    unless it has the same counts."""
    is_same_form = len(hunk.segments) > 1 or all(change.slot < OTHER_FORM for change in hunk.segments)
    return 0 < len(hunk.segments) < hunk.form and is_same_form and not hunk.is_linked


def _has_calm_part(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a fact of a line differs that hardly ever did."""
    if hunk.form <= 1 or hunk.is_linked:
        return False
    slots = (change.slot for change in hunk.segments if change.slot < OTHER_FORM)
    known = [context.site.locations.get(Location(hunk.name, slot)) for slot in slots]
    return any(stats is not None and _is_well_known(stats) and stats.rate < CALM_RATE for stats in known)


def _is_today(text: str, context: ChangeContext, *, clock_days: int = MOMENT_DAYS) -> bool:
    is_short = count_words(text) <= MAX_TODAY_WORDS
    return context.now is not None and is_short and is_todays_date(text, now=context.now, clock_days=clock_days)


def _is_noise_segment(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether a segment changes by itself: by what it says, or because such segments do on many pages."""
    slot = _whole_slot(hunk) or change.slot
    if change.is_statement and change.is_number:
        return _slot_reaches(hunk, slot, VALUE, context)
    label = change.label if slot == change.slot else ""
    if change.is_statement:
        return _is_shared_statement(change, context) or _is_turning_statement(hunk, slot, context)
    if _is_time_passing(hunk, change, context):
        return True
    if _is_calm_label(change, hunk, context):
        return False
    # A row of one cell is a matter of layout; a label tells better than a row what its value is.
    is_cell = hunk.is_row and hunk.form > 1 and not _is_known(_label_stats(label, hunk, context))
    is_cell = is_cell and not _has_turning_name(hunk, change, context)
    is_named = change.is_number and (has_price(change.added) or is_identifier(change.added))
    is_value = is_cell or is_named
    if not is_named and hunk.form > 1 and count_words(label) >= MIN_NAME_WORDS and _is_recurring_label(label, context):
        return True
    if (change.is_increase or change.is_age) and not is_named and _is_counter(hunk, change, context):
        return True
    limit = VALUE if is_value else NUMBER if change.is_number else WORDS
    if _slot_reaches(hunk, slot, limit, context, label=label):
        return True
    if change.is_number and not is_value and hunk.is_linked and hunk.form <= 1:
        # Where links replace each other, two may be alike but for a number.
        return _slot_reaches(hunk, block_slot(hunk.form, is_linked=True), WORDS, context)
    if is_value:
        return False
    if _slot_reaches(hunk, slot, UPKEEP_LINE, context, label=label) and _is_in_upkeep_line(hunk, context):
        return True
    # A short segment of this very page that differed at nearly all of its last visits.
    return hunk.form > 1 and not is_prose(change.added) and _is_restless(Location(hunk.name, slot), context)


def _has_turning_name(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether the first words of rows differ most times, as on a board of departures. Then the other cells of a
    row do not belong to one thing."""
    segments = split_segments(hunk.new_marked)
    for place, segment in enumerate(segments):
        if not has_digit(segment.text) and count_words(segment.text):
            slot = slot_number(len(segments), place, has_digit=False)
            return slot != change.slot and _slot_reaches(hunk, slot, TURNS, context)
    return False


def _is_recurring_label(label: str, context: ChangeContext) -> bool:
    """Return whether lines with a label come and go, and what they say with them."""
    return context.site.is_recurring(label, least=MIN_LABEL_REMOVALS)


def _is_time_passing(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether a segment differs because time passed: an age, today's date, a count of readers."""
    # A date alone may be that of an event: the rest of the line does not say.
    is_date = is_moment(change.added) or (is_time(change.added) and not is_age(change.added))
    is_pair = bool(change.removed and change.added) and not is_date
    if is_pair and significant_text(change.removed) == significant_text(change.added):
        return True
    if not hunk.is_row and is_compact_age(change.removed) and is_compact_age(change.added):
        return True
    if is_same_moment(change.removed, change.added):
        return True
    if not change.is_number:
        return is_age(change.removed) and is_time(change.added)
    words = hunk.new_marked.replace(INLINE_BORDER, " ").split()
    if change.is_increase and words[:1] == [change.added] and is_age(" ".join(words[:2])):
        # The number of an age may have an element of its own.
        return True
    is_age_line = change.is_age and change.is_increase and hunk.form >= AGE_LINE_SEGMENTS
    is_age_line = is_age_line and not _is_calm_slot(hunk, change, context)
    days = 1 if has_same_day(hunk.removed, hunk.added) else MOMENT_DAYS
    return is_age_line or _is_today(change.added, context, clock_days=days)


def _is_calm_slot(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether a fact of such lines hardly ever differs: then "63 min" is how long something takes."""
    stats = context.site.locations.get(Location(hunk.name, change.slot))
    return stats is not None and _is_well_known(stats) and stats.rate < CALM_RATE


def _is_shared_statement(change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether all sentences that differ are ones that other pages show too."""
    old, new = sentences(change.removed), sentences(change.added)
    differing = {*old} ^ {*new}
    return bool(differing) and all(
        context.site.is_on_other_pages(sentence, page=context.page_mark, least=MIN_OTHER_PAGES)
        for sentence in differing
    )


def _is_turning_statement(hunk: Hunk, slot: int, context: ChangeContext) -> bool:
    """Return whether statements here were replaced nearly always, on other pages and on this one before."""
    is_moving = any(_recent_differences(Location(path, slot), context) for path in (hunk.path, hunk.name))
    return _slot_reaches(hunk, slot, STATEMENT if is_moving else ALL_STATEMENTS, context)


def _is_counter(hunk: Hunk, change: SegmentChange, context: ChangeContext) -> bool:
    """Return whether the numbers of this slot only grow, on several pages or on this one at once."""
    if (not hunk.is_row or change.is_age) and Location(hunk.path, change.slot) in context.counters:
        return True
    labelled = _label_stats(change.label, hunk, context)
    if labelled is not None and _is_step(change) and _is_spread(labelled, COUNTER, is_growing=True):
        # What grew by a little each time is a counter, however slow.
        return True
    # A label tells better than a row what its value is.
    is_cell = hunk.is_row and not _is_known(_label_stats(change.label, hunk, context))
    limit = TICK if _is_tick(change) else ROW if is_cell else COUNTER
    return _slot_reaches(hunk, change.slot, limit, context, label=change.label, is_growing=True)


def _is_step(change: SegmentChange) -> bool:
    numbers = [int(text) for text in (change.removed, change.added) if text.isdecimal()]
    return len(numbers) > 1 and 0 < numbers[1] - numbers[0] <= MAX_STEP


def _is_tick(change: SegmentChange) -> bool:
    """Return whether a large whole number grew by a little, as counters do also in tables."""
    numbers = [int(text) for text in (change.removed, change.added) if text.isdecimal()]
    return len(numbers) > 1 and numbers[0] >= MIN_TICKING and 0 < numbers[1] - numbers[0] <= MAX_TICK * numbers[0]


def counters_in(hunks: Iterable[Hunk]) -> frozenset[Location]:
    """Return the slots of which several instances on one page grew at once, and none shrank."""
    grown: Counter[Location] = Counter()
    others: set[Location] = set()
    for hunk in hunks:
        # Where an entry replaced another, a number that is larger did not grow.
        is_same = all(change.is_number or change.is_age for change in hunk.segments)
        for change in hunk.segments if is_same else ():
            location = Location(hunk.path, change.slot)
            if change.is_increase or change.is_age:
                grown[location] += 1
            elif change.is_number:
                others.add(location)
    return frozenset(location for location, count in grown.items() if count >= MIN_COUNTERS and location not in others)


def _is_in_upkeep_line(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether another segment of such lines changes by itself; then the line is about the page's upkeep."""
    return hunk.form >= UPKEEP_LINE_SEGMENTS and any(
        _slot_reaches(hunk, slot_number(hunk.form, index, has_digit=digit), WORDS, context)
        for index in range(min(hunk.form, MAX_SEGMENTS))
        for digit in (True, False)
    )


def rotating_in(hunks: Iterable[Hunk], context: ChangeContext) -> frozenset[int]:
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
    names = [name for name in names if not is_time(name)]
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


def is_rotation(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a text of other pages replaced another such text."""
    if hunk.form > 1 and hunk.removed and hunk.added:
        old, new = names_in(hunk.old_marked), names_in(hunk.new_marked)
        old_names, new_names = set(old), set(new)
        sides = [name for name in old if name not in new_names] + [name for name in new if name not in old_names]
        is_both = bool(old_names - new_names) and bool(new_names - old_names)
        return is_both and all(context.site.is_on_other_pages(name, page=context.page_mark) for name in sides)
    return all(
        text and context.site.is_on_other_pages(text, page=context.page_mark) for text in (hunk.removed, hunk.added)
    )


def order_location(path: int) -> Location:
    """Return the location of the order of the entries of a path."""
    return Location(path) if path == MOVED else Location(path, ORDER)


def is_noise_order(path: int, context: ChangeContext) -> bool:
    """Return whether the order of paragraphs differs all the time, or that of entries often, as where they are sorted
    by what happens to them."""
    location = order_location(path)
    limit, recent = (ALWAYS, MANY_RECENT) if path == MOVED else (ORDERING, SOME_RECENT + 1)
    return _reaches(location, limit, context) or _recent_differences(location, context) >= recent


def is_volatile(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the location differs often, which is enough outside the page's own part."""
    named = context.site.locations.get(Location(hunk.name))
    is_calm = named is None and hunk.has_same_name and context.site.visits >= CALM_VISITS
    paths = (hunk.name,) if is_calm or (named is not None and _is_well_known(named)) else (hunk.name, hunk.path)
    return (
        any(_reaches(Location(path), SITE_PART, context) for path in paths)
        or _recent_differences(location_of(hunk), context) >= SOME_RECENT
    )


def is_page_value(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether a part of the site says something about this page: few pages have the text, and it is calm."""
    site = context.site
    is_labelled = not hunk.is_linked and len(hunk.segments) == 1 and has_calm_label(hunk, context)
    # Many pages may have the same value beside a label.
    most = MAX_LABELLED_SHARE if is_labelled else MAX_VALUE_SHARE
    if any(site.page_share(text) >= most for text in (hunk.removed, hunk.added) if text):
        return False
    if any(edit.key in site.edits and site.edits[edit.key].pages >= MIN_SHARED_EDITS for edit in edits_in(hunk)):
        return False
    if is_labelled or _is_edited_statement(hunk, context):
        return True
    is_whole = bool(hunk.removed and hunk.added) or _is_of_this_page(hunk, context)
    # Of a list of links, such as tags, some may be edited; a single link leads to another page that was renamed.
    is_told = not hunk.is_linked or 0 < len(hunk.segments) < hunk.form
    if not is_whole or not is_told or not hunk.has_same_name or site.visits < CALM_VISITS:
        return False
    locations = (Location(hunk.name), *(Location(hunk.name, slot) for slot in slots_of(hunk)))
    known = [site.locations[location] for location in locations if location in site.locations]
    most = SITE_PART.rate if _is_of_this_page(hunk, context) else CALM_RATE
    return all(stats.differed <= 1 or stats.rate < most for stats in known)


def _is_of_this_page(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the texts are statements that no other page has."""
    texts = [text for text in (hunk.removed, hunk.added) if text]
    return all(
        is_statement(text) and not context.site.is_on_other_pages(text, page=context.page_mark) for text in texts
    )


def _is_edited_statement(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether words of a sentence of this page alone were edited; in texts that turn, sentences are replaced."""
    if hunk.is_linked or hunk.is_number or not hunk.is_variation or not _is_of_this_page(hunk, context):
        return False
    return not _slot_reaches(hunk, slots_of(hunk)[0], STATEMENT, context)


def _is_noise_number(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the numbers change at nearly every visit, on several pages or on this one."""
    location = location_of(hunk)
    if has_price(hunk.added):
        return False
    if is_prose(hunk.added):
        return _reaches(location, ALWAYS, context)
    return any(_reaches(seat, ALWAYS, context) for seat in _seats(hunk)) or _is_restless(location, context)


def _is_noise_text(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether the text rotates, or is a label or link that always changes."""
    texts = [text for text in (hunk.removed, hunk.added) if text]
    if _is_rotating_text(hunk, context) or _is_recurring(hunk, texts, context):
        return True
    slot = slots_of(hunk)[0]
    if _has_own_statement(hunk):
        is_shared = all(
            context.site.is_on_other_pages(text, page=context.page_mark, least=MIN_OTHER_PAGES) for text in texts
        )
        return is_shared or (hunk.form <= 1 and _is_turning_statement(hunk, slot, context))
    if hunk.form <= 1 and len(texts) == 1 and (has_age(texts[0]) or is_compact_age(texts[0])):
        return True
    # A line of several facts is noise if such lines come and go, not if one of their facts changes all the time.
    is_judged_by_seat = hunk.form <= 1 or bool(hunk.segments)
    if is_judged_by_seat and any(_reaches(seat, ALWAYS, context) for seat in _seats(hunk)):
        return True
    if slot >= BLOCK_SLOT and _slot_reaches(hunk, slot, BLOCK, context):
        return True
    if len(texts) == 1 and not hunk.is_row and is_count(texts[0]) and _slot_reaches(hunk, slot, COUNTER, context):
        # Counts of nothing are not shown.
        return True
    is_label = hunk.name_position is not RowPosition.WITHIN or hunk.is_linked or hunk.is_variation
    is_label = is_label and (hunk.is_linked or not any(map(is_prose, texts)))
    return is_label and is_judged_by_seat and _is_restless(Location(hunk.name), context)


def _is_recurring(hunk: Hunk, texts: list[str], context: ChangeContext) -> bool:
    """Return whether the texts come and go at a location that differs at every second or third visit to any page."""
    is_often = any(_reaches(location, RECURRING, context) for location in (Location(hunk.name), *_seats(hunk)))
    return is_often and all(context.site.is_recurring(text, least=MIN_REMOVALS) for text in texts)


def _is_rotating_text(hunk: Hunk, context: ChangeContext) -> bool:
    """Return whether texts of other pages rotate here, and this difference is such a rotation.
    At a rotating position new texts are noise too; where blocks share the location, an added one may be content."""
    if any(_is_rotating_seat(context.site.locations.get(seat, LocationStats())) for seat in _seats(hunk)):
        return True
    stats = context.site.locations.get(Location(hunk.name), LocationStats())
    is_rotating = stats.pages >= MIN_ROTATIONS <= stats.rotated and stats.rotation_rate >= MIN_ROTATION_RATE
    return is_rotating and is_rotation(hunk, context) and (hunk.name_position is RowPosition.ALONE or hunk.is_balanced)


def _is_rotating_seat(stats: LocationStats) -> bool:
    """Return whether texts rotate at a position: some are on other pages, or nothing else differs."""
    fewest = max(MIN_ROTATIONS, MIN_ROTATION_SHARE * stats.differed)
    is_known = stats.rotated >= fewest and _is_reached(stats, ROTATION)
    return is_known or (stats.minor >= MIN_MINOR_SHARE * stats.differed and _is_reached(stats, ALWAYS))


def _seats(hunk: Hunk) -> list[Location]:
    """Return the locations where the block is the first, the last or the only one."""
    found = [(hunk.name, hunk.name_position), (hunk.path, hunk.position)]
    return [Location(path, position) for path, position in found if position is not RowPosition.WITHIN]


def _slot_reaches(
    hunk: Hunk, slot: int, limit: Limit, context: ChangeContext, *, label: str = "", is_growing: bool = False
) -> bool:
    """Return whether a slot differs often enough for a limit, and if asked, whether its numbers only grow.
    Class names, words around numbers and labels tell similar slots apart; where they are unknown, the path tells."""
    by_path = context.site.locations.get(Location(hunk.path, slot))
    if by_path is None:
        return False
    rate, spread = by_path.differed / (by_path.compared + QUIET_COMPARISONS), by_path
    least = limit.rate
    known = context.site.locations.get(Location(hunk.name, slot))
    if known is None and limit is VALUE and hunk.has_same_name and context.site.visits >= CALM_VISITS:
        # A value that never differed is not like others of the path.
        return False
    if not _is_known(known) and not is_growing and hunk.is_number and slot < BLOCK_SLOT:
        known = context.site.locations.get(location_of(hunk))
    if known is not None and _is_known(known):
        rate = _mixed_rate(known, rate)
        spread = known if known.pages >= MIN_KNOWN_PAGES or _is_well_known(known) else by_path
    else:
        is_other_line = not hunk.has_same_name and (hunk.form > 1 or not hunk.is_number)
        least = max(limit.rate, NUMBER.rate if is_other_line else UNKNOWN_SLOT_RATE)
    is_reached = rate >= least and _is_spread(spread, limit, is_growing=is_growing)
    labelled = _label_stats(label, hunk, context)
    if labelled is None or not _is_known(labelled):
        return is_reached
    rate = _mixed_rate(labelled, rate)
    is_spread = _is_spread(labelled, limit, is_growing=is_growing)
    if rate < min(limit.rate, CALM_RATE) and _is_well_known(labelled):
        return False
    return is_reached or (rate >= limit.rate and is_spread)


def _mixed_rate(stats: LocationStats, wider: float) -> float:
    """Return the rate of a location; where it was compared a few times, that of the wider one counts too."""
    return (stats.differed + PATH_WEIGHT * wider) / (stats.compared + PATH_WEIGHT)


def _label_stats(label: str, hunk: Hunk, context: ChangeContext) -> LocationStats | None:
    return context.site.locations.get(label_location(label, is_linked=hunk.is_linked)) if label else None


def _is_well_known(stats: LocationStats) -> bool:
    return stats.compared >= CALM_COMPARISONS and stats.seen_pages >= CALM_PAGES


def _is_known(stats: LocationStats | None) -> bool:
    return stats is not None and (stats.pages >= MIN_KNOWN_PAGES or stats.compared >= MIN_KNOWN_COMPARISONS)


def _is_spread(stats: LocationStats, limit: Limit, *, is_growing: bool) -> bool:
    is_on_pages = stats.pages >= limit.pages or stats.differed >= MANY_INSTANCES
    has_grown = not is_growing or stats.rotated >= COUNTER_SHARE * stats.differed
    return is_on_pages and stats.differed >= limit.differed and has_grown


def _reaches(location: Location, limit: Limit, context: ChangeContext) -> bool:
    stats = context.site.locations.get(location)
    return stats is not None and _is_reached(stats, limit)


def _is_reached(stats: LocationStats, limit: Limit) -> bool:
    return stats.pages >= limit.pages and stats.differed >= limit.differed and stats.rate >= limit.rate


def _is_restless(location: Location, context: ChangeContext) -> bool:
    """Return whether a location of this page differed at nearly all of its last visits, and does so on others too."""
    stats = context.site.locations.get(location)
    is_stable = stats is not None and stats.pages >= STABLE_PAGES and stats.rate < STABLE_RATE
    return not is_stable and _recent_differences(location, context) >= MANY_RECENT


def _recent_differences(location: Location, context: ChangeContext) -> int:
    """Return at how many of the last visits to this page the location differed."""
    history = context.page.locations.get(location)
    return history.recent(RECENT_VISITS) if history is not None else 0
