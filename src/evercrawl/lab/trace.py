"""Read the change history of a site's pages: `<site>.jsonl.gz`, one header line, then one line a page."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

DAY_S = 86400.0
SAMPLE_SEED = 1


class TracePage(NamedTuple):
    """One page's life, in days after the start of the window."""

    hub: int
    birth: float
    death: float | None
    changes: tuple[float, ...]


class Trace(NamedTuple):
    """One site's history."""

    site: str
    days: float
    pages: tuple[TracePage, ...]


def read_trace(path: Path, *, most_pages: int | None = None, most_days: float | None = None) -> Trace:
    """The trace of a file; a fixed pseudo-random sample where it has more than `most_pages`."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        header = json.loads(next(iter(lines)))
        rows = [json.loads(line) for line in lines]
    if most_pages is not None and len(rows) > most_pages:
        rows = random.Random(SAMPLE_SEED).sample(rows, most_pages)
    hubs: dict[str, int] = {}
    days = (header["end"] - header["start"]) / DAY_S
    if most_days is not None:
        days = min(days, most_days)
    pages = tuple(_page(row, header["start"], hubs) for row in rows)
    return Trace(header["site"], days, tuple(page for page in pages if page.birth < days))


def _page(row: dict[str, Any], start: float, hubs: dict[str, int]) -> TracePage:
    clock = 0.0
    changes: list[float] = []
    for delta in row["changes_delta"]:
        clock += delta
        if delta or not changes:
            changes.append(clock / DAY_S)
    death = None if row["death"] is None else (row["death"] - start) / DAY_S
    hub = hubs.setdefault(row["hub"], len(hubs))
    return TracePage(hub, (row["birth"] - start) / DAY_S, death, tuple(changes))
