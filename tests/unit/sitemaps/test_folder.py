"""Which file is which page."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evercrawl.errors import ConfigError
from evercrawl.sitemaps.folder import FolderRules, base_url_of, found_files, known_base_url, moment_of_change, page_url
from evercrawl.sitemaps.state import BuildState

BASE = "https://example.org/"


@pytest.mark.parametrize(
    ("key", "url"),
    [
        ("index.html", BASE),
        ("about/index.html", BASE + "about/"),
        ("about.html", BASE + "about.html"),
        ("a%20b/%C3%A4.html", BASE + "a%20b/%C3%A4.html"),
        ("reindex.html", BASE + "reindex.html"),
    ],
)
def test_urls_of_files(key: str, url: str) -> None:
    assert page_url(key, FolderRules(BASE)) == url


def test_clean_urls() -> None:
    rules = FolderRules(BASE, clean_urls=True)
    assert page_url("about.html", rules) == BASE + "about"
    assert page_url("a/index.html", rules) == BASE + "a/"
    assert page_url("paper.pdf", rules) == BASE + "paper.pdf"


def test_which_files_are_pages(tmp_path: Path) -> None:
    names = ["index.html", "a b.HTML", "drafts/x.html", "notes.txt", ".git/x.html", "404.html", "sub/ä.htm"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path)
    keys = [file.key for file in found_files(tmp_path, FolderRules(BASE, ignore=("drafts",)))]
    assert keys == ["a%20b.HTML", "index.html", "sub/%C3%A4.htm"]
    keys = [file.key for file in found_files(tmp_path, FolderRules(BASE, ignore=("sub/*", "*.HTML")))]
    assert keys == ["index.html", "drafts/x.html"]


def test_a_name_that_is_no_text_is_quoted_byte_by_byte(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.html")).write_text("x")
    assert [file.key for file in found_files(tmp_path, FolderRules(BASE))] == ["%FF.html"]


def test_base_urls() -> None:
    assert base_url_of("https://Example.org") == BASE
    assert base_url_of("https://example.org/docs") == BASE + "docs/"
    for bad in ("example.org", "ftp://example.org/", "https://example.org/?a=b"):
        with pytest.raises(ConfigError):
            base_url_of(bad)


def test_when_a_change_happened() -> None:
    assert moment_of_change(50, None, 100) == 50, "the first build takes the file's time"
    assert moment_of_change(70, 60, 100) == 70, "written between the builds"
    assert moment_of_change(50, 60, 100) == 100, "a file from before the last build cannot be the change"
    assert moment_of_change(200, 60, 100) == 100, "no date lies ahead"


def test_the_address_is_known_from_the_last_build_or_the_site_itself(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--base-url"):
        known_base_url(tmp_path, BuildState())
    (tmp_path / "CNAME").write_text("cname.example\n")
    assert known_base_url(tmp_path, BuildState()) == "https://cname.example/"
    (tmp_path / "sitemap.xml").write_text("<urlset><url><loc>https://listed.example/a</loc></url></urlset>")
    assert known_base_url(tmp_path, BuildState()) == "https://listed.example/"
    (tmp_path / "robots.txt").write_text("User-agent: *\nSitemap: https://robots.example/sitemap.xml\n")
    assert known_base_url(tmp_path, BuildState()) == "https://robots.example/"
    rules = FolderRules("https://built.example/docs/")
    assert known_base_url(tmp_path, BuildState(rules.name(), 1)) == "https://built.example/docs/"
