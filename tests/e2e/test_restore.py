"""Backups of every age, restored beside the newest archive: nothing is deleted, and what the state does not know can be
imported again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evercrawl.collection.collection import Collection
from evercrawl.collection.collection import open as open_collection
from evercrawl.model.settings import Settings
from tests.e2e.moved_clock import ServedSite, collection_of, crawl_on_day, served_site
from tests.unit.adapters.warc.foreign import payloads_by_warcio

AGES = 4


def edition_bodies(site: ServedSite, edition: int) -> None:
    """Change a page, and let another come."""
    site.put("/a", edition=edition)
    site.put(f"/new{edition}")
    site.put("/", "/a", *(f"/new{number}" for number in range(1, edition + 1)))


def payloads(folder: Path) -> set[bytes]:
    """Return every body in the archive, also what was set aside."""
    return {body for path in (folder / "archive").glob("*.warc.gz*") for body in payloads_by_warcio(path)}


def pages_in(folder: Path) -> set[bytes]:
    return {body for body in payloads(folder) if b"<title>" in body}


def versions_of(collection: Collection, site: ServedSite, path: str) -> int:
    return len(collection.history(site.base + path).versions)


def test_backups_of_every_age(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = tmp_path / "newest.evercrawl"
    with served_site() as site:
        for edition in range(1, AGES + 1):
            edition_bodies(site, edition)
            if edition == 1:
                collection = collection_of(site, newest, policy="optimal")
            crawl_on_day(collection, edition, monkeypatch, refresh=True)
            shutil.copytree(newest, tmp_path / f"backup{edition}")
        bodies = pages_in(newest)
        assert len(bodies) == 3 * AGES, "each edition of the page and of the start page, and every page that came"
        for age in range(1, AGES + 1):
            again = restore(newest, tmp_path, age, collection.settings)
            report = again.import_("warc", sorted((tmp_path / f"backup{AGES}" / "archive").glob("*.warc.gz")))
            assert (report.damaged, report.older) == (0, 0)
            assert pages_in(again.path) == bodies, f"after restoring backup {age}"
            assert versions_of(again, site, "/a") == AGES
            assert again.verify().damaged == 0
            assert crawl_on_day(again, AGES + 1, monkeypatch, refresh=True).changed == 0
            assert bool(list((again.path / "archive").glob("*.unacknowledged*"))) == (age < AGES)

        # Without the import, the crawl goes on from the old state, and still nothing is deleted.
        again = restore(newest, tmp_path / "crawled", 1, collection.settings, backups=tmp_path)
        found = crawl_on_day(again, AGES + 1, monkeypatch, refresh=True)
        assert (found.new, found.changed) == (AGES - 1, 1)
        assert pages_in(again.path) == bodies
        assert again.verify().damaged == 0

        # The whole folder of an age goes on as if nothing had been.
        whole = open_collection(tmp_path / "backup2", settings=collection.settings)
        crawl_on_day(whole, AGES + 1, monkeypatch, refresh=True)
        assert versions_of(whole, site, "/a") == 3
        assert whole.verify().damaged == 0
        assert not list((whole.path / "archive").glob("*.unacknowledged*"))


def restore(newest: Path, folder: Path, age: int, settings: Settings, backups: Path | None = None) -> Collection:
    """Return a copy of the newest collection with the state of a backup."""
    restored = folder / f"restored{age}.evercrawl"
    shutil.copytree(newest, restored)
    shutil.rmtree(restored / "state")
    shutil.copytree((backups or folder) / f"backup{age}" / "state", restored / "state")
    return open_collection(restored, settings=settings)
