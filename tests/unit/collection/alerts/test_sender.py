from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evercrawl.adapters.guarded_apprise import EventGuard, send_by_apprise
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


def test_apprise_sends_from_a_process_of_its_own(receiver: Receiver) -> None:
    address = receiver.url.replace("http:", "json:")
    assert sent(outgoing(Channel.APPRISE, f"{address}/200")).is_delivered
    assert "does not understand" in sent(outgoing(Channel.APPRISE, "nonsense://x")).detail
    assert receiver.paths == ["/200"]


def test_apprise_reaches_nothing_private_and_reads_no_files(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    guarded = replace(SETTINGS, http=HttpSettings())
    refused = sent(outgoing(Channel.APPRISE, f"{receiver.url.replace('http:', 'json:')}/200"), guarded)
    assert "loopback" in refused.detail
    (tmp_path / "secret.json").write_text('{"content": "x"}')
    for wanted in (f"{receiver.url}/template", str(tmp_path / "secret.json")):
        address = f"discord://1111111111/2222222222?template={wanted}"
        assert re.search("not allowed|single", sent(outgoing(Channel.APPRISE, address), guarded).detail)
        with pytest.raises(ConfigError, match=r"loopback|may not read"):  # Also if the list of options misses one.
            send_by_apprise(address, "title", "text", allow_private=False, timeout=timedelta(minutes=2))
    assert receiver.paths == []


def test_apprise_that_cannot_be_run_is_told_from_a_message_that_was_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apprise.py").write_text("raise RuntimeError('broken install')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ConfigError, match="broken install"):
        send_by_apprise("json://example.org", "title", "text", allow_private=False, timeout=timedelta(minutes=2))


@pytest.mark.parametrize(
    "target",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "fe80::1%eth0",
     "64:ff9b::7f00:1", "inside.example"],
)  # fmt: skip
def test_every_connection_of_a_plug_in_is_checked_whatever_led_to_it(target: str) -> None:
    """A redirect or a second answer of a name server ends in a connection to an address like these."""
    guard = EventGuard(("/usr/lib/python",))
    assert guard.refusal("socket.connect", (None, (target, 80))) is not None
    assert guard.refusal("socket.sendto", (None, (target, 80))) is not None
    assert guard.refusal("socket.connect", (None, ("8.8.8.8", 443))) is None
    assert guard.refusal("socket.connect", (None, "/run/docker.sock")) is not None


def test_a_plug_in_starts_and_writes_nothing(tmp_path: Path) -> None:
    link = tmp_path / "packages" / "link"
    link.parent.mkdir()
    link.symlink_to("/etc/passwd")
    guard = EventGuard((str(link.parent.resolve()),), code_folders=(str(tmp_path.resolve()),))
    read, write = ("r", os.O_RDONLY), ("w", os.O_WRONLY | os.O_CREAT)
    assert guard.refusal("subprocess.Popen", ("sh", [], None, None)) is not None
    assert guard.refusal("open", (str(link), *read)) is not None
    assert guard.refusal("open", (str(link.parent / "module.py"), *read)) is None
    assert guard.refusal("open", (str(link.parent / "module.py"), *write)) is not None
    assert guard.refusal("open", (str(tmp_path / "module.py"), *read)) is None
    assert guard.refusal("open", (str(tmp_path / "notes.txt"), *read)) is not None
