"""Differences between two snapshots of a page, apart from order, space and noise.
A main element with a good part of the text holds all of the page's own blocks. Without one, everything is the page's
own unless it is named otherwise; on a page with prose, link lists outside articles are the site's."""

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

MAIN_SHARE = 0.4  # Share of the text outside links and site parts that makes the main element the only own region.
MIN_PAGE_PROSE_CHARS = 200
MAX_LINKS_PER_PROSE = 2  # A page with more link text per prose is a list of links, and these are its content.
MAX_NAMED_SITE_RATIO = 2
"""A part named like the site's, but with more than this many times the rest's text, is the page's own."""

IsOwnBlock = Callable[[int], bool]


def own_block_test(snapshot: Snapshot) -> IsOwnBlock:
    """Return a test that tells from a block's flags whether the block is the page's own."""
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
"""Paths of metadata and of the order of paragraphs."""
MAX_SIMILARITY_PAIRS = 400  # Pairs of blocks of one path that are compared for similarity.
MIN_PROSE_CHARS = 40  # Shorter paragraphs are labels, whose order means little.
MIN_VARIATION_SIMILARITY = 0.4  # Texts at least this similar are variations of each other.

_SESSION = re.compile(
    r"([?&;](?:sid|s|phpsessid|jsessionid|sess\w*|token|csrf\w*|nonce|_|ts?|time|rand\w*|cb|v|utm_\w+)=)[^&#;]*"
    r"|;jsessionid=[^?#]*",
    re.IGNORECASE,
)
_TITLE_BORDER = re.compile(r"\s+[-–—|·•»«:/]+\s+|\s*[|｜»«]\s*")


class RowPosition(IntEnum):
    """Where a block stands among those of the same path."""

    ALONE = 0
    FIRST = 1
    LAST = 2
    WITHIN = 3


class _Block(NamedTuple):
    """A block that only one of the versions has."""

    path: int
    flag: int
    text: str
    position: RowPosition


class Hunk(NamedTuple):
    """A location where versions differ: what was removed and added; one may be empty."""

    path: int
    removed: str
    added: str
    is_own: bool
    is_linked: bool
    position: RowPosition = RowPosition.ALONE
    is_balanced: bool = True  # As many blocks of this path were removed as added.
    is_metadata: bool = False

    @property
    def is_number(self) -> bool:
        """Return whether only numbers, dates and the like differ."""
        return bool(self.removed and self.added) and text_shape(self.removed) == text_shape(self.added)

    @property
    def is_variation(self) -> bool:
        """Return whether one text is a variation of the other."""
        return (
            bool(self.removed and self.added) and text_similarity(self.removed, self.added) >= MIN_VARIATION_SIMILARITY
        )


class SnapshotDiff(NamedTuple):
    """All differences between two versions."""

    hunks: list[Hunk]
    moved: list[tuple[str, str]]  # Places of the page's own paragraphs in another order: the old and the new one.
    ignored: list[tuple[str, str]]  # Texts that differ only in what does not matter, such as an age.


def diff_snapshots(before: Snapshot, after: Snapshot) -> SnapshotDiff:
    """Return the differences between two snapshots apart from noise."""
    metadata = _metadata_hunks(before.metadata, after.metadata)
    if before.texts == after.texts:
        return SnapshotDiff(metadata, [], [])
    was_own, is_own = own_block_test(before), own_block_test(after)
    removed, added, ignored = _unmatched(before, after)
    hunks = [] if _is_resplit(removed, added) else _pair_blocks(removed, added, was_own, is_own)
    return SnapshotDiff(hunks + metadata, _moved(before, after, was_own, is_own), ignored)


def _unmatched(before: Snapshot, after: Snapshot) -> tuple[list[_Block], list[_Block], list[tuple[str, str]]]:
    """Return blocks without a counterpart of the same text, or the same significant text, anywhere on the page.
    The last list is of texts that differ only in what does not matter."""
    old, new = Counter(before.texts), Counter(after.texts)
    removed, added = _unmatched_blocks(before, old - new), _unmatched_blocks(after, new - old)
    old_texts = Counter(significant_text(block.text) for block in removed)
    new_texts = Counter(significant_text(block.text) for block in added)
    old_blocks = _select_significant(removed, old_texts - new_texts)
    new_blocks = _select_significant(added, new_texts - old_texts)
    return old_blocks, new_blocks, _ignored_pairs(removed, added, old_blocks, new_blocks)


