"""Differences between two snapshots of a page, apart from order, space and noise.
A main element with a good part of the text holds all of the page's own blocks. Without one, everything is the page's
own unless it is named otherwise."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate, zip_longest
from operator import eq, itemgetter, lt, or_
from typing import NamedTuple

from evercrawl.core.change.hunk import (
    CANONICAL,
    DESCRIPTION,
    MIN_VARIATION_SIMILARITY,
    MOVED,
    ROBOTS,
    TITLE,
    Hunk,
    IsOwnBlock,
    Move,
    RowPosition,
    SnapshotDiff,
)
from evercrawl.core.change.noise import (
    common_prefix,
    is_drawing,
    is_moment,
    is_time,
    is_upkeep,
    significant_text,
    significant_title,
    text_similarity,
)
from evercrawl.core.change.reference_diff import diff_references, without_session
from evercrawl.core.change.segments import (
    OTHER_FORM,
    Segment,
    SegmentChange,
    changed_segments,
    is_statement,
    label_above,
    split_segments,
)
from evercrawl.core.change.snapshot import (
    ARTICLE,
    BODY,
    ENTRY,
    HEADLINE,
    LINKED,
    MAIN,
    PARAGRAPH,
    REGION_BITS,
    ROW,
    SITE,
    SITE_BY_NAME,
    Snapshot,
    SnapshotMetadata,
)
from evercrawl.core.search.tokenizer import normalize_characters

MAIN_SHARE = 0.4  # Share of the text outside links and site parts that makes the main element the only own region.
MIN_PAGE_PROSE_CHARS = 200
MAX_NAMED_SITE_RATIO = 2
"""A part named like the site's, but with more than this many times the rest's text, is the page's own."""


def own_block_test(snapshot: Snapshot) -> IsOwnBlock:
    """Return a test that tells from a block's flags whether the block is the page's own."""
    chars = [0, 0, 0, 0, 0]
    has_headed_article = False
    for flag, text in zip(snapshot.flags, snapshot.texts, strict=True):
        if not flag & LINKED:
            chars[flag & REGION_BITS] += len(text)
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

    def is_own(flag: int) -> bool:
        return flag & REGION_BITS in own_regions

    return is_own


MAX_SIMILARITY_PAIRS = 400  # Pairs of blocks of one path that are compared for similarity.
MAX_PAIRED_BLOCKS = 1_000  # Blocks of a version, without a counterpart, for which one is searched,
MAX_PAIRED_CHARS = 100_000  # and the length of their texts. What follows is shown as removed and added.
MAX_METADATA_CHARS = 4_000  # Of a title and the like, from where they differ.
TRIMMED_CONTEXT_CHARS = 200  # Kept on both sides of what differs in a text that is too long.
MAX_SPLIT_BLOCKS = 8  # Blocks among which the parts of one that was split are looked for.
MIN_NAME_CHARS = 3  # A segment this long can identify a block.
MIN_PROSE_CHARS = 40  # Shorter paragraphs are labels, whose order means little.
_TITLE_BORDER = re.compile(r"(?<!\s)(?:\s++[-–—|·•»«:/]++\s+|\s*+[|｜»«]\s*)")


class _Block(NamedTuple):
    """A block that only one of the versions has, and its unchanged neighbours."""

    path: int
    name: int
    flag: int
    text: str
    marked: str
    position: RowPosition
    name_position: RowPosition
    after: str  # The nearest text above that both versions have once.
    before: str
    place: float  # How far down the page it stands, 0 to 1.
    has_known_name: bool  # The other version has its name path too.
    above: str  # Marked text of the block above, unless that is a link.
    run: int  # Number of the first block of the run of such blocks.

    def may_become(self, other: _Block) -> bool:
        """Return whether another block may be this one with another text: not if both have names that stay."""
        return self.name == other.name or not (self.has_known_name and other.has_known_name)


