"""Workers on one PostgreSQL lose each other, their leases, the network and the database, without any effect on sites.

    python -m tests.e2e.failover --minutes 5

Uses real processes, servers and sites on loopback. The last line is JSON: `requests` in the sites' log, `violations` of
a site's delay, `lost` pages that were acknowledged, `double_commits` (versions stored twice), `duplicate_fetches`
(repeated requests, at most `duplicate_bound`), `takeover_s` (the longest time from a worker's silence to the first
request of another worker to one of its sites, without the growth of the site's delay; `takeover_with_gap_s` with it),
`credit_error` (units of credit missing or too many at any of the `credit_checks`), `stall_s` (how long the machine let
this process wait).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from evercrawl.core.url import shard_of_site
from tests.command_server import start_command
from tests.e2e.failover_judge import (
    GAP_S,
    LEASE_S,
    BusyWeb,
    Silence,
    credit_errors_at,
    judged,
    repeats,
    rows,
    watching_for_stalls,
)
from tests.e2e.test_workers import DOMAINS, running
from tests.e2e.wire import Wire, Wires, wires
from tests.postgres_pair import PostgresPair, running_pair

SHARDS = 16
FIRST_WORKERS = 3
BETWEEN_FAULTS_S = 5.0
START_S = 60.0
END_S = 600.0


@dataclass
class Cluster:
    """The workers, and what was seen of them."""

    folder: Path
    web: BusyWeb
    server: PostgresPair
    namespace: str
    wires: Wires
    workers: dict[int, subprocess.Popen[str]] = field(default_factory=dict)
    wire_of: dict[int, Wire] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    silences: list[Silence] = field(default_factory=list)
    credit_errors: list[dict[str, int]] = field(default_factory=list)
    may_repeat: int = 0
    """Most pages that may be asked for again."""

    def start(self) -> None:
        """One more worker, in a folder of its own, with a wire of its own to each server."""
        number = len(self.workers)
        wire = self.wire_of[number] = self.wires.wire_to(self.server.ports)
        hosts = ",".join(f"127.0.0.1:{port}" for port in wire.ports)
        dsn = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write&namespace={self.namespace}"
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        env = keep | {
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "EVERCRAWL_CONTACT": f"worker{number}@example.org",
            "EVERCRAWL_SITEMAPS__ENABLED": "false",
            "EVERCRAWL_TRAPS__ENABLED": "false",
            "EVERCRAWL_STORE__LEASE_TIMEOUT": f"{LEASE_S}s",
            "EVERCRAWL_STORE__SHARDS": str(SHARDS),
        }
        with (self.folder / f"w{number}.log").open("w") as log:
            self.workers[number] = start_command(
                *(*self._command(number), "--store", dsn),
                cwd=self.folder,
                env=env,
                text=True,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _command(self, number: int) -> list[str]:
        port = self.web.port
        seeds = [f"http://{domain}:{port}/" for domain in DOMAINS]
        resolve = [part for domain in DOMAINS for part in ("--resolve", f"{domain}:{port}:127.0.0.1")]
        flags = ["--gap", str(GAP_S), "--allow-private", "--json", "--max-pages", "none"]
        crawl = ["-C", f"w{number}.evercrawl", "crawl"]
        return [*crawl, *seeds, *resolve, *flags]

    def fill_up(self) -> None:
        """As many workers as at first, all of which have joined; one may get shards without a site."""
        while len(self.alive()) < FIRST_WORKERS:
            self.start()
        deadline = time.monotonic() + START_S
        while not {self.workers[number].pid for number in self.alive()} <= self._joined():
            assert time.monotonic() < deadline, "a worker does not join"
            time.sleep(0.2)

    def _joined(self) -> set[int]:
        """Process numbers of the workers that live as the database sees it."""
        try:
            found = rows(self.server.dsn, f"select pid from {self.namespace}.worker where not dead")
        except (OSError, asyncpg.PostgresError):
            return set()
        return {row[0] for row in found}

    def alive(self) -> list[int]:
        return [number for number, process in self.workers.items() if process.poll() is None]

    def busiest(self) -> int:
        """The worker with most sites, so that its silence is felt."""
        return max(self.alive(), key=lambda number: len(self._hosts_of(number)))

    def falls_silent(self, number: int, kind: str, *, goes_on_s: float = 0.0) -> None:
        """The others have to do without this worker, which itself may go on for some time."""
        hosts, gaps = self._hosts_of(number), self._longer_gaps()
        self.silences.append(Silence(time.monotonic(), kind, number, hosts, gaps))
        self.may_repeat += repeats(len(hosts), goes_on_s)

    def _longer_gaps(self) -> dict[str, float]:
        """By how many seconds a site's gap is longer than the least: one that answers slowly is asked more
        seldom, and whoever takes it over after a crash waits that long from then on.
        """
        found = rows(self.server.dsn, f"select name, delay_ms from {self.namespace}.site")
        return {name.removeprefix("http://"): max(0.0, delay_ms / 1000 - GAP_S) for name, delay_ms in found}

    def _hosts_of(self, number: int) -> frozenset[str]:
        """The sites that a worker has pages to ask of."""
        space = self.namespace
        found = rows(
            self.server.dsn,
            f"select l.shard from {space}.lease l join {space}.worker w on w.id = l.owner"
            " where w.pid = $1 and not w.dead",
            self.workers[number].pid,
        )
        owned = {row[0] for row in found}
        names = [f"{domain}:{self.web.port}" for domain in DOMAINS]
        return frozenset(name for name in names if shard_of_site(f"http://{name}", SHARDS) in owned)

    def look(self) -> None:
        """Every page that the store has a version of now must be there at the end; no credit may be gone."""
        try:
            found = rows(self.server.dsn, f"select url from {self.namespace}.page where version > 0")
            errors = asyncio.run(credit_errors_at(self.server.dsn, self.namespace))
        except (OSError, asyncpg.PostgresError):
            return
        self.acknowledged |= {row[0] for row in found}
        self.credit_errors.append(errors)

    def end_all(self) -> None:
        for process in self.workers.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()


def kill(cluster: Cluster) -> None:
    number = cluster.busiest()
    cluster.falls_silent(number, "kill")
    cluster.workers[number].kill()
    cluster.workers[number].wait()


def freeze(cluster: Cluster) -> None:
    number = cluster.busiest()
    cluster.falls_silent(number, "freeze")
    cluster.workers[number].send_signal(signal.SIGSTOP)
    time.sleep(LEASE_S * 2)
    cluster.workers[number].send_signal(signal.SIGCONT)


def leave(cluster: Cluster) -> None:
    cluster.workers[cluster.busiest()].send_signal(signal.SIGTERM)


def join(cluster: Cluster) -> None:
    cluster.start()


def database(cluster: Cluster) -> None:
    cluster.may_repeat += repeats(len(DOMAINS), 0)
    cluster.server.restart_at_once()


def promote(cluster: Cluster) -> None:
    """What was acknowledged up to now must be on the standby when it takes over."""
    cluster.look()
    cluster.may_repeat += repeats(len(DOMAINS), 0)
    cluster.server.promote()
    time.sleep(LEASE_S)
    cluster.server.follow()


def network(cluster: Cluster) -> None:
    """One worker hears nothing of the database, and the database nothing of it; sites hear it still."""
    number = cluster.busiest()
    cluster.falls_silent(number, "network", goes_on_s=LEASE_S)
    cluster.wire_of[number].freeze()
    time.sleep(LEASE_S * 2)
    cluster.wire_of[number].thaw()


FAULTS: dict[str, Callable[[Cluster], None]] = {
    "kill": kill,
    "freeze": freeze,
    "leave": leave,
    "join": join,
    "database": database,
    "promote": promote,
    "network": network,
}


def run(server: PostgresPair, folder: Path, *, faults: list[str], seed: int) -> dict[str, Any]:
    """A crawl to its end through these faults; what was seen."""
    chance = random.Random(seed)
    web = BusyWeb()
    with running(web), wires() as some_wires, watching_for_stalls() as stalls:
        cluster = Cluster(folder, web, server, server.new_namespace(), some_wires)
        try:
            cluster.fill_up()
            time.sleep(BETWEEN_FAULTS_S)
            for kind in faults:
                cluster.look()
                FAULTS[kind](cluster)
                time.sleep(BETWEEN_FAULTS_S * chance.uniform(0.8, 1.2))
                cluster.fill_up()
            cluster.look()
            web.end()
            deadline = time.monotonic() + END_S
            while cluster.alive() and time.monotonic() < deadline:
                time.sleep(0.2)
            cluster.look()
            return conclusion(cluster) | {"stall_s": round(max(stalls), 2)}
        finally:
            cluster.end_all()


def conclusion(cluster: Cluster) -> dict[str, Any]:
    """The figures of the run."""
    space = cluster.namespace
    stored = rows(
        cluster.server.dsn,
        f"select p.url from {space}.version v join {space}.page p on p.shard = v.shard and p.id = v.page_id",
    )
    figures = judged(
        cluster.web,
        versions=Counter(row[0] for row in stored),
        acknowledged=cluster.acknowledged,
        silences=cluster.silences,
    )
    return figures | {
        "duplicate_bound": cluster.may_repeat,
        "workers": len(cluster.workers),
        "unfinished": len(cluster.alive()),
        "defects": defects_in(cluster.folder),
        "credit_error": sum(abs(error) for look in cluster.credit_errors for error in look.values()),
        "credit_errors": cluster.credit_errors[-1],
        "credit_checks": len(cluster.credit_errors),
        "lease_s": LEASE_S,
    }


def defects_in(folder: Path) -> int:
    """Visits, and whole workers, that ended with an error of ours; what a worker says and what it logs."""
    logs = [*folder.glob("w*.log"), *folder.glob("w*.evercrawl/evercrawl.log*")]
    return sum(log.read_text().count("defect") for log in logs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="keep the workers' logs here")
    arguments = parser.parse_args()
    mean_s = BETWEEN_FAULTS_S + LEASE_S
    count = max(len(FAULTS), int(arguments.minutes * 60 / mean_s))
    chance = random.Random(arguments.seed)
    faults = list(FAULTS) + [chance.choice(list(FAULTS)) for _ in range(count - len(FAULTS))]
    with running_pair() as server, tempfile.TemporaryDirectory() as folder:
        place = arguments.logs or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        print(json.dumps(run(server, place, faults=faults, seed=arguments.seed)))


if __name__ == "__main__":
    main()
