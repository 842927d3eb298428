"""Ways to see a change that know nothing of a page's past: by its bytes, its text, or the paper's count.

They are there by name for comparison and for content that is no HTML; what a page shows by itself they
cannot tell from what somebody wrote.
"""

from __future__ import annotations

from typing import NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.core.change.paper import AsciiCountDetector
from evercrawl.core.diff import edit_key, text_difference
from evercrawl.model.change import Change, ChangeClass, Edit, Words

MEANING = "meaning"
"""The default: `judge_visit` decides, with what page and site taught us."""
DETECTORS = (MEANING, "text", "bytes", AsciiCountDetector.name)
MOST_EDITS_SHOWN = 8
SHOWN_CHARS = 200


class Sight(NamedTuple):
    """A page's answer at one visit."""

    body: bytes
    text: str | None
    """Main text; None: no document."""


def plain_change(detector: str, before: Sight, after: Sight) -> Change:
    """The change between two answers that are not the same, by the detector of that name."""
    if detector == AsciiCountDetector.name:
        return AsciiCountDetector().compare(before.body, after.body)
    if detector == "bytes":
        return other_bytes()
    return text_change(before.text, after.text)


def other_bytes() -> Change:
    """Something differs of which only the bytes are known."""
    words = "the content has other bytes"
    return Change(ChangeClass.CONTENT, 1.0, (Edit(_key("", words), False, "", words),))


def text_change(before: str | None, after: str | None) -> Change:
    """The change between two texts; where there are none, between the bytes they would stand for."""
    if before is None or after is None:
        return other_bytes()
    found = text_difference(before, after)
    if not found.edits:
        return Change(ChangeClass.NOISE) if before or after else other_bytes()
    edits = tuple(_edit(edit_key(edit)) for edit in found.edits[:MOST_EDITS_SHOWN])
    return Change(ChangeClass.CONTENT, found.size, edits)


def _edit(key: tuple[Words, ...]) -> Edit:
    removed, added = ("".join(words.text for words in key if words.sign == sign) for sign in "-+")
    return Edit(_key(removed, added), False, removed[:SHOWN_CHARS], added[:SHOWN_CHARS])


def _key(removed: str, added: str) -> int:
    return xxh64_intdigest(f"{removed}\0{added}".encode("utf-8", "surrogatepass"))
