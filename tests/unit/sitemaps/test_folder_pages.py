"""Map files to pages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evercrawl.errors import ConfigError
from evercrawl.sitemaps.folder_pages import (
    BuildState,
    FolderRules,
    change_time_ms,
    detect_base_url,
    find_page_files,
    page_url,
    parse_base_url,
)

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
    keys = [file.key for file in find_page_files(tmp_path, FolderRules(BASE, ignore=("drafts",)))]
    assert keys == ["a%20b.HTML", "index.html", "sub/%C3%A4.htm"]
    keys = [file.key for file in find_page_files(tmp_path, FolderRules(BASE, ignore=("sub/*", "*.HTML")))]
    assert keys == ["index.html", "drafts/x.html"]


def test_a_name_that_is_not_valid_text_is_quoted_byte_by_byte(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.html")).write_text("x")
    assert [file.key for file in find_page_files(tmp_path, FolderRules(BASE))] == ["%FF.html"]


def test_base_urls() -> None:
    assert parse_base_url("https://Example.org") == BASE
    assert parse_base_url("https://example.org/docs") == BASE + "docs/"
    for bad in ("example.org", "ftp://example.org/", "https://example.org/?a=b"):
        with pytest.raises(ConfigError):
            parse_base_url(bad)


def test_time_of_a_change() -> None:
    assert change_time_ms(50, None, 100) == 50, "the first build takes the file's time"
    assert change_time_ms(70, 60, 100) == 70, "written between the builds"
    assert change_time_ms(50, 60, 100) == 100, "a file from before the last build cannot be the change"
    assert change_time_ms(200, 60, 100) == 100, "no date lies ahead"


def test_the_base_url_is_detected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--base-url"):
        detect_base_url(tmp_path, BuildState())
    (tmp_path / "CNAME").write_text("cname.example\n")
    assert detect_base_url(tmp_path, BuildState()) == "https://cname.example/"
    (tmp_path / "sitemap.xml").write_text("<urlset><url><loc>https://listed.example/a</loc></url></urlset>")
    assert detect_base_url(tmp_path, BuildState()) == "https://listed.example/"
    (tmp_path / "robots.txt").write_text("User-agent: *\nSitemap: https://robots.example/sitemap.xml\n")
    assert detect_base_url(tmp_path, BuildState()) == "https://robots.example/"
    rules = FolderRules("https://built.example/docs/")
    assert detect_base_url(tmp_path, BuildState(rules.name(), 1)) == "https://built.example/docs/"
