"""What is remembered of a page and of a site to tell what always changes from what changed.

Both are values of bounded size with a compact form. Losing them costs a few visits of learning, nothing
else, so that they may be stored lazily.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from struct import Struct, error
from typing import NamedTuple

from xxhash import xxh32_intdigest

MAX_PAGE_LOCATIONS = 48
HISTORY_VISITS = 16
MAX_SITE_LOCATIONS = 256
MAX_SITE_TEXTS = 2048
MAX_SITE_EDITS = 160
MAX_PAGE_EDITS = 12
RECENT_COMPARISONS = 48
"""Counts of a place are halved beyond this, so that what settles is soon trusted again."""
MAX_PAGE_COUNT = 0xFFFF
MAX_REMOVALS = 0xFF
MIN_SHARED_PAGES = 5
"""Fewer pages with the same text do not make it the site's."""
PAGE_MARK_BITS = 16

_VERSION = 1
_WORD = 0xFFFFFFFF
_HISTORY_MASK = (1 << HISTORY_VISITS) - 1

_PAGE_HEAD = Struct("<BIHH")
_KEY = Struct("<Q")
_PAGE_PLACE = Struct("<IIHB")
_SITE_HEAD = Struct("<BIIHHH")
_SITE_PLACE = Struct("<IIBBBBH")
_TEXT = Struct("<IHHB")
_EDIT = Struct("<QHI")


class BlockLocation(NamedTuple):
    """A place in a page: the path of its blocks, and for one of which only numbers change, its shape."""

    path: int
    shape: int = 0


def hash_text(text: str) -> int:
    """32 bits that stand for a text; never 0, which means none."""
    return xxh32_intdigest(text.encode("utf-8", "surrogatepass")) or 1


class LocationHistory(NamedTuple):
    """How a place of one page fared at the last visits: one bit a visit, the newest lowest."""

    bits: int = 0
    visits: int = 0

    def then(self, *, differed: bool) -> LocationHistory:
        """The history after one more visit."""
        return LocationHistory((self.bits << 1 | differed) & _HISTORY_MASK, min(self.visits + 1, HISTORY_VISITS))

    def rested(self, visits: int) -> LocationHistory:
        """The history after so many visits without a difference."""
        bits = self.bits << min(visits, HISTORY_VISITS)
        return LocationHistory(bits & _HISTORY_MASK, min(self.visits + visits, HISTORY_VISITS))

    def recent(self, visits: int) -> int:
        """How many of the last visits saw a difference."""
        return (self.bits & ((1 << visits) - 1)).bit_count()


@dataclass(frozen=True, slots=True)
class PageChangeHistory:
    """The places of one page that ever differed, and the number of the visit at which it was judged last."""

    visit: int = 0
    places: dict[BlockLocation, LocationHistory] = field(default_factory=dict)
    edits: tuple[int, ...] = ()
    """Keys of the newest edits made on this page: a later look at it does not speak against them."""

    def rested(self, visits: int) -> PageChangeHistory:
        """The memory after so many visits that found the page as it was."""
        if not visits:
            return self
        places = {place: history.rested(visits) for place, history in self.places.items()}
        return PageChangeHistory(self.visit + visits, places, self.edits)

    def to_bytes(self) -> bytes:
        """The stored form: 11 bytes a place, 8 an edit."""
        parts = [_PAGE_HEAD.pack(_VERSION, self.visit & _WORD, len(self.places), len(self.edits))]
        parts += [_PAGE_PLACE.pack(*place, *history) for place, history in self.places.items()]
        parts += [_KEY.pack(key) for key in self.edits]
        return b"".join(parts)

    @staticmethod
    def from_bytes(stored: bytes) -> PageChangeHistory:
        """What was stored; nothing where that cannot be read."""
        try:
            version, visit, places, edits = _PAGE_HEAD.unpack_from(stored)
            place_rows, at = _rows(_PAGE_PLACE, stored, _PAGE_HEAD.size, places)
            edit_rows, at = _rows(_KEY, stored, at, edits)
        except error:
            return PageChangeHistory()
        if version != _VERSION:
            return PageChangeHistory()
        found = {BlockLocation(*row[:2]): LocationHistory(*row[2:]) for row in place_rows}
        return PageChangeHistory(visit, found, tuple(key for (key,) in edit_rows))


