"""How a page differs from what it was at the visit before."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


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
