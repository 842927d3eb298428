"""Kills at random moments lose nothing acknowledged, archive nothing twice, and keep delays across restarts."""

from __future__ import annotations

import pytest

from tests.e2e import crash

KILLS = 25
SEED = 20261115
PAGES = 350
"""Of each site: more than can be crawled before the last kill."""


@pytest.mark.slow
def test_twenty_five_kills_lose_nothing():
    evidence = crash.run(KILLS, seed=SEED, pages=PAGES)
    assert evidence.kills == KILLS, "the crawl ended before it could be killed often enough"
    assert evidence.lost == []
    assert evidence.archived_twice == []
    assert evidence.unarchived == []
    assert evidence.bad_warcs == []
    assert evidence.gap_violations == 0, f"smallest gap {evidence.smallest_gap_s:.4f} s"
    assert evidence.forbidden == 0
    assert evidence.pages == crash.SITES * (PAGES + 1), "every page of every site, and its front page"
