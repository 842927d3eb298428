"""The interface in a real browser: what people do, what hostile pages try, and what everybody can use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from evercrawl.cli.commands.serve import write_door
from evercrawl.collection.alerts.mail import EXAMPLES
from evercrawl.config import create_collection
from evercrawl.core.alerts.html_message import MessageLinks
from evercrawl.core.alerts.message_format import MessageContent, html_text
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, EventKind
from evercrawl.web.auth import AuthStore
from evercrawl.web.views import VIEWS
from tests.web.chromium import Served, chromium, serving
from tests.web.conftest import story  # noqa: F401
from tests.web.hostile import PAGES
from tests.web.inputs import query_of, tricky_paths, urls_for
from tests.web.test_message_links import Links
from tests.worlds.demo_web import HOSTS, DemoWeb
from tests.worlds.demo_web import serving as demo_serving

CALM_PAGE = "https://harbour.example/page/0"
PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def served(story: Path) -> Iterator[Served]:  # noqa: F811
    with serving(story) as found:
        yield found


@pytest.fixture(scope="module")
def operator(browser: Browser, served: Served) -> Iterator[BrowserContext]:
    """A browser that came by the link of the terminal."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.first_link)
    assert page.url == f"{served.address}/"
    page.close()
    yield context
    context.close()


