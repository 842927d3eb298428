"""What speaks for noise? How a place fared at earlier visits, here and on the other pages of the site.

A number runs, a label or link varies, texts of a stock take turns: each needs its own evidence. Prices and
prose need the most, because they look like content. What is seen on a single page only must be seen at
nearly all of its last visits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from evercrawl.core.change.change_history import (
    BlockLocation,
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
    own_block_test,
)
from evercrawl.model.change import NO_CHANGE, Change, ChangeClass, Edit

MAX_TODAY_WORDS = 14
"""In a longer text a date is that of an event."""


class ChangeThreshold(NamedTuple):
    """How much a place must have differed on a site: on how many pages, how often, and at which rate."""

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
MIN_ROTATION_SHARE = 0.12
"""Of the differences at a place, so many must have swapped texts of a common stock."""
MIN_ROTATION_RATE = 0.3
MIN_MINOR_SHARE = 0.7
"""So many of the differences at a place must have left the rest of the page alone."""
STABLE_PAGES, STABLE_RATE = 3, 0.5
"""A place that differs less often on so many pages is content that happens to change a lot on this one."""
RECENT_VISITS, MANY_RECENT, SOME_RECENT = 6, 5, 2
MIN_REMOVALS = 3
"""A text that was seen to leave pages so often comes and goes."""
SITEWIDE_PAGES = 3
SITEWIDE_SHARE = 0.8
"""Of the looks at pages since an edit was seen first, so many must have seen it too."""
TEMPLATE_SHARE = 0.75
"""A text on so many pages of the site belongs to all of them."""


class ChangeContext(NamedTuple):
    """What is known when a page is judged."""

    page: PageChangeHistory
    site: SiteChangeHistory
    page_mark: int
    now: datetime | None


def location_of(hunk: Hunk) -> BlockLocation:
    """The exact place of a difference: for numbers, that of the words around them."""
    return BlockLocation(hunk.path, hash_text(text_shape(hunk.added))) if hunk.is_number else BlockLocation(hunk.path)


def row_end_locations(hunk: Hunk) -> tuple[BlockLocation, ...]:
    """The end of a row of blocks at which a difference stands."""
    return (BlockLocation(hunk.path, hunk.seat),) if hunk.seat in (RowPosition.FIRST, RowPosition.LAST) else ()


def locations_of(hunks: Iterable[Hunk]) -> set[BlockLocation]:
    """Where learning remembers differences: exact places, paths, and ends of rows."""
    return {
        place for hunk in hunks for place in (location_of(hunk), BlockLocation(hunk.path), *row_end_locations(hunk))
    }


def is_noise(hunk: Hunk, known: ChangeContext) -> bool:
    """The difference is of a kind that this place shows all the time."""
    if not hunk.is_number:
        return _is_noise_text(hunk, known)
    is_today = known.now is not None and is_todays_date(hunk.added, now=known.now)
    return (is_today and count_words(hunk.added) <= MAX_TODAY_WORDS) or _is_noise_number(hunk, known)


def is_noise_move(known: ChangeContext) -> bool:
    """The order of paragraphs differs all the time."""
    place = BlockLocation(MOVED)
    return _reaches(place, LABEL_THRESHOLD, known) or _recent(place, known) >= MANY_RECENT


def is_volatile(hunk: Hunk, known: ChangeContext) -> bool:
    """The place differs often, here or on other pages; enough for what is not the page's own."""
    return (
        _reaches(BlockLocation(hunk.path), VOLATILE_THRESHOLD, known)
        or _recent(location_of(hunk), known) >= SOME_RECENT
    )


def is_rotation(hunk: Hunk, known: ChangeContext) -> bool:
    """One text that other pages show too took the place of another."""
    sides = (hunk.removed, hunk.added)
    return all(text and known.site.knows_elsewhere(text, page=known.page_mark) for text in sides)


def is_sitewide(hunk: Hunk, known: ChangeContext) -> bool:
    """The same edit was made on nearly all pages that were looked at since it was seen first.

    One page before this is enough outside the page's own part, unless that place is restless, and for a
    text that nearly all pages had.
    """
    site = known.site
    least = 1
    is_rare = hunk.is_own and site.share_with(hunk.removed) < TEMPLATE_SHARE
    if is_rare and hunk.is_number and not hunk.is_metadata:
        # Pages of one make may all count one up at the same time, each in words of its own.
        return False
    if is_rare or (not hunk.is_own and is_volatile(hunk, known)):
        least = SITEWIDE_PAGES
    parts = [(is_sitewide_key(site, part.key, least=least), part.text) for part in edits_in(hunk)]
    if not any(is_same for is_same, _ in parts):
        return False
    return not hunk.is_own or all(is_same or site.comes_and_goes(text, least=1) for is_same, text in parts)


def is_sitewide_key(site: SiteChangeHistory, key: int, *, least: int = SITEWIDE_PAGES) -> bool:
    """The edit with this key was seen on enough pages, and on nearly all since the first of them."""
    same = site.edits.get(key)
    if same is None:
        return False
    return same.pages >= max(least, SITEWIDE_SHARE * (site.looks - same.looks_before))


