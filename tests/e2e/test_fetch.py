"""The fetcher on real sockets: responses, connections, timeouts, memory and TLS."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard

from evercrawl.adapters.http.request_signing import RequestSigner, create_key
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Failed, Fault, Fetched, FetchResult, Moved, NotModified, Request, Truncation
from tests.e2e.certificates import Authority
from tests.e2e.fetching import fault_of, fetch, fetcher, run
from tests.worlds.hostile.servers import Hostile, Play, bomb, playing, serving

PAGE = b"<html>" + b"word " * 5000
SHORT = {
    "first_byte_timeout": timedelta(seconds=0.2),
    "idle_timeout": timedelta(seconds=0.2),
    "total_timeout": timedelta(seconds=0.5),
}


def raw(text: str, **http: Any) -> FetchResult:
    """What becomes of these bytes as the answer to `GET /folder/page`."""

    async def job() -> FetchResult:
        async with serving({"raw": text}) as server:
            return await fetch(f"http://127.0.0.1:{server.port}/folder/page", **http)

    return run(job())


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", Fault.EMPTY_REPLY),
        ("HTTP/1.1 200", Fault.INCOMPLETE),
        ("SSH-2.0-OpenSSH_9.2\r\n", Fault.INVALID_HTTP),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", Fault.INCOMPLETE),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", Fault.INVALID_HTTP),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", Fault.INCOMPLETE),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8bbroken\x01", Fault.BAD_CONTENT_ENCODING),
        ("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", Fault.NOT_FOUND),
        ("HTTP/1.1 404 No\r\nContent-Length: 20\r\n\r\nno", Fault.NOT_FOUND),
        ("HTTP/1.1 503 Busy\r\n\r\n", Fault.SERVER_ERROR),
        ("HTTP/1.1 503 Busy\r\nRetry-After: 5\r\n\r\n", Fault.THROTTLED),
        ("HTTP/1.1 301 Moved\r\n\r\n", Fault.BAD_REDIRECT),
        ("HTTP/1.1 302 Found\r\nLocation: ftp://x/\r\n\r\n", Fault.BAD_REDIRECT),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", Fault.UNEXPECTED_304),
        ("HTTP/1.1 206 Part\r\nContent-Length: 1\r\n\r\nx", Fault.UNEXPECTED_206),
    ],
)
def test_bad_responses_have_their_fault(answer: str, fault: Fault, loop: str) -> None:
    async def job() -> FetchResult:
        async with serving({"raw": answer}) as server:
            return await fetch(f"http://127.0.0.1:{server.port}/")

    assert fault_of(run(job(), loop=loop)) is fault


def test_a_page_keeps_its_exact_bytes() -> None:
    result = raw(
        "HTTP/1.1 200 Fine\r\nX-A:  b \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
    )
    assert isinstance(result, Fetched)
    assert result.body == result.exchange.wire_body == b"abcde"
    assert result.headers == (("X-A", "b"), ("Transfer-Encoding", "chunked"))
    assert result.exchange.response_head == b"HTTP/1.1 200 Fine\r\nX-A:  b \r\nTransfer-Encoding: chunked\r\n\r\n"
    assert result.exchange.request_head.startswith(b"GET /folder/page HTTP/1.1\r\nHost: 127.0.0.1:")
    assert result.exchange.ip == "127.0.0.1"
    assert timedelta(0) < result.exchange.took < timedelta(seconds=5)


def test_a_body_without_length_ends_with_the_connection() -> None:
    result = raw("HTTP/1.0 200 OK\r\n\r\nall of it")
    assert isinstance(result, Fetched)
    assert result.body == b"all of it"


def test_a_redirect_target_is_resolved_without_its_fragment() -> None:
    result = raw("HTTP/1.1 302 Found\r\nLocation: ../x/%7ey#frag\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
    assert isinstance(result, Moved)
    assert result.target.endswith("/x/~y")
    assert (result.status, result.exchange.response_head[:12]) == (302, b"HTTP/1.1 302")


def test_not_modified_needs_a_condition() -> None:
    async def job() -> tuple[FetchResult, Hostile]:
        async with serving({"status": 304}) as server, fetcher() as one:
            url = f"http://127.0.0.1:{server.port}/"
            return await one.fetch(Request(url, etag='W/"é"', last_modified="Sun, 06 Nov 1994 08:49:37 GMT")), server

    result, server = run(job())
    assert isinstance(result, NotModified)
    assert b'\r\nIf-None-Match: W/"\xe9"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n' in server.heads[0]


@pytest.mark.parametrize(
    ("coding", "encoded"),
    [
        ("gzip", gzip.compress(PAGE)),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstandard.compress(PAGE)),
        ("gzip, br", brotli.compress(gzip.compress(PAGE))),
        ("unheard-of", PAGE),
    ],
)
def test_bodies_are_decoded_and_the_wire_bytes_kept(coding: str, encoded: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(encoded)}\r\n\r\n"
    result = raw(head + encoded.decode("latin-1"))
    assert isinstance(result, Fetched)
    assert (result.body, result.exchange.wire_body) == (PAGE, encoded)


def test_a_request_limit_truncates_wire_and_decoded_bytes() -> None:
    async def job(spec: dict[str, Any]) -> FetchResult:
        async with serving(spec) as server, fetcher() as one:
            return await one.fetch(Request(f"http://127.0.0.1:{server.port}/robots.txt", body_limit=1000))

    plain = run(job({"body": "x" * 5000}))
    assert isinstance(plain, Fetched)
    assert (len(plain.body), plain.truncated) == (1000, Truncation.WIRE)
    packed = gzip.compress(b"x" * 5000).decode("latin-1")
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"
    decoded = run(job({"raw": head + packed}))
    assert isinstance(decoded, Fetched)
    assert (len(decoded.body), decoded.truncated) == (1000, Truncation.DECODED)


def test_bytes_before_the_truncation_are_decoded() -> None:
    packed = gzip.compress(bytes(range(256)) * 4000, 0)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"
    result = raw(head + packed.decode("latin-1"), max_wire_bytes=100_000)
    assert isinstance(result, Fetched)
    assert result.truncated is Truncation.WIRE
    assert 90_000 < len(result.body) <= 100_000


def test_connections_are_reused_and_a_dead_one_is_replaced() -> None:
    def make(seen: Hostile) -> Play:
        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for _ in range(2):  # the third request finds the connection closed
                seen.heads.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await reader.readuntil(b"\r\n\r\n")

        return play

    async def job() -> Hostile:
        async with playing(make) as server, fetcher() as one:
            for _ in range(4):
                assert isinstance(await one.fetch(Request(f"http://127.0.0.1:{server.port}/")), Fetched)
            return server

    seen = run(job())
    assert (seen.connections, len(seen.heads)) == (2, 4)


def test_a_retried_request_keeps_the_delay_of_its_site() -> None:
    asked: list[float] = []

    def make(seen: Hostile) -> Play:
        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for answer in (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b""):
                await reader.readuntil(b"\r\n\r\n")
                asked.append(time.monotonic())
                writer.write(answer)

        return play

    async def job() -> list[FetchResult]:
        async with playing(make) as server, fetcher(total_timeout=timedelta(seconds=5)) as one:
            url = f"http://127.0.0.1:{server.port}/"
            first = await one.fetch(Request(url))
            return [first, await one.fetch(Request(url, delay_s=0.3)), await one.fetch(Request(url, delay_s=60))]

    first, second, third = run(job())
    assert isinstance(first, Fetched)
    assert isinstance(second, Fetched)
    assert asked[2] - asked[1] >= 0.3
    assert isinstance(third, Failed)
    assert (third.fault, len(asked)) == (Fault.RESET, 4)


def test_unexpected_bytes_end_the_connection() -> None:
    def make(seen: Hostile) -> Play:
        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
            await reader.read()

        return play

    async def job() -> Hostile:
        async with playing(make) as server, fetcher() as one:
            for _ in range(2):
                result = await one.fetch(Request(f"http://127.0.0.1:{server.port}/"))
                assert isinstance(result, Fetched)
                assert result.body == b"good"
                await asyncio.sleep(0.2)
            return server

    assert run(job()).connections == 2


def test_an_idle_connection_is_closed_in_time() -> None:
    async def job() -> int:
        async with serving({"body": "ok"}) as server, fetcher(keep_alive_timeout=timedelta(seconds=0.1)) as one:
            for _ in range(2):
                await one.fetch(Request(f"http://127.0.0.1:{server.port}/"))
                await asyncio.sleep(0.3)
            return server.connections

    assert run(job()) == 2


def test_a_cancelled_fetch_leaves_nothing_behind() -> None:
    async def job() -> None:
        async with serving({"steps": [{"hang": True}]}) as server, fetcher() as one:
            url = f"http://127.0.0.1:{server.port}/"
            task = asyncio.create_task(one.fetch(Request(url)))
            await asyncio.sleep(0.2)
            assert len(server.heads) == 1
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            again = asyncio.create_task(one.fetch(Request(url)))
            await asyncio.sleep(0.2)
            again.cancel()
            await asyncio.gather(again, return_exceptions=True)
            assert server.connections == 2

    run(job())


def test_a_reset_inside_an_answer() -> None:
    def make(seen: Hostile) -> Play:
        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)  # the rest stays unread, so that closing resets
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
            await asyncio.sleep(0.1)
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        return play

    async def job() -> FetchResult:
        async with playing(make) as server:
            return await fetch(f"http://127.0.0.1:{server.port}/")

    result = run(job())
    assert fault_of(result) is Fault.RESET
    assert isinstance(result, Failed)
    assert result.exchange is not None
    assert (result.status, result.exchange.wire_body) == (200, b"hello")


def test_refused_connections_and_unsendable_urls() -> None:
    assert fault_of(run(fetch("http://127.0.0.1:1/"))) is Fault.CONNECT
    assert fault_of(run(fetch("http://127.0.0.1/a\r\nX-Evil: 1"))) is Fault.INTERNAL


def test_credentials_of_a_url_are_not_sent() -> None:
    async def job() -> bytes:
        async with serving({"body": "ok"}) as server:
            await fetch(f"http://user:secret@127.0.0.1:{server.port}/")
            return server.heads[0]

    head = run(job())
    assert b"secret" not in head
    assert b"user" not in head.replace(b"User-Agent", b"")


def test_each_timeout_has_its_message() -> None:
    async def job(steps: list[dict[str, Any]], **limits: timedelta) -> str:
        async with serving({"steps": steps}) as server:
            result = await fetch(f"http://127.0.0.1:{server.port}/", **SHORT | limits)
        assert fault_of(result) is Fault.TIMEOUT
        assert isinstance(result, Failed)
        return result.detail

    head = {"send": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"}
    assert run(job([{"hang": True}])) == "no first byte within 0.2 s"
    assert run(job([head, {"hang": True}])) == "no further byte within 0.2 s"
    dripping = {"drip": "X: y\r\n", "every_s": 4, "for_ever": True}
    patient = timedelta(minutes=1)  # On a busy machine the server may pause for longer than the short limits.
    steps = [{"send": "HTTP/1.1 200 OK\r\n"}, dripping]
    result = run(job(steps, first_byte_timeout=patient, idle_timeout=patient))
    assert result == "the response was not complete within 0.5 s"


CHILD = """
import json, resource, sys
sys.path.insert(0, sys.argv[2])
from tests.e2e.fetching import fetch, run

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