def _ignored_pairs(
    removed: list[_Block], added: list[_Block], old_blocks: list[_Block], new_blocks: list[_Block]
) -> list[tuple[str, str]]:
    """Return the texts of blocks that were left out, the old and the new one of the same path."""
    chosen = set(map(id, old_blocks + new_blocks))
    old_at, new_at = (_by_path([one for one in blocks if id(one) not in chosen]) for blocks in (removed, added))
    return [
        (old.text, new.text)
        for path, olds in old_at.items()
        for old, new in zip(olds, new_at.get(path, []), strict=False)
    ]


def _unmatched_blocks(snapshot: Snapshot, wanted: Counter[str]) -> list[_Block]:
    """Return as many blocks of each text as are wanted."""
    if not wanted:
        return []
    paths, count = snapshot.paths, len(snapshot.paths)
    last_of = dict(zip(paths, range(count), strict=True))
    first_of = dict(zip(reversed(paths), reversed(range(count)), strict=True))
    blocks = []
    for at, text in enumerate(snapshot.texts):
        if text in wanted and wanted[text] > 0:
            wanted[text] -= 1
            path = paths[at]
            position = _position(at, first=first_of[path], last=last_of[path])
            blocks.append(_Block(path, snapshot.flags[at], text, position))
    return blocks


def _position(at: int, *, first: int, last: int) -> RowPosition:
    if first == last:
        return RowPosition.ALONE
    return RowPosition.FIRST if at == first else RowPosition.LAST if at == last else RowPosition.WITHIN


def _select_significant(blocks: list[_Block], wanted: Counter[str]) -> list[_Block]:
    """Return as many blocks of each significant text as are wanted; insignificant ones never."""
    taken = []
    for block in blocks:
        key = significant_text(block.text)
        if key and wanted[key] > 0:
            wanted[key] -= 1
            taken.append(block)
    return taken


def _is_resplit(removed: list[_Block], added: list[_Block]) -> bool:
    """Return whether the same words are only split into other blocks."""
    if not removed or not added:
        return False
    old, new = ("".join(significant_text(block.text) for block in blocks) for blocks in (removed, added))
    return old == new


def _pair_blocks(removed: list[_Block], added: list[_Block], was_own: IsOwnBlock, is_own: IsOwnBlock) -> list[Hunk]:
    """Pair each removed block with the added one that replaced it: same path, most similar first."""
    old_at, new_at = _by_path(removed), _by_path(added)
    hunks = []
    for path in dict.fromkeys((*old_at, *new_at)):
        pairs = _match_blocks(old_at.get(path, []), new_at.get(path, []))
        is_balanced = all(old is not None and new is not None for old, new in pairs)
        hunks += [_hunk(old, new, was_own, is_own)._replace(is_balanced=is_balanced) for old, new in pairs]
    return hunks


def _by_path(blocks: list[_Block]) -> dict[int, list[_Block]]:
    found: dict[int, list[_Block]] = defaultdict(list)
    for block in blocks:
        found[block.path].append(block)
    return found


def _match_blocks(old: list[_Block], new: list[_Block]) -> list[tuple[_Block | None, _Block | None]]:
    """Return pairs of similar blocks, then of those at the same end of the row, then in order."""
    rest_old, rest_new = list(old), list(new)
    pairs: list[tuple[_Block | None, _Block | None]] = []
    for one, other in (*_similar_pairs(old, new), *_pairs_at_ends(old, new)):
        if one in rest_old and other in rest_new:
            rest_old.remove(one)
            rest_new.remove(other)
            pairs.append((one, other))
    return pairs + list(zip_longest(rest_old, rest_new))


def _similar_pairs(old: list[_Block], new: list[_Block]) -> list[tuple[_Block, _Block]]:
    if not 1 < len(old) * len(new) <= MAX_SIMILARITY_PAIRS:
        return []
    scored = [(text_similarity(one.text, other.text), one, other) for one in old for other in new]
    similar = [entry for entry in scored if entry[0] >= MIN_VARIATION_SIMILARITY]
    return [(one, other) for _, one, other in sorted(similar, key=lambda entry: -entry[0])]


def _pairs_at_ends(old: list[_Block], new: list[_Block]) -> list[tuple[_Block, _Block]]:
    ends = (RowPosition.FIRST, RowPosition.LAST)
    return [
        (one, other)
        for one in old[:1] + old[-1:]
        for other in new[:1] + new[-1:]
        if one.position == other.position and one.position in ends
    ]


