"""What a visit teaches: the change it saw, and what page and site are remembered by from now on.

Nothing is hidden for ever. The history of a page's place is that of its last visits, the habit of a site's
place is halved again and again, and a text that nobody else has is content whatever the place did before.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from xxhash import xxh32_intdigest

from evercrawl.core.change.change_history import (
    MAX_PAGE_COUNT,
    MAX_PAGE_EDITS,
    MAX_REMOVALS,
    BlockLocation,
    EditSpread,
    LocationHistory,
    LocationStats,
    PageChangeHistory,
    SiteChangeHistory,
    TextSpread,
    active_locations,
    count_repeat_visit,
    hash_text,
    limit_locations,
    limit_texts,
    newest_edits,
)
from evercrawl.core.change.classify import (
    MAX_HUNKS,
    ChangeContext,
    HunkClass,
    classify_change,
    is_rotation,
    is_sitewide,
    locations_of,
    row_end_locations,
)
from evercrawl.core.change.noise import text_shape
from evercrawl.core.change.snapshot import Snapshot
from evercrawl.core.change.snapshot_diff import MOVED, Hunk, RowPosition, edits_in, own_block_test, title_parts
from evercrawl.model.change import Change

MAX_SHARED_TEXT_CHARS = 400
"""Longer blocks are the page's own; they are not remembered for the site."""
MAX_UNCHANGED_VISITS = 8
"""So many visits without any difference count at most for a place's habit: pages that are asked often must
not outweigh the others.
"""
FIRST_VISIT = 1
PAGE_MARK = 0xFFFF
MAX_MINOR_SHARE = 0.3


def learn_page(snapshot: Snapshot, site: SiteChangeHistory, *, page_url: str) -> SiteChangeHistory:
    """The site's memory once a page was seen for the first time."""
    texts = dict(site.texts)
    shown = (*snapshot.texts, *title_parts(snapshot.metadata.title))
    _add_texts(texts, shown, page=_mark(page_url))
    return SiteChangeHistory(site.pages + 1, site.looks, site.places, limit_texts(texts), site.edits)


def classify_visit(
    before: Snapshot,
    after: Snapshot,
    page_memory: PageChangeHistory,
    site_memory: SiteChangeHistory,
    *,
    now: datetime,
    page_url: str,
    visit: int,
) -> tuple[Change, PageChangeHistory, SiteChangeHistory]:
    """The change between the last version that was compared and this one, with both memories after it.

    `visit` is the number of this visit to the page, the first being 1. Visits between the last comparison
    and this one found the same bytes, or the server said that nothing was new: they speak for calm.
    """
    number = max(visit, page_memory.visit + 1)
    quiet = max(0, number - max(page_memory.visit, FIRST_VISIT) - 1)
    mark = _mark(page_url)
    rested = page_memory.rested(quiet)
    known = ChangeContext(rested, site_memory, mark, now)
    result = classify_change(before, after, known)
    hunks = [hunk for hunk, _ in result.verdicts[:MAX_HUNKS]]
    # An edit that is made everywhere at once says nothing about the habits of its place.
    own_doing = [hunk for hunk in hunks if not is_sitewide(hunk, known)]
    moved = {BlockLocation(MOVED)} if result.has_moved else set()
    made = {part.key for hunk in hunks for part in edits_in(hunk)}
    page_after = PageChangeHistory(
        number,
        _page_places(rested, locations_of(hunks) | moved),
        _page_edits(page_memory.edits, result.verdicts[:MAX_HUNKS], site_memory),
    )
    site_after = SiteChangeHistory(
        site_memory.pages,
        site_memory.looks + 1,
        _site_places(known, before, after, own_doing, moved, compared=1 + min(quiet, MAX_UNCHANGED_VISITS)),
        _site_texts(site_memory, hunks, page=mark),
        _site_edits(site_memory, made, made_before=page_memory.edits),
    )
    return result.change, page_after, site_after


def _mark(page_url: str) -> int:
    return xxh32_intdigest(page_url.encode("utf-8", "surrogatepass")) & PAGE_MARK


def _page_places(memory: PageChangeHistory, differed: set[BlockLocation]) -> dict[BlockLocation, LocationHistory]:
    places = {place: past.then(differed=place in differed) for place, past in memory.places.items()}
    places |= {place: LocationHistory().then(differed=True) for place in differed if place not in places}
    return active_locations(places.items())


