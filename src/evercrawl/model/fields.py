"""Fields: named values of pages, read from each version by a selector."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from evercrawl.model.document import FieldValue


class FieldType(StrEnum):
    """How the selected text is read."""

    TEXT = "text"  # The text of the first match.
    NUMBER = "number"  # Its first number, with unit or currency.
    DATE = "date"  # Its first date, as ISO 8601.
    LIST = "list"  # The texts of all matches.


class FieldRepair(NamedTuple):
    """A new selector for a field whose selector stopped matching."""

    name: str
    was: str  # The selector of the rule.
    select: str  # The new one.
    text: str = ""  # What it reads.
    is_sure: bool = False  # Whether it is used without a question.
    is_moved: bool = False  # The earlier selector still matches, but something else.
    url: str = ""  # The page that it was found on.
    at: str = ""  # When, in ISO 8601.


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A field: which pages have it, and how it is read."""

    name: str
    pages: tuple[str, ...]  # URLs or URL patterns in which `*` matches anything.
    select: str  # A selector: css:…, xpath:…, json:…, text:…
    type: FieldType = FieldType.TEXT
    only: bool = False  # Of its pages, only changes of such fields count.
    repair: bool = True  # If the selector stops matching, use a new one where it is sure.
    repairs: tuple[FieldRepair, ...] = ()  # Accepted repairs, oldest first.

    def selectors(self, at: str | None = None) -> tuple[str, ...]:
        """Return the selectors in the order in which to try them: the newest repair of that time first, then what
        it replaced, then later ones, since pages are redesigned at different times. None: now."""
        past = [one for one in self.repairs if at is None or one.at <= at]
        later = [one.select for one in self.repairs if one not in past]
        found: list[str] = []
        for one in reversed(past):
            found.append(one.select)
            if one.is_moved:
                return tuple(dict.fromkeys(found))
        return tuple(dict.fromkeys([*found, self.select, *later]))


class FieldReading(NamedTuple):
    """The value of a field in one version."""

    value: FieldValue | tuple[str, ...]  # None: the selector matches nothing, or no value of its type.
    text: str | None = None  # The selected text; None: the selector matches nothing.
    unit: str | None = None  # Unit or currency of a number.
    select: str | None = None  # The selector that found it.