def diff_snapshots(before: Snapshot, after: Snapshot) -> SnapshotDiff:
    """Return the differences between two snapshots apart from noise."""
    hunks = _metadata_hunks(before.metadata, after.metadata)
    was_own, is_own = own_block_test(before), own_block_test(after)
    removed, added = _unmatched(before, after) if before.texts != after.texts else ([], [])
    if before.references != after.references:
        hunks += diff_references(before, after, was_own, is_own, [block.text for block in (*removed, *added)])
    if before.texts == after.texts:
        return SnapshotDiff(hunks, [])
    has_prose = _has_prose(after)
    removed, added, surplus = _limit_blocks(removed, added, was_own, is_own)
    removed, added = _without_resplit(removed, added)
    if surplus or not _is_resplit(removed, added):
        hunks = _pair_blocks(removed, added, was_own, is_own) + hunks + surplus
    moved = _moved_paragraphs(before, after, was_own, is_own)
    is_only_order = not any(hunk.is_own and hunk.is_significant for hunk in hunks)
    moved = moved or _moved_entries(before, after, was_own, is_own, is_only_order=is_only_order)
    return SnapshotDiff(hunks, moved, has_prose)


def _has_prose(snapshot: Snapshot) -> bool:
    """Return whether there are statements outside links and the site's parts."""
    blocks = zip(snapshot.flags, snapshot.marked, strict=True)
    statements = (
        len(segment.text)
        for flag, marked in blocks
        if not flag & LINKED and flag & REGION_BITS < SITE_BY_NAME and len(marked) >= MIN_PROSE_CHARS
        for segment in split_segments(marked)
        if segment.is_statement
    )
    return any(chars >= MIN_PAGE_PROSE_CHARS for chars in accumulate(statements))


def _limit_blocks(
    removed: list[_Block], added: list[_Block], was_own: IsOwnBlock, is_own: IsOwnBlock
) -> tuple[list[_Block], list[_Block], list[Hunk]]:
    """Return the blocks that are compared thoroughly, and hunks of those beyond the limits.
    Of long texts only what differs is compared, so that most pages of any size stay within the limits."""
    if _count_within_limits(removed) < len(removed) or _count_within_limits(added) < len(added):
        removed, added = _trim_blocks(removed, added)
    most_old, most_new = _count_within_limits(removed), _count_within_limits(added)
    surplus = _surplus_hunks(removed[most_old:], added[most_new:], was_own, is_own)
    return removed[:most_old], added[:most_new], surplus


def _count_within_limits(blocks: list[_Block]) -> int:
    chars = 0
    for count, block in enumerate(blocks[:MAX_PAIRED_BLOCKS]):
        chars += len(block.text)
        if chars <= MAX_PAIRED_CHARS and not block.text.isascii():
            # Some characters become many when they are normalized.
            chars += max(0, len(normalize_characters(block.text)) - len(block.text))
        if chars > MAX_PAIRED_CHARS:
            return count
    return min(len(blocks), MAX_PAIRED_BLOCKS)


def _trim_blocks(removed: list[_Block], added: list[_Block]) -> tuple[list[_Block], list[_Block]]:
    """Return the blocks with the longest texts of each path cut to what differs between them."""
    old_of, new_of = _group_blocks(removed, _NEIGHBOURS[-1]), _group_blocks(added, _NEIGHBOURS[-1])
    trimmed: dict[_Block, _Block] = {}
    for path in old_of.keys() & new_of.keys():
        for old, new in zip(old_of[path], new_of[path], strict=False):
            if min(len(old.text), len(new.text)) > 2 * TRIMMED_CONTEXT_CHARS:
                old_text, new_text = _differing_part(old.text, new.text)
                trimmed[old] = old._replace(text=old_text, marked=old_text)
                trimmed[new] = new._replace(text=new_text, marked=new_text)
    return [trimmed.get(block, block) for block in removed], [trimmed.get(block, block) for block in added]


def _differing_part(old: str, new: str) -> tuple[str, str]:
    head = common_prefix(old, new)
    tail = common_prefix(old[head:][::-1], new[head:][::-1])
    start, end = max(0, head - TRIMMED_CONTEXT_CHARS), max(0, tail - TRIMMED_CONTEXT_CHARS)
    return old[start : len(old) - end], new[start : len(new) - end]


