"""Answers 200 with the bytes of a stored version cost no parsing, unless something else than the page decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evercrawl.core.traps.trap_state import TrapState
from evercrawl.engine import gather
from evercrawl.engine.probes import Probes
from evercrawl.model.document import Document
from evercrawl.model.fetch import Fetched
from evercrawl.model.settings import Settings
from evercrawl.testing.sim_world import SimWorld
from tests.simulation.test_credit import check_credit
from tests.simulation.test_duplicates import HOME, Pages, page, prose_of, world_of

PATHS = [f"/p{number}" for number in range(12)]


def make_site() -> Pages:
    home = page("Home", prose_of("home"), *PATHS)
    return Pages({"/": home, **{path: page(path, prose_of(path), "/", "/p1") for path in PATHS}})


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that names the pages that were parsed."""
    paths: list[str] = []
    parse = gather.parse

    async def parse_and_note(answer: Fetched, *args: Any, **options: Any) -> Document | None:
        paths.append(answer.url.removeprefix(HOME))
        return await parse(answer, *args, **options)

    monkeypatch.setattr(gather, "parse", parse_and_note)
    return paths


def versions(world: SimWorld) -> dict[str, int]:
    records = world.store.state_of(0).records.values()
    return {record.page.url.removeprefix(HOME): record.page.version for record in records}


def test_only_pages_that_changed_are_parsed_again(parsed: list[str]) -> None:
    pages = make_site()
    world = world_of(pages)
    world.crawl()
    assert sorted(parsed) == sorted(pages.count()) == sorted(["/", *PATHS])
    parsed.clear()
    pages.bodies["/p3"] = page("/p3", prose_of("other"), "/", "/new")
    pages.bodies["/new"] = page("New", prose_of("new"))
    world.crawl(refresh=True)
    assert sorted(pages.count()) == sorted(["/", *PATHS, "/new"])
    assert sorted(parsed) == ["/new", "/p3"]
    assert versions(world) == {"/": 1, **dict.fromkeys(PATHS, 1), "/p3": 2, "/new": 1}
    check_credit(world.store)


def test_a_page_that_returns_to_an_older_version_is_parsed_once(parsed: list[str]) -> None:
    pages = make_site()
    world = world_of(pages)
    first = pages.bodies["/p3"]
    for body in (first, page("/p3", prose_of("other"), "/"), first):
        pages.bodies["/p3"] = body
        world.crawl(refresh=True)
        world.crawl(refresh=True)
    assert parsed.count("/p3") == versions(world)["/p3"] == 3


def exact_credit(settings: Settings) -> Settings:
    return replace(settings, credit=replace(settings.credit, order="paper-credit"))


def wanted_words(settings: Settings) -> Settings:
    return replace(settings, scope=replace(settings.scope, keywords=("home", "p")))


@pytest.mark.parametrize("change", [exact_credit, wanted_words])
def test_pages_are_parsed_if_a_setting_needs_their_content(
    change: Callable[[Settings], Settings], parsed: list[str]
) -> None:
    pages = make_site()
    world = world_of(pages)
    world.settings = change(world.settings)
    world.crawl()
    parsed.clear()
    pages.count()
    world.crawl(refresh=True)
    assert sorted(parsed) == sorted(pages.count()) != []


def test_pages_are_parsed_if_their_site_is_known_to_answer_unknown_urls_with_pages(
    parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = make_site()
    world = world_of(pages)
    world.crawl()
    parsed.clear()
    pages.count()

    async def known(_probes: Probes, _site_id: int, *, looks_like_not_found: bool) -> TrapState:
        return TrapState()

    monkeypatch.setattr(Probes, "soft_404_state", known)
    world.crawl(refresh=True)
    assert sorted(parsed) == sorted(pages.count()) != []