def test_hostile_pages_are_inert(operator: BrowserContext, served: Served):
    page = operator.new_page()
    asked: list[str] = []
    problems: list[str] = []
    # A request that the page's policy stops is told too, as one that failed; it never reaches the network.
    page.on("requestfinished", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: request.failure == "csp" or asked.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    paths = [view.path + query_of(view, url) for view in VIEWS for url in urls_for(view)] + tricky_paths()
    assert len(paths) > 120
    for path in paths:
        page.goto(served.address + path)
        assert page.evaluate("window.pwned") is None, path
        assert page.locator("main").count() == 1, path
        too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert too_wide <= 0, path
    page.goto(f"{served.address}/show?url={quote(next(iter(PAGES)), safe='')}")
    frame = next(frame for frame in page.frames if frame.url.startswith(served.replay))
    expect(frame.locator("h1")).to_be_visible()
    assert frame.locator("script").count() == 0
    page.goto(frame.url)
    page.locator("#js").click()
    page.locator("#send").click()
    assert page.url.startswith(served.replay)
    page.locator("#inside").click()
    page.wait_for_url("**/harbour.example/page/2")
    assert page.url.startswith(served.replay)
    own = {urlsplit(served.address).netloc, urlsplit(served.replay).netloc}
    elsewhere = [url for url in asked if not url.startswith(("data:", "blob:")) and urlsplit(url).netloc not in own]
    assert elsewhere == []
    assert problems == []
    page.close()


def test_a_reader_finds_what_changed_and_shares_it(browser: Browser, operator: BrowserContext, served: Served):
    """On a phone and with the keyboard; the shared link shows the same difference to somebody without a login."""
    context = browser.new_context(viewport=PHONE, storage_state=operator.storage_state())
    page = context.new_page()
    problems = console_of(page)
    page.goto(served.address)
    page.get_by_role("button", name="Menu").press("Enter")
    page.get_by_role("link", name="Changes", exact=True).press("Enter")
    page.get_by_role("link", name="Last month").press("Enter")
    expect(page.get_by_role("link", name="Last month")).to_have_attribute("aria-current", "true")
    page.locator("a[href*='example%2Fpage%2F']", has_text="History").first.press("Enter")
    expect(page.get_by_role("heading", name="Versions", exact=True)).to_be_visible()
    page.locator(".chart a").last.press("Enter")
    expect(page.locator("table.diff .both del, table.diff .both ins").first).to_be_visible()
    edits = page.locator("table.diff .both ins").all_inner_texts()
    page.get_by_role("link", name="Only changes").press("Enter")
    expect(page.locator("table.diff tr.same")).to_have_count(0)
    shared = page.get_by_label("Link to share").input_value()
    stranger = browser.new_context(viewport=PHONE).new_page()
    strange = console_of(stranger)
    stranger.goto(shared)
    expect(stranger.locator("table.diff .both ins")).to_have_text(edits)
    assert not violations(stranger)
    stranger.get_by_role("link", name="Only changes").press("Enter")
    expect(stranger.locator("table.diff tr.same")).to_have_count(0)
    stranger.goto(served.address)
    expect(stranger.get_by_role("heading", name="Log in")).to_be_visible()
    assert strange == []
    stranger.context.close()
    other = operator.new_page()
    other.goto(shared)
    assert other.locator("table.diff .both ins").all_text_contents() == edits
    for view in ("Source", "Rendered"):
        other.get_by_role("link", name=view, exact=True).click()
        expect(other.locator("pre.source ins, pre.source del, iframe.replay").first).to_be_visible()
    assert problems == []
    other.goto(f"{served.address}/page?url={quote(CALM_PAGE, safe='')}")
    other.get_by_role("link", name="Show newest version").click()
    expect(other.frame_locator("iframe.replay").locator("body")).to_be_visible()
    expect(other.get_by_text("Archived copy")).to_be_visible()
    other.close()
    context.close()


def test_archived_pages_are_shown_where_only_ipv6_is_used(browser: Browser, story: Path):  # noqa: F811
    """Content security policies cannot name [::1]."""
    with serving(story, "--bind", "::1") as found:
        page = browser.new_context().new_page()
        problems = console_of(page)
        page.goto(found.first_link)
        page.goto(f"{found.address}/show?url={quote(CALM_PAGE, safe='')}")
        expect(page.frame_locator("iframe.replay").get_by_role("heading").first).to_be_visible()
        assert problems == []
        page.context.close()


def test_a_reader_searches(operator: BrowserContext, served: Served):
    page = operator.new_page()
    page.goto(f"{served.address}/search")
    page.get_by_label("Words").fill("attack harbour")
    page.get_by_label("Words").press("Enter")
    expect(page.locator("mark").first).to_be_visible()
    assert page.evaluate("window.pwned") is None
    page.get_by_role("link", name="History").first.click()
    expect(page.get_by_role("heading", name="Versions", exact=True)).to_be_visible()
    page.close()


def test_every_page_is_accessible_and_says_nothing_on_the_console(operator: BrowserContext, served: Served):
    page = operator.new_page()
    said, found = console_of(page), []
    for view in VIEWS:
        page.goto(served.address + view.path + query_of(view, CALM_PAGE))
        found += [f"{view.name}: {one}" for one in violations(page)]
    assert found == []
    assert said == []
    page.close()


def test_contrast_in_dark_mode(browser: Browser, operator: BrowserContext, served: Served):
    context = browser.new_context(color_scheme="dark", storage_state=operator.storage_state())
    page, rules = context.new_page(), {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    for path in (*(view.path + query_of(view, CALM_PAGE) for view in VIEWS), "/search?q=office", "/nowhere"):
        page.goto(served.address + path)
        found = Axe().run(page, context={"exclude": ["iframe"]}, options=rules)
        assert [one["nodes"][0]["html"] for one in found.response["violations"]] == [], path
    context.close()


def test_keyboard_only_use(operator: BrowserContext, served: Served):
    page = operator.new_page()
    page.goto(f"{served.address}/changes?since=30d")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.wait_for_url("**/changes?done=*")
    page.get_by_role("button", name="Undo").first.click()
    page.goto(f"{served.address}/changes?since=30d")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.matches('.inbox > li:nth-child(2)')")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") in ("Compare", "Pages"):
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", "focus is visible"
    page.keyboard.press("Enter")
    page.close()


def test_a_narrow_screen_needs_no_sideways_scrolling(browser: Browser, operator: BrowserContext, served: Served):
    context = browser.new_context(viewport={"width": 360, "height": 740}, storage_state=operator.storage_state())
    page = context.new_page()
    for view in VIEWS:
        page.goto(served.address + view.path + query_of(view, CALM_PAGE))
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view.name
    context.close()


def test_it_works_without_scripts(browser: Browser, operator: BrowserContext, served: Served):
    context = browser.new_context(java_script_enabled=False, storage_state=operator.storage_state())
    page = context.new_page()
    page.goto(served.address)
    page.get_by_text("Crawl", exact=True).click()
    page.get_by_role("link", name="Live", exact=True).click()
    expect(page.get_by_text("No crawl is running.")).to_be_visible()
    page.get_by_label("Search or open a URL").fill("https://harbour.example/page/0")
    page.get_by_label("Search or open a URL").press("Enter")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("table.diff ins").first).to_be_visible()
    for view in VIEWS:
        page.goto(served.address + view.path + query_of(view, CALM_PAGE))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    _add_an_alert(page, served)
    _mark_a_change_as_read_and_undo(page, served)
    _narrow_a_search(page, served)
    _mute_and_unmute_a_part(page, served)
    _slow_a_site_down_and_reset(page, served)
    context.close()


