"""Pages, changes and items as iterators with filters, and as data frames."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import evercrawl
from evercrawl.collection.collection import Collection
from evercrawl.collection.iterators import matches
from evercrawl.core.items import ItemPage
from evercrawl.errors import ConfigError
from tests.unit.collection.exchange.archives import SITE, collection_of, day, html, packed, response

FERRY, PIER = SITE + "/ferry", SITE + "/pier"


@dataclass
class Fare:
    text: str


def fares(page: ItemPage) -> Iterator[Fare]:
    for part in page.css("p"):
        yield Fare(part.text())


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return collection_of(
        tmp_path,
        response(FERRY, day(0), html("Ferry", "Adults pay 12 euros for the ferry across the lake.")),
        response(FERRY, day(2), html("Ferry", "Adults pay 15 euros for the ferry across the lake.")),
        response(PIER, day(1), html("Pier <b>", "The pier is closed until the summer.")),
    )


def urls(found: object) -> list[str]:
    return sorted(one.url for one in found)  # type: ignore[attr-defined]


def test_pages_are_filtered(collection: Collection):
    assert urls(collection.pages()) == [FERRY, PIER]
    assert urls(collection.pages(pattern="*/pi*")) == [PIER]
    assert urls(collection.pages(text="ADULTS pay")) == [FERRY]
    assert urls(collection.pages(media_type="image/*")) == []
    assert urls(collection.pages(media_type="text/*", site=SITE)) == [FERRY, PIER]
    assert urls(collection.pages(since=day(2))) == [FERRY]
    assert urls(collection.pages(all_versions=True)) == [FERRY, FERRY, PIER]
    assert urls(collection.pages(until=day(0), all_versions=True)) == [FERRY]


def test_a_page_is_read_when_it_is_asked_for(collection: Collection):
    pages = collection.pages(pattern=FERRY)
    page = next(pages)
    assert (page.version, page.title, page.status) == (2, "Ferry", 200)
    assert "15 euros" in page.text
    assert b"15 euros" in page.body
    assert page.document.title == "Ferry"
    assert page.change is not None
    assert page.parsed().text_of("h1") == "Ferry"
    assert next(pages, None) is None
    assert pages.count() == 1, "every loop starts from the beginning"
    assert "15 euros" not in repr(page)


def test_changes_are_filtered_and_in_order(collection: Collection):
    (change,) = collection.changes()
    assert (change.url, change.at, change.change_class) == (FERRY, day(2), "content")
    assert any("15" in text for text in change.added)
    assert list(collection.changes(text="pier")) == []
    assert list(collection.changes(since=day(3))) == []
    assert collection.changes(pattern="*/ferry", until="2100-01-01").count() == 1
    assert next(collection.changes().dicts())["headline"]


def test_items_are_extracted_from_stored_pages(collection: Collection):
    found = collection.items(fares, pattern="*/ferry", all_versions=True)
    assert [(item.version, item.kind) for item in found] == [(1, "Fare"), (2, "Fare")]
    assert "12 euros" in next(found.dicts())["text"]
    assert collection.items().count() == 0
    assert collection.items(Fare).first() is None


def test_notebooks_show_rows_as_text(collection: Collection):
    shown = collection.pages()._repr_html_()
    assert "Pier &lt;b&gt;" in shown
    assert "<b>" not in shown
    assert repr(collection.pages(site=SITE)).startswith(f"<pages, site={SITE!r}: iterate")
    assert "evercrawl.Collection" in repr(collection)
    assert "<ul>" in collection._repr_html_()


def test_rows_become_a_duckdb_relation(collection: Collection):
    script = (
        f"import evercrawl; pages = evercrawl.open({str(collection.path)!r}).pages;"
        "print(sorted(pages().to_duckdb().project('title').fetchall()), pages(text='-').to_duckdb().fetchall())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[('Ferry',), ('Pier <b>',)] []\n"


def test_a_missing_package_is_named(collection: Collection, monkeypatch: pytest.MonkeyPatch):
    for package in ("pandas", "polars", "duckdb"):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ConfigError, match=f"pip install {package}"):
            getattr(collection.pages(), f"to_{package}")()


def test_settings_are_given_by_name(collection: Collection):
    with evercrawl.open(collection.path, http__allow_private=True, crawl__max_pages=5) as opened:
        assert opened.settings.http.allow_private
        assert opened.settings.crawl.max_pages == 5
    with pytest.raises(ConfigError, match=r"crawl\.max_page"):
        evercrawl.open(collection.path, crawl__max_page=5)
    with pytest.raises(ConfigError, match="not both"):
        evercrawl.open(collection.path, settings=opened.settings, crawl__max_pages=5)


def test_a_blocking_crawl_works_inside_an_event_loop(tmp_path: Path):
    async def in_notebook() -> str:
        with evercrawl.open(tmp_path / "c.evercrawl", create=True, identity__contact="a@example.org") as collection:
            return collection.crawl_blocking(urls=["http://127.0.0.1:1/"]).stopped

    assert asyncio.run(in_notebook()) in ("done", "closed")


def test_the_library_lists_its_names():
    assert {"open", "Collection", "Settings", "EvercrawlError"} <= set(dir(evercrawl))


def test_patterns_match_whole_urls():
    assert matches("a*b", "ab")
    assert matches("a*b", "axxb")
    assert not matches("a*b", "a")
    assert not matches("ab*ba", "aba")
    assert matches("*", "")
    assert not matches("a", "ab")


def test_an_import_works_inside_an_event_loop(tmp_path: Path):
    file = tmp_path / "x.warc.gz"
    file.write_bytes(packed(response(FERRY, day(0), html("Ferry", "Adults pay 12 euros for the ferry."))))

    async def in_notebook() -> int:
        return evercrawl.open(tmp_path / "c.evercrawl", create=True).import_("warc", [file]).versions

    assert asyncio.run(in_notebook()) == 1
