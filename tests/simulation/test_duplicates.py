"""Duplicates in the whole engine: they cost fewer requests and follow their original."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from string import ascii_lowercase
from typing import cast

from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, NotModified, Request
from evercrawl.model.settings import Settings
from evercrawl.testing import SimWeb
from evercrawl.testing.sim_world import SimWorld, make_world
from evercrawl.testing.virtual_time import SimClock

HOME = "https://copies.test"
DAY = timedelta(days=1)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\r\n"


def text_of(topic: str, words: int = 700) -> str:
    return " ".join(f"{topic}{number * 7919 % 1009}" for number in range(words))


def prose_of(topic: str, words: int = 120) -> str:
    """Return random words, different for each topic."""
    drawn = Random(topic)
    return " ".join("".join(drawn.choices(ascii_lowercase, k=6)) for _ in range(words))


def page(title: str, text: str, *links: str) -> str:
    leads = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<!doctype html><title>{title}</title><main><p>{text}</p></main>{leads}"


@dataclass
class Pages:
    """Implements `Fetcher`: a site whose pages the test changes."""

    bodies: dict[str, str]
    clock: SimClock = field(default_factory=SimClock)
    asked: list[str] = field(default_factory=list)
    validates: bool = False

    def home_pages(self) -> list[str]:
        return [HOME + "/"]

    def use_clock(self, clock: SimClock) -> None:
        self.clock = clock

    async def fetch(self, request: Request) -> FetchResult:
        began = self.clock.now()
        await self.clock.sleep_until(began + timedelta(milliseconds=50))
        path, took = request.url.removeprefix(HOME), self.clock.now() - began
        body = self.bodies.get(path)
        if body is None:
            return Failed(request.url, Fault.NOT_FOUND, "", took, 404)
        self.asked.append(path)
        tag = f'"{hash(body)}"'
        headers = (("content-type", "text/html; charset=utf-8"), ("etag", tag))
        if self.validates and request.etag == tag:
            return NotModified(request.url, headers, Exchange(b"", HEAD, b"", None, began, took))
        raw = body.encode()
        exchange = Exchange(b"", HEAD, raw, None, began, took)
        return Fetched(request.url, 200, headers, raw, exchange)

    async def close(self) -> None:
        """Nothing is held open."""

    def count(self) -> Counter[str]:
        """Return how often each page was requested since the last call."""
        counted = Counter(self.asked)
        self.asked.clear()
        return counted


def world_of(pages: Pages, *, mode: str = "gentle") -> SimWorld:
    base = Settings()
    pace = replace(base.pace, mode=mode)
    settings = replace(
        base, pace=pace, sitemaps=replace(base.sitemaps, enabled=False), revisit=replace(base.revisit, budget=None)
    )
    world = make_world(cast(SimWeb, pages), settings=settings, shards=1)
    world.keeps_bodies = True
    return world


def repeated(world: SimWorld, path: str) -> str | None:
    """Return the path of the page that this one duplicates."""
    records = world.store.state_of(0).records
    by_path = {record.page.url.removeprefix(HOME): record.page for record in records.values()}
    other = by_path[path].duplicate_of
    return None if other is None else records[other].page.url.removeprefix(HOME)


def copies(**more: str) -> dict[str, str]:
    return {
        "/": page("Home", "welcome", "/article", "/print", "/same"),
        "/article": page("News", text_of("word")),
        "/print": page("News, to print", text_of("word") + " printed"),
        "/same": page("News", text_of("word")),
        **more,
    }


def test_exact_and_near_duplicates_are_known_after_the_first_visit() -> None:
    pages = Pages(copies())
    world = world_of(pages)
    world.crawl()
    assert repeated(world, "/article") is None
    assert repeated(world, "/print") == "/article"
    assert repeated(world, "/same") == "/article"


def test_of_pages_that_answer_together_the_plainest_represents_the_others() -> None:
    """None of them is committed when the others are judged."""
    views = ["/article/print", "/article", "/article/small"]
    bodies = dict.fromkeys(views, page("News", text_of("word")))
    pages = Pages(bodies | {"/": page("Home", "welcome", *views)})
    world = world_of(pages, mode="unlimited")
    world.crawl()
    assert {path: repeated(world, path) for path in views} == dict.fromkeys(views, "/article") | {"/article": None}


def test_a_duplicate_is_visited_less_often_than_its_original() -> None:
    pages = Pages(copies())
    world = world_of(pages)
    world.crawl()
    pages.count()
    world.watch(120 * DAY)
    asked = pages.count()
    assert asked["/article"] > asked["/same"] > 0
    assert asked["/article"] > asked["/print"] > 0


def change(world: SimWorld, pages: Pages, path: str, body: str | None) -> None:
    """Change the page (None: remove it) and crawl until it is visited."""
    if body is None:
        del pages.bodies[path]
    else:
        pages.bodies[path] = body
    pages.count()
    world.watch(60 * DAY)


def test_duplicates_that_did_not_change_with_their_original_become_independent() -> None:
    pages = Pages(copies(), validates=True)
    world = world_of(pages)
    world.crawl()
    change(world, pages, "/article", page("Weather", text_of("rain")))
    assert repeated(world, "/article") is None
    survivors = {repeated(world, "/print"), repeated(world, "/same")}
    assert "/article" not in survivors
    assert survivors <= {None, "/print", "/same"}


def test_duplicates_that_changed_with_their_original_stay_duplicates() -> None:
    pages = Pages(copies())
    world = world_of(pages)
    world.crawl()
    pages.bodies["/same"] = page("Weather", text_of("rain"))
    pages.bodies["/print"] = page("Weather, to print", text_of("rain") + " printed")
    change(world, pages, "/article", page("Weather", text_of("rain")))
    assert repeated(world, "/article") in (None, "/same", "/print")
    standing = [path for path in ("/article", "/print", "/same") if repeated(world, path) is None]
    assert len(standing) == 1


def test_a_change_requeues_the_duplicates_at_once() -> None:
    pages = Pages(copies())
    world = world_of(pages)
    world.crawl()
    pages.bodies["/article"] = page("Weather", text_of("rain"))
    pages.count()
    while "/article" not in pages.asked:
        world.watch(timedelta(hours=12))
    world.watch(timedelta(hours=1))
    assert {"/print", "/same"} <= set(pages.asked)


def test_duplicates_of_a_removed_page_become_independent() -> None:
    pages = Pages(copies(), validates=True)
    world = world_of(pages)
    world.crawl()
    change(world, pages, "/article", None)
    assert "/article" not in {repeated(world, "/print"), repeated(world, "/same")}


def test_a_body_that_no_page_has_any_more_is_no_duplicate() -> None:
    pages = Pages(copies())
    world = world_of(pages)
    world.crawl()
    old = pages.bodies["/article"]
    for path in ("/article", "/print", "/same"):
        pages.bodies[path] = page(path, text_of(path.strip("/")))
    world.crawl(refresh=True)
    pages.bodies["/"] = page("Home", "welcome", "/article", "/late")
    pages.bodies["/late"] = old
    world.crawl(refresh=True)
    assert repeated(world, "/late") is None


WAYS = ("home", "mail", "list", "foot")


def shop(*, tracked: str, plain: bool) -> dict[str, str]:
    """Forty pages that do not depend on `tracked`, and forty that depend on `id`."""
    ways = ["", *(f"?{tracked}={way}" for way in WAYS)][not plain :]
    bodies: dict[str, str] = {}
    for number in range(40):
        text = prose_of(f"n{number}x")
        for way in ways:
            bodies[f"/goods/{number}{way}"] = page(f"Goods {number}", text)
        bodies[f"/item?id={number}"] = page(f"Item {number}", prose_of(f"i{number}x"))
    return {"/": page("Shop", "welcome", *sorted(bodies)), **bodies}


def test_an_irrelevant_parameter_is_learned_whatever_its_name() -> None:
    pages = Pages(shop(tracked="zq", plain=False))
    world = world_of(pages)
    world.crawl()
    asked = pages.count()
    assert all(asked[f"/item?id={number}"] == 1 for number in range(40)), "`id` matters here"
    seen = {path.partition("?")[0] for path in asked if path.startswith("/goods/")}
    assert len(seen) == 40, "no page is lost"
    assert sum(path.startswith("/goods/") for path in asked) < 110


def test_a_parameter_is_also_learned_from_the_page_without_it() -> None:
    bodies = {path: body for path, body in shop(tracked="zq", plain=True).items() if not path.endswith(WAYS[1:])}
    pages = Pages(bodies)
    world = world_of(pages)
    world.crawl()
    asked = pages.count()
    assert {path.partition("?")[0] for path in asked if path.startswith("/goods/")} == {
        f"/goods/{number}" for number in range(40)
    }
    assert sum(path.startswith("/goods/") for path in asked) < 65


def test_the_name_of_a_parameter_proves_nothing() -> None:
    """`utm_source` and `ref` count where they change the page."""
    bodies = {f"/read?ref={number}": page(f"Story {number}", prose_of(f"s{number}x")) for number in range(60)}
    bodies |= {f"/more?utm_source={number}": page(f"More {number}", prose_of(f"m{number}x")) for number in range(60)}
    pages = Pages({"/": page("Home", "welcome", *bodies), **bodies})
    world_of(pages).crawl()
    assert set(bodies) <= set(pages.asked)
