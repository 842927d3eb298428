"""Change detectors without history: by bytes, by text, or by paper B's ASCII count.
They serve comparison and content that is not HTML; they cannot tell noise from content."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.core.change.text_diff import changed_words, cut_words, diff_text, limit_edits
from evercrawl.model.change import NO_CHANGE, BlockEdit, Change, ChangeClass, Edit, Words


def ascii_count(html: bytes | str) -> int:
    """Return the sum of the page's byte values."""
    return sum(html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html)


class AsciiCountDetector:
    """Detects changes by the ASCII count alone; it misses characters that change places."""

    name = "paper-ascii-count"

    def compare(self, before: bytes | str, after: bytes | str) -> Change:
        """Return the change that the two counts show."""
        return self.compare_counts(ascii_count(before), ascii_count(after))

    def compare_counts(self, before: int, after: int) -> Change:
        """Return the change that two stored counts show; its size is unknown and given as 1."""
        return NO_CHANGE if before == after else Change(ChangeClass.CONTENT, 1.0)


OTHER_BYTES = "the content has other bytes"  # The text of the edit of a file without text.
DEFAULT_DETECTOR = "meaning"  # `classify_visit` decides, with the histories of page and site.
DETECTORS = (DEFAULT_DETECTOR, "text", "bytes", AsciiCountDetector.name)


class FetchedContent(NamedTuple):
    """A page's content at one visit."""

    body: bytes
    text: str | None  # Main text; None if there is no document.


def detect_change(
    detector: str, before: FetchedContent, after: FetchedContent, *, now: datetime | None = None
) -> Change:
    """Return the change between two different contents by the named detector."""
    if detector == AsciiCountDetector.name:
        change = AsciiCountDetector().compare(before.body, after.body)
    elif detector == "bytes":
        change = bytes_change()
    else:
        return text_change(before.text, after.text, now=now)
    return _add_edits(change, before, after) if change.changed else change


def _add_edits(change: Change, before: FetchedContent, after: FetchedContent) -> Change:
    """Return the change with the edits of the text, so that a reader sees what changed."""
    text = text_change(before.text, after.text)
    return replace(change, edits=text.edits or bytes_change().edits, omitted=text.omitted)


def bytes_change() -> Change:
    """Return a change of which only the bytes are known."""
    return Change(ChangeClass.CONTENT, 1.0, (Edit(_key("", OTHER_BYTES), False, (Words("+", OTHER_BYTES),)),))


def text_change(before: str | None, after: str | None, *, now: datetime | None = None) -> Change:
    """Return the change between two texts, or between their bytes; lines that differ in the time `now` are the same."""
    if before is None or after is None:
        return bytes_change()
    found = diff_text(before, after if now is None else _with_earlier_clocks(before, after, now))
    if not found.edits:
        return Change(ChangeClass.NOISE) if before or after else bytes_change()
    edits, omitted = limit_edits(map(_edit, found.edits), len(found.edits))
    return Change(ChangeClass.CONTENT, found.size, edits, omitted=omitted)


MAX_CLOCK_ERROR: Final = timedelta(minutes=2)
_STAMP = re.compile(r"\b(\d{4}-?\d\d-?\d\d[T ]\d\d:?\d\d:?\d\d)(?:\.\d+)?(?:Z|\+00:?00)?(?![+\w])", re.ASCII)


def _with_earlier_clocks(before: str, after: str, now: datetime) -> str:
    """Return the newer text with those lines as they were in which only a clock differs."""
    if not _has_clock(after, now):
        return after
    was = {_STAMP.sub("#", line): line for line in before.split("\n")}
    return "\n".join(
        was.get(_STAMP.sub("#", line), line) if _has_clock(line, now) else line for line in after.split("\n")
    )


def _has_clock(text: str, now: datetime) -> bool:
    """Return whether a text has a time that can only be that of the answer."""
    with suppress(ValueError):
        times = (datetime.fromisoformat(found[1]).replace(tzinfo=UTC) for found in _STAMP.finditer(text))
        return any(abs(time - now) <= MAX_CLOCK_ERROR for time in times)
    return False


def _edit(block: BlockEdit) -> Edit:
    changed = changed_words(block)
    removed, added = ("".join(words.text for words in changed if words.sign == sign) for sign in "-+")
    words, omitted = cut_words(block.words)
    return Edit(_key(removed, added), False, words, omitted=omitted)


def _key(removed: str, added: str) -> int:
    return xxh64_intdigest(f"{removed}\0{added}".encode("utf-8", "surrogatepass"))
