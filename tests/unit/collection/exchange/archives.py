"""Hand-written archives, and collections made from them."""

from __future__ import annotations

import gzip
import json
from base64 import b32encode
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from typing import Any

import evercrawl
from evercrawl.collection.collection import Collection
from evercrawl.model.listing import VersionSelection

MOMENT = datetime(2026, 3, 1, 12, 0, 0, 250, tzinfo=UTC)
SITE = "https://example.org"


def html(title: str, text: str = "Some words of the page.") -> bytes:
    content = f"<main><h1>{title}</h1><p>{text}</p></main>"
    return f"<!doctype html><html lang=en><title>{title}</title>{content}".encode()


def day(number: int) -> datetime:
    """Return the time a number of days after the first."""
    return MOMENT + timedelta(days=number)


def warc_record(kind: str, fields: dict[str, str], block: bytes, *, digest: bool = True) -> bytes:
    """Return one uncompressed record; `digest` adds the digest of the block."""
    lines = {"WARC-Type": kind, "WARC-Record-ID": f"<urn:uuid:{sha1(repr(fields).encode() + block).hexdigest()}>"}
    lines |= fields
    if digest:
        lines["WARC-Block-Digest"] = f"sha1:{b32encode(sha1(block).digest()).decode()}"
    lines["Content-Length"] = str(len(block))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def response(
    url: str, at: datetime, body: bytes, *, status: str = "200 OK", head: str = "Content-Type: text/html", **fields: str
) -> bytes:
    """Return a response record; further fields are keywords, with `_` for `-`."""
    more = {name.replace("_", "-"): value for name, value in fields.items()}
    block = f"HTTP/1.1 {status}\r\n{head}\r\n\r\n".encode() + body
    date = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return warc_record("response", {"WARC-Target-URI": url, "WARC-Date": date} | more, block)


def packed(*records: bytes) -> bytes:
    """Compress each record as a gzip member."""
    return b"".join(gzip.compress(record, mtime=0) for record in records)


def collection_of(folder: Path, *records: bytes, name: str = "made") -> Collection:
    """Return a collection with these records."""
    file = folder / f"{name}.warc.gz"
    file.write_bytes(packed(*records))
    collection = evercrawl.open(folder / f"{name}.evercrawl", create=True)
    collection.import_("warc", [file])
    return collection


def versions_of(collection: Collection, folder: Path) -> list[dict[str, Any]]:
    """Return every version as in `export jsonl`, by URL and number."""
    target = folder / "versions-for-a-look.jsonl"
    collection.export("jsonl", target, selection=VersionSelection(all_versions=True), force=True)
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    return sorted(rows, key=lambda row: (row["url"], row["version"]))
