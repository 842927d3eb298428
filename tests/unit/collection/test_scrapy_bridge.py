"""The parts of the bridge to Scrapy that need no Scrapy: stored answers, and responses that become versions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import evercrawl
from evercrawl.adapters.system import CollectionLock
from evercrawl.collection.scrapy_bridge import CollectionMiddleware, ResponseRecorder, StoredResponses
from evercrawl.errors import ConfigError
from tests.unit.collection.exchange.archives import SITE, collection_of, day, html, response

PAGE = html("Ferry", "Adults pay 12 euros for the ferry across the lake.")
SENT = [("Content-Type", "text/html"), ("Set-Cookie", "id=secret"), ("X-Odd", "a\r\nb: c")]


def test_requests_are_answered_with_what_is_stored(tmp_path: Path):
    head = "Content-Type: text/html\r\nContent-Length: 5\r\nETag: x"
    collection = collection_of(tmp_path, response(SITE + "/a", day(0), PAGE, head=head))
    found = StoredResponses(collection).find(SITE + "/a", now=day(3))
    assert found is not None
    assert (found.status, found.body) == (200, PAGE)
    assert [name for name, _ in found.headers] == ["Content-Type", "ETag"]
    assert StoredResponses(collection).find(SITE + "/b", now=day(3)) is None
    aged = StoredResponses(collection, max_age=timedelta(days=2))
    assert aged.find(SITE + "/a", now=day(1)) is not None
    assert aged.find(SITE + "/a", now=day(3)) is None


def test_responses_become_versions_without_their_cookies(tmp_path: Path):
    collection = evercrawl.open(tmp_path / "c.evercrawl", create=True)
    recorder = ResponseRecorder(collection)
    assert recorder.add(SITE + "/a#top", 200, SENT, PAGE, at=day(0))
    assert not recorder.add(SITE + "/robots.txt", 200, SENT, b"", at=day(0))
    assert not recorder.add("data:text/html,x", 200, SENT, b"x", at=day(0))
    assert recorder.add(SITE + "/gone", 404, SENT, b"", at=day(0))
    assert recorder.close() == "2 responses: 1 versions, 1 unchanged"
    shown = collection.show(SITE + "/a")
    assert shown.html == PAGE
    assert ("X-Odd", "a b: c") in shown.headers
    assert b"secret" not in shown.raw
    assert ResponseRecorder(collection).close() == "no new response"


def test_responses_are_kept_while_a_crawl_holds_the_collection(tmp_path: Path):
    collection = evercrawl.open(tmp_path / "c.evercrawl", create=True)
    recorder = ResponseRecorder(collection)
    recorder.add(SITE + "/a", 200, SENT, PAGE, at=datetime.now(UTC))
    with CollectionLock(collection.path):
        message = recorder.close()
    assert "import the responses later" in message
    (kept,) = tmp_path.glob("scrapy-*.warc.gz")
    assert collection.import_("warc", [kept]).versions == 1


def test_settings_are_checked():
    for settings in ({}, {"EVERCRAWL_COLLECTION": "x", "EVERCRAWL_MODE": "all"}):
        with pytest.raises(ConfigError, match="EVERCRAWL"):
            CollectionMiddleware(settings)