def _surplus_hunks(removed: list[_Block], added: list[_Block], was_own: IsOwnBlock, is_own: IsOwnBlock) -> list[Hunk]:
    """Return hunks of blocks of the same path, in order, without looking at their texts."""
    old_of, new_of = _group_blocks(removed, _NEIGHBOURS[-1]), _group_blocks(added, _NEIGHBOURS[-1])
    return [
        _surplus_hunk(old, new, is_own=bool((old and was_own(old.flag)) or (new and is_own(new.flag))))
        for path in dict.fromkeys((*old_of, *new_of))
        for old, new in zip_longest(old_of.get(path, ()), new_of.get(path, ()))
    ]


def _surplus_hunk(old: _Block | None, new: _Block | None, *, is_own: bool) -> Hunk:
    some = new or old
    assert some is not None, "a hunk has at least one side"
    return Hunk(
        some.path,
        old.text if old else "",
        new.text if new else "",
        is_own=is_own,
        is_linked=all(block.flag & LINKED for block in (old, new) if block is not None),
        position=RowPosition.WITHIN,
        name=some.name,
        name_position=RowPosition.WITHIN,
        is_surplus=True,
    )


def _unmatched(before: Snapshot, after: Snapshot) -> tuple[list[_Block], list[_Block]]:
    """Return blocks without a counterpart of the same text, at the same path or else anywhere on the page.
    A text that went here and came there is two changes: what stands in the place of a block goes with it."""
    texts_before, texts_after = Counter(before.texts), Counter(after.texts)
    old, new = (Counter(zip(side.paths, side.texts, strict=True)) for side in (before, after))
    fewer, more = texts_before - texts_after, texts_after - texts_before
    anchors = _anchors(before.texts, after.texts, texts_before, texts_after)
    gaps_before, gaps_after = _gaps(before, anchors), _gaps(after, anchors)
    successors = _counterparts(gaps_before, gaps_after)
    predecessors = {now: was for was, now in successors.items()}
    went = _places_of(before, old - new, fewer, {was: after.texts[now] for was, now in successors.items()})
    came = _places_of(after, new - old, more, {now: before.texts[was] for was, now in successors.items()})
    came |= {successors[at] for at in went if at in successors and after.texts[successors[at]] != before.texts[at]}
    went |= {
        predecessors[at] for at in came if at in predecessors and before.texts[predecessors[at]] != after.texts[at]
    }
    return (
        _blocks_at(before, sorted(went), gaps_before, frozenset(after.names)),
        _blocks_at(after, sorted(came), gaps_after, frozenset(before.names)),
    )


def _anchors(
    before: tuple[str, ...], after: tuple[str, ...], counts_before: Counter[str], counts_after: Counter[str]
) -> set[str]:
    """Return the texts that both versions have once; of the short ones, which may be the same by chance, only those
    that are still in the same order."""
    place = {text: at for at, text in enumerate(after) if counts_after[text] == 1}
    common = [text for text in before if text in place and counts_before[text] == 1]
    places = [place[text] for text in common]
    if all(map(lt, places, places[1:])):
        return set(common)
    best: list[tuple[int, int]] = []  # Place and weight of the heaviest increasing run that ends there; both grow.
    previous: dict[int, int] = {}
    for text, at in zip(common, places, strict=True):
        found = bisect(best, (at, 0)) - 1
        previous[at] = best[found][0] if found >= 0 else -1
        weight = (best[found][1] if found >= 0 else 0) + len(text)
        end = found + 1
        while end < len(best) and best[end][1] <= weight:
            end += 1
        best[found + 1 : end] = [(at, weight)]
    kept, at = {text for text in common if len(text) >= MIN_PROSE_CHARS}, best[-1][0]
    while at >= 0:
        kept.add(after[at])
        at = previous[at]
    return kept


_Gap = tuple[int, str, str]
"""The path of a block, and the nearest texts above and below it that both versions have once."""


