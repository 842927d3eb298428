"""WebSub end to end: a site with its hub behind TLS, `evercrawl serve --crawl`, and a forger."""

from __future__ import annotations

import hmac
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode

import httpx
import pytest

from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.config import create_collection
from evercrawl.core.sitemap.websub_protocol import SubscriptionPhase, read_subscription, write_subscription
from tests.command_server import run_command
from tests.e2e.certificates import Authority
from tests.web.chromium import Served, serving

HOST = "news.example"
TOKEN = "a token of the websub test"
LEASE_S = 3600
DEADLINE_S = 40.0


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


class Newsroom:
    """A small site, its feed, and its hub."""

    def __init__(self) -> None:
        self.articles = 1
        self.asked: list[str] = []
        self.callback = ""
        self.secret = ""
        self.modes: list[str] = []
        self.answers: list[str] = []
        self.origin = ""

    def page(self, path: str) -> tuple[int, str, str]:
        self.asked.append(path)
        if path == "/feed":
            return 200, "application/atom+xml", self.feed()
        if path == "/":
            return 200, "text/html", "<title>News</title><p>All the news.<a href='/feed'>feed</a>"
        if path.startswith("/news/") and int(path[6:]) <= self.articles:
            return 200, "text/html", f"<title>Article {path[6:]}</title><p>What happened in {path}."
        return 404, "text/plain", "no"

    def feed(self) -> str:
        entries = "".join(
            f'<entry><id>{self.origin}/news/{n}</id><link href="{self.origin}/news/{n}"/></entry>'
            for n in range(self.articles, 0, -1)
        )
        return (
            f'<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="{self.origin}/hub"/>'
            f'<link rel="self" href="{self.origin}/feed"/>{entries}</feed>'
        )

    def subscribe(self, form: dict[str, str]) -> None:
        """As a hub does: answer first, then check that the subscriber meant it."""
        self.modes.append(form["hub.mode"])
        self.callback, self.secret = form["hub.callback"], form.get("hub.secret", self.secret)
        threading.Thread(target=self._verify, args=(form,)).start()

    def _verify(self, form: dict[str, str]) -> None:
        query = {"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": "c-17"}
        answer = httpx.get(f"{form['hub.callback']}?{urlencode(query | {'hub.lease_seconds': LEASE_S})}")
        self.answers.append(f"{answer.status_code} {answer.text}")

    def publish(self, *, secret: str | None = None) -> int:
        """Tell of the feed as it is now; gives the subscriber's answer."""
        body = self.feed().encode()
        signature = hmac.new((secret or self.secret).encode(), body, "sha256").hexdigest()
        headers = {"X-Hub-Signature": f"sha256={signature}", "Content-Type": "application/atom+xml"}
        return httpx.post(self.callback, content=body, headers=headers).status_code


@contextmanager
def published(news: Newsroom, authority: Authority) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, text = news.page(self.path)
            self._send(status, kind, text.encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            news.subscribe({name: values[0] for name, values in parse_qs(body).items()})
            self._send(202, "text/plain", b"")

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = authority.server(HOST).wrap_socket(server.socket, server_side=True)
    news.origin = f"https://{HOST}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def _served(collection: Path, env: dict[str, str], *flags: str) -> Iterator[tuple[Served, httpx.Client]]:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    public = ("--port", str(port), "--replay-port", "0", "--public-url", f"http://127.0.0.1:{port}")
    with serving(collection, *public, "--token", TOKEN, *flags, env=env) as served:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=f"{served.address}/api/v1", headers=bearer, timeout=20) as client:
            yield served, client


@pytest.fixture
def news(tmp_path: Path) -> Iterator[tuple[Newsroom, Path, dict[str, str]]]:
    newsroom, authority = Newsroom(), Authority(tmp_path)
    with published(newsroom, authority) as port:
        collection = tmp_path / "news.evercrawl"
        create_collection(collection, {"scope.seeds": (f"{newsroom.origin}/",)})
        env = {
            "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
            "EVERCRAWL_HTTP__RESOLVE": f"{HOST}:{port}:127.0.0.1",
            "EVERCRAWL_HTTP__CA_FILE": str(authority.ca_file),
            "EVERCRAWL_PACE__MODE": "unlimited",
            "EVERCRAWL_IDENTITY__CONTACT": "ops@example.org",
        }
        yield newsroom, collection, env


def _only(client: httpx.Client) -> dict[str, object]:
    (found,) = client.get("/subscriptions").json()["subscriptions"]
    return found


