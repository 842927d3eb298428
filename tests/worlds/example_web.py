"""The web of the documentation's examples: example.org, a mirror, a shop without an end, and a site that is down."""

from __future__ import annotations

import json
from pathlib import Path

from tests.worlds.demo_web import Reply

HOST = "example.org"
DOWN = "down.example.org"
"""Nothing listens at this host's address."""
HOSTS = (HOST, "shop.example.org")
ENDLESS_FROM = 101
_PNG = "image/png"
_TOPICS = ("ferry", "harbour", "lighthouse", "museum", "market", "tram")


class ExampleWeb:
    """Responses by host and path; `change` simulates a day."""

    def __init__(self) -> None:
        self.prices = _prose("The ferry costs 30 euros for grown-ups, children travel free of charge on weekdays.")
        self.sitemap_day = 10
        self.extra: dict[str, Reply] = {}

    def reply(self, host: str, path: str) -> Reply:
        """Return the response; 404 if there is none."""
        if host == "shop.example.org":
            return _shop(path)
        return (self._site() | self.extra).get(path) or Reply(404, _page("Not found", "There is no such page."))

    def change(self) -> None:
        """Edit the prices, announce a festival, remove the fair."""
        self.prices = _prose("The ferry costs 25 euros for grown-ups, children travel free of charge on weekdays.")
        self.prices += _prose('<a href="/guides/harbour">A new pier</a> is open now.')
        self.sitemap_day = 12
        festival = "A festival opens at the harbour on Friday. It is a wonderful, charming and joyful evening."
        self.extra = {
            "/news/festival": Reply(200, _page("Festival", _prose(festival))),
            "/fair": Reply(410, _page("Gone", "This page was removed.")),
        }

    def _site(self) -> dict[str, Reply]:
        about = Reply(200, _page("About us", _prose(_ABOUT) + _links({"/print/about": "to print"})))
        site = {
            "/robots.txt": Reply(200, "User-agent: *\nDisallow: /private/\n\nSitemap: /sitemap.xml\n", "text/plain"),
            "/": Reply(200, _page("Harbour town", '<img src="/boat.png" alt="a boat">' + _links(_home()))),
            "/prices": Reply(200, _page("Prices", self.prices)),
            "/about": about,
            "/print/about": about,
            "/fair": Reply(200, _page("Fair", _prose("The fair of last year was a terrible, boring waste of time."))),
            "/private/ledger": Reply(200, _page("Ledger", "Nobody should read this.")),
            "/old/prices": Reply(301, "", location="/prices"),
            "/guides/": Reply(200, _page("Guides", _links({f"/guides/{one}": one for one in _TOPICS}))),
            "/sitemap.xml": Reply(200, self._sitemap(extended=False), "application/xml"),
            "/sitemap.xml?XTND": Reply(200, self._sitemap(extended=True), "application/xml"),
            "/a-good-page.html": Reply(200, _page("The ferry", _prose(_guide("ferry")))),
            "/pier.png": Reply(200, "a picture", _PNG),
            "/boat.png": Reply(200, "another picture", _PNG),
            "/cgi-bin/hits.cgi": Reply(200, _page("Hits", "You are visitor number 7.")),
            "/hidden/only-in-the-sitemap": Reply(200, _page("Hidden", _prose("No page links to this text."))),
        }
        guides = {f"/guides/{one}": Reply(200, _page(one.title(), _prose(_guide(one)))) for one in _TOPICS}
        return site | guides

    def _sitemap(self, *, extended: bool) -> str:
        pages = {"/": 1, "/prices": self.sitemap_day, "/hidden/only-in-the-sitemap": 2}
        pages |= {"/news/festival": 12} if "/news/festival" in self.extra else {}
        if extended:
            day_ms = 86_400_000
            rows = "".join(
                f"<ROW><ANCHOR_TEXT>{path}</ANCHOR_TEXT><URL>{path}</URL>"
                f"<LAST_UPDATED>{1_793_000_000_000 + day * day_ms}</LAST_UPDATED></ROW>"
                for path, day in pages.items()
            )
            return f"<SITEMAP>{rows}</SITEMAP>"
        urls = "".join(
            f"<url><loc>{path}</loc><lastmod>2026-11-{day:02}</lastmod></url>" for path, day in pages.items()
        )
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'


_ABOUT = (
    "We are a small town by the sea. Our harbour has been open since the year of the great storm, and the people who "
    "live here repair boats, keep the lighthouse, and bake bread for the sailors. Visitors are welcome all year round."
)


def _home() -> dict[str, str]:
    return {
        "/prices": "Prices",
        "/about": "About us",
        "/fair": "The fair",
        "/guides/": "Guides",
        "/private/ledger": "the ledger",
        "/lost": "a lost page",
        "/old/prices": "the old prices",
        "/pier.png": "a picture",
        "/cgi-bin/hits.cgi": "visitors",
        "https://elsewhere.example/": "another town",
    }


def _guide(topic: str) -> str:
    return f"All about the {topic}. The {topic} of our town is known along the coast, and this page tells why."


def _shop(path: str) -> Reply:
    """Return a page of a series without an end, as in paper A: each page links to the next number."""
    name, _, number = path.partition("?time=")
    if name == "/robots.txt":
        return Reply(404, "")
    if name == "/":
        return Reply(200, _page("Shop", _links({f"/home?time={ENDLESS_FROM}": "today"})))
    if name != "/home" or not number.isdecimal():
        return Reply(404, _page("Not found", "There is no such page."))
    return Reply(200, _page("Today", "Welcome to the shop." + _links({f"/home?time={int(number) + 1}": "tomorrow"})))


def _page(title: str, content: str) -> str:
    return f"<!doctype html><html lang=en><title>{title}</title><main><h1>{title}</h1>{content}</main></html>"


def _prose(text: str) -> str:
    return f"<p>{text}</p>"


def _links(targets: dict[str, str]) -> str:
    return "<ul>" + "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in targets.items()) + "</ul>"


def write_examples(file: Path) -> None:
    """Write examples of a topic, the ferry, and of others."""
    rows = [
        {"url": f"https://other.example/{one}/{number}", "text": _guide(one), "on_topic": one == "ferry"}
        for one in _TOPICS
        for number in range(3)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_public_folder(folder: Path) -> None:
    """Write the files of a small site, as a generator would."""
    for name, title in (("index.html", "Home"), ("about/index.html", "About us"), ("news.html", "News")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_page(title, _prose(f"{title}: {_ABOUT}")))
