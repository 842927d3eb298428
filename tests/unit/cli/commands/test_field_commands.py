"""The command `fields`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from evercrawl.cli.main import run
from evercrawl.cli.terminal import ExitCode
from tests.unit.collection.exchange.archives import SITE, collection_of, day, response


def test_fields_are_added_shown_and_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = "<title>Kettle</title><main><h1>Kettle</h1><p class=price>{} EUR</p></main>"
    collection = collection_of(
        tmp_path,
        response(SITE + "/item", day(0), page.format(12).encode()),
        response(SITE + "/item", day(1), page.format(15).encode()),
    )

    def fields(*words: str) -> str:
        capsys.readouterr()
        assert run(["-C", str(collection.path), "fields", *words]) == ExitCode.OK
        return capsys.readouterr().out

    (added,) = map(json.loads, [fields("add", "price", ".price", "--page", SITE + "/*", "--type", "number", "--json")])
    assert [one["values"]["price"]["value"] for one in added["values"]] == [15]
    (row,) = map(json.loads, fields("show", "--json").splitlines())
    assert row["values"]["price"] == {"value": 15, "unit": "EUR", "text": "15 EUR"}
    table = list(csv.DictReader(fields("show", "--history", "--csv").splitlines()))
    assert [(one["price"], one["price_unit"]) for one in table] == [("12", "EUR"), ("15", "EUR")]
    assert "price  number  .price" in fields("list")
    assert run(["-C", str(collection.path), "fields", "add", "x", "css:p[", "--page", SITE]) == ExitCode.USAGE
    fields("remove", "price")
    assert fields("list", "--json") == ""


def test_fields_are_suggested_repaired_and_written_as_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = "<title>{0}</title><main><h1>{0}</h1><p class={2}>{1} EUR</p><p>Made of {3}.</p></main>"
    collection = collection_of(
        tmp_path,
        response(SITE + "/item/1", day(0), page.format("Kettle", 12, "price", "steel").encode()),
        response(SITE + "/item/2", day(0), page.format("Pot", 20, "price", "iron").encode()),
        response(SITE + "/item/1", day(1), page.format("Kettle", 12, "cost", "glass with a lid of wood").encode()),
    )

    def fields(*words: str) -> str:
        capsys.readouterr()
        assert run(["-C", str(collection.path), "fields", *words]) == ExitCode.OK
        return capsys.readouterr().out

    fields("add", "price", "css:p.price", "--page", SITE + "/item/*", "--type", "number")
    (lost,) = map(json.loads, fields("repair", "--json").splitlines())
    assert (lost["name"], lost["select"], lost["checked"]) == ("price", "css:p.cost", 1)
    assert "css:p.cost reads 12 EUR" in fields("repair")
    fields("repair", "price", "--accept")
    assert fields("repair", "--json") == ""
    (listed,) = map(json.loads, fields("list", "--json").splitlines())
    assert [one["select"] for one in listed["repairs"]] == ["css:p.cost"]
    table = [json.loads(line) for line in fields("table", SITE + "/item/*", "--json").splitlines()]
    assert [(one["price"], one["price_unit"]) for one in table] == [(12, "EUR"), (20, "EUR")]
    cheap = [json.loads(line) for line in fields("table", "--where", "price below 15", "--json").splitlines()]
    assert [one["url"] for one in cheap] == [SITE + "/item/1"]
    target = tmp_path / "prices.csv"
    fields("table", SITE + "/item/*", "--history", "--to", str(target))
    assert [row["price"] for row in csv.DictReader(target.read_text(encoding="utf-8").splitlines())] == [
        "12",
        "12",
        "20",
    ]
    found = json.loads(fields("suggest", SITE + "/item/2", "--json"))
    assert found["pattern"] == SITE + "/item/*"
    assert {one["select"] for one in found["fields"]} >= {"css:h1"}
    fields("suggest", SITE + "/item/2", "--add", "h1")
    assert "Pot" in fields("show", "h1")
    assert run(["-C", str(collection.path), "fields", "repair", "h1", "--accept"]) == ExitCode.USAGE