def test_a_websub_push_causes_a_visit(news: tuple[Newsroom, Path, dict[str, str]]):
    newsroom, collection, env = news
    with _served(collection, env, "--crawl") as (served, client):
        answer = client.post("/subscriptions", json={"url": f"{newsroom.origin}/feed"})
        assert answer.status_code == 202, answer.text
        wait_for(lambda: newsroom.answers == ["200 c-17"])
        found = _only(client)
        assert (found["phase"], found["signed"]) == ("active", True)
        assert newsroom.secret not in client.get("/subscriptions").text
        assert newsroom.callback.rpartition("/")[2] not in client.get("/subscriptions").text

        newsroom.articles = 2
        assert newsroom.publish(secret="a guess") == 202, "who forges learns nothing"
        assert httpx.post(f"{served.address}/websub/guess", content=b"x").status_code == 404
        article = f"/pages/{quote(f'{newsroom.origin}/news/2', safe='')}"
        assert client.get(article).status_code == 404
        newsroom.asked.clear()
        assert newsroom.publish() == 202
        wait_for(lambda: "/news/2" in newsroom.asked)
        wait_for(lambda: client.get(article).status_code == 200)
        assert newsroom.asked.count("/news/2") == 1

        assert client.delete(f"/subscriptions/{quote(f'{newsroom.origin}/feed', safe='')}").status_code == 202
        wait_for(lambda: newsroom.answers == ["200 c-17", "200 c-17"])
        assert newsroom.modes == ["subscribe", "unsubscribe"]
        assert newsroom.publish() == 410
        assert _only(client)["phase"] == "ending"


def test_a_subscription_is_renewed_and_pushes_wait_for_a_crawl(news: tuple[Newsroom, Path, dict[str, str]]):
    newsroom, collection, env = news
    with _served(collection, env) as (_, client):
        client.post("/subscriptions", json={"url": f"{newsroom.origin}/feed"})
        wait_for(lambda: newsroom.answers == ["200 c-17"])
        assert newsroom.publish() == 202
        found = client.get("/subscriptions").json()
        assert found["pending"] == 1
        assert f"{newsroom.origin}/news/1" in found["announcements"][0]["urls"]
        assert found["announcements"][0]["by"] == f"WebSub {newsroom.origin}/hub"
    with closing(AlertOutbox(collection)) as outbox:
        ((token, stored),) = outbox.subscriptions().items()
        subscription = read_subscription(stored)
        assert subscription.phase is SubscriptionPhase.ACTIVE
        soon = subscription._replace(until_us=int((time.time() + 60) * 1e6))
        outbox.put_subscription(token, soon.topic, write_subscription(soon))
    with _served(collection, env) as (_, client):
        wait_for(lambda: newsroom.answers == ["200 c-17"] * 2)
        assert newsroom.modes == ["subscribe", "subscribe"]
        with closing(AlertOutbox(collection)) as outbox:
            renewed = read_subscription(outbox.subscriptions()[token])
        assert renewed.until_us is not None
        assert renewed.until_us > (time.time() + LEASE_S / 2) * 1e6


def test_the_command_subscribes_through_the_running_server(news: tuple[Newsroom, Path, dict[str, str]]):
    newsroom, collection, env = news
    feed = f"{newsroom.origin}/feed"

    def hub(*arguments: str, code: int = 0) -> list[dict[str, object]]:
        done = run_command("-C", str(collection), "websub", *arguments, "--json", env=os.environ | env)
        assert done.returncode == code, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    assert hub("list") == []
    with _served(collection, env) as (served, client):
        public = ("--public-url", served.address)
        (asked,) = hub("subscribe", feed, *public)
        assert (asked["topic"], asked["hub"]) == (feed, f"{newsroom.origin}/hub")
        wait_for(lambda: newsroom.answers == ["200 c-17"])
        (listed,) = hub("list")
        assert (listed["phase"], listed["signed"]) == ("active", True)
        assert _only(client)["until"] is not None
        assert not {"token", "secret"} & set(listed)
        assert hub("unsubscribe", f"{feed}/other", *public, code=1) == [
            {"schema": "evercrawl.websub-unsubscribe/1", "topic": f"{feed}/other", "done": False}
        ]
        hub("unsubscribe", feed, *public)
        wait_for(lambda: newsroom.answers == ["200 c-17"] * 2)
        assert hub("list")[0]["phase"] == "ending"
    hub("subscribe", f"{newsroom.origin}/", *public, code=2)
    hub("subscribe", feed, "--public-url", "crawl.example", code=2)
    hub("subscribe", feed, code=2)
    assert newsroom.modes == ["subscribe", "unsubscribe"]


def test_without_a_public_url_nothing_is_subscribed(news: tuple[Newsroom, Path, dict[str, str]]):
    newsroom, collection, env = news
    with serving(collection, "--token", TOKEN, env=env) as served:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        answer = httpx.post(
            f"{served.address}/api/v1/subscriptions", json={"url": f"{newsroom.origin}/feed"}, headers=bearer
        )
        assert answer.status_code == 409
    assert newsroom.modes == []
