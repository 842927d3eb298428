"""Can every stored version be read back, and is it what was stored? Told file by file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.adapters.sqlite.stored import Bounds, StoredReader, StoredVersion, stored_reader
from evercrawl.collection.exchange.stored import decoded_body, stored_answer
from evercrawl.core.digest import content_digest, payload_sha1
from evercrawl.errors import StoreUnavailable

MOST_PROBLEMS = 100
"""Problems of one file that are named one by one; all are counted."""


@dataclass(slots=True)
class FileReport:
    """One archive file: the versions whose records lie in it."""

    name: str
    bytes: int = 0
    versions: int = 0
    damaged: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class VerifyReport:
    """The whole collection."""

    versions: int = 0
    damaged: int = 0
    files: dict[str, FileReport] = field(default_factory=dict)

    def is_sound(self) -> bool:
        """Every version holds."""
        return self.damaged == 0


OnVerify = Callable[[VerifyReport], None]


def verify(collection: Path, *, on_progress: OnVerify | None = None) -> VerifyReport:
    """Read every version and compute its digests anew."""
    report, archive = VerifyReport(), collection / "archive"
    for path in sorted(archive.glob("*.warc.gz")):
        report.files[path.name] = FileReport(path.name, path.stat().st_size)
    for shard in StateReader(collection).shards():
        with stored_reader(collection, shard) as reader:
            for version in reader.stored_versions(Bounds(newest_only=False)):
                _note(report, version, problem_of(archive, reader, version))
                if on_progress is not None:
                    on_progress(report)
    return report


def problem_of(archive: Path, reader: StoredReader, version: StoredVersion) -> str | None:
    """What is wrong with a version; None: nothing."""
    try:
        stored = stored_answer(archive, reader, version)
        if payload_sha1(stored.http.body) != version.payload_sha1:
            return "the payload is not what its SHA-1 says"
        if content_digest(decoded_body(version, stored.http)) != version.digest:
            return "the decoded body is not what its digest says"
    except StoreUnavailable as error:
        return str(error)
    return None


def _note(report: VerifyReport, version: StoredVersion, problem: str | None) -> None:
    file = report.files.setdefault(version.file, FileReport(version.file))
    report.versions += 1
    file.versions += 1
    if problem is None:
        return
    report.damaged += 1
    file.damaged += 1
    if len(file.problems) < MOST_PROBLEMS:
        file.problems.append(f"version {version.number} of {version.url}: {problem}")
