"""The ASCII count of the source paper and its limits."""

from __future__ import annotations

import pytest

from evercrawl.core.change.classify import compare
from evercrawl.core.change.detectors import AsciiCountDetector, ascii_count
from evercrawl.model.change import ChangeClass

DETECTOR = AsciiCountDetector()


def test_the_count_is_the_sum_of_the_character_codes():
    assert ascii_count("AB") == 65 + 66
    assert ascii_count(b"") == 0


def test_the_ascii_count_detects_most_edits():
    assert DETECTOR.compare("<p>Price: 89</p>", "<p>Price: 99</p>").changed
    assert not DETECTOR.compare("<p>same</p>", "<p>same</p>").changed
    assert DETECTOR.compare_counts(131, 132).kind is ChangeClass.CONTENT


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>Price: 89 now</p>", "<p>Price: 98 now</p>"),
        ("<p>The council voted 31 to 14.</p>", "<p>The council voted 13 to 41.</p>"),
        ("<p>Open 9 to 17</p>", "<p>Open 8 to 18</p>"),
        ("<p>dog bites man</p>", "<p>man bites dog</p>"),
    ],
)
def test_the_ascii_count_misses_transpositions(before: str, after: str):
    assert not DETECTOR.compare(before, after).changed
    assert compare(before, after).changed


def test_the_ascii_count_reports_noise():
    before, after = "<main><p>A text.</p><p>12 views</p></main>", "<main><p>A text.</p><p>15 views</p></main>"
    assert DETECTOR.compare(before, after).changed
    assert not compare(before, after).changed
