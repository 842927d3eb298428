"""Which blocks of this page are its own? Judged from the page as a whole, since names alone may mislead.

A main element that holds a good part of the text holds all that is the page's own. Without one, everything
is that is not called otherwise; on a page with prose, lists of links outside of articles are the site's.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from itertools import zip_longest
from operator import eq, or_
from typing import NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.core.change.noise import normalize_text, significant_text, significant_title, text_shape, text_similarity
from evercrawl.core.change.snapshot import (
    ARTICLE,
    BODY,
    HEADLINE,
    LINKED,
    MAIN,
    PARAGRAPH,
    REGION_BITS,
    SITE,
    SITE_BY_NAME,
    Snapshot,
    SnapshotMetadata,
)

MAIN_SHARE = 0.4
"""Of the text outside links and the site's parts, so much in the main element makes it the only place."""
MIN_PAGE_PROSE_CHARS = 200
MAX_LINKS_PER_PROSE = 2
"""A page with more than so many times its prose in links is a list of links, and these are its content."""
MAX_NAMED_SITE_RATIO = 2
"""So many times the rest may a part be that is the site's by its name."""

IsOwnBlock = Callable[[int], bool]


def own_block_test(snapshot: Snapshot) -> IsOwnBlock:
    """A test that tells from a block's flags whether the block is the page's own."""
    chars = [0, 0, 0, 0, 0]
    linked = 0
    has_headed_article = False
    for flag, text in zip(snapshot.flags, snapshot.texts, strict=True):
        if not flag & LINKED:
            chars[flag & REGION_BITS] += len(text)
        elif flag & REGION_BITS == BODY:
            linked += len(text)
        if flag & HEADLINE and flag & REGION_BITS == ARTICLE:
            has_headed_article = True
    free = chars[BODY] + chars[ARTICLE] + chars[MAIN]
    own_regions = {MAIN, ARTICLE, BODY}
    if chars[MAIN] and chars[MAIN] >= MAIN_SHARE * free:
        own_regions = {MAIN}
    elif has_headed_article and chars[ARTICLE] >= MAIN_SHARE * free:
        own_regions = {MAIN, ARTICLE}
    if chars[SITE_BY_NAME] > MAX_NAMED_SITE_RATIO * free:
        own_regions.add(SITE_BY_NAME)
    if not any(chars[region] for region in own_regions) and chars[SITE]:
        own_regions.add(SITE)
    linked_is_site = free >= MIN_PAGE_PROSE_CHARS and linked <= MAX_LINKS_PER_PROSE * free

    def is_own(flag: int) -> bool:
        region = flag & REGION_BITS
        return region in own_regions and not (flag & LINKED and region == BODY and linked_is_site)

    return is_own


TITLE, DESCRIPTION, CANONICAL, ROBOTS, MOVED = range(0xFFFFFFF0, 0xFFFFFFF5)
"""The paths of metadata, and of the order of paragraphs."""
MAX_SIMILARITY_PAIRS = 400
"""So many pairs of blocks of one path are looked at for the most alike."""
MIN_PROSE_CHARS = 40
"""Shorter paragraphs are labels, whose order means little."""
MIN_VARIATION_SIMILARITY = 0.4
"""Texts of which this share is the same are variations of each other."""

_SESSION = re.compile(
    r"([?&;](?:sid|s|phpsessid|jsessionid|sess\w*|token|csrf\w*|nonce|_|ts?|time|rand\w*|cb|v|utm_\w+)=)[^&#;]*"
    r"|;jsessionid=[^?#]*",
    re.IGNORECASE,
)


_TITLE_BORDER = re.compile(r"\s+[-–—|·•»«:/]+\s+|\s*[|｜»«]\s*")


class RowPosition(IntEnum):
    """Where a block stands among those of the same path; an end of the row is a place of its own."""

    ALONE = 0
    FIRST = 1
    LAST = 2
    WITHIN = 3


