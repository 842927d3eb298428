"""Items of pages: dataclasses, models and mappings, with limits and errors that cost only their own items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import pytest

from evercrawl.adapters.analysers import load_analysers
from evercrawl.core import items
from evercrawl.core.items import ItemPage, build_item, extract_items, item_fields, stored_items
from evercrawl.core.sentiment.field_analysers import ItemExtractor, analyse_items
from evercrawl.errors import ConfigError
from evercrawl.model.change import Change, ChangeClass, Edit, Words
from evercrawl.model.document import Document


@dataclass
class Offer:
    name: str
    price: float
    since: date | None = None


class Model:
    """As much of a pydantic model as is used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def model_dump(self, *, mode: str) -> dict[str, str]:
        assert mode == "json"
        return {"name": self.name}

    @classmethod
    def model_validate(cls, fields: dict[str, str]) -> Model:
        return cls(**fields)


HTML = b"<title>Shop</title><ul><li>Kettle <b>12.50</b></ul>"
PAGE = ItemPage("http://a.example/", Document("utf-8", "http://a.example/"), (("Content-Type", "text/html"),), HTML)


def offers(page: ItemPage) -> Iterator[Offer]:
    for row in page.css("li"):
        price = row.css_first("b")
        assert price is not None
        yield Offer("Kettle", float(price.text()), date(2026, 11, 1))


def test_a_function_yields_items_with_their_class():
    (found,) = load_analysers([f"{__name__}:offers"])
    assert isinstance(found, ItemExtractor)
    stored = analyse_items(PAGE, [found])
    assert stored == {"items": [{"@type": "Offer", "name": "Kettle", "price": 12.5, "since": "2026-11-01"}]}
    assert build_item(Offer, stored["items"][0] | {"unknown": 1}) == Offer("Kettle", 12.5, "2026-11-01")


def test_models_and_mappings_are_items_and_other_things_are_not():
    assert item_fields(Model("Pot")) == {"@type": "Model", "name": "Pot"}
    assert build_item(Model, {"@type": "Model", "name": "Pot"}).name == "Pot"
    assert item_fields({"name": "Pot"}) == {"name": "Pot"}
    with pytest.raises(TypeError, match="not str"):
        stored_items(["Pot"])


def test_a_failing_function_costs_its_own_items_only():
    def broken(page: ItemPage) -> Iterator[Offer]:
        yield Offer("half", 1.0)
        raise KeyError("price")

    found = analyse_items(PAGE, [ItemExtractor(broken, "broken"), ItemExtractor(offers, "offers")])
    assert found["broken_error"] == "KeyError: 'price'"
    assert [item["name"] for item in found["items"]] == ["Kettle"]


def test_items_have_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(items, "MAX_ITEMS", 3)
    assert "more than 3 items" in extract_items(PAGE, "many", lambda _: ({"n": n} for n in range(9)))["many_error"]


def test_a_page_says_what_is_new():
    edit = Edit(1, False, (Words("-", "12 "), Words("+", "15 "), Words(" ", "euros")))
    page = ItemPage(PAGE.url, PAGE.document, change=Change(ChangeClass.CONTENT, 0.1, (edit,)))
    assert page.added == ("15 euros",)
    assert PAGE.added == ()
    assert PAGE.text_of("b") == "12.50"
    assert PAGE.text_of("i") is None


def test_an_object_without_methods_is_refused():
    with pytest.raises(ConfigError, match="or is a function that yields items"):
        load_analysers([f"{__name__}:HTML"])
