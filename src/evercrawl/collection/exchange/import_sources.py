"""Read foreign archives: records of WARC files and WACZ packages, and an on-disk catalogue of them."""

from __future__ import annotations

import gzip
import mmap
import secrets
import shutil
import sqlite3
import zipfile
import zlib
from base64 import b32decode
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import md5, sha1, sha256, sha512
from importlib.resources import files
from itertools import chain
from lzma import LZMAError
from pathlib import Path
from typing import IO, Literal, NamedTuple, get_args

import orjson

from evercrawl.adapters.warc.gzip_members import GZIP_MAGIC, decompress_at
from evercrawl.adapters.warc.reader import (
    BadRecord,
    HttpBlock,
    WarcDamage,
    WarcRecord,
    find_record,
    iterate_records,
    parse_http_block,
    parse_record,
)
from evercrawl.adapters.warc.warc_records import response_block_head
from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import BadResponse, ReadLimits, parse_response_head, split_list
from evercrawl.core.http.message import RawResponse, fetch_result
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.fetch import Exchange, FetchResult, Request
from evercrawl.model.settings import HttpSettings

ImportFormat = Literal["warc", "wacz"]
IMPORT_FORMATS: tuple[ImportFormat, ...] = get_args(ImportFormat)
OPEN_FILES = 16
MAGIC_BYTES = 64  # Bytes read to detect the type of a file; some writers start with blank lines.
MAX_EXPANSION = 100  # A package may expand to this many times its size, and a WARC file to twice that.
MIN_EXPANDED_BYTES = 64 * 1024 * 1024  # Smaller results are never too large.
MAX_PACKED_FILES = 10_000  # WARC files in a package, and packages in a multi-WACZ.
MAX_MANIFEST_BYTES = 16 * 1024 * 1024
RESERVED_BYTES = 256 * 1024 * 1024  # Disk space that stays free.
_COPIED_BYTES = 1 << 20
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ARC_MAGIC = b"filed"  # filedesc://, the URL of the first record.
ZIP_MAGIC = b"PK\x03\x04"
_HASHES = {"sha1": sha1, "sha-1": sha1, "sha256": sha256, "sha-256": sha256, "sha512": sha512, "md5": md5}


class RecordPlace(NamedTuple):
    """The position of a record: number of the file, offset, and index within one gzip member."""

    source: int
    offset: int
    nth: int


def parse_import_format(name: str) -> ImportFormat:
    """Return the format with this name."""
    for form in IMPORT_FORMATS:
        if form == name:
            return form
    raise ConfigError(f"unknown import format {name!r}; choose from {', '.join(IMPORT_FORMATS)}")


def warc_files(files: list[Path], form: ImportFormat, folder: Path) -> list[Path]:
    """Return the WARC files; those in packages are extracted into `folder`."""
    if form == "warc":
        for file in files:
            _require_warc(file)
        return files
    found: list[Path] = []
    for package in chain.from_iterable(_packages(file, folder) for file in files):
        found += _extract(package, folder, start=len(found))
    return found


def _packages(file: Path, folder: Path) -> Iterator[Path]:
    """Yield a package, or those of a multi-WACZ: a ZIP file that holds them, or a manifest that lists them."""
    start = _start_of(file)
    if start.lstrip().startswith(b"{"):
        yield from _listed_packages(file)
        return
    with _reading_zip(file), zipfile.ZipFile(file) as outer:
        names = [member for member in outer.infolist() if member.filename.endswith(".wacz") and not member.is_dir()]
        if not names or any(_is_warc_member(name) for name in outer.namelist()):
            yield file
            return
        if len(names) > MAX_PACKED_FILES:
            raise ConfigError(f"{file} has {len(names)} WACZ files, more than {MAX_PACKED_FILES}")
        room = _room_for(file, folder)
        for name in names:
            target = folder / f"{secrets.token_hex(8)}.wacz"
            _copy_member(outer, name, target, room)
            yield target
            target.unlink()


def _listed_packages(file: Path) -> Iterator[Path]:
    """Yield the packages that a manifest lists; all must be files in or below its folder."""
    try:
        with file.open("rb") as opened:
            manifest = orjson.loads(opened.read(MAX_MANIFEST_BYTES))
        paths = [str(one.get("path") or one.get("url") or "") for one in manifest["resources"]]
    except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError) as error:
        raise ConfigError(f"{file} is not the manifest of a multi-WACZ: it lists no resources") from error
    for path in paths:
        package = (file.parent / path).resolve()
        if "://" in path or not package.is_relative_to(file.parent.resolve()):
            raise ConfigError(f"{file} lists {path!r}, which is not in its folder; download it and name it instead")
        if not package.is_file():
            raise ConfigError(f"{file} lists {path!r}, which does not exist")
        yield package


