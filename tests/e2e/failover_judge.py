"""Judge a run with faults by the sites' log and the database."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import asyncpg

from evercrawl.core.credit.ledger import CREDIT_KEY, ledger_of
from evercrawl.core.visit.links import unpack_links
from tests.e2e.test_workers import DOMAINS, Web
from tests.worlds.credit_ledger import balance

GAP_S = 0.25
LEASE_S = 3.0
COMMIT_S = 1.0
ENDLESS = 10**9
LINKS = 40
STALL_STEP_S = 0.05
TOLERANCE_S = 0.02
"""The server notes a request when its thread gets to run."""


class JudgedRequest(NamedTuple):
    """One request, as the site's server saw it."""

    at: float
    host: str
    path: str
    worker: int


class Silence(NamedTuple):
    """A worker that the others have to do without from a moment on, and its sites then."""

    began: float
    kind: str
    worker: int
    hosts: frozenset[str]
    longer_gaps: dict[str, float]
    """Seconds that a site's gap then was longer than the least."""


@dataclass
class BusyWeb(Web):
    """Twelve domains on one port, each with more pages than can be asked for, until it is told to end: a page
    links to the next ones of its own domain and to one of another.
    """

    log: list[JudgedRequest] = field(default_factory=list)
    pages: int = ENDLESS

    def note(self, host: str, path: str, agent: str) -> None:
        super().note(host, path, agent)
        worker = agent.partition("worker")[2].partition("@")[0]
        self.log.append(JudgedRequest(self.asked[-1][0], host, path, int(worker)))

    def answer(self, host: str, path: str) -> bytes | None:
        body = super().answer(host, path)
        if body is None:
            return None
        own = range(_number(path) + 1, min(_number(path) + 1 + LINKS, self.pages))
        return body + "".join(f'<a href="/p/{further}">{further}</a>' for further in own).encode()

    def end(self) -> None:
        """From here on no page links to one beyond; every domain is asked as far as the foremost one."""
        self.pages = max(_number(request.path) for request in self.log) + 1 + LINKS


def _number(path: str) -> int:
    """Which page of its domain this is."""
    return int(path.removeprefix("/p/")) if path.startswith("/p/") and path[3:].isdigit() else 0


@contextmanager
def watching_for_stalls() -> Iterator[list[float]]:
    """How much too late this process was woken, each time: what the machine's other work costs everybody."""
    late, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.is_set():
            began = time.monotonic()
            over.wait(STALL_STEP_S)
            late.append(time.monotonic() - began - STALL_STEP_S)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield late
    finally:
        over.set()
        watcher.join()


def violations(asked: Iterable[JudgedRequest]) -> list[tuple[str, float]]:
    """Requests to a site within its gap after the one before."""
    last: dict[str, float] = {}
    found = []
    for request in sorted(asked):
        since = request.at - last.get(request.host, -1e9)
        if since < GAP_S - TOLERANCE_S:
            found.append((request.host, since))
        last[request.host] = request.at
    return found


def takeovers(silences: Iterable[Silence], asked: list[JudgedRequest]) -> list[tuple[str, float]]:
    """From the moment a worker fell silent to the first request of another one, for each of its sites; with
    the fault that silenced it, and without what a site's gap had grown.
    """
    found = []
    for silence in silences:
        first: dict[str, float] = {}
        for request in sorted(asked):
            is_other = request.at > silence.began and request.worker != silence.worker
            if is_other and request.host in silence.hosts:
                waits_s = silence.longer_gaps.get(request.host, 0.0)
                first.setdefault(request.host, round(request.at - silence.began - waits_s, 2))
        found += [(silence.kind, took) for took in first.values()]
    return found


def repeats(sites: int, goes_on_s: float) -> int:
    """Most pages of so many sites that are asked for again after a fault: those that were answered since the
    last commit and while the worker went on without the database, and the one under way.
    """
    return round(sites * (1 + (COMMIT_S + goes_on_s) / GAP_S))


async def credit_errors(connection: asyncpg.Connection, space: str) -> dict[str, int]:
    """Units of credit that are missing or too many: in a shard's books, between its books and its pages, and
    between all of them and what was minted. Parcels on their way count.
    """
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        stored = await connection.fetch(
            f"select shard, value from {space}.site_state where site_id = $1 and kind = $2", *CREDIT_KEY
        )
        held: dict[int, tuple[int, int]] = {
            row[0]: (row[1], int(row[2]))
            for row in await connection.fetch(f"select shard, count(*), sum(credit) from {space}.page group by shard")
        }
        parcels = await connection.fetch(
            f"select o.links from {space}.outbox o left join {space}.inbox m"
            " on m.shard = o.target and m.source = o.source where o.seq > coalesce(m.seq, 0)"
        )
    ledgers = {row[0]: ledger_of(row[1]) for row in stored}
    found: dict[str, int] = {}
    for shard, ledger in ledgers.items():
        pages, credit = held.get(shard, (0, 0))
        found[f"ledger of {shard}"] = balance(ledger) or ledger.unallocated
        found[f"credit of pages of {shard}"] = ledger.held - credit - pages * ledger.dividend
        found[f"pages of {shard}"] = ledger.pages - pages
    whole = sum(ledger.lambda_page + ledger.held for ledger in ledgers.values())
    underway = sum(unpack_links(row[0]).credit for row in parcels)
    found["whole"] = whole + underway - sum(ledger.minted for ledger in ledgers.values())
    return {place: error for place, error in found.items() if error}


def judged(web: BusyWeb, *, versions: Counter[str], acknowledged: set[str], silences: list[Silence]) -> dict[str, Any]:
    """The figures of a run; `versions`: how often the store has the first version of each page."""
    pages = Counter((request.host, request.path) for request in web.log if request.path != "/robots.txt")
    taken = takeovers(silences, web.log)
    with_gaps = takeovers([silence._replace(longer_gaps={}) for silence in silences], web.log)
    return {
        "requests": len(web.log),
        "pages": len(versions),
        "pages_expected": len(DOMAINS) * web.pages,
        "violations": len(violations(web.log)),
        "lost": len(acknowledged - versions.keys()),
        "double_commits": sum(count - 1 for count in versions.values()),
        "duplicate_fetches": sum(count - 1 for count in pages.values()),
        "takeover_s": max((took for _, took in taken), default=0.0),
        "takeover_with_gap_s": max((took for _, took in with_gaps), default=0.0),
        "takeovers": sorted(taken),
        "never_stored": len({f"http://{host}{path}" for host, path in pages} - versions.keys()),
    }


async def asked_of(dsn: str, statement: str, *parameters: object) -> list[Any]:
    """The rows of a statement."""
    connection = await asyncpg.connect(dsn)
    try:
        found: list[Any] = await connection.fetch(statement, *parameters)
        return found
    finally:
        await connection.close()


async def credit_errors_at(dsn: str, space: str) -> dict[str, int]:
    """`credit_errors` of a database."""
    connection = await asyncpg.connect(dsn)
    try:
        return await credit_errors(connection, space)
    finally:
        await connection.close()


def rows(dsn: str, statement: str, *parameters: object) -> list[Any]:
    """`asked_of`, waited for."""
    return asyncio.run(asked_of(dsn, statement, *parameters))