def _site_places(
    known: ChangeContext,
    before: Snapshot,
    after: Snapshot,
    hunks: list[Hunk],
    moved: set[BlockLocation],
    *,
    compared: int,
) -> dict[BlockLocation, LocationStats]:
    """The habits of all places that this page has; a place gets one when it differs for the first time."""
    page = known.page_mark
    differed = locations_of(hunks) | moved
    swaps = [hunk for hunk in hunks if is_rotation(hunk, known)]
    swapped = {place for hunk in swaps for place in (BlockLocation(hunk.path), *row_end_locations(hunk))}
    is_minor = _is_minor(after, hunks)
    places = dict(known.site.places)
    for place in _places_in(known.site.places, before, after) - differed:
        places[place] = places[place].then(compared=compared, page=page)
    for place in differed:
        habit = places.get(place)
        looks = 1 if habit is None else compared
        places[place] = (habit or LocationStats()).then(
            compared=looks, page=page, differed=True, swapped=place in swapped, minor=is_minor
        )
    return limit_locations(places)


def _is_minor(after: Snapshot, hunks: list[Hunk]) -> bool:
    """What differs in the page's own part is small beside what stayed."""
    is_own = own_block_test(after)
    own_chars = sum(len(text) for flag, text in zip(after.flags, after.texts, strict=True) if is_own(flag))
    own_hunks = [hunk for hunk in hunks if hunk.is_own and not hunk.is_metadata]
    return sum(max(len(hunk.removed), len(hunk.added)) for hunk in own_hunks) <= MAX_MINOR_SHARE * own_chars


def _places_in(places: dict[BlockLocation, LocationStats], before: Snapshot, after: Snapshot) -> set[BlockLocation]:
    """Those of the places that the page has; words around numbers must have stayed to be compared."""
    shaped = {place.path for place in places if place.shape > RowPosition.WITHIN}
    paths = {*before.paths, *after.paths}
    found = {
        BlockLocation(path, seat) for path in paths for seat in (RowPosition.ALONE, RowPosition.FIRST, RowPosition.LAST)
    }
    found |= _shaped_places(before, shaped) & _shaped_places(after, shaped)
    found.add(BlockLocation(MOVED))
    return found & places.keys()


def _shaped_places(snapshot: Snapshot, paths: set[int]) -> set[BlockLocation]:
    blocks = zip(snapshot.paths, snapshot.texts, strict=True)
    return {BlockLocation(path, hash_text(text_shape(text))) for path, text in blocks if path in paths}


def _site_texts(site: SiteChangeHistory, hunks: list[Hunk], *, page: int) -> dict[int, TextSpread]:
    if not hunks:
        return site.texts
    texts = dict(site.texts)
    for key in {hash_text(hunk.removed) for hunk in hunks if hunk.removed} & texts.keys():
        spread = texts[key]
        left = min(spread.left + 1, MAX_REMOVALS)
        texts[key] = spread._replace(pages=max(0, spread.pages - 1), left=left)
    _add_texts(texts, (hunk.added for hunk in hunks), page=page)
    return limit_texts(texts)


def _add_texts(texts: dict[int, TextSpread], added: Iterable[str], *, page: int) -> None:
    for key in {hash_text(text) for text in added if 0 < len(text) <= MAX_SHARED_TEXT_CHARS}:
        spread = texts.pop(key, None)
        # Put in anew, so that the order of the entries is that of their last use.
        texts[key] = (
            TextSpread(1, page)
            if spread is None
            else TextSpread(min(spread.pages + 1, MAX_PAGE_COUNT), page, spread.left)
        )


def _site_edits(site: SiteChangeHistory, made: set[int], *, made_before: tuple[int, ...]) -> dict[int, EditSpread]:
    """The edits that this page shows were made on one page more; they are the newest."""
    known = count_repeat_visit(site.edits, set(made_before) - made)
    edits = {key: same for key, same in known.items() if key not in made}
    for key in made:
        same = known.get(key, EditSpread(0, site.looks))
        edits[key] = same._replace(pages=min(same.pages + 1, MAX_PAGE_COUNT))
    return newest_edits(edits)


def _page_edits(
    before: tuple[int, ...], verdicts: list[tuple[Hunk, HunkClass]], site: SiteChangeHistory
) -> tuple[int, ...]:
    """The newest edits of this page that may have been made on others too."""
    made = [
        part.key
        for hunk, verdict in verdicts
        for part in edits_in(hunk)
        if verdict is not HunkClass.NOISE or part.key in site.edits
    ]
    return tuple(dict.fromkeys((*before, *made)))[-MAX_PAGE_EDITS:]