def _require_warc(file: Path) -> None:
    start = _start_of(file)
    if start.startswith(ZIP_MAGIC):
        raise ConfigError(f"{file} is a ZIP file; if it is a WACZ, use: evercrawl import wacz {file}")
    if start.startswith(ARC_MAGIC) or (start.startswith(GZIP_MAGIC[:2]) and _unpacked_start(file) == ARC_MAGIC):
        raise ConfigError(f"{file} is an ARC file; convert it to WARC first, for example with: warcio recompress")
    if start.startswith(ZSTD_MAGIC):
        raise ConfigError(f"{file} is compressed with zstd, which is not supported; use: zstd -d {file}")
    if start and not start.startswith((GZIP_MAGIC[:2], b"WARC/")):
        raise ConfigError(f"{file} is not a WARC file: it begins with {start.decode('latin-1')!r}")


def _unpacked_start(file: Path) -> bytes:
    try:
        with gzip.open(file) as opened:
            return opened.read(len(ARC_MAGIC))
    except (OSError, EOFError, zlib.error):
        return b""  # Damaged; the reader says where.


def _start_of(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MAGIC_BYTES).lstrip(b"\r\n")[:5]
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error


def _extract(file: Path, folder: Path, *, start: int) -> list[Path]:
    """Extract the WARC files of a package under new names, so that its names cannot escape the folder."""
    with _reading_zip(file), zipfile.ZipFile(file) as package:
        names = [member for member in package.infolist() if _is_warc_member(member.filename)]
        if len(names) > MAX_PACKED_FILES:
            raise ConfigError(f"{file} has {len(names)} WARC files, more than {MAX_PACKED_FILES}")
        targets = [folder / f"{start + number:06}.warc" for number in range(len(names))]
        room = _room_for(file, folder)
        for name, target in zip(names, targets, strict=True):
            _copy_member(package, name, target, room)
    if not names:
        raise ConfigError(f"{file} is not a WACZ file: it has no WARC in its folder archive/")
    return targets


def _copy_member(package: zipfile.ZipFile, name: zipfile.ZipInfo, target: Path, room: _Room) -> None:
    with package.open(name) as member, target.open("xb") as out:
        while part := member.read(_COPIED_BYTES):
            room.take(len(part))
            out.write(part)


@contextmanager
def _reading_zip(file: Path) -> Iterator[None]:
    """Turn the errors of reading a package into ours."""
    if not _start_of(file).startswith(ZIP_MAGIC):
        raise ConfigError(f"{file} is not a WACZ file: it is not a ZIP file")
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        LZMAError,
        NotImplementedError,
        RuntimeError,
        EOFError,
        ValueError,
    ) as error:
        raise ConfigError(f"{file} is not a valid WACZ file: {error}") from error
    except OSError as error:
        raise StoreUnavailable(f"{file} cannot be extracted: {error.strerror or error}") from error


class _Room:
    """How much a package may still expand, whatever sizes it declares."""

    def __init__(self, file: Path, allowed: int, free: int) -> None:
        self._file = file
        self._allowed = allowed
        self._free = free

    def take(self, size: int) -> None:
        """Raise if that is more than is left."""
        self._allowed -= size
        self._free -= size
        if self._allowed < 0:
            raise ConfigError(
                f"{self._file} is not imported: it expands to more than {MAX_EXPANSION} times its size, as packages "
                "made to fill disks do; if you know its author, unpack it and use: evercrawl import warc"
            )
        if self._free < 0:
            raise StoreUnavailable(f"{self._file} cannot be extracted: there is not enough disk space for it")


def _room_for(file: Path, folder: Path) -> _Room:
    allowed = max(MIN_EXPANDED_BYTES, MAX_EXPANSION * file.stat().st_size)
    return _Room(file, allowed, shutil.disk_usage(folder).free - RESERVED_BYTES)


def _is_warc_member(name: str) -> bool:
    return name.startswith("archive/") and name.endswith((".warc", ".warc.gz"))


def locate_records(path: Path, source: int) -> Iterator[tuple[RecordPlace, WarcRecord] | WarcDamage]:
    """Yield every intact record of a file with its position, and a description of each damaged one."""
    last, nth = -1, 0
    left = max(16 * MIN_EXPANDED_BYTES, 2 * MAX_EXPANSION * path.stat().st_size)
    for found in iterate_records(path):
        if isinstance(found, WarcDamage):
            yield found
            continue
        left -= len(found.block)
        if left < 0:
            yield WarcDamage(found.offset, f"the file expands to more than {2 * MAX_EXPANSION} times its size here")
            return
        nth = nth + 1 if found.offset == last else 0
        last = found.offset
        yield RecordPlace(source, found.offset, nth), found


