from __future__ import annotations

import asyncio
import hashlib
import hmac
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from evercrawl.collection.alerts.subscriptions import WebsubClient
from evercrawl.core.sitemap.websub_protocol import Subscription, SubscriptionPhase
from evercrawl.errors import ConfigError
from evercrawl.model.settings import HttpSettings, Settings

SETTINGS = Settings(http=HttpSettings(allow_private=True))


class Place:
    """A feed and its hub on one port; the hub calls back during the request, as some do."""

    def __init__(self) -> None:
        self.forms: list[dict[str, str]] = []
        self.websub: WebsubClient | None = None
        self.url = ""

    def feed(self) -> bytes:
        return (
            f'<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="{self.url}/hub"/>'
            f'<link rel="self" href="{self.url}/feed"/><entry><link href="{self.url}/news/1"/></entry></feed>'
        ).encode()

    def asked(self, form: dict[str, str]) -> None:
        self.forms.append(form)
        assert self.websub is not None
        token = form["hub.callback"].rpartition("/")[2]
        query = {"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": "42"}
        reply = self.websub.answer_challenge(token, query | {"hub.lease_seconds": "3600"})
        assert reply == (200, "42")


@contextmanager
def serving(place: Place) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = place.feed() if self.path == "/feed" else b"<p>nothing"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            place.asked({name: values[0] for name, values in parse_qs(body).items()})
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    place.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_subscribe_verify_receive_and_end(tmp_path: Path) -> None:
    heard: list[tuple[list[str], str]] = []

    def queue(urls: Sequence[str], by: str) -> None:
        heard.append((list(urls), by))

    place = Place()
    with serving(place):
        websub = WebsubClient(
            tmp_path, SETTINGS, callback=lambda token: f"https://me.example/websub/{token}", request=queue
        )
        place.websub = websub
        asyncio.run(websub.subscribe(f"{place.url}/feed"))
        (subscription,) = websub.subscriptions()
        assert subscription.phase is SubscriptionPhase.ACTIVE, "what the hub said while it was asked is not lost"
        assert place.forms[0]["hub.topic"] == f"{place.url}/feed"
        assert asyncio.run(websub.renew()) == 0

        assert websub.receive(subscription.token, {"content-type": "application/atom+xml"}, place.feed()) == (202, "")
        # The hub has no TLS and so no secret: anybody could have sent the body, and only the topic is visited.
        assert heard == [([f"{place.url}/feed"], f"WebSub {place.url}/hub")]
        assert websub.receive("another", {}, b"") == (404, "")
        assert websub.answer_challenge("another", {}) == (404, "")

        assert asyncio.run(websub.unsubscribe(f"{place.url}/feed"))
        assert place.forms[1]["hub.mode"] == "unsubscribe"
        assert websub.receive(subscription.token, {}, b"") == (410, "")
        assert len(heard) == 1
        with pytest.raises(ConfigError, match="rel=hub"):
            asyncio.run(websub.subscribe(f"{place.url}/other"))


def test_an_unsigned_notification_is_acknowledged_and_ignored(tmp_path: Path) -> None:
    heard: list[Sequence[str]] = []
    websub = WebsubClient(tmp_path, SETTINGS, callback=str, request=lambda urls, _: heard.append(urls))
    subscription = Subscription(
        "t", "https://example.org/feed", "https://hub.example/", "secret", SubscriptionPhase.ACTIVE
    )
    websub._store(subscription)
    good = "sha256=" + hmac.new(b"secret", b"body", hashlib.sha256).hexdigest()
    assert websub.receive("t", {"x-hub-signature": "sha256=00"}, b"body").status == 202
    assert websub.receive("t", {}, b"body").status == 202
    assert heard == []
    assert websub.receive("t", {"x-hub-signature": good}, b"body").status == 202
    assert heard == [["https://example.org/feed"]]
    websub._store(subscription._replace(secret=None, phase=SubscriptionPhase.REQUESTED))
    websub.receive("t", {}, b"body")
    assert len(heard) == 1, "without a secret only a hub that was verified is heard"
