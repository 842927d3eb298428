"""Where two pictures of a page differ.
Equal rows of pixels are aligned first, so that what only moved up or down does not count as changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import xxhash

from evercrawl.core.change.sequence_diff import Gap, gaps_between, matching_runs
from evercrawl.model.change import Box, PictureDiff

TOLERANCE = 24  # Least difference of a colour, of 255, that a reader may notice.
TILE = 8  # Pixels; pictures are compared in squares of this size.
MIN_PIXELS = 4  # A region with fewer differing pixels is left out.
REACH = 2  # Squares between parts of one region; larger if there would be too many regions.
MAX_REGIONS = 100

Picture = npt.NDArray[np.uint8]
"""Rows, columns and colours (red, green, blue)."""
Mask = npt.NDArray[np.bool_]


def diff_pictures(before: Picture, after: Picture) -> PictureDiff:
    """Return the regions of each picture that the other does not have."""
    width = max(before.shape[1], after.shape[1])
    old, new = _widen(before, width), _widen(after, width)
    old_mask, new_mask = _masks(old, new)
    return PictureDiff(
        (before.shape[1], before.shape[0]),
        (after.shape[1], after.shape[0]),
        removed=_regions(old_mask[:, : before.shape[1]]),
        added=_regions(new_mask[:, : after.shape[1]]),
        share=round(float(old_mask.sum() + new_mask.sum()) / max(1, old_mask.size + new_mask.size), 6),
    )


def _widen(picture: Picture, width: int) -> Picture:
    """Return the picture with its background at the right."""
    missing = width - picture.shape[1]
    if not missing:
        return picture
    fill = np.broadcast_to(_background(picture), (picture.shape[0], missing, 3))
    return np.concatenate([picture, fill], axis=1)


def _background(picture: Picture) -> Picture:
    """Return the most frequent colour of the left edge: the background of most pages."""
    colours, counts = np.unique(picture[:, 0], axis=0, return_counts=True)
    most: Picture = colours[counts.argmax()] if len(colours) else np.full(3, 255, np.uint8)
    return most


def _masks(old: Picture, new: Picture) -> tuple[Mask, Mask]:
    """Return which pixels of each picture differ from the other picture."""
    rows = [[xxhash.xxh3_64_intdigest(row.tobytes()) for row in picture] for picture in (old, new)]
    masks = np.zeros(old.shape[:2], np.bool_), np.zeros(new.shape[:2], np.bool_)
    whole = Gap(0, len(rows[0]), 0, len(rows[1]))
    for gap in gaps_between(matching_runs(*rows), whole):
        common = min(gap.a_end - gap.a, gap.b_end - gap.b)
        a, b = gap.a + common, gap.b + common
        masks[0][gap.a : a] = masks[1][gap.b : b] = _differ(old[gap.a : a], new[gap.b : b])
        masks[0][a : gap.a_end] = _differ(old[a : gap.a_end], _background(old))
        masks[1][b : gap.b_end] = _differ(new[b : gap.b_end], _background(new))
    return masks


def _differ(a: Picture, b: Picture) -> Mask:
    found: Mask = (np.abs(a.astype(np.int16) - b) > TOLERANCE).any(axis=2)
    return found


def _regions(mask: Mask) -> tuple[Box, ...]:
    """Return boxes round the pixels of a mask, from the top to the bottom."""
    height, width = mask.shape
    padded = np.pad(mask, ((0, -height % TILE), (0, -width % TILE)))
    tiles = padded.reshape(padded.shape[0] // TILE, TILE, padded.shape[1] // TILE, TILE).sum(axis=(1, 3))
    places = {(int(y), int(x)): int(tiles[y, x]) for y, x in np.argwhere(tiles)}
    reach = REACH
    while len(found := list(_groups(places, reach))) > MAX_REGIONS:
        reach *= 2
    return tuple(sorted((_box(mask, group) for group in found), key=lambda box: (box.y, box.x)))


def _groups(places: dict[tuple[int, int], int], reach: int) -> Iterator[list[tuple[int, int]]]:
    """Yield squares that are near each other, if enough of their pixels differ. Coarse squares of `reach` keep the
    number of neighbours small."""
    coarse: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for place in places:
        coarse.setdefault((place[0] // reach, place[1] // reach), []).append(place)
    while coarse:
        first, members = coarse.popitem()
        waiting = [first]
        while waiting:
            y, x = waiting.pop()
            for near in [(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]:
                if near in coarse:
                    members += coarse.pop(near)
                    waiting.append(near)
        if sum(places[place] for place in members) >= MIN_PIXELS:
            yield members


def _box(mask: Mask, tiles: list[tuple[int, int]]) -> Box:
    """Return the smallest box round the pixels of some squares."""
    top, left = min(y for y, _ in tiles) * TILE, min(x for _, x in tiles) * TILE
    part = mask[top : (max(y for y, _ in tiles) + 1) * TILE, left : (max(x for _, x in tiles) + 1) * TILE]
    rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    return Box(
        left + int(columns[0]), top + int(rows[0]), int(columns[-1] - columns[0]) + 1, int(rows[-1] - rows[0]) + 1
    )
