"""The stream of events of a collection's outposts: a bounded file of JSON lines, and the log."""

from __future__ import annotations

import json
import logging
from datetime import datetime
from pathlib import Path

log = logging.getLogger("evercrawl")

EVENTS_FILE = "events.jsonl"
MAX_EVENTS_BYTES = 5_000_000
"""The file is begun anew at this size; the one before is kept."""


class OutpostEventLog:
    """Writes one line for each event; a full disk costs events, never the crawl."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVENTS_FILE

    def emit(self, kind: str, *, at: datetime, **fields: object) -> None:
        """Append an event."""
        line = json.dumps({"event": f"outpost.{kind}", "at": at.isoformat(), **fields})
        log.info("outpost %s %s", kind, fields)
        try:
            if self._path.exists() and self._path.stat().st_size > MAX_EVENTS_BYTES:
                self._path.replace(self._path.with_suffix(".1.jsonl"))
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            log.warning("an event of an outpost was not written: %s", error)
