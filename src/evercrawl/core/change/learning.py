"""What a visit teaches: the change it saw, and what page and site are remembered by from now on.

Nothing is hidden for ever. The history of a page's place is that of its last visits, the habit of a site's
place is halved again and again, and a text that nobody else has is content whatever the place did before.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from xxhash import xxh32_intdigest

from evercrawl.core.change.change_history import (
    MOST_COUNTED,
    MOST_LEAVINGS,
    MOST_PAGE_EDITS,
    Habit,
    History,
    PageMemory,
    Place,
    SameEdit,
    SiteMemory,
    Spread,
    bounded_places,
    bounded_texts,
    hash_of,
    lasting_places,
    newest,
    seen_again,
)
from evercrawl.core.change.classify import (
    MOST_JUDGED,
    Known,
    Verdict,
    is_everywhere,
    is_swap,
    judged,
    places_of,
    seat_places,
)
from evercrawl.core.change.noise import shape
from evercrawl.core.change.snapshot import Snapshot
from evercrawl.core.change.snapshot_diff import MOVED, Hunk, Seat, own_test, parts_of, title_pieces
from evercrawl.model.change import Change

LONGEST_SHARED_TEXT = 400
"""Longer blocks are the page's own; they are not remembered for the site."""
MOST_QUIET = 8
"""So many visits without any difference count at most for a place's habit: pages that are asked often must
not outweigh the others.
"""
FIRST_VISIT = 1
PAGE_MARK = 0xFFFF
MINOR_SHARE = 0.3


def meet(snapshot: Snapshot, site: SiteMemory, *, page_url: str) -> SiteMemory:
    """The site's memory once a page was seen for the first time."""
    texts = dict(site.texts)
    shown = (*snapshot.texts, *title_pieces(snapshot.metadata.title))
    _add_texts(texts, shown, page=_mark(page_url))
    return SiteMemory(site.pages + 1, site.looks, site.places, bounded_texts(texts), site.edits)


def judge_visit(
    before: Snapshot,
    after: Snapshot,
    page_memory: PageMemory,
    site_memory: SiteMemory,
    *,
    now: datetime,
    page_url: str,
    visit: int,
) -> tuple[Change, PageMemory, SiteMemory]:
    """The change between the last version that was compared and this one, with both memories after it.

    `visit` is the number of this visit to the page, the first being 1. Visits between the last comparison
    and this one found the same bytes, or the server said that nothing was new: they speak for calm.
    """
    number = max(visit, page_memory.visit + 1)
    quiet = max(0, number - max(page_memory.visit, FIRST_VISIT) - 1)
    mark = _mark(page_url)
    rested = page_memory.rested(quiet)
    known = Known(rested, site_memory, mark, now)
    result = judged(before, after, known)
    hunks = [hunk for hunk, _ in result.verdicts[:MOST_JUDGED]]
    # An edit that is made everywhere at once says nothing about the habits of its place.
    own_doing = [hunk for hunk in hunks if not is_everywhere(hunk, known)]
    moved = {Place(MOVED)} if result.has_moved else set()
    made = {part.key for hunk in hunks for part in parts_of(hunk)}
    page_after = PageMemory(
        number,
        _page_places(rested, places_of(hunks) | moved),
        _page_edits(page_memory.edits, result.verdicts[:MOST_JUDGED], site_memory),
    )
    site_after = SiteMemory(
        site_memory.pages,
        site_memory.looks + 1,
        _site_places(known, before, after, own_doing, moved, compared=1 + min(quiet, MOST_QUIET)),
        _site_texts(site_memory, hunks, page=mark),
        _site_edits(site_memory, made, made_before=page_memory.edits),
    )
    return result.change, page_after, site_after


def _mark(page_url: str) -> int:
    return xxh32_intdigest(page_url.encode("utf-8", "surrogatepass")) & PAGE_MARK


def _page_places(memory: PageMemory, differed: set[Place]) -> dict[Place, History]:
    places = {place: past.then(differed=place in differed) for place, past in memory.places.items()}
    places |= {place: History().then(differed=True) for place in differed if place not in places}
    return lasting_places(places.items())


