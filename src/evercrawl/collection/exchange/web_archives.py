"""Export versions as a self-contained WARC file, as a WACZ package, or as a CDXJ index."""

from __future__ import annotations

import gzip
import hashlib
import sqlite3
import zipfile
from base64 import b32encode
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO, NamedTuple, Protocol

import orjson

from evercrawl.adapters.sql.listing_reader import StoredVersion
from evercrawl.adapters.warc.gzip_members import compress_record
from evercrawl.adapters.warc.reader import WarcRecord
from evercrawl.adapters.warc.warc_records import (
    WarcInfo,
    metadata_record,
    record_urn,
    request_record_for,
    resolved_record_id,
    resolved_response,
    warcinfo_record,
)
from evercrawl.collection.exchange.export_run import ExportRun, SelectedResponse
from evercrawl.collection.stored_pages import StoredRecord, following_records, request_record
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.post_requests import posted_query
from evercrawl.core.url import surt
from evercrawl.model import __version__
from evercrawl.model.time import from_us, iso_time


class ByteSink(Protocol):
    """Accepts bytes."""

    def write(self, data: bytes, /) -> int:
        """Write the bytes."""


class WarcPosition(NamedTuple):
    """The position of a record in the file."""

    offset: int
    length: int
    digest: str = ""  # Of its payload; empty: that of the version.


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
        """Write a response, its request if it is stored, and what its publisher says about its use; return the
        position of the response."""
        place = self._add_exchange(answer)
        if answer.usage:
            fields = {name: _field_text(value) for name, value in answer.usage.summary().items()}
            own = answer.stored.record.headers.get("warc-record-id", "")
            if answer.stored.is_revisit:
                own = record_urn(resolved_record_id(answer.version.record_id)).decode()
            at = from_us(answer.version.seen_us)
            self._write(compress_record(metadata_record(answer.version.url, fields, own, at=at), self._level))
        return place

    def _add_exchange(self, answer: SelectedResponse) -> WarcPosition:
        if answer.stored.record.kind == "conversion":
            return self._add_rendered(answer)
        request = request_record(self._archive, answer.version, answer.stored)
        if not answer.stored.is_revisit:
            place = self._write(answer.stored.compressed)
            if request is not None:
                self._write(request[0])
            return place
        return self._add_resolved(answer, request[1] if request is not None else None)

    def _add_rendered(self, answer: SelectedResponse) -> WarcPosition:
        """Write a rendered document, its screenshot, and the exchange with the server, which replay tools show."""
        place = self._write(answer.stored.compressed)
        version, end = answer.version, answer.version.offset + answer.version.length
        for packed, record in following_records(self._archive, version.file, end, version.url):
            written = self._write(packed)
            if record.kind == "response":
                place = written._replace(digest=record.headers.get("warc-payload-digest", ""))
        return place

    def _add_resolved(self, answer: SelectedResponse, request: WarcRecord | None) -> WarcPosition:
        version, stored = answer.version, answer.stored
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


def _field_text(value: object) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def write_warc(run: ExportRun, out: ByteSink, name: str) -> None:
    """Write every selected version."""
    file = WarcFile(out, name, archive=run.archive, level=run.settings.archive.gzip_level)
    for answer in chain(run.answers(), run.resources()):
        file.add(answer)


REVISIT_TYPE = "warc/revisit"
LINES_AT_A_TIME = 1000


def cdxj_line(version: StoredVersion, stored: StoredRecord, *, mime: str, file: str, place: WarcPosition) -> str:
    """Return the index line of a record; numbers are strings, as in other tools. A viewer finds the answer to a POST
    by its body."""
    url = stored.record.headers.get("warc-target-uri", "").strip("<>")
    query = posted_query(version.url, url)
    fields = {
        "url": version.url if query is None else url,
        "mime": mime,
        "status": str(stored.http.status),
        "digest": place.digest or "sha1:" + b32encode(version.payload_sha1).decode(),
        "length": str(place.length),
        "offset": str(place.offset),
        "filename": file,
    } | ({} if query is None else {"method": "POST", "requestBody": query})
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
        for version, stored, *_ in chain(run.answers(), run.resources()):
            mime = REVISIT_TYPE if stored.is_revisit else mime_of(stored)
            place = WarcPosition(version.offset, version.length)
            lines.add(cdxj_line(version, stored, mime=mime, file=version.file, place=place))
        out.writelines(lines)