def _gaps(snapshot: Snapshot, anchors: set[str]) -> list[_Gap]:
    texts = snapshot.texts
    last, above = "", []
    for text in texts:
        above.append(last)
        last = text if text in anchors else last
    last, below = "", []
    for text in reversed(texts):
        below.append(last)
        last = text if text in anchors else last
    return list(zip(snapshot.paths, above, reversed(below), strict=True))


def _counterparts(old: list[_Gap], new: list[_Gap]) -> dict[int, int]:
    """Return which block stands in the place of which, where both versions have as many between the same neighbours."""
    old_of, new_of = _numbers_by_gap(old), _numbers_by_gap(new)
    found: dict[int, int] = {}
    for gap, numbers in old_of.items():
        others = new_of.get(gap, ())
        if len(numbers) == len(others):
            found.update(zip(numbers, others, strict=True))
    return found


def _numbers_by_gap(gaps: list[_Gap]) -> dict[_Gap, list[int]]:
    found: dict[_Gap, list[int]] = defaultdict(list)
    for number, gap in enumerate(gaps):
        found[gap].append(number)
    return found


def _places_of(
    snapshot: Snapshot, unpaired: Counter[tuple[int, str]], wanted: Counter[str], in_place: dict[int, str]
) -> set[int]:
    """Return as many blocks of each text as are wanted: those without a counterpart at their path, and of these first
    the ones in whose place stands another text."""
    if not wanted:
        return set()
    blocks = enumerate(zip(snapshot.paths, snapshot.texts, strict=True))
    fit = [
        (at, path, text) for at, (path, text) in blocks if wanted.get(text, 0) > 0 and unpaired.get((path, text), 0) > 0
    ]
    fit.sort(key=lambda block: in_place.get(block[0]) == block[2])
    places = set()
    for at, path, text in fit:
        if wanted[text] > 0 and unpaired[(path, text)] > 0:
            wanted[text] -= 1
            unpaired[(path, text)] -= 1
            places.add(at)
    return places


def _blocks_at(snapshot: Snapshot, places: list[int], gaps: list[_Gap], other_names: frozenset[int]) -> list[_Block]:
    texts = snapshot.texts
    paths, names = _row_positions(snapshot.paths, places), _row_positions(snapshot.names, places)
    runs: list[int] = []
    for number, at in enumerate(places):
        runs.append(runs[-1] if number and places[number - 1] == at - 1 else at)
    return [
        _Block(
            snapshot.paths[at],
            snapshot.names[at],
            snapshot.flags[at],
            texts[at],
            snapshot.marked[at],
            paths[number],
            names[number],
            gaps[at][1],
            gaps[at][2],
            at / len(texts),
            snapshot.names[at] in other_names,
            snapshot.marked[at - 1] if at and not snapshot.flags[at - 1] & LINKED else "",
            runs[number],
        )
        for number, at in enumerate(places)
    ]


def _row_positions(paths: tuple[int, ...], places: list[int]) -> list[RowPosition]:
    count = len(paths)
    last_of = dict(zip(paths, range(count), strict=True))
    first_of = dict(zip(reversed(paths), reversed(range(count)), strict=True))
    return [_position(at, first=first_of[paths[at]], last=last_of[paths[at]]) for at in places]


def _position(at: int, *, first: int, last: int) -> RowPosition:
    if first == last:
        return RowPosition.ALONE
    return RowPosition.FIRST if at == first else RowPosition.LAST if at == last else RowPosition.WITHIN


def _significant_blocks(blocks: list[_Block], others: list[_Block]) -> set[_Block]:
    """Return the blocks with a significant text that none of the others has."""
    wanted = Counter(significant_text(block.text) for block in blocks)
    wanted.subtract(significant_text(block.text) for block in others)
    taken = set()
    for block in blocks:
        key = significant_text(block.text)
        if key and wanted[key] > 0:
            wanted[key] -= 1
            taken.add(block)
    return taken


def _without_resplit(removed: list[_Block], added: list[_Block]) -> tuple[list[_Block], list[_Block]]:
    """Return the blocks without those whose words are only split into other blocks, as by a badge in their middle."""
    if not removed or not added or len(removed) == len(added) == 1:
        return removed, added
    in_old, in_new = _split_blocks(removed, added), _split_blocks(added, removed)
    dropped = {id(block) for one, parts in (*in_old, *in_new) for block in (one, *parts)}
    if not dropped:
        return removed, added
    return [block for block in removed if id(block) not in dropped], [
        block for block in added if id(block) not in dropped
    ]


