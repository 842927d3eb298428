"""Whatever sends a request refuses private addresses: written in the URL, from a name server, after a redirect.
A server on loopback proves that nothing arrives."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from evercrawl.adapters.guarded_apprise import NOT_SENT
from evercrawl.adapters.http import dns
from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.system import SystemClock
from evercrawl.collection.agent_tools import AgentTools
from evercrawl.collection.alerts.sender import ChannelSender, OutgoingMessage
from evercrawl.collection.alerts.subscriptions import WebsubClient
from evercrawl.collection.collection import Collection
from evercrawl.collection.doctor import _fetch_robots
from evercrawl.collection.site_logins import LoginTarget, read_form
from evercrawl.collection.site_preview import preview_site
from evercrawl.collection.sitemap import announce_urls, survey_sitemap
from evercrawl.collection.urls import fetch_text
from evercrawl.config import create_collection
from evercrawl.core.alerts.delivery import AlertMessage
from evercrawl.core.alerts.message_format import format_secret
from evercrawl.core.sitemap.websub_protocol import Subscription, SubscriptionPhase
from evercrawl.core.url import canonical
from evercrawl.errors import EvercrawlError
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination
from evercrawl.model.credentials import ProxyServer
from evercrawl.model.fetch import Request
from evercrawl.model.settings import CrawlSettings, DnsSettings, HttpSettings, PaceSettings, Settings, WebSettings
from tests.e2e.dns_server import name_server
from tests.e2e.proxies import PASSWORD, USER, LoggingProxy

PUBLIC = "127.0.0.2"  # Stands for a public address; all of 127.0.0.0/8 is this machine.
CALLBACK = "https://crawl.example.org/websub/{}"
Send = Callable[[Settings, str, Path], Awaitable[object]]


async def send_webhook(settings: Settings, url: str, folder: Path) -> object:
    sender = ChannelSender(settings, collection="c", env={})
    alert = Alert("a", AlertFilter(), Destination(Channel.WEBHOOK, url, format_secret(bytes(24))))
    message = AlertMessage("msg_1", "a", 1_790_000_000_000_000, tries=1)
    try:
        return await sender.send(OutgoingMessage(alert, message, (), (), "uid"), now=datetime.now(UTC))
    finally:
        await sender.close()


async def read_feed(settings: Settings, url: str, folder: Path) -> object:
    return await WebsubClient(folder, settings, callback=CALLBACK.format).subscribe(url)


async def ask_hub(settings: Settings, url: str, folder: Path) -> object:
    client = WebsubClient(folder, settings, callback=CALLBACK.format)
    wanted = Subscription("token", "https://example.org/feed", url, "secret", SubscriptionPhase.REQUESTED)
    return await client._send_request(wanted)


async def announce(settings: Settings, url: str, folder: Path) -> object:
    pages = ["https://example.org/a"]
    return await announce_urls(pages, settings, key="k" * 16, key_location=None, endpoint=url)


async def read_key_file(settings: Settings, url: str, folder: Path) -> object:
    return await fetch_text(url, settings, max_bytes=1000)


async def audit(settings: Settings, url: str, folder: Path) -> object:
    return await survey_sitemap(url, settings, sample=0, offline=False, on_request=lambda _: None)


async def preview(settings: Settings, url: str, folder: Path) -> object:
    return await preview_site(url, settings, on_request=lambda _: None)


async def check_robots(settings: Settings, url: str, folder: Path) -> object:
    return await _fetch_robots(url, settings)


async def read_login_form(settings: Settings, url: str, folder: Path) -> object:
    return await read_form(url, LoginTarget(folder, settings))


async def crawl(settings: Settings, url: str, folder: Path) -> object:
    return await Collection(folder, settings).crawl(urls=[url], refresh=True)


async def fetch_for_agent(settings: Settings, url: str, folder: Path) -> object:
    known = replace(settings, scope=replace(settings.scope, seeds=(url,)))
    return await AgentTools(Collection(folder, known), frozenset({"fetch"})).fetch_page(url)


def through_proxy(kind: str) -> Send:
    """Fetch through a proxy that goes wherever it is asked to."""

    async def fetch(settings: Settings, url: str, folder: Path) -> object:
        proxy = LoggingProxy(kind)
        async with await asyncio.start_server(proxy.handle, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            fetcher = HttpFetcher(
                settings, SystemClock(), "test", proxy_of=lambda _: ProxyServer(kind, "127.0.0.1", port, USER, PASSWORD)
            )
            try:
                return await fetcher.fetch(Request(canonical(url) or url))
            finally:
                await fetcher.close()

    return fetch


FEATURES: dict[str, Send] = {
    "crawl": crawl,
    "fetch of an agent": fetch_for_agent,
    "webhook": send_webhook,
    "WebSub feed": read_feed,
    "WebSub hub": ask_hub,
    "IndexNow": announce,
    "key file": read_key_file,
    "sitemap audit": audit,
    "preview of a site": preview,
    "robots.txt of doctor": check_robots,
    "login form": read_login_form,
    "HTTP proxy": through_proxy("http"),
    "SOCKS proxy": through_proxy("socks5"),
}


@contextmanager
def serving(address: str, location: str | None = None, port: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Answer everything with an empty page, or with a redirect; yield the port and the paths asked for."""
    seen: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def answer(self) -> None:
            seen.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.send_response(200 if location is None else 307)
            if location is not None:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = do_HEAD = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer((address, port), Answer) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1], seen
        server.shutdown()
        thread.join()