def _hunk(old: _Block | None, new: _Block | None, was_own: IsOwnBlock, is_own: IsOwnBlock) -> Hunk:
    some = new or old
    assert some is not None, "a hunk has at least one side"
    return Hunk(
        some.path,
        old.text if old else "",
        new.text if new else "",
        is_own=bool((old and was_own(old.flag)) or (new and is_own(new.flag))),
        is_linked=all(block.flag & LINKED for block in (old, new) if block is not None),
        position=some.position if old is None or new is None or old.position == new.position else RowPosition.WITHIN,
    )


def _moved(before: Snapshot, after: Snapshot, was_own: IsOwnBlock, is_own: IsOwnBlock) -> list[tuple[str, str]]:
    """Return the places where both versions have the same own paragraphs of prose in another order.
    Lists and cards may be sorted; paragraphs are read in order."""
    old, new = _running_prose(before, was_own), _running_prose(after, is_own)
    common = set(old) & set(new)
    old, new = [text for text in old if text in common], [text for text in new if text in common]
    if len(old) != len(new):
        return []
    return [(text, now_here) for text, now_here in zip(old, new, strict=True) if text != now_here]


def ignored_edits(ignored: list[tuple[str, str]]) -> list[KeyedEdit]:
    """Return ignored differences as edits."""
    return [_keyed_edit(*pair) for pair in ignored]


def moved_edit(moved: list[tuple[str, str]]) -> KeyedEdit:
    """Return the paragraphs that changed their order as one edit."""
    return _keyed_edit(" ".join(text for text, _ in moved), " ".join(text for _, text in moved))


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
        (CANONICAL, before.canonical, after.canonical, lambda url: _SESSION.sub("", url)),
        (ROBOTS, before.robots, after.robots, lambda text: "".join(text.split())),
    )
    return _title_hunks(before.title, after.title) + [
        _metadata_hunk(path, old, new) for path, old, new, normalize in sides if normalize(old) != normalize(new)
    ]


def _title_hunks(before: str, after: str) -> list[Hunk]:
    """Compare the parts of a title one by one: one is the page's, another the site's."""
    if significant_title(before) == significant_title(after):
        return []
    old, new = title_parts(before), title_parts(after)
    removed = [part for part in old if part not in new]
    added = [part for part in new if part not in old]
    return [_metadata_hunk(TITLE, *pair) for pair in zip_longest(removed, added, fillvalue="")]


def title_parts(title: str) -> list[str]:
    """Return the parts of a title between dashes, bars and the like."""
    return [part for part in _TITLE_BORDER.split(title) if part]


def _metadata_hunk(path: int, old: str, new: str) -> Hunk:
    return Hunk(path, old, new, is_own=True, is_linked=False, is_metadata=True)


MAX_CACHED_EDITS = 2048  # Each edit is looked up several times while a page is classified.


class KeyedEdit(NamedTuple):
    """An edit with a key that is the same on every page; one of the texts may be empty."""

    key: int
    removed: str
    added: str

    @property
    def text(self) -> str:
        """Return the added text, else the removed one."""
        return self.added or self.removed


def edits_in(hunk: Hunk) -> list[KeyedEdit]:
    """Return the edits of a hunk: one, or two if the texts have nothing in common.
    Where adverts rotate, a notice may appear on all pages at once, unrelated to the removed text."""
    if hunk.removed and hunk.added and not hunk.is_variation and not hunk.is_metadata:
        return [_keyed_edit(hunk.removed, ""), _keyed_edit("", hunk.added)]
    return [_keyed_edit(hunk.removed, hunk.added)]


def combine_keys(keys: set[int]) -> int | None:
    """Return one key for edits made together; None if there are none."""
    return xxh64_intdigest(repr(sorted(keys)).encode()) if keys else None


@lru_cache(maxsize=MAX_CACHED_EDITS)
def _keyed_edit(removed: str, added: str) -> KeyedEdit:
    """Return the edit with a key of the words that differ and one more on each side."""
    old, new = normalize_text(removed).split(), normalize_text(added).split()
    if old and new:
        old, new = _trim_common_words(old, new)
    words = "\x1f".join((" ".join(old), " ".join(new)))
    return KeyedEdit(xxh64_intdigest(words.encode("utf-8", "surrogatepass")), removed, added)


def _trim_common_words(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Drop common words at both ends except the nearest ones."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    head, tail = max(0, head - 1), max(0, tail - 1)
    return old[head : len(old) - tail], new[head : len(new) - tail]
