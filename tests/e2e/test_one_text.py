"""Show, search, diff, changes and exports work on the same text, also of pages that are lists, tables or threads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_cli import Place
from tests.worlds.demo_web import HOSTS, DemoWeb, Reply, serving

HOST = HOSTS[0]
MENU = "".join(f'<li><a href="/{name}">{name.title()}</a></li>' for name in ("jobs", "prices", "terms", "thread"))
JOBS = ("Nurse, night shift", "Bus driver, line 7", "Gardener", "Payroll clerk", "Teacher of music")
PRICES = (("Oak table", "480"), ("Ash chair", "95"), ("Pine shelf", "60"))
TERMS = (("Ebb", "The tide when it goes out."), ("Neap", "A tide of small range"), ("Weir", "A low dam"))
POSTS = ("My boat leaks at the keel.", "Did you try tar?", "Tar works, thanks!")
FOOTER = "Imprint and privacy of the marsh company"
EDITS = {"jobs": ("Gardener", "Forester"), "prices": ("95", "99"), "terms": ("A low dam", "A high dam")}


def bodies() -> dict[str, str]:
    posts = "".join(
        f'<div class="comment"><p class="comment-author">user{n}</p><div class="comment-text"><p>{post}</p></div></div>'
        for n, post in enumerate(POSTS)
    )
    rows = "".join(f"<tr><td>{name}</td><td>{price}</td></tr>" for name, price in PRICES)
    return {
        "jobs": "<ul>" + "".join(f'<li><a href="/jobs/{n}">{job}</a></li>' for n, job in enumerate(JOBS)) + "</ul>",
        "prices": f"<table><tr><th>Item</th><th>Price</th></tr>{rows}</table>",
        "terms": "<dl>" + "".join(f"<dt>{term}</dt><dd>{meaning}</dd>" for term, meaning in TERMS) + "</dl>",
        "thread": f'<div class="comments">{posts}</div>',
    }


class Marsh(Place):
    """A site whose pages are lists."""

    def put(self, name: str, body: str) -> None:
        markup = (
            f"<!doctype html><title>{name.title()} of the marsh</title><nav><ul>{MENU}</ul></nav>"
            f"<main><h1>{name.title()}</h1>{body}</main><footer>{FOOTER}</footer>"
        )
        self.web.replies[HOST, f"/{name}"] = Reply(200, markup)

    def lines(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call(*arguments, "--json").splitlines()]

    def url(self, name: str) -> str:
        return f"{self.site}/{name}"


@pytest.fixture(scope="module")
def marsh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marsh]:
    web = DemoWeb()
    with serving(web) as port:
        place = Marsh(tmp_path_factory.mktemp("marsh"), web, port)
        for name, body in bodies().items():
            place.put(name, body)
        place.crawl(*map(place.url, bodies()), "--depth", "0")
        yield place


EXPECTED = {
    "jobs": list(JOBS),
    "prices": ["Item Price", *(f"{name} {price}" for name, price in PRICES)],
    "terms": [part for term in TERMS for part in term],
    "thread": list(POSTS),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_show_prints_one_line_for_each_entry(marsh: Marsh, name: str) -> None:
    lines = marsh.call("show", marsh.url(name)).splitlines()
    assert [line for line in lines if line in EXPECTED[name]] == EXPECTED[name]
    assert FOOTER not in lines


def test_the_export_has_the_same_text(marsh: Marsh) -> None:
    rows = [json.loads(line) for line in marsh.call("export", "jsonl").splitlines()]
    texts = {row["url"].rsplit("/", 1)[1]: row["text"].splitlines() for row in rows}
    assert {name: [line for line in texts[name] if line in EXPECTED[name]] for name in EXPECTED} == EXPECTED


@pytest.mark.parametrize(
    ("query", "name"), [("payroll", "jobs"), ('"ash chair"', "prices"), ("neap", "terms"), ("keel", "thread")]
)
def test_search_finds_entries(marsh: Marsh, query: str, name: str) -> None:
    assert [hit["url"] for hit in marsh.lines("search", query)] == [marsh.url(name)]


def test_search_does_not_find_the_footer(marsh: Marsh) -> None:
    assert marsh.lines("search", "privacy") == []


def test_markdown_has_lists_tables_and_definitions(marsh: Marsh, tmp_path: Path) -> None:
    marsh.call("export", "markdown", "-o", str(tmp_path / "md"))
    texts = {path.parent.name: path.read_text() for path in (tmp_path / "md").rglob("index.md")}
    assert f"- [{JOBS[0]}]({marsh.site}/jobs/0)\n- [{JOBS[1]}]" in texts["jobs"]
    assert "| Item | Price |\n| --- | --- |\n| Oak table | 480 |\n| Ash chair | 95 |" in texts["prices"]
    assert "Ebb\n: The tide when it goes out.\n\nNeap\n: A tide of small range" in texts["terms"]
    assert "Did you try tar?" in texts["thread"]
    assert all(FOOTER not in text for text in texts.values())


def test_diff_shows_the_entry_that_changed(marsh: Marsh) -> None:
    for name, (before, after) in EDITS.items():
        marsh.put(name, bodies()[name].replace(before, after))
    marsh.crawl("--refresh")
    for name, (before, after) in EDITS.items():
        shown = marsh.call("diff", marsh.url(name))
        assert before.split()[-1] in shown
        assert after.split()[1 if " " in after else 0] in shown
        assert after in marsh.call("show", marsh.url(name))
