"""Crawl while everything that is written is recorded, then cut the power at random moments, recover and check.
What was not synced may be lost: whole writes, blocks of them, and names in folders.

python -m tests.e2e.power_cut CUTS [SEED] [process|power]
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.adapters.sqlite.state_file import open_for_reading, shard_path, shards_in
from evercrawl.adapters.system import SystemClock
from evercrawl.adapters.warc.reader import read_record
from evercrawl.adapters.warc.warc_records import WarcInfo
from evercrawl.adapters.warc.writer import WarcArchive
from evercrawl.collection.collection import open as open_collection
from evercrawl.engine.commits import CommitBuffer, CommitResult
from evercrawl.errors import EvercrawlError
from evercrawl.model.settings import Settings
from tests.e2e.crash import web

SOURCE = Path(__file__).with_name("record_writes.c")
HEAD = struct.Struct("<cQQII")
BLOCK = 4096
ACKS = "acknowledged.jsonl"


# The recorded crawl


def settings_for(origins: list[str], durability: str) -> Settings:
    base = Settings()
    return replace(
        base,
        identity=replace(base.identity, contact="mailto:power@example.org"),
        http=replace(base.http, allow_private=True),
        pace=replace(base.pace, mode="unlimited"),
        scope=replace(base.scope, seeds=tuple(origin + "/" for origin in origins)),
        store=replace(base.store, durability=durability),
    )


def crawl_and_tell(collection: Path, origins: list[str], durability: str) -> None:
    """Crawl; after each commit write what it acknowledged."""
    acknowledged = os.open(collection.parent / ACKS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    commit = CommitBuffer.commit

    async def commit_and_tell(buffer: CommitBuffer) -> CommitResult | None:
        result = await commit(buffer)
        versions = [visit for visit in result.batch.visited if visit.version is not None] if result else []
        rows = [[buffer._store.shard, visit.page_id, visit.version.digest.hex()] for visit in versions if visit.version]
        if rows:
            os.write(acknowledged, json.dumps([time.monotonic(), rows]).encode() + b"\n")
        return result

    CommitBuffer.commit = commit_and_tell  # type: ignore[method-assign]
    opened = open_collection(collection, settings=settings_for(origins, durability))
    asyncio.run(opened.crawl())


# The disk


class Record(NamedTuple):
    """One operation of the recorded process."""

    op: str
    inode: int
    number: int
    first: bytes
    second: bytes


def read_log(path: Path) -> Iterator[Record]:
    data = path.read_bytes()
    at = 0
    while at < len(data):
        op, inode, number, one, two = HEAD.unpack_from(data, at)
        at += HEAD.size
        yield Record(op.decode(), inode, number, data[at : at + one], data[at + one : at + one + two])
        at += one + two


@dataclass
class DiskFile:
    """What is certainly on the disk, and the writes that are not."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)  # Offset and bytes; None: cut to this size.
    synced: int = 0  # Operations so far that were synced.

    def sync(self, until: int) -> None:
        count = max(0, until - self.synced)
        for at, data in self.pending[:count]:
            write(self.durable, at, data)
        del self.pending[:count]
        self.synced = max(self.synced, until)

    def after_cut(self, chance: random.Random, kept: float) -> bytes:
        """Return a content that a power cut may leave: of what was not synced any blocks may be missing."""
        content = bytearray(self.durable)
        for at, data in self.pending:
            if data is None:
                if chance.random() < kept:
                    write(content, at, None)
                continue
            start = 0
            while start < len(data):
                end = min(len(data), start + BLOCK - (at + start) % BLOCK)
                if chance.random() < kept:
                    write(content, at + start, data[start:end])
                start = end
        return bytes(content)


def write(content: bytearray, at: int, data: bytes | None) -> None:
    if data is None:
        del content[at:]
        content.extend(bytes(at - len(content)))
        return
    content.extend(bytes(max(0, at - len(content))))
    content[at : at + len(data)] = data


@dataclass
class Folder:
    """The operations on the names of one folder; those up to `synced` are certainly on the disk."""

    operations: list[tuple[str, str, int]] = field(default_factory=list)
    synced: int = 0


