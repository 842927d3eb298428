"""The ASCII count of the source paper and its limits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evercrawl.core.change.classify import compare
from evercrawl.core.change.detectors import DETECTORS, AsciiCountDetector, FetchedContent, ascii_count, detect_change
from evercrawl.model.change import NO_CHANGE, Change, ChangeClass

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


def test_every_detector_says_what_changed() -> None:
    before, after = FetchedContent(b"<p>one two", "one two"), FetchedContent(b"<p>one three", "one three")
    for detector in DETECTORS[1:]:
        (edit,) = detect_change(detector, before, after).edits
        assert (edit.removed, edit.added) == ("one two", "one three")
    other = FetchedContent(b"\x89PNG 2", None)
    (edit,) = detect_change("paper-ascii-count", FetchedContent(b"\x89PNG 1", None), other).edits
    assert edit.added
    assert detect_change("paper-ascii-count", FetchedContent(b"ab", "ab"), FetchedContent(b"ba", "ba")) == NO_CHANGE


def test_a_clock_in_a_calendar_file_is_noise_and_an_event_that_moved_is_not() -> None:
    calendar = "BEGIN:VEVENT\nDTSTAMP:{stamp}\nDTSTART:20270301T090000Z\nSUMMARY:Open day\nEND:VEVENT"
    before = calendar.format(stamp="20261119T202601Z")
    now = datetime(2026, 11, 19, 21, 15, 8, tzinfo=UTC)
    after = calendar.format(stamp="20261119T211507Z")

    def change(newer: str) -> Change:
        contents = (FetchedContent(text.encode(), text) for text in (before, newer))
        return detect_change("meaning", *contents, now=now)

    assert change(after).kind is ChangeClass.NOISE
    (edit,) = change(after.replace("20270301T09", "20270301T10")).edits
    assert (edit.removed, edit.added) == ("DTSTART:20270301T090000Z", "DTSTART:20270301T100000Z")
    assert change(before.replace("20261119T202601Z", "20261231T202601Z")).kind is ChangeClass.CONTENT
    assert change(after.replace("T211507Z", "T256199Z")).kind is ChangeClass.CONTENT