def _split_blocks(wholes: list[_Block], parts: list[_Block]) -> list[tuple[_Block, list[_Block]]]:
    """Return the blocks whose words several of the others have in the same order, and those."""
    starts: dict[str, list[int]] = defaultdict(list)
    for at, part in enumerate(parts):
        found_at = starts[part.text.split(" ", 1)[0]]
        if len(found_at) < MAX_SPLIT_BLOCKS:
            found_at.append(at)
    found: list[tuple[_Block, list[_Block]]] = []
    taken: set[int] = set()
    for whole in wholes:
        for at in starts.get(whole.text.split(" ", 1)[0], ()):
            run = _parts_of(whole.text, parts[at : at + MAX_SPLIT_BLOCKS])
            if run and taken.isdisjoint(map(id, run)):
                taken.update(map(id, run))
                found.append((whole, run))
                break
    return found


def _parts_of(text: str, blocks: list[_Block]) -> list[_Block]:
    """Return the blocks that make up a text, at least two; others may stand between them."""
    found: list[_Block] = []
    for block in blocks:
        if text.startswith(block.text) and len(block.text) < len(text) + len(found):
            found.append(block)
            text = text[len(block.text) :].lstrip()
            if not text:
                return found
    return []


def _is_resplit(removed: list[_Block], added: list[_Block]) -> bool:
    """Return whether the same words are only split into other blocks."""
    if not removed or not added:
        return False
    old, new = ("".join(significant_text(block.text) for block in blocks) for blocks in (removed, added))
    return old == new and not any(is_moment(block.text) for block in removed)


def _pair_blocks(removed: list[_Block], added: list[_Block], was_own: IsOwnBlock, is_own: IsOwnBlock) -> list[Hunk]:
    """Pair each removed block with the added one that replaced it: same path, same neighbours, most similar first."""
    counts = Counter(block.path for block in removed)
    counts.subtract(block.path for block in added)
    significant = _significant_blocks(removed, added) | _significant_blocks(added, removed)
    hunks = []
    for old, new in _match_by(removed, added):
        if old and new and old.text == new.text:
            continue
        some = new or old
        assert some is not None, "a pair has at least one side"
        is_significant = old in significant or new in significant
        hunk = _hunk(old, new, was_own, is_own)
        is_significant = is_significant or _has_significant_segment(hunk)
        hunk = hunk._replace(is_balanced=counts[some.path] == 0, is_significant=is_significant)
        hunks.append((some.place, hunk))
    return [hunk for _, hunk in sorted(hunks, key=itemgetter(0))]


_Pair = tuple[_Block | None, _Block | None]
_BlockKey = Callable[[_Block], Hashable]
_NEIGHBOURS: tuple[_BlockKey, ...] = (
    lambda block: (block.path, block.after, block.before),
    lambda block: (block.after, block.before),
    lambda block: (block.path, block.before),
    lambda block: (block.path, block.after),
    lambda block: block.path,
)


def _match_by(removed: list[_Block], added: list[_Block]) -> list[_Pair]:
    """Return pairs: same neighbours, then a segment that only these two have, then one neighbour, then similar ones.
    What is left has no counterpart."""
    pairs: list[_Pair] = []
    for place, key in enumerate(_NEIGHBOURS):
        if place == 1:
            found, removed, added = _match_by_segment(removed, added)
            pairs += found
        found, removed, added = _match_groups(removed, added, key, is_last=key is _NEIGHBOURS[-1])
        pairs += found
    return pairs + [(old, None) for old in removed] + [(None, new) for new in added]


