"""Trap rules in a minimal crawl: few requests, and all real pages."""

from __future__ import annotations

import pytest

from tests.worlds.traps.crawl import Crawl
from tests.worlds.traps.more_sites import MORE_GENERATORS
from tests.worlds.traps.sites import HOST, TrapSite, honest_large_site, random_word_maze

pytestmark = pytest.mark.regression_pin
LEAST_REACHED = 0.95
FAR_TOO_MANY = 6000
BUDGETS = {
    "shallow facets": 400,
    "slow calendar": 400,
    "session in path": 400,
    "session in query": 400,
    "symlink cycle": 800,
    "soft 404 for everything": 400,
    "endless counter": 300,
    "sort orders": 400,
    "print views": 400,
    "piled up links": 400,
    "honest tags": 300,
    "calendar by day": 300,
    "calendar by date": 400,
}


@pytest.mark.parametrize("name", MORE_GENERATORS)
def test_traps_unknown_to_the_rules(name: str) -> None:
    crawl = Crawl(MORE_GENERATORS[name](), FAR_TOO_MANY).run()
    assert crawl.requests <= BUDGETS[name]
    assert crawl.share_reached >= LEAST_REACHED


@pytest.mark.parametrize("site", [
    random_word_maze(flat=True), random_word_maze(root="/"), random_word_maze(root="/", flat=True),
])  # fmt: skip
def test_mazes_of_other_shapes(site: TrapSite) -> None:
    assert Crawl(site, FAR_TOO_MANY).run().requests <= 300


@pytest.mark.parametrize("folder", ["/page?id=", "/p/", "/p"])
def test_an_honest_site_of_near_duplicates_is_crawled_completely(folder: str) -> None:
    site = honest_large_site(pages=1500, numbered=True, path=folder)
    crawl = Crawl(site, FAR_TOO_MANY).run()
    assert crawl.share_reached == 1.0
    assert crawl.blocked_patterns() == []


def test_every_block_has_evidence() -> None:
    crawl = Crawl(MORE_GENERATORS["endless counter"](), FAR_TOO_MANY).run()
    refused = [why for url, why in crawl.refused.items() if url.startswith(f"{HOST}/home?")]
    assert all("requests" in why for why in refused)
