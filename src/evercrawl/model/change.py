"""Changes of a page between visits, and differences between its versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple


class ChangeClass(StrEnum):
    """The class of a change."""

    NONE = "none"  # The same bytes.
    NOISE = "noise"  # No change for a reader; includes edits of the site's template.
    METADATA = "metadata"  # Title, description, canonical URL or robots directives.
    CONTENT = "content"  # The content of the page.


Sign = Literal[" ", "-", "+"]


class Words(NamedTuple):
    """A run of words in both versions, only in the older (-) or only in the newer (+)."""

    sign: Sign
    text: str


def _sign(words: tuple[Words, ...]) -> Literal["-", "+", "~"]:
    signs = {run.sign for run in words}
    return "-" if signs == {"-"} else "+" if signs == {"+"} else "~"


class Edit(NamedTuple):
    """One edit; the same edit has the same key on every page."""

    key: int
    is_template: bool  # It is outside the content of the page.
    words: tuple[Words, ...]  # What differs, with the words around it; an ellipsis where unchanged words are left out.
    is_entry: bool = False  # An entry of a list that leads to other pages.
    omitted: int = 0  # Changed words that are left out because there are too many.

    @property
    def sign(self) -> Literal["-", "+", "~"]:
        """Removed (-), added (+) or edited (~)."""
        return _sign(self.words)

    @property
    def removed(self) -> str:
        """What the reader saw before; empty if everything is new."""
        return " ".join("".join(run.text for run in self.words if run.sign != "+").split())

    @property
    def added(self) -> str:
        """What the reader sees now; empty if everything was removed."""
        return " ".join("".join(run.text for run in self.words if run.sign != "-").split())


@dataclass(frozen=True, slots=True)
class Change:
    """The change between two visits."""

    kind: ChangeClass
    size: float = 0.0  # Share of the page's words that differ, 0 to 1.
    edits: tuple[Edit, ...] = ()  # The first significant edits, including those of the template.
    edit_key: int | None = None  # Equal for all pages with the same change; None: no edit.
    omitted: int = 0  # Edits that are left out because there are too many.
    noise: tuple[Edit, ...] = ()  # The first edits that were called noise.

    @property
    def changed(self) -> bool:
        """Whether metadata or content changed."""
        return self.kind in (ChangeClass.METADATA, ChangeClass.CONTENT)


NO_CHANGE = Change(ChangeClass.NONE)


class BlockEdit(NamedTuple):
    """One block (paragraph, heading, list item, table row) that differs."""

    place: int  # Number of the block in the newer text, from 1; for a removed block, of the block after it.
    words: tuple[Words, ...]

    @property
    def sign(self) -> Literal["-", "+", "~", ">"]:
        """Removed (-), added (+), edited (~) or moved (>)."""
        return ">" if all(run.sign == " " for run in self.words) else _sign(self.words)


class FieldChange(NamedTuple):
    """A changed metadata field."""

    name: str
    before: str | None
    after: str | None


class TextDiff(NamedTuple):
    """The difference between two texts."""

    edits: tuple[BlockEdit, ...] = ()
    size: float = 0.0  # Share of characters that only one of the texts has, 0 to 1.


class VersionMark(NamedTuple):
    """The number of a version, and when it was first seen."""

    version: int
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """The difference between two versions of a page; empty if they are the same."""

    url: str
    before: VersionMark
    after: VersionMark
    edits: tuple[BlockEdit, ...] = ()  # Edits of the main text.
    outside: tuple[Edit, ...] = ()  # Edits of the content that the main text does not show: link targets, labels.
    links_added: tuple[str, ...] = ()
    links_removed: tuple[str, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    size: float = 0.0
    same_bytes: bool = False  # The bodies are identical.

    @property
    def is_empty(self) -> bool:
        """Whether text, links and metadata are the same; the bytes may still differ."""
        return not (self.edits or self.outside or self.links_added or self.links_removed or self.fields)

    def words_of(self, sign: Sign) -> int:
        """Return the number of words added (+) or removed (-)."""
        runs = [run for edit in self.edits for run in edit.words] + [run for edit in self.outside for run in edit.words]
        return sum(len(run.text.split()) for run in runs if run.sign == sign)


class Box(NamedTuple):
    """A part of a picture, in pixels from its left and upper edges."""

    x: int
    y: int
    width: int
    height: int


class PictureDiff(NamedTuple):
    """Where the pictures of two versions differ; what only moved up or down is left out."""

    before_size: tuple[int, int]  # Width and height.
    after_size: tuple[int, int]
    removed: tuple[Box, ...] = ()  # Regions of the older picture that the newer one does not have.
    added: tuple[Box, ...] = ()  # Regions of the newer picture that the older one does not have.
    share: float = 0.0  # Share of the pixels of both that differ, 0 to 1.


class PartVerdict(StrEnum):
    """What a user says about the changes of a part."""

    NOISE = "noise"
    CONTENT = "content"


class Mute(NamedTuple):
    """What a user says about a part of a page or site: its changes are noise and hidden, or content."""

    id: int
    at_us: int
    who: str
    place: str  # A page's URL, or the origin of a site.
    pattern: str  # The text of the part, in which `*` matches anything.
    verdict: PartVerdict = PartVerdict.NOISE
