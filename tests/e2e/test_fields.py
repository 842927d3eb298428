"""Fields in crawls: their changes count, whatever else is noise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evercrawl.model.fields import FieldRule, FieldType
from tests.e2e.moved_clock import HTML, collection_of, crawl_on_day, served_site

PAGE = (
    "<!doctype html><title>Kettle</title><main><h1>Kettle</h1><p class=price>{price}</p><p>{text}</p></main>"
    "<footer>Seen {count} times</footer>"
)
TEXT = "A kettle for the stove, made of steel, with a handle of wood and a lid that fits."


def test_only_the_watched_part_counts_and_a_lost_selector_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_site() as site:

        def put(price: str, text: str = TEXT, count: int = 1) -> None:
            site.files["/"] = HTML, PAGE.format(price=price, text=text, count=count)

        put("49,90 €")
        collection = collection_of(site, tmp_path / "c.evercrawl", policy="optimal")
        url = site.base + "/"
        collection.add_field(FieldRule("price", (url,), ".price", FieldType.NUMBER, only=True, repair=False))
        crawl_on_day(collection, 0, monkeypatch)
        put("49,90 €", TEXT + " New: it whistles when the water boils.", 2)
        assert crawl_on_day(collection, 1, monkeypatch, refresh=True).changed == 0
        put("59,90 €", TEXT, 3)
        assert crawl_on_day(collection, 2, monkeypatch, refresh=True).changed == 1
        site.files["/"] = HTML, PAGE.replace("class=price", "class=cost").format(price="59,90 €", text=TEXT, count=4)
        assert crawl_on_day(collection, 3, monkeypatch, refresh=True).changed == 1
        stored = [dict(version.analysis) for version in collection.history(url).versions]
        assert stored == [
            {"price": 49.9, "price_unit": "EUR"},
            {"price": 59.9, "price_unit": "EUR", "price_before": 49.9},
            {"price": None, "price_before": 59.9},
        ]
        (group,) = collection.change_groups(datetime.now(UTC) - timedelta(days=1))
        assert {(edit.removed, edit.added) for edit in group.edits} == {
            ("price: 49,90 €", "price: 59,90 €"),
            ("price: 59,90 €", "price: (not found) (perhaps css:p.cost: 59,90 €)"),
        }
        (proposal,) = collection.field_repairs()
        assert (proposal.repair.select, proposal.checked, proposal.contradicted) == ("css:p.cost", 2, 0)
        collection.decide_field_repair("price", accept=True)
        assert [row.readings["price"].value for row in collection.field_values(all_versions=True)] == [49.9, 59.9, 59.9]


def test_a_redesign_is_survived_and_a_field_that_was_sold_out_meanwhile_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_site() as site:
        url = site.base + "/"
        collection = collection_of(site, tmp_path / "c.evercrawl", policy="optimal")
        collection.add_field(FieldRule("price", (url,), ".price", FieldType.NUMBER, only=True))
        redesign = PAGE.replace("<p class=price>{price}</p>", "<div class=offer><b>{price}</b></div>")
        gone = PAGE.replace("<p class=price>{price}</p>", "")
        newest = redesign.replace("offer", "deal").replace("main", "article").replace("<b>", "<i>")
        days = [(PAGE, "49,90 €"), (redesign, "59,90 €"), (gone, ""), (newest, "58,90 €"), (newest, "57,90 €")]
        for day, (markup, price) in enumerate(days):
            site.files["/"] = HTML, markup.format(price=price, text=TEXT, count=day)
            crawl_on_day(collection, day, monkeypatch, refresh=True)
        assert [row.readings["price"].value for row in collection.field_values(all_versions=True)] == [
            49.9, 59.9, None, 58.9, 57.9,
        ]  # fmt: skip
