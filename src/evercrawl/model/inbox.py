"""What somebody has looked at in the inbox of changes."""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """Looked at up to a moment: one edit by its key, all of a site, or, without either, everything."""

    key: int | None
    site: str | None
    until_us: int


class Review(NamedTuple):
    """What was marked at once, and can be taken back at once."""

    id: int
    at_us: int
    who: str
    words: str
    """What it was about, for people."""


class Mute(NamedTuple):
    """A part that nobody wants to be told of any more, and that can be taken back."""

    id: int
    at_us: int
    who: str
    place: str
    """A page's URL, or the origin of a site."""
    pattern: str
    """What stays the same in the part; `*` stands for anything."""
