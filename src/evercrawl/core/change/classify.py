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

from evercrawl.core.change.change_history import Habit, PageMemory, Place, SiteMemory, hash_of
from evercrawl.core.change.noise import has_money, is_prose, is_todays_date, shape, words_in
from evercrawl.core.change.snapshot import Snapshot, snapshot_of_html
from evercrawl.core.change.snapshot_diff import (
    MOVED,
    TITLE,
    Difference,
    Hunk,
    Part,
    Seat,
    difference,
    joined_key,
    own_test,
    parts_of,
)
from evercrawl.model.change import NO_CHANGE, Change, ChangeClass, Edit

TODAY_WORDS = 14
"""In a longer text a date is that of an event."""


class Bar(NamedTuple):
    """How much a place must have differed on a site: on how many pages, how often, and at which rate."""

    pages: int
    differed: int
    rate: float


RUNNING = Bar(pages=2, differed=2, rate=0.75)
RUNNING_PROSE = Bar(pages=3, differed=4, rate=0.8)
RUNNING_PRICE = Bar(pages=3, differed=10, rate=0.9)
LIVELY = Bar(pages=3, differed=3, rate=0.8)
RESTLESS = Bar(pages=1, differed=3, rate=0.25)
COMING_AND_GOING = Bar(pages=2, differed=3, rate=0.4)
TAKEN_IN_TURNS = Bar(pages=3, differed=4, rate=0.7)
TAKEN_IN_TURNS_BY_STRANGERS = Bar(pages=4, differed=4, rate=0.9)

FEWEST_SWAPS = 2
FEWEST_SWAPS_SHARE = 0.12
"""Of the differences at a place, so many must have swapped texts of a common stock."""
SWAP_RATE = 0.3
MINOR_SHARE = 0.7
"""So many of the differences at a place must have left the rest of the page alone."""
CALM_PAGES, CALM_RATE = 3, 0.5
"""A place that differs less often on so many pages is content that happens to change a lot on this one."""
LAST_VISITS, MOST_OF_THEM, SOME_OF_THEM = 6, 5, 2
RESTLESS_LEAVINGS = 3
"""A text that was seen to leave pages so often comes and goes."""
SAME_EDIT_PAGES = 3
SAME_EDIT_SHARE = 0.8
"""Of the looks at pages since an edit was seen first, so many must have seen it too."""
TEMPLATE_SHARE = 0.75
"""A text on so many pages of the site belongs to all of them."""


class Known(NamedTuple):
    """What is known when a page is judged."""

    page: PageMemory
    site: SiteMemory
    page_mark: int
    now: datetime | None


def place_of(hunk: Hunk) -> Place:
    """The exact place of a difference: for numbers, that of the words around them."""
    return Place(hunk.path, hash_of(shape(hunk.added))) if hunk.is_number else Place(hunk.path)


def seat_places(hunk: Hunk) -> tuple[Place, ...]:
    """The end of a row of blocks at which a difference stands."""
    return (Place(hunk.path, hunk.seat),) if hunk.seat in (Seat.FIRST, Seat.LAST) else ()


def places_of(hunks: Iterable[Hunk]) -> set[Place]:
    """Where learning remembers differences: exact places, paths, and ends of rows."""
    return {place for hunk in hunks for place in (place_of(hunk), Place(hunk.path), *seat_places(hunk))}


def is_noise(hunk: Hunk, known: Known) -> bool:
    """The difference is of a kind that this place shows all the time."""
    if not hunk.is_number:
        return _is_noise_text(hunk, known)
    is_today = known.now is not None and is_todays_date(hunk.added, now=known.now)
    return (is_today and words_in(hunk.added) <= TODAY_WORDS) or _is_noise_number(hunk, known)


def is_noise_move(known: Known) -> bool:
    """The order of paragraphs differs all the time."""
    place = Place(MOVED)
    return _reaches(place, LIVELY, known) or _recent(place, known) >= MOST_OF_THEM


def is_restless(hunk: Hunk, known: Known) -> bool:
    """The place differs often, here or on other pages; enough for what is not the page's own."""
    return _reaches(Place(hunk.path), RESTLESS, known) or _recent(place_of(hunk), known) >= SOME_OF_THEM


def is_swap(hunk: Hunk, known: Known) -> bool:
    """One text that other pages show too took the place of another."""
    sides = (hunk.removed, hunk.added)
    return all(text and known.site.knows_elsewhere(text, page=known.page_mark) for text in sides)