def _mute_and_unmute_a_part(page: Page, served: Served) -> None:
    address = f"{served.address}/changes?since=30d&site=https://harbour.example"
    page.goto(address)
    before = page.locator(".inbox > li").count()
    change = page.locator(".inbox > li", has=page.get_by_role("link", name="History")).last
    change.get_by_text("Mute a part").click()
    change.get_by_role("button", name="Mute on this page").first.click()
    expect(page.get_by_role("status")).to_contain_text("Muted on https://harbour.example/")
    page.goto(f"{address}&state=muted")
    expect(page.locator(".inbox > li.change").first).to_be_visible()
    page.get_by_text("muted parts").click()
    page.get_by_role("button", name="Unmute").first.click()
    expect(page.get_by_role("status")).to_contain_text("Unmuted")
    page.goto(address)
    expect(page.locator(".inbox > li")).to_have_count(before)


def _slow_a_site_down_and_reset(page: Page, served: Served) -> None:
    page.goto(f"{served.address}/site?name=https://harbour.example")
    page.get_by_label("Delay between requests").press("End")
    page.get_by_role("button", name="Slow down").click()
    expect(page.get_by_role("status")).to_contain_text("one request every 2 min")
    expect(page.get_by_text("You set at least 2 min")).to_be_visible()
    page.get_by_role("button", name="Reset to usual pace").click()
    expect(page.get_by_role("status")).to_contain_text("no longer slowed down")


def _add_an_alert(page: Page, served: Served) -> None:
    page.goto(f"{served.address}/alerts")
    page.get_by_label("Name", exact=True).fill("tides")
    page.get_by_label("Or URL pattern").fill("https://harbour.example/*")
    page.get_by_label("Send by", exact=True).select_option("atom")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="would have reported")).to_be_visible()
    page.get_by_role("button", name="Add this alert").click()
    expect(page.get_by_role("status")).to_contain_text("changes found from now on")
    page.get_by_role("button", name="Send test message").click()
    expect(page.get_by_role("status")).to_contain_text("Test message sent")
    page.get_by_text("Remove…").click()
    page.get_by_role("button", name="Remove this alert").click()
    expect(page.get_by_role("status")).to_contain_text("removed")


def _mark_a_change_as_read_and_undo(page: Page, served: Served) -> None:
    page.goto(f"{served.address}/changes?since=30d")
    before = page.locator(".inbox > li").count()
    page.get_by_role("button", name="Mark as read", exact=True).first.click()
    expect(page.get_by_role("status")).to_contain_text("Marked as read")
    page.goto(f"{served.address}/changes?since=30d")
    expect(page.locator(".inbox > li")).to_have_count(before - 1)
    page.get_by_text("Recently read").click()
    page.get_by_role("button", name="Undo").first.click()
    page.goto(f"{served.address}/changes?since=30d")
    expect(page.locator(".inbox > li")).to_have_count(before)


def _narrow_a_search(page: Page, served: Served) -> None:
    page.goto(f"{served.address}/search?q=office")
    facets = page.get_by_role("complementary", name="Narrow the search")
    facets.get_by_role("link", name="council.example").click()
    expect(page.locator(".hits > li").first).to_contain_text("council.example")
    page.get_by_role("complementary").get_by_role("link", name="council.example").click()
    expect(facets.get_by_role("link", name="harbour.example")).to_be_visible()


