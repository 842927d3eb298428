"""Versions as a WACZ file (1.1.1): a ZIP of WARC, index, list of pages and manifest.

Members that are compressed already are stored as they are, so that a viewer can read a range of them.
"""

from __future__ import annotations

import gzip
import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO

import orjson

from evercrawl.collection.exchange.cdxj import SortedLines, cdxj_line, mime_of, sorted_lines
from evercrawl.collection.exchange.run import Answer, ExportRun
from evercrawl.collection.exchange.warc import WarcFile
from evercrawl.core.document.media_type import HTML_TYPES
from evercrawl.model import __version__
from evercrawl.model.time import from_us

WACZ_VERSION = "1.1.1"
WARC_NAME = "data.warc.gz"
INDEX_BLOCK_LINES = 3000
"""Lines in one gzip member of the index; a viewer unpacks one of them to find a URL."""
COPY_BYTES = 1 << 20
PAGES_HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
INDEX_HEADER = {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}


class Package:
    """The ZIP with its manifest. Invariant: every member is listed with the SHA-256 of what was written."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._resources: list[dict[str, object]] = []

    @contextmanager
    def member(self, path: str, *, stored: bool) -> Iterator[HashedOut]:
        """A new member; `stored`: not compressed."""
        info = zipfile.ZipInfo(path, date_time=datetime.now(UTC).timetuple()[:6])
        info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        with self._archive.open(info, "w", force_zip64=True) as member:
            out = HashedOut(member)
            yield out
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": out.digest(), "bytes": out.size})

    def close(self, about: dict[str, Any]) -> None:
        """Write the manifest and its own digest; they are not listed in it."""
        manifest = {"profile": "data-package", "wacz_version": WACZ_VERSION, **about, "resources": self._resources}
        text = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
        digest = {"path": "datapackage.json", "hash": _sha256(text)}
        self._archive.writestr("datapackage.json", text, zipfile.ZIP_DEFLATED)
        self._archive.writestr(
            "datapackage-digest.json", orjson.dumps(digest, option=orjson.OPT_INDENT_2), zipfile.ZIP_DEFLATED
        )


class HashedOut:
    """Passes bytes on and keeps their number and digest."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Pass the bytes on."""
        self._out.write(data)
        self._sha256.update(data)
        self.size += len(data)
        return len(data)

    def digest(self) -> str:
        """The digest of all that was written."""
        return f"sha256:{self._sha256.hexdigest()}"


def write_wacz(run: ExportRun, target: Path) -> None:
    """Every selected version."""
    with (
        TemporaryDirectory(prefix=".evercrawl-", dir=target.parent) as folder,
        sorted_lines(Path(folder)) as lines,
        zipfile.ZipFile(target, "x", allowZip64=True) as archive,
    ):
        package, list_of_pages = Package(archive), Path(folder) / "pages.jsonl"
        with package.member(f"archive/{WARC_NAME}", stored=True) as out, list_of_pages.open("xb") as pages:
            main_page = _write_records(run, out, lines, pages)
        _write_index(package, lines)
        with package.member("pages/pages.jsonl", stored=False) as out, list_of_pages.open("rb") as pages:
            while chunk := pages.read(COPY_BYTES):
                out.write(chunk)
        package.close(_about(run, main_page))


def _write_records(run: ExportRun, out: HashedOut, lines: SortedLines, pages: BinaryIO) -> Answer | None:
    """The WARC, its index lines and its list of pages; gives the first page."""
    file = WarcFile(out, WARC_NAME, archive=run.archive, level=run.settings.archive.level)
    pages.write(orjson.dumps(PAGES_HEADER) + b"\n")
    first: Answer | None = None
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


def _page_line(answer: Answer) -> bytes:
    version = answer.version
    fields = {"id": version.record_id.hex(), "url": version.url, "ts": _moment(version.seen_us)}
    if version.title:
        fields["title"] = version.title
    return orjson.dumps(fields | {"size": version.body_bytes}) + b"\n"


def _write_index(package: Package, lines: SortedLines) -> None:
    """The index in blocks, and a second one that says where each block lies and what it begins with."""
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


def _about(run: ExportRun, first: Answer | None) -> dict[str, Any]:
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