class UnmatchedBlock(NamedTuple):
    """A block that only one of the versions has."""

    path: int
    flag: int
    text: str
    seat: RowPosition


class Hunk(NamedTuple):
    """A place where versions differ: what was there, what is there now; one of both may be empty."""

    path: int
    removed: str
    added: str
    is_own: bool
    is_linked: bool
    seat: RowPosition = RowPosition.ALONE
    is_balanced: bool = True
    """As many blocks of this path went as came."""
    is_metadata: bool = False

    @property
    def is_number(self) -> bool:
        """Only numbers, dates and the like differ."""
        return bool(self.removed and self.added) and text_shape(self.removed) == text_shape(self.added)

    @property
    def is_variation(self) -> bool:
        """One text was varied, rather than dropped for another."""
        return (
            bool(self.removed and self.added) and text_similarity(self.removed, self.added) >= MIN_VARIATION_SIMILARITY
        )


class SnapshotDiff(NamedTuple):
    """All places where two versions differ."""

    hunks: list[Hunk]
    moved: list[str]
    """Paragraphs of the page's own that stand elsewhere in the order."""


def diff_snapshots(before: Snapshot, after: Snapshot) -> SnapshotDiff:
    """The places where two snapshots differ; none where they differ in noise only."""
    metadata = _metadata_hunks(before.metadata, after.metadata)
    if before.texts == after.texts:
        return SnapshotDiff(metadata, [])
    was_own, is_own = own_block_test(before), own_block_test(after)
    removed, added = _unmatched(before, after)
    hunks = [] if _is_cut_otherwise(removed, added) else _paired(removed, added, was_own, is_own)
    return SnapshotDiff(hunks + metadata, _moved(before, after, was_own, is_own))


def _unmatched(before: Snapshot, after: Snapshot) -> tuple[list[UnmatchedBlock], list[UnmatchedBlock]]:
    """Blocks without a counterpart of the same text, then of the same meaning, anywhere on the page."""
    old, new = Counter(before.texts), Counter(after.texts)
    removed, added = _pieces(before, old - new), _pieces(after, new - old)
    old_meanings = Counter(significant_text(piece.text) for piece in removed)
    new_meanings = Counter(significant_text(piece.text) for piece in added)
    return _meaning_more(removed, old_meanings - new_meanings), _meaning_more(added, new_meanings - old_meanings)


def _pieces(snapshot: Snapshot, wanted: Counter[str]) -> list[UnmatchedBlock]:
    """So many blocks of each text as are wanted."""
    if not wanted:
        return []
    paths, count = snapshot.paths, len(snapshot.paths)
    last_of = dict(zip(paths, range(count), strict=True))
    first_of = dict(zip(reversed(paths), reversed(range(count)), strict=True))
    pieces = []
    for at, text in enumerate(snapshot.texts):
        if text in wanted and wanted[text] > 0:
            wanted[text] -= 1
            path = paths[at]
            seat = _seat(at, first=first_of[path], last=last_of[path])
            pieces.append(UnmatchedBlock(path, snapshot.flags[at], text, seat))
    return pieces


def _seat(at: int, *, first: int, last: int) -> RowPosition:
    if first == last:
        return RowPosition.ALONE
    return RowPosition.FIRST if at == first else RowPosition.LAST if at == last else RowPosition.WITHIN


def _meaning_more(pieces: list[UnmatchedBlock], wanted: Counter[str]) -> list[UnmatchedBlock]:
    """So many blocks of each meaning as are wanted; those that mean nothing never are."""
    taken = []
    for piece in pieces:
        key = significant_text(piece.text)
        if key and wanted[key] > 0:
            wanted[key] -= 1
            taken.append(piece)
    return taken


def _is_cut_otherwise(removed: list[UnmatchedBlock], added: list[UnmatchedBlock]) -> bool:
    """The same words in the same order, only in other blocks: new markup, old text."""
    if not removed or not added:
        return False
    return "".join(significant_text(piece.text) for piece in removed) == "".join(
        significant_text(piece.text) for piece in added
    )


