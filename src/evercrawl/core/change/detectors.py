"""The source paper's way to see a change: the ASCII count (mission B4, B7).

The paper sums the character codes of a page and takes the page as changed where the sum differs. That
needs a few bytes for each page and no text, and it cannot see that characters changed places.
"""

from __future__ import annotations

from typing import NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.core.change.text_diff import changed_words, diff_text
from evercrawl.model.change import NO_CHANGE, Change, ChangeClass, Edit, Words


def ascii_count(html: bytes | str) -> int:
    """The sum of the page's byte values."""
    return sum(html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html)


class AsciiCountDetector:
    """Tells changed from unchanged by the ASCII count alone; every difference is content to it."""

    name = "paper-ascii-count"

    def compare(self, before: bytes | str, after: bytes | str) -> Change:
        """The change that the two counts show."""
        return self.compare_counts(ascii_count(before), ascii_count(after))

    def compare_counts(self, before: int, after: int) -> Change:
        """The change that two stored counts show; its size is unknown and given as the whole."""
        return NO_CHANGE if before == after else Change(ChangeClass.CONTENT, 1.0)


DEFAULT_DETECTOR = "meaning"
"""The default: `judge_visit` decides, with what page and site taught us."""
DETECTORS = (DEFAULT_DETECTOR, "text", "bytes", AsciiCountDetector.name)
MOST_EDITS_SHOWN = 8
SHOWN_CHARS = 200


class FetchedContent(NamedTuple):
    """A page's answer at one visit."""

    body: bytes
    text: str | None
    """Main text; None: no document."""


def detect_change(detector: str, before: FetchedContent, after: FetchedContent) -> Change:
    """The change between two answers that are not the same, by the detector of that name."""
    if detector == AsciiCountDetector.name:
        return AsciiCountDetector().compare(before.body, after.body)
    if detector == "bytes":
        return bytes_change()
    return text_change(before.text, after.text)


def bytes_change() -> Change:
    """Something differs of which only the bytes are known."""
    words = "the content has other bytes"
    return Change(ChangeClass.CONTENT, 1.0, (Edit(_key("", words), False, "", words),))


def text_change(before: str | None, after: str | None) -> Change:
    """The change between two texts; where there are none, between the bytes they would stand for."""
    if before is None or after is None:
        return bytes_change()
    found = diff_text(before, after)
    if not found.edits:
        return Change(ChangeClass.NOISE) if before or after else bytes_change()
    edits = tuple(_edit(changed_words(edit)) for edit in found.edits[:MOST_EDITS_SHOWN])
    return Change(ChangeClass.CONTENT, found.size, edits)


def _edit(key: tuple[Words, ...]) -> Edit:
    removed, added = ("".join(words.text for words in key if words.sign == sign) for sign in "-+")
    return Edit(_key(removed, added), False, removed[:SHOWN_CHARS], added[:SHOWN_CHARS])


def _key(removed: str, added: str) -> int:
    return xxh64_intdigest(f"{removed}\0{added}".encode("utf-8", "surrogatepass"))
