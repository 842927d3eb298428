"""How a page differs from what it was at the visit before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple


class ChangeClass(StrEnum):
    """What a difference means, from nothing to everything."""

    NONE = "none"
    """The same bytes."""
    NOISE = "noise"
    """Nothing that a reader of this page would call a change; edits of the site's template belong here."""
    METADATA = "metadata"
    """Title, description, canonical URL or robots directives."""
    CONTENT = "content"
    """What the page says."""


class Edit(NamedTuple):
    """One place of a page that was edited; the same edit has the same key on every page."""

    key: int
    is_template: bool
    """It happened outside the page's own content."""
    removed: str
    added: str


@dataclass(frozen=True, slots=True)
class Change:
    """The difference between two visits. `changed` holds for metadata and content only."""

    kind: ChangeClass
    size: float = 0.0
    """Share of the page's words that differ, 0 to 1."""
    edits: tuple[Edit, ...] = ()
    """The first few edits that are worth showing, those of the template too."""
    edit_key: int | None = None
    """The same for all pages that changed in the same way; None: no edit."""

    @property
    def changed(self) -> bool:
        """The page differs in meaning."""
        return self.kind in (ChangeClass.METADATA, ChangeClass.CONTENT)


NO_CHANGE = Change(ChangeClass.NONE)


Sign = Literal[" ", "-", "+"]


class Words(NamedTuple):
    """A run of words that both versions have, or only the older (-) or only the newer (+)."""

    sign: Sign
    text: str


class BlockEdit(NamedTuple):
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


class TextDiff(NamedTuple):
    """What differs between two texts."""

    edits: tuple[BlockEdit, ...] = ()
    size: float = 0.0
    """Share of the two texts' characters that the other does not have, from 0 to 1."""


class VersionMark(NamedTuple):
    """Which version, and when it was first seen."""

    version: int
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """What differs between two versions of a page; all empty where nothing does."""

    url: str
    before: VersionMark
    after: VersionMark
    edits: tuple[BlockEdit, ...] = ()
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
