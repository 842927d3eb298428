"""Sitemaps for site owners with real servers, real commands and a real crawl."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evercrawl.collection.collection import open as open_collection
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.model.sitemap import SitemapType
from evercrawl.sitemaps.folder_pages import FolderRules
from evercrawl.sitemaps.generator import BuildReport, SitemapTarget, build_from_folder
from tests.command_server import run_command, start_command
from tests.e2e.moved_clock import HTML, collection_of, served_site
from tests.programs import find_program

HOST = "owner.test"
PAGES = 14
DEADLINE_S = 60

WSGI_APPLICATION = """
import sys
from pathlib import Path
from evercrawl.sitemaps.middleware import StaticFileApp
from evercrawl.sitemaps.middleware import WsgiSitemapMiddleware

FOLDER = Path({folder!r})
files = WsgiSitemapMiddleware(StaticFileApp(FOLDER), FOLDER)

def application(environ, start_response):
    query = environ.get("QUERY_STRING")
    with open({log!r}, "a") as log:
        log.write(environ["PATH_INFO"] + ("?" + query if query else "") + "\\n")
    return files(environ, start_response)
"""

ASGI_APPLICATION = """
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from evercrawl.sitemaps.middleware import AsgiSitemapMiddleware

site = Starlette(routes=[Mount("/", StaticFiles(directory={folder!r}, html=True))])
wrapped = AsgiSitemapMiddleware(site, {folder!r})

async def application(scope, receive, send):
    if scope["type"] == "http":
        query = scope["query_string"].decode()
        with open({log!r}, "a") as log:
            log.write(scope["path"] + ("?" + query if query else "") + "\\n")
    await wrapped(scope, receive, send)
"""


class Owner:
    """A site in a folder with its server, and the commands of its owner and of a crawler."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "public"
        self.site.mkdir()
        self.log = folder / "asked.log"
        self.port = free_port()
        self.base = f"http://{HOST}:{self.port}/"
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        home = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        self.env = keep | home | {"EVERCRAWL_CONTACT": "test@example.org"}
        self.flags = ["--pace", "own", "--allow-private", "--resolve", f"{HOST}:{self.port}:127.0.0.1"]

    def put(self, number: int, news: str = "first") -> None:
        links = "".join(f'<li><a href="/p{other}.html">page {other}</a></li>' for other in range(PAGES - 1))
        words = " ".join(f"word{number}x{place}" for place in range(30))
        text = f"<title>Page {number}</title><main><p>{words}</p><p>The {news} edition of it.</p></main>"
        name = "index.html" if number < 0 else f"p{number}.html"
        (self.site / name).write_text(f"<!doctype html>{text}<nav>{links}</nav>")

    def call(self, *arguments: str, code: int = 0) -> str:
        done = run_command(*arguments, cwd=self.folder, env=self.env, timeout=DEADLINE_S)
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout

    def json(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.call(*arguments, "--json", code=code).splitlines()[-1])
        return found

    def build(self, *arguments: str) -> dict[str, Any]:
        return self.json("sitemap", "build", "public", "--base-url", self.base, *arguments)

    def crawl(self, *urls: str) -> dict[str, Any]:
        return self.json("-C", "copy.evercrawl", "crawl", *urls, *self.flags)

    def asked(self) -> list[str]:
        """Return the pages requested since the last call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.write_text("")
        return sorted(line for line in lines if not line.startswith(("/robots.txt", "/sitemap")))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    """Create a site whose pages were written an hour apart, since equal dates are an issue."""
    made = Owner(tmp_path)
    for number in range(-1, PAGES - 1):
        made.put(number)
    for hours, file in enumerate(sorted(made.site.glob("*.html")), start=1):
        written = time.time() - 3600 * hours
        os.utime(file, (written, written))
    return made


@contextmanager
def running(owner: Owner, command: list[str]) -> Iterator[None]:
    env = owner.env | {"PYTHONPATH": os.pathsep.join([str(owner.folder), os.environ.get("PYTHONPATH", "")])}
    with (owner.folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=owner.folder, env=env, stdout=log, stderr=log)
        try:
            wait_for(owner.port, process)
            yield
        finally:
            process.terminate()
            process.wait(timeout=DEADLINE_S)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


@contextmanager
def gunicorn(owner: Owner) -> Iterator[None]:
    source = WSGI_APPLICATION.format(folder=str(owner.site), log=str(owner.log))
    (owner.folder / "wsgi_site.py").write_text(source)
    address = f"127.0.0.1:{owner.port}"
    command = [sys.executable, "-m", "gunicorn", "-b", address, "--threads", "4", "wsgi_site:application"]
    with running(owner, command):
        yield


@contextmanager
def uvicorn(owner: Owner) -> Iterator[None]:
    source = ASGI_APPLICATION.format(folder=str(owner.site), log=str(owner.log))
    (owner.folder / "asgi_site.py").write_text(source)
    command = [sys.executable, "-m", "uvicorn", "--port", str(owner.port), "asgi_site:application"]
    with running(owner, command):
        yield


GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "for-site-owners.md"
NGINX = """daemon off; {user} pid {folder}/nginx.pid; error_log {folder}/nginx-errors.log;
events {{}}
http {{
  types {{ text/html html; application/xml xml; }}
  access_log off; gzip_vary on;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; root {folder}/public; {blocks} }}
}}
"""


def guide_block(language: str, mark: str) -> str:
    """Return the guide's example in this language that contains these words."""
    found = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return str(next(block for block in found if mark in block))