class Disk:
    """The files of a collection as recorded."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[int, DiskFile] = defaultdict(DiskFile)
        self.folders: dict[str, Folder] = defaultdict(Folder)
        self.folder_of: dict[int, str] = {root.stat().st_ino: str(root)}
        self.inodes: dict[str, int] = {}
        self.syncs: dict[int, tuple[int, int]] = {}
        for path in sorted(root.rglob("*")):
            inode = path.stat().st_ino
            self._name("mkdir" if path.is_dir() else "link", str(path), inode)
            if path.is_file():
                self.files[inode].durable += path.read_bytes()
        for folder in self.folders.values():
            folder.synced = len(folder.operations)

    def apply(self, record: Record) -> None:
        """Apply what the process did."""
        inode, path = record.inode, record.first.decode("utf-8", "replace")
        match record.op:
            case "C":
                self.files[inode] = DiskFile()
                self._name("link", path, inode)
            case "M":
                self._name("mkdir", path, inode)
            case "W":
                self.files[inode].pending.append((record.number, record.first))
            case "T":
                self.files[inode].pending.append((record.number, None))
            case "R":
                target = record.second.decode()
                self._name("link", target, self.inodes.get(path, 0))
                self._name("unlink", path, 0)
            case "U":
                self._name("unlink", path, 0)
            case "B":
                self.syncs[record.number] = inode, self._operations(inode)
            case "S":
                self._sync(*self.syncs.pop(record.number))
            case other:
                raise AssertionError(other)

    def _name(self, kind: str, path: str, inode: int) -> None:
        self.folders[str(Path(path).parent)].operations.append((kind, path, inode))
        if kind == "mkdir":
            self.folder_of[inode] = path
        if kind != "unlink":
            self.inodes[path] = inode

    def _operations(self, inode: int) -> int:
        if inode in self.folder_of:
            return len(self.folders[self.folder_of[inode]].operations)
        file = self.files[inode]
        return file.synced + len(file.pending)

    def _sync(self, inode: int, until: int) -> None:
        if inode in self.folder_of:
            folder = self.folders[self.folder_of[inode]]
            folder.synced = max(folder.synced, until)
        else:
            self.files[inode].sync(until)

    def cut(self, target: Path, chance: random.Random) -> None:
        """Write the files as a power cut at this moment may leave them."""
        kept = chance.choice((0.0, 0.0, 0.5, 0.9, 1.0))
        self._write_folder(str(self.root), target, chance, kept)

    def _write_folder(self, folder: str, target: Path, chance: random.Random, kept: float) -> None:
        target.mkdir(parents=True)
        known = self.folders[folder]
        unsure = len(known.operations) - known.synced
        last = known.synced + (chance.randint(0, unsure) if kept else 0)
        names: dict[str, tuple[str, int]] = {}
        for kind, path, inode in known.operations[:last]:
            if kind == "unlink":
                names.pop(path, None)
            else:
                names[path] = kind, inode
        for path, (kind, inode) in names.items():
            place = target / Path(path).name
            if kind == "mkdir":
                self._write_folder(path, place, chance, kept)
            elif not path.endswith("-shm"):
                place.write_bytes(self.files[inode].after_cut(chance, kept))


# Recovery


Version = tuple[int, int, str]  # Shard, page, digest.


def recover(collection: Path) -> set[Version]:
    """Do what the next crawl does first; return the versions whose records can be read."""
    settings = Settings()

    async def resume() -> None:
        store = SqliteStore(collection, settings.store)
        for shard in shards_in(collection):
            opened = await store.open_shard(shard)
            facts = await opened.claim()
            archive = WarcArchive(
                collection / "archive", shard, settings=settings.archive, clock=SystemClock(), info=WarcInfo("test", {})
            )
            archive.truncate_to(facts.archive_end)
            archive.close()
        await store.close()

    asyncio.run(resume())
    found: set[Version] = set()
    for shard in shards_in(collection):
        with closing(open_for_reading(shard_path(collection, shard))) as db:
            # SQLite 3.40 finds nulls in tables without rowid where there are none.
            damage = [text for (text,) in db.execute("pragma integrity_check") if not text.startswith("NULL value in")]
            assert damage in ([], ["ok"]), damage
            rows = db.execute("select page_id, digest, file, offset, length, payload_sha1 from version").fetchall()
        for page, digest, file, offset, length, payload in rows:
            if is_readable(collection / "archive", file, offset, length, payload):
                found.add((shard, page, bytes(digest).hex()))
    return found


def is_readable(archive: Path, file: str, offset: int, length: int, payload: bytes) -> bool:
    try:
        record = read_record(archive, file, offset, length)
    except EvercrawlError:
        return False
    return record.refers_to is not None or sha1(record.wire_body, usedforsecurity=False).digest() == bytes(payload)


# All of it


@dataclass
class PowerReport:
    """What the cuts showed."""

    cuts: int = 0
    acknowledged: int = 0
    records: int = 0
    cuts_with_losses: int = 0
    lost: int = 0
    oldest_lost_s: float = 0.0  # Time between the acknowledgement of a lost version and the last before the cut.
    failures: list[str] = field(default_factory=list)


def run(cuts: int, *, seed: int, durability: str, pages: int = 60) -> PowerReport:
    """Record a crawl and cut the power at so many moments of it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        root = folder / "root"
        collection = root / "c.evercrawl"
        open_collection(collection, create=True, settings=settings_for([], durability))
        disk = Disk(root)
        record_crawl(folder, collection, durability, pages)
        records = list(read_log(folder / "log"))
        report = PowerReport(records=len(records))
        chance = random.Random(seed)
        moments = sorted(chance.sample(range(len(records)), min(cuts, len(records))))
        cut_at_moments(disk, records, moments, folder / "cut", chance, report)
    return report