def violations(page: Page) -> list[str]:
    """Return what axe finds on our page; an archived page in its frame is as its author made it."""
    rules = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
    found = Axe().run(page, context={"exclude": ["iframe"]}, options={"runOnly": rules})
    return [f"{one['id']} {one['nodes'][0]['html'][:120]}" for one in found.response["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("public_url", [None, "https://crawl.example.org"])
def test_a_mail_is_readable_on_a_phone(browser: Browser, scheme: str, public_url: str | None):
    alert = Alert("jobs", AlertFilter(), Destination(Channel.MAIL, "me@example.org"))
    kinds = (EventKind.CONTENT, EventKind.NEW, EventKind.GONE)
    (example,) = EXAMPLES
    words = example.event._replace(excerpt="a new page " * 9, url=f"https://example.org/{'x' * 200}")
    changes = [example._replace(event=words._replace(kind=kind, page_id=n)) for n, kind in enumerate(kinds)]
    content = MessageContent(alert, changes, MessageLinks("c.evercrawl", "jobs", public_url))
    page = browser.new_context(viewport={"width": 360, "height": 700}, color_scheme=scheme).new_page()
    page.set_content(html_text(content))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page) == []
    page.context.close()


def test_the_links_of_a_message_work_without_a_login(browser: Browser, tmp_path: Path):
    links = Links(tmp_path / "links.evercrawl")
    with serving(tmp_path / "links.evercrawl") as served:
        page = browser.new_context(viewport={"width": 390, "height": 700}).new_page()
        page.goto(served.address + links.path("mute"))
        assert not violations(page)
        page.get_by_role("button", name="Mute this part").first.click()
        expect(page.get_by_text("is muted.")).to_be_visible()
        assert [one.pattern for one in links.inbox.mutes()] == ["Visitors today: *"]
        page.goto(served.address + links.path("unsubscribe"))
        assert not violations(page)
        page.get_by_role("button", name="Unsubscribe").click()
        expect(page.get_by_role("heading", name="You are unsubscribed")).to_be_visible()
        assert links.registry.get("prices").is_paused
        page.get_by_role("button", name="Subscribe again").click()
        expect(page.get_by_role("heading", name="You are subscribed again")).to_be_visible()
        page.context.close()


def test_from_the_first_start_to_the_first_notification(browser: Browser, tmp_path: Path):
    """Nothing is there: add a site with the keyboard, watch the crawl, get a notification; then settings and login."""
    collection, web = tmp_path / "sites.evercrawl", DemoWeb()
    collection.mkdir()
    with demo_serving(web) as port:
        env = {
            "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
            "EVERCRAWL_HTTP__RESOLVE": f"{HOSTS[0]}:{port}:127.0.0.1",
            "EVERCRAWL_PACE__DELAY": "0.2",
            "EVERCRAWL_PACE__MODE": "unlimited",
            "EVERCRAWL_PACE__UNLIMITED_CONCURRENCY": "1",
            "EVERCRAWL_ALERTS__CHECK_INTERVAL": "0.5",
        }
        with serving(collection, env=env) as served:
            page = browser.new_context(viewport=PHONE).new_page()
            problems = console_of(page)
            page.goto(served.address)
            expect(page.get_by_role("heading", name="Log in")).to_be_visible()
            page.goto(served.first_link)
            _add_a_site_with_the_keyboard(page, f"http://{HOSTS[0]}:{port}/")
            _watch_the_crawl(page, served)
            web.change()
            page.goto(f"{served.address}/live")
            page.get_by_role("button", name="Check all pages").press("Enter")
            _read_the_notification(page, served)
            assert problems == []
            _change_the_budget(page, served, collection)
            _log_out_and_in(page, served, collection)
            page.context.close()


def console_of(page: Page) -> list[str]:
    """Collect every message of the console."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


def _add_a_site_with_the_keyboard(page: Page, url: str) -> None:
    page.get_by_label("One or more URLs").focus()
    page.keyboard.type("not a url")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("'not' is not a URL")
    page.get_by_label("One or more URLs").fill(url)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="What to crawl")).to_be_visible(timeout=20_000)
    assert not violations(page)
    assert page.evaluate("document.activeElement.value") == "site"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Once")).to_be_checked()
    page.keyboard.press("Tab")
    expect(page.get_by_label("In a feed")).to_be_checked()
    page.get_by_role("button", name="Start").press("Enter")
    page.wait_for_url("**/live*")


def _read_the_notification(page: Page, served: Served) -> None:
    page.goto(f"{served.address}/alerts")
    for _ in range(60):
        page.reload()
        row = page.locator("tbody tr").first
        if int(row.locator("td.num").first.inner_text() or 0):
            break
        page.wait_for_timeout(250)
    name = row.locator("th").inner_text()
    feed = page.request.get(f"{served.address}/alert.atom", params={"name": name}).text()
    assert "the ferry sails at noon" in feed
    page.goto(f"{served.address}/changes")
    expect(page.get_by_text("the ferry sails at noon").first).to_be_visible()


def _watch_the_crawl(page: Page, served: Served) -> None:
    expect(page.locator("[data-live-visits] tr").nth(3)).to_be_visible(timeout=20_000)
    expect(page.locator("[data-live-state]")).to_have_text("A crawl is running.", timeout=20_000)
    expect(page.locator("[data-live-number=new]")).not_to_have_text("–", timeout=20_000)
    expect(page.get_by_text("left")).to_be_visible()
    page.get_by_role("button", name="Pause").press("Enter")
    expect(page.locator("[data-live-state]")).to_contain_text("Paused by")
    page.get_by_role("button", name="Resume").press("Enter")
    expect(page.locator("[data-live-state]")).to_have_text("A crawl is running.")
    _exclude_a_trap(page, served)
    page.goto(f"{served.address}/live")
    expect(page.locator("[data-live-state]")).to_have_text("No crawl is running.", timeout=30_000)
    expect(page.get_by_text("pages visited")).to_be_visible()
    page.goto(f"{served.address}/runs")
    expect(page.locator("tbody tr")).to_have_count(1)


def _exclude_a_trap(page: Page, served: Served) -> None:
    """While the crawl runs: it applies the rule without a restart."""
    page.goto(f"{served.address}/traps")
    page.get_by_label("Preview a rule", exact=True).fill("/ships/*")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Exclude").first.click()
    expect(page.get_by_role("status")).to_contain_text("/ships/* excluded")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def _change_the_budget(page: Page, served: Served, collection: Path) -> None:
    page.goto(f"{served.address}/settings")
    page.get_by_label("Find a setting").fill("revisit.budget")
    page.get_by_label("Find a setting").press("Enter")
    field = page.get_by_label("revisit.budget", exact=True)
    field.fill("240")
    field.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("revisit.budget set to 240")
    assert "budget = 240" in (collection / "collection.toml").read_text()


def _log_out_and_in(page: Page, served: Served, collection: Path) -> None:
    page.goto(f"{served.address}/access")
    page.get_by_label("New password").fill("correct horse battery")
    page.get_by_role("button", name="Set password and end all sessions").click()
    page.get_by_label("Password").fill("wrong horse")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("wrong password")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.get_by_role("button", name="Menu").press("Enter")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    auth = AuthStore(collection)
    assert {"add-sites", "start-crawl", "set-setting", "set-password", "log in"} <= {
        line.what for line in auth.audit_log()
    }
    auth.close()


def test_the_file_that_serve_opens_logs_in(browser: Browser, tmp_path: Path):
    """The key is not in the address that the browser is started with, and the strict cookie still arrives."""
    create_collection(tmp_path / "c.evercrawl", {"scope.seeds": ("https://harbour.example/",)})
    with serving(tmp_path / "c.evercrawl") as served:
        page = browser.new_context().new_page()
        page.goto(write_door(tmp_path, served.first_link).as_uri())
        page.wait_for_url(f"{served.address}/")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        page.close()
