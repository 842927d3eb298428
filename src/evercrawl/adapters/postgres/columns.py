"""A statement for many rows, said once: the rows travel as one array for each column.

Row by row the server binds and runs the statement anew for each, which costs both sides more than the work
itself. Two rows for the same place are another matter: one statement changes a row once only, so such rows go
one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_PARAMETER = re.compile(r"\$(\d+)")
_INSERT = re.compile(r"(insert into \S+ as \w+ \(([^)]*)\)\s*)values\s*\(([^)]*)\)")
_KEY = re.compile(r"on conflict \(([^)]*)\) do update")
_UPDATE = re.compile(r" where (\w+)\.shard = \$1::integer and \(")
_UPDATED_ROW = re.compile(r"\bid = \$(\d+)")
_WRITES = re.compile(r"(?:insert into|update) \S+ as (\w+)")
_TEXT = "text"


class Columnwise(NamedTuple):
    """The statement for arrays, and what has to be known of the rows."""

    text: str
    key: tuple[int, ...]
    """Places in a row whose values say which row of the table is meant; empty: it does not matter."""
    texts: frozenset[int]
    """Places in a row that hold text."""
    table: str | None
    """The one table that it touches; None: it reads others, and has to see what was written before."""

    def has_doubles(self, rows: Sequence[Sequence[object]]) -> bool:
        """Two rows mean the same row of the table."""
        if not self.key or len(rows) == 1:
            return False
        return len({tuple(row[place] for place in self.key) for row in rows}) < len(rows)


def columnwise(said: str, types: Sequence[str]) -> Columnwise | None:
    """The statement (about shard `$1`) for arrays of its other parameters, whose types are given; None: it is
    none that can be said so.
    """
    texts = frozenset(place for place, kind in enumerate(types) if kind == _TEXT)
    arrays = ", ".join(f"${place + 2}::{kind}[]" for place, kind in enumerate(types))
    names = ", ".join(f"p{place + 2}" for place in range(len(types)))
    rows = f"unnest({arrays}) as rows ({names})"
    found = _INSERT.match(said)
    if found is not None:
        text = f"{found[1]}select {_from_rows(found[3])} from {rows}{said[found.end() :]}"
        return Columnwise(text, _insert_key(said, found), texts, _only_table(said))
    found = _UPDATE.search(said)
    if found is not None and _is_update(said):
        text = f"{said[: found.start()]} from {rows}{said[found.start() :]}"
        row = _UPDATED_ROW.search(said, found.start())
        if row is not None:
            text = f"{_from_rows(text, keep=rows)} returning 1"
            return Columnwise(text, (int(row[1]) - 2,), texts, _only_table(said))
    return None


def together(texts: Sequence[str]) -> str:
    """Statements about the same shard and different tables as one; their parameters follow each other."""
    parts, taken = [], 0
    for place, text in enumerate(texts):
        parts.append(f"write{place} as ({_moved(text, taken)})")
        taken += max(int(found[1]) for found in _PARAMETER.finditer(text)) - 1
    return f"with {', '.join(parts)} select 1"


def _moved(text: str, by: int) -> str:
    return _PARAMETER.sub(lambda found: found[0] if found[1] == "1" else f"${int(found[1]) + by}", text)


def _only_table(said: str) -> str | None:
    found = _WRITES.match(said)
    return None if found is None else found[1]


def _is_update(said: str) -> bool:
    return re.search(r"(?:^|\) )update ", said) is not None


def _insert_key(said: str, found: re.Match[str]) -> tuple[int, ...]:
    """Where in a row the columns stand by which a conflict is found."""
    conflict = _KEY.search(said)
    if conflict is None:
        return ()
    columns = [name.strip() for name in found[2].split(",")]
    values = [value.strip() for value in found[3].split(",")]
    keys = [name.strip() for name in conflict[1].split(",") if name.strip() != "shard"]
    return tuple(int(values[columns.index(key)].removeprefix("$")) - 2 for key in keys)


def _from_rows(text: str, keep: str = "") -> str:
    """Every parameter but the shard becomes a column of the rows."""

    def column(found: re.Match[str]) -> str:
        return found[0] if found[1] == "1" else f"rows.p{found[1]}"

    before, kept, behind = text.partition(keep) if keep else (text, "", "")
    return _PARAMETER.sub(column, before) + kept + _PARAMETER.sub(column, behind)
