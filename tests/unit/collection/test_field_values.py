"""Fields of a collection: rules on disk, and values of every stored version."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.errors import ConfigError
from evercrawl.model.fields import FieldReading, FieldRule, FieldType
from tests.unit.collection.exchange.archives import SITE, collection_of, day, response


def shop_page(price: str) -> bytes:
    return f"<title>Kettle</title><main><h1>Kettle</h1><p class=price>{price}</p></main>".encode()


PRICE = FieldRule("price", (SITE + "/item/*",), ".price", FieldType.NUMBER)


def test_values_are_read_from_versions_stored_before(tmp_path: Path):
    collection = collection_of(
        tmp_path,
        response(SITE + "/item/1", day(0), shop_page("49,90 €")),
        response(SITE + "/item/1", day(3), shop_page("59,90 €")),
        response(SITE + "/item/2", day(1), b"<title>Pot</title><main><h1>Pot</h1><p>Sold out.</p></main>"),
        response(SITE + "/about", day(1), shop_page("1 €")),
    )
    collection.add_field(PRICE)
    assert collection.fields() == (PRICE,)
    newest = {row.url: row.readings["price"] for row in collection.field_values()}
    assert newest == {
        SITE + "/item/1": FieldReading(59.9, "59,90 €", "EUR", ".price"),
        SITE + "/item/2": FieldReading(None),
    }
    past = [row.readings["price"].value for row in collection.field_values(["price"], all_versions=True)]
    assert past == [49.9, 59.9, None]


def test_rules_are_checked_and_can_be_replaced_and_removed(tmp_path: Path):
    collection = collection_of(tmp_path, response(SITE + "/item/1", day(0), shop_page("1 €")))
    collection.add_field(PRICE)
    with pytest.raises(ConfigError, match="--force"):
        collection.add_field(PRICE)
    collection.add_field(FieldRule("price", PRICE.pages, "h1"), force=True)
    assert collection.remove_field("price").select == "h1"
    assert collection.fields() == ()
    for bad in (FieldRule("a b", ("*",), "h1"), FieldRule("a", (), "h1"), FieldRule("a", ("*",), "p[")):
        with pytest.raises(ConfigError):
            collection.add_field(bad)
    with pytest.raises(ConfigError, match="no field"):
        list(collection.field_values(["price"]))
    (collection.path / "fields.json").write_text("[{}]")
    with pytest.raises(ConfigError, match="damaged"):
        collection.fields()


def test_a_search_is_filtered_by_values(tmp_path: Path):
    pages = [
        response(f"{SITE}/item/{at}", day(0), shop_page(price)) for at, price in enumerate(("49,90 €", "59,90 €", "–"))
    ]
    collection = collection_of(tmp_path, *pages)
    collection.add_field(PRICE)

    def found(query: str) -> list[str]:
        return sorted(hit.url for hit in collection.search(query).hits)

    assert found('kettle field:"price below 50"') == [SITE + "/item/0"]
    assert found("kettle field:price>50") == [SITE + "/item/1"]
    assert found("field:price") == [SITE + "/item/0", SITE + "/item/1"]
    assert found("kettle field:weight") == []
    with pytest.raises(ConfigError, match="cannot be searched"):
        collection.search('field:"price changes by 5"')
