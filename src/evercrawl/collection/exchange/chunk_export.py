"""Export pages as chunks for retrieval, all of them or only what changed since the last export."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple

from evercrawl.collection.change_groups import read_window
from evercrawl.collection.exchange.export_run import ExportRun
from evercrawl.collection.exchange.markdown import main_markdown, source_of
from evercrawl.collection.exchange.tables import json_line
from evercrawl.core.digest import text_digest
from evercrawl.errors import ConfigError
from evercrawl.model.listing import VersionSelection
from evercrawl.model.time import from_us

MAX_CHUNK_CHARS = 4000  # Of the text of one chunk.
_HEADING = re.compile(r"(#{1,6}) (.*)")
_FENCE = re.compile(r" {0,12}(`{3,}|~{3,})")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|#+>.)-])")


class Chunk(NamedTuple):
    """A section of a page, or a part of a long one."""

    id: str  # Hexadecimal; the same for the same page, headings and part.
    headings: tuple[str, ...]  # From the title of the page down to the section.
    part: int  # From 1; more than 1 for long sections.
    text: str  # Markdown without the heading.


def split_markdown(url: str, title: str, markdown: str, *, max_chars: int = MAX_CHUNK_CHARS) -> list[Chunk]:
    """Return the chunks of a page, in order; sections without text give none."""
    seen: Counter[tuple[str, ...]] = Counter()
    chunks: list[Chunk] = []
    for headings, text in _sections(title, markdown):
        seen[headings] += 1
        for number, part in enumerate(_parts(text, max_chars), 1):
            key = text_digest("\n".join((url, *headings, f"{seen[headings]}.{number}"))).hex()
            chunks.append(Chunk(key, headings, number, part))
    return chunks


def _sections(title: str, markdown: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the headings above each text, and the text."""
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if mark is not None and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        found = None if fence else _HEADING.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        yield from _section(title, above, lines)
        lines.clear()
        level = len(found[1])
        above = [heading for heading in above if heading[0] < level]
        above.append((level, _ESCAPED.sub(r"\1", found[2]).strip()))
    yield from _section(title, above, lines)


def _section(title: str, above: list[tuple[int, str]], lines: list[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    text = "\n".join(lines).strip()
    if text:
        names = tuple(name for _, name in above)
        yield (names if names[:1] == (title,) else (title, *names)), text


def _parts(text: str, max_chars: int) -> Iterator[str]:
    """Yield the text in parts of at most `max_chars`, cut between paragraphs, else between words."""
    part: list[str] = []
    size = 0
    for paragraph in text.split("\n\n"):
        if part and size + 2 + len(paragraph) > max_chars:
            yield "\n\n".join(part)
            part, size = [], 0
        *full, rest = _pieces(paragraph, max_chars)
        yield from full
        part.append(rest)
        size += len(rest) + 2
    if part:
        yield "\n\n".join(part)


def _pieces(paragraph: str, max_chars: int) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(paragraph) - start > max_chars:
        cut = max(paragraph.rfind(mark, start + max_chars // 2, start + max_chars) for mark in ("\n", ". ", " "))
        end = start + max_chars if cut < 0 else cut + 1
        pieces.append(paragraph[start:end].rstrip())
        start = end
    pieces.append(paragraph[start:])
    return pieces


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
