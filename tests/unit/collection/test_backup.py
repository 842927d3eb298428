"""Back up and restore collections."""

from __future__ import annotations

from pathlib import Path

import pytest

import evercrawl
from evercrawl.adapters.system import CollectionLock
from evercrawl.collection.backup import MANIFEST, back_up, restore
from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from tests.unit.collection.exchange.archives import SITE, collection_of, day, html, packed, response, versions_of
from tests.unit.collection.test_removal import holds, made


def test_a_backup_is_a_collection_with_the_same_content(tmp_path):
    collection, target = made(tmp_path), tmp_path / "backup"
    with CollectionLock(collection.path):  # As while a crawl runs.
        done = back_up(collection.path, collection.settings, target)
    assert done.copied_bytes == done.bytes > 0
    copy = evercrawl.open(target)
    assert copy.verify().is_sound()
    assert versions_of(copy, tmp_path) == versions_of(collection, tmp_path)


def test_the_next_backup_copies_only_what_is_new(tmp_path):
    collection, target = made(tmp_path), tmp_path / "backup"
    back_up(collection.path, collection.settings, target)
    before = {path.name: path.read_bytes() for path in (target / "archive").glob("*.warc.gz")}
    more = tmp_path / "more.warc.gz"
    more.write_bytes(packed(response(f"{SITE}/new", day(9), html("new"))))
    collection.import_("warc", [more])
    again = back_up(collection.path, collection.settings, target)
    archives = sum(map(len, before.values()))
    assert again.copied_bytes < again.bytes - archives + 2000
    assert versions_of(evercrawl.open(target), tmp_path) == versions_of(collection, tmp_path)
    collection.remove("page", f"{SITE}/ann", apply=True)
    back_up(collection.path, collection.settings, target)
    assert holds(target, "quokkamarmalade") == []
    assert evercrawl.open(target).verify().is_sound()


def test_a_restored_collection_is_as_before_and_the_old_one_is_kept(tmp_path):
    collection, target = made(tmp_path), tmp_path / "backup"
    back_up(collection.path, collection.settings, target)
    expected = versions_of(collection, tmp_path)
    collection.remove("site", "https://other.test", apply=True)
    for path in (collection.path / "state").iterdir():
        path.write_bytes(b"damaged")
    aside, report = restore(target, collection.path)
    assert aside is not None
    assert (aside / "collection.toml").exists()
    assert report.versions == len(expected)
    restored = evercrawl.open(collection.path)
    assert versions_of(restored, tmp_path) == [row for row in expected if row["url"] != "https://other.test/"]
    assert restored.why("https://other.test/").reason == "removed"


def test_what_is_no_backup_is_refused_and_nothing_changes(tmp_path):
    collection, target = made(tmp_path), tmp_path / "backup"
    with pytest.raises(ConfigError, match="inside the collection"):
        back_up(collection.path, collection.settings, collection.path / "backup")
    with pytest.raises(ConfigError, match="is not a folder"):
        back_up(collection.path, collection.settings, Path("s3://bucket/x"))
    target.mkdir()
    (target / "letter.txt").write_text("dear")
    with pytest.raises(ConfigError, match="not empty"):
        back_up(collection.path, collection.settings, target)
    (target / "letter.txt").unlink()
    back_up(collection.path, collection.settings, target)
    with CollectionLock(collection.path), pytest.raises(CollectionBusy):
        restore(target, collection.path)
    archive = max((target / "archive").glob("*.warc.gz"), key=lambda path: path.stat().st_size)
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 1
    archive.write_bytes(content)
    with pytest.raises(StoreUnavailable, match="damaged"):
        restore(target, collection.path)
    (target / MANIFEST).unlink()
    with pytest.raises(ConfigError, match="not a finished backup"):
        restore(target, collection.path)
    assert collection.verify().is_sound()


def test_an_old_backup_goes_to_a_new_place(tmp_path):
    collection = collection_of(tmp_path, response(f"{SITE}/", day(0), html("A")))
    back_up(collection.path, collection.settings, tmp_path / "backup")
    aside, _ = restore(tmp_path / "backup", tmp_path / "elsewhere")
    assert aside is None
    assert evercrawl.open(tmp_path / "elsewhere").show(f"{SITE}/").title == "A"
