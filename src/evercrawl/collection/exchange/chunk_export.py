"""Export pages as chunks for retrieval, all of them or only what changed since the last export."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple

from evercrawl.collection.change_groups import read_window
from evercrawl.collection.exchange.export_run import ExportRun
from evercrawl.collection.exchange.markdown import main_markdown, source_of
from evercrawl.collection.exchange.tables import json_line
from evercrawl.core.digest import text_digest
from evercrawl.core.search.chunks import split_markdown
from evercrawl.errors import ConfigError
from evercrawl.model.listing import VersionSelection
from evercrawl.model.time import from_us

CURSOR_MARGIN = timedelta(hours=1)
"""How much of the time before the last export is exported again: slow visits are committed later than they began."""
_TIME = "%Y-%m-%dT%H:%M:%SZ"


class ChunkRow(NamedTuple):
    """One chunk as programs read it."""

    id: str
    url: str
    title: str | None
    headings: tuple[str, ...]
    part: int
    chunks: int  # Number of chunks of the page: those of an older version with other ids are to be deleted.
    text: str
    digest: str  # Of the text.
    lang: str | None
    version: int
    fetched_at: str


class DeletedPage(NamedTuple):
    """A page that is gone: all its chunks are to be deleted."""

    url: str
    deleted: bool
    fetched_at: str


def write_chunks(run: ExportRun, out: BinaryIO) -> None:
    """Write one JSON object per chunk, then one per page that is gone since the selected time."""
    for page in run.pages():
        source, version = source_of(page), page.version
        title = source.title or version.url
        chunks = split_markdown(version.url, title, main_markdown(source))
        for chunk in chunks:
            row = ChunkRow(
                chunk.id,
                version.url,
                source.title,
                chunk.headings,
                chunk.part,
                len(chunks),
                chunk.text,
                text_digest(chunk.text).hex(),
                version.lang,
                version.number,
                f"{from_us(version.seen_us):{_TIME}}",
            )
            out.write(json_line(row, more={"usage": page.usage.summary()}))
    if run.selection.since is not None:
        events = read_window(run.collection, run.selection.since, site=run.selection.site, with_texts=False).events
        for event in events:
            if event.kind == "gone":
                out.write(json_line(DeletedPage(event.url, True, f"{event.at:{_TIME}}")))


class ExportCursor:
    """A file that says until when versions were exported. It moves only after a complete export."""

    def __init__(self, file: Path, selection: VersionSelection) -> None:
        self._file = file
        self._began = datetime.now(UTC)
        if selection.since is not None:
            raise ConfigError("--cursor says itself since when; leave out --since")
        since = _read_cursor(file)
        self.selection = replace(selection, since=since - CURSOR_MARGIN if since else None)

    def advance(self) -> None:
        """Continue here next time."""
        fresh = self._file.with_name(self._file.name + ".new")
        try:
            fresh.write_text(json.dumps({"exported_until": self._began.isoformat()}) + "\n", encoding="utf-8")
            os.replace(fresh, self._file)
        except OSError as error:
            raise ConfigError(f"{self._file} cannot be written: {error.strerror or error}") from error


def _read_cursor(file: Path) -> datetime | None:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}") from error
    try:
        at = datetime.fromisoformat(json.loads(text)["exported_until"])
        return at.astimezone(UTC)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ConfigError(f"{file} is not a cursor of an export; delete it to export everything") from error
