"""Alerts with real processes: a receiver that is down, killed processes, mail and feeds."""

from __future__ import annotations

import hmac
import json
import os
import random
import signal
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email import message_from_string
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.collection.alerts.subscriptions import WebsubClient
from evercrawl.core.sitemap.websub_protocol import Subscription, SubscriptionPhase, write_subscription
from tests.e2e.test_cli import Place
from tests.postgres_server import PostgresServer
from tests.webhooks import verify_signature
from tests.worlds.demo_web import HOSTS, DemoWeb, Reply, serving

HOST = HOSTS[0]
PAGES = 14
DEADLINE_S = 60.0
ATOM = "{http://www.w3.org/2005/Atom}"


SYLLABLES = ("ba", "de", "fi", "go", "lu", "mar", "nes", "pol", "rit", "sun", "tor", "ven")


def own_words(number: int, edition: int) -> str:
    """Paragraphs that no other page has: the same edit, or one in the same place, on many pages would be
    taken for the template's.
    """
    draw = random.Random(1000 * edition + number)
    lines = (" ".join("".join(draw.choices(SYLLABLES, k=3)) for _ in range(20)) for _ in range(number + 3))
    return "".join(f"<p>{line}.</p>" for line in lines)


def page(number: int, edition: int) -> Reply:
    links = "".join(f'<a href="/p{other}">page {other} of the harbour</a> ' for other in range(PAGES))
    text = f"<h1>Page {number}, edition{edition}</h1>{own_words(number, edition)}"
    head = f"<!doctype html><html lang=en><title>Page {number}</title>"
    return Reply(200, f"{head}<body><main>{text}</main><nav>{links}</nav>")