def _is_noise_number(hunk: Hunk, known: ChangeContext) -> bool:
    """Numbers that run: on several pages at nearly every visit, or on this page at least."""
    place = location_of(hunk)
    if has_price(hunk.added):
        return _reaches(place, PRICE_THRESHOLD, known)
    if is_prose(hunk.added):
        return _reaches(place, PROSE_NUMBER_THRESHOLD, known)
    if _reaches(place, NUMBER_THRESHOLD, known) or _has_lively_seat(hunk, known):
        return True
    return not _is_calm(place, known) and _recent(place, known) >= MANY_RECENT


def _is_noise_text(hunk: Hunk, known: ChangeContext) -> bool:
    """Text that rotates: from a stock that other pages draw on too, or labels and links without end."""
    texts = [text for text in (hunk.removed, hunk.added) if text]
    place = BlockLocation(hunk.path)
    is_statement = any(map(is_prose, texts)) and not hunk.is_linked
    is_label = not is_statement and (hunk.seat is not RowPosition.WITHIN or hunk.is_linked or hunk.is_variation)
    if not hunk.is_metadata:
        if _takes_turns(hunk, known):
            return True
        if is_label and (_has_lively_seat(hunk, known) or _reaches(place, LABEL_THRESHOLD, known)):
            return True
        if _is_lively_enough(hunk, known) and all(
            known.site.comes_and_goes(text, least=MIN_REMOVALS) for text in texts
        ):
            return True
    return is_label and not _is_calm(place, known) and _recent(place, known) >= MANY_RECENT


def _takes_turns(hunk: Hunk, known: ChangeContext) -> bool:
    """Texts of a common stock take turns at this place, and this difference is one of these turns.

    Where a seat is given to such texts, new ones are no news either. Where other blocks share the place and
    more came than went, one may be the author's, who may use a sentence on many pages.
    """
    if _has_seat_of_turns(hunk, known):
        return True
    habit = known.site.places.get(BlockLocation(hunk.path), LocationStats())
    is_lively = habit.pages >= MIN_ROTATIONS <= habit.swapped and habit.swap_rate >= MIN_ROTATION_RATE
    return is_lively and is_rotation(hunk, known) and (hunk.seat is RowPosition.ALONE or hunk.is_balanced)


def _has_seat_of_turns(hunk: Hunk, known: ChangeContext) -> bool:
    """Texts take turns at this seat: some were seen elsewhere too, or nothing else on the page differs."""
    if hunk.seat is RowPosition.WITHIN:
        return False
    place = BlockLocation(hunk.path, hunk.seat)
    habit = known.site.places.get(place, LocationStats())
    if _reaches(place, ROTATION_THRESHOLD, known):
        fewest = max(MIN_ROTATIONS, MIN_ROTATION_SHARE * habit.differed)
        if habit.swapped >= fewest:
            return True
    is_minor = habit.minor >= MIN_MINOR_SHARE * habit.differed
    return is_minor and _reaches(place, UNSEEN_ROTATION_THRESHOLD, known)


def _is_lively_enough(hunk: Hunk, known: ChangeContext) -> bool:
    """Something differs here at every second or third visit to any page."""
    seat = BlockLocation(hunk.path, hunk.seat if hunk.seat is not RowPosition.WITHIN else RowPosition.ALONE)
    return _reaches(BlockLocation(hunk.path), RECURRING_THRESHOLD, known) or _reaches(seat, RECURRING_THRESHOLD, known)


def _has_lively_seat(hunk: Hunk, known: ChangeContext) -> bool:
    return hunk.seat is not RowPosition.WITHIN and _reaches(BlockLocation(hunk.path, hunk.seat), LABEL_THRESHOLD, known)


def _reaches(place: BlockLocation, bar: ChangeThreshold, known: ChangeContext) -> bool:
    habit = known.site.places.get(place)
    return habit is not None and habit.pages >= bar.pages and habit.differed >= bar.differed and habit.rate >= bar.rate


def _is_calm(place: BlockLocation, known: ChangeContext) -> bool:
    habit = known.site.places.get(place)
    return habit is not None and habit.pages >= STABLE_PAGES and habit.rate < STABLE_RATE


def _recent(place: BlockLocation, known: ChangeContext) -> int:
    """At how many of the last visits to this page the place differed."""
    history = known.page.places.get(place)
    return history.recent(RECENT_VISITS) if history is not None else 0


MAX_EDITS = 8
MAX_EDIT_CHARS = 200
METADATA_FIELDS = 4
PAGE_MAJORITY = 0.5
"""A page of which this share of the own words is set aside as noise has nothing else to say."""
MAX_HUNKS = 300
"""A page with more differences is another page; the rest of them count as they are."""


class HunkClass(Enum):
    """What a difference is."""

    NOISE = 0
    TEMPLATE = 1
    METADATA = 2
    CONTENT = 3


