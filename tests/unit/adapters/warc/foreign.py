"""Read our files with independent readers: warcio and FastWARC."""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_main

with warnings.catch_warnings():
    # Importing FastWARC 1.1 warns about FastWARC's own old names.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator as FastIterator
    from fastwarc.warc import WarcRecordType


def records(path: Path) -> list[tuple[dict[str, str], bytes]]:
    """Return header fields and block of every record, by warcio."""
    with path.open("rb") as file:
        return [
            (dict(record.rec_headers.headers), record.raw_stream.read())
            for record in ArchiveIterator(file, no_record_parse=True)
        ]


def payloads_by_warcio(path: Path) -> list[bytes]:
    """Return the payloads of responses and revisits."""
    with path.open("rb") as file:
        return [
            record.raw_stream.read() for record in ArchiveIterator(file) if record.rec_type in ("response", "revisit")
        ]


def payloads_by_fastwarc(path: Path) -> list[bytes]:
    """Return the payloads of responses and revisits."""
    wanted = WarcRecordType.response | WarcRecordType.revisit
    with path.open("rb") as file:
        return [record.reader.read() for record in FastIterator(file, record_types=wanted, parse_http=True)]


def block_digests_hold(path: Path) -> bool:
    """Check every block digest with FastWARC."""
    with path.open("rb") as file:
        return all(record.verify_block_digest() for record in FastIterator(file, parse_http=False))


def problems(folder: Path) -> str:
    """Return the complaints of `warcio check` about all files of a folder."""
    said = io.StringIO()
    files = [str(path) for path in sorted(folder.glob("*.warc.gz"))]
    if not files:
        return ""
    with redirect_stdout(said):
        try:
            warcio_main(["check", *files])
        except SystemExit as ended:
            return f"exit {ended.code}: {said.getvalue()}" if ended.code else ""
    return ""
