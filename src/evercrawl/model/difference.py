"""The difference between two versions of a page, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

Sign = Literal[" ", "-", "+"]


class Words(NamedTuple):
    """A run of words that both versions have, or only the older (-) or only the newer (+)."""

    sign: Sign
    text: str


class Edit(NamedTuple):
    """One block (paragraph, heading, list item, table row) that is not the same in both versions."""

    place: int
    """Number of the block in the newer text, from 1; of one that went: of the block that now stands there."""
    words: tuple[Words, ...]

    @property
    def sign(self) -> Literal["-", "+", "~"]:
        """Went, came, or was edited."""
        signs = {words.sign for words in self.words}
        return "-" if signs == {"-"} else "+" if signs == {"+"} else "~"


class FieldChange(NamedTuple):
    """Something that the page or its server says about itself and now says otherwise."""

    name: str
    before: str | None
    after: str | None


class TextDifference(NamedTuple):
    """What differs between two texts."""

    edits: tuple[Edit, ...] = ()
    size: float = 0.0
    """Share of the two texts' characters that the other does not have, from 0 to 1."""


class VersionMark(NamedTuple):
    """Which version, and when it was first seen."""

    version: int
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two versions of a page; all empty where nothing does."""

    url: str
    before: VersionMark
    after: VersionMark
    edits: tuple[Edit, ...] = ()
    links_added: tuple[str, ...] = ()
    links_removed: tuple[str, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    size: float = 0.0
    same_bytes: bool = False
    """The bodies are equal byte for byte."""

    @property
    def is_empty(self) -> bool:
        """Text, links and metadata are the same; the bytes may still differ."""
        return not (self.edits or self.links_added or self.links_removed or self.fields)

    def words_of(self, sign: Sign) -> int:
        """How many words came (+) or went (-)."""
        return sum(len(words.text.split()) for edit in self.edits for words in edit.words if words.sign == sign)
