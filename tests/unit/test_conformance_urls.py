"""Shared URL vectors: parsing and joining as in the WHATWG standard, and one key per page."""

from __future__ import annotations

from typing import Any

from evercrawl.collection.tools import url
from tests.shared import conformance_rows

LEAST_SHARE = 0.99


def test_parsing_and_joining():
    rows = conformance_rows("urls/wpt_parse.jsonl")
    wrong = [row["id"] for row in rows if url(row)["href"] != (row.get("expect") or {}).get("href")]
    assert len(wrong) <= (1 - LEAST_SHARE) * len(rows), wrong


def test_equivalence():
    wrong = [row["id"] for row in conformance_rows("urls/equivalence.jsonl") if row["normative"] and not holds(row)]
    assert wrong == []


def holds(row: dict[str, Any]) -> bool:
    first, second = (url({"input": row[side]}) for side in ("a", "b"))
    return (first["key"] == second["key"]) is row["same"]
