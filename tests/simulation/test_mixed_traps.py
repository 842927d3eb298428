"""The whole engine on traps next to real pages, on honest sites that look like traps, and on unlinked pages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evercrawl.engine.runtime import Ended
from evercrawl.model.settings import DiscoverySettings, Settings
from tests.worlds.traps.mixed_sites import HONEST_SITES, MIXED_SITES
from tests.worlds.traps.sites import HOST, NOT_FOUND, TrapResponse, TrapSite, page, prose, split_url
from tests.worlds.traps.world import TrapWorld

pytestmark = pytest.mark.regression_pin
MOST_REQUESTS = {"facets in path": 1500}
USUAL = 400
FAR_TOO_MANY = 4000


@pytest.mark.parametrize("name", MIXED_SITES)
def test_the_crawl_leaves_the_trap_and_reaches_the_real_pages(name: str) -> None:
    site = MIXED_SITES[name]()
    world = TrapWorld(site)
    web = world.crawl(most=FAR_TOO_MANY)
    assert world.ended is Ended.DONE
    assert len(web.asked) <= MOST_REQUESTS.get(name, USUAL)
    assert len(web.reached) >= 0.95 * site.real_pages


@pytest.mark.parametrize("name", HONEST_SITES)
def test_an_honest_site_is_crawled_without_blocks(name: str) -> None:
    site = HONEST_SITES[name]()
    world = TrapWorld(site)
    web = world.crawl(most=FAR_TOO_MANY)
    assert world.ended is Ended.DONE
    assert len(web.reached) == site.real_pages
    assert world.skipped["trap"] == 0
    assert not [block for block in world.blocked_patterns if block.state == "blocked"]


def late_bloomer() -> TrapSite:
    """A list that shows nothing new for eighty values of its parameter, and then a new page for each."""

    def answer(url: str) -> TrapResponse:
        path, _, query = split_url(url)
        if path == "/":
            links = [f"/view?item={number}" for number in range(300)]
            return page("Home", prose("home"), links)
        if path != "/view" or int(query.get("item", "999")) >= 300:
            return NOT_FOUND
        at = int(query["item"])
        return page("Item", prose("item", at) if at >= 80 else "Nothing to see here yet.", ["/"])

    def page_of(url: str) -> str | None:
        found = split_url(url).query.get("item")
        return found if found is not None and int(found) >= 80 else None

    return TrapSite(f"{HOST}/", answer, page_of, 220)


def test_a_wrong_block_is_lifted_and_its_pages_are_crawled() -> None:
    site = late_bloomer()
    world = TrapWorld(site)
    web = world.crawl(most=FAR_TOO_MANY)
    assert world.ended is Ended.DONE
    assert len(web.reached) >= 0.95 * site.real_pages


def orphans() -> TrapSite:
    """A folder without links to its own page, and numbered pages of which every other one is linked."""
    real = {"/": page("Home", prose("home"), [f"/deep/down/item-{number}.html" for number in range(0, 20, 2)])}
    real |= {f"/deep/down/item-{number}.html": page("Item", prose(number), ["/"]) for number in range(20)}
    real |= {"/deep/": page("Deep", prose("deep"), ["/deep/secret"]), "/deep/secret": page("S", prose("s"), [])}

    def answer(url: str) -> TrapResponse:
        return real.get(split_url(url).path, NOT_FOUND)

    return TrapSite(f"{HOST}/", answer, lambda url: split_url(url).path, len(real))


@pytest.mark.parametrize(
    ("hidden", "reached"),
    [
        (DiscoverySettings(), 11),
        (DiscoverySettings(parent_folders=3), 13),
        (DiscoverySettings(parent_folders=3, neighbour_numbers=1), 23),
    ],
)
def test_unlinked_pages_are_found_if_enabled(hidden: DiscoverySettings, reached: int) -> None:
    world = TrapWorld(orphans(), settings=replace(Settings(), discovery=hidden))
    assert len(world.crawl(most=200).reached) == reached
