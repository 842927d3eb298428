"""What the counts of a run mean."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evercrawl.engine.runtime import RunStats
from evercrawl.model.fetch import Failed, Fault
from evercrawl.model.page import CompletedVisit, Page
from evercrawl.model.reason import Outcome, Reason

PAGE = Page(1, b"k" * 16, "https://example.org/a", site_id=1, depth=1, hops=0, priority=1, seq=1)


def _visited(reason: Reason) -> CompletedVisit:
    return CompletedVisit(
        page_id=1, site_id=1, priority=1, seq=1, at_us=0, outcome=Outcome.ERROR, reason=reason, detail="words",
        status=None, took_ms=0, wire_bytes=0, due_us=None, tries=1, interval_s=0,
    )  # fmt: skip


@pytest.mark.parametrize("reason", [Reason.GONE, Reason.NOT_FOUND])
def test_only_a_page_that_we_had_can_be_gone(reason: Reason) -> None:
    tally = RunStats()
    tally.count_visit(PAGE, _visited(reason))
    assert (tally.gone, tally.with_outcome(Outcome.ERROR)) == (0, 1)
    tally.count_visit(PAGE._replace(version=3), _visited(reason))
    assert (tally.gone, tally.with_outcome(Outcome.ERROR)) == (1, 2)


def test_a_page_that_failed_is_not_gone() -> None:
    tally = RunStats()
    tally.count_visit(PAGE._replace(version=3), _visited(Reason.TIMEOUT))
    assert tally.gone == 0


def test_a_server_that_cannot_be_reached_is_the_first_error_also_without_a_visit() -> None:
    tally = RunStats()
    tally.count_request(Failed("https://example.org/robots.txt", Fault.INTERNAL, "cancelled", timedelta(0)))
    assert tally.first_error is None
    tally.count_request(Failed("https://example.org/robots.txt", Fault.DNS, "no such name", timedelta(0)))
    tally.count_visit(PAGE, _visited(Reason.TIMEOUT))
    assert tally.first_error == "https://example.org/robots.txt: no such name"
    assert not tally.reached
