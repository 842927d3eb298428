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


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A field: which pages have it, and how it is read."""

    name: str
    pages: tuple[str, ...]  # URLs or URL patterns in which `*` matches anything.
    select: str  # A selector: css:…, xpath:…, json:…, text:…
    type: FieldType = FieldType.TEXT
    only: bool = False  # Of its pages, only changes of such fields count.


class FieldReading(NamedTuple):
    """The value of a field in one version."""

    value: FieldValue | tuple[str, ...]  # None: the selector matches nothing, or no value of its type.
    text: str | None = None  # The selected text; None: the selector matches nothing.
    unit: str | None = None  # Unit or currency of a number.
