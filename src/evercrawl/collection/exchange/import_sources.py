"""Archives of others: what WARC files and WACZ packages hold, record by record and by place."""

from __future__ import annotations

import mmap
import shutil
import zipfile
from base64 import b32decode
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import md5, sha1, sha256, sha512
from pathlib import Path
from typing import IO, Literal, NamedTuple, get_args

from evercrawl.adapters.warc.http_head import response_block_head
from evercrawl.adapters.warc.member import MAGIC, unpack_at
from evercrawl.adapters.warc.parse import HttpParts, Record, find_record, http_parts, parse_record
from evercrawl.adapters.warc.reader import Damage, iterate
from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import BadResponse, ReadLimits, parse_response_head, split_list
from evercrawl.core.http.message import RawResponse, fetch_result
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.fetch import Exchange, FetchResult, Request
from evercrawl.model.settings import HttpSettings

ImportForm = Literal["warc", "wacz"]
IMPORT_FORMS: tuple[ImportForm, ...] = get_args(ImportForm)
OPEN_FILES = 16
LOOKED_AT_BYTES = 64
"""Where a file says what it is; some writers put blank lines first."""
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZIP_MAGIC = b"PK\x03\x04"
_HASHES = {"sha1": sha1, "sha-1": sha1, "sha256": sha256, "sha-256": sha256, "sha512": sha512, "md5": md5}


class RecordPlace(NamedTuple):
    """Where a record lies: number of the file, offset, place among the records of one gzip member."""

    source: int
    offset: int
    nth: int


def import_form_named(name: str) -> ImportForm:
    """The form of this name."""
    for form in IMPORT_FORMS:
        if form == name:
            return form
    raise ConfigError(f"{name!r} cannot be taken in; the forms are {', '.join(IMPORT_FORMS)}")


def warc_files(files: list[Path], form: ImportForm, folder: Path) -> list[Path]:
    """The WARC files that are meant; those inside packages are unpacked into `folder`."""
    if form == "warc":
        for file in files:
            _require_warc(file)
        return files
    found: list[Path] = []
    for file in files:
        found += _unpacked(file, folder, start=len(found))
    return found


def _require_warc(file: Path) -> None:
    start = _start_of(file)
    if start.startswith(ZIP_MAGIC):
        raise ConfigError(f"{file} is a ZIP file; if it is a WACZ, take it in with: evercrawl import wacz {file}")
    if start.startswith(ZSTD_MAGIC):
        raise ConfigError(f"{file} is packed with zstd, which is not read here; unpack it first with: zstd -d {file}")
    if start and not start.startswith((MAGIC[:2], b"WARC/")):
        raise ConfigError(f"{file} is not a WARC file: it begins with {start!r}")


