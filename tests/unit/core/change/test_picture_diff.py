"""Where two pictures differ: exact boxes, and nothing for what only moved."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from evercrawl.adapters import pictures
from evercrawl.adapters.pictures import decode_picture
from evercrawl.core.change.picture_diff import MAX_REGIONS, MIN_PIXELS, REACH, TILE, TOLERANCE, diff_pictures
from evercrawl.model.change import Box

WIDTH = 320


def _page(*blocks: int, width: int = WIDTH) -> npt.NDArray[np.uint8]:
    """Return a picture of blocks between blank rows: each number is the seed of a block of text."""
    parts = [np.full((20, width, 3), 255, np.uint8)]
    for block in blocks:
        part = np.full((24, width, 3), 255, np.uint8)
        dots = np.random.default_rng(block).integers(0, 255, (24, 200, 3), np.uint8)
        part[:, 40:240] = dots
        parts += [part, np.full((20, width, 3), 255, np.uint8)]
    return np.concatenate(parts)


def test_the_same_picture_has_no_regions() -> None:
    found = diff_pictures(_page(1, 2, 3), _page(1, 2, 3))
    assert (found.removed, found.added, found.share) == ((), (), 0.0)
    assert found.before_size == found.after_size == (WIDTH, 152)


def test_an_edit_in_place_is_marked_in_both() -> None:
    after = _page(1, 2, 3)
    after[70:80, 60:90] = (0, 0, 255)
    found = diff_pictures(_page(1, 2, 3), after)
    assert found.removed == found.added == (Box(60, 70, 30, 10),)
    assert found.share == pytest.approx(300 / (WIDTH * 152), rel=0.1)


def test_what_only_moved_is_not_marked() -> None:
    found = diff_pictures(_page(1, 2, 3), _page(1, 9, 2, 3))
    assert found.removed == ()
    assert [(box.y, box.height) for box in found.added] == [(64, 24)]
    assert diff_pictures(_page(1, 9, 2, 3), _page(1, 2, 3)).removed == found.added


def test_a_block_that_grew_is_marked_as_far_as_it_differs() -> None:
    before, after = _page(1, 2, 3), _page(1, 7, 8, 3)
    found = diff_pictures(before, after)
    assert [(box.y, box.height) for box in found.removed] == [(64, 24)]
    assert sum(box.height for box in found.added) >= 48


def test_small_differences_of_colour_and_single_pixels_are_left_out() -> None:
    before, after = _page(1), _page(1)
    after[:, :] = np.clip(after.astype(int) - TOLERANCE, 0, 255)
    assert diff_pictures(before, after).added == ()
    speck = before.copy()
    speck[5, : MIN_PIXELS - 1] = 0
    assert diff_pictures(before, speck).added == ()


def test_regions_apart_are_separate_and_their_number_is_limited() -> None:
    apart = TILE * REACH * 3
    before = np.full((apart * 30, apart * 30, 3), 255, np.uint8)
    two = before.copy()
    two[:TILE, :TILE] = two[apart : apart + TILE, apart : apart + TILE] = 0
    assert diff_pictures(before, two).added == (Box(0, 0, TILE, TILE), Box(apart, apart, TILE, TILE))
    many = before.copy()
    for place in range(0, apart * 30, apart):
        many[place : place + TILE, ::apart] = 0
    assert 0 < len(diff_pictures(before, many).added) <= MAX_REGIONS


def test_pictures_of_different_width_are_compared_on_their_background() -> None:
    found = diff_pictures(_page(1), _page(1, width=WIDTH + 80))
    assert (found.removed, found.added) == ((), ())
    assert (found.before_size[0], found.after_size[0]) == (WIDTH, WIDTH + 80)


def test_an_empty_picture_is_all_removed() -> None:
    assert diff_pictures(_page(1), np.zeros((0, WIDTH, 3), np.uint8)).removed == (Box(40, 20, 200, 24),)


def _encoded(kind: str, mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, (4, 2), (255, 0, 0) if mode == "RGB" else (0, 0, 0, 0)).save(file, kind, lossless=True)
    return file.getvalue()


def test_pictures_are_decoded_on_white(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("WEBP", "PNG"):
        red, clear = decode_picture(_encoded(kind)), decode_picture(_encoded(kind, "RGBA"))
        assert red is not None
        assert red.tolist() == [[[255, 0, 0]] * 4] * 2
        assert clear is not None
        assert clear.tolist() == [[[255] * 3] * 4] * 2
    assert decode_picture(_encoded("GIF")) is None  # Not a format of our screenshots.
    assert decode_picture(_encoded("WEBP")[:20]) is None
    monkeypatch.setattr(pictures, "MAX_PIXELS", 7)
    assert decode_picture(_encoded("PNG")) is None
