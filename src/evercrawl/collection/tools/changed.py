"""`tool changed`: does the difference between two versions of a page mean anything?"""

from __future__ import annotations

from typing import Any

from evercrawl.core.change.classify import compare


def changed(row: dict[str, Any]) -> dict[str, Any]:
    """Whether `after` differs from `before` in meaning, in which way and by how much."""
    change = compare(row["before"], row["after"], page_url=row.get("page_url") or "")
    return {"changed": change.changed, "class": change.kind.value, "size": round(change.size, 4)}
