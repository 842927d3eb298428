"""Workers on one PostgreSQL lose each other, their leases and the database; the sites must not notice.

    python -m tests.e2e.failover --minutes 5

Real processes, a real server, real sites on loopback. The last line is JSON: `requests` in the sites' log,
`violations` of a site's gap there, `lost`: pages that were acknowledged once and are not there at the end,
`double_commits`: versions stored twice, `duplicate_fetches`: requests for a page that was asked for before,
`takeover_s`: the longest time from a worker's death to the first request of another at one of its sites.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from evercrawl.core.url import shard_of_site
from tests.e2e.test_workers import DOMAINS, Web, running
from tests.postgres_server import PostgresServer, running_server

GAP_S = 0.25
LEASE_S = 3.0
SHARDS = 16
TOLERANCE_S = 0.02
"""The server notes a request when its thread gets to run."""
FAULTS = ("kill", "freeze", "leave", "join", "database")
BETWEEN_FAULTS_S = 6.0
END_S = 600.0


@dataclass
class Cluster:
    """The workers, and what was seen of them."""

    folder: Path
    web: Web
    server: PostgresServer
    namespace: str
    workers: dict[int, subprocess.Popen[str]] = field(default_factory=dict)
    started: int = 0
    acknowledged: set[str] = field(default_factory=set)
    takeovers: list[float] = field(default_factory=list)
    deaths: list[tuple[float, set[str]]] = field(default_factory=list)

    @property
    def dsn(self) -> str:
        return f"{self.server.dsn}?namespace={self.namespace}"

    def start(self) -> int:
        """One more worker, in a folder of its own."""
        number, self.started = self.started, self.started + 1
        port = self.web.port
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        env = keep | {
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "EVERCRAWL_CONTACT": "test@example.org",
            "EVERCRAWL_SIGNALS__ENABLED": "false",
            "EVERCRAWL_STORE__LEASE": f"{LEASE_S}s",
            "EVERCRAWL_STORE__SHARDS": str(SHARDS),
        }
        seeds = [f"http://{domain}:{port}/" for domain in DOMAINS]
        resolve = [part for domain in DOMAINS for part in ("--resolve", f"{domain}:{port}:127.0.0.1")]
        command = [sys.executable, "-m", "evercrawl", "-C", f"w{number}.evercrawl", "crawl", *seeds, *resolve]
        command += [
            "--gap",
            str(GAP_S),
            "--allow-private",
            "--json",
            "--max-pages",
            "none",
            "--store",
            self.dsn,
        ]
        log = (self.folder / f"w{number}.log").open("w")
        self.workers[number] = subprocess.Popen(
            command, cwd=self.folder, env=env, text=True, stdout=log, stderr=subprocess.STDOUT
        )
        log.close()
        return number

    def alive(self) -> list[int]:
        return [number for number, process in self.workers.items() if process.poll() is None]

    def sites_of(self, number: int) -> int:
        """How many sites a worker has, so that the death of one that has many is tried out."""
        return len(asyncio.run(self._hosts_of(self.workers[number].pid)))

    def kill(self, number: int) -> None:
        hosts = asyncio.run(self._hosts_of(self.workers[number].pid))
        self.workers[number].kill()
        self.workers[number].wait()
        self.deaths.append((time.monotonic(), hosts))

    async def _hosts_of(self, pid: int) -> set[str]:
        """The sites that a worker has pages to ask of."""
        space = self.namespace
        rows = await self.rows(
            f"select l.shard from {space}.lease l join {space}.worker w on w.id = l.owner where w.pid = $1",
            pid,
        )
        owned = {row[0] for row in rows}
        names = [f"{domain}:{self.web.port}" for domain in DOMAINS]
        return {name for name in names if shard_of_site(f"http://{name}", SHARDS) in owned}

    async def rows(self, statement: str, *parameters: object) -> list[Any]:
        connection = await asyncpg.connect(self.server.dsn)
        try:
            found: list[Any] = await connection.fetch(statement, *parameters)
            return found
        finally:
            await connection.close()

    def note_acknowledged(self) -> None:
        """Every page that the store has a version of now must be there at the end."""
        try:
            rows = asyncio.run(self.rows(f"select url from {self.namespace}.page where version > 0"))
        except (OSError, asyncpg.PostgresError):
            return
        self.acknowledged |= {row[0] for row in rows}

    def end_all(self) -> None:
        for process in self.workers.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()


def fault(cluster: Cluster, kind: str, chance: random.Random) -> None:
    """One thing that goes wrong, or changes."""
    number = chance.choice(cluster.alive())
    if kind == "kill":
        cluster.kill(max(cluster.alive(), key=cluster.sites_of))
        cluster.start()
    elif kind == "freeze":
        cluster.workers[number].send_signal(signal.SIGSTOP)
        time.sleep(LEASE_S * 2)
        cluster.workers[number].send_signal(signal.SIGCONT)
    elif kind == "leave":
        cluster.workers[number].send_signal(signal.SIGTERM)
        cluster.start()
    elif kind == "join":
        cluster.start()
    elif kind == "database":
        cluster.server.restart_at_once()


def run(
    server: PostgresServer, folder: Path, *, faults: list[str], pages: int, seed: int, workers: int = 3
) -> dict[str, Any]:
    """A crawl to its end through these faults; what was seen."""
    chance = random.Random(seed)
    web = Web(pages=pages)
    with running(web):
        cluster = Cluster(folder, web, server, server.new_namespace())
        try:
            for _ in range(workers):
                cluster.start()
            time.sleep(BETWEEN_FAULTS_S)
            for kind in faults:
                cluster.note_acknowledged()
                fault(cluster, kind, chance)
                time.sleep(BETWEEN_FAULTS_S * chance.uniform(0.7, 1.3))
            cluster.note_acknowledged()
            deadline = time.monotonic() + END_S
            while cluster.alive() and time.monotonic() < deadline:
                time.sleep(0.2)
            return judged(cluster)
        finally:
            cluster.end_all()


def judged(cluster: Cluster) -> dict[str, Any]:
    """What the sites' log and the database say."""
    space = cluster.namespace
    stored = Counter(
        row[0]
        for row in asyncio.run(
            cluster.rows(
                f"select p.url from {space}.version v join {space}.page p"
                " on p.shard = v.shard and p.id = v.page_id"
            )
        )
    )
    asked = sorted(cluster.web.asked)
    pages = Counter((host, path) for _, host, path in asked if path != "/robots.txt")
    everything = {f"http://{host}{path}" for host, path in pages}
    return {
        "requests": len(asked),
        "pages": len(stored),
        "pages_expected": len(DOMAINS) * cluster.web.pages,
        "workers": cluster.started,
        "violations": len(violations(asked)),
        "lost": len(cluster.acknowledged - stored.keys()),
        "double_commits": sum(count - 1 for count in stored.values()),
        "duplicate_fetches": sum(count - 1 for count in pages.values()),
        "takeover_s": round(max(takeovers(cluster, asked), default=0.0), 2),
        "unfinished": len(cluster.alive()),
        "never_stored": len(everything - stored.keys()),
    }


