"""Export versions as a self-contained WARC file, as a WACZ package, or as a CDXJ index."""

from __future__ import annotations

import gzip
import hashlib
import sqlite3
import zipfile
from base64 import b32encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO, NamedTuple, Protocol

import orjson

from evercrawl.adapters.sql.listing_reader import StoredVersion
from evercrawl.adapters.warc.gzip_members import compress_record
from evercrawl.adapters.warc.reader import WarcRecord
from evercrawl.adapters.warc.warc_records import (
    WarcInfo,
    request_record_for,
    resolved_record_id,
    resolved_response,
    warcinfo_record,
)
from evercrawl.collection.exchange.export_run import ExportRun, SelectedResponse
from evercrawl.collection.stored_pages import StoredRecord, request_record
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.url import surt
from evercrawl.model import __version__
from evercrawl.model.time import from_us


class ByteSink(Protocol):
    """Accepts bytes."""

    def write(self, data: bytes, /) -> int:
        """Write the bytes."""


class WarcPosition(NamedTuple):
    """The position of a record in the file."""

    offset: int
    length: int


class WarcFile:
    """A new WARC file. Invariant: revisits become responses, so no record refers to another file."""

    def __init__(self, out: ByteSink, name: str, *, archive: Path, level: int) -> None:
        self._out = out
        self._archive = archive
        self._level = level
        self.size = 0
        info = WarcInfo(f"evercrawl/{__version__}", {"description": "Versions exported from an evercrawl collection"})
        self._write(compress_record(warcinfo_record(name, info, now=datetime.now(UTC)), level))

    def add(self, answer: SelectedResponse) -> WarcPosition:
        """Write a response and its request, if it is stored; return the position of the response."""
        request = request_record(self._archive, answer.version, answer.stored)
        if not answer.stored.is_revisit:
            place = self._write(answer.stored.compressed)
            if request is not None:
                self._write(request[0])
            return place
        return self._add_resolved(answer, request[1] if request is not None else None)

    def _add_resolved(self, answer: SelectedResponse, request: WarcRecord | None) -> WarcPosition:
        version, stored = answer
        record_id = resolved_record_id(version.record_id)
        concurrent = request.headers.get("warc-record-id") if request is not None else None
        response = resolved_response(
            stored.record, record_id, head=stored.http.head, body=stored.http.body, concurrent=concurrent
        )
        place = self._write(compress_record(response, self._level))
        if request is not None:
            self._write(compress_record(request_record_for(request, record_id), self._level))
        return place

    def _write(self, member: bytes) -> WarcPosition:
        place = WarcPosition(self.size, len(member))
        self._out.write(member)
        self.size += len(member)
        return place


def write_warc(run: ExportRun, out: ByteSink, name: str) -> None:
    """Write every selected version."""
    file = WarcFile(out, name, archive=run.archive, level=run.settings.archive.gzip_level)
    for answer in run.answers():
        file.add(answer)


REVISIT_TYPE = "warc/revisit"
LINES_AT_A_TIME = 1000


def cdxj_line(version: StoredVersion, stored: StoredRecord, *, mime: str, file: str, offset: int, length: int) -> str:
    """Return the index line of a record; numbers are strings, as in other tools."""
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


def mime_of(stored: StoredRecord) -> str:
    """Return the media type of a response for an index."""
    return sniff_media_type(stored.http.headers, stored.http.body[:2000])


class SortedLines:
    """Sorts lines by their bytes on disk."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute("pragma synchronous = off")
        self._db.execute("create table line (text text not null)")
        self._db.execute("begin")

    def add(self, line: str) -> None:
        """Add a line."""
        self._db.execute("insert into line values (?)", (line,))

    def __iter__(self) -> Iterator[bytes]:
        """Yield the sorted lines with their newline."""
        rows = self._db.execute("select text from line order by text collate binary")
        while portion := rows.fetchmany(LINES_AT_A_TIME):
            yield from (text.encode() + b"\n" for (text,) in portion)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


@contextmanager
def sorted_lines(folder: Path | None = None) -> Iterator[SortedLines]:
    """Yield an empty sorter with a temporary file."""
    with TemporaryDirectory(prefix="evercrawl-", dir=folder) as place:
        lines = SortedLines(Path(place) / "lines.sqlite")
        try:
            yield lines
        finally:
            lines.close()


def write_cdxj(run: ExportRun, out: BinaryIO) -> None:
    """Write the index of the selected versions in the collection's archive files."""
    with sorted_lines() as lines:
        for version, stored in run.answers():
            mime = REVISIT_TYPE if stored.is_revisit else mime_of(stored)
            lines.add(
                cdxj_line(version, stored, mime=mime, file=version.file, offset=version.offset, length=version.length)
            )
        out.writelines(lines)