run(fetch("http://127.0.0.1:1/"))
before = peak()
result = run(fetch(sys.argv[1], max_wire_bytes=8_000_000, max_decoded_bytes=16_000_000))
seen = {"kind": type(result).__name__, "cut": result.truncated, "bytes": len(result.body)}
print(json.dumps(seen | {"before_kb": before, "grown_kb": peak() - before}))
"""


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "endless"])
def test_memory_is_bounded_by_the_limits(coding: str, request: pytest.FixtureRequest) -> None:
    root = str(request.config.rootpath)

    async def job() -> dict[str, Any]:
        spec: dict[str, Any] = {"steps": [{"send": "HTTP/1.1 200 OK\r\n\r\n"}, {"stream": "<p>x</p>"}]}
        if coding != "endless":
            packed = bomb(coding, 512 * 1024 * 1024)
            head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(packed)}\r\n\r\n"
            spec = {"raw": head + packed.decode("latin-1")}
        async with serving(spec) as server:
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-c", CHILD, f"http://127.0.0.1:{server.port}/", root, stdout=subprocess.PIPE
            )
            out, _ = await child.communicate()
        return dict(json.loads(out))

    seen = run(job(), loop="asyncio")
    assert seen["kind"] == "Fetched"
    assert seen["cut"] is not None
    assert seen["bytes"] <= 16_000_000
    assert seen["grown_kb"] < 64_000, seen


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


def over_tls(authority: Authority, spec: dict[str, Any], *, tls: Any = None, **http: Any) -> FetchResult:
    async def job() -> FetchResult:
        async with serving(spec, tls=tls or authority.server("site.test")) as server:
            place = f"site.test:{server.port}"
            http.setdefault("ca_file", str(authority.ca_file))
            return await fetch(f"https://{place}/", resolve=(f"{place}:127.0.0.1",), **http)

    return run(job())


def test_a_good_certificate_is_accepted(authority: Authority) -> None:
    result = over_tls(authority, {"body": "over tls"})
    assert isinstance(result, Fetched), result
    assert result.body == b"over tls"


@pytest.mark.parametrize(
    ("flaw", "words"),
    [({"ends": timedelta(hours=-1)}, "expired"), ({"signed": False}, "self-signed"), ({"with_sha1": True}, "too weak")],
)
def test_a_bad_certificate_is_rejected_with_a_message(authority: Authority, flaw: dict[str, Any], words: str) -> None:
    result = over_tls(authority, {"body": "x"}, tls=authority.server("site.test", **flaw))
    assert fault_of(result) is Fault.TLS
    assert isinstance(result, Failed)
    assert words in result.detail


def test_a_bad_certificate_is_accepted_only_if_configured(authority: Authority) -> None:
    tls = authority.server("other.test", signed=False)
    assert fault_of(over_tls(authority, {"body": "x"}, tls=tls)) is Fault.TLS
    assert isinstance(over_tls(authority, {"body": "x"}, tls=tls, verify_tls=False), Fetched)


def test_a_body_without_length_needs_a_tls_close_notify(authority: Authority) -> None:
    orderly = over_tls(authority, {"raw": "HTTP/1.1 200 OK\r\n\r\nall of it"})
    assert isinstance(orderly, Fetched), orderly
    cut = over_tls(authority, {"steps": [{"send": "HTTP/1.1 200 OK\r\n\r\nall of"}, {"pause": 0.1}]})
    assert fault_of(cut) is Fault.INCOMPLETE


def test_a_missing_authority_file_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="ca_file"):
        run(fetch("http://127.0.0.1/", ca_file="no/such/file.pem"))


def test_requests_over_tls_are_signed_if_there_is_a_key(authority: Authority, tmp_path: Path) -> None:
    signer = RequestSigner(create_key(tmp_path / "key.pem"), "https://crawler.example/keys")

    async def job() -> FetchResult:
        async with serving({"body": "x"}, tls=authority.server("site.test")) as server:
            place = f"site.test:{server.port}"
            async with fetcher(resolve=(f"{place}:127.0.0.1",), ca_file=str(authority.ca_file)) as one:
                one._signer = signer
                return await one.fetch(Request(f"https://{place}/"))

    result = run(job())
    assert isinstance(result, Fetched), result
    head = result.exchange.request_head.decode()
    assert '\r\nSignature-Agent: sig1="https://crawler.example/keys"\r\n' in head
    assert head.count("\r\nSignature: sig1=:") == 1