class ClassifiedChange(NamedTuple):
    """The change, and what it was made of: each difference with its verdict."""

    change: Change
    verdicts: list[tuple[Hunk, HunkClass]]
    has_moved: bool


def compare(before: bytes | str, after: bytes | str, *, page_url: str = "") -> Change:
    """The change between two versions of a page, of which nothing else is known."""
    if before == after:
        return NO_CHANGE
    nothing = ChangeContext(PageChangeHistory(), SiteChangeHistory(), 0, None)
    return classify_change(snapshot_html(before), snapshot_html(after), nothing).change


def classify_change(before: Snapshot, after: Snapshot, known: ChangeContext) -> ClassifiedChange:
    """The change between two snapshots, after all that is known."""
    found = diff_snapshots(before, after)
    verdicts = [(hunk, classify_hunk(hunk, known)) for hunk in found.hunks[:MAX_HUNKS]]
    if _is_most_of_the_page(before, after, verdicts):
        verdicts = [(hunk, HunkClass.CONTENT if _is_doubtful(hunk, verdict) else verdict) for hunk, verdict in verdicts]
    rest = [hunk for hunk in found.hunks[MAX_HUNKS:] if hunk.is_own]
    verdicts += [(hunk, HunkClass.CONTENT) for hunk in rest]
    return ClassifiedChange(_change(before, after, found, verdicts, known), verdicts, bool(found.moved))


def classify_hunk(hunk: Hunk, known: ChangeContext) -> HunkClass:
    """What one difference is."""
    if is_sitewide(hunk, known):
        return HunkClass.TEMPLATE
    if is_noise(hunk, known):
        return HunkClass.NOISE
    if not hunk.is_own:
        return HunkClass.NOISE if is_volatile(hunk, known) else HunkClass.TEMPLATE
    if hunk.path == TITLE and known.site.share_with(hunk.removed) >= TEMPLATE_SHARE:
        return HunkClass.TEMPLATE
    return HunkClass.METADATA if hunk.is_metadata else HunkClass.CONTENT


def _is_doubtful(hunk: Hunk, verdict: HunkClass) -> bool:
    """In the page's own part, and set aside as a running number or because other pages had the same edit."""
    set_aside = verdict is HunkClass.TEMPLATE or (verdict is HunkClass.NOISE and hunk.is_number)
    return set_aside and hunk.is_own and not hunk.is_metadata


def _is_most_of_the_page(before: Snapshot, after: Snapshot, verdicts: list[tuple[Hunk, HunkClass]]) -> bool:
    """What was set aside is most of what the page says: then the page is about that."""
    doubtful = [hunk for hunk, verdict in verdicts if _is_doubtful(hunk, verdict)]
    words = sum(max(len(hunk.removed.split()), len(hunk.added.split())) for hunk in doubtful)
    return bool(doubtful) and words >= PAGE_MAJORITY * max(_own_words(before), _own_words(after))


def _change(
    before: Snapshot, after: Snapshot, found: SnapshotDiff, verdicts: list[tuple[Hunk, HunkClass]], known: ChangeContext
) -> Change:
    own = [hunk for hunk, verdict in verdicts if verdict is HunkClass.CONTENT]
    metadata = [hunk for hunk, verdict in verdicts if verdict is HunkClass.METADATA]
    moved = [] if is_noise_move(known) else found.moved
    template = _template_parts(verdicts, known)
    kind, size, keyed = ChangeClass.NOISE, 0.0, template
    if own or moved:
        kind, size, keyed = ChangeClass.CONTENT, _size(before, after, own), _parts(own)
    elif metadata:
        kind, size, keyed = ChangeClass.METADATA, min(1.0, len(metadata) / METADATA_FIELDS), _parts(metadata)
    edits = _edits(_parts(own + metadata), is_template=False) + _edits(template, is_template=True)
    return Change(kind, size, tuple(edits), combine_keys({part.key for part in keyed}))


def _parts(hunks: list[Hunk]) -> list[KeyedEdit]:
    return [part for hunk in hunks for part in edits_in(hunk)]


def _template_parts(verdicts: list[tuple[Hunk, HunkClass]], known: ChangeContext) -> list[KeyedEdit]:
    """Edits of the template, and those parts of noise that are made everywhere: in a place where texts
    take turns, something new may have come for good.
    """
    return [
        part
        for hunk, verdict in verdicts
        for part in edits_in(hunk)
        if verdict is HunkClass.TEMPLATE or (verdict is HunkClass.NOISE and is_sitewide_key(known.site, part.key))
    ]


def _edits(parts: list[KeyedEdit], *, is_template: bool) -> list[Edit]:
    return [
        Edit(part.key, is_template, part.removed[:MAX_EDIT_CHARS], part.added[:MAX_EDIT_CHARS])
        for part in parts[:MAX_EDITS]
    ]


def _size(before: Snapshot, after: Snapshot, own: list[Hunk]) -> float:
    """The share of the page's own words that differ; never 0 for a change."""
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