def _paired(
    removed: list[UnmatchedBlock], added: list[UnmatchedBlock], was_own: IsOwnBlock, is_own: IsOwnBlock
) -> list[Hunk]:
    """Each removed block with the added one that took its place: of the same path, the most alike first."""
    old_at, new_at = _by_path(removed), _by_path(added)
    hunks = []
    for path in dict.fromkeys((*old_at, *new_at)):
        pairs = _matched(old_at.get(path, []), new_at.get(path, []))
        is_balanced = all(old is not None and new is not None for old, new in pairs)
        hunks += [_hunk(old, new, was_own, is_own)._replace(is_balanced=is_balanced) for old, new in pairs]
    return hunks


def _by_path(pieces: list[UnmatchedBlock]) -> dict[int, list[UnmatchedBlock]]:
    found: dict[int, list[UnmatchedBlock]] = defaultdict(list)
    for piece in pieces:
        found[piece.path].append(piece)
    return found


def _matched(
    old: list[UnmatchedBlock], new: list[UnmatchedBlock]
) -> list[tuple[UnmatchedBlock | None, UnmatchedBlock | None]]:
    """Pairs of alike blocks, then of those at the same end of the row, then in order, then what is left."""
    rest_old, rest_new = list(old), list(new)
    pairs: list[tuple[UnmatchedBlock | None, UnmatchedBlock | None]] = []
    for one, other in (*_alike_pairs(old, new), *_pairs_at_ends(old, new)):
        if one in rest_old and other in rest_new:
            rest_old.remove(one)
            rest_new.remove(other)
            pairs.append((one, other))
    return pairs + list(zip_longest(rest_old, rest_new))


def _alike_pairs(old: list[UnmatchedBlock], new: list[UnmatchedBlock]) -> list[tuple[UnmatchedBlock, UnmatchedBlock]]:
    if not 1 < len(old) * len(new) <= MAX_SIMILARITY_PAIRS:
        return []
    scored = [(text_similarity(one.text, other.text), one, other) for one in old for other in new]
    alike = [entry for entry in scored if entry[0] >= MIN_VARIATION_SIMILARITY]
    return [(one, other) for _, one, other in sorted(alike, key=lambda entry: -entry[0])]


def _pairs_at_ends(old: list[UnmatchedBlock], new: list[UnmatchedBlock]) -> list[tuple[UnmatchedBlock, UnmatchedBlock]]:
    ends = (RowPosition.FIRST, RowPosition.LAST)
    return [
        (one, other)
        for one in old[:1] + old[-1:]
        for other in new[:1] + new[-1:]
        if one.seat == other.seat and one.seat in ends
    ]


def _hunk(old: UnmatchedBlock | None, new: UnmatchedBlock | None, was_own: IsOwnBlock, is_own: IsOwnBlock) -> Hunk:
    some = new or old
    assert some is not None, "a hunk has at least one side"
    return Hunk(
        some.path,
        old.text if old else "",
        new.text if new else "",
        is_own=bool((old and was_own(old.flag)) or (new and is_own(new.flag))),
        is_linked=all(piece.flag & LINKED for piece in (old, new) if piece is not None),
        seat=some.seat if old is None or new is None or old.seat == new.seat else RowPosition.WITHIN,
    )


def _moved(before: Snapshot, after: Snapshot, was_own: IsOwnBlock, is_own: IsOwnBlock) -> list[str]:
    """Paragraphs of prose that both versions have, in another order.

    Lists and cards may be sorted in any way; paragraphs that follow each other are read in their order.
    """
    old, new = _running_prose(before, was_own), _running_prose(after, is_own)
    common = set(old) & set(new)
    old, new = [text for text in old if text in common], [text for text in new if text in common]
    if len(old) != len(new):
        return []
    return [text for text, now_here in zip(old, new, strict=True) if text != now_here]