def _start_of(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(LOOKED_AT_BYTES).lstrip(b"\r\n")[:5]
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error


def _unpacked(file: Path, folder: Path, *, start: int) -> list[Path]:
    """The WARC files of a package; its names decide what they are and never where they go."""
    if not _start_of(file).startswith(ZIP_MAGIC):
        raise ConfigError(f"{file} is not a WACZ file: it is no ZIP")
    try:
        with zipfile.ZipFile(file) as package:
            names = [name for name in package.namelist() if _is_warc_member(name)]
            targets = [folder / f"{start + number:06}.warc" for number in range(len(names))]
            for name, target in zip(names, targets, strict=True):
                with package.open(name) as member, target.open("xb") as out:
                    shutil.copyfileobj(member, out, 1 << 20)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ConfigError(f"{file} is not a WACZ file that can be read: {error}") from error
    except OSError as error:
        raise StoreUnavailable(f"{file} cannot be unpacked: {error.strerror or error}") from error
    if not names:
        raise ConfigError(f"{file} is not a WACZ file: it has no WARC in its folder archive/")
    return targets


def _is_warc_member(name: str) -> bool:
    return name.startswith("archive/") and name.endswith((".warc", ".warc.gz"))


def placed_records(path: Path, source: int) -> Iterator[tuple[RecordPlace, Record] | Damage]:
    """Every sound record of a file with its place, and a word about each damaged one."""
    last, nth = -1, 0
    for found in iterate(path):
        if isinstance(found, Damage):
            yield found
            continue
        nth = nth + 1 if found.offset == last else 0
        last = found.offset
        yield RecordPlace(source, found.offset, nth), found


class RecordFiles:
    """Records by place. At most `OPEN_FILES` files are open, and of packed ones the last member is kept."""

    def __init__(self, files: list[Path]) -> None:
        self._files = files
        self._open: OrderedDict[int, tuple[IO[bytes], mmap.mmap]] = OrderedDict()
        self._member: tuple[tuple[int, int], bytes] = ((-1, -1), b"")

    def read(self, place: RecordPlace) -> Record:
        """The record at a place that was found before."""
        data = self._data(place.source)
        if data[:2] != MAGIC[:2]:
            return parse_record(data, place.offset, offset=place.offset)[0]
        if self._member[0] != place[:2]:
            self._member = place[:2], unpack_at(data, place.offset)[0]
        return _nth_record(self._member[1], place)

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


def _nth_record(member: bytes, place: RecordPlace) -> Record:
    start, nth = 0, -1
    while (at := find_record(member, start)) is not None:
        try:
            record, start = parse_record(member, at, offset=place.offset)
        except ValueError:
            start = at + 1
            continue
        nth += 1
        if nth == place.nth:
            return record
    raise ValueError("the record is not where it was")


def digest_holds(header: str | None, data: bytes) -> bool | None:
    """Whether data is what a digest header says; None: there is no digest that we can read."""
    name, _, value = (header or "").partition(":")
    compute = _HASHES.get(name.strip().lower())
    if compute is None or not value.strip():
        return None
    actual = compute(data, usedforsecurity=False).digest()
    return any(actual == said for said in _readings(value.strip(), len(actual)))


def _readings(value: str, size: int) -> Iterator[bytes]:
    """The bytes that a digest's text may mean: hex digits, or Base32."""
    if len(value) == 2 * size:
        try:
            yield bytes.fromhex(value)
        except ValueError:
            pass
    try:
        yield b32decode(value.upper() + "=" * (-len(value) % 8))
    except ValueError:
        pass


IMPORTED_TAG = '"imported"'
"""Stands for whatever condition the archived request had: without one, 304 would be no answer."""
CHUNK_LINE_BYTES = 4096


class Damaged(Exception):
    """The record does not hold what it says."""


class ImportedAnswer(NamedTuple):
    """An answer of the past, as far as a record has it."""

    url: str
    date: datetime
    ip: str | None
    is_cut: bool
    http: HttpParts
    request_head: bytes


def response_parts(record: Record) -> HttpParts:
    """Head and body of a response record, its digests checked and its transfer coding removed."""
    try:
        parts = http_parts(record.block)
    except ValueError as error:
        raise Damaged(str(error)) from error
    block = digest_holds(record.headers.get("warc-block-digest"), record.block)
    if block is False:
        raise Damaged("the block is not what its digest says")
    plain = dechunked(parts)
    said = record.headers.get("warc-payload-digest")
    is_whole = "warc-truncated" not in record.headers
    if block is None and is_whole and not _is_payload(said, (plain, parts.body)):
        raise Damaged("the payload is not what its digest says")
    return parts._replace(body=plain)


def _is_payload(said: str | None, forms: tuple[bytes, ...]) -> bool:
    """Writers differ in whether the transfer coding belongs to the payload."""
    return any(digest_holds(said, form) is not False for form in forms)


def dechunked(parts: HttpParts) -> bytes:
    """The body without chunks; many writers remove them and leave the field that announces them."""
    codings = split_list([value for name, value in parts.headers if name.lower() == "transfer-encoding"])
    if "chunked" not in codings:
        return parts.body
    plain = _joined_chunks(parts.body)
    return parts.body if plain is None else plain


def _joined_chunks(body: bytes) -> bytes | None:
    """What the chunks hold; None: these are no chunks (RFC 9112 section 7.1)."""
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


def result_of_capture(capture: ImportedAnswer, settings: HttpSettings) -> FetchResult:
    """How the visit ended, by the rules of a crawl."""
    body = capture.http.body
    head = response_block_head(capture.http.head, body_bytes=None if capture.is_cut else len(body))
    limits = ReadLimits(settings.header_bytes, settings.header_count, settings.wire_bytes)
    try:
        parsed = parse_response_head(head, limits)
    except BadResponse as error:
        raise Damaged(error.detail) from error
    exchange = Exchange(
        request_head=capture.request_head,
        response_head=capture.http.head,
        wire_body=body,
        ip=capture.ip,
        began=capture.date,
        took=timedelta(0),
    )
    answer = RawResponse(parsed, exchange, cut=capture.is_cut)
    decode_limits = DecodeLimits(settings.decoded_bytes, settings.ratio)
    return fetch_result(Request(capture.url, etag=IMPORTED_TAG), answer, limits=decode_limits)
