"""Main text of real pages: overlap of four-word sequences for articles, required and forbidden segments else."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from statistics import mean
from typing import Any

import pytest

from evercrawl.core.document.html import parse_document
from evercrawl.model.settings import ParseSettings
from tests.shared import conformance_rows, shared_path

pytestmark = pytest.mark.regression_pin
ARTICLES_BAR = 0.97
SEGMENTS_BAR = 0.905
WORDS = 4


def text_of(row: dict[str, Any]) -> str:
    body = gzip.decompress(shared_path(f"conformance/maintext/{row['page']}").read_bytes())
    headers = (("Content-Type", "text/html"),)
    return parse_document(row["url"], headers, body, agent="TestBot", limits=ParseSettings()).text


def sequences(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1)))


def harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def overlap(found: str, expected: str) -> float:
    ours, theirs = sequences(found), sequences(expected)
    common = (ours & theirs).total()
    return harmonic(common / ours.total(), common / theirs.total())


def test_articles() -> None:
    rows = conformance_rows("maintext/articles.jsonl")
    assert mean(overlap(text_of(row), row["expected_text"]) for row in rows) >= ARTICLES_BAR


def test_segments() -> None:
    found: list[bool] = []
    absent: list[bool] = []
    pages = []
    for row in conformance_rows("maintext/segments.jsonl"):
        text = " ".join(text_of(row).split())
        wanted = [" ".join(segment.split()) in text for segment in row["must_contain"]]
        unwanted = [" ".join(segment.split()) not in text for segment in row["must_not_contain"]]
        pages.append(harmonic(mean(wanted or [1]), mean(unwanted or [1])))
        found += wanted
        absent += unwanted
    assert harmonic(mean(found), mean(absent)) >= SEGMENTS_BAR
    assert mean(pages) >= SEGMENTS_BAR
