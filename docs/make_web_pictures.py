"""Draws docs/images/web/*.png: every page of `evercrawl serve` on a collection with two months of history.

    PYTHONPATH=. python docs/make_web_pictures.py [FOLDER]

FOLDER keeps the collection for the next call. The sites are made up, time is virtual, the rest is real:
engine, store, archive, server, browser.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from picture_world import SEEDS, CoastWeb
from playwright.sync_api import Browser
from tests.web.chromium import chromium, serving
from tests.web.history_fixture import create_history

from evercrawl.cluster.run_requests import request_visits
from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.core.alerts.html_message import MessageLinks
from evercrawl.core.alerts.message_format import MessageContent, html_text
from evercrawl.core.sitemap.websub_protocol import Subscription, SubscriptionPhase, write_subscription
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination

PICTURES = Path(__file__).resolve().parent / "images" / "web"
PAGE = quote("https://harbour.example/ferry", safe="")
RUNS = (0.2, 0.2, 0.2, 0.2, 0.18, 0.02)  # The last one visits every page.
SITE = quote("https://harbour.example", safe="")
PATHS = {
    "overview": "/",
    "add": "/add",
    "live": "/live",
    "changes": "/changes",
    "search": "/search?q=ticket",
    "sites": "/sites",
    "site": f"/site?name={SITE}&limit=8",
    "load": f"/load?name={SITE}",
    "frontier": "/frontier?limit=12",
    "skipped": "/skipped",
    "why": f"/why?url={PAGE}",
    "page": f"/page?url={PAGE}",
    "diff": f"/diff?url={PAGE}",
    "replay": f"/show?url={PAGE}",
    "traps": "/traps?preview=/planning/*",
    "links": f"/links?url={PAGE}",
    "alerts": "/alerts?name=museum&patterns=https://museum.example/*&query=tickets&channel=atom&frequency=daily",
    "alert": "/alert?name=ferry",
    "websub": "/websub",
    "cluster": "/cluster",
    "outposts": "/outposts",
    "runs": "/runs",
    "remove": f"/remove?kind=page&name={PAGE}",
    "removals": "/removals",
    "backups": "/backups",
    "storage": "/storage",
    "export": "/export",
    "mail": "/mail",
    "link-problems": "/link-problems",
    "orphans": "/orphans",
    "graph": "/graph?site=harbour.example",
    "plan": "/plan?budget=100/day",
    "sitemap-check": "/sitemap-check",
    "settings": "/settings",
    "access": "/access",
    "api": "/api",
}
WIDTH, MAX_HEIGHT = 1200, 1500
MAIL_CHANGES = 3
TELLING_MS = 8000
"""How long the server may take to tell the alert what happened."""


def main(folder: str | None = None) -> None:
    """Make the collection if it is not there, serve it, and take a picture of every page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        collection = Path(folder or made) / "coast.evercrawl"
        if not collection.exists():
            create_history(collection, web=CoastWeb, seeds=SEEDS, runs=RUNS)
            arrange(collection)
        with serving(collection) as served, chromium() as browser:
            _take(browser, served.address, served.first_link)
            _take_mail(browser, collection)


def arrange(collection: Path) -> None:
    """An alert that tells of the whole past, a subscription at a hub, and an announcement."""
    subject = AlertFilter(patterns=("https://harbour.example/*",), query="ferry OR berths OR boats")
    (collection / "feeds").mkdir()
    target = Destination(Channel.ATOM, str((collection / "feeds" / "ferry.xml").absolute()))
    topic = "https://council.example/minutes"
    held = Subscription("token", topic, "https://hub.example/", "secret", SubscriptionPhase.ACTIVE)
    now_us = int(time.time() * 1e6)
    held = held._replace(requested_us=now_us, until_us=now_us + 864_000_000_000, lease_s=864_000)
    with closing(AlertOutbox(collection)) as outbox:
        outbox.put(Alert("ferry", subject, target, max_changes=20), now_us=0, ends={})
        outbox.put_subscription("token", topic, write_subscription(held))
    request_visits(collection, [topic, "https://council.example/planning"], by="WebSub https://hub.example/")


def _take(browser: Browser, address: str, link: str) -> None:
    context = browser.new_context(viewport={"width": WIDTH, "height": 800}, device_scale_factor=1)
    page = context.new_page()
    page.goto(link)
    page.wait_for_timeout(TELLING_MS)
    page.goto(f"{address}/backups")
    page.get_by_role("button", name="Make a backup").click()
    page.get_by_role("link", name="Download").first.wait_for()
    page.goto(f"{address}/storage")
    page.get_by_role("button", name="Verify all versions").click()
    page.get_by_text("all readable").first.wait_for()
    for name, path in PATHS.items():
        page.goto(address + path)
        page.wait_for_timeout(400)
        tall = min(MAX_HEIGHT, page.evaluate("document.documentElement.scrollHeight"))
        page.set_viewport_size({"width": WIDTH, "height": tall})
        page.screenshot(path=str(PICTURES / f"{name}.png"))
        page.set_viewport_size({"width": WIDTH, "height": 800})
    state = context.storage_state()
    for name, options, shown in (
        ("overview-dark", {"color_scheme": "dark", "viewport": {"width": WIDTH, "height": 1200}}, "overview"),
        ("overview-narrow", {"viewport": {"width": 390, "height": 1200}}, "overview"),
        ("changes-narrow", {"viewport": {"width": 390, "height": 1200}}, "changes"),
        ("remove-narrow", {"viewport": {"width": 390, "height": 1000}}, "remove"),
        ("settings-narrow", {"viewport": {"width": 390, "height": 1000}, "color_scheme": "dark"}, "settings"),
        ("diff-narrow", {"viewport": {"width": 390, "height": 1200}}, "diff"),
    ):
        other = browser.new_context(storage_state=state, **options).new_page()
        other.goto(address + PATHS[shown])
        other.screenshot(path=str(PICTURES / f"{name}.png"))
    stranger = browser.new_context(viewport={"width": WIDTH, "height": 600}).new_page()
    stranger.goto(address)
    stranger.screenshot(path=str(PICTURES / "login.png"))


def _take_mail(browser: Browser, collection: Path) -> None:
    """A mail with the newest changes that the alert told."""
    with closing(AlertOutbox(collection)) as outbox:
        (known,) = outbox.alerts()
        told = outbox.newest_events(known.id, upto=2**62, limit=MAIL_CHANGES)
    links = MessageLinks(collection.name, known.alert.name, "https://crawl.example.org")
    page = browser.new_context(viewport={"width": 760, "height": 400}).new_page()
    page.set_content(html_text(MessageContent(known.alert, told, links)))
    page.screenshot(path=str(PICTURES / "mail.png"), full_page=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