WACZ_VERSION = "1.1.1"
MAX_WARC_BYTES = 1 << 30  # Size after which the next WARC file of a package begins, so that none needs ZIP64.
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
    def member(self, path: str, *, stored: bool, is_large: bool = False) -> Iterator[HashingSink]:
        """Yield a new member; `stored` means uncompressed. Only a large one gets ZIP64 fields, here as in the central
        directory: ReplayWeb.page takes the length of the one for that of the other."""
        info = zipfile.ZipInfo(path, date_time=datetime.now(UTC).timetuple()[:6])
        info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        with self._archive.open(info, "w", force_zip64=is_large) as member:
            out = HashingSink(member)
            yield out
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": out.digest(), "bytes": out.size})

    def add_file(self, path: str, source: Path, *, stored: bool) -> None:
        """Copy a file into a new member."""
        is_large = source.stat().st_size > zipfile.ZIP64_LIMIT
        with source.open("rb") as file, self.member(path, stored=stored, is_large=is_large) as out:
            while chunk := file.read(COPY_BYTES):
                out.write(chunk)

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


class WarcParts:
    """The WARC files of a package, one after the other."""

    def __init__(self, package: WaczPackage, run: ExportRun) -> None:
        self._package = package
        self._run = run
        self._member = ExitStack()
        self._file: WarcFile | None = None
        self._count = 0
        self.name = ""

    def add(self, answer: SelectedResponse) -> WarcPosition:
        """Write a response to the file called `name`."""
        return self.current().add(answer)

    def current(self) -> WarcFile:
        """Return the file for the next record."""
        if self._file is None or self._file.size >= MAX_WARC_BYTES:
            self.close()
            self._count += 1
            self.name = "data.warc.gz" if self._count == 1 else f"data-{self._count}.warc.gz"
            out = self._member.enter_context(self._package.member(f"archive/{self.name}", stored=True))
            level = self._run.settings.archive.gzip_level
            self._file = WarcFile(out, self.name, archive=self._run.archive, level=level)
        return self._file

    def close(self) -> None:
        """End the current file."""
        self._member.close()
        self._file = None


def write_wacz(run: ExportRun, target: Path) -> None:
    """Write every selected version."""
    with (
        TemporaryDirectory(prefix=".evercrawl-", dir=target.parent) as folder,
        sorted_lines(Path(folder)) as lines,
        zipfile.ZipFile(target, "x", allowZip64=True) as archive,
    ):
        package, list_of_pages = WaczPackage(archive), Path(folder) / "pages.jsonl"
        with closing(WarcParts(package, run)) as parts, list_of_pages.open("xb") as pages:
            main_page = _write_records(run, parts, lines, pages)
        _write_index(package, lines, Path(folder) / "index.cdx.gz")
        package.add_file("pages/pages.jsonl", list_of_pages, stored=False)
        package.close(_about(run, main_page))


def _write_records(run: ExportRun, parts: WarcParts, lines: SortedLines, pages: BinaryIO) -> SelectedResponse | None:
    """Write the WARC files, their index lines and their list of pages; return the first page."""
    parts.current()
    pages.write(orjson.dumps(PAGES_HEADER) + b"\n")
    first: SelectedResponse | None = None
    for answer in chain(run.answers(), run.resources()):
        place = parts.add(answer)
        mime = mime_of(answer.stored)
        lines.add(cdxj_line(answer.version, answer.stored, mime=mime, file=parts.name, place=place))
        if mime in HTML_TYPES and answer.version.number:
            pages.write(_page_line(answer))
            first = first or answer
    return first


def _page_line(answer: SelectedResponse) -> bytes:
    version = answer.version
    fields = {"id": version.record_id.hex(), "url": version.url, "ts": iso_time(version.seen_us)}
    if version.title:
        fields["title"] = version.title
    return orjson.dumps(fields | {"size": version.body_bytes}) + b"\n"


def _write_index(package: WaczPackage, lines: SortedLines, file: Path) -> None:
    """Write the index in blocks, and a second index with the position and start of each block."""
    blocks = [b"!meta 0 " + orjson.dumps(INDEX_HEADER) + b"\n"]
    with file.open("xb") as index:
        rest = iter(lines)
        while block := list(islice(rest, INDEX_BLOCK_LINES)):
            packed = gzip.compress(b"".join(block), mtime=0)
            where = {"offset": index.tell(), "length": len(packed), "digest": _sha256(packed)}
            index.write(packed)
            key = b" ".join(block[0].split(b" ", 2)[:2])
            blocks.append(key + b" " + orjson.dumps(where) + b"\n")
    package.add_file("indexes/index.cdx.gz", file, stored=True)
    with package.member("indexes/index.idx", stored=False) as out:
        out.write(b"".join(blocks))


def _about(run: ExportRun, first: SelectedResponse | None) -> dict[str, Any]:
    about = {
        "title": run.collection.absolute().name,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "software": f"evercrawl/{__version__}",
    }
    if first is not None:
        about |= {"mainPageUrl": first.version.url, "mainPageDate": iso_time(first.version.seen_us)}
    return about


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