def record_crawl(folder: Path, collection: Path, durability: str, pages: int) -> None:
    library = folder / "record_writes.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", library, SOURCE, "-ldl"], check=True)
    with web(folder / "requests.log", pages=pages, delay_ms=0.0) as origins:
        command = [sys.executable, "-m", "tests.e2e.power_cut", "--record", str(collection), durability, *origins]
        recording = {"LD_PRELOAD": str(library), "POWER_ROOT": str(collection.parent), "POWER_LOG": str(folder / "log")}
        subprocess.run(command, check=True, env={**os.environ, **recording}, stdout=subprocess.DEVNULL, timeout=250)


def cut_at_moments(
    disk: Disk, records: list[Record], moments: list[int], target: Path, chance: random.Random, report: PowerReport
) -> None:
    acknowledged: dict[Version, float] = {}
    told = b""
    acks = None
    now = 0.0
    for number, record in enumerate(records):
        disk.apply(record)
        if record.op == "C" and record.first.decode().endswith(ACKS):
            acks = record.inode
        if record.op == "W" and record.inode == acks:
            *lines, told = (told + record.first).split(b"\n")
            for line in lines:
                now, rows = json.loads(line)
                acknowledged.update(dict.fromkeys(map(tuple, rows), now))
        if number in moments:
            disk.cut(target, chance)
            report.cuts += 1
            report.acknowledged = len(acknowledged)
            try:
                found = recover(target / "c.evercrawl")
            except Exception as error:
                report.failures.append(f"record {number}: {type(error).__name__}: {error}")
                found = set(acknowledged)
            lost = [at for version, at in acknowledged.items() if version not in found]
            report.lost += len(lost)
            report.cuts_with_losses += bool(lost)
            report.oldest_lost_s = max([report.oldest_lost_s, *(now - at for at in lost)])
            shutil.rmtree(target)


def main() -> None:
    if sys.argv[1] == "--record":
        crawl_and_tell(Path(sys.argv[2]), sys.argv[4:], sys.argv[3])
        return
    cuts = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    durability = sys.argv[3] if len(sys.argv) > 3 else Settings().store.durability
    report = run(cuts, seed=seed, durability=durability, pages=max(60, cuts))
    print(json.dumps({"seed": seed, "durability": durability, **report.__dict__}))


if __name__ == "__main__":
    main()