def _site_places(
    known: Known, before: Snapshot, after: Snapshot, hunks: list[Hunk], moved: set[Place], *, compared: int
) -> dict[Place, Habit]:
    """The habits of all places that this page has; a place gets one when it differs for the first time."""
    page = known.page_mark
    differed = places_of(hunks) | moved
    swaps = [hunk for hunk in hunks if is_swap(hunk, known)]
    swapped = {place for hunk in swaps for place in (Place(hunk.path), *seat_places(hunk))}
    is_minor = _is_minor(after, hunks)
    places = dict(known.site.places)
    for place in _places_in(known.site.places, before, after) - differed:
        places[place] = places[place].then(compared=compared, page=page)
    for place in differed:
        habit = places.get(place)
        looks = 1 if habit is None else compared
        places[place] = (habit or Habit()).then(
            compared=looks, page=page, differed=True, swapped=place in swapped, minor=is_minor
        )
    return bounded_places(places)


def _is_minor(after: Snapshot, hunks: list[Hunk]) -> bool:
    """What differs in the page's own part is small beside what stayed."""
    is_own = own_test(after)
    own_chars = sum(len(text) for flag, text in zip(after.flags, after.texts, strict=True) if is_own(flag))
    own_hunks = [hunk for hunk in hunks if hunk.is_own and not hunk.is_metadata]
    return sum(max(len(hunk.removed), len(hunk.added)) for hunk in own_hunks) <= MINOR_SHARE * own_chars


def _places_in(places: dict[Place, Habit], before: Snapshot, after: Snapshot) -> set[Place]:
    """Those of the places that the page has; words around numbers must have stayed to be compared."""
    shaped = {place.path for place in places if place.shape > Seat.WITHIN}
    paths = {*before.paths, *after.paths}
    found = {Place(path, seat) for path in paths for seat in (Seat.ALONE, Seat.FIRST, Seat.LAST)}
    found |= _shaped_places(before, shaped) & _shaped_places(after, shaped)
    found.add(Place(MOVED))
    return found & places.keys()


def _shaped_places(snapshot: Snapshot, paths: set[int]) -> set[Place]:
    blocks = zip(snapshot.paths, snapshot.texts, strict=True)
    return {Place(path, hash_of(shape(text))) for path, text in blocks if path in paths}


def _site_texts(site: SiteMemory, hunks: list[Hunk], *, page: int) -> dict[int, Spread]:
    if not hunks:
        return site.texts
    texts = dict(site.texts)
    for key in {hash_of(hunk.removed) for hunk in hunks if hunk.removed} & texts.keys():
        spread = texts[key]
        left = min(spread.left + 1, MOST_LEAVINGS)
        texts[key] = spread._replace(pages=max(0, spread.pages - 1), left=left)
    _add_texts(texts, (hunk.added for hunk in hunks), page=page)
    return bounded_texts(texts)


def _add_texts(texts: dict[int, Spread], added: Iterable[str], *, page: int) -> None:
    for key in {hash_of(text) for text in added if 0 < len(text) <= LONGEST_SHARED_TEXT}:
        spread = texts.pop(key, None)
        # Put in anew, so that the order of the entries is that of their last use.
        texts[key] = (
            Spread(1, page) if spread is None else Spread(min(spread.pages + 1, MOST_COUNTED), page, spread.left)
        )


def _site_edits(site: SiteMemory, made: set[int], *, made_before: tuple[int, ...]) -> dict[int, SameEdit]:
    """The edits that this page shows were made on one page more; they are the newest."""
    known = seen_again(site.edits, set(made_before) - made)
    edits = {key: same for key, same in known.items() if key not in made}
    for key in made:
        same = known.get(key, SameEdit(0, site.looks))
        edits[key] = same._replace(pages=min(same.pages + 1, MOST_COUNTED))
    return newest(edits)


def _page_edits(before: tuple[int, ...], verdicts: list[tuple[Hunk, Verdict]], site: SiteMemory) -> tuple[int, ...]:
    """The newest edits of this page that may have been made on others too."""
    made = [
        part.key
        for hunk, verdict in verdicts
        for part in parts_of(hunk)
        if verdict is not Verdict.NOISE or part.key in site.edits
    ]
    return tuple(dict.fromkeys((*before, *made)))[-MOST_PAGE_EDITS:]
