"""Every server of the shared catalogue that concerns fetching, against the real fetcher."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evercrawl.core.faults import retry_after
from evercrawl.core.url import canonical
from evercrawl.model.fetch import Failed, Fault, Fetched, FetchResult, Moved, NotModified, Request, Truncation, header
from evercrawl.model.settings import DnsSettings, HttpSettings
from tests.e2e.certificates import Authority, only_tls_1_0
from tests.e2e.dns_server import name_server
from tests.e2e.fetching import WallClock, fault_of, fetch, fetcher, run
from tests.shared import conformance_rows
from tests.worlds.hostile.servers import Hostile, playing, serving

WIRE_BYTES = 4 * 1024 * 1024
QUICK: dict[str, Any] = {
    "first_byte_timeout": timedelta(seconds=0.3),
    "idle_timeout": timedelta(seconds=0.3),
    "total_timeout": timedelta(seconds=0.8),
}
FAULTS = {
    "slow-headers": Fault.TIMEOUT,
    "silence-after-accept": Fault.TIMEOUT,
    "silence-after-headers": Fault.TIMEOUT,
    "endless-headers": Fault.HEADERS_TOO_LARGE,
    "endless-status-line": Fault.HEADERS_TOO_LARGE,
    "trailer-flood": Fault.HEADERS_TOO_LARGE,
    "header-bomb-many": Fault.HEADERS_TOO_LARGE,
    "length-too-long": Fault.INCOMPLETE,
    "length-not-number": Fault.INVALID_HTTP,
    "length-two-different": Fault.INVALID_HTTP,
    "length-huge-claimed": Fault.INCOMPLETE,
    "chunk-bad-size": Fault.INVALID_HTTP,
    "chunk-size-overflow": Fault.INVALID_HTTP,
    "chunked-but-plain": Fault.INCOMPLETE,
    "unknown-transfer-coding": Fault.INVALID_HTTP,
    "bad-status-line": Fault.INVALID_HTTP,
    "status-999": Fault.DENIED,
    "status-0": Fault.INVALID_HTTP,
    "empty-reply": Fault.EMPTY_REPLY,
    "header-null-byte": Fault.INVALID_HTTP,
    "410": Fault.GONE,
    "416": Fault.HTTP_ERROR,
    "range-unasked-206": Fault.UNEXPECTED_206,
    "304-unasked": Fault.UNEXPECTED_304,
    "redirect-bad-location": Fault.BAD_REDIRECT,
    "redirect-300-no-choice": Fault.HTTP_ERROR,
}
DETAILS = {
    "slow-headers": "not complete within 0.8 s",
    "silence-after-accept": "no first byte within 0.3 s",
    "silence-after-headers": "no further byte within 0.3 s",
    "redirect-to-file": "scheme file",
    "redirect-to-data": "scheme data",
    "redirect-to-javascript": "scheme javascript",
    "redirect-to-dict": "scheme dict",
    "redirect-to-ws": "scheme ws",
}
BODIES = {
    "100-continue-then-200": b"ok",
    "length-two-same": b"hello",
    "length-and-chunked": b"hello",
    "lf-only": b"ok",
    "header-name-space": b"ok",
    "gzip-header-plain-body": b"<html>plain</html>",
    "gzip-trailing-garbage": b"<html>page</html>",
}
MORE_THAN_ONE_FETCH = {"soft-404-redirect-home", "redirect-loop-two", "redirect-chain-1000"}


def rows(*groups: str) -> list[Any]:
    """Rows of the catalogue as test parameters; one that skips where the catalogue is absent."""
    try:
        found = [row for row in conformance_rows("http_hostile/catalogue.jsonl") if row["group"] in groups]
    except pytest.skip.Exception as absent:
        return [pytest.param(None, marks=pytest.mark.skip(reason=str(absent)), id="absent")]
    return [pytest.param(row, id=row["name"]) for row in found if row["name"] not in MORE_THAN_ONE_FETCH]


def is_played(row: Any) -> bool:
    spec = row.values[0] and row.values[0]["server"]
    return not spec or not ({"link", "link_or_redirect", "dns", "tls", "robots"} & set(spec))


PLAYED = [
    row
    for row in rows("slow", "endless", "odd", "framing", "coding", "bomb", "status", "redirect", "ssrf")
    if is_played(row)
]


@pytest.mark.parametrize("row", PLAYED)
def test_a_response_of_the_catalogue(row: dict[str, Any]) -> None:
    limits = {"slow": QUICK, "endless": {"max_wire_bytes": WIRE_BYTES}}.get(row["group"], {})

    async def job() -> tuple[FetchResult, Hostile]:
        async with serving(row["server"]) as server, fetcher(**limits) as one:
            validator = '"v1"' if row["name"] == "304-with-body" else None
            url = f"http://127.0.0.1:{server.port}{row['server'].get('url', '/')}"
            result = await one.fetch(Request(url, etag=validator))
            again = await one.fetch(Request(url, etag=validator))
            assert type(again) is type(result)
            return result, server

    result, server = run(job())
    name = row["name"]
    if name in FAULTS or name in DETAILS:
        assert fault_of(result) is FAULTS.get(name, Fault.BAD_REDIRECT)
        assert isinstance(result, Failed)
        assert DETAILS.get(name, "") in result.detail
    elif row["outcome"] == "deferred":
        assert fault_of(result) is Fault.THROTTLED
        assert_wait(result, row)
    elif row["outcome"] == "truncated":
        assert_truncated(result)
    elif name == "304-with-body":
        assert isinstance(result, NotModified)
        assert server.connections == 2
    elif "redirect" in name:
        assert isinstance(result, Moved)
        assert "#" not in result.target
    else:
        assert isinstance(result, Fetched), result
        assert result.truncated is None
        assert name not in BODIES or result.body == BODIES[name]
    if name == "length-and-chunked":
        assert server.connections == 2
    assert all(len(head) < 16 * 1024 and b"cookie" not in head.lower() for head in server.heads)
    assert_clean(result)


def assert_wait(result: FetchResult, row: dict[str, Any]) -> None:
    assert isinstance(result, Failed)
    asked = row["server"]["headers"]["Retry-After"]
    seconds = float(re.search(r"[0-9.]+", asked.replace("HTTP", ""))[0])  # type: ignore[index]
    wait = retry_after(header(result.headers, "retry-after"), now=WallClock().now())
    assert wait is not None
    assert seconds - 5 <= wait.total_seconds() <= seconds


def assert_truncated(result: FetchResult) -> None:
    assert isinstance(result, Fetched), result
    assert result.truncated is not None
    if result.truncated is Truncation.WIRE:
        assert len(result.exchange.wire_body) in (WIRE_BYTES, HttpSettings().max_wire_bytes)
    else:
        assert len(result.body) <= 32 * 1024 * 1024


def assert_clean(result: FetchResult) -> None:
    for name, value in result.headers:
        assert not re.search(r"[\r\n\0]", name + value)


# Ports, the rows with "link", are refused by the scope before a request is made: test_hostile_crawl.py.
@pytest.mark.parametrize(
    "row", [row for row in rows("ssrf") if not is_played(row) and "link" not in row.values[0]["server"]]
)
def test_an_address_of_the_catalogue_is_never_connected(row: dict[str, Any]) -> None:
    spec = row["server"]

    async def job() -> None:
        async with serving({"body": "secret"}) as inside:
            sets = [[ip] if isinstance(ip, str) else ip for ip in spec.get("dns", [["127.0.0.1"]])]
            names = {"site.test": sets, "127.0.0.1.nip.test": sets}
            async with name_server(names) as names_at:
                url = spec.get("link_or_redirect", f"http://site.test:{inside.port}/").split()[0]
                url = url.replace("127.0.0.1:8000", f"127.0.0.1:{inside.port}")
                wanted = canonical(url)
                assert wanted is not None
                dns = DnsSettings(servers=(names_at.address,))
                result = await fetch(wanted, dns=dns, allow_private=False, connect_timeout=timedelta(seconds=0.3))
        if "dns" in spec:
            assert fault_of(result) in (Fault.CONNECT, Fault.TIMEOUT, Fault.PRIVATE_ADDRESS)
        else:
            assert fault_of(result) is Fault.PRIVATE_ADDRESS
        assert inside.connections == 0

    run(job())


@pytest.mark.parametrize("row", rows("injection"))
def test_nothing_in_the_catalogue_injects_a_request_header(row: dict[str, Any]) -> None:
    async def job() -> Hostile:
        async with serving({"body": "ok"}) as server, fetcher() as one:
            url = canonical(
                row["server"].get("link", "http://site.test/").replace("site.test", f"127.0.0.1:{server.port}")
            )
            assert url is not None
            raw_etag = row["server"].get("headers_raw", {}).get("ETag", "").encode().decode("unicode_escape")
            assert isinstance(await one.fetch(Request(url, etag=raw_etag or None)), Fetched)
            return server

    (head,) = run(job()).heads
    names = [line.partition(b":")[0] for line in head.split(b"\r\n")[1:-2]]
    assert names == [b"Host", b"User-Agent", b"Accept", b"Accept-Encoding"]
    assert head.count(b"\n") == head.count(b"\r\n") == len(names) + 2


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("row", rows("tls"))
def test_tls_of_the_catalogue(row: dict[str, Any], authority: Authority) -> None:
    result = run(fetch_over_tls(row["server"]["tls"], authority))
    if row["outcome"] == "fetched":
        assert isinstance(result, Fetched), result
        assert result.body == b"hello"
    else:
        assert fault_of(result) is Fault.TLS


async def fetch_over_tls(kind: str, authority: Authority) -> FetchResult:
    """A fetch of https://site.test from a server with this flaw; the client trusts the authority."""
    raw = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    tls = {
        "not-yet-valid": lambda: authority.server("site.test", begins=timedelta(days=1), ends=timedelta(days=2)),
        "wrong-host": lambda: authority.server("other.test"),
        "sha1-signed": lambda: authority.server("site.test", with_sha1=True),
        "tls1.0-only": lambda: only_tls_1_0(authority.server("site.test")),
        "close without close_notify": lambda: authority.server("site.test"),
        "plain HTTP answer on the TLS port": lambda: None,
    }[kind]()
    if kind.startswith("plain"):

        def make(_: Hostile) -> Any:
            async def play(reader: Any, writer: Any) -> None:
                await reader.read(100)
                writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                await reader.read(100_000)

            return play

        async with playing(make) as server:
            return await fetch_site(server, authority.ca_file)
    async with serving({"steps": [{"send": raw}, {"close": True}]}, tls=tls) as server:
        return await fetch_site(server, authority.ca_file)


async def fetch_site(server: Hostile, ca_file: Path) -> FetchResult:
    place = f"site.test:{server.port}"
    return await fetch(f"https://{place}/", resolve=(f"{place}:127.0.0.1",), ca_file=str(ca_file))