@contextmanager
def nginx(owner: Owner) -> Iterator[None]:
    """Run nginx with the configuration from the guide."""
    program = find_program("nginx", package="nginx-light")
    blocks = guide_block("nginx", "sitemap")
    user = "user root;" if os.geteuid() == 0 else ""
    (owner.folder / "nginx.conf").write_text(
        NGINX.format(user=user, folder=owner.folder, port=owner.port, blocks=blocks)
    )
    errors = str(owner.folder / "nginx-errors.log")
    with running(owner, [program, "-p", str(owner.folder), "-c", "nginx.conf", "-e", errors]):
        yield


SERVERS = {"gunicorn": gunicorn, "uvicorn": uvicorn}


def ask(port: int, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    try:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=fields)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("server", SERVERS)
def test_a_middleware_in_a_real_server(owner: Owner, server: str) -> None:
    owner.build()
    with SERVERS[server](owner):
        status, headers, body = ask(owner.port, "GET", "/sitemap.xml?XTND")
        found = read_sitemap(body, owner.base)
        assert (status, found.type, len(found.entries)) == (200, SitemapType.EXTENDED, PAGES)
        assert found.entries[0].text == "Page -1"
        etag, date = headers["etag"], headers["last-modified"]
        assert ask(owner.port, "GET", "/sitemap.xml?XTND", If_None_Match=etag)[::2] == (304, b"")
        assert ask(owner.port, "GET", "/sitemap.xml?XTND", If_Modified_Since=date)[0] == 304
        status, fields, empty = ask(owner.port, "HEAD", "/sitemap.xml?XTND")
        assert (status, empty, fields["content-length"]) == (200, b"", str(len(body)))
        _, fields, packed = ask(owner.port, "GET", "/sitemap.xml?XTND", Accept_Encoding="gzip")
        assert (fields["content-encoding"], gzip.decompress(packed)) == ("gzip", body)
        standard = read_sitemap(ask(owner.port, "GET", "/sitemap.xml")[2], owner.base)
        assert standard.type is SitemapType.URLSET
        assert ask(owner.port, "GET", "/")[0] == 200
        assert ask(owner.port, "GET", "/nothing.xml")[0] == 404


@pytest.mark.parametrize("server", SERVERS)
def test_the_crawler_fetches_what_the_sitemap_announces(owner: Owner, server: str) -> None:
    """Paper C with both ends: first every page, then exactly the new and changed ones."""
    owner.build()
    with SERVERS[server](owner):
        first = owner.crawl(owner.base)
        assert (first["new"], len(owner.asked())) == (PAGES, PAGES)
        for number in (2, 5, 7):
            owner.put(number, f"corrected {'x' * number}")
        owner.put(PAGES - 1)
        (owner.site / "p1.html").touch()
        report = owner.build()
        assert report["changed"] == [f"{owner.base}p{number}.html" for number in (2, 5, 7)]
        assert report["added"] == [f"{owner.base}p{PAGES - 1}.html"]
        second = owner.crawl()
        assert owner.asked() == sorted(f"/p{number}.html" for number in (2, 5, 7, PAGES - 1))
        assert (second["new"], second["changed"]) == (1, 3)
        owner.build()
        assert owner.crawl()["changed"] == 0
        assert owner.asked() == []


