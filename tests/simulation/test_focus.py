"""A focused crawl in virtual time visits pages on topic first, politely, also after a crash."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

from evercrawl.core.focus.focus import Focus, learn_focus
from evercrawl.model.fetch import Request
from evercrawl.model.settings import Settings
from evercrawl.testing import NO_FAULTS, SimWeb
from evercrawl.testing.sim_site import SimFailure, SimResponse
from evercrawl.testing.sim_world import SimWorld, make_world
from tests.unit.core.focus.pages import examples, web

SIZE = 12
COURSES = SIZE
SITE = "http://two.test"
FOCUS = learn_focus(examples("http://one.test"), random=Random(0))
HTML = (("Content-Type", "text/html; charset=utf-8"),)


class SmallWeb(SimWeb):
    """One site with given pages."""

    def __init__(self) -> None:
        super().__init__(1, sites=1, pages_per_site=1, faults=NO_FAULTS)
        self.pages = web(SITE, SIZE)

    def home_pages(self) -> list[str]:
        return [f"{SITE}/"]

    def respond(self, site: str, path: str, request: Request, at_s: float) -> SimResponse | SimFailure:
        html = self.pages.get(site + path)
        if html is None:
            return SimResponse(0.05, 404, HTML, b"no")
        return SimResponse(0.05, 200, HTML, html.encode())

    def requested(self) -> list[str]:
        """Return the requested pages in order."""
        return [one.site + one.path for one in self.log.requests if one.site + one.path in self.pages]


def world_of(focus: Focus | None) -> SimWorld:
    settings = Settings()
    settings = replace(settings, sitemaps=replace(settings.sitemaps, enabled=False))
    world = make_world(SmallWeb(), settings=settings)
    world.focus = focus
    return world


def last_course(order: list[str]) -> int:
    return max(place for place, url in enumerate(order) if "/classes/" in url)


def test_a_focused_order_beats_breadth_first():
    plain, focused = world_of(None), world_of(FOCUS)
    plain.crawl()
    focused.crawl()
    orders = [world.web.requested() for world in (plain, focused)]
    assert sorted(orders[0]) == sorted(orders[1]), "the same pages, in another order"
    assert last_course(orders[1]) <= COURSES + 3
    assert last_course(orders[1]) < last_course(orders[0])


def test_a_focused_crawl_is_polite():
    world = world_of(FOCUS)
    world.crawl()
    assert world.web.violations() == []


def test_a_focused_crawl_continues_after_a_crash():
    world = world_of(FOCUS)
    world.crawl(crash_after=timedelta(seconds=12))
    world.crawl()
    order = world.web.requested()
    assert set(order) == set(world.web.pages)
    assert last_course(order) <= COURSES + 8
