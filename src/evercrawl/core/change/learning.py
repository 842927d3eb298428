"""What a visit teaches: its change, and the histories of page and site after it.
Noise is forgotten again: the history of a page's location covers its last visits, the stats of a site's location are
halved, and a text that no other page has is content whatever the location did before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.change.change_history import (
    MAX_PAGE_COUNT,
    MAX_PAGE_EDITS,
    MAX_REMOVALS,
    RECENT_INSTANCES,
    EditSpread,
    Location,
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
from evercrawl.core.change.classify import MAX_HUNKS, HunkClass, classify_change, is_sitewide
from evercrawl.core.change.held_changes import HeldChange, held_change
from evercrawl.core.change.hunk import IMAGE_SLOT, MOVED, REFERENCE_SLOT, Hunk, RowPosition, edits_in
from evercrawl.core.change.noise import text_shape
from evercrawl.core.change.reference_diff import stable_target
from evercrawl.core.change.segments import (
    FIRST_SLOT,
    MAX_SEGMENTS,
    has_digit,
    label_above,
    label_beside,
    other_form_slot,
    sentences,
    slot_number,
    split_segments,
)
from evercrawl.core.change.snapshot import CELL_BORDER, INLINE_BORDER, LINKED, Snapshot
from evercrawl.core.change.snapshot_diff import own_block_test, title_parts
from evercrawl.core.change.volatility import (
    LABEL_SLOT,
    MAX_SLOT,
    ORDER,
    STATEMENT_FORM,
    TURN_SLOT,
    ChangeContext,
    block_slot,
    is_rotation,
    label_location,
    locations_of,
    names_in,
    order_location,
    row_end_locations,
    segment_locations,
    slot_locations,
    turn_slot,
)
from evercrawl.model.change import Change

MAX_SHARED_TEXT_CHARS = 400  # Longer blocks are the page's own; the site does not store them.
MAX_UNCHANGED_VISITS = 8
"""Unchanged visits counted for a location, so that pages visited often do not outweigh the others."""
FIRST_VISIT = 1
MAX_LABELLED_SEGMENTS = 3  # A label, what it says, and perhaps a unit.
PAGE_MARK = 0xFFFF
MAX_MINOR_SHARE = 0.3


def learn_page(snapshot: Snapshot, site: SiteChangeHistory, *, page_url: str) -> SiteChangeHistory:
    """Return the site's history after a new page."""
    texts = dict(site.texts)
    images = (stable_target(image.url, is_image=True) for image in snapshot.references if image.is_image)
    shown = (*snapshot.texts, *title_parts(snapshot.metadata.title), *_naming_segments(snapshot), *images)
    _add_texts(texts, shown, page=_page_mark(page_url))
    return replace(site, pages=site.pages + 1, texts=limit_texts(texts))


def _naming_segments(snapshot: Snapshot) -> list[str]:
    """Return the segments of lines and rows that may name another page, and the labels beside facts."""
    return [
        name
        for text in snapshot.marked
        if CELL_BORDER in text or INLINE_BORDER in text or ":" in text
        for name in (*names_in(text), *_labels_in(text))
    ]


def _labels_in(marked: str) -> list[str]:
    segments = split_segments(marked)
    if not 1 < len(segments) <= MAX_LABELLED_SEGMENTS:
        return []
    return [label for place in range(1, len(segments)) if (label := label_beside(segments, place))]


class VisitComparison(NamedTuple):
    """The change that a visit found, and both histories after it."""

    change: Change
    page: PageChangeHistory
    site: SiteChangeHistory
    held: HeldChange  # What is needed to judge the change again when other pages of the site were seen.


def classify_visit(
    before: Snapshot,
    after: Snapshot,
    page_history: PageChangeHistory,
    site_history: SiteChangeHistory,
    *,
    now: datetime,
    page_url: str,
    visit: int,
) -> VisitComparison:
    """Return the change since the last compared version, with both histories after it.
    `visit` counts the visits to the page from 1; those since the last comparison found it unchanged."""
    number = max(visit, page_history.visit + 1)
    quiet = max(0, number - max(page_history.visit, FIRST_VISIT) - 1)
    mark = _page_mark(page_url)
    history = page_history.after_unchanged(quiet)
    context = ChangeContext(history, site_history, mark, now)
    result = classify_change(before, after, context)
    hunks = [hunk for hunk, _ in result.classes[:MAX_HUNKS]]
    # A sitewide edit says nothing about its location.
    own_hunks = [hunk for hunk in hunks if not is_sitewide(hunk, context)]
    moved = {order_location(move.path) for move in result.found.moved}
    made = {edit.key for hunk in hunks for edit in edits_in(hunk)}
    page_after = PageChangeHistory(
        number,
        _page_locations(
            history, locations_of(hunks) | moved | {slot for hunk in hunks for slot in slot_locations(hunk)}
        ),
        _page_edits(page_history.edits, result.classes[:MAX_HUNKS], site_history),
    )
    site_after = SiteChangeHistory(
        site_history.pages,
        site_history.visits + 1,
        _site_locations(context, before, after, own_hunks, moved, compared=1 + min(quiet, MAX_UNCHANGED_VISITS)),
        _site_texts(site_history, hunks, page=mark),
        _site_edits(site_history, made, made_before=page_history.edits),
        site_history.held,
    )
    held = held_change(result, page_mark=mark, visits=site_after.visits)
    return VisitComparison(result.change, page_after, site_after, held)