def _match_groups(
    removed: list[_Block], added: list[_Block], key: _BlockKey, *, is_last: bool = False
) -> tuple[list[_Pair], list[_Block], list[_Block]]:
    """Return pairs within groups of the same key, and what is left."""
    if not removed or not added:
        return [], removed, added
    old_at, new_at = _group_blocks(removed, key), _group_blocks(added, key)
    matched = [
        pair
        for common in dict.fromkeys((*old_at, *new_at))
        for pair in _match_blocks(old_at.get(common, []), new_at.get(common, []), is_last=is_last)
    ]
    pairs = [pair for pair in matched if pair[0] is not None and pair[1] is not None]
    rest_old = [old for old, new in matched if old is not None and new is None]
    return pairs, rest_old, [new for old, new in matched if new is not None and old is None]


def _match_by_segment(removed: list[_Block], added: list[_Block]) -> tuple[list[_Pair], list[_Block], list[_Block]]:
    """Return pairs of blocks with a segment of letters that no other such block has, and what is left."""
    if not removed or not added:
        return [], removed, added
    old_of, new_of = _unique_segments(removed), _unique_segments(added)
    partner: dict[_Block, _Block] = {}
    taken: set[_Block] = set()
    for key, old in old_of.items():
        new = new_of.get(key)
        if new is not None and old not in partner and new not in taken:
            partner[old] = new
            taken.add(new)
    pairs: list[_Pair] = list(partner.items())
    return pairs, [old for old in removed if old not in partner], [new for new in added if new not in taken]


def _unique_segments(blocks: list[_Block]) -> dict[tuple[int, str], _Block]:
    owners: dict[tuple[int, str], _Block | None] = {}
    for block in blocks:
        for segment in split_segments(block.marked):
            if len(segment.text) >= MIN_NAME_CHARS and any(map(str.isalpha, segment.text)):
                key = (block.path, segment.text)
                owners[key] = block if key not in owners else None
    return {key: block for key, block in owners.items() if block is not None}


def _group_blocks(blocks: list[_Block], key: _BlockKey) -> dict[Hashable, list[_Block]]:
    found: dict[Hashable, list[_Block]] = defaultdict(list)
    for block in blocks:
        found[key(block)].append(block)
    return found


def _match_blocks(old: list[_Block], new: list[_Block], *, is_last: bool) -> list[_Pair]:
    """Return pairs of similar blocks, then of those at the same end of the row, then in order."""
    if not old or not new:
        return [(one, None) for one in old] + [(None, other) for other in new]
    rest_old, rest_new = list(old), list(new)
    pairs: list[_Pair] = []
    for one, other in (*_similar_pairs(old, new), *_pairs_at_ends(old, new)):
        if one in rest_old and other in rest_new:
            rest_old.remove(one)
            rest_new.remove(other)
            pairs.append((one, other))
    if len(rest_old) == len(rest_new) and not is_last:
        in_order = list(zip(rest_old, rest_new, strict=True))
        if all(one.may_become(other) for one, other in in_order):
            return pairs + in_order
    if is_last and rest_old and rest_new:
        replaced = _replaced_links(rest_old, rest_new)
        pairs += replaced
        taken = {id(block) for pair in replaced for block in pair}
        rest_old = [one for one in rest_old if id(one) not in taken]
        rest_new = [other for other in rest_new if id(other) not in taken]
    return pairs + [(one, None) for one in rest_old] + [(None, other) for other in rest_new]


def _replaced_links(old: list[_Block], new: list[_Block]) -> list[_Pair]:
    """Return pairs of linked blocks of the same name path, in order: entries of a list that others replaced."""
    waiting: dict[int, list[_Block]] = defaultdict(list)
    for block in reversed(new):
        if block.flag & LINKED:
            waiting[block.name].append(block)
    return [(one, waiting[one.name].pop()) for one in old if one.flag & LINKED and waiting[one.name]]


def _similar_pairs(old: list[_Block], new: list[_Block]) -> list[tuple[_Block, _Block]]:
    if len(old) * len(new) > MAX_SIMILARITY_PAIRS:
        return []
    scored = [(text_similarity(one.text, other.text), one, other) for one in old for other in new]
    similar = [entry for entry in scored if entry[0] >= MIN_VARIATION_SIMILARITY]
    return [(one, other) for _, one, other in sorted(similar, key=lambda entry: -entry[0])]


