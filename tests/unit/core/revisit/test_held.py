"""Why a known page is left alone."""

from __future__ import annotations

import pytest

from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate
from evercrawl.core.revisit.held import Held, held_by
from evercrawl.core.revisit.outlook import Outlook
from evercrawl.core.revisit.schedule import (
    POLICIES,
    belief_bytes,
    belief_of,
    held_by_cache,
    is_held_by_cache,
    memory_of,
    schedule_named,
)

POLLED = Outlook(SiteEstimate(polled=10.0, recall=0.9, has_signal=True))
SILENT = Outlook(SiteEstimate())


def state(visited: float = 9.0, notices: float = 0.0) -> bytes:
    return belief_bytes(PageEstimate(visited=visited, notices=notices))


@pytest.mark.parametrize(
    ("kept", "outlook", "cause"),
    [
        (state(), POLLED, Held.SITEMAP),
        (held_by_cache(state()), POLLED, Held.SITEMAP),
        (state(notices=1.0), POLLED, Held.MODEL),
        (state(visited=11.0), POLLED, Held.MODEL),
        (state(), SILENT, Held.MODEL),
        (state(), Outlook(SiteEstimate(polled=10.0, recall=0.2, has_signal=True)), Held.MODEL),
        (state(), Outlook(SiteEstimate(polled=10.0, recall=0.9)), Held.MODEL),
        (held_by_cache(state()), SILENT, Held.CACHE),
        (None, SILENT, Held.MODEL),
    ],
)
def test_the_cause(kept: bytes | None, outlook: Outlook, cause: Held):
    assert held_by(kept, outlook) is cause


def test_failures_and_absence_come_first():
    assert held_by(held_by_cache(state()), POLLED, tries=2) is Held.FAILED
    assert held_by(state(), POLLED, is_gone=True, tries=2) is Held.GONE


@pytest.mark.parametrize("name", POLICIES)
def test_the_mark_changes_nothing_that_a_schedule_knows(name: str):
    kept, _ = schedule_named(name).after_visit(None, SILENT, hub=1, now=3.0, changed=False)
    marked = held_by_cache(kept)
    assert is_held_by_cache(marked)
    assert not is_held_by_cache(kept)
    assert belief_of(marked) == belief_of(kept)
    assert memory_of(marked) == memory_of(kept)