def _running_prose(snapshot: Snapshot, is_own: IsOwnBlock) -> list[str]:
    paths, flags, texts = snapshot.paths, snapshot.flags, snapshot.texts
    same = tuple(map(eq, paths, paths[1:]))
    in_row = map(or_, (*same, False), (False, *same))
    return [
        text
        for flag, text, is_in_row in zip(flags, texts, in_row, strict=False)
        if is_in_row and len(text) >= MIN_PROSE_CHARS and flag & PARAGRAPH and not flag & LINKED and is_own(flag)
    ]


def _metadata_hunks(before: SnapshotMetadata, after: SnapshotMetadata) -> list[Hunk]:
    if before == after:
        return []
    sides = (
        (DESCRIPTION, before.description, after.description, significant_text),
        (CANONICAL, before.canonical, after.canonical, _lasting_url),
        (ROBOTS, before.robots, after.robots, _packed),
    )
    return _title_hunks(before.title, after.title) + [
        _metadata_hunk(path, old, new) for path, old, new, key_of in sides if key_of(old) != key_of(new)
    ]


def _title_hunks(before: str, after: str) -> list[Hunk]:
    """The pieces of a title are compared each for itself: one is the page's, another the site's."""
    if significant_title(before) == significant_title(after):
        return []
    old, new = title_parts(before), title_parts(after)
    gone = [piece for piece in old if piece not in new]
    come = [piece for piece in new if piece not in old]
    return [_metadata_hunk(TITLE, *pair) for pair in zip_longest(gone, come, fillvalue="")]


def title_parts(title: str) -> list[str]:
    """The parts of a title between dashes, bars and the like."""
    return [piece for piece in _TITLE_BORDER.split(title) if piece]


def _metadata_hunk(path: int, old: str, new: str) -> Hunk:
    return Hunk(path, old, new, is_own=True, is_linked=False, is_metadata=True)


def _lasting_url(url: str) -> str:
    """The URL without what belongs to a session or a moment."""
    return _SESSION.sub("", url)


def _packed(text: str) -> str:
    return "".join(text.split())


MAX_CACHED_EDITS = 2048
"""Each edit is asked for several times while a page is judged."""


class KeyedEdit(NamedTuple):
    """An edit inside a difference; one of both texts may be empty."""

    key: int
    removed: str
    added: str

    @property
    def text(self) -> str:
        """What came, or else what went."""
        return self.added or self.removed


def edits_in(hunk: Hunk) -> list[KeyedEdit]:
    """The edits in a difference: one, or two where a text was dropped for another that has nothing of it.

    Two, because what went and what came need not belong together: in a place where adverts take turns,
    a notice may have come on all pages at once.
    """
    if hunk.removed and hunk.added and not hunk.is_variation and not hunk.is_metadata:
        return [_part(hunk.removed, ""), _part("", hunk.added)]
    return [_part(hunk.removed, hunk.added)]


def combine_keys(keys: set[int]) -> int | None:
    """One key for several edits that were made together; None where there is none."""
    return xxh64_intdigest(repr(sorted(keys)).encode()) if keys else None


@lru_cache(maxsize=MAX_CACHED_EDITS)
def _part(removed: str, added: str) -> KeyedEdit:
    """The edit with a key that is made of the words that differ and one more on each side."""
    old, new = normalize_text(removed).split(), normalize_text(added).split()
    if old and new:
        old, new = _trimmed(old, new)
    words = "\x1f".join((" ".join(old), " ".join(new)))
    return KeyedEdit(xxh64_intdigest(words.encode("utf-8", "surrogatepass")), removed, added)


def _trimmed(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Both without the words at their ends that they have in common, but for the nearest ones."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    head, tail = max(0, head - 1), max(0, tail - 1)
    return old[head : len(old) - tail], new[head : len(new) - tail]
