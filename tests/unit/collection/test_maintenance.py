"""Verify, disk usage and vacuum."""

from __future__ import annotations

import sqlite3

import pytest

from evercrawl.adapters.system import CollectionLock
from evercrawl.errors import CollectionBusy
from tests.unit.collection.exchange.archives import SITE, collection_of, day, html, response, versions_of


def made(tmp_path):
    a, b = html("A"), html("B")
    return collection_of(
        tmp_path,
        response(SITE + "/", day(0), a),
        response(SITE + "/", day(1), b),
        response(SITE + "/", day(2), a),
        response("https://other.test/", day(0), b),
    )


def change_state(collection, statement: str) -> None:
    for path in (collection.path / "state").glob("s*.sqlite"):
        db = sqlite3.connect(path, isolation_level=None)
        db.execute(statement)
        db.close()


def test_a_sound_collection_is_sound(tmp_path):
    report = made(tmp_path).verify()
    assert report.is_sound()
    assert (report.versions, report.damaged, len(report.files)) == (4, 0, 2)
    assert sum(file.versions for file in report.files.values()) == 4


@pytest.mark.parametrize(
    ("column", "words"),
    [("digest = zeroblob(16)", "digest"), ("payload_sha1 = zeroblob(20)", "SHA-1"), ("offset = offset + 1", "damaged")],
)
def test_damage_is_found(tmp_path, column, words):
    collection = made(tmp_path)
    change_state(collection, f"update version set {column} where number = 2")
    report = collection.verify()
    assert (report.damaged, report.versions) == (1, 4)
    problem = next(problem for file in report.files.values() for problem in file.problems)
    assert problem.startswith(f"version 2 of {SITE}/: ")
    assert words in problem


def test_a_missing_file_is_damage_of_all_that_lay_in_it(tmp_path):
    collection = made(tmp_path)
    gone = max((collection.path / "archive").iterdir(), key=lambda path: path.stat().st_size)
    gone.unlink()
    report = collection.verify()
    assert report.damaged == 3
    assert report.files[gone.name].damaged == 3
    assert report.files[gone.name].bytes == 0


def test_a_flipped_byte_is_found(tmp_path):
    collection = made(tmp_path)
    file = max((collection.path / "archive").iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert collection.verify().damaged >= 1


def test_disk_usage_is_reported_and_freed(tmp_path):
    collection = made(tmp_path)
    change_state(collection, "create table waste (x blob)")
    change_state(collection, "insert into waste values (zeroblob(2000000))")
    change_state(collection, "drop table waste")
    left = collection.path / "import-abc"
    left.mkdir()
    (left / "catalogue.sqlite").write_bytes(bytes(1000))
    parts = {part.name: part for part in collection.disk_usage()}
    on_disk = sum(path.stat().st_size for path in collection.path.rglob("*") if path.is_file())
    assert sum(part.bytes for part in parts.values()) == on_disk
    assert parts["archive"].files == 4  # Two files of records, each with the mark of its shard.
    assert parts["state"].reclaimable > 1_900_000
    assert parts["unfinished imports"].bytes == 1000
    before = versions_of(collection, tmp_path)
    freed = collection.vacuum()
    assert freed > 1_900_000
    assert not left.exists()
    assert versions_of(collection, tmp_path) == before
    assert collection.verify().is_sound()


def test_nobody_vacuums_a_collection_that_is_in_use(tmp_path):
    collection = made(tmp_path)
    with CollectionLock(collection.path), pytest.raises(CollectionBusy):
        collection.vacuum()
