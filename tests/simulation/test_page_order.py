"""Which page comes next: paper D's order exactly, the most linked page early, and pages before their views."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from evercrawl.model.settings import CreditSettings
from evercrawl.testing.sim_world import SimWorld
from tests.simulation.test_duplicates import Pages, page, prose_of, repeated, text_of, world_of

PAGES = 58
HUB = 50
Graph = dict[int, list[int]]


def graph_of(seed: int) -> Graph:
    """Return a small site: a tree, some more links, and one page that most pages link to."""
    random = Random(seed)
    links: dict[int, set[int]] = {number: set() for number in range(PAGES)}
    for number in range(1, PAGES):
        links[random.randrange(max(0, number - 8), number) if number > 8 else 0].add(number)
    for number in range(PAGES):
        links[number].update(random.randrange(PAGES) for _ in range(3))
        if number and random.random() < 0.8:
            links[number].add(HUB)
        links[number].discard(number)
    return {number: random.sample(sorted(found), len(found)) for number, found in links.items()}


def path_of(number: int) -> str:
    return f"/p{number}" if number else "/"


def site_of_graph(graph: Graph) -> Pages:
    bodies = {
        path_of(number): page(f"Page {number}", prose_of(str(number)), *map(path_of, found))
        for number, found in graph.items()
    }
    return Pages(bodies)


def order_of(pages: Pages, order: str, *, seed: int = 0) -> list[int]:
    world = world_of(pages)
    world.settings = replace(world.settings, credit=CreditSettings(order=order))
    world.seed = seed
    world.crawl()
    return [int(path[2:] or 0) for path in dict.fromkeys(pages.asked)]


def steps_against_the_paper(graph: Graph, order: list[int]) -> int:
    """Count the visits to a page that was not the richest; computed with the paper's rule alone."""
    credit, lambda_page, wrong = {0: 1.0}, 0.0, 0
    for place, chosen in enumerate(order):
        waiting = [number for number in credit if number not in order[:place]]
        most = max(credit[number] for number in waiting)
        if lambda_page > most:
            credit = {number: held + lambda_page / len(credit) for number, held in credit.items()}
            lambda_page, most = 0.0, max(credit[number] for number in waiting)
        wrong += credit[chosen] < most * (1 - 1e-6)
        held, credit[chosen] = credit[chosen], 0.0
        lambda_page += held / 10 if graph[chosen] else held
        for number in graph[chosen]:
            credit[number] = credit.get(number, 0.0) + held * 0.9 / len(graph[chosen])
    return wrong


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_the_paper_visits_the_richest_page_next(seed: int) -> None:
    graph = graph_of(seed)
    order = order_of(site_of_graph(graph), "paper-credit", seed=seed)
    assert sorted(order) == list(range(PAGES))
    assert steps_against_the_paper(graph, order) == 0


