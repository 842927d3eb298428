"""Complete copies: with `--with-assets`, what pages need to look right is stored, exported and verified."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evercrawl.model.reason import Outcome
from tests.worlds.hostile.command import Command
from tests.worlds.hostile.servers import answer_of
from tests.worlds.hostile.sites import Site, SiteRequest, bytes_for, html, web

FLAGS = ("--pace", "own", "--allow-private", "--json")
PAGE = (
    "<link rel=stylesheet href='/style.css'><main><p>A page with a picture and a style of its own.</p>"
    "<img src='/small.png' srcset='/large.png 2x'><a href='/second'>second</a> <a href='/old'>old</a></main>"
)
TAGGED = {"Content-Type": "text/html", "ETag": '"1"'}
FILES = {
    "/": html(PAGE, headers=TAGGED),
    "/second": html(PAGE.replace("A page", "The second page")),
    "/style.css": answer_of({"body": "@import 'more.css'; p { color: teal }", "headers": {"Content-Type": "text/css"}}),
    "/more.css": answer_of({"body": "@font-face { src: url(font.woff2) }", "headers": {"Content-Type": "text/css"}}),
    "/font.woff2": answer_of({"body": "font", "headers": {"Content-Type": "font/woff2"}}),
    "/small.png": answer_of({"body": "small", "headers": {"Content-Type": "image/png"}}),
    "/large.png": answer_of({"body": "large", "headers": {"Content-Type": "image/png"}}),
    "/old": answer_of({"status": 301, "headers": {"Location": "/second"}}),
}
ASSETS = {"/style.css", "/more.css", "/font.woff2", "/small.png", "/large.png"}


def _respond(asked: SiteRequest) -> bytes:
    if asked.path == "/" and asked.field("if-none-match") == TAGGED["ETag"]:
        return answer_of({"status": 304, "headers": {"ETag": TAGGED["ETag"]}})
    return FILES.get(asked.path, answer_of({"status": 404}))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Command, Site]]:
    with web() as sites:
        made = sites.add("site", bytes_for(_respond))
        yield Command(tmp_path, {"dns.servers": sites.name_server}), made


def _captures(command: Command, made: Site) -> dict[str, str]:
    """Return the status of each capture in a WACZ export, by path."""
    package = command.folder / "copy.wacz"
    command.call("export", "wacz", "--output", str(package))
    with zipfile.ZipFile(package) as opened:
        assert opened.testzip() is None
        index = next(name for name in opened.namelist() if name.startswith("indexes/"))
        text = opened.read(index)
        lines = (gzip.decompress(text) if index.endswith(".gz") else text).decode().splitlines()
    rows = [json.loads(line[line.index("{") :]) for line in lines if "{" in line and not line.startswith("!")]
    return {row["url"].removeprefix(made.url("")): row["status"] for row in rows}


def _check_mirror(command: Command) -> None:
    """Every link of the copy leads to a file, that of a redirect to its target."""
    command.call("export", "mirror", "--output", str(command.folder / "mirror"))
    page = next((command.folder / "mirror").glob("*/*/index.html"))
    links = ("style.css", "small.png", "large.png 2x", "second/index.html", "second/index.html")
    assert re.findall(r'(?:href|src|srcset)="([^"]*)"', page.read_text()) == list(links)
    assert 'url("font.woff2")' in (page.parent / "more.css").read_text()
    names = {path.name for path in page.parent.rglob("*") if path.is_file()}
    assert names == {path[1:] for path in ASSETS} | {"index.html"}


def test_assets_are_stored_once_and_are_no_pages(site: tuple[Command, Site]) -> None:
    command, made = site
    summary = command.crawl(made.url(), "--with-assets", *FLAGS).summary()
    assert summary["new"] == 2
    assert set(made.paths()) >= ASSETS
    assert all(made.paths().count(path) == 1 for path in ASSETS)
    found = _captures(command, made)
    assert found.keys() >= ASSETS | {"/", "/second", "/old"}
    assert found["/old"] == "301"
    _check_mirror(command)
    checked = command.call("verify", "--json").summary()
    assert (checked["versions"], checked["damaged"]) == (2, 0)
    assert checked["resources"] >= len(ASSETS) + 1


def test_an_export_of_a_site_has_the_assets_that_its_pages_use(tmp_path: Path) -> None:
    with web() as sites:
        shared = sites.add("shared", bytes_for(lambda asked: FILES["/small.png"]))

        def page(asked: SiteRequest) -> bytes:
            if asked.path != "/":
                return answer_of({"status": 404})
            name = "one" if (asked.field("host") or "").startswith("one") else "two"
            return html(f"<main>{name} {'words ' * 30}<img src='{shared.url(f'/{name}.png')}'></main>")

        one, two = sites.add("one", bytes_for(page)), sites.add("two", bytes_for(page))
        command = Command(tmp_path, {"dns.servers": sites.name_server})
        command.crawl(one.url(), two.url(), "--with-assets", *FLAGS)
        urls = command.call("export", "cdxj", "--site", one.url("")).out
        assert shared.url("/one.png") in urls
        assert shared.url("/two.png") not in urls
        found = command.why(shared.url("/two.png"))
        assert (found.outcome, found.status, found.parent) == (Outcome.FETCHED, 200, two.url())
        assert f"an asset, not a page: image/png, 5 bytes; used by {two.url()}" in found.detail


def test_a_collection_without_assets_gets_them_later(site: tuple[Command, Site]) -> None:
    command, made = site
    command.crawl(made.url(), *FLAGS)
    assert not ASSETS & set(made.paths())
    again = command.crawl("--with-assets", "--refresh", *FLAGS).summary()
    assert (again["not_modified"], again["changed"]) == (1, 0)
    assert set(made.paths()) >= ASSETS
    assert _captures(command, made).keys() >= ASSETS