def _pairs_at_ends(old: list[_Block], new: list[_Block]) -> list[tuple[_Block, _Block]]:
    ends = (RowPosition.FIRST, RowPosition.LAST, RowPosition.ALONE)
    return [
        (one, other)
        for one in old[:1] + old[-1:]
        for other in new[:1] + new[-1:]
        if one.name_position == other.name_position and one.name_position in ends and one.name == other.name
    ]


def _hunk(old: _Block | None, new: _Block | None, was_own: IsOwnBlock, is_own: IsOwnBlock) -> Hunk:
    some = new or old
    assert some is not None, "a hunk has at least one side"
    segments = split_segments(some.marked)
    return Hunk(
        some.path,
        old.text if old else "",
        new.text if new else "",
        is_own=bool((old and was_own(old.flag)) or (new and is_own(new.flag))) or _is_free_statement(some, segments),
        is_linked=all(block.flag & LINKED for block in (old, new) if block is not None),
        position=_common_position(old, new, "position"),
        name=some.name,
        has_same_name=old is None or new is None or old.name == new.name,
        name_position=_common_position(old, new, "name_position"),
        is_row=bool(some.flag & ROW) and not any(segment.is_statement for segment in segments),
        is_entry=bool(some.flag & ENTRY),
        segments=tuple(_changed_segments(old, new)) if old and new else (),
        form=len(segments),
        old_marked=old.marked if old else "",
        new_marked=new.marked if new else "",
        runs=(old.run if old else -1, new.run if new else -1),
    )


def _changed_segments(old: _Block, new: _Block) -> list[SegmentChange]:
    """Return the segments in which blocks differ; what a block of a single fact is may stand in the block above."""
    changes = changed_segments(old.marked, new.marked)
    if len(changes) == 1 and not changes[0].label and old.above == new.above and new.above:
        return [changes[0]._replace(label=label_above(new.above))] if _is_fact(new.marked) else changes
    return changes


def _is_fact(marked: str) -> bool:
    return len(split_segments(marked)) == 1


def _has_significant_segment(hunk: Hunk) -> bool:
    """Return whether a fact of a line differs that is not about readers, ages or upkeep."""
    if is_drawing(hunk.removed) and is_drawing(hunk.added):
        return False
    return hunk.form > 1 and any(
        change.slot < OTHER_FORM and not is_upkeep(change.added) and not is_upkeep(change.removed)
        for change in hunk.segments
    )


def _is_free_statement(block: _Block, segments: Sequence[Segment]) -> bool:
    """Return whether a block is a statement in a list or an article outside of the main part, as comments are."""
    region = block.flag & REGION_BITS
    is_free = not block.flag & LINKED and (region == ARTICLE or (region < SITE_BY_NAME and block.flag & ENTRY))
    return bool(is_free) and any(segment.is_statement for segment in segments)


def _common_position(old: _Block | None, new: _Block | None, field: str) -> RowPosition:
    positions = {getattr(block, field) for block in (old, new) if block is not None}
    return positions.pop() if len(positions) == 1 else RowPosition.WITHIN


def _moved_entries(
    before: Snapshot, after: Snapshot, was_own: IsOwnBlock, is_own: IsOwnBlock, *, is_only_order: bool
) -> list[Move]:
    """Return the places where both versions have the same entries, rows or paragraphs of one path in another order.
    Links may be sorted by what is new elsewhere on the page, so they count where nothing else differs."""
    old_of, new_of = _sortable_texts(before, was_own), _sortable_texts(after, is_own)
    moves = []
    for (path, is_linked), new in new_of.items():
        old = old_of.get((path, is_linked), [])
        if old == new or Counter(old) != Counter(new):
            continue
        old, new = ([text for text in texts if not is_time(text)] for texts in (old, new))
        is_same = len(set(new)) == len(new) == len(old)
        if is_same and (is_only_order or not is_linked):
            pairs = zip(old, new, strict=True)
            moves += [Move(path, text, now, is_linked) for text, now in pairs if text != now]
    return moves


