from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

from evercrawl.collection.alerts.sender import ChannelSender, OutgoingMessage, require_apprise
from evercrawl.core.alerts.delivery import AlertMessage, DeliveryAttempt
from evercrawl.core.alerts.message_format import format_secret
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, EventKind, PendingEvent
from evercrawl.model.settings import AlertSettings, HttpSettings, Settings

SETTINGS = Settings(
    http=HttpSettings(allow_private=True), alerts=AlertSettings(delivery_timeout=timedelta(milliseconds=400))
)
EVENT = Event(0, 1, 1, "https://example.org/", EventKind.CONTENT, 0.5, 1_790_000_000_000_000, 2, "Home\r\nBcc: x@y")
EVENTS = (PendingEvent(1, EVENT.at_us, EVENT),)
NOW = datetime(2026, 11, 15, tzinfo=UTC)


@dataclass
class Receiver:
    url: str = ""
    paths: list[str] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Answers with the status in the path; /slow waits, /moved redirects to /200."""
    known = Receiver()

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            known.paths.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/slow":
                time.sleep(0.8)
            self.send_response({"/slow": 200, "/moved": 307}.get(self.path) or int(self.path[1:]))
            self.send_header("Location", "/200")
            self.send_header("Retry-After", "90")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    known.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield known
    server.shutdown()
    server.server_close()
    thread.join()


def outgoing(channel: Channel, address: str, events: tuple[PendingEvent, ...] = EVENTS) -> OutgoingMessage:
    secret = format_secret(bytes(24)) if channel is Channel.WEBHOOK else None
    alert = Alert("a", AlertFilter(), Destination(channel, address, secret))
    return OutgoingMessage(alert, AlertMessage("msg_1", "a", EVENT.at_us, tries=1), events, events, "uid")


def sent(one: OutgoingMessage, settings: Settings = SETTINGS) -> DeliveryAttempt:
    async def send() -> DeliveryAttempt:
        senders = ChannelSender(settings, collection="c", env={})
        try:
            return await senders.send(one, now=NOW)
        finally:
            await senders.close()

    return asyncio.run(send())


@pytest.mark.parametrize(
    ("path", "is_delivered"),
    [("/200", True), ("/204", True), ("/moved", False), ("/404", False), ("/410", False), ("/500", False)],
)
def test_only_2xx_is_delivered_and_redirects_are_not_followed(
    receiver: Receiver, path: str, is_delivered: bool
) -> None:
    attempt = sent(outgoing(Channel.WEBHOOK, receiver.url + path))
    assert attempt.is_delivered is is_delivered
    assert attempt.retry_after == timedelta(seconds=90)
    assert receiver.paths == [path]


def test_a_slow_a_missing_and_a_private_receiver_are_failures(receiver: Receiver) -> None:
    assert "within" in sent(outgoing(Channel.WEBHOOK, f"{receiver.url}/slow")).detail
    assert "cannot connect" in sent(outgoing(Channel.WEBHOOK, "http://127.0.0.1:1/")).detail
    guarded = replace(SETTINGS, http=HttpSettings())
    refused = sent(outgoing(Channel.WEBHOOK, f"{receiver.url}/200"), guarded)
    assert not refused.is_delivered
    assert "loopback" in refused.detail
    assert receiver.paths == ["/slow"]


def test_a_feed_is_the_same_however_often_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "feed.xml"
    assert sent(outgoing(Channel.ATOM, str(path))).is_delivered
    first = path.read_bytes()
    assert sent(outgoing(Channel.ATOM, str(path))).is_delivered
    assert sent(outgoing(Channel.ATOM, str(path), events=())).is_delivered, "a test leaves what is there"
    assert path.read_bytes() == first
    missing = sent(outgoing(Channel.ATOM, str(tmp_path / "none" / "feed.xml")))
    assert not missing.is_delivered
    assert "cannot be written" in missing.detail


def test_apprise_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(ConfigError, match="extra apprise"):
        require_apprise()
    assert not sent(outgoing(Channel.APPRISE, "tgram://x")).is_delivered

    told: list[tuple[str, str]] = []

    class Apprise:
        def add(self, address: str) -> bool:
            return address.startswith("tgram:")

        def notify(self, *, title: str, body: str) -> bool:
            told.append((title, body))
            return True

    stand_in = ModuleType("apprise")
    stand_in.Apprise = Apprise  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "apprise", stand_in)
    assert sent(outgoing(Channel.APPRISE, "tgram://x")).is_delivered
    assert "does not understand" in sent(outgoing(Channel.APPRISE, "nonsense://x")).detail
    assert len(told) == 1
