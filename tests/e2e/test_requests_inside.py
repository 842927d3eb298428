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
from evercrawl.collection.alerts.sender import ChannelSender, OutgoingMessage
from evercrawl.collection.alerts.subscriptions import WebsubClient
from evercrawl.collection.doctor import _fetch_robots
from evercrawl.collection.site_logins import LoginTarget, read_form
from evercrawl.collection.site_preview import preview_site
from evercrawl.collection.sitemap import announce_urls, survey_sitemap
from evercrawl.collection.urls import fetch_text
from evercrawl.config import create_collection
from evercrawl.core.alerts.delivery import AlertMessage
from evercrawl.core.alerts.message_format import format_secret
from evercrawl.core.sitemap.websub_protocol import Subscription, SubscriptionPhase
from evercrawl.errors import EvercrawlError
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination
from evercrawl.model.settings import DnsSettings, HttpSettings, PaceSettings, Settings, WebSettings
from tests.e2e.dns_server import name_server

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


FEATURES: dict[str, Send] = {
    "webhook": send_webhook,
    "WebSub feed": read_feed,
    "WebSub hub": ask_hub,
    "IndexNow": announce,
    "key file": read_key_file,
    "sitemap audit": audit,
    "preview of a site": preview,
    "robots.txt of doctor": check_robots,
    "login form": read_login_form,
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
        try_sending(FEATURES[feature], open_door, f"http://127.0.0.1:{port}/x", collection)
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
