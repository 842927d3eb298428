"""Server logs prove politeness: one request at a time, delays kept, robots.txt first and obeyed.

One process crawls the sites, and a second one right after it. A small server of our own serves some sites, nginx the
others, so that half of the evidence is independent of our code.
"""

from __future__ import annotations

import asyncio
import getpass
import itertools
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.programs import find_program
from tests.worlds.hostile.command import Command, CommandResult
from tests.worlds.hostile.sites import Respond, SiteRequest, Web, html, robots_txt, web

RUNS = 2  # A crawl, and another with --refresh, which reads robots.txt again.
GAP_S = 0.2
FACTOR = 10
"""Mercator's rule: this many times the last answer's time must pass."""
DELAY_S = 1.0
SLOW_S = 0.08
ADDRESSES = [f"127.0.1.{number}" for number in range(1, 21)]
RULES = "User-agent: *\nDisallow: /private/\nDisallow: /*.cgi\n"
FORBIDDEN = ("/private/", "/run.cgi")
LOG_FORMAT = '{"ended": $msec, "took": $request_time, "port": $server_port, "path": "$request_uri"}'
ROUNDING_S = 0.02
"""A server may notice the end of an answer a little later than the client; nginx counts in milliseconds."""


class Request(NamedTuple):
    """One line of a log."""

    path: str
    began: float
    ended: float
    ip: str = ""


class Logs(NamedTuple):
    """What every site saw, in order, and where the second process began."""

    first: CommandResult
    second: CommandResult
    sites: dict[str, list[Request]]
    least_gap: dict[str, float]


NOT_THERE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
BESIDE_PAGES = ("/robots.txt", "/sitemap.xml")
"""What is asked for that no page links to."""


def page(number: int, pages: int) -> str:
    targets = [target for target in (2 * number + 1, 2 * number + 2, number) if target < pages]
    links = [f"<a href='/{target}.html'>x</a>" for target in targets]
    links += [f"<a href='{path}{number}'>no</a>" for path in FORBIDDEN]
    return f"<title>{number}</title>page {number} " + "".join(links)