def is_everywhere(hunk: Hunk, known: Known) -> bool:
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
    if is_rare or (not hunk.is_own and is_restless(hunk, known)):
        least = SAME_EDIT_PAGES
    parts = [(is_same_everywhere(site, part.key, least=least), part.text) for part in parts_of(hunk)]
    if not any(is_same for is_same, _ in parts):
        return False
    return not hunk.is_own or all(is_same or site.comes_and_goes(text, least=1) for is_same, text in parts)


def is_same_everywhere(site: SiteMemory, key: int, *, least: int = SAME_EDIT_PAGES) -> bool:
    """The edit with this key was seen on enough pages, and on nearly all since the first of them."""
    same = site.edits.get(key)
    if same is None:
        return False
    return same.pages >= max(least, SAME_EDIT_SHARE * (site.looks - same.looks_before))


def _is_noise_number(hunk: Hunk, known: Known) -> bool:
    """Numbers that run: on several pages at nearly every visit, or on this page at least."""
    place = place_of(hunk)
    if has_money(hunk.added):
        return _reaches(place, RUNNING_PRICE, known)
    if is_prose(hunk.added):
        return _reaches(place, RUNNING_PROSE, known)
    if _reaches(place, RUNNING, known) or _has_lively_seat(hunk, known):
        return True
    return not _is_calm(place, known) and _recent(place, known) >= MOST_OF_THEM


def _is_noise_text(hunk: Hunk, known: Known) -> bool:
    """Text that rotates: from a stock that other pages draw on too, or labels and links without end."""
    texts = [text for text in (hunk.removed, hunk.added) if text]
    place = Place(hunk.path)
    is_statement = any(map(is_prose, texts)) and not hunk.is_linked
    is_label = not is_statement and (hunk.seat is not Seat.WITHIN or hunk.is_linked or hunk.is_variation)
    if not hunk.is_metadata:
        if _takes_turns(hunk, known):
            return True
        if is_label and (_has_lively_seat(hunk, known) or _reaches(place, LIVELY, known)):
            return True
        if _is_lively_enough(hunk, known) and all(
            known.site.comes_and_goes(text, least=RESTLESS_LEAVINGS) for text in texts
        ):
            return True
    return is_label and not _is_calm(place, known) and _recent(place, known) >= MOST_OF_THEM


def _takes_turns(hunk: Hunk, known: Known) -> bool:
    """Texts of a common stock take turns at this place, and this difference is one of these turns.

    Where a seat is given to such texts, new ones are no news either. Where other blocks share the place and
    more came than went, one may be the author's, who may use a sentence on many pages.
    """
    if _has_seat_of_turns(hunk, known):
        return True
    habit = known.site.places.get(Place(hunk.path), Habit())
    is_lively = habit.pages >= FEWEST_SWAPS <= habit.swapped and habit.swap_rate >= SWAP_RATE
    return is_lively and is_swap(hunk, known) and (hunk.seat is Seat.ALONE or hunk.is_balanced)


def _has_seat_of_turns(hunk: Hunk, known: Known) -> bool:
    """Texts take turns at this seat: some were seen elsewhere too, or nothing else on the page differs."""
    if hunk.seat is Seat.WITHIN:
        return False
    place = Place(hunk.path, hunk.seat)
    habit = known.site.places.get(place, Habit())
    if _reaches(place, TAKEN_IN_TURNS, known):
        fewest = max(FEWEST_SWAPS, FEWEST_SWAPS_SHARE * habit.differed)
        if habit.swapped >= fewest:
            return True
    is_minor = habit.minor >= MINOR_SHARE * habit.differed
    return is_minor and _reaches(place, TAKEN_IN_TURNS_BY_STRANGERS, known)


def _is_lively_enough(hunk: Hunk, known: Known) -> bool:
    """Something differs here at every second or third visit to any page."""
    seat = Place(hunk.path, hunk.seat if hunk.seat is not Seat.WITHIN else Seat.ALONE)
    return _reaches(Place(hunk.path), COMING_AND_GOING, known) or _reaches(seat, COMING_AND_GOING, known)


def _has_lively_seat(hunk: Hunk, known: Known) -> bool:
    return hunk.seat is not Seat.WITHIN and _reaches(Place(hunk.path, hunk.seat), LIVELY, known)


def _reaches(place: Place, bar: Bar, known: Known) -> bool:
    habit = known.site.places.get(place)
    return habit is not None and habit.pages >= bar.pages and habit.differed >= bar.differed and habit.rate >= bar.rate


def _is_calm(place: Place, known: Known) -> bool:
    habit = known.site.places.get(place)
    return habit is not None and habit.pages >= CALM_PAGES and habit.rate < CALM_RATE


def _recent(place: Place, known: Known) -> int:
    """At how many of the last visits to this page the place differed."""
    history = known.page.places.get(place)
    return history.recent(LAST_VISITS) if history is not None else 0


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
