"""Hostile pages in one crawl: each is bounded, `why` explains it, and the crawl continues."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.report import Explanation
from tests.unit.adapters.test_parse_process import slow_pdf
from tests.worlds.hostile.command import Command, CommandResult
from tests.worlds.hostile.servers import answer_of
from tests.worlds.hostile.sites import SiteRequest, Web, bytes_for, html, web

MOST_MEMORY = 500 * 1024 * 1024
MOST_SECONDS = 75
ENDED_WELL = (0, 7, 8)
"""Done, at the limit of pages, or done with errors."""
MOST_HOPS = 40
"""Requests that an endless redirect between hosts may cost."""
LAUGHS = "<!DOCTYPE html [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><p>&b;&b;&amp;#0; &#xFFFFFFFF; &nosuch;</p>"
SETTINGS = {
    "http.connect_timeout": "5",
    "http.first_byte_timeout": "20",
    "http.total_timeout": "40",
    "crawl.idle_timeout": "30",
    "parse.max_cpu_time": "2",
}


def page_of(body: str | bytes, **fields: str) -> bytes:
    """A whole answer."""
    text = body if isinstance(body, str) else body.decode("latin-1")
    return answer_of({"body": text, "headers": fields})


HOSTILE: dict[str, Callable[[], bytes]] = {
    "links": lambda: page_of("".join(f"<a href='/l/{one}'>x</a>" for one in range(100_000))),
    "nesting": lambda: page_of("<div>" * 100_000 + "deep" + "</div>" * 100_000),
    "attribute": lambda: page_of(f"<p title='{'x' * 2_000_000}' id=a>text</p><a href='/small'>s</a>"),
    "attributes": lambda: page_of("<p " + " ".join(f"a{one}=1" for one in range(200_000)) + ">text</p>"),
    "bomb": lambda: _gzipped(b"<p>" + b"0" * 300_000_000),
    "entities": lambda: page_of(LAUGHS),
    "controls": lambda: page_of("<title>a\x1b[31m\x00\x07b\u0085</title><p>te\x00xt\x1b]0;x\x07</p>"),
    "slow": lambda: _answer("Content-Type: application/pdf", slow_pdf()),
    "cookies": lambda: answer_of({"body": "<p>text</p>", "header_gen": {"set_cookie": 3000}}),
}
SAYS = {
    "links": "only the first 20000 links were read",
    "nesting": "bytes were read",
    "attributes": "bytes were read",
    "bomb": "",
    "slow": "parsing took more than 2 s of CPU time; all bytes are kept",
}
"""What `why` says beside the reason."""


def _gzipped(body: bytes) -> bytes:
    return _answer("Content-Type: text/html\r\nContent-Encoding: gzip", gzip.compress(body, 6))


def _answer(fields: str, body: bytes) -> bytes:
    return f"HTTP/1.1 200 OK\r\n{fields}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class Crawled(NamedTuple):
    ran: CommandResult
    found: dict[str, Explanation]
    hops: int
    honest: list[str]
    again: CommandResult


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    with web() as sites:
        for name, make in HOSTILE.items():
            answer = make()
            sites.add(name, bytes_for(lambda asked, answer=answer: _at_home(asked, answer)))
        ping_pong(sites)
        honest = sites.add("honest", bytes_for(_next))
        command = Command(tmp_path_factory.mktemp("content"), SETTINGS | {"dns.servers": sites.name_server})
        seeds = [sites.sites[name].url() for name in (*HOSTILE, "ping", "honest")]
        often = ("--pace", "own", "--gap", "0.02", "--max-pages", "200", "--allow-private")
        ran = command.crawl(*seeds, *often)
        found = {name: command.why(sites.sites[name].url()) for name in (*HOSTILE, "ping")}
        hops = sum(len(sites.sites[name].paths()) for name in ("ping", "pong"))
        again = command.crawl(*often)
        yield Crawled(ran, found, hops, honest.paths(), again)


def _next(asked: SiteRequest) -> bytes:
    number = int(asked.path.strip("/") or "0")
    return html(f"<p>Page {number}</p><a href='/{number + 1}'>next</a>")


def _at_home(asked: SiteRequest, answer: bytes) -> bytes:
    return answer if asked.path == "/" else html(f"page {asked.path}")


def ping_pong(sites: Web) -> None:
    """Two hosts that redirect to each other, to another address each time."""

    def bounce(asked: SiteRequest) -> bytes:
        here = asked.field("host").partition(".")[0]
        there = sites.sites["pong" if here == "ping" else "ping"]
        hop = int(asked.path.strip("/") or "0") + 1
        return answer_of({"status": 302, "headers": {"Location": there.url(f"/{hop}")}})

    sites.add("ping", bytes_for(bounce))
    sites.add("pong", bytes_for(bounce))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_content_is_recorded_with_a_reason(name: str, crawled: Crawled) -> None:
    found = crawled.found[name]
    assert found.known
    assert found.reason is not None
    assert SAYS.get(name, "") in found.detail
    assert not any(ord(letter) < 32 for letter in found.detail)


def test_a_compression_bomb_is_truncated(crawled: Crawled) -> None:
    assert crawled.found["bomb"].reason.value in {"compression_ratio", "decoded_too_large"}


def test_a_slow_file_is_stored(crawled: Crawled) -> None:
    found = crawled.found["slow"]
    assert (found.outcome, found.reason) == (Outcome.TRUNCATED, Reason.PARSE_LIMIT)


def test_redirects_between_hosts_end(crawled: Crawled) -> None:
    assert crawled.hops <= MOST_HOPS
    assert crawled.found["ping"].detail


def test_the_crawl_continues(crawled: Crawled) -> None:
    assert crawled.ran.code in ENDED_WELL, crawled.ran.err
    assert "Traceback" not in crawled.ran.err
    assert crawled.ran.seconds < MOST_SECONDS
    assert crawled.ran.peak_bytes < MOST_MEMORY
    assert len(crawled.honest) > 10
    assert crawled.again.code in ENDED_WELL, crawled.again.err
