"""`tool trap`: is a URL a trap, by what the URL alone can show?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from evercrawl.core.traps.url_check import url_verdict


def trap(row: dict[str, Any]) -> dict[str, Any]:
    """Whether `url`, so many `hops` away from a seed, is a trap, and why in words."""
    url, hops = row["url"], row.get("hops")
    if not isinstance(url, str):
        raise ValueError("url must be a string")
    verdict = url_verdict(url, hops=None if hops is None else int(hops), year=datetime.now(UTC).year)
    return {"trap": verdict.trap, "reason": f"{verdict.kind}: {verdict.reason}" if verdict.trap else ""}