def test_ties_are_broken_at_random_but_alike_for_the_same_seed() -> None:
    graph: Graph = {0: list(range(1, 12)), **{number: [] for number in range(1, 12)}}
    orders = [tuple(order_of(site_of_graph(graph), "paper-credit", seed=seed)) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_default_order_visits_the_most_linked_page_early(seed: int) -> None:
    graph = graph_of(seed)
    exact = order_of(site_of_graph(graph), "paper-credit").index(HUB)
    assert order_of(site_of_graph(graph), "credit").index(HUB) <= exact + 4


def wiki_of(topics: int) -> dict[str, str]:
    """Return a wiki whose pages have old versions, a source view and a list in two orders."""
    bodies = {"/": page("Home", prose_of("home"), "/all", "/all?sort=date", "/t0?rev=9fceb02d0ae598e95dc970b74767")}
    for number in range(topics):
        views = [f"/t{number}?version={version}" for version in range(4)]
        text = prose_of(f"topic {number}", 300)
        links = [f"/t{(3 * number + step) % topics}" for step in (1, 2, 3)]
        bodies[f"/t{number}"] = page(f"Topic {number}", text, *views, f"/t{number}/source", *links)
        bodies[f"/t{number}/source"] = page(f"Topic {number}", text, *views)
        for version, view in enumerate(views):
            bodies[view] = page(f"Topic {number}, version {version}", f"{text} old{version}", f"/t{number}")
    bodies["/all"] = bodies["/all?sort=date"] = page("All", prose_of("all"), *(f"/t{n}" for n in range(topics)))
    bodies["/t0?rev=9fceb02d0ae598e95dc970b74767"] = bodies["/t0"]
    return bodies


def crawl_wiki(topics: int) -> tuple[SimWorld, list[str]]:
    pages = Pages(wiki_of(topics))
    world = world_of(pages)
    world.crawl()
    return world, pages.asked


def test_pages_come_before_their_views_and_nothing_is_lost() -> None:
    topics = 80
    _, asked = crawl_wiki(topics)
    assert set(asked) == wiki_of(topics).keys()
    last_topic = max(asked.index(f"/t{number}") for number in range(topics))
    views_before = sum("?" in path for path in asked[:last_topic])
    assert views_before <= 10
    assert last_topic < 2.2 * topics


def test_the_plain_url_represents_its_views_even_if_it_was_visited_later() -> None:
    text = text_of("word")
    pages = Pages(
        {
            "/": page("Home", "welcome", "/article?print=1"),
            "/article?print=1": page("News", text, "/middle", "/article?from=home"),
            "/article?from=home": page("News", text, "/middle", "/article?from=home"),
            "/middle": page("Middle", prose_of("middle"), "/article"),
            "/article": page("News", text, "/middle", "/article?from=home"),
        }
    )
    world = world_of(pages)
    world.crawl()
    assert pages.asked.index("/article?print=1") < pages.asked.index("/article")
    assert repeated(world, "/article") is None
    assert repeated(world, "/article?print=1") == "/article"
    assert repeated(world, "/article?from=home") == "/article"


def test_other_formats_of_a_page_come_after_pages() -> None:
    rows = 60
    bodies = {"/": page("Home", prose_of("home"), "/rows")}
    bodies["/rows"] = page("Rows", prose_of("rows"), *(f"/rows/{number}" for number in range(rows)))
    for number in range(rows):
        links = [f"/rows/{number}.json", f"/notes/{number}"]
        bodies[f"/rows/{number}"] = page(f"Row {number}", prose_of(f"row {number}"), *links)
        bodies[f"/rows/{number}.json"] = page(f"Row {number}", prose_of(f"row {number}"))
        bodies[f"/notes/{number}"] = page(f"Note {number}", prose_of(f"note {number}"))
    pages = Pages(bodies)
    world_of(pages).crawl()
    assert set(pages.asked) == bodies.keys()
    assert not any(path.endswith(".json") for path in pages.asked[: 2 * rows + 2])


CODE = [f"{folder}/{name}.py" for folder in ("src", "tests", "tools") for name in ("ant", "bee", "cat", "dog", "elk")]


def code_browser() -> Pages:
    """Return a site that shows each file in four ways, which a segment of the path names."""
    views = [f"/x.git/{view}/HEAD/{file}" for file in CODE for view in ("blob", "blame", "log", "raw")]
    bodies = {"/": page("Files", prose_of("files"), *views)}
    for file in CODE:
        old = [f"/x.git/blob/{number:040x}/{file}" for number in range(0xA1, 0xA5)]
        for path in [view for view in views if view.endswith(file)] + old:
            bodies[path] = page(file, prose_of(file), *old)
    return Pages(bodies)


def test_files_come_before_their_views_and_versions_that_the_path_names() -> None:
    pages = code_browser()
    world_of(pages).crawl()
    asked = list(dict.fromkeys(pages.asked))
    files = {f"/x.git/blob/HEAD/{file}" for file in CODE}
    assert files <= set(asked[: 2 * len(CODE)])


def test_a_feed_that_many_pages_name_is_requested_once() -> None:
    feed = "<rss version='2.0'><channel><title>News</title><item><link>https://a.test/p1</link></item></channel></rss>"
    named = '<link rel="alternate" type="application/rss+xml" href="/news.rss">'
    bodies = {path_of(n): named + page(f"Page {n}", prose_of(str(n)), *map(path_of, range(20))) for n in range(20)}
    pages = Pages({**bodies, "/news.rss": feed})
    world = world_of(pages)
    base = world.settings
    world.settings = replace(
        base, sitemaps=replace(base.sitemaps, enabled=True), pace=replace(base.pace, mode="unlimited")
    )
    world.crawl()
    assert pages.asked.count("/news.rss") == 1


def test_a_feed_for_every_tag_is_read_once_and_not_before_the_pages() -> None:
    links, feeds = [f"/p{number}" for number in range(60)], [f"/tag{number}.xml" for number in range(9)]
    named = "".join(f'<link rel="alternate" type="application/rss+xml" href="{feed}">' for feed in feeds)
    bodies = {path: page(path, prose_of(path)).replace("<title>", named + "<title>") for path in links}
    bodies["/"] = page("Home", prose_of("home"), *links).replace("<title>", named + "<title>")
    bodies |= dict.fromkeys(feeds, "<rss><channel><item><link>/p1</link></item></channel></rss>")
    pages = Pages(bodies)
    world = world_of(pages)
    world.settings = replace(world.settings, sitemaps=replace(world.settings.sitemaps, enabled=True))
    world.crawl()
    read = [place for place, path in enumerate(pages.asked) if path in feeds]
    assert 0 < len(read) <= 2 + len(pages.asked) // 20
    assert len({pages.asked[place] for place in read}) == len(read)
    assert sum(place < 15 for place in read) <= 2
