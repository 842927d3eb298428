"""A folder of collections in a real browser: from an empty folder to the first notification, and a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.web.chromium import Served, chromium, serving
from tests.worlds.demo_web import HOSTS, DemoWeb
from tests.worlds.demo_web import serving as demo_serving

PHONE = {"width": 390, "height": 800}
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
WAIT_MS = 60_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def test_from_an_empty_folder_to_two_collections(browser: Browser, tmp_path: Path):
    """Add a page, hear of its change, give it a schedule, add a second collection, search both, remove one."""
    web = DemoWeb()
    with demo_serving(web) as port:
        env = {
            "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
            "EVERCRAWL_HTTP__RESOLVE": f"{HOSTS[0]}:{port}:127.0.0.1,{HOSTS[1]}:{port}:127.0.0.1",
            "EVERCRAWL_PACE__DELAY": "0.1",
            "EVERCRAWL_PACE__MODE": "unlimited",
            "EVERCRAWL_ALERTS__CHECK_INTERVAL": "0.5",
        }
        with serving(tmp_path, env=env, is_folder=True) as served:
            context = browser.new_context(viewport=PHONE, timezone_id="Europe/Berlin")
            context.set_default_timeout(WAIT_MS)
            page = context.new_page()
            said: list[str] = []
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.goto(served.first_link)
            expect(page.get_by_role("heading", name="What do you want to watch?")).to_be_visible()
            news = f"http://{HOSTS[0]}:{port}/news/3"
            base = _add(page, news, extent="Just this page", watch="Keep watching", tag="harbour")
            _wait_for_version(page, served.address + base, news)
            web.change()
            page.get_by_role("button", name="Check now").press("Enter")
            expect(page.get_by_role("link", name="See what changed")).to_be_visible(timeout=WAIT_MS)
            expect(page.get_by_text("Requested a visit")).to_have_count(0)
            _check(page)
            _read_the_feed(page, served.address + base)
            _set_a_schedule(page, served.address + base, news)
            page.get_by_role("button", name="Menu").press("Enter")
            page.get_by_role("link", name="All collections").press("Enter")
            page.get_by_role("link", name="Add a collection").press("Enter")
            _add(page, f"http://{HOSTS[1]}:{port}/", extent="Just this page", watch="Once", tag="books")
            _look_at_all(page, served)
            _remove(page, served, tmp_path)
            assert said == []
            context.close()


def _add(page: Page, url: str, *, extent: str, watch: str, tag: str) -> str:
    """Add a collection with the keyboard, and return its path."""
    page.get_by_label("One or more URLs").fill(url)
    page.get_by_role("button", name="Preview").press("Enter")
    expect(page.get_by_role("group", name="What to crawl")).to_be_visible(timeout=WAIT_MS)
    page.get_by_label(extent).press("Space")
    page.get_by_label(watch).press("Space")
    if watch == "Once":
        _refuse_a_schedule(page)
    page.get_by_label("In a feed").press("Space")
    page.get_by_label("Tags").fill(tag)
    _check(page)
    page.get_by_role("button", name="Start").press("Enter")
    page.wait_for_url("**/c/*/live*")
    return "/c/" + page.url.partition("/c/")[2].partition("/")[0]


def _refuse_a_schedule(page: Page) -> None:
    """What is wrong is said above the choices, which stay as they were."""
    page.get_by_label("Keep watching").press("Space")
    page.get_by_label("or on a schedule").fill("whenever")
    page.get_by_role("button", name="Start").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("'whenever' is not a schedule")
    expect(page.get_by_label("Just this page")).to_be_checked()
    page.get_by_label("or on a schedule").fill("")
    page.get_by_label("Once").press("Space")


def _check(page: Page) -> None:
    """No findings of axe in either colour scheme, and no sideways scrolling."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options={"runOnly": RULES}).response["violations"]
        assert [f"{one['id']} {one['nodes'][0]['html'][:120]}" for one in found] == [], (page.url, scheme)
    page.emulate_media(color_scheme="light")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, page.url


def _wait_for_version(page: Page, address: str, url: str) -> None:
    for _ in range(200):
        page.goto(f"{address}/pages")
        if page.locator("tbody tr th a").count():
            break
        page.wait_for_timeout(250)
    page.locator("tbody tr th a").first.press("Enter")
    expect(page.get_by_role("heading", name="Schedule")).to_be_visible()


def _read_the_feed(page: Page, address: str) -> None:
    name = page.request.get(f"{address}/alerts.json").json()["alerts"][0]["name"]
    for _ in range(240):
        if "the ferry sails at noon" in page.request.get(f"{address}/alert.atom", params={"name": name}).text():
            return
        page.wait_for_timeout(250)
    raise AssertionError("no notification")


def _set_a_schedule(page: Page, address: str, url: str) -> None:
    page.goto(f"{address}/page?url={quote(url, safe='')}")
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    page.get_by_label("Visit", exact=True).fill("weekdays at 9")
    page.get_by_label("Visit", exact=True).press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Visited weekdays at 09:00 Europe/Berlin")
    expect(page.get_by_text("Your schedule decides")).to_be_visible()
    _check(page)
    page.get_by_role("link", name="Why?").press("Enter")
    expect(page.get_by_text("weekdays at 09:00 Europe/Berlin")).to_be_visible()


def _look_at_all(page: Page, served: Served) -> None:
    page.goto(served.address)
    expect(page.locator("tbody tr")).to_have_count(2)
    _check(page)
    page.get_by_role("list", name="Tags").get_by_role("link", name="books").press("Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_label("Search or open a URL").fill("ferry")
    page.get_by_label("Search or open a URL").press("Enter")
    expect(page.locator(".hits mark").first).to_be_visible()
    _check(page)
    page.locator(".hits h2 a").first.press("Enter")
    expect(page.frame_locator("iframe.replay").get_by_text("the ferry sails at noon")).to_be_visible(timeout=WAIT_MS)


def _remove(page: Page, served: Served, folder: Path) -> None:
    page.goto(f"{served.address}/collections?tags=books")
    page.get_by_role("link", name="Tags and removal").press("Enter")
    name = page.get_by_role("heading", level=1).inner_text()
    _check(page)
    page.get_by_label("to confirm").fill(name)
    page.get_by_role("button", name="Remove this collection").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("removed")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert not (folder / f"{name}.evercrawl").exists()
