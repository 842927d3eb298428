"""Responses for robots.txt and what a whole crawl does then: RFC 9309 sections 2.3 to 2.5 over real sockets."""

from __future__ import annotations

import asyncio
import base64
import gzip
import itertools
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from isal import isal_zlib

from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.report import Explanation
from evercrawl.model.settings import Settings
from evercrawl.testing import NO_FAULTS, SimWeb
from evercrawl.testing.sim_web import ROBOTS_PATH
from evercrawl.testing.sim_world import make_world
from tests.e2e.certificates import Authority
from tests.shared import conformance_rows
from tests.simulation.test_duplicates import Pages, page, text_of, world_of
from tests.worlds.hostile.command import Command, CommandResult
from tests.worlds.hostile.servers import answer_of
from tests.worlds.hostile.sites import NO_ROBOTS, Respond, Site, SiteRequest, Web, bytes_for, html, web

SETTINGS = {
    "identity.product": "TestBot",
    "http.first_byte_timeout": "2",
    "http.idle_timeout": "2",
    "crawl.idle_timeout": "3",
    "crawl.retry_timeout": "0",
}
AT_ONCE = ("--pace", "own", "--gap", "0.05")
UNFINISHED = 9  # Some sites never let us read their robots.txt.
BLOCK = 65_536
SOCKET_BUFFERS = 8 * 1024 * 1024
"""What the system may take from a server on behalf of a client that reads no more."""
MOST_MEMORY = 250 * 1024 * 1024
OUR_POLICY = {"403": False}
"""Rows that are not normative, and where we are stricter: robots.forbid_on_403."""
IN_THE_PRIVATE_NET = {"redirect-to-private-ip": "tests/e2e/test_hostile_crawl.py: robots.test"}
IN_VIRTUAL_TIME = {"cache-24h": "test_a_robots_copy_is_used_for_one_day"}


def own(name: str, responses: list[dict[str, Any]], **expect: Any) -> dict[str, Any]:
    return {"name": name, "responses": responses, "expect": expect, "url": "http://site.test/page"}


def moved(location: str) -> dict[str, Any]:
    return {"status": 302, "headers": {"Location": location}}


FORBIDS = {"status": 200, "body": "User-agent: *\nDisallow: /page\n"}
OWN = [
    own("own-disallow", [FORBIDS], allowed=False),
    own("own-disallow-other-robot", [{"status": 200, "body": "User-agent: x\nDisallow: /\n"}], allowed=True),
    own("own-503", [{"status": 503}], allowed=False, deferred=True),
    own("own-429", [{"status": 429, "headers": {"Retry-After": "90"}}], allowed=False, deferred=True),
    own("own-redirects-5", [*(moved(f"/r{hop}") for hop in range(5)), FORBIDS], allowed=False),
    own("own-redirects-6", [*(moved(f"/r{hop}") for hop in range(6)), FORBIDS], allowed=True),
    own("own-silent", [{"behaviour": "silent"}], allowed=False, deferred=True),
]


def shared_rows() -> list[dict[str, Any]]:
    try:
        return conformance_rows("robots/fetch_semantics.jsonl")
    except pytest.skip.Exception:
        return []


ELSEWHERE = IN_THE_PRIVATE_NET | IN_VIRTUAL_TIME
ROWS = [row for row in shared_rows() if row["name"] not in ELSEWHERE] + OWN


class Stage:
    """The rows as sites; `sent` counts the bytes that a client took from each."""

    def __init__(self, sites: Web, authority: Authority) -> None:
        self.sites = sites
        self.authority = authority
        self.sent: dict[str, int] = {}

    def put(self, row: dict[str, Any]) -> None:
        name, behaviour = row["name"], row["responses"][0].get("behaviour")
        tls = self.authority.server(f"{name}.test", signed=False) if behaviour == "tls-cert-invalid" else None
        port = _closed_port() if behaviour == "refused" else 0
        if port:
            self.sites.sites[name] = Site("http", "127.0.0.1", port, None)
        else:
            self.sites.add(name, self._respond(name, row["responses"]), robots=None, tls=tls)

    def _respond(self, name: str, responses: list[dict[str, Any]]) -> Respond:
        bodies = [_body_of(response) for response in responses]
        turn = itertools.count()

        async def respond(asked: SiteRequest, writer: asyncio.StreamWriter) -> bool:
            if asked.path == "/sitemap.xml":
                return await bytes_for(lambda _: NO_ROBOTS)(asked, writer)
            if asked.path.startswith("/page"):
                return await bytes_for(lambda _: html(f"{name} {asked.path}"))(asked, writer)
            index = min(next(turn), len(responses) - 1)
            return await self._answer(name, responses[index], bodies[index], writer)

        return respond

    async def _answer(self, name: str, response: dict[str, Any], body: bytes, writer: asyncio.StreamWriter) -> bool:
        if response.get("behaviour") == "silent":
            await asyncio.Event().wait()
        torn = 100 if response.get("behaviour") == "reset-after-bytes" else 0
        length = {"Content-Length": str(len(body) + torn)}
        head = answer_of({"status": response["status"], "headers": response.get("headers", {}), "body": ""})
        writer.write(head.replace(b"Content-Length: 0", f"Content-Length: {length['Content-Length']}".encode()))
        for at in range(0, len(body), BLOCK):
            writer.write(body[at : at + BLOCK])
            await writer.drain()
            self.sent[name] = self.sent.get(name, 0) + BLOCK
        if torn:
            await asyncio.sleep(0.1)
            _reset(writer)
        return not torn


