"""The whole engine on sites with random addresses and texts: content is reached, and endless sets are left."""

from __future__ import annotations

import pytest

from evercrawl.engine.runtime import Ended
from tests.worlds.traps.address_forms import SESSIONS, SiteForm, random_form, site_of_form, site_of_sessions
from tests.worlds.traps.crawl import Crawl
from tests.worlds.traps.sites import TrapSite
from tests.worlds.traps.world import TrapWorld

pytestmark = pytest.mark.regression_pin
ITEMS = 150
MOST_PER_PAGE = 3  # Requests for each page of content.
LEAST_REACHED = 0.99
FAR_TOO_MANY = 12 * ITEMS


def reached_in_time(site: TrapSite) -> float:
    """Crawl to the end; return the share of content that was reached within the requests allowed for it."""
    world = TrapWorld(site)
    web = world.crawl(most=FAR_TOO_MANY)
    assert world.ended is Ended.DONE
    in_time = {site.page_of(url) for url in web.asked[: MOST_PER_PAGE * site.real_pages]}
    return len(in_time & web.reached) / site.real_pages


@pytest.mark.parametrize("seed", range(40, 46))
def test_content_behind_lists_is_reached(seed: int) -> None:
    assert reached_in_time(site_of_form(random_form(seed), ITEMS)) == 1.0


@pytest.mark.parametrize("seed", range(50, 56))
def test_useless_views_and_endless_sets_cost_no_content(seed: int) -> None:
    form = random_form(seed, views=seed % 3, endless=seed % 2 == 0)
    assert reached_in_time(site_of_form(form, ITEMS)) >= LEAST_REACHED


@pytest.mark.parametrize("needed", [False, True])
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_in_every_link_is_no_obstacle(name: str, needed: bool) -> None:
    assert reached_in_time(site_of_sessions(SESSIONS[name], ITEMS, needed=needed)) >= LEAST_REACHED


@pytest.mark.parametrize("text", ["words", "template", "sentences"])
@pytest.mark.parametrize(
    "item", ["/{y}/{m:02}/{d:02}/{slug}-{i}", "/story?date={y}-{m}-{d}&nr={i}", "/read.cgi?a=show;id={i}"]
)
def test_an_archive_by_date_is_never_fenced(item: str, text: str) -> None:
    form = SiteForm(item, "/{y}/{m:02}/{d:02}/", text, per_list=3, related=5, leads_back=True)
    crawl = Crawl(site_of_form(form, 800), most=2000).run()
    assert len(crawl.reached) == 800
    assert crawl.refused == {}