def test_a_large_site_has_an_extended_index(owner: Owner) -> None:
    """Beyond the limits of one file, `?XTND` returns an index, and the crawler reads its parts."""

    def build() -> BuildReport:
        target = SitemapTarget(owner.site, owner.base, owner.folder / "state.jsonl", max_urls=4)
        return build_from_folder(owner.site, FolderRules(owner.base), target)

    (owner.site / "robots.txt").write_text(f"User-agent: *\nSitemap: {owner.base}sitemap.xml\n")
    assert "sitemap-extended-4.xml.gz" in build().files
    with gunicorn(owner):
        assert owner.crawl(owner.base)["new"] == PAGES
        owner.asked()
        owner.put(9, "corrected")
        owner.put(PAGES - 1)
        report = build()
        assert (len(report.changed), len(report.added)) == (1, 1)
        second = owner.crawl()
        read = {line for line in owner.log.read_text().splitlines() if line.startswith("/sitemap")}
    assert all("XTND" in line or "extended" in line for line in read), "the standard one is not needed"
    # Sorted by name, p13 and p9 are in the second and fourth part; the other parts did not change.
    assert sum(line.endswith(".gz") for line in read) == 2
    assert owner.asked() == sorted(f"/p{number}.html" for number in (9, PAGES - 1))
    assert (second["new"], second["changed"]) == (1, 1)


def test_build_a_sitemap_from_python(owner: Owner) -> None:
    owner.build()
    with gunicorn(owner):
        owner.crawl(owner.base)
    with open_collection(owner.folder / "copy.evercrawl") as collection:
        report = collection.build_sitemap(owner.folder, state=owner.folder / "made.jsonl")
        assert (report.pages, report.is_first) == (PAGES, True)
        assert collection.build_sitemap(owner.folder, state=owner.folder / "made.jsonl").added == ()


def test_the_guides_nginx_configuration(owner: Owner) -> None:
    owner.build("--gzip")
    with nginx(owner):
        for path, kind in (
            ("/sitemap.xml", SitemapType.URLSET),
            ("/sitemap.xml?XTND", SitemapType.EXTENDED),
            ("/sitemap.xml?a=b&xtnd=1", SitemapType.EXTENDED),
            ("/sitemap.xml?XTNDED", SitemapType.URLSET),
        ):
            status, headers, body = ask(owner.port, "GET", path)
            assert (status, read_sitemap(body, owner.base).type) == (200, kind), path
            assert ask(owner.port, "GET", path, If_None_Match=headers["etag"])[0] == 304
            _, fields, packed = ask(owner.port, "GET", path, Accept_Encoding="gzip")
            assert (fields["content-encoding"], gzip.decompress(packed)) == ("gzip", body)


