"""What does a page cost with the state in PostgreSQL, beside the same crawl with the state in files?

    python bench/cost.py [ROUNDS] [--pages N]

The same pages of the shared bench folder's web (EVERCRAWL_SHARED/bench/corpus.sh, which must be served
already: CORPUS_ROOT says where it lies), interleaved. CPU seconds, for the machine may be busy: of the
crawling process, and apart from it of the database's processes. The last line is JSON: medians per store, and
`worker_ratio` and `whole_ratio` (PostgreSQL's processes included) of PostgreSQL against files.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.postgres_server import PostgresServer, processes_of, running_server

CORPUS = Path(os.environ.get("CORPUS_ROOT", "scratch/corpus"))
SLICE = "postgresql-doc-15 python-django-doc python3.11-doc libgtk-3-doc sbcl-doc debian-policy"
FLAGS = ("--pace", "own", "--allow-private", "--include", r"^[^?]*\.html?$", "--no-progress", "--json")
TICKS = os.sysconf("SC_CLK_TCK")
SERVER_SETTINGS = ("shared_buffers=512MB", "fsync=on", "synchronous_commit=on")


def seeds_of(sites: str) -> list[str]:
    """The index of each site."""
    hosts = json.loads((CORPUS / "nginx" / "hosts.json").read_text())
    return [f"http://{hosts[site]['ip']}:8080/__index.html" for site in sites.split()]


def server_cpu_s(server: PostgresServer) -> float:
    """CPU seconds of the database up to now, processes that have ended included."""
    *children, postmaster = processes_of(server.folder)
    return process_cpu_s(postmaster, with_children=True) + sum(map(process_cpu_s, children))


def process_cpu_s(pid: int, *, with_children: bool = False) -> float:
    """User and system time of a process; with that of the children that it has outlived."""
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    except OSError:
        return 0.0
    return sum(map(int, ticks if with_children else ticks[:2])) / TICKS


def crawl(folder: Path, seeds: Sequence[str], *flags: str) -> dict[str, Any]:
    """One crawl in a process of its own; what it says, and its CPU seconds."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
    env |= {"EVERCRAWL_CONTACT": "mailto:bench@example.org", "XDG_CONFIG_HOME": str(folder / "config")}
    command = [sys.executable, "-m", "evercrawl", "-C", str(folder / "c"), "crawl", *seeds, *FLAGS, *flags]
    began = time.monotonic()
    process = subprocess.Popen(command, env=env, cwd=folder, text=True, stdout=subprocess.PIPE)
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = json.loads(out.strip().splitlines()[-1])
    return {
        "pages": said["fetched"],
        "seconds": round(time.monotonic() - began, 1),
        "crawl_s": said["seconds"],
        "worker_cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss // 1024,
    }


def run(store: str, server: PostgresServer, seeds: Sequence[str], flags: Sequence[str]) -> dict[str, Any]:
    """One crawl with its state in files or in the database."""
    folder = Path(tempfile.mkdtemp(prefix="evercrawl-cost-"))
    before = server_cpu_s(server)
    where = [] if store == "files" else ["--store", f"{server.dsn}?namespace={server.new_namespace()}"]
    try:
        seen = crawl(folder, seeds, *flags, *where)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    server_cpu = server_cpu_s(server) - before if store == "postgres" else 0.0
    per_1000 = 1000 / max(1, seen["pages"])
    seen |= {
        "store": store,
        "worker_ms": round(seen.pop("worker_cpu_s") * per_1000, 3),
        "server_ms": round(server_cpu * per_1000, 3),
    }
    print(json.dumps(seen), flush=True)
    return seen


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians by store, CPU milliseconds a page, and the ratios."""
    table: dict[str, Any] = {}
    for store in ("files", "postgres"):
        own = [seen for seen in runs if seen["store"] == store]
        table[store] = {
            name: median(seen[name] for seen in own)
            for name in ("pages", "seconds", "worker_ms", "server_ms", "peak_mb")
        }
    files, other = table["files"], table["postgres"]
    table["worker_ratio"] = round(other["worker_ms"] / files["worker_ms"], 3)
    table["whole_ratio"] = round((other["worker_ms"] + other["server_ms"]) / files["worker_ms"], 3)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=3)
    parser.add_argument("--pages", type=int, default=None, help="most pages of a crawl; all, if not given")
    parser.add_argument("--sites", default=SLICE)
    arguments = parser.parse_args()
    flags = ["--max-pages", str(arguments.pages) if arguments.pages else "none"]
    seeds = seeds_of(arguments.sites)
    with running_server(*SERVER_SETTINGS) as server:
        runs = [run(store, server, seeds, flags) for _ in range(arguments.rounds) for store in ("files", "postgres")]
    print(json.dumps(summary(runs)))


if __name__ == "__main__":
    main()