def _sortable_texts(snapshot: Snapshot, is_own: IsOwnBlock) -> dict[tuple[int, bool], list[str]]:
    found: dict[tuple[int, bool], list[str]] = defaultdict(list)
    for path, flag, text in zip(snapshot.paths, snapshot.flags, snapshot.texts, strict=True):
        is_sortable = flag & (ENTRY | ROW) or (len(text) >= MIN_PROSE_CHARS and is_statement(text))
        if is_sortable and is_own(flag):
            found[(path, bool(flag & LINKED))].append(text)
    return found


def _moved_paragraphs(before: Snapshot, after: Snapshot, was_own: IsOwnBlock, is_own: IsOwnBlock) -> list[Move]:
    """Return the places where both versions have the same own paragraphs of prose in another order.
    Lists and cards may be sorted; paragraphs are read in order."""
    old, new = _running_prose(before, was_own), _running_prose(after, is_own)
    common = set(old) & set(new)
    old, new = [text for text in old if text in common], [text for text in new if text in common]
    if old == new:
        return []
    if sum(map(len, common)) <= MAX_PAIRED_CHARS:
        common = {text for text in common if significant_text(text)}
        old, new = [text for text in old if text in common], [text for text in new if text in common]
    if len(old) != len(new):
        return []
    return [Move(MOVED, text, now_here) for text, now_here in zip(old, new, strict=True) if text != now_here]


def _running_prose(snapshot: Snapshot, is_own: IsOwnBlock) -> list[str]:
    paths, flags, texts = snapshot.paths, snapshot.flags, snapshot.texts
    same = tuple(map(eq, paths, paths[1:]))
    in_row = map(or_, (*same, False), (False, *same))
    return [
        text
        for flag, text, is_in_row in zip(flags, texts, in_row, strict=False)
        if is_in_row
        and (len(text) >= MIN_PROSE_CHARS or flag & ENTRY)
        and flag & PARAGRAPH
        and not flag & LINKED
        and is_own(flag)
    ]


def _metadata_hunks(before: SnapshotMetadata, after: SnapshotMetadata) -> list[Hunk]:
    if before == after:
        return []
    before, after = _trim_metadata(before, after)
    sides = (
        (DESCRIPTION, before.description, after.description, significant_text),
        (CANONICAL, before.canonical, after.canonical, without_session),
        (ROBOTS, before.robots, after.robots, lambda text: "".join(text.split())),
    )
    return _title_hunks(before.title, after.title) + [
        _metadata_hunk(path, old, new) for path, old, new, normalize in sides if normalize(old) != normalize(new)
    ]


def _trim_metadata(before: SnapshotMetadata, after: SnapshotMetadata) -> tuple[SnapshotMetadata, SnapshotMetadata]:
    """Return both with long texts cut where they begin to differ; nobody reads more of them."""
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    for field in ("title", "description", "canonical", "robots"):
        one, other = getattr(before, field), getattr(after, field)
        if max(len(one), len(other)) > MAX_METADATA_CHARS:
            start = max(0, common_prefix(one, other) - TRIMMED_CONTEXT_CHARS)
            one, other = one[start : start + MAX_METADATA_CHARS], other[start : start + MAX_METADATA_CHARS]
        old[field], new[field] = one, other
    return SnapshotMetadata(**old), SnapshotMetadata(**new)


def _title_hunks(before: str, after: str) -> list[Hunk]:
    """Compare the parts of a title one by one: one is the page's, another the site's."""
    if significant_title(before) == significant_title(after):
        return []
    old, new = title_parts(before), title_parts(after)
    old_parts, new_parts = set(old), set(new)
    removed = [part for part in old if part not in new_parts]
    added = [part for part in new if part not in old_parts]
    return [_metadata_hunk(TITLE, *pair) for pair in zip_longest(removed, added, fillvalue="")]


def title_parts(title: str) -> list[str]:
    """Return the parts of a title between dashes, bars and the like."""
    return [part for part in _TITLE_BORDER.split(title) if part]


def _metadata_hunk(path: int, old: str, new: str) -> Hunk:
    return Hunk(path, old, new, is_own=True, is_linked=False, is_metadata=True)