@pytest.mark.parametrize("framework", ["django", "flask", "starlette"])
def test_the_guides_python_examples(owner: Owner, framework: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace Django and Flask by a plain WSGI application."""
    owner.build()

    def wsgi(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        return [b"own"]

    class Flask:
        def __init__(self, name: str) -> None:
            self.wsgi_app = wsgi

    django, flask = ModuleType("django.core.wsgi"), ModuleType("flask")
    django.get_wsgi_application = lambda: wsgi  # type: ignore[attr-defined]
    flask.Flask = Flask  # type: ignore[attr-defined]
    for name in ("django", "django.core"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "django.core.wsgi", django)
    monkeypatch.setitem(sys.modules, "flask", flask)
    names: dict[str, Any] = {"__name__": "site"}
    exec(guide_block("python", f"from {framework}").replace("/srv/sitemaps", str(owner.site)), names)
    if framework == "starlette":
        assert callable(names["app"])
        return
    application = names["application"] if framework == "django" else names["app"].wsgi_app
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/sitemap.xml", "QUERY_STRING": "XTND"}
    assert b"<EXTENDED_SITEMAP>" in b"".join(application(environ, lambda *_: None))
    assert application({"REQUEST_METHOD": "GET", "PATH_INFO": "/"}, lambda *_: None) == [b"own"]


def test_serve_and_check_and_build_from_the_web(owner: Owner) -> None:
    owner.put(3, 'hidden <meta name="robots" content="noindex">')
    owner.build()
    served = ["sitemap", "serve", "public", "--port", str(owner.port), "-q"]
    with running(owner, [sys.executable, "-m", "evercrawl", *served]):
        assert owner.json("sitemap", "check", owner.base, *owner.flags)["findings"] == []
        (owner.site / "p4.html").unlink()
        owner.put(PAGES - 1)
        with (owner.site / "index.html").open("a") as front:
            front.write(f'<p><a href="/p{PAGES - 1}.html">new</a></p>')
        os.utime(owner.site / "p6.html", (1_500_000_000, 1_500_000_000))
        report = owner.json("sitemap", "check", owner.base, *owner.flags, code=1)
        issues = {one["issue"]: one for one in report["findings"]}
        assert {"dead", "missing", "false_dates"} <= set(issues)
        assert issues["dead"]["examples"] == [{"url": f"{owner.base}p4.html", "detail": "status 404"}]
        assert issues["missing"]["examples"][0]["url"] == f"{owner.base}p{PAGES - 1}.html"
        assert issues["false_dates"]["examples"][0]["url"] == f"{owner.base}p6.html"
        assert report["score"] < 80

        made = ["sitemap", "build", owner.base, "-C", "made.evercrawl"]
        built = owner.json(*made, *owner.flags)
        # p4 is gone, p3 is noindex, and one page is new.
        assert built["pages"] == PAGES - 1
        listed = (owner.folder / "made.evercrawl" / "sitemap" / "sitemap.xml").read_text()
        assert f"<loc>{owner.base}p6.html</loc><lastmod>2017-07-14T02:40:00Z</lastmod>" in listed
        again = owner.json("sitemap", "build", "-C", "made.evercrawl")
        assert (again["added"], again["changed"], again["removed"], again["written"]) == ([], [], [], [])
    owner.call("sitemap", "check", owner.base, *owner.flags, code=4)
    owner.call("sitemap", "check", owner.base, "--resolve", f"{HOST}:{owner.port}:127.0.0.1", code=2)
    assert owner.json("sitemap", "check", "public/sitemap.xml", "--offline")["requests"] == 0


def test_history_disproves_false_dates(owner: Owner) -> None:
    """A sitemap that claims changes which the collection can disprove."""
    owner.build()
    with gunicorn(owner):
        owner.crawl(owner.base)
        time.sleep(1.1)
        listed = (owner.site / "sitemap.xml").read_text()
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lied = re.sub(r"<lastmod>[^<]*", f"<lastmod>{now}", listed)
        (owner.site / "sitemap.xml").write_text(lied)
        for path in owner.site.glob("*.html"):
            path.touch()
        time.sleep(1.1)
        report = owner.json("-C", "copy.evercrawl", "sitemap", "check", owner.base, *owner.flags, code=1)
    issues = {one["issue"]: one for one in report["findings"]}
    assert {"false_dates", "equal_dates"} <= set(issues)
    assert issues["false_dates"]["count"] == PAGES
    assert "the page was the same" in issues["false_dates"]["examples"][0]["detail"]


def test_a_check_respects_crawl_delay_and_robots(owner: Owner) -> None:
    (owner.site / "robots.txt").write_text("User-agent: *\nDisallow: /p5\nCrawl-delay: 0.4\n")
    owner.build()
    listed = (owner.site / "sitemap.xml").read_text()
    bad = f"<url><loc>{owner.base}p5.html</loc></url></urlset>"
    (owner.site / "sitemap.xml").write_text(listed.replace("</urlset>", bad))
    with gunicorn(owner):
        began = time.monotonic()
        report = owner.json("sitemap", "check", owner.base, *owner.flags, "--sample", "4")
        took = time.monotonic() - began
    asked = owner.asked()
    assert "/p5.html" not in asked
    assert took >= 0.4 * (report["requests"] - 1)
    assert {one["issue"] for one in report["findings"]} == {"disallowed", "no_dates"}


class Search:
    """A fake IndexNow service."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.got: list[tuple[str, dict[str, Any]]] = []


@contextmanager
def listening(search: Search) -> Iterator[str]:
    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            search.got.append((self.headers["Content-Type"], json.loads(body)))
            self.send_response(search.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/indexnow"
    finally:
        server.shutdown()
        server.server_close()


def test_ping_submits_the_changes_of_a_build(owner: Owner) -> None:
    key = owner.call("sitemap", "ping", "--make-key", "public").strip()
    assert (owner.site / f"{key}.txt").read_text() == key
    owner.build()
    owner.put(2, "second")
    (owner.folder / "news.json").write_text(json.dumps(owner.build()))
    ping = ["sitemap", "ping", "--from", "news.json", "--key-file", f"public/{key}.txt"]
    search = Search(202)
    with listening(search) as endpoint:
        done = owner.json(*ping, "--endpoint", endpoint, "--allow-private")
        assert done["announced"] == 1
        kind, document = search.got[0]
        assert kind == "application/json; charset=utf-8"
        assert document["urlList"] == [f"{owner.base}p2.html"]
        assert (document["host"], document["key"]) == (f"{HOST}:{owner.port}", key)
        assert document["keyLocation"] == f"{owner.base}{key}.txt"
        search.status = 403
        refused = owner.json(*ping, "--endpoint", endpoint, "--allow-private", code=1)
        assert "key" in refused["requests"][0]["meaning"]
        owner.call(*ping, "--endpoint", endpoint, code=4)
        assert len(search.got) == 2, "a private address is not asked unless it is allowed"
    owner.call(*ping, "--endpoint", endpoint, "--allow-private", code=4)
    owner.call("sitemap", "ping", "https://example.org/", code=2)


def test_killing_a_build_leaves_complete_files(owner: Owner) -> None:
    for number in range(400):
        owner.put(number)
    names = ("sitemap.xml", "sitemap-extended.xml")
    command = ["sitemap", "build", "public", "--base-url", owner.base, "-q"]
    for turn in range(8):
        for number in range(turn, 400, 8):
            owner.put(number, f"edition{'x' * turn}")
        process = start_command(*command, cwd=owner.folder, env=owner.env)
        time.sleep(0.02 + 0.1 * turn)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for name in names:
            if (owner.site / name).exists():
                found = read_sitemap((owner.site / name).read_bytes(), owner.base)
                assert (found.error, len(found.entries)) == (None, 401)
    report = owner.build()
    assert report["pages"] == 401
    assert owner.build()["written"] == []
    assert not list(owner.site.glob(".*.partial"))


def test_errors_are_clear(owner: Owner) -> None:
    owner.call("sitemap", "build", "nowhere", "--base-url", owner.base, code=2)
    owner.call("sitemap", "build", "public", code=2)
    owner.build()
    assert owner.json("sitemap", "build", "public")["base_url"] == owner.base
    (owner.site / "sitemap.xml").unlink()
    owner.call("sitemap", "build", "public", "--base-url", "example", code=2)
    owner.call("sitemap", "serve", "public", code=2)
    owner.call("sitemap", "check", "nowhere.xml", "--offline", code=2)
    owner.call("lab", "nothing", code=2)
    assert owner.json("lab", "sitemap")["matches"] is True


def test_the_links_of_a_named_llms_txt_are_found_and_stay_within_the_scope(tmp_path: Path) -> None:
    with served_site() as site:
        site.files = {
            "/": (HTML, "<title>Home</title><main><p>The home page of the harbour, with its opening times."),
            "/robots.txt": ("text/plain", f"# For models: {site.base}/llms.txt"),
            "/llms.txt": ("text/markdown", "# Harbour\n- [Prices](/prices)\n- [Other](http://other.example/)"),
            "/prices": (HTML, "<title>Prices</title><main><p>A berth costs twelve euros a night in the summer."),
        }
        collection = collection_of(site, tmp_path / "c.evercrawl", policy="optimal")
        assert collection.crawl_blocking().new == 2
        assert collection.show(site.base + "/prices").title == "Prices"
        assert [skipped.url for skipped in collection.skipped()] == ["http://other.example/"]


def test_a_reservation_in_tdmrep_json_is_noted_with_the_pages(tmp_path: Path) -> None:
    with served_site() as site:
        site.files = {
            "/": (HTML, "<title>Home</title><main><p>The home page of the harbour. <a href=/free/a>Free"),
            "/free/a": (HTML, "<title>Free</title><main><p>Anybody may learn what this page says of boats."),
            "/.well-known/tdmrep.json": (
                "application/json",
                '[{"location": "/free/", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]',
            ),
        }
        collection = collection_of(site, tmp_path / "c.evercrawl", policy="optimal")
        settings = collection.settings
        collection.settings = replace(settings, robots=replace(settings.robots, tdmrep=True))
        collection.crawl_blocking()
        assert collection.show(site.base + "/").usage == {"tdm": "n", "sources": ["tdmrep.json: 1"]}
        assert collection.show(site.base + "/free/a").usage == {"tdm": "y", "sources": ["tdmrep.json: 0"]}
        assert site.log.count("/.well-known/tdmrep.json") == 1
