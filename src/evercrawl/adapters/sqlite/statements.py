"""SQL by name: in `queries.sql` each statement stands under a `-- name --` heading and its purpose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

_HEADING = re.compile(r"^-- (\w+) --\n(-- .+\n)+", re.MULTILINE)


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def statements_in(text: str) -> dict[str, str]:
    """The statements of a file by name; a name that stands there twice is an error."""
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    found = {heading[1]: text[heading.end() : end].strip() for heading, end in zip(headings, ends, strict=True)}
    if len(found) != len(headings):
        raise ValueError("a statement's name stands there twice")
    return found


SCHEMA = _text("schema.sql")
UPGRADES: Mapping[str, str] = MappingProxyType(statements_in(_text("upgrade.sql")))
"""`from_N` brings a file of version N to the next one; additive, so that nothing stored is touched."""
OUTLINES: Mapping[str, str] = MappingProxyType(statements_in(_text("outline.sql")))
OUTLINE_SCHEMA = _text("outline_schema.sql")
OUTLINE_TABLE = OUTLINE_SCHEMA.replace("create table", "create table if not exists")
"""Derived from the archive, so that a file without it is complete; made wherever it is missing."""
REPEATS_INDEX = (
    "create index if not exists page_repeats" + (SCHEMA.partition("create index page_repeats")[2].partition(";")[0])
)
"""Follows from the pages, as OUTLINE_TABLE from the archive."""
SQL: Mapping[str, str] = MappingProxyType(statements_in(_text("queries.sql")))
