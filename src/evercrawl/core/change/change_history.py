"""What is stored about a page and a site to tell noise from changes.
Both are values of bounded size with a compact form. Losing them costs a few visits of learning and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from struct import Struct, error
from typing import NamedTuple

from xxhash import xxh32_intdigest

MAX_PAGE_LOCATIONS = 64
HISTORY_VISITS = 16
MAX_SITE_LOCATIONS = 768
MAX_SITE_TEXTS = 2048
MAX_SITE_EDITS = 160
MAX_PAGE_EDITS = 12
RECENT_COMPARISONS = 48  # Counts of a location are halved beyond this, so that one that settles is soon trusted again.
RECENT_INSTANCES = 600  # The same for slots, of which a page may have many instances.
MAX_PAGE_COUNT = 0xFFFF
MAX_REMOVALS = 0xFF
MIN_SHARED_PAGES = 5  # A text on fewer pages is not the site's.
PAGE_MARK_BITS = 16
MIN_HELD_BYTES = 12  # Of a packed held change.

_VERSION = 2
_WORD = 0xFFFFFFFF
_HISTORY_MASK = (1 << HISTORY_VISITS) - 1

_PAGE_HEAD = Struct("<BIHH")
_KEY = Struct("<Q")
_PAGE_LOCATION = Struct("<IIHB")
_SITE_HEAD = Struct("<BIIHHHH")
_SIZE = Struct("<I")
_SITE_LOCATION = Struct("<IIHHHHHH")
_TEXT = Struct("<IHHBB")
_EDIT = Struct("<QHI")


class Location(NamedTuple):
    """The path of some blocks, and the shape of one in which only numbers change."""

    path: int
    shape: int = 0


def hash_text(text: str) -> int:
    """Return 32 bits for a text; never 0, which means none."""
    return xxh32_intdigest(text.encode("utf-8", "surrogatepass")) or 1


class LocationHistory(NamedTuple):
    """How a location of one page behaved at the last visits: one bit per visit, the newest lowest."""

    bits: int = 0
    visits: int = 0

    def add(self, *, differed: bool) -> LocationHistory:
        """Return the history after one more visit."""
        return LocationHistory((self.bits << 1 | differed) & _HISTORY_MASK, min(self.visits + 1, HISTORY_VISITS))

    def after_unchanged(self, visits: int) -> LocationHistory:
        """Return the history after visits without a difference."""
        bits = self.bits << min(visits, HISTORY_VISITS)
        return LocationHistory(bits & _HISTORY_MASK, min(self.visits + visits, HISTORY_VISITS))

    def recent(self, visits: int) -> int:
        """Return how many of the last visits saw a difference."""
        return (self.bits & ((1 << visits) - 1)).bit_count()


@dataclass(frozen=True, slots=True)
class PageChangeHistory:
    """The locations of one page that ever differed, and the number of its last compared visit."""

    visit: int = 0
    locations: dict[Location, LocationHistory] = field(default_factory=dict)
    edits: tuple[int, ...] = ()  # Keys of the newest edits on this page: later visits to it do not count against them.

    def after_unchanged(self, visits: int) -> PageChangeHistory:
        """Return the history after visits that found the page unchanged."""
        if not visits:
            return self
        locations = {location: history.after_unchanged(visits) for location, history in self.locations.items()}
        return PageChangeHistory(self.visit + visits, locations, self.edits)

    def to_bytes(self) -> bytes:
        """Return the stored form: 11 bytes per location, 8 per edit."""
        parts = [_PAGE_HEAD.pack(_VERSION, self.visit & _WORD, len(self.locations), len(self.edits))]
        parts += [_PAGE_LOCATION.pack(*location, *history) for location, history in self.locations.items()]
        parts += [_KEY.pack(key) for key in self.edits]
        return b"".join(parts)

    @staticmethod
    def from_bytes(stored: bytes) -> PageChangeHistory:
        """Read the stored form; empty if it cannot be read."""
        try:
            version, visit, locations, edits = _PAGE_HEAD.unpack_from(stored)
            location_rows, at = _read_rows(_PAGE_LOCATION, stored, _PAGE_HEAD.size, locations)
            edit_rows, at = _read_rows(_KEY, stored, at, edits)
        except error:
            return PageChangeHistory()
        if version != _VERSION:
            return PageChangeHistory()
        found = {Location(*row[:2]): LocationHistory(*row[2:]) for row in location_rows}
        return PageChangeHistory(visit, found, tuple(key for (key,) in edit_rows))


class LocationStats(NamedTuple):
    """How a location behaves on all pages of a site since it first differed."""

    compared: int = 0
    differed: int = 0
    rotated: int = 0  # How often a text of other pages replaced another such text; of a slot, how often it grew.
    minor: int = 0  # How often the differences were a small part of the page.
    page_bits: int = 0  # Some of the pages on which it differed, one bit each.
    seen_bits: int = 0  # Some of the pages on which it was compared.

    @property
    def pages(self) -> int:
        """Return on how many pages it differed, at least."""
        return self.page_bits.bit_count()

    @property
    def seen_pages(self) -> int:
        """Return on how many pages it was compared, at least."""
        return self.seen_bits.bit_count()

    @property
    def rate(self) -> float:
        """Return the share of comparisons that saw a difference."""
        return self.differed / self.compared if self.compared else 0.0

    @property
    def rotation_rate(self) -> float:
        """Return the share of comparisons that saw texts rotate."""
        return self.rotated / self.compared if self.compared else 0.0

    def add(
        self, *, compared: int, page: int, differed: int = 0, rotated: int = 0, minor: bool = False,
        recent: int = RECENT_COMPARISONS,
    ) -> LocationStats:  # fmt: skip
        """Return the stats after more comparisons, of which some may have seen a difference."""
        stats = self if self.compared <= recent else self._halve()
        bit = 1 << (page % PAGE_MARK_BITS)
        seen = min(stats.compared + max(compared, differed), 2 * recent)
        return LocationStats(
            seen,
            min(stats.differed + differed, seen),
            stats.rotated + rotated,
            stats.minor + minor,
            stats.page_bits | (bit if differed else 0),
            stats.seen_bits | bit,
        )

    def _halve(self) -> LocationStats:
        compared, differed, rotated, minor = (count // 2 for count in self[:4])
        return LocationStats(compared, differed, rotated, minor, self.page_bits, self.seen_bits)


class TextSpread(NamedTuple):
    """How a text is spread over a site."""

    pages: int  # Pages that have it now.
    page: int  # Mark of the page that had it last.
    removals: int = 0  # How often a page no longer had it.
    is_edit: int = 0  # 1: it was first seen as an addition to a known page.


class EditSpread(NamedTuple):
    """On how many pages one edit was seen, and how many visits came before the first."""

    pages: int
    visits_before: int


@dataclass(frozen=True, slots=True)
class SiteChangeHistory:
    """What the pages of a site share: locations that change by themselves, texts, recent edits."""

    pages: int = 0
    visits: int = 0  # Visits to known pages, unchanged ones too.
    locations: dict[Location, LocationStats] = field(default_factory=dict)
    texts: dict[int, TextSpread] = field(default_factory=dict)
    edits: dict[int, EditSpread] = field(default_factory=dict)
    held: tuple[bytes, ...] = ()  # Changes whose verdict waits for other pages, packed.

    def after_unchanged(self, page: PageChangeHistory) -> SiteChangeHistory:
        """Return the history after a visit that found this page unchanged."""
        edits = count_repeat_visit(self.edits, page.edits)
        return replace(self, visits=self.visits + 1, edits=edits)

    def is_on_other_pages(self, text: str, *, page: int, least: int = 1) -> bool:
        """Return whether other pages of the site have, or had, this text for another reason than an edit."""
        spread = self.texts.get(hash_text(text))
        if spread is None or (spread.is_edit and not spread.removals):
            return False
        return spread.pages > least or (spread.page != page and spread.pages + spread.removals >= least)

    def is_recurring(self, text: str, *, least: int) -> bool:
        """Return whether pages show this text only for a while: it was removed at least `least` times."""
        spread = self.texts.get(hash_text(text))
        return spread is not None and spread.removals >= max(least, spread.pages)

    def page_share(self, text: str) -> float:
        """Return the share of the site's pages that have this text."""
        spread = self.texts.get(hash_text(text)) if text else None
        if spread is None or spread.pages < MIN_SHARED_PAGES:
            return 0.0
        return min(1.0, spread.pages / max(1, self.pages))

    def to_bytes(self) -> bytes:
        """Return the stored form: 14 bytes per location, 9 per text, 14 per edit."""
        counts = len(self.locations), len(self.texts), len(self.edits), len(self.held)
        parts = [_SITE_HEAD.pack(_VERSION, self.pages & _WORD, self.visits & _WORD, *counts)]
        parts += [_SITE_LOCATION.pack(*location, *stats) for location, stats in self.locations.items()]
        parts += [_TEXT.pack(key, min(text.pages, MAX_PAGE_COUNT), *text[1:]) for key, text in self.texts.items()]
        parts += [_EDIT.pack(key, *edit) for key, edit in self.edits.items()]
        parts += [_SIZE.pack(len(held)) + held for held in self.held]
        return b"".join(parts)

    @staticmethod
    def from_bytes(stored: bytes) -> SiteChangeHistory:
        """Read the stored form; empty if it cannot be read."""
        try:
            version, pages, visits, locations, texts, edits, held = _SITE_HEAD.unpack_from(stored)
            at = _SITE_HEAD.size
            location_rows, at = _read_rows(_SITE_LOCATION, stored, at, locations)
            text_rows, at = _read_rows(_TEXT, stored, at, texts)
            edit_rows, at = _read_rows(_EDIT, stored, at, edits)
            held_rows = _read_sized(stored, at, held)
        except error:
            return SiteChangeHistory()
        if version != _VERSION:
            return SiteChangeHistory()
        return SiteChangeHistory(
            pages,
            visits,
            {Location(*row[:2]): LocationStats(*row[2:]) for row in location_rows},
            {row[0]: TextSpread(*row[1:]) for row in text_rows},
            {row[0]: EditSpread(*row[1:]) for row in edit_rows},
            held_rows,
        )


