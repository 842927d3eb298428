"""Why a known page is left alone."""

from __future__ import annotations

import pytest

from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate
from evercrawl.core.revisit.site_model import SiteModel
from evercrawl.core.revisit.visit_schedule import (
    POLICIES,
    WaitCause,
    is_marked_cached,
    mark_cached,
    named_schedule,
    page_estimate_bytes,
    page_estimate_of,
    rule_state_of,
    wait_cause,
)

POLLED = SiteModel(SiteEstimate(polled=10.0, recall=0.9, has_signal=True))
SILENT = SiteModel(SiteEstimate())


def state(visited: float = 9.0, announcements: float = 0.0) -> bytes:
    return page_estimate_bytes(PageEstimate(visited=visited, announcements=announcements))


@pytest.mark.parametrize(
    ("kept", "outlook", "cause"),
    [
        (state(), POLLED, WaitCause.SITEMAP),
        (mark_cached(state()), POLLED, WaitCause.SITEMAP),
        (state(announcements=1.0), POLLED, WaitCause.MODEL),
        (state(visited=11.0), POLLED, WaitCause.MODEL),
        (state(), SILENT, WaitCause.MODEL),
        (state(), SiteModel(SiteEstimate(polled=10.0, recall=0.2, has_signal=True)), WaitCause.MODEL),
        (state(), SiteModel(SiteEstimate(polled=10.0, recall=0.9)), WaitCause.MODEL),
        (mark_cached(state()), SILENT, WaitCause.CACHE),
        (None, SILENT, WaitCause.MODEL),
    ],
)
def test_the_cause(kept: bytes | None, outlook: SiteModel, cause: WaitCause):
    assert wait_cause(kept, outlook) is cause


def test_failures_and_absence_come_first():
    assert wait_cause(mark_cached(state()), POLLED, tries=2) is WaitCause.FAILED
    assert wait_cause(state(), POLLED, is_gone=True, tries=2) is WaitCause.GONE


@pytest.mark.parametrize("name", POLICIES)
def test_the_mark_changes_nothing_that_a_schedule_knows(name: str):
    kept, _ = named_schedule(name).after_visit(None, SILENT, hub=1, now=3.0, changed=False)
    marked = mark_cached(kept)
    assert is_marked_cached(marked)
    assert not is_marked_cached(kept)
    assert page_estimate_of(marked) == page_estimate_of(kept)
    assert rule_state_of(marked) == rule_state_of(kept)
