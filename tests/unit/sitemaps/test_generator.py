"""Build the sitemaps of a folder: changes, dates and complete files."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from evercrawl.adapters.system import exclusive_lock, write_atomically
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from evercrawl.model.sitemap import SitemapType
from evercrawl.model.time import from_us
from evercrawl.sitemaps.folder_pages import FolderRules, read_state, state_path
from evercrawl.sitemaps.generator import BuildReport, SitemapTarget, build_from_folder
from evercrawl.sitemaps.page_content import ContentSummary, read_content

BASE = "https://example.org/"
SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND


class SiteFolder:
    """A site in a folder, and a clock that the test advances."""

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
def site_folder(tmp_path: Path) -> SiteFolder:
    made = SiteFolder(tmp_path)
    for number in range(5):
        made.put(f"page{number}.html", f"words of page {number}")
    return made


def moment(at_ns: int) -> datetime:
    return from_us(at_ns // 1000)


def test_the_first_build_uses_file_times(site_folder: SiteFolder) -> None:
    site_folder.put("old.html", "from long ago", at_ns=START - 5000 * SECOND)
    report = site_folder.build()
    assert (report.pages, len(report.added), report.changed, report.is_first) == (6, 6, (), True)
    assert report.files == ("sitemap-extended.xml", "sitemap.xml")
    assert site_folder.dates()[BASE + "old.html"] == moment(START - 5000 * SECOND)
    assert site_folder.dates() == site_folder.dates("sitemap-extended.xml")


def test_only_real_changes_change_a_date(site_folder: SiteFolder) -> None:
    site_folder.build()
    before = site_folder.dates()
    site_folder.now_ns += 1000 * SECOND
    for number in range(5):
        site_folder.touch(f"page{number}.html")
    site_folder.put("page3.html", "other words")
    changed_at = site_folder.now_ns
    report = site_folder.build()
    assert report.changed == (BASE + "page3.html",)
    after = site_folder.dates()
    assert after.pop(BASE + "page3.html") == moment(changed_at)
    assert after == {url: date for url, date in before.items() if url != BASE + "page3.html"}
    assert site_folder.build().written == ()


def test_new_content_with_an_old_file_time_is_dated_now(site_folder: SiteFolder) -> None:
    site_folder.build()
    site_folder.put("page1.html", "restored from somewhere", at_ns=START - 900 * SECOND)
    site_folder.build()
    assert site_folder.dates()[BASE + "page1.html"] == moment(site_folder.now_ns)


def test_a_file_modified_just_before_reading_is_read_again(site_folder: SiteFolder) -> None:
    site_folder.put("page1.html", "aaa", at_ns=START + 10 * SECOND)
    site_folder.build(after_s=10)
    site_folder.put("page1.html", "bbb", at_ns=START + 10 * SECOND)
    assert site_folder.build().changed == (BASE + "page1.html",)


def test_excluded_pages(site_folder: SiteFolder) -> None:
    site_folder.put("hidden.html", "x", head='<meta name="robots" content="noindex">')
    site_folder.put("copy.html", "x", head='<link rel="canonical" href="/page1.html">')
    site_folder.put("moved.html", "x", head='<meta http-equiv="refresh" content="0;url=/page1.html">')
    site_folder.put("self/index.html", "x", head='<link rel="canonical" href="/self">')
    site_folder.put("private/a.html", "x")
    (site_folder.site / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    report = site_folder.build()
    assert report.excluded == {"noindex": 1, "canonical elsewhere": 1, "moved": 1, "robots.txt": 1}
    listed = site_folder.dates()
    assert BASE + "self" in listed, "a page may choose among its own names"
    assert BASE + "private/a.html" not in listed
    (site_folder.site / "robots.txt").unlink()
    assert site_folder.build().added == (BASE + "private/a.html",)


def test_added_and_removed_pages(site_folder: SiteFolder) -> None:
    site_folder.build()
    (site_folder.site / "page0.html").unlink()
    site_folder.put("new.html", "fresh")
    site_folder.put("page1.html", "now hidden", head='<meta name="robots" content="noindex">')
    report = site_folder.build()
    assert report.removed == (BASE + "page0.html", BASE + "page1.html")
    assert (report.added, report.changed) == ((BASE + "new.html",), ())


def test_a_changed_unlisted_page_is_reported(site_folder: SiteFolder) -> None:
    head = '<meta name="robots" content="noindex">'
    site_folder.put("hidden.html", "one", head=head)
    site_folder.build()
    site_folder.put("hidden.html", "two", head=head)
    report = site_folder.build()
    assert report.changed == report.unlisted == (BASE + "hidden.html",)


def test_a_site_that_moves_keeps_its_dates(site_folder: SiteFolder) -> None:
    site_folder.put("page0.html", '<a href="/page1.html">one</a>')
    site_folder.build()
    before = list(site_folder.dates().values())
    site_folder.rules = FolderRules("https://new.example/")
    site_folder.target = SitemapTarget(site_folder.site, "https://new.example/", site_folder.target.state)
    site_folder.build()
    assert list(site_folder.dates().values()) == before
    assert all(url.startswith("https://new.example/") for url in site_folder.dates())


def test_limits_create_an_index_and_obsolete_files_are_deleted(site_folder: SiteFolder) -> None:
    site_folder.target = SitemapTarget(site_folder.site, BASE, site_folder.target.state, compressed=True, max_urls=2)
    report = site_folder.build()
    parts = {f"sitemap{kind}-{number}.xml.gz" for kind in ("", "-extended") for number in (1, 2, 3)}
    assert parts < set(report.files)
    index = read_sitemap((site_folder.site / "sitemap.xml").read_bytes(), BASE)
    assert index.type is SitemapType.INDEX
    assert [entry.url for entry in index.entries] == [f"{BASE}sitemap-{number}.xml.gz" for number in (1, 2, 3)]
    extended = read_sitemap((site_folder.site / "sitemap-extended-1.xml.gz").read_bytes(), BASE)
    assert (extended.type, len(extended.entries)) == (SitemapType.EXTENDED, 2)
    packed = gzip.decompress((site_folder.site / "sitemap.xml.gz").read_bytes())
    assert packed == (site_folder.site / "sitemap.xml").read_bytes()
    site_folder.target = SitemapTarget(site_folder.site, BASE, site_folder.target.state)
    report = site_folder.build()
    assert {path.name for path in site_folder.site.glob("*sitemap*")} == set(report.files)


def test_size_limit(site_folder: SiteFolder) -> None:
    site_folder.target = SitemapTarget(site_folder.site, BASE, site_folder.target.state, max_bytes=400)
    site_folder.build()
    sizes = [len(gzip.decompress(path.read_bytes())) for path in site_folder.site.glob("sitemap*.gz")]
    assert len(sizes) > 2
    assert max(sizes) <= 400


def test_the_extended_sitemap_has_titles_and_milliseconds(site_folder: SiteFolder) -> None:
    site_folder.build()
    text = (site_folder.site / "sitemap-extended.xml").read_text()
    assert f"<ANCHOR_TEXT>page1.html</ANCHOR_TEXT><URL>{BASE}page1.html</URL>" in text
    assert f"<LAST_UPDATED>{START // 1_000_000}</LAST_UPDATED>" in text


def test_a_build_after_a_crash_finds_the_same_changes(site_folder: SiteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    site_folder.build()
    site_folder.put("page2.html", "changed")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("evercrawl.sitemaps.generator.write_state", die)
        with pytest.raises(KeyboardInterrupt):
            site_folder.build()
    assert site_folder.build().changed == (BASE + "page2.html",)


def test_concurrent_builds_are_rejected(site_folder: SiteFolder) -> None:
    with exclusive_lock(site_folder.target.state.with_name("state.jsonl.lock")), pytest.raises(CollectionBusy):
        site_folder.build()


def test_an_invalid_state_file_is_an_error(site_folder: SiteFolder) -> None:
    site_folder.build()
    site_folder.target.state.write_text("[1, 2, 3]\n")
    with pytest.raises(StoreUnavailable, match="delete it"):
        site_folder.build()


def test_an_unchanged_file_is_not_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    assert write_atomically(path, b"one")
    os.utime(path, ns=(1, 1))
    assert not write_atomically(path, b"one")
    assert path.stat().st_mtime_ns == 1
    assert write_atomically(path, b"two")
    assert [file.name for file in tmp_path.iterdir()] == ["a.xml"]
    with pytest.raises(StoreUnavailable):
        write_atomically(tmp_path / "nowhere" / "a.xml", b"")


def test_each_folder_has_its_own_state(tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path)}
    places = {state_path(env, tmp_path / name) for name in ("a/public", "b/public")}
    assert len(places) == 2
    assert all(tmp_path in path.parents for path in places)
    assert read_state(places.pop()).built_ms is None


def test_only_modified_files_are_read(site_folder: SiteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(200):
        site_folder.put(f"many/{number}.html", f"words of {number}")
    read: list[str] = []

    def counted(url: str, *given: Any, **named: Any) -> ContentSummary:
        read.append(url)
        return read_content(url, *given, **named)

    monkeypatch.setattr("evercrawl.sitemaps.folder_pages.read_content", counted)
    assert len(site_folder.build().added) == len(read) == 205
    read.clear()
    edited = [f"{BASE}many/{number}.html" for number in range(20, 30)]
    for number in range(20, 30):
        site_folder.put(f"many/{number}.html", f"other words of {number}")
    assert list(site_folder.build().changed) == sorted(read) == edited


def test_llms_txt_is_written_on_request_and_never_replaces_one_of_yours(site_folder: SiteFolder):
    site_folder.put("index.html", "Home")
    site_folder.build()
    path = site_folder.site / "llms.txt"
    assert not path.exists()
    site_folder.target = replace(site_folder.target, llms_txt=True)
    assert "llms.txt" in site_folder.build().written
    assert path.read_text().startswith("# index.html\n\n## Pages\n\n- [index.html](https://example.org/)\n")
    site_folder.put("b.html", "More")
    assert "llms.txt" in site_folder.build().written
    (site_folder.target.state).unlink()
    path.write_text("# Ours\n")
    with pytest.raises(ConfigError, match="was not written by a build"):
        site_folder.build()
    assert path.read_text() == "# Ours\n"