def _read_rows(form: Struct, stored: bytes, at: int, count: int) -> tuple[list[tuple[int, ...]], int]:
    rows = [form.unpack_from(stored, at + number * form.size) for number in range(count)]
    return rows, at + count * form.size


def _read_sized(stored: bytes, at: int, count: int) -> tuple[bytes, ...]:
    found = []
    for _ in range(count):
        (size,) = _SIZE.unpack_from(stored, at)
        at += _SIZE.size
        if at + size > len(stored) or size < MIN_HELD_BYTES:
            raise error("cut off")
        found.append(stored[at : at + size])
        at += size
    return tuple(found)


def limit_locations(locations: dict[Location, LocationStats]) -> dict[Location, LocationStats]:
    """Keep the locations that differ most."""
    if len(locations) <= MAX_SITE_LOCATIONS:
        return locations
    kept = sorted(locations, key=lambda location: locations[location].differed, reverse=True)[
        : MAX_SITE_LOCATIONS * 3 // 4
    ]
    return {location: locations[location] for location in kept}


def limit_texts(texts: dict[int, TextSpread]) -> dict[int, TextSpread]:
    """Keep the texts of several pages first, then the newest."""
    if len(texts) <= MAX_SITE_TEXTS:
        return texts
    keys = list(texts)
    kept = sorted(range(len(keys)), key=lambda at: (texts[keys[at]].pages > 1, at), reverse=True)
    return {keys[at]: texts[keys[at]] for at in sorted(kept[: MAX_SITE_TEXTS * 3 // 4])}


def count_repeat_visit(edits: dict[int, EditSpread], made: Iterable[int]) -> dict[int, EditSpread]:
    """Return the edits after a visit to a page that has some of them already: it does not count for these."""
    again = [key for key in made if key in edits]
    if not again:
        return edits
    return edits | {key: edits[key]._replace(visits_before=edits[key].visits_before + 1) for key in again}


def newest_edits(edits: dict[int, EditSpread], most: int = MAX_SITE_EDITS) -> dict[int, EditSpread]:
    """Return the edits that were seen last."""
    return edits if len(edits) <= most else dict(list(edits.items())[-most:])


def active_locations(locations: Iterable[tuple[Location, LocationHistory]]) -> dict[Location, LocationHistory]:
    """Return the locations of a page that differed lately, the most active first."""
    active = [(location, history) for location, history in locations if history.bits]
    if len(active) > MAX_PAGE_LOCATIONS:
        active.sort(key=lambda entry: entry[1].bits.bit_count(), reverse=True)
    return dict(active[:MAX_PAGE_LOCATIONS])
