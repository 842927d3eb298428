"""Kill the crawler with -9 at random moments, resume, and check the guarantees.

python -m tests.e2e.crash KILLS [SEED]
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from tests.command_server import run_command, start_command

SITES = 6
GAP_S = 0.05
CLOCK_SLACK_S = 0.003
"""The server stamps a request when its event loop reads it, which may be a little later than it came."""


@dataclass
class Evidence:
    """What a run of kills showed."""

    kills: int = 0
    pages: int = 0
    lost: list[str] = field(default_factory=list)
    archived_twice: list[str] = field(default_factory=list)
    bad_warcs: list[str] = field(default_factory=list)
    unarchived: list[str] = field(default_factory=list)
    smallest_gap_s: float = 1e9
    gap_violations: int = 0
    requests: int = 0
    forbidden: int = 0


@contextmanager
def web(log: Path, *, pages: int, delay_ms: float = 2.0) -> Iterator[list[str]]:
    """The origins of a small web that runs while the block does."""
    command = [sys.executable, "-m", "tests.e2e.web_server", str(log), str(SITES), str(pages), str(delay_ms)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def crawl_command(collection: Path, origins: list[str]) -> list[str]:
    flags = ["--allow-private", "--gap", str(GAP_S), "--max-pages", "none", "--json"]
    seeds = [origin + "/" for origin in origins]
    return ["-C", str(collection), "crawl", *seeds, *flags]


def environment() -> dict[str, str]:
    """A contact, so that the gap of the test is allowed; no other setting from outside."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
    return clean | {"EVERCRAWL_CONTACT": "mailto:crash@example.org"}


def acknowledged(collection: Path) -> dict[str, str]:
    """URL -> digest of every page whose version is committed."""
    found: dict[str, str] = {}
    for path in sorted((collection / "state").glob("*.sqlite")):
        with sqlite3.connect(path) as db:
            if not db.execute("select 1 from sqlite_master where name = 'version'").fetchone():
                continue  # Killed before the tables were committed.
            rows = db.execute("select p.url, hex(v.digest) from page p join version v on v.page_id = p.id").fetchall()
        db.close()
        found.update(rows)
    return found


def run(kills: int, *, seed: int, pages: int) -> Evidence:
    """Crawl a small web to its end through so many kills."""
    chance = random.Random(seed)
    evidence = Evidence()
    with tempfile.TemporaryDirectory() as folder:
        collection, log = Path(folder) / "c.evercrawl", Path(folder) / "requests.log"
        with web(log, pages=pages) as origins:
            command = crawl_command(collection, origins)
            promised: dict[str, str] = {}
            while evidence.kills < kills:
                if not _killed(command, after_s=chance.uniform(0.1, 0.9)):
                    break
                evidence.kills += 1
                now = acknowledged(collection)
                evidence.lost += [url for url, digest in promised.items() if now.get(url) != digest]
                promised = now
            finished = run_command(*command, env=environment(), timeout=250)
            assert finished.returncode == 0, finished.stderr
            final = acknowledged(collection)
            evidence.lost += [url for url, digest in promised.items() if final.get(url) != digest]
            evidence.pages = len(final)
        _read_archive(collection, final, evidence)
        _read_log(log, evidence)
    return evidence


def _killed(command: list[str], *, after_s: float) -> bool:
    """Start a crawl and kill it after a while; False: it had ended by itself."""
    process = start_command(*command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after_s)
    if process.poll() is not None:
        return False
    process.send_signal(signal.SIGKILL)
    process.wait()
    return True


def _read_archive(collection: Path, final: dict[str, str], evidence: Evidence) -> None:
    responses: Counter[str] = Counter()
    for path in sorted((collection / "archive").glob("*.warc.gz")):
        checker = Checker(SimpleNamespace(inputs=[str(path)], verbose=False))
        checker.process_all()
        if checker.exit_value:
            evidence.bad_warcs.append(path.name)
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type in ("response", "revisit"):
                    responses[record.rec_headers.get_header("WARC-Target-URI")] += 1
    again = ("/robots.txt", "/sitemap.xml")  # A run asks for them again if the one before was killed.
    evidence.archived_twice = [url for url, count in responses.items() if count > 1 and not url.endswith(again)]
    evidence.unarchived = [url for url in final if url not in responses]


def _read_log(log: Path, evidence: Evidence) -> None:
    moments: dict[str, list[float]] = defaultdict(list)
    for line in log.read_text().splitlines():
        moment, port, path = line.split(" ", 2)
        moments[port].append(float(moment))
        evidence.requests += 1
        evidence.forbidden += path.startswith("/private/")
    for times in moments.values():
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        evidence.smallest_gap_s = min([evidence.smallest_gap_s, *gaps])
        evidence.gap_violations += sum(gap < GAP_S - CLOCK_SLACK_S for gap in gaps)


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    evidence = run(kills, seed=seed, pages=25 + kills * 14)
    print(json.dumps({"seed": seed, **evidence.__dict__}))
    failed = (
        evidence.lost or evidence.archived_twice or evidence.bad_warcs or evidence.gap_violations or evidence.forbidden
    )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