def violations(asked: list[tuple[float, str, str]]) -> list[tuple[str, float]]:
    """Requests to a site within its gap after the one before."""
    last: dict[str, float] = {}
    found = []
    for moment, host, _ in asked:
        if moment - last.get(host, -1e9) < GAP_S - TOLERANCE_S:
            found.append((host, moment - last[host]))
        last[host] = moment
    return found


def takeovers(cluster: Cluster, asked: list[tuple[float, str, str]]) -> list[float]:
    """From each death to the first request at one of the dead worker's sites."""
    found = []
    for died, hosts in cluster.deaths:
        later = [moment - died for moment, host, _ in asked if moment > died + GAP_S and host in hosts]
        if later:
            found.append(min(later))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    count = max(len(FAULTS), int(arguments.minutes * 60 / BETWEEN_FAULTS_S))
    chance = random.Random(arguments.seed)
    faults = list(FAULTS) + [chance.choice(FAULTS) for _ in range(count - len(FAULTS))]
    pages = int((count + 2) * BETWEEN_FAULTS_S * 1.5 / GAP_S / 2)
    with running_server() as server, tempfile.TemporaryDirectory() as folder:
        print(json.dumps(run(server, Path(folder), faults=faults, pages=pages, seed=arguments.seed)))


if __name__ == "__main__":
    main()
