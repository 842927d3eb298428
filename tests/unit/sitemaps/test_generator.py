"""Sitemaps of a folder: what is new, when it came to be, and files that are whole."""

from __future__ import annotations

import gzip
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from evercrawl.adapters.system import exclusive_lock, write_atomically
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.errors import CollectionBusy, StoreUnavailable
from evercrawl.model.sitemap import SitemapType
from evercrawl.model.time import from_us
from evercrawl.sitemaps.build_state import read_state, state_path
from evercrawl.sitemaps.folder_pages import FolderRules
from evercrawl.sitemaps.generator import BuildReport, SitemapTarget, build_from_folder
from evercrawl.sitemaps.page_content import PageContent, read_content

BASE = "https://example.org/"
SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND


class Place:
    """A site in a folder, and a clock that the test moves."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "site"
        self.site.mkdir()
        self.now_ns = START
        self.rules = FolderRules(BASE)
        self.target = SitemapTarget(self.site, BASE, folder / "state" / "state.jsonl")

    def put(self, name: str, text: str, *, head: str = "", at_ns: int | None = None) -> None:
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<title>{name}</title>{head}<p>{text}</p>")
        self.touch(name, at_ns)

    def touch(self, name: str, at_ns: int | None = None) -> None:
        moment = self.now_ns if at_ns is None else at_ns
        os.utime(self.site / name, ns=(moment, moment))

    def build(self, *, full: bool = False, after_s: int = 10) -> BuildReport:
        self.now_ns += after_s * SECOND
        return build_from_folder(self.site, self.rules, self.target, read_all=full, now_ns=self.now_ns)

    def dates(self, name: str = "sitemap.xml") -> dict[str, datetime | None]:
        found = read_sitemap((self.site / name).read_bytes(), BASE + name)
        assert found.error is None
        return {entry.url: entry.lastmod for entry in found.entries}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    for number in range(5):
        made.put(f"page{number}.html", f"words of page {number}")
    return made


def moment(at_ns: int) -> datetime:
    return from_us(at_ns // 1000)


def test_the_first_build_takes_the_files_times(place: Place) -> None:
    place.put("old.html", "from long ago", at_ns=START - 5000 * SECOND)
    report = place.build()
    assert (report.pages, len(report.added), report.changed, report.is_first) == (6, 6, (), True)
    assert report.files == ("sitemap-extended.xml", "sitemap.xml")
    assert place.dates()[BASE + "old.html"] == moment(START - 5000 * SECOND)
    assert place.dates() == place.dates("sitemap-extended.xml")


def test_only_real_changes_change_a_date(place: Place) -> None:
    place.build()
    before = place.dates()
    place.now_ns += 1000 * SECOND
    for number in range(5):
        place.touch(f"page{number}.html")
    place.put("page3.html", "other words")
    changed_at = place.now_ns
    report = place.build()
    assert report.changed == (BASE + "page3.html",)
    after = place.dates()
    assert after.pop(BASE + "page3.html") == moment(changed_at)
    assert after == {url: date for url, date in before.items() if url != BASE + "page3.html"}
    assert place.build().written == ()


def test_a_file_with_an_old_time_and_new_content_changed_now(place: Place) -> None:
    place.build()
    place.put("page1.html", "restored from somewhere", at_ns=START - 900 * SECOND)
    place.build()
    assert place.dates()[BASE + "page1.html"] == moment(place.now_ns)


def test_a_file_that_changed_within_the_tick_of_its_reading_is_read_again(place: Place) -> None:
    place.put("page1.html", "aaa", at_ns=START + 10 * SECOND)
    place.build(after_s=10)
    place.put("page1.html", "bbb", at_ns=START + 10 * SECOND)
    assert place.build().changed == (BASE + "page1.html",)


def test_what_is_left_out(place: Place) -> None:
    place.put("hidden.html", "x", head='<meta name="robots" content="noindex">')
    place.put("copy.html", "x", head='<link rel="canonical" href="/page1.html">')
    place.put("moved.html", "x", head='<meta http-equiv="refresh" content="0;url=/page1.html">')
    place.put("self/index.html", "x", head='<link rel="canonical" href="/self">')
    place.put("private/a.html", "x")
    (place.site / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    report = place.build()
    assert report.excluded == {"noindex": 1, "canonical elsewhere": 1, "moved": 1, "robots.txt": 1}
    listed = place.dates()
    assert BASE + "self" in listed, "a page may choose among its own names"
    assert BASE + "private/a.html" not in listed
    (place.site / "robots.txt").unlink()
    assert place.build().added == (BASE + "private/a.html",)


def test_pages_come_and_go(place: Place) -> None:
    place.build()
    (place.site / "page0.html").unlink()
    place.put("new.html", "fresh")
    place.put("page1.html", "now hidden", head='<meta name="robots" content="noindex">')
    report = place.build()
    assert report.removed == (BASE + "page0.html", BASE + "page1.html")
    assert (report.added, report.changed) == ((BASE + "new.html",), ())


def test_a_change_of_an_unlisted_page_is_named_as_such(place: Place) -> None:
    head = '<meta name="robots" content="noindex">'
    place.put("hidden.html", "one", head=head)
    place.build()
    place.put("hidden.html", "two", head=head)
    report = place.build()
    assert report.changed == report.unlisted == (BASE + "hidden.html",)


def test_a_site_that_moves_keeps_its_dates(place: Place) -> None:
    place.put("page0.html", '<a href="/page1.html">one</a>')
    place.build()
    before = list(place.dates().values())
    place.rules = FolderRules("https://new.example/")
    place.target = SitemapTarget(place.site, "https://new.example/", place.target.state)
    place.build()
    assert list(place.dates().values()) == before
    assert all(url.startswith("https://new.example/") for url in place.dates())


def test_limits_make_an_index_and_growth_and_shrinking_leave_nothing_behind(place: Place) -> None:
    place.target = SitemapTarget(place.site, BASE, place.target.state, compressed=True, max_urls=2)
    report = place.build()
    parts = {f"sitemap{kind}-{number}.xml.gz" for kind in ("", "-extended") for number in (1, 2, 3)}
    assert parts < set(report.files)
    index = read_sitemap((place.site / "sitemap.xml").read_bytes(), BASE)
    assert index.type is SitemapType.INDEX
    assert [entry.url for entry in index.entries] == [f"{BASE}sitemap-{number}.xml.gz" for number in (1, 2, 3)]
    extended = read_sitemap((place.site / "sitemap-extended-1.xml.gz").read_bytes(), BASE)
    assert (extended.type, len(extended.entries)) == (SitemapType.EXTENDED, 2)
    packed = gzip.decompress((place.site / "sitemap.xml.gz").read_bytes())
    assert packed == (place.site / "sitemap.xml").read_bytes()
    place.target = SitemapTarget(place.site, BASE, place.target.state)
    report = place.build()
    assert {path.name for path in place.site.glob("*sitemap*")} == set(report.files)


def test_bytes_are_a_limit_too(place: Place) -> None:
    place.target = SitemapTarget(place.site, BASE, place.target.state, max_bytes=400)
    place.build()
    sizes = [len(gzip.decompress(path.read_bytes())) for path in place.site.glob("sitemap*.gz")]
    assert len(sizes) > 2
    assert max(sizes) <= 400


def test_the_extended_sitemap_has_titles_and_milliseconds(place: Place) -> None:
    place.build()
    text = (place.site / "sitemap-extended.xml").read_text()
    assert f"<ANCHOR_TEXT>page1.html</ANCHOR_TEXT><URL>{BASE}page1.html</URL>" in text
    assert f"<LAST_UPDATED>{START // 1_000_000}</LAST_UPDATED>" in text


def test_a_build_that_dies_before_its_end_is_made_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.build()
    place.put("page2.html", "changed")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("evercrawl.sitemaps.generator.write_state", die)
        with pytest.raises(KeyboardInterrupt):
            place.build()
    assert place.build().changed == (BASE + "page2.html",)


def test_two_builds_at_a_time_are_refused(place: Place) -> None:
    with exclusive_lock(place.target.state.with_name("state.jsonl.lock")), pytest.raises(CollectionBusy):
        place.build()


def test_a_state_that_is_none_is_not_guessed_at(place: Place) -> None:
    place.build()
    place.target.state.write_text("[1, 2, 3]\n")
    with pytest.raises(StoreUnavailable, match="remove it"):
        place.build()


def test_a_file_that_does_not_change_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    assert write_atomically(path, b"one")
    os.utime(path, ns=(1, 1))
    assert not write_atomically(path, b"one")
    assert path.stat().st_mtime_ns == 1
    assert write_atomically(path, b"two")
    assert [file.name for file in tmp_path.iterdir()] == ["a.xml"]
    with pytest.raises(StoreUnavailable):
        write_atomically(tmp_path / "nowhere" / "a.xml", b"")


def test_each_folder_has_a_state_of_its_own(tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path)}
    places = {state_path(env, tmp_path / name) for name in ("a/public", "b/public")}
    assert len(places) == 2
    assert all(tmp_path in path.parents for path in places)
    assert read_state(places.pop()).built_ms is None


def test_only_what_was_touched_is_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(200):
        place.put(f"many/{number}.html", f"words of {number}")
    read: list[str] = []

    def counted(url: str, *given: Any, **named: Any) -> PageContent:
        read.append(url)
        return read_content(url, *given, **named)

    monkeypatch.setattr("evercrawl.sitemaps.folder_pages.read_page", counted)
    assert len(place.build().added) == len(read) == 205
    read.clear()
    edited = [f"{BASE}many/{number}.html" for number in range(20, 30)]
    for number in range(20, 30):
        place.put(f"many/{number}.html", f"other words of {number}")
    assert list(place.build().changed) == sorted(read) == edited