def site_of(pages: int, *, slow_s: float = 0.0, closing: bool = False) -> Respond:
    """A site of so many pages."""

    async def respond(asked: SiteRequest, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(slow_s)
        name = asked.path.strip("/").partition(".")[0] or "0"
        if not name.isdigit():
            writer.write(NOT_THERE)
            await writer.drain()
            return True
        number = int(name)
        headers = {"Connection": "close"} if closing else {"ETag": f'"{number}"'}
        writer.write(html(page(number, pages), headers=headers))
        await writer.drain()
        return not closing

    return respond


def put_own_sites(sites: Web) -> None:
    sites.add("quick", site_of(12), robots=robots_txt(RULES))
    sites.add("other", site_of(12), robots=robots_txt(RULES))
    sites.add("slow", site_of(4, slow_s=SLOW_S), robots=robots_txt(RULES))
    sites.add("delayed", site_of(4), robots=robots_txt(f"{RULES}Crawl-delay: {DELAY_S}\n"))
    many = sites.add("many", site_of(12, closing=True), robots=robots_txt(RULES), bind="0.0.0.0")
    sites.names[many.host] = [[address] for address in ADDRESSES]


@contextmanager
def nginx(folder: Path) -> Iterator[dict[str, str]]:
    """Serve two sites with nginx, whose log is independent of our own server."""
    program = find_program("nginx", package="nginx-light")
    ports = {"nginx": _free_port(), "nginx-delayed": _free_port()}
    (folder / "nginx.conf").write_text(_nginx_conf(folder, ports))
    server = subprocess.Popen([program, "-p", str(folder), "-c", "nginx.conf", "-e", "errors.log"])
    try:
        _wait_for(list(ports.values()))
        yield {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(ports: list[int]) -> None:
    for port in ports:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            raise AssertionError(f"nginx does not listen on port {port}")


def _nginx_conf(folder: Path, ports: dict[str, int]) -> str:
    blocks = []
    for name, port in ports.items():
        root, delayed = folder / name, name == "nginx-delayed"
        root.mkdir()
        pages = 4 if delayed else 12
        for number in range(pages):
            (root / f"{number}.html").write_text(page(number, pages))
        (root / "index.html").write_text(page(0, pages))
        (root / "robots.txt").write_text(RULES + (f"Crawl-delay: {DELAY_S}\n" if delayed else ""))
        blocks.append(f"server {{ listen 127.0.0.1:{port}; root {root}; }}")
    temporary = "".join(
        f"{kind}_temp_path {folder}/tmp;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""
user {getpass.getuser()};
daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors.log;
events {{}}
http {{
  {temporary}
  types {{ text/html html; text/plain txt; }}
  log_format moments escape=json '{LOG_FORMAT}';
  access_log {folder}/requests.log moments;
  {" ".join(blocks)}
}}
"""


def _nginx_requests(folder: Path, origins: dict[str, str]) -> dict[str, list[Request]]:
    found: dict[str, list[Request]] = {name: [] for name in origins}
    names = {int(origin.rpartition(":")[2]): name for name, origin in origins.items()}
    log = folder / "requests.log"
    for line in log.read_text().splitlines() if log.exists() else ():
        row = json.loads(line)
        request = Request(row["path"], row["ended"] - row["took"], row["ended"])
        found[names[row["port"]]].append(request)
    return found


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    folder = tmp_path_factory.mktemp("nginx")
    with web(ttl=0) as sites, nginx(folder) as others:
        put_own_sites(sites)
        settings = {
            "dns.servers": sites.name_server,
            "dns.min_ttl": "0.001",
            "dns.max_ttl": "0.001",
            "crawl.idle_timeout": "5",
        }
        command = Command(tmp_path_factory.mktemp("polite"), settings)
        seeds = [site.url() for site in sites.sites.values()] + [f"{origin}/" for origin in others.values()]
        first = command.crawl(*seeds, "--gap", str(GAP_S))
        second = command.crawl("--gap", str(GAP_S), "--refresh", "--max-time", "3")
    seen = {name: [Request(*_of(asked)) for asked in site.asked] for name, site in sites.sites.items()}
    seen |= _nginx_requests(folder, others)
    least = {name: DELAY_S if "delayed" in name else GAP_S for name in seen}
    return Logs(first, second, seen, least)


def _of(asked: SiteRequest) -> tuple[str, float, float, str]:
    return asked.path, asked.began, asked.ended, asked.ip


def pairs(logs: Logs) -> Iterator[tuple[str, Request, Request]]:
    for name, requests in logs.sites.items():
        for before, after in itertools.pairwise(sorted(requests, key=lambda each: each.began)):
            yield name, before, after


def test_each_process_requests_a_page_at_most_once(logs: Logs) -> None:
    assert logs.first.code == 0, logs.first.err
    assert logs.second.code in (0, 7), logs.second.err
    for name, requests in logs.sites.items():
        paths = [request.path for request in requests if not request.path.startswith(BESIDE_PAGES)]
        pages = 4 if name in ("slow", "delayed", "nginx-delayed") else 12
        assert {"/", *(f"/{number}.html" for number in range(pages))} == set(paths), name
        assert max(paths.count(path) for path in paths) <= 2, name


def test_a_site_never_has_two_concurrent_requests(logs: Logs) -> None:
    for name, before, after in pairs(logs):
        assert before.ended <= after.began + ROUNDING_S, (name, before, after)


def test_delays_are_kept_also_between_two_processes(logs: Logs) -> None:
    for name, before, after in pairs(logs):
        if before.path != "/robots.txt":
            gap = after.began - before.ended + ROUNDING_S
            assert gap >= logs.least_gap[name], (name, before, after)


def test_a_crawl_delay_counts_from_the_robots_response(logs: Logs) -> None:
    for name in set(logs.sites) & {"delayed", "nginx-delayed"}:
        robots, page, *_ = logs.sites[name]
        assert robots.path == "/robots.txt"
        assert page.began - robots.ended + ROUNDING_S >= DELAY_S


def test_slow_responses_cause_longer_delays(logs: Logs) -> None:
    for name, before, after in pairs(logs):
        rest = after.began - before.ended + ROUNDING_S
        took = before.ended - before.began - ROUNDING_S
        assert rest >= FACTOR * took, (name, before, after)
    assert any(before.ended - before.began > SLOW_S for name, before, _ in pairs(logs) if name == "slow")


def test_robots_txt_is_requested_first_and_once_in_a_run(logs: Logs) -> None:
    for name, requests in logs.sites.items():
        paths = [request.path for request in requests]
        assert paths[0] == "/robots.txt", name
        assert paths.count("/robots.txt") <= RUNS, name


def test_nothing_disallowed_is_requested(logs: Logs) -> None:
    for name, requests in logs.sites.items():
        assert not [request for request in requests if request.path.startswith(FORBIDDEN)], name


def test_a_host_with_many_addresses_is_one_site(logs: Logs) -> None:
    requests = logs.sites["many"]
    assert len({request.ip for request in requests}) >= 10, "the addresses did change"
    gaps = [after.began - before.ended for name, before, after in pairs(logs) if name == "many"]
    assert min(gaps) + ROUNDING_S >= GAP_S
