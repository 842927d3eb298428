"""Simulated sites with traps, and honest sites that look similar.

A response depends on the site's parameters and the URL alone, not on earlier requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from evercrawl.testing.sim_site import words
from evercrawl.testing.site_plan import random_stream

HOST = "http://trapped.test"
WORDS_OF_TEXT = 60
SEED = 7


class TrapResponse(NamedTuple):
    """A response of a simulated site."""

    status: int
    html: str = ""
    location: str = ""
    """Target of a redirect."""


Answer = Callable[[str], TrapResponse]
NOT_FOUND = TrapResponse(404, "<title>Not found</title><p>There is no such page.</p>")


@dataclass(frozen=True, slots=True)
class TrapSite:
    """A simulated site: its seed, its responses, and the real page behind a URL."""

    seed: str
    answer: Answer
    page_of: Callable[[str], str | None]
    """Returns the name of the real page behind a URL; None if there is none."""
    real_pages: int


class Asked(NamedTuple):
    """The parts of a URL."""

    path: str
    segments: tuple[str, ...]
    query: dict[str, str]


def split_url(url: str) -> Asked:
    """Return path, segments and parameters of a URL."""
    split = urlsplit(url)
    path = split.path or "/"
    return Asked(path, tuple(piece for piece in path.split("/") if piece), dict(parse_qsl(split.query)))


def prose(*names: object, count: int = WORDS_OF_TEXT) -> str:
    """Return a text that is unique for these names."""
    chance = random_stream(SEED, "prose", *names)
    return " ".join(chance.choices(words(SEED), k=count)).capitalize() + "."


def page(title: str, body: str, links: list[str]) -> TrapResponse:
    """Return a page with a heading, a text and a list of links."""
    items = "".join(f'<li><a href="{href}">{href.rpartition("/")[2] or href}</a></li>' for href in links)
    return TrapResponse(
        200,
        f"<!DOCTYPE html><html><head><title>{title}</title></head><body><main><h1>{title}</h1>"
        f"<p>{body}</p></main><ul>{items}</ul></body></html>",
    )


def growing_relative_link() -> TrapSite:
    """A relative link `a/` without a base on every page: /a/, /a/a/, /a/a/a/ ..."""

    def answer(url: str) -> TrapResponse:
        return page("A", prose("a"), ["a/"]) if set(split_url(url).segments) == {"a"} else NOT_FOUND

    return TrapSite(f"{HOST}/a/", answer, lambda url: "a" if url == f"{HOST}/a/" else None, 1)


def facet_explosion(*, facets: int = 10, values: int = 5, products: int = 200, shown: int = 30) -> TrapSite:
    """A shop whose every page adds or removes each value of each facet."""
    choices = [
        {f"f{facet}": str(random_stream(SEED, "facet", facet, product).randrange(values)) for facet in range(facets)}
        for product in range(products)
    ]

    def listing(query: dict[str, str]) -> TrapResponse:
        found = [number for number, own in enumerate(choices) if query.items() <= own.items()]
        links = [f"/product/{number}" for number in found[:shown]]
        links += [_shop({**query, name: value}) for name, value in _values(facets, values) if name not in query]
        links += [_shop({other: query[other] for other in query if other != name}) for name in query]
        chosen = ", ".join(f"{name} is {value}" for name, value in sorted(query.items()))
        names = ". ".join(prose("name", number, count=4) for number in found[:shown])
        return page("Shop", f"{len(found)} products, {chosen}: {names}", links)

    def answer(url: str) -> TrapResponse:
        path, segments, query = split_url(url)
        if path == "/shop":
            legal = all(name in choices[0] and value in "01234"[:values] for name, value in query.items())
            return listing(query) if legal else NOT_FOUND
        number = _number(segments, "product", products)
        return NOT_FOUND if number is None else page(f"Product {number}", prose("product", number), ["/shop"])

    def page_of(url: str) -> str | None:
        number = _number(split_url(url).segments, "product", products)
        return None if number is None else str(number)

    return TrapSite(f"{HOST}/shop", answer, page_of, products)


def _values(facets: int, values: int) -> list[tuple[str, str]]:
    return [(f"f{facet}", str(value)) for facet in range(facets) for value in range(values)]


def _shop(query: dict[str, str]) -> str:
    return "/shop" + ("?" + "&".join(f"{name}={value}" for name, value in sorted(query.items())) if query else "")


def _number(segments: tuple[str, ...], folder: str, most: int) -> int | None:
    is_one = len(segments) == 2 and segments[0] == folder and segments[1].isdigit() and int(segments[1]) < most
    return int(segments[1]) if is_one else None


def random_word_maze(*, links: int = 8, flat: bool = False, root: str = "/m/") -> TrapSite:
    """Endless pages with links and text of random words."""

    def answer(url: str) -> TrapResponse:
        path = split_url(url).path
        if not path.startswith(root):
            return NOT_FOUND
        chance = random_stream(SEED, "maze", path)
        folder = root if flat else path.removesuffix("/") + "/"
        names = ["-".join(chance.choices(words(SEED), k=2)) for _ in range(links)]
        return page(names[0], prose("maze", path), [folder + name for name in names])

    return TrapSite(f"{HOST}{root}", answer, lambda url: None, 0)


def honest_large_site(*, pages: int = 5000, links: int = 20, numbered: bool = False, path: str = "") -> TrapSite:
    """A tree of three levels; with `numbered` its pages contain little more than their number.

    With `path` all pages are in one folder, otherwise in nested folders.
    """
    names = [path + str(number) if path and number else _nested(number, links) for number in range(pages)]
    numbers = {f"{HOST}{name}": number for number, name in enumerate(names)}

    def answer(url: str) -> TrapResponse:
        number = numbers.get(url)
        if number is None:
            return NOT_FOUND
        body = f"This is page {number}, and it is like all the others." if numbered else prose("honest", number)
        return page(f"Page {number}", body, names[number * links + 1 : number * links + links + 1])

    def page_of(url: str) -> str | None:
        return str(numbers[url]) if url in numbers else None

    return TrapSite(f"{HOST}/", answer, page_of, pages)


def _nested(number: int, links: int) -> str:
    way = []
    while number:
        way.append(f"p{number}")
        number = (number - 1) // links
    return "/" + "/".join(reversed(way))


GENERATORS: dict[str, Callable[..., TrapSite]] = {
    "growing relative link": growing_relative_link,
    "facet explosion": facet_explosion,
    "random word maze": random_word_maze,
    "honest large site": honest_large_site,
}


def make_site(kind: str, **params: object) -> TrapSite:
    """Return the simulated site of that kind."""
    return GENERATORS[kind](**params)
