"""The shared vectors for changes and near duplicates."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from evercrawl.collection.tools import changed, similar
from evercrawl.core.document.html import parse_document
from evercrawl.model.settings import ParseSettings
from tests.shared import conformance_rows, shared_path
from tests.worlds.recorded_visits import score_records

pytestmark = pytest.mark.regression_pin
LEAST_CHANGED = 0.98
LEAST_SIMILAR = 0.98


def test_changes_are_distinguished_from_noise():
    rows = [row for row in conformance_rows("change/pairs.jsonl") if row["normative"]]
    wrong = [(row["id"], row["edit"]) for row in rows if changed(row)["changed"] is not row["changed"]]
    assert len(wrong) <= (1 - LEAST_CHANGED) * len(rows), wrong


def test_the_class_fits_the_verdict():
    for row in conformance_rows("change/pairs.jsonl"):
        answer = changed(row)
        assert (answer["class"] in ("metadata", "content")) is answer["changed"]
        assert 0 <= answer["size"] <= 1


def test_near_duplicates():
    texts = {
        row["id"]: row["expected_text"]
        for row in conformance_rows("maintext/articles.jsonl")
        if row.get("expected_text")
    }
    rows = [row for row in conformance_rows("change/near_duplicates.jsonl") if row["normative"]]
    wrong = [row["id"] for row in rows if similar(texts_of(row, texts))["near_duplicate"] is not row["duplicate"]]
    assert len(wrong) <= (1 - LEAST_SIMILAR) * len(rows), wrong


def texts_of(row: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    if "page_a" in row:
        return {"a": page_text(row["page_a"]), "b": page_text(row["page_b"])}
    return {"a": texts[row["text_of"]], "b": row["b"] if "b" in row else texts[row["b_text_of"]]}


def page_text(name: str) -> str:
    """Return the main text of a stored page as a crawl extracts it."""
    path = shared_path("conformance/change").parent / name.removeprefix("../")
    body = gzip.decompress(path.read_bytes())
    headers = (("Content-Type", "text/html"),)
    return parse_document("http://site.test/", headers, body, agent="evercrawl", limits=ParseSettings()).text


def test_recorded_visits_of_living_sites():
    score = score_records(conformance_rows("change/living_sequences.jsonl.gz"))
    assert score.false <= 0.01, score.wrong
    assert score.early_false <= 0.03, score.wrong
    assert score.missed <= 0.02, score.wrong
    assert score.grouped >= 0.95
