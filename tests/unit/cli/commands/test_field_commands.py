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