WACZ_VERSION = "1.1.1"
WARC_NAME = "data.warc.gz"
INDEX_BLOCK_LINES = 3000  # Lines in one gzip member of the index; a viewer decompresses one of them to find a URL.
COPY_BYTES = 1 << 20
PAGES_HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
INDEX_HEADER = {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}


class WaczPackage:
    """The ZIP file with its manifest. Invariant: the manifest lists every member with its SHA-256."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._resources: list[dict[str, object]] = []

    @contextmanager
    def member(self, path: str, *, stored: bool) -> Iterator[HashingSink]:
        """Yield a new member; `stored` means uncompressed."""
        info = zipfile.ZipInfo(path, date_time=datetime.now(UTC).timetuple()[:6])
        info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        with self._archive.open(info, "w", force_zip64=True) as member:
            out = HashingSink(member)
            yield out
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": out.digest(), "bytes": out.size})

    def close(self, about: dict[str, Any]) -> None:
        """Write the manifest and its digest."""
        manifest = {"profile": "data-package", "wacz_version": WACZ_VERSION, **about, "resources": self._resources}
        text = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
        digest = {"path": "datapackage.json", "hash": _sha256(text)}
        self._archive.writestr("datapackage.json", text, zipfile.ZIP_DEFLATED)
        self._archive.writestr(
            "datapackage-digest.json", orjson.dumps(digest, option=orjson.OPT_INDENT_2), zipfile.ZIP_DEFLATED
        )


class HashingSink:
    """Writes bytes and computes their number and digest."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Write the bytes."""
        self._out.write(data)
        self._sha256.update(data)
        self.size += len(data)
        return len(data)

    def digest(self) -> str:
        """Return the digest of all written bytes."""
        return f"sha256:{self._sha256.hexdigest()}"


def write_wacz(run: ExportRun, target: Path) -> None:
    """Write every selected version."""
    with (
        TemporaryDirectory(prefix=".evercrawl-", dir=target.parent) as folder,
        sorted_lines(Path(folder)) as lines,
        zipfile.ZipFile(target, "x", allowZip64=True) as archive,
    ):
        package, list_of_pages = WaczPackage(archive), Path(folder) / "pages.jsonl"
        with package.member(f"archive/{WARC_NAME}", stored=True) as out, list_of_pages.open("xb") as pages:
            main_page = _write_records(run, out, lines, pages)
        _write_index(package, lines)
        with package.member("pages/pages.jsonl", stored=False) as out, list_of_pages.open("rb") as pages:
            while chunk := pages.read(COPY_BYTES):
                out.write(chunk)
        package.close(_about(run, main_page))


def _write_records(run: ExportRun, out: HashingSink, lines: SortedLines, pages: BinaryIO) -> SelectedResponse | None:
    """Write the WARC, its index lines and its list of pages; return the first page."""
    file = WarcFile(out, WARC_NAME, archive=run.archive, level=run.settings.archive.gzip_level)
    pages.write(orjson.dumps(PAGES_HEADER) + b"\n")
    first: SelectedResponse | None = None
    for answer in run.answers():
        place = file.add(answer)
        mime = mime_of(answer.stored)
        lines.add(
            cdxj_line(
                answer.version, answer.stored, mime=mime, file=WARC_NAME, offset=place.offset, length=place.length
            )
        )
        if mime in HTML_TYPES:
            pages.write(_page_line(answer))
            first = first or answer
    return first


def _page_line(answer: SelectedResponse) -> bytes:
    version = answer.version
    fields = {"id": version.record_id.hex(), "url": version.url, "ts": _moment(version.seen_us)}
    if version.title:
        fields["title"] = version.title
    return orjson.dumps(fields | {"size": version.body_bytes}) + b"\n"


def _write_index(package: WaczPackage, lines: SortedLines) -> None:
    """Write the index in blocks, and a second index with the position and start of each block."""
    blocks = [b"!meta 0 " + orjson.dumps(INDEX_HEADER) + b"\n"]
    with package.member("indexes/index.cdx.gz", stored=True) as out:
        rest = iter(lines)
        while block := list(islice(rest, INDEX_BLOCK_LINES)):
            packed = gzip.compress(b"".join(block), mtime=0)
            where = {"offset": out.size, "length": len(packed), "digest": _sha256(packed)}
            out.write(packed)
            key = b" ".join(block[0].split(b" ", 2)[:2])
            blocks.append(key + b" " + orjson.dumps(where) + b"\n")
    with package.member("indexes/index.idx", stored=False) as out:
        out.write(b"".join(blocks))


def _about(run: ExportRun, first: SelectedResponse | None) -> dict[str, Any]:
    about = {
        "title": run.collection.absolute().name,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "software": f"evercrawl/{__version__}",
    }
    if first is not None:
        about |= {"mainPageUrl": first.version.url, "mainPageDate": _moment(first.version.seen_us)}
    return about


def _moment(at_us: int) -> str:
    return from_us(at_us).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