class Receiver:
    """Takes webhooks on a port that stays the same; believes an id once."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.arrived: list[dict[str, Any]] = []
        self.ids: list[str] = []
        self.raw = 0
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def take(self, headers: dict[str, str], body: bytes) -> None:
        self.raw += 1
        if headers["idempotency-key"] not in self.ids:
            self.ids.append(headers["idempotency-key"])
            self.arrived.append(json.loads(body))
            self.headers.append(headers)
            self.bodies.append(body)

    @contextmanager
    def open(self) -> Iterator[None]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.take({name.lower(): value for name, value in self.headers.items()}, body)
                time.sleep(0.02)
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class Harbour(Place):
    """A site that the test rewrites, and quick alerts."""

    def __init__(self, folder: Path, web: DemoWeb, port: int) -> None:
        super().__init__(folder, web, port)
        self.env |= {
            "EVERCRAWL_ALERTS__CHECK_INTERVAL": "100ms",
            "EVERCRAWL_ALERTS__FIRST_RETRY_DELAY": "200ms",
            "EVERCRAWL_ALERTS__MAX_RETRY_DELAY": "500ms",
            "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
        }

    def put(self, edition: int) -> None:
        for number in range(PAGES):
            self.web.replies[HOST, f"/p{number}"] = page(number, edition)

    def lines(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call(*arguments, "--json", code=code).splitlines()]

    def urls(self) -> set[str]:
        return {f"{self.site}/p{number}" for number in range(PAGES)}


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Harbour]:
    web = DemoWeb()
    with serving(web) as port:
        place = Harbour(tmp_path, web, port)
        place.put(1)
        place.crawl(f"{place.site}/p0", "--include", r"/p\d")
        yield place


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)


def test_every_change_arrives_once_and_in_order_despite_kills(harbour: Harbour) -> None:
    receiver = Receiver()
    (added,) = harbour.lines("alert", "add", "all", "--webhook", receiver.url)
    harbour.put(2)
    harbour.crawl("--refresh")
    (status,) = harbour.lines("alert", "list")
    assert (status["pending"], status["sent"]) == (PAGES, 0)
    assert "cannot connect" in status["last_error"]

    process = harbour.start("alert", "run")
    tries = harbour.lines("alert", "log")[0]["attempts"]
    wait_for(lambda: harbour.lines("alert", "log")[0]["attempts"] > tries + 1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    kills = 0
    with receiver.open():
        while len(receiver.arrived) < PAGES:
            process = harbour.start("alert", "run")
            target = min(len(receiver.arrived) + 5, PAGES)
            wait_for(lambda target=target: len(receiver.arrived) >= target)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
        (status,) = harbour.lines("alert", "run", "--once")
    assert (status["pending"], status["sent"], status["last_error"]) == (0, PAGES, "")
    changes = [change for body in receiver.arrived for change in body["changes"]]
    assert {change["url"] for change in changes} == harbour.urls()
    assert len(changes) == PAGES
    assert [change["number"] for change in changes] == sorted(change["number"] for change in changes)
    assert receiver.raw - len(receiver.arrived) <= kills, "only what was on its way at a kill may come again"
    assert changes[0]["class"] == "content"
    assert changes[0]["edits"]
    for headers, body in zip(receiver.headers, receiver.bodies, strict=True):
        assert verify_signature(
            added["secret"],
            message_id=headers["webhook-id"],
            timestamp=headers["webhook-timestamp"],
            signatures=headers["webhook-signature"],
            body=body,
            now=datetime.now(UTC),
        )


def test_a_crawl_sends_alerts_and_a_feed_lists_the_changes(harbour: Harbour) -> None:
    feed = harbour.folder / "changes.xml"
    harbour.call("alert", "add", "feed", "--atom", str(feed), "--pattern", "*/p1*", "--min-size", "0.001")
    assert "sent" in harbour.call("alert", "test", "feed")
    assert ElementTree.fromstring(feed.read_bytes()).findall(f"{ATOM}entry") == []
    receiver = Receiver()
    with receiver.open():
        harbour.call("alert", "add", "words", "--webhook", receiver.url, "--query", "page edition2 -tram")
        harbour.call("alert", "add", "other", "--webhook", receiver.url, "--query", "tram")
        harbour.put(2)
        harbour.crawl("--refresh")
    told = {change["url"] for body in receiver.arrived for change in body["changes"]}
    assert told == harbour.urls()
    assert {body["alert"] for body in receiver.arrived} == {"words"}
    for body in receiver.arrived:
        (change,) = body["changes"]
        assert body["summary"] == change["summary"]
        assert change["summary"].startswith(f"{change['title']}: ")
        assert any(run[0] in "+-" for edit in change["edits"] for run in edit["words"])
    entries = ElementTree.fromstring(feed.read_bytes()).findall(f"{ATOM}entry")
    links = {entry.find(f"{ATOM}link").get("href") for entry in entries}  # type: ignore[union-attr]
    assert links == {url for url in harbour.urls() if "/p1" in url}
    assert len(entries) == len(links)


def test_a_collection_in_postgres_sends_the_same_alerts(tmp_path: Path, postgres: PostgresServer) -> None:
    web = DemoWeb()
    with serving(web) as port:
        place = Harbour(tmp_path, web, port)
        place.put(1)
        dsn = f"{postgres.dsn}?namespace={postgres.new_namespace()}"
        place.crawl(f"{place.site}/p0", "--include", r"/p\d", "--store", dsn)
        receiver = Receiver()
        with receiver.open():
            place.call("alert", "add", "all", "--webhook", receiver.url, "--query", "edition2", "--max-changes", "5")
            place.put(2)
            place.crawl("--refresh")
    changes = [change for body in receiver.arrived for change in body["changes"]]
    assert sorted(change["url"] for change in changes) == sorted(place.urls())
    assert receiver.raw == len(receiver.arrived) < PAGES


def test_sentiment_changes_and_pages_added_and_removed(harbour: Harbour) -> None:
    receiver = Receiver()
    good = "<p>What a wonderful, lovely and charming place. We loved every minute, a perfect day.</p>"
    bad = "<p>What a terrible, ugly and boring place. We hated every minute, an awful waste of a day.</p>"

    def put(number: int, text: str) -> None:
        body = f"<!doctype html><html lang=en><title>Page {number}</title><main>{text * 5}</main>"
        harbour.web.replies[HOST, f"/p{number}"] = Reply(200, body)

    put(4, good)
    harbour.crawl("--refresh")
    with receiver.open():
        harbour.call("alert", "add", "turn", "--webhook", receiver.url, "--sentiment-shift")
        kinds = ("--class", "new", "--class", "gone")
        harbour.call("alert", "add", "others", "--webhook", receiver.url, *kinds)
        put(4, bad)
        put(5, f'{own_words(5, 9)}<a href="/p77">a new page of the harbour</a>')
        put(77, own_words(77, 1))
        del harbour.web.replies[HOST, "/p6"]
        harbour.crawl("--refresh")
        harbour.crawl("--refresh")
    told = [(body["alert"], change) for body in receiver.arrived for change in body["changes"]]
    turns = [change for name, change in told if name == "turn"]
    assert [change["url"] for change in turns] == [f"{harbour.site}/p4"]
    assert turns[0]["sentiment"]["before"] > 0 > turns[0]["sentiment"]["after"]
    others = {(change["class"], change["url"]) for name, change in told if name == "others"}
    assert others == {("new", f"{harbour.site}/p77"), ("gone", f"{harbour.site}/p6")}


def test_a_websub_push_sends_alerts_within_seconds_also_after_a_kill(harbour: Harbour) -> None:
    collection = harbour.folder / "site.evercrawl"
    websub = WebsubClient(collection, harbour.settings(), callback=str)
    topic = f"{harbour.site}/p1"
    outbox = AlertOutbox(collection)
    subscription = Subscription("token", topic, "https://hub.example/", "secret", SubscriptionPhase.ACTIVE)
    outbox.put_subscription("token", topic, write_subscription(subscription))
    outbox.close()
    receiver = Receiver()
    harbour.call("alert", "add", "all", "--webhook", receiver.url)
    with receiver.open():
        for edition in (2, 3):
            process = harbour.start("watch", *harbour.flags)
            try:
                harbour.put(edition)
                signature = "sha256=" + hmac.new(b"secret", b"news", "sha256").hexdigest()
                assert websub.receive("token", {"x-hub-signature": signature}, b"news").status == 202
                wait_for(lambda edition=edition: len(receiver.arrived) == edition - 1)
            finally:
                os.kill(process.pid, signal.SIGKILL)
                process.communicate()
    changes = [change for body in receiver.arrived for change in body["changes"]]
    assert [(change["url"], change["version"]) for change in changes] == [(topic, 2), (topic, 3)]


class _Smtp(socketserver.StreamRequestHandler):
    """Just enough of RFC 5321 to take a mail."""

    def handle(self) -> None:
        taken: list[str] = self.server.taken  # type: ignore[attr-defined]
        self.wfile.write(b"220 mail.test\r\n")
        while line := self.rfile.readline():
            verb = line.split()[0].upper() if line.split() else b""
            if verb == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                taken.append(b"".join(lines).decode())
            self.wfile.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 mail.test\r\n")
            if verb == b"QUIT":
                return


def test_mail_is_sent_through_the_configured_server(harbour: Harbour) -> None:
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Smtp)
    server.taken = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    harbour.env |= {
        "EVERCRAWL_MAIL_PASSWORD": "unused without a user",
        "EVERCRAWL_ALERTS__MAIL_HOST": "127.0.0.1",
        "EVERCRAWL_ALERTS__MAIL_PORT": str(server.server_address[1]),
        "EVERCRAWL_ALERTS__MAIL_TLS": "off",
        "EVERCRAWL_ALERTS__MAIL_FROM": "crawler@example.org",
        "EVERCRAWL_WEB__PUBLIC_URL": "https://crawl.example.org",
    }
    try:
        harbour.call("alert", "add", "mail", "--mail", "you@example.org", "--page", f"{harbour.site}/p3")
        harbour.call("alert", "test", "mail")
        before = own_words(3, 1).partition(".")[0].removeprefix("<p>").split()
        word, after = before[9], "Überraschung"
        body = page(3, 1).body
        harbour.web.replies[HOST, "/p3"] = Reply(200, body.replace(f" {word} ", f" {after} ", 1))
        harbour.crawl("--refresh")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    test, told = (message_from_string(taken, policy=default) for taken in server.taken)  # type: ignore[attr-defined]
    assert test["Subject"] == "Test message of the alert mail"
    assert "The alert works" in test.get_body(("plain",)).get_content()
    assert told["Subject"] == f"Page 3: '{word}' became '{after}'"
    text, html = (told.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert text.splitlines()[0] == told["Subject"]
    assert f" {before[8]} *{word}* {before[10]} " in text
    assert f" {before[8]} *{after}* {before[10]} " in text
    assert f">{word}</del>" in html
    assert f">{after}</ins>" in html
    assert told["Message-ID"].startswith("<msg_")
    assert told["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    for link in ("/diff?url=", "/mute/", "/unsubscribe/"):
        assert f"https://crawl.example.org{link}" in text
        assert f"https://crawl.example.org{link}" in html
    (status,) = harbour.lines("alert", "list")
    assert (status["sent"], status["pending"]) == (1, 0)


def test_a_missing_mail_server_is_reported_at_once(harbour: Harbour) -> None:
    process = harbour.start("alert", "add", "mail", "--mail", "you@example.org")
    _, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0
    assert "cannot send yet: no mail server is set up\nrun: evercrawl config set alerts.mail_host" in err
    (status,) = harbour.lines("alert", "list")
    assert "no mail server" in status["problem"]
    assert "no mail server" in harbour.call("alert", "test", "mail", code=1)
    (doctor,) = harbour.lines("doctor")
    (check,) = (one for one in doctor["checks"] if one["name"] == "mail")
    assert (check["verdict"], "alerts need it: mail" in check["detail"]) == ("warn", True)
    harbour.call("alert", "pause", "mail")
    assert harbour.lines("alert", "list")[0]["paused"] is True
    harbour.call("alert", "resume", "mail")
    assert harbour.lines("alert", "list")[0]["paused"] is False
    template = harbour.folder / "subject.txt"
    template.write_text("{{ summary }}!")
    harbour.call("alert", "add", "own", "--mail", "you@example.org", "--template", f"subject=@{template}")
    assert harbour.lines("alert", "list")[1]["templates"] == {"subject": "{{ summary }}!"}


def test_invalid_alerts_are_clear_errors(harbour: Harbour) -> None:
    def refused(*arguments: str) -> str:
        process = harbour.start("alert", *arguments)
        _, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 2, err
        return err

    assert "--webhook, --mail" in refused("add", "x", "--page", harbour.site)
    assert "is not a URL" in refused("add", "x", "--webhook", "nonsense")
    assert "mail address" in refused("add", "x", "--mail", "nobody")
    assert "no alert 'x'" in refused("test", "x")
    assert "'sumary' is undefined" in refused("add", "x", "--mail", "a@b.example", "--template", "text={{ sumary }}")
    assert "subject=, text=" in refused("add", "x", "--mail", "a@b.example", "--template", "title=x")
    assert "cannot be read" in refused("add", "x", "--mail", "a@b.example", "--template", "text=@/nowhere")
    harbour.env["EVERCRAWL_HTTP__ALLOW_PRIVATE"] = "false"
    assert "loopback" in refused("add", "x", "--webhook", "http://127.0.0.1:9/")
    assert "secret" in refused("add", "x", "--webhook", "https://example.org/", "--secret", "short")
    harbour.call("alert", "add", "x", "--webhook", "https://example.org/")
    assert "the alert 'x' exists; change it with --replace" in refused("add", "x", "--webhook", "https://example.org/")
    harbour.call("alert", "add", "x", "--webhook", "http://localhost:9/", "--replace")
    (test,) = harbour.lines("alert", "test", "x", code=1)
    assert "loopback" in test["detail"]
    harbour.call("alert", "remove", "x")
    assert harbour.lines("alert", "list") == []
    assert (harbour.folder / "site.evercrawl" / "alerts.sqlite").stat().st_mode & 0o077 == 0