def settings_for(*servers: str) -> Settings:
    moment = timedelta(milliseconds=500)
    return Settings(
        crawl=CrawlSettings(idle_timeout=moment, retry_timeout=moment, max_time=timedelta(seconds=5)),
        http=HttpSettings(connect_timeout=moment, first_byte_timeout=moment, total_timeout=timedelta(seconds=2)),
        dns=DnsSettings(servers=servers, min_ttl=timedelta(milliseconds=1), max_ttl=timedelta(milliseconds=1)),
        pace=PaceSettings(mode="unlimited"),
        web=WebSettings(public_url="https://crawl.example.org"),
    )


def try_sending(send: Send, settings: Settings, url: str, folder: Path) -> None:
    async def job() -> None:
        try:
            await send(settings, url, folder)
        except EvercrawlError:
            pass

    asyncio.run(job())


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    create_collection(tmp_path / "c.evercrawl")
    return tmp_path / "c.evercrawl"


@pytest.fixture
def public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one address of this machine count as public."""
    true = dns.address_refusal
    monkeypatch.setattr(dns, "address_refusal", lambda ip: None if ip == PUBLIC else true(ip))


@pytest.mark.parametrize("feature", FEATURES)
def test_no_feature_reaches_an_address_inside(feature: str, collection: Path) -> None:
    hosts = (
        "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "0x7f.1",
        "2130706433", "0.0.0.0", "[fe80::1%25lo]", "127.1",
    )  # fmt: skip
    with serving("127.0.0.1") as (port, seen):
        for host in hosts:
            try_sending(FEATURES[feature], settings_for(), f"http://{host}:{port}/x", collection)
        assert seen == []
        open_door = replace(settings_for(), http=replace(settings_for().http, allow_private=True))
        create_collection(collection.with_name("open.evercrawl"))
        try_sending(FEATURES[feature], open_door, f"http://127.0.0.1:{port}/x", collection.with_name("open.evercrawl"))
        assert seen, "the server would have seen it"


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.usefixtures("public_address")
def test_no_feature_follows_a_name_inside(feature: str, collection: Path) -> None:
    """The names resolve to private addresses at once, in another form, beside a public one, or at the second look."""

    async def job(port: int) -> None:
        answers = {
            "inside.test": [["127.0.0.1"]],
            "mixed.test": [["127.0.0.1", PUBLIC]],
            "mapped.test": [["::ffff:127.0.0.1"]],
            "turned.test": [[PUBLIC], ["127.0.0.1"]],
        }
        async with name_server(answers, ttl=0) as server:
            for name in ("inside.test", "mapped.test", "mixed.test", "turned.test", "turned.test"):
                try:
                    url = f"http://{name}:{port}/x"
                    await FEATURES[feature](settings_for(server.address), url, collection)
                except EvercrawlError:
                    pass
            assert server.asked["turned.test"] >= 2

    with serving("127.0.0.1") as (port, seen):
        asyncio.run(job(port))
        assert seen == []


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.usefixtures("public_address")
def test_no_feature_follows_a_redirect_inside(feature: str, collection: Path) -> None:
    with (
        serving("127.0.0.1") as (port, seen),
        serving(PUBLIC, f"http://127.0.0.1:{port}/inside") as (public_port, asked),
    ):
        try_sending(FEATURES[feature], settings_for(), f"http://{PUBLIC}:{public_port}/x", collection)
        assert asked, "it reached the public server"
        assert seen == []


LINK_HEADER = "<{i}/hub>; rel=hub, <{i}/self>; rel=self, <{i}/preload>; rel=preload; as=script, <{i}/next>; rel=next"
HTML = """<!doctype html><html manifest={i}/manifest><title>A page that names machines inside</title>
<link rel=stylesheet href={i}/style.css><link rel=icon href={i}/icon><link rel=canonical href={i}/canonical>
<link rel=alternate type=application/rss+xml href={i}/feed><link rel=alternate hreflang=de href={i}/de>
<link rel=search type=application/opensearchdescription+xml href={i}/search><link rel=hub href={i}/hub>
<link rel=alternate type=application/json+oembed href={i}/oembed><link rel=sitemap href={i}/map.xml>
<link rel=alternate type=text/markdown href={i}/page.md><link rel=stylesheet href=/style.css>
<meta name=tdm-policy content={i}/policy><meta property=og:image content={i}/og.png>
<style>@import url({i}/import.css); body {{ background: url({i}/image) }}</style>
<body background={i}/back><p>Enough words to be a page with a text of its own, which a crawler stores.</p>
<a href={i}/link>a</a> <a href=/moved>b</a> <a href=/feed.xml>c</a> <a href=/refresh>d</a> <a href={n}/name>e</a>
<img src={i}/img srcset="{i}/2x 2x" data-src={i}/lazy><iframe src={i}/frame></iframe><script src={i}/script.js></script>
<video src={i}/video poster={i}/poster></video><form action={i}/form><button>Load more</button></form>
<script type=application/ld+json>{{"@context": "{i}/context", "@type": "Article", "url": "{i}/ld"}}</script>
<script>fetch("{i}/fetch"); fetch("/moved"); new Image().src = "{i}/js"; import("{i}/module")</script>"""
FILES = {
    "/": ("text/html", HTML),
    "/robots.txt": (
        "text/plain",
        "User-agent: *\nAllow: /\nSitemap: {i}/sitemap.xml\nSitemap: {n}/sitemap.xml\n"
        "Sitemap: /moved\nSitemap: {p}/index.xml\n",
    ),
    "/index.xml": (
        "application/xml",
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>{i}/inner.xml</loc></sitemap>"
        "<sitemap><loc>{p}/sitemap.xml</loc></sitemap></sitemapindex>",
    ),
    "/sitemap.xml": (
        "application/xml",
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{i}/listed</loc></url></urlset>",
    ),
    "/feed.xml": (
        "application/rss+xml",
        "<rss version='2.0' xmlns:a='http://www.w3.org/2005/Atom'><channel><title>t</title><link>{i}/home</link>"
        "<a:link rel='hub' href='{i}/hub'/><a:link rel='next' href='{i}/older'/><cloud domain='127.0.0.1'/>"
        "<item><title>x</title><link>{i}/item</link><enclosure url='{i}/file' type='audio/mpeg'/></item>"
        "</channel></rss>",
    ),
    "/refresh": (
        "text/html",
        "<meta http-equiv=refresh content='0; url={i}/refresh'><p>Words of a page that moves on.",
    ),
    "/style.css": (
        "text/css",
        "@import '{i}/css'; p {{ background: url({i}/background) }} @font-face {{ src: url({i}/font) }}",
    ),
}


@contextmanager
def hostile_site(inside: str, name: str) -> Iterator[tuple[str, list[str]]]:
    """A public site whose pages, files and header fields name machines inside; yield its URL and the paths asked."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            words = {"i": inside, "n": name, "p": f"http://{PUBLIC}:{self.server.server_address[1]}"}
            kind, text = FILES.get(self.path, ("text/plain", ""))
            body = text.format(**words).encode()
            self.send_response(302 if self.path == "/moved" else 200 if self.path in FILES else 404)
            for field, value in (("Location", inside + "/moved"), ("Refresh", f"0; url={inside}/header")):
                if self.path == {"Location": "/moved", "Refresh": "/refresh"}[field]:
                    self.send_header(field, value)
            self.send_header("Link", LINK_HEADER.format(**words))
            self.send_header("Content-Location", f"{inside}/location")
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer((PUBLIC, 0), Answer) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://{PUBLIC}:{server.server_address[1]}/", asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.usefixtures("public_address")
def test_a_crawl_asks_nothing_of_what_a_site_names_inside(mode: str, tmp_path: Path) -> None:
    """Links, assets, sitemaps, feeds, hubs and scripts in a browser: the crawl knows them, and none is requested."""

    async def job(port: int) -> None:
        async with name_server({"turned.test": [[PUBLIC], ["127.0.0.1"]]}, ttl=0) as server:
            limits = settings_for(server.address)
            settings = replace(
                limits,
                crawl=CrawlSettings(idle_timeout=timedelta(seconds=2), max_time=timedelta(seconds=60)),
                http=replace(limits.http, total_timeout=timedelta(seconds=30)),
                scope=replace(limits.scope, kind="list", seeds=(site, f"{inside}/seed")),
                assets=replace(limits.assets, enabled=True),
                render=replace(limits.render, mode=mode),
            )
            for _ in range(2):
                found = await Collection(folder, settings).crawl(refresh=True)
            assert found.fetched >= 1

    folder = tmp_path / "c.evercrawl"
    create_collection(folder)
    with serving("127.0.0.1") as (port, seen):
        inside, name = f"http://127.0.0.1:{port}", f"http://turned.test:{port}"
        with hostile_site(inside, name) as (site, asked):
            asyncio.run(job(port))
            assert {"/", "/robots.txt", "/index.xml", "/sitemap.xml", "/style.css", "/moved"} <= set(asked)
        assert seen == []


GUARDED_APPRISE = f"""
import sys
from evercrawl.adapters import guarded_apprise as guarded
true = guarded.address_refusal
guarded.address_refusal = lambda ip: None if ip == {PUBLIC!r} else true(ip)
sys.exit(guarded.main())
"""


def test_apprise_follows_no_redirect_inside() -> None:
    with (
        serving("127.0.0.1") as (port, seen),
        serving(PUBLIC, f"http://127.0.0.1:{port}/inside") as (public_port, asked),
    ):
        message = json.dumps([f"json://{PUBLIC}:{public_port}/x", "title", "text", False])
        command = [sys.executable, "-P", "-c", GUARDED_APPRISE]
        done = subprocess.run(command, input=message, capture_output=True, text=True, timeout=120)
        assert done.returncode == NOT_SENT, done.stderr
        assert asked, "it reached the public server"
        assert seen == []
        assert "127.0.0.1 is a loopback address" in done.stdout
