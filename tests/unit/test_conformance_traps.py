"""Shared trap vectors: every normative row, and no false alarm on an honest URL."""

from __future__ import annotations

from typing import Any

import pytest

from evercrawl.collection.tools import trap
from tests.shared import conformance_rows

KINDS = ("url_verdict", "hops_verdict")
pytestmark = pytest.mark.regression_pin
LEAST_SHARE = 0.95


def _rows() -> list[dict[str, Any]]:
    return [row for row in conformance_rows("traps/url_verdicts.jsonl") if row["kind"] in KINDS]


def _verdict(row: dict[str, Any]) -> bool:
    return bool(trap({"url": row["url"], "hops": row.get("link_hops")})["trap"])


def test_no_false_alarm_on_an_honest_url() -> None:
    honest = [row for row in _rows() if not row["trap"]]
    assert honest
    assert [row["url"] for row in honest if _verdict(row)] == []


def test_url_traps_are_detected() -> None:
    traps = [row for row in _rows() if row["trap"] and row["normative"]]
    missed = [row["url"][:100] for row in traps if not _verdict(row)]
    assert len(missed) <= (1 - LEAST_SHARE) * len(traps), missed
