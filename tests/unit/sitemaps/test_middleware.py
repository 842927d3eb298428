"""Responses to sitemap requests: variants, compression and conditions; everything else goes to the site."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from evercrawl.sitemaps.middleware import AsgiSitemapMiddleware as AsgiMiddleware
from evercrawl.sitemaps.middleware import SitemapFolder, StaticFileApp, wants_extended
from evercrawl.sitemaps.middleware import WsgiSitemapMiddleware as WsgiMiddleware

STANDARD = b"<urlset>" + b"s" * 1000 + b"</urlset>"
EXTENDED = b"<EXTENDED_SITEMAP>" + b"x" * 1000 + b"</EXTENDED_SITEMAP>"
WRITTEN = 1_700_000_000
DATE = "Tue, 14 Nov 2023 22:13:20 GMT"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in (("sitemap.xml", STANDARD), ("sitemap-extended.xml", EXTENDED)):
        (tmp_path / name).write_bytes(data)
        os.utime(tmp_path / name, (WRITTEN, WRITTEN))
    (tmp_path / "sitemap-1.xml.gz").write_bytes(gzip.compress(STANDARD))
    (tmp_path / "secret.xml").write_text("no sitemap")
    return tmp_path


def ask(
    folder: Path, path: str, query: str = "", method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    found = SitemapFolder(folder).respond(method, path, query, fields)
    assert found is not None
    return found.status, dict(found.headers), found.body


def test_the_parameter_selects_the_extended_sitemap(folder: Path) -> None:
    assert ask(folder, "/sitemap.xml")[2] == STANDARD
    assert ask(folder, "/sitemap.xml", "XTND")[2] == EXTENDED
    assert ask(folder, "/", "a=b&xtnd=1")[2] == EXTENDED
    assert ask(folder, "/sitemap-extended.xml")[2] == EXTENDED
    (folder / "sitemap-extended.xml").unlink()
    assert ask(folder, "/sitemap.xml", "XTND")[2] == STANDARD


@pytest.mark.parametrize(("query", "is_asked"), [("XTND", True), ("a&XTND=", True), ("XTNDED", False), ("", False)])
def test_which_queries_select_it(query: str, is_asked: bool) -> None:
    assert wants_extended(query) is is_asked


@pytest.mark.parametrize(
    ("method", "path", "query"),
    [
        ("GET", "/", ""),
        ("GET", "/secret.xml", ""),
        ("GET", "/sitemap.xml/../secret.xml", ""),
        ("GET", "/sitemaps.xml", ""),
        ("GET", "/news", "XTND"),
        ("POST", "/sitemap.xml", ""),
        ("GET", "/sitemap.html", ""),
    ],
)
def test_other_requests_go_to_the_site(folder: Path, method: str, path: str, query: str) -> None:
    assert SitemapFolder(folder).respond(method, path, query, {}) is None


def test_conditional_requests(folder: Path) -> None:
    status, headers, _ = ask(folder, "/sitemap.xml")
    assert (status, headers["Last-Modified"]) == (200, DATE)
    etag = headers["ETag"]
    for tags in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        status, fields, body = ask(folder, "/sitemap.xml", if_none_match=tags)
        assert (status, body, fields["ETag"]) == (304, b"", etag)
        assert "Content-Length" not in fields
    assert ask(folder, "/sitemap.xml", if_none_match='"other"', if_modified_since=DATE)[0] == 200
    assert ask(folder, "/sitemap.xml", if_modified_since=DATE)[0] == 304
    assert ask(folder, "/sitemap.xml", if_modified_since="Tue, 14 Nov 2023 22:13:19 GMT")[0] == 200
    assert ask(folder, "/sitemap.xml", if_modified_since="nonsense")[0] == 200


def test_head_and_gzip(folder: Path) -> None:
    status, headers, body = ask(folder, "/sitemap.xml", method="HEAD")
    assert (status, body, headers["Content-Length"]) == (200, b"", str(len(STANDARD)))
    _, packed, body = ask(folder, "/sitemap.xml", accept_encoding="br, gzip;q=0.8")
    assert gzip.decompress(body) == STANDARD
    assert (packed["Content-Encoding"], packed["Vary"]) == ("gzip", "Accept-Encoding")
    assert packed["ETag"] != headers["ETag"], "two codings are two representations"
    assert ask(folder, "/sitemap.xml", accept_encoding="gzip;q=0, br")[2] == STANDARD
    _, fields, body = ask(folder, "/sitemap-1.xml.gz", accept_encoding="gzip")
    assert fields["Content-Type"] == "application/gzip"
    assert "Content-Encoding" not in fields
    assert gzip.decompress(body) == STANDARD


def test_a_replaced_file_is_served_immediately(folder: Path) -> None:
    held = SitemapFolder(folder)
    first = held.respond("GET", "/sitemap.xml", "", {})
    (folder / "sitemap.xml").write_bytes(b"<urlset/>")
    second = held.respond("GET", "/sitemap.xml", "", {})
    assert first is not None
    assert second is not None
    assert second.body == b"<urlset/>"
    assert dict(first.headers)["ETag"] != dict(second.headers)["ETag"]


def test_a_mounted_site(folder: Path) -> None:
    held = SitemapFolder(folder, prefix="/docs")
    assert held.respond("GET", "/docs/sitemap.xml", "", {}) is not None
    assert held.respond("GET", "/sitemap.xml", "", {}) is None


def test_wsgi_forwards_other_requests(folder: Path) -> None:
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def application(environ: dict[str, object], start_response: object) -> list[bytes]:
        return [b"own"]

    wrapped = WsgiMiddleware(application, folder)
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/sitemap.xml", "QUERY_STRING": "XTND"}
    assert list(wrapped(environ, lambda *given: started.append(given))) == [EXTENDED]
    assert started[0][0] == "200 OK"
    assert list(wrapped({"REQUEST_METHOD": "GET", "PATH_INFO": "/"}, lambda *_: None)) == [b"own"]


async def _through_asgi(folder: Path, scope: dict[str, object]) -> list[dict[str, object]]:
    sent: list[dict[str, object]] = []

    async def application(scope: object, receive: object, send: object) -> None:
        sent.append({"type": "own"})

    async def receive() -> dict[str, object]:
        raise AssertionError("nothing is read")

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message)

    await AsgiMiddleware(application, folder)(scope, receive, send)
    return sent


@pytest.mark.parametrize(
    ("scope", "body"),
    [
        ({"type": "http", "method": "GET", "path": "/sitemap.xml", "query_string": b"XTND", "headers": []}, EXTENDED),
        ({"type": "http", "method": "GET", "path": "/x", "query_string": b"", "headers": []}, None),
        ({"type": "http", "method": "GET", "path": "/sitemap-9.xml", "query_string": b"", "headers": []}, None),
        ({"type": "lifespan"}, None),
    ],
)
def test_asgi(folder: Path, scope: dict[str, object], body: bytes | None) -> None:
    import asyncio

    sent = asyncio.run(_through_asgi(folder, scope))
    if body is None:
        assert sent == [{"type": "own"}]
    else:
        assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
        assert sent[1]["body"] == body


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", "200"), ("/sub", "301"), ("/sub/", "200"), ("/a.html", "200"), ("/a", "404"),
        ("/../outside", "404"), ("/.hidden", "404"), ("/link", "404"), ("//", "200"), ("/%00", "404"),
        ("/\0", "404"),
    ],
)  # fmt: skip
def test_static_files_stay_inside_their_folder(tmp_path: Path, path: str, status: str) -> None:
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    for name in ("index.html", "a.html", "sub/index.html", ".hidden"):
        (site / name).write_text(name)
    (tmp_path / "outside").write_text("secret")
    (site / "link").symlink_to(tmp_path / "outside")
    started: list[str] = []
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path}
    body = b"".join(StaticFileApp(site)(environ, lambda line, fields: started.append(line)))
    assert started[0].startswith(status)
    assert b"secret" not in body
