"""An independent Memento client (by the authors of RFC 7089) reads a served collection."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from memento_client import MementoClient

from tests.command_server import run_command
from tests.web.chromium import Served, serving

CALM = "Words that stay the same, so that there is a text. " * 8


class Site:
    """A page in two editions; it is still there, for the client asks the original first."""

    def __init__(self) -> None:
        self.edition = 1

    def page(self, path: str) -> tuple[int, bytes]:
        if path not in ("/", "/tides"):
            return 404, b"no such page"
        text = f"<title>Tides</title><p>High water of edition {self.edition}.<p>{CALM}<a href='/tides'>tides</a>"
        return 200, text.encode()


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[Site, str]]:
    kept = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = kept.page(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield kept, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def served(site: tuple[Site, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    kept, address = site
    collection = tmp_path_factory.mktemp("memento") / "tides.evercrawl"
    command = ["-C", str(collection), "crawl", "--allow-private", "-q"]
    run_command(*command, f"{address}/").check_returncode()
    time.sleep(1.1)  # mementos are distinct only by the second
    kept.edition = 2
    run_command(*command, "--refresh").check_returncode()
    with serving(collection, "--public-archive") as found:
        yield found


@pytest.fixture
def client(served: Served) -> Iterator[MementoClient]:
    with MementoClient(timegate_uri=f"{served.address}/web/", check_native_timegate=False) as found:
        yield found


def _utc(moment: datetime) -> datetime:
    """The client reads naive moments as UTC."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def test_the_memento_client_finds_the_version_at_a_time(client: MementoClient, site: tuple[Site, str]):
    url = f"{site[1]}/tides"
    now = datetime.now(UTC)
    newest = client.get_memento_info(url, _utc(now))["mementos"]
    oldest = client.get_memento_info(url, _utc(now - timedelta(days=300)))["mementos"]
    assert newest["closest"]["http_status_code"] == oldest["closest"]["http_status_code"] == 200
    assert newest["closest"]["uri"] == newest["last"]["uri"] == oldest["last"]["uri"]
    assert oldest["closest"]["uri"] == oldest["first"]["uri"] == newest["prev"]["uri"]
    assert oldest["next"]["uri"] == newest["closest"]["uri"]
    assert newest["closest"]["datetime"] > oldest["closest"]["datetime"]
    between = oldest["closest"]["datetime"] + timedelta(milliseconds=300)
    assert client.get_memento_info(url, between)["mementos"]["closest"]["uri"] == oldest["closest"]["uri"]
    for edition, found in ((1, oldest), (2, newest)):
        assert f"edition {edition}." in httpx.get(found["closest"]["uri"][0]).text


def test_the_memento_client_recognises_the_archive(client: MementoClient, served: Served, site: tuple[Site, str]):
    url = f"{site[1]}/tides"
    memento = client.get_memento_info(url, _utc(datetime.now(UTC)))["mementos"]["closest"]["uri"][0]
    assert MementoClient.is_memento(memento)
    assert MementoClient.is_timegate(f"{served.address}/web/{url}")
    assert not MementoClient.is_memento(url)
    assert client.get_original_uri(memento) == url
    assert client.get_memento_info(memento, _utc(datetime.now(UTC)))["original_uri"] == url


def test_cdx_is_paged(served: Served, site: tuple[Site, str]):
    """What cdx_toolkit asks: how many portions, then each with page=, until one is empty."""
    asked = {"url": f"{site[1]}/*", "output": "json", "limit": "1000"}
    counted = httpx.get(f"{served.address}/cdx", params={**asked, "showNumPages": "true"}).json()
    assert counted == {"pages": 1, "pageSize": 5, "blocks": 1}
    lines = [httpx.get(f"{served.address}/cdx", params={**asked, "page": page}).text.splitlines() for page in (0, 1)]
    assert len(lines[0]) == 4
    assert lines[1] == []
    line = json.loads(lines[0][0])
    quoted = line["url"].replace(":", "%3A")
    raw = httpx.get(f"{served.replay}/web/{line['timestamp']}id_/{quoted}")
    assert raw.status_code == 200
    assert b"edition 1." in raw.content
    expression = httpx.get(f"{served.address}/cdx", params={**asked, "filter": "~url:(a+)+$"})
    assert expression.status_code == 403, "nobody who is unknown may keep us busy"