def _closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _reset(writer: asyncio.StreamWriter) -> None:
    """End the connection with RST instead of FIN."""
    plug = writer.get_extra_info("socket")
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _body_of(response: dict[str, Any]) -> bytes:
    if "body_b64" in response:
        return base64.b64decode(response["body_b64"])
    if "body_gzip" in response:
        return gzip.compress(response["body_gzip"].encode())
    spec = response.get("body_gen")
    if spec is None:
        return str(response.get("body", "")).encode()
    if "gzip_of" in spec:
        return _bomb(spec["gzip_of"].encode(), spec["total_bytes"])
    size = spec.get("total_bytes") or spec["until_bytes"]
    filler = spec["filler"] * ((size - len(spec["prefix"])) // len(spec["filler"]))
    return (spec["prefix"] + filler + spec.get("suffix", "")).encode()


def _bomb(letter: bytes, size: int) -> bytes:
    press = isal_zlib.compressobj(1, isal_zlib.DEFLATED, 31)
    block = letter * 2**20
    return b"".join(press.compress(block) for _ in range(size >> 20)) + press.flush()


class Crawled(NamedTuple):
    """One crawl of all rows."""

    stage: Stage
    ran: CommandResult
    found: dict[str, Explanation]

    def site(self, row: dict[str, Any]) -> Site:
        return self.stage.sites.sites[row["name"]]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    with web() as sites:
        stage = Stage(sites, Authority(tmp_path_factory.mktemp("tls")))
        for row in ROWS:
            stage.put(row)
        command = Command(tmp_path_factory.mktemp("robots"), SETTINGS | {"dns.servers": sites.name_server})
        seeds = [site.url(path) for site in sites.sites.values() for path in ("/page", "/page2")]
        ran = command.crawl(*seeds, *AT_ONCE)
        yield Crawled(stage, ran, {name: command.why(site.url("/page")) for name, site in sites.sites.items()})


def test_no_row_is_forgotten() -> None:
    names = {row["name"] for row in shared_rows()}
    assert names <= {row["name"] for row in ROWS} | set(ELSEWHERE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_page_is_requested_exactly_if_robots_txt_allows_it(row: dict[str, Any], crawled: Crawled) -> None:
    expect, site, found = row["expect"], crawled.site(row), crawled.found[row["name"]]
    allowed = OUR_POLICY.get(row["name"], expect["allowed"])
    assert ("/page" in site.paths()) is allowed
    if allowed:
        assert found.outcome is Outcome.FETCHED
    elif not expect.get("deferred"):
        assert (found.outcome, found.reason) == (Outcome.REJECTED, Reason.ROBOTS)
    else:
        assert_deferred(found, row)
    if site.asked:
        assert site.asked[0].path == "/robots.txt"
        assert site.most_at_once == 1


def assert_deferred(found: Explanation, row: dict[str, Any]) -> None:
    """Not asked for, kept, and with a moment at which to try again; on a slow machine, it may have come already."""
    assert found.visits == 0
    if found.outcome is Outcome.QUEUED:
        assert found.due is None or found.due <= datetime.now(UTC)
        return
    if "tls-cert-invalid" in str(row):
        assert (found.outcome, found.reason) == (Outcome.ERROR, Reason.TLS), "the same, by a better name"
    else:
        assert found.outcome is Outcome.DEFERRED
        assert found.reason in (Reason.ROBOTS_UNREACHABLE, Reason.SITE_DOWN, Reason.SITE_PAUSED)
    assert found.due is not None


@pytest.mark.parametrize("row", [row for row in ROWS if "max_read_bytes" in row["expect"]], ids=lambda row: row["name"])
def test_no_more_of_robots_txt_is_read_than_needed(row: dict[str, Any], crawled: Crawled) -> None:
    assert crawled.stage.sent[row["name"]] < row["expect"]["max_read_bytes"]
    assert crawled.stage.sent[row["name"]] < SOCKET_BUFFERS


@pytest.mark.parametrize("row", [row for row in ROWS if "crawl_delay" in row["expect"]], ids=lambda row: row["name"])
def test_an_invalid_crawl_delay_delays_nothing(row: dict[str, Any], crawled: Crawled) -> None:
    assert row["expect"]["crawl_delay"] is None
    assert set(crawled.site(row).paths()) == {"/page", "/page2"}


def test_the_crawl_ends_in_time_and_in_bounds(crawled: Crawled) -> None:
    assert crawled.ran.code == UNFINISHED, crawled.ran.err
    assert crawled.ran.seconds < 30
    assert crawled.ran.peak_bytes < MOST_MEMORY


def test_robots_redirects_to_other_sites_apply_to_the_first_site(tmp_path_factory: Any) -> None:
    """And 403 means what RFC 9309 says where the user wants it so."""
    with web() as sites:
        keeper = sites.add("keeper", _fixed({"/rules": FORBIDS}), robots=None)
        asking = sites.add("asking", _fixed({"/robots.txt": moved(keeper.url("/rules"))}), robots=None)
        secret = sites.add("secret", _fixed({"/robots.txt": {"status": 403}}), robots=None)
        settings = SETTINGS | {"dns.servers": sites.name_server, "robots.forbid_on_403": "false"}
        command = Command(tmp_path_factory.mktemp("other"), settings)
        ran = command.crawl(asking.url("/page"), asking.url("/free"), secret.url("/page"), *AT_ONCE)
        assert ran.code == 0, ran.err
        assert asking.paths() == ["/free"]
        assert keeper.paths() == ["/rules"]
        assert secret.paths() == ["/page"]


def _fixed(answers: dict[str, dict[str, Any]]) -> Respond:
    default: Callable[[SiteRequest], dict[str, Any]] = lambda asked: {"body": asked.path}  # noqa: E731
    return bytes_for(lambda asked: answer_of(answers.get(asked.path) or default(asked)))


def test_a_robots_copy_is_used_for_one_day() -> None:
    (row,) = [row for row in shared_rows() if row["name"] == "cache-24h"] or [{"expect": {"refetch_after_s": 86_400}}]
    lifetime = timedelta(seconds=row["expect"]["refetch_after_s"])
    web_of_one = SimWeb(3, sites=1, pages_per_site=5, faults=NO_FAULTS)
    world = make_world(web_of_one, settings=Settings())
    world.settings = replace(world.settings, scope=replace(world.settings.scope, max_pages_per_site=10))
    world.watch(lifetime * 6)
    read = [asked.answered for asked in web_of_one.log.requests if asked.path == ROBOTS_PATH]
    assert len(web_of_one.log.requests) > 2 * len(read) >= 4
    assert all(later - earlier >= lifetime for earlier, later in itertools.pairwise(read))


def test_each_crawl_that_somebody_starts_reads_robots_once_and_applies_what_changed() -> None:
    links = ("/open", "/closed/1", "/closed/2", "/later/1", "/later/2")
    bodies = {"/": page("Home", "welcome", *links), **{path: page(path, text_of(path)) for path in links}}
    pages = Pages(bodies | {ROBOTS_PATH: "User-agent: *\nDisallow: /closed/"})
    world = world_of(pages)
    world.crawl()
    assert set(pages.count()) == {ROBOTS_PATH, "/", "/open", "/later/1", "/later/2"}
    pages.bodies[ROBOTS_PATH] = "User-agent: *\nDisallow: /later/"
    world.crawl(refresh=True)
    asked = pages.count()
    assert asked == dict.fromkeys((ROBOTS_PATH, "/", "/open", "/closed/1", "/closed/2"), 1)
    pages.bodies[ROBOTS_PATH] = "User-agent: *\nDisallow:"
    world.crawl(refresh=True)
    assert pages.count() == dict.fromkeys((ROBOTS_PATH, "/", *links), 1)