def _page_mark(page_url: str) -> int:
    return xxh32_intdigest(page_url.encode("utf-8", "surrogatepass")) & PAGE_MARK


def _page_locations(history: PageChangeHistory, differed: set[Location]) -> dict[Location, LocationHistory]:
    locations = {location: past.add(differed=location in differed) for location, past in history.locations.items()}
    locations |= {location: LocationHistory().add(differed=True) for location in differed if location not in locations}
    return active_locations(locations.items())


def _site_locations(
    context: ChangeContext, before: Snapshot, after: Snapshot, hunks: list[Hunk], moved: set[Location], *, compared: int
) -> dict[Location, LocationStats]:
    """Return the stats of all locations of this page; a location gets stats when it first differs."""
    page = context.page_mark
    differed = locations_of(hunks) | moved
    rotations = [hunk for hunk in hunks if is_rotation(hunk, context)]
    rotated = {location for hunk in rotations for location in (Location(hunk.name), *row_end_locations(hunk))}
    is_minor = _is_minor(after, hunks)
    locations = dict(context.site.locations)
    for location in _locations_in(context.site.locations, before, after) - differed:
        locations[location] = locations[location].add(compared=compared, page=page)
    for location in differed:
        stats = locations.get(location)
        comparisons = 1 if stats is None else compared
        locations[location] = (stats or LocationStats()).add(
            compared=comparisons, page=page, differed=1, rotated=location in rotated, minor=is_minor
        )
    _add_slots(locations, after, hunks, page=page, compared=compared)
    return limit_locations(locations)


def _add_slots(
    locations: dict[Location, LocationStats], after: Snapshot, hunks: list[Hunk], *, page: int, compared: int
) -> None:
    """Count the instances of each known slot on the page, and how many of them differed."""
    moved = Counter(location for hunk in hunks for location in slot_locations(hunk))
    increased = Counter(
        location
        for hunk in hunks
        for change in hunk.segments
        if change.is_increase
        for location in segment_locations(hunk, change)
    )
    known = {location for location in locations if FIRST_SLOT <= location.shape < MAX_SLOT} | moved.keys()
    seen = _slot_instances(after, known)
    for location in known:
        instances, differed = seen[location], moved[location]
        if instances or differed:
            stats = locations.get(location)
            comparisons = instances * (1 if stats is None else compared)
            locations[location] = (stats or LocationStats()).add(
                compared=comparisons, page=page, differed=differed, rotated=increased[location], recent=RECENT_INSTANCES
            )


def _slot_instances(snapshot: Snapshot, known: set[Location]) -> Counter[Location]:
    """Return how many instances of each slot at the paths of these a page has."""
    paths = {location.path for location in known}
    seen: Counter[Location] = Counter()
    forms: Counter[tuple[int, tuple[bool, ...], bool]] = Counter()
    labels = {location for location in known if location.shape in (LABEL_SLOT, LABEL_SLOT + 1)}
    turning = {location for location in known if location.shape in (TURN_SLOT, TURN_SLOT + 1)}
    over = ("", *("" if flag & LINKED else text for flag, text in zip(snapshot.flags, snapshot.marked, strict=True)))
    blocks = zip(snapshot.paths, snapshot.names, snapshot.flags, snapshot.marked, over, strict=False)
    for path, name, flag, marked, above in blocks:
        if path in paths or name in paths:
            slot = turn_slot(is_linked=bool(flag & LINKED))
            for turned in {Location(path, slot), Location(name, slot)} & turning:
                seen[turned] += 1
            segments = split_segments(marked)
            beside = [label_beside(segments, place) for place in range(len(segments))] if labels else []
            if len(beside) == 1 and above:
                beside = [label_above(above)]
            for label in beside:
                if label and (labelled := label_location(label, is_linked=bool(flag & LINKED))) in labels:
                    seen[labelled] += 1
            form = tuple(not segment.is_statement and has_digit(segment.text) for segment in segments)
            if any(segment.is_statement for segment in segments):
                seen[Location(path, block_slot(STATEMENT_FORM, is_linked=bool(flag & LINKED)))] += 1
                seen[Location(name, block_slot(STATEMENT_FORM, is_linked=bool(flag & LINKED)))] += 1
            forms[(path, form, bool(flag & LINKED))] += 1
            if name != path:
                forms[(name, form, bool(flag & LINKED))] += 1
    for (path, form, is_linked), count in forms.items():
        seen[Location(path, block_slot(len(form), is_linked=is_linked))] += count
        for index, is_digit in enumerate(form[:MAX_SEGMENTS]):
            seen[Location(path, slot_number(len(form), index, has_digit=is_digit))] += count
            seen[Location(path, other_form_slot(index))] += count
    for link in snapshot.references:
        for path in {link.path, link.name} & paths:
            seen[Location(path, IMAGE_SLOT if link.is_image else REFERENCE_SLOT)] += 1
    return seen