class RecordFiles:
    """Reads records by position, with at most `OPEN_FILES` open files and the last gzip member cached."""

    def __init__(self, files: list[Path]) -> None:
        self._files = files
        self._open: OrderedDict[int, tuple[IO[bytes], mmap.mmap]] = OrderedDict()
        self._place = (-1, -1)
        self._member = b""
        self._starts: list[int] = []  # Where the records of the member begin.

    def read(self, place: RecordPlace) -> WarcRecord:
        """Read the record at a position."""
        data = self._data(place.source)
        if data[:2] != GZIP_MAGIC[:2]:
            return parse_record(data, place.offset, offset=place.offset)[0]
        if self._place != place[:2]:
            self._member = decompress_at(data, place.offset)[0]
            self._place, self._starts = place[:2], list(_record_starts(self._member))
        if place.nth >= len(self._starts):
            raise ValueError("the file has changed: the record is missing")
        return parse_record(self._member, self._starts[place.nth], offset=place.offset)[0]

    def _data(self, source: int) -> mmap.mmap:
        if source not in self._open:
            while len(self._open) >= OPEN_FILES:
                _close(self._open.popitem(last=False)[1])
            file = self._files[source].open("rb")
            self._open[source] = file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._open.move_to_end(source)
        return self._open[source][1]

    def close(self) -> None:
        """Close every file."""
        while self._open:
            _close(self._open.popitem()[1])


def _close(opened: tuple[IO[bytes], mmap.mmap]) -> None:
    opened[1].close()
    opened[0].close()


def _record_starts(member: bytes) -> Iterator[int]:
    start = 0
    while (at := find_record(member, start)) is not None:
        try:
            _, start = parse_record(member, at, offset=0)
            yield at
        except BadRecord as error:
            start = error.following


def matches_digest(header: str | None, data: bytes) -> bool | None:
    """Return whether data matches a digest header; None: no supported digest."""
    name, _, value = (header or "").partition(":")
    compute = _HASHES.get(name.strip().lower())
    if compute is None or not value.strip():
        return None
    actual = compute(data, usedforsecurity=False).digest()
    return any(actual == digest for digest in _digest_values(value.strip(), len(actual)))


def _digest_values(value: str, size: int) -> Iterator[bytes]:
    """Yield the bytes that the text of a digest may mean: hexadecimal or Base32."""
    if len(value) == 2 * size:
        try:
            yield bytes.fromhex(value)
        except ValueError:
            pass
    try:
        yield b32decode(value.upper() + "=" * (-len(value) % 8))
    except ValueError:
        pass


IMPORTED_TAG = '"imported"'  # The condition of an archived request, so that 304 is a valid response.
CHUNK_LINE_BYTES = 4096


class DamagedRecord(Exception):
    """The record does not match its digest or length."""


class ImportedResponse(NamedTuple):
    """An archived response."""

    url: str
    date: datetime
    ip: str | None
    is_cut: bool
    http: HttpBlock
    request_head: bytes


def response_parts(record: WarcRecord) -> HttpBlock:
    """Return head and body of a response record, after checking its digests and removing chunking."""
    try:
        parts = parse_http_block(record.block)
    except ValueError as error:
        raise DamagedRecord(str(error)) from error
    block = matches_digest(record.headers.get("warc-block-digest"), record.block)
    if block is False:
        raise DamagedRecord("the block does not match its digest")
    plain = remove_chunking(parts)
    digest = record.headers.get("warc-payload-digest")
    is_whole = "warc-truncated" not in record.headers
    if block is None and is_whole and not _matches_any(digest, (plain, parts.body)):
        raise DamagedRecord("the payload does not match its digest")
    return parts._replace(body=plain)


def _matches_any(digest: str | None, forms: tuple[bytes, ...]) -> bool:
    """Return whether one of the forms matches; writers differ in whether the payload includes chunking."""
    return any(matches_digest(digest, form) is not False for form in forms)


def remove_chunking(parts: HttpBlock) -> bytes:
    """Return the body without chunking, which many writers remove without removing the header."""
    codings = split_list([value for name, value in parts.headers if name.lower() == "transfer-encoding"])
    if "chunked" not in codings:
        return parts.body
    plain = _join_chunks(parts.body)
    return parts.body if plain is None else plain


def _join_chunks(body: bytes) -> bytes | None:
    """Return the content of the chunks; None: the body is not chunked (RFC 9112 section 7.1)."""
    pieces: list[bytes] = []
    at = 0
    while True:
        end = body.find(b"\n", at, at + CHUNK_LINE_BYTES)
        size = body[at:end].partition(b";")[0].strip() if end >= 0 else b""
        if not size or len(size) > 8 or size.strip(b"0123456789abcdefABCDEF"):
            return None
        length = int(size, 16)
        if length == 0:
            return b"".join(pieces)
        piece = body[end + 1 : end + 1 + length]
        at = end + 1 + length
        at += 2 if body[at : at + 2] == b"\r\n" else 1
        if len(piece) < length or body[at - 1 : at] != b"\n":
            return None
        pieces.append(piece)


