"""What speaks for noise? How a place fared at earlier visits, here and on the other pages of the site.

A number runs, a label or link varies, texts of a stock take turns: each needs its own evidence. Prices and
prose need the most, because they look like content. What is seen on a single page only must be seen at
nearly all of its last visits.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from evercrawl.core.change.difference import MOVED, Hunk, Seat
from evercrawl.core.change.edit import parts_of
from evercrawl.core.change.memory import Habit, PageMemory, Place, SiteMemory, hash_of
from evercrawl.core.change.noise import has_money, is_prose, is_todays_date, shape, words_in

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
