"""Remove sites, pages and versions everywhere."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import zlib
from pathlib import Path

import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator

import evercrawl
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection
from evercrawl.adapters.system import CollectionLock
from evercrawl.adapters.warc.reader import iterate_records
from evercrawl.collection import removal as module
from evercrawl.config import read_settings
from evercrawl.errors import ConfigError
from tests.unit.collection.exchange.archives import SITE, collection_of, day, html, response

SECRET = "quokkamarmalade"
OTHER = "https://other.test/"


def made(tmp_path: Path, *more: bytes):
    """A page with three versions, one of them secret, whose content other pages have too; and another site."""
    secret, plain, last = html(f"<p>About {SECRET} and more.</p>"), html("<p>plain words</p>"), html("<p>last</p>")
    return collection_of(
        tmp_path,
        response(f"{SITE}/ann", day(0), plain),
        response(f"{SITE}/ann", day(1), secret),
        response(f"{SITE}/ann", day(2), last),
        response(f"{SITE}/copy", day(3), plain),
        response(f"{SITE}/copy2", day(4), plain),
        response(f"{SITE}/b", day(5), html("<p>bees</p>")),
        response(OTHER, day(0), html("<p>elsewhere</p>")),
        *more,
    )


def records(collection) -> dict[tuple[str, str, str], bytes]:
    """Return the blocks of all records by kind, URL and date."""
    found = {}
    for path in sorted((collection.path / "archive").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                head = record.rec_headers
                key = record.rec_type, head.get("WARC-Target-URI") or "", head.get("WARC-Date")
                found[key] = record.content_stream().read()
    return {key: block for key, block in found.items() if key[0] != "warcinfo"}


def members(collection) -> set[bytes]:
    """Return every record as it is stored."""
    found = set()
    for path in (collection.path / "archive").glob("*.warc.gz"):
        data = path.read_bytes()
        starts = [record.offset for record in iterate_records(path)]
        found |= {data[start:end] for start, end in zip(starts[1:], [*starts[2:], len(data)], strict=True)}
    return found


def holds(folder: Path, text: str) -> list[str]:
    """Return the files that hold a text, also compressed."""
    return [
        str(path) for path in folder.rglob("*") if path.is_file() and any(text.encode() in part for part in parts(path))
    ]


def parts(path: Path):
    yield path.read_bytes()
    if path.suffix == ".gz" or ".warc" in path.name:
        yield gzip.decompress(path.read_bytes())
    if path.suffix in (".sqlite", ".db"):
        db = sqlite3.connect(path)
        for (table,) in db.execute("select name from sqlite_schema where type = 'table'").fetchall():
            for row in db.execute(f"select * from {table}"):
                yield from (part for value in row if isinstance(value, bytes) for part in unpacked(value))
        db.close()


def unpacked(value: bytes):
    for decompress in (zlib.decompress, zstandard.ZstdDecompressor().decompress):
        for start in (0, 12, 16):
            try:
                yield decompress(value[start:])
            except (zlib.error, zstandard.ZstdError):
                pass


def test_a_removed_page_is_nowhere_and_all_else_is_untouched(tmp_path):
    collection = made(tmp_path)
    assert list(collection.search(SECRET).hits) == []  # Builds the index.
    assert holds(collection.path, SECRET)
    before, stored = records(collection), members(collection)
    planned = collection.remove("page", f"{SITE}/ann")
    assert (planned.pages, planned.versions, planned.shared_pages, planned.state) == (1, 3, 2, "preview")
    done = collection.remove("page", f"{SITE}/ann", request="ticket 4711", apply=True)
    assert (done.state, done.versions, done.damaged_files) == ("done", 3, ())
    assert holds(collection.path, SECRET) == []
    after = records(collection)
    gone = {key for key in before if key[1] == f"{SITE}/ann"}
    (tombstone,) = [key for key in after if key[0] == "metadata"]
    assert b"request: ticket 4711" in after[tombstone]
    assert tombstone[1] == f"{SITE}/ann"
    kept = {key[1:] for key in before} - {key[1:] for key in gone}
    assert {key[1:] for key in after} - {tombstone[1:]} == kept
    # Only the revisits of the removed record are written again; all other records are the same bytes.
    written = {key for key, block in after.items() if before.get(key) != block} - {tombstone}
    assert {key[1] for key in written} == {f"{SITE}/copy"}
    assert len(members(collection) & stored) == len(before) - len(gone) - len(written)
    assert collection.verify().is_sound()
    assert b"plain words" in collection.show(f"{SITE}/copy").html
    assert b"plain words" in collection.show(f"{SITE}/copy2").html


def test_content_survives_the_removal_of_copies_in_any_order(tmp_path):
    for order in (("copy", "ann"), ("ann", "copy"), ("copy", "copy2")):
        folder = tmp_path / "-".join(order)
        folder.mkdir()
        collection = made(folder)
        for name in order:
            collection.remove("page", f"{SITE}/{name}", apply=True)
            assert collection.verify().is_sound()
        (left,) = {"ann", "copy", "copy2"} - set(order)
        assert b"plain words" in collection.show(f"{SITE}/{left}", "v1").html


def test_a_removed_page_is_unknown_and_refused(tmp_path):
    collection = made(tmp_path)
    collection.remove("page", f"{SITE}/ann", apply=True)
    collection = evercrawl.open(collection.path)
    why = collection.why(f"{SITE}/ann")
    assert (why.reason, why.outcome, why.known) == ("removed", "rejected", True)
    assert f"{SITE}/ann" in [skipped.url for skipped in collection.skipped()]
    assert "removed on request" in why.detail
    with pytest.raises(ConfigError, match="no version"):
        collection.history(f"{SITE}/ann")
    with pytest.raises(ConfigError, match="remove undo"):
        collection.crawl_blocking(urls=[f"{SITE}/ann"])
    assert module.allow_again(collection.path, f"{SITE}/ann")
    assert not module.allow_again(collection.path, f"{SITE}/ann")
    assert evercrawl.open(collection.path).why(f"{SITE}/ann").reason != "removed"
    assert [(one.kind, one.state) for one in module.removals(collection.path)] == [("page", "done")]
    assert collection.status().pages == 4


def test_one_version_goes_and_the_others_stay(tmp_path):
    collection = made(tmp_path)
    collection.remove("version", f"{SITE}/ann@v2", apply=True)
    assert holds(collection.path, SECRET) == []
    assert [version.version for version in collection.history(f"{SITE}/ann").versions] == [1, 3]
    assert b"plain words" in collection.show(f"{SITE}/ann", "v1").html
    assert collection.verify().is_sound()
    collection.remove("version", f"{SITE}/ann@v3", apply=True)
    assert b"plain words" in collection.show(f"{SITE}/ann").html
    with pytest.raises(ConfigError, match="only one version"):
        collection.remove("version", f"{SITE}/ann@v1")
    assert evercrawl.open(collection.path).why(f"{SITE}/ann").reason != "removed"


def test_a_removed_site_is_gone_with_its_seeds(tmp_path):
    collection = made(tmp_path)
    done = collection.remove("site", SITE, apply=True)
    assert (done.pages, done.versions) == (4, 6)
    assert {key[1] for key in records(collection) if key[0] != "metadata"} == {OTHER}
    assert holds(collection.path, "bees") == []
    settings = read_settings(collection.path).settings
    assert settings.scope.removed == (SITE,)
    assert evercrawl.open(collection.path).why(f"{SITE}/b").reason == "removed"
    assert (collection.status().sites, collection.status().pages) == (1, 1)
    assert collection.verify().is_sound()


def test_a_removal_waits_for_a_crawl_and_is_then_carried_out(tmp_path):
    collection = made(tmp_path)
    with CollectionLock(collection.path):
        assert collection.remove("page", f"{SITE}/ann", apply=True).state == "pending"
        assert holds(collection.path, SECRET)
        module.finish_removals(collection.path, collection.settings)
    assert holds(collection.path, SECRET) == []
    assert [one.state for one in module.removals(collection.path)] == ["done"]


def killed(step: int, folder: Path) -> bool:
    """Remove a page in a process that dies before its n-th effect; return whether it died."""
    child = os.fork()
    if child == 0:
        left = step

        def counted(original):
            def call(*arguments, **named):
                nonlocal left
                left -= 1
                if left == 0:
                    os._exit(9)
                return original(*arguments, **named)

            return call

        for owner, name in (
            (os, "fsync"),
            (Path, "replace"),
            (Path, "unlink"),
            (shutil, "rmtree"),
            (SqliteConnection, "run"),
            (SqliteConnection, "close"),
        ):
            setattr(owner, name, counted(getattr(owner, name)))
        try:
            evercrawl.open(folder).remove("page", f"{SITE}/ann", apply=True)
        except BaseException:
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def test_a_killed_removal_is_finished_by_the_next_start(tmp_path):
    first = made(tmp_path)
    others = {key: block for key, block in records(first).items() if key[1] not in (f"{SITE}/ann", f"{SITE}/copy")}
    step, died = 0, True
    while died:
        step += 1
        folder = tmp_path / f"copy-{step}"
        shutil.copytree(first.path, folder)
        died = killed(step, folder)
        collection = evercrawl.open(folder)
        assert collection.verify().is_sound(), step
        with CollectionLock(folder):
            module.finish_removals(folder, collection.settings)
        if module.removals(collection.path):
            assert holds(folder, SECRET) == [], step
        else:
            assert died  # Nothing was written down before it died.
        assert collection.verify().is_sound(), step
        assert others.items() <= records(collection).items(), step
        assert b"plain words" in collection.show(f"{SITE}/copy2").html
        shutil.rmtree(folder)
    assert step > 15


def test_what_cannot_be_rewritten_is_refused_clearly(tmp_path):
    collection = made(tmp_path)
    (collection.path / "archive" / "objects").write_text("s3://bucket/x\n")
    with pytest.raises(ConfigError, match="object storage"):
        collection.remove("page", f"{SITE}/ann", apply=True)
    (collection.path / "archive" / "objects").unlink()
    (collection.path / "state" / "postgres").write_text("postgresql://db.test/x\n")
    with pytest.raises(ConfigError, match="PostgreSQL"):
        collection.remove("page", f"{SITE}/ann", apply=True)
