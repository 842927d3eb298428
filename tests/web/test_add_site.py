"""Adding sites in the browser: what is refused, what a look finds, and what is saved."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from evercrawl.config import create_collection, read_settings
from evercrawl.model.reason import REASON_TEXT, Reason
from evercrawl.web.serve import ServeOptions
from tests.web.conftest import Interface, closed, opened
from tests.worlds.demo_web import HOSTS, DemoWeb, Reply, serving

FLAGS: dict[str, object] = {"http.allow_private": True, "pace.delay": "0.01", "pace.mode": "unlimited"}


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Interface]:
    create_collection(tmp_path / "sites.evercrawl")
    with serving(DemoWeb()) as port:
        flags = FLAGS | {"http.resolve": (f"{HOSTS[0]}:{port}:127.0.0.1", f"{HOSTS[1]}:{port}:127.0.0.1")}
        interface = opened(tmp_path / "sites.evercrawl", ServeOptions(port=0), flags)
        interface.port = port  # type: ignore[attr-defined]
        yield interface
        closed(interface)


def _post(web: Interface, action: str, **fields: str) -> str:
    answer = web.operator.post(f"/do/{action}", data=fields | {"csrf": web.csrf})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def _look(web: Interface, urls: str) -> str:
    key = parse_qs(urlsplit(_post(web, "look-at-sites", urls=urls)).query)["look"][0]
    for _ in range(400):
        if web.operator.get(f"/add.json?look={key}").json()["look"]["done"]:
            return key
        time.sleep(0.025)
    raise AssertionError("the look did not end")


def test_the_first_page_asks_what_to_watch(empty: Interface):
    assert "What do you want to watch?" in empty.operator.get("/").text


def test_what_is_no_url_becomes_no_site(empty: Interface):
    location = _post(empty, "look-at-sites", urls="not a url")
    page = empty.operator.get(location).text
    assert "is not a URL" in page
    assert "not a url</textarea>" in page, "the form keeps what was entered"
    assert empty.operator.post("/api/v1/previews", data={"urls": "x", "csrf": empty.csrf}).status_code == 422
    assert read_settings(empty.service.state.path).settings.scope.seeds == ()


def test_one_click_watches_just_a_page(empty: Interface, monkeypatch: pytest.MonkeyPatch):
    state, started = empty.service.state, list[object]()
    monkeypatch.setattr(state.crawl, "start", lambda seeds, *, forever: started.append(forever))
    assert 'formaction="/do/add-sites" name="quick"' in empty.operator.get("/add").text
    _post(empty, "add-sites", urls="https://harbour.example/news", quick="true")
    settings = read_settings(state.path).settings
    assert (settings.scope.pages, settings.web.keep_watching) == (("https://harbour.example/news",), True)
    (alert,) = empty.operator.get("/alerts.json").json()["alerts"]
    assert (alert["channel"], started) == ("atom", [True])


def test_a_look_and_what_is_chosen(empty: Interface, monkeypatch: pytest.MonkeyPatch):
    started: list[object] = []
    monkeypatch.setattr(empty.service.state.crawl, "start", lambda urls, **options: started.append(options))
    site = f"http://{HOSTS[0]}:{empty.port}"  # type: ignore[attr-defined]
    key = _look(empty, f"{site}/news/1")
    (seen,) = empty.operator.get(f"/add.json?look={key}").json()["look"]["sites"]
    assert seen["preview"]["title"] == "News 1"
    assert seen["preview"]["section"] == "/news/"
    assert seen["preview"]["problem"] is None
    assert "This section" in empty.operator.get(f"/add?look={key}").text
    location = _post(empty, "add-sites", look=key, extent="section", watch="true", notify="atom", assets="true")
    assert location.startswith("/live")
    settings = read_settings(empty.service.state.path).settings
    assert settings.scope.seeds == settings.scope.sections == (f"{site}/news/1",)
    assert (settings.assets.enabled, settings.web.keep_watching) == (True, True)
    assert started == [{"forever": True}]
    (alert,) = empty.operator.get("/alerts.json").json()["alerts"]
    assert alert["patterns"] == [f"{site}/news/*"]


def test_a_look_says_what_cannot_be_fetched(empty: Interface):
    site = f"http://{HOSTS[0]}:{empty.port}"  # type: ignore[attr-defined]
    key = _look(empty, f"{site}/private/ledger http://127.0.0.1:1/")
    problems = [
        one["preview"]["problem"] for one in empty.operator.get(f"/add.json?look={key}").json()["look"]["sites"]
    ]
    assert "robots.txt" in problems[0]
    assert problems[1]


def test_private_addresses_are_not_looked_at(fresh: Interface):
    key = _look(fresh, "http://127.0.0.1:1/")
    (seen,) = fresh.operator.get(f"/add.json?look={key}").json()["look"]["sites"]
    assert seen["preview"]["problem"].startswith("127.0.0.1 is a loopback address; addresses of your own network")


def test_a_sitemap_counts(empty: Interface, tmp_path: Path):
    web = DemoWeb()
    with serving(web) as port:
        site = f"http://{HOSTS[1]}:{port}"
        entries = "".join(f"<url><loc>{site}/listed/{n}</loc></url>" for n in range(40))
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
        web.replies[HOSTS[1], "/sitemap.xml"] = Reply(200, body, "application/xml")
        empty.service.state._flags["http.resolve"] = (f"{HOSTS[1]}:{port}:127.0.0.1",)
        empty.service.state._loaded = None
        key = _look(empty, f"{site}/")
        (seen,) = empty.operator.get(f"/add.json?look={key}").json()["look"]["sites"]
    assert seen["preview"]["sitemap_pages"] == 40
    assert seen["preview"]["site_pages"] > 40


def test_a_failed_first_try_says_why(empty: Interface, monkeypatch: pytest.MonkeyPatch):
    """On the overview, and on the page with every try; not that everything is up to date."""
    port = empty.port  # type: ignore[attr-defined]
    url = f"http://{HOSTS[0]}:{port}/nowhere"
    monkeypatch.setattr(empty.service.state.crawl, "start", lambda urls, **options: None)
    _post(empty, "add-sites", urls=url, quick="true")
    command = [sys.executable, "-m", "evercrawl", "-C", str(empty.service.state.path), "crawl", "-q"]
    allowed = {"EVERCRAWL_HTTP__ALLOW_PRIVATE": "true", "EVERCRAWL_HTTP__RESOLVE": f"{HOSTS[0]}:{port}:127.0.0.1"}
    subprocess.run(command, env=os.environ | allowed, check=False, timeout=60)
    overview = empty.operator.get("/").text
    assert "No page has been stored yet." in overview
    assert REASON_TEXT[Reason.NOT_FOUND] in overview
    page = empty.operator.get("/page", params={"url": url})
    assert "No visits yet." not in page.text
    assert "not found" in page.text


def test_a_preview_can_be_tried_again_at_once(empty: Interface):
    for _ in range(10):
        _post(empty, "look-at-sites", urls=f"http://{HOSTS[0]}:{empty.port}/")  # type: ignore[attr-defined]