def _is_minor(after: Snapshot, hunks: list[Hunk]) -> bool:
    """Return whether the differences are small compared to the page's own text."""
    is_own = own_block_test(after)
    own_chars = sum(len(text) for flag, text in zip(after.flags, after.texts, strict=True) if is_own(flag))
    own_hunks = [hunk for hunk in hunks if hunk.is_own and not hunk.is_metadata]
    return sum(max(len(hunk.removed), len(hunk.added)) for hunk in own_hunks) <= MAX_MINOR_SHARE * own_chars


def _locations_in(locations: dict[Location, LocationStats], before: Snapshot, after: Snapshot) -> set[Location]:
    """Return the known locations on the page; words around numbers must be unchanged to be compared."""
    shaped = {location.path for location in locations if location.shape >= MAX_SLOT}
    paths = {*before.paths, *after.paths, *before.names, *after.names}
    found = {
        Location(path, position)
        for path in paths
        for position in (RowPosition.ALONE, RowPosition.FIRST, RowPosition.LAST, ORDER)
    }
    found |= _shaped_locations(before, shaped) & _shaped_locations(after, shaped)
    found.add(Location(MOVED))
    return found & locations.keys()


def _shaped_locations(snapshot: Snapshot, paths: set[int]) -> set[Location]:
    blocks = zip(snapshot.paths, snapshot.texts, strict=True)
    return {Location(path, hash_text(text_shape(text))) for path, text in blocks if path in paths}


def _site_texts(site: SiteChangeHistory, hunks: list[Hunk], *, page: int) -> dict[int, TextSpread]:
    if not hunks:
        return site.texts
    texts = dict(site.texts)
    removed, added = _differing_texts(hunks)
    for key in {hash_text(text) for text in removed} & texts.keys():
        spread = texts[key]
        removals = min(spread.removals + 1, MAX_REMOVALS)
        texts[key] = spread._replace(pages=max(0, spread.pages - 1), removals=removals)
    _add_texts(texts, added, page=page, is_edit=1)
    return limit_texts(texts)


def _missing_in(texts: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [text for text in texts if text not in known]


def _differing_texts(hunks: list[Hunk]) -> tuple[list[str], list[str]]:
    """Return the blocks and sentences that a page lost and gained."""
    pairs = [hunk.segments[0][1:3] if hunk.is_reference else (hunk.removed, hunk.added) for hunk in hunks]
    removed, added = [old for old, _ in pairs if old], [new for _, new in pairs if new]
    for hunk in hunks:
        if hunk.form > 1:
            old, new = names_in(hunk.old_marked), names_in(hunk.new_marked)
            removed += _missing_in(old, new)
            added += _missing_in(new, old)
    for change in (change for hunk in hunks for change in hunk.segments if change.is_statement):
        old, new = sentences(change.removed), sentences(change.added)
        removed += _missing_in(old, new)
        added += _missing_in(new, old)
    return removed, added


def _add_texts(texts: dict[int, TextSpread], added: Iterable[str], *, page: int, is_edit: int = 0) -> None:
    for key in {hash_text(text) for text in added if 0 < len(text) <= MAX_SHARED_TEXT_CHARS}:
        spread = texts.pop(key, None)
        # Insert again, so that the entries are in the order of their last use.
        texts[key] = (
            TextSpread(1, page, 0, is_edit)
            if spread is None
            else spread._replace(pages=min(spread.pages + 1, MAX_PAGE_COUNT), page=page)
        )


def _site_edits(site: SiteChangeHistory, made: set[int], *, made_before: tuple[int, ...]) -> dict[int, EditSpread]:
    """Return the site's edits; those of this page are on one page more, and the newest."""
    known = count_repeat_visit(site.edits, set(made_before) - made)
    edits = {key: same for key, same in known.items() if key not in made}
    for key in made:
        same = known.get(key, EditSpread(0, site.visits))
        edits[key] = same._replace(pages=min(same.pages + 1, MAX_PAGE_COUNT))
    return newest_edits(edits)


def _page_edits(
    before: tuple[int, ...], classes: list[tuple[Hunk, HunkClass]], site: SiteChangeHistory
) -> tuple[int, ...]:
    """Return the newest edits of this page that other pages may have too."""
    made = [
        edit.key
        for hunk, hunk_class in classes
        for edit in edits_in(hunk)
        if hunk_class is not HunkClass.NOISE or edit.key in site.edits
    ]
    return tuple(dict.fromkeys((*before, *made)))[-MAX_PAGE_EDITS:]