def fetch_result_of(capture: ImportedResponse, settings: HttpSettings) -> FetchResult:
    """Return the result of the visit by the rules of a crawl."""
    body = capture.http.body
    head = response_block_head(capture.http.head, body_bytes=None if capture.is_cut else len(body))
    limits = ReadLimits(settings.max_header_bytes, settings.max_headers, settings.max_wire_bytes)
    try:
        parsed = parse_response_head(head, limits)
    except BadResponse as error:
        raise DamagedRecord(error.detail) from error
    exchange = Exchange(
        request_head=capture.request_head,
        response_head=capture.http.head,
        wire_body=body,
        ip=capture.ip,
        began=capture.date,
        took=timedelta(0),
    )
    answer = RawResponse(parsed, exchange, is_cut=capture.is_cut)
    decode_limits = DecodeLimits(settings.max_decoded_bytes, settings.max_compression_ratio)
    return fetch_result(Request(capture.url, etag=IMPORTED_TAG), answer, limits=decode_limits)


_SCHEMA = files("evercrawl.collection.exchange").joinpath("captures.sql").read_text("utf-8")


_INDEXES = files("evercrawl.collection.exchange").joinpath("capture_indexes.sql").read_text("utf-8")


ROWS_AT_A_TIME = 500


class CatalogueEntry(NamedTuple):
    """The header fields of a response or revisit record."""

    shard: int
    at_us: int
    url: str  # Canonical.
    kind: str
    source: int
    offset: int
    nth: int
    record_id: str | None
    concurrent: str | None
    refers_to: str | None
    refers_url: str | None
    refers_us: int | None
    payload: str | None

    @property
    def place(self) -> RecordPlace:
        """The position of the record."""
        return RecordPlace(self.source, self.offset, self.nth)


_COLUMNS = ", ".join(CatalogueEntry._fields)


class Catalogue:
    """Entries in a temporary file; add all of them, call `close_entries`, then read."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute("pragma synchronous = off")
        self._db.executescript(_SCHEMA)
        self._db.execute("begin")

    def add(self, entry: CatalogueEntry) -> None:
        """Add a response."""
        marks = ", ".join("?" * len(entry))
        self._db.execute(f"insert into capture ({_COLUMNS}) values ({marks})", entry)

    def add_request(self, place: RecordPlace, *, record_id: str | None, concurrent: str | None) -> None:
        """Add a request."""
        self._db.execute("insert into request values (?, ?, ?, ?, ?)", (record_id, concurrent, *place))

    def close_entries(self) -> None:
        """Create the indexes; no more entries can be added."""
        self._db.execute("commit")
        self._db.executescript(_INDEXES)

    def shards(self) -> list[int]:
        """Return the shards with entries."""
        return [row[0] for row in self._db.execute("select distinct shard from capture order by shard")]

    def of_shard(self, shard: int) -> Iterator[CatalogueEntry]:
        """Yield the entries of a shard, oldest first."""
        rows = self._db.execute(f"select {_COLUMNS} from capture where shard = ? order by at_us, id", (shard,))
        while portion := rows.fetchmany(ROWS_AT_A_TIME):
            yield from map(CatalogueEntry._make, portion)

    def original_of(self, entry: CatalogueEntry) -> RecordPlace | None:
        """Return the original of a revisit: by record id, by URL and time, or by digest."""
        tries = (
            ("record_id = ?", (entry.refers_to,)),
            ("url = ? and at_us = ?", (entry.refers_url, entry.refers_us)),
            ("payload = ?", (entry.payload,)),
        )
        for condition, values in tries:
            if None in values:
                continue
            found = self._db.execute(
                f"select source, offset, nth from capture where kind = 'response' and {condition} order by id limit 1",
                values,
            ).fetchone()
            if found is not None:
                return RecordPlace(*found)
        return None

    def request_of(self, entry: CatalogueEntry) -> RecordPlace | None:
        """Return the request of a response; either record may refer to the other."""
        for column, value in (("concurrent", entry.record_id), ("record_id", entry.concurrent)):
            found = (
                value
                and self._db.execute(
                    f"select source, offset, nth from request where {column} = ? limit 1", (value,)
                ).fetchone()
            )
            if found:
                return RecordPlace(*found)
        return None

    def close(self) -> None:
        """Close the file."""
        self._db.close()
