"""An index of records that replay tools read: sorted lines of key, timestamp and JSON (CDXJ 0.1).

Lines are sorted on disk, byte by byte as `LC_ALL=C sort` does, whatever their number.
"""

from __future__ import annotations

import sqlite3
from base64 import b32encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import orjson

from evercrawl.adapters.sqlite.stored import StoredVersion
from evercrawl.collection.exchange.run import ExportRun
from evercrawl.collection.exchange.stored import StoredAnswer
from evercrawl.core.document.media_type import media_type
from evercrawl.core.url import surt
from evercrawl.model.time import from_us

REVISIT_TYPE = "warc/revisit"
LINES_AT_A_TIME = 1000


def cdxj_line(version: StoredVersion, stored: StoredAnswer, *, mime: str, file: str, offset: int, length: int) -> str:
    """The line of one record; numbers are strings, as the tools of the field have them."""
    fields = {
        "url": version.url,
        "mime": mime,
        "status": str(stored.http.status),
        "digest": "sha1:" + b32encode(version.payload_sha1).decode(),
        "length": str(length),
        "offset": str(offset),
        "filename": file,
    }
    stamp = from_us(version.seen_us).strftime("%Y%m%d%H%M%S")
    return f"{surt(version.url)} {stamp} {orjson.dumps(fields).decode()}"


def mime_of(stored: StoredAnswer) -> str:
    """The media type that an index names for a response."""
    return media_type(stored.http.headers, stored.http.body[:2000])


class SortedLines:
    """Lines that come in any order and go out sorted by their bytes; they wait in a file, not in memory."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute("pragma synchronous = off")
        self._db.execute("create table line (text text not null)")
        self._db.execute("begin")

    def add(self, line: str) -> None:
        """One more line."""
        self._db.execute("insert into line values (?)", (line,))

    def __iter__(self) -> Iterator[bytes]:
        """Every line with its line end."""
        rows = self._db.execute("select text from line order by text collate binary")
        while portion := rows.fetchmany(LINES_AT_A_TIME):
            yield from (text.encode() + b"\n" for (text,) in portion)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


@contextmanager
def sorted_lines(folder: Path | None = None) -> Iterator[SortedLines]:
    """An empty set of lines, which is gone behind the block."""
    with TemporaryDirectory(prefix="evercrawl-", dir=folder) as place:
        lines = SortedLines(Path(place) / "lines.sqlite")
        try:
            yield lines
        finally:
            lines.close()


def write_cdxj(run: ExportRun, out: BinaryIO) -> None:
    """The index of the collection's own archive files, as far as they hold selected versions."""
    with sorted_lines() as lines:
        for version, stored in run.answers():
            mime = REVISIT_TYPE if stored.is_revisit else mime_of(stored)
            lines.add(
                cdxj_line(version, stored, mime=mime, file=version.file, offset=version.offset, length=version.length)
            )
        out.writelines(lines)