class LocationStats(NamedTuple):
    """How a place fares on all pages of a site since it first differed."""

    compared: int = 0
    differed: int = 0
    swapped: int = 0
    """How often one text that other pages show too took the place of another."""
    minor: int = 0
    """How often all that differed on the page was a small part of it."""
    page_bits: int = 0
    """Some of the pages on which it differed, one bit each."""

    @property
    def pages(self) -> int:
        """On how many pages it differed, at least."""
        return self.page_bits.bit_count()

    @property
    def rate(self) -> float:
        """The share of comparisons that saw a difference."""
        return self.differed / self.compared if self.compared else 0.0

    @property
    def swap_rate(self) -> float:
        """The share of comparisons that saw texts of a common stock take turns."""
        return self.swapped / self.compared if self.compared else 0.0

    def then(
        self, *, compared: int, page: int, differed: bool = False, swapped: bool = False, minor: bool = False
    ) -> LocationStats:
        """The habit after more comparisons, of which one may have seen a difference."""
        habit = self if self.compared <= RECENT_COMPARISONS else self._halved()
        bits = habit.page_bits | (1 << (page % PAGE_MARK_BITS) if differed else 0)
        seen = min(habit.compared + compared, 2 * RECENT_COMPARISONS)
        return LocationStats(seen, habit.differed + differed, habit.swapped + swapped, habit.minor + minor, bits)

    def _halved(self) -> LocationStats:
        compared, differed, swapped, minor = (count // 2 for count in self[:4])
        return LocationStats(compared, differed, swapped, minor, self.page_bits)


class TextSpread(NamedTuple):
    """How a text is spread over a site."""

    pages: int
    """So many pages have it now."""
    page: int
    """A mark of the page that had it last."""
    left: int = 0
    """So often a page was seen that had it no longer."""


class EditSpread(NamedTuple):
    """On how many pages one edit was seen, and how many looks at pages there had been before the first."""

    pages: int
    looks_before: int


@dataclass(frozen=True, slots=True)
class SiteChangeHistory:
    """What the pages of a site have in common: places that change by themselves, texts, recent edits."""

    pages: int = 0
    looks: int = 0
    """Visits to pages that were known already, those that found nothing new too."""
    places: dict[BlockLocation, LocationStats] = field(default_factory=dict)
    texts: dict[int, TextSpread] = field(default_factory=dict)
    edits: dict[int, EditSpread] = field(default_factory=dict)

    def rested(self, page: PageChangeHistory) -> SiteChangeHistory:
        """The memory after a visit that found this page as it was: the same bytes, or not modified."""
        edits = count_repeat_visit(self.edits, page.edits)
        return SiteChangeHistory(self.pages, self.looks + 1, self.places, self.texts, edits)

    def knows_elsewhere(self, text: str, *, page: int) -> bool:
        """Another page of the site has this text, or had it."""
        spread = self.texts.get(hash_text(text))
        return spread is not None and (spread.pages > 1 or spread.page != page)

    def comes_and_goes(self, text: str, *, least: int) -> bool:
        """Pages show this text for a while, one here, one there: so often at least it was seen to go."""
        spread = self.texts.get(hash_text(text))
        return spread is not None and spread.left >= max(least, spread.pages)

    def share_with(self, text: str) -> float:
        """The share of the site's pages that have this text."""
        spread = self.texts.get(hash_text(text)) if text else None
        if spread is None or spread.pages < MIN_SHARED_PAGES:
            return 0.0
        return min(1.0, spread.pages / max(1, self.pages))

    def to_bytes(self) -> bytes:
        """The stored form: 14 bytes a place, 9 a text, 14 an edit."""
        counts = len(self.places), len(self.texts), len(self.edits)
        parts = [_SITE_HEAD.pack(_VERSION, self.pages & _WORD, self.looks & _WORD, *counts)]
        parts += [_SITE_PLACE.pack(*place, *habit) for place, habit in self.places.items()]
        parts += [_TEXT.pack(key, min(text.pages, MAX_PAGE_COUNT), *text[1:]) for key, text in self.texts.items()]
        parts += [_EDIT.pack(key, *edit) for key, edit in self.edits.items()]
        return b"".join(parts)

    @staticmethod
    def from_bytes(stored: bytes) -> SiteChangeHistory:
        """What was stored; nothing where that cannot be read."""
        try:
            version, pages, looks, places, texts, edits = _SITE_HEAD.unpack_from(stored)
            at = _SITE_HEAD.size
            place_rows, at = _rows(_SITE_PLACE, stored, at, places)
            text_rows, at = _rows(_TEXT, stored, at, texts)
            edit_rows, at = _rows(_EDIT, stored, at, edits)
        except error:
            return SiteChangeHistory()
        if version != _VERSION:
            return SiteChangeHistory()
        return SiteChangeHistory(
            pages,
            looks,
            {BlockLocation(*row[:2]): LocationStats(*row[2:]) for row in place_rows},
            {row[0]: TextSpread(*row[1:]) for row in text_rows},
            {row[0]: EditSpread(*row[1:]) for row in edit_rows},
        )


def _rows(form: Struct, stored: bytes, at: int, count: int) -> tuple[list[tuple[int, ...]], int]:
    rows = [form.unpack_from(stored, at + number * form.size) for number in range(count)]
    return rows, at + count * form.size


def limit_locations(places: dict[BlockLocation, LocationStats]) -> dict[BlockLocation, LocationStats]:
    """At most so many places as a site may have: those that differ most."""
    if len(places) <= MAX_SITE_LOCATIONS:
        return places
    kept = sorted(places, key=lambda place: places[place].differed, reverse=True)[: MAX_SITE_LOCATIONS * 3 // 4]
    return {place: places[place] for place in kept}


def limit_texts(texts: dict[int, TextSpread]) -> dict[int, TextSpread]:
    """At most so many texts as a site may have: those that several pages have first, then the newest."""
    if len(texts) <= MAX_SITE_TEXTS:
        return texts
    keys = list(texts)
    kept = sorted(range(len(keys)), key=lambda at: (texts[keys[at]].pages > 1, at), reverse=True)
    return {keys[at]: texts[keys[at]] for at in sorted(kept[: MAX_SITE_TEXTS * 3 // 4])}


def count_repeat_visit(edits: dict[int, EditSpread], made: Iterable[int]) -> dict[int, EditSpread]:
    """The edits after a look at a page that has some of them since before: for these it does not count."""
    again = [key for key in made if key in edits]
    if not again:
        return edits
    return edits | {key: edits[key]._replace(looks_before=edits[key].looks_before + 1) for key in again}


def newest_edits(edits: dict[int, EditSpread], most: int = MAX_SITE_EDITS) -> dict[int, EditSpread]:
    """The edits that were met last."""
    return edits if len(edits) <= most else dict(list(edits.items())[-most:])


def active_locations(places: Iterable[tuple[BlockLocation, LocationHistory]]) -> dict[BlockLocation, LocationHistory]:
    """The places of a page that are worth remembering: those that differed lately, the most lively first."""
    lively = [(place, history) for place, history in places if history.bits]
    if len(lively) > MAX_PAGE_LOCATIONS:
        lively.sort(key=lambda entry: entry[1].bits.bit_count(), reverse=True)
    return dict(lively[:MAX_PAGE_LOCATIONS])
