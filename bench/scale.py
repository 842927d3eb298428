"""What do two workers gain over one on this machine?

    python bench/scale.py [ROUNDS] [--seconds 12] [--store files|postgres]

Sites of the shared bench folder's web (EVERCRAWL_SHARED/bench/corpus.sh, which must be served already:
CORPUS_ROOT says where it lies; its nginx is bound to the last core) with more pages than either run can
finish. A first crawl, not measured, fills the queues from the sites' indexes; then pages are counted for so
many seconds. One worker is bound to the first core and has it for itself; two workers have both cores, so
the server takes its share from the second one: with two cores the gain stays below 2 by what the server
takes. The last line is JSON: `pages_per_s` and CPU milliseconds of a page for one and two workers and of the
server for each, `ratio` of the pages a second, and `cpu_ratio`: what the ratio would be with nothing else on
the machine (twice one worker's cost of a page over that of two with the server's), which also holds on a
busy one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.cost import CORPUS, SERVER_SETTINGS, crawl, process_cpu_s, seeds_of
from tests.postgres_server import PostgresServer, running_server

WORKERS = (1, 2)
SITES = (
    "apache2-doc clang-14-doc debian-policy erlang-doc gimp-help-en libglib2.0-doc libgtk-3-doc llvm-14-doc"
    " postgresql-doc-15 python-django-doc python-sklearn-doc python-sympy-doc python3.11-doc"
    " qtdeclarative5-doc-html sqlite3-doc sbcl-doc"
)
"""11,462 pages: enough for half a minute of one worker, or 15 s of two."""


def web_server() -> list[int]:
    """The processes of the web server under test."""
    first = int((CORPUS / "nginx" / "nginx.pid").read_text())
    children = Path(f"/proc/{first}/task/{first}/children")
    return [first, *map(int, children.read_text().split() if children.exists() else ())]


def run(workers: int, arguments: argparse.Namespace, server: PostgresServer | None) -> dict[str, Any]:
    """One crawl with so many workers."""
    seeds = seeds_of(arguments.sites)
    flags = ["--workers", str(workers)]
    if server is not None:
        flags += ["--store", f"{server.dsn}?namespace={server.new_namespace()}"]
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(mine)[:workers]))
    try:
        with tempfile.TemporaryDirectory(prefix="evercrawl-scale-") as folder:
            crawl(Path(folder), seeds, *flags, "--max-pages", str(len(seeds)))
            before = sum(map(process_cpu_s, web_server()))
            limits = ["--max-pages", "none", "--max-time", str(arguments.seconds)]
            seen = crawl(Path(folder), seeds, *flags, *limits)
    finally:
        os.sched_setaffinity(0, mine)
    pages = max(1, seen["pages"])
    figures = {
        "workers": workers,
        "pages": seen["pages"],
        "pages_per_s": round(pages / seen["crawl_s"], 1),
        "cpu_ms": round(seen["worker_cpu_s"] / pages * 1000, 3),
        "server_cpu_ms": round((sum(map(process_cpu_s, web_server())) - before) / pages * 1000, 3),
    }
    print(json.dumps(figures), flush=True)
    return figures


def summary(runs: list[dict[str, Any]], store: str) -> dict[str, Any]:
    """Medians and ratios."""
    table = {
        workers: {
            name: median(seen[name] for seen in runs if seen["workers"] == workers)
            for name in ("pages_per_s", "cpu_ms", "server_cpu_ms")
        }
        for workers in WORKERS
    }
    one, two = table[1], table[2]
    return {
        "store": store,
        "one": one,
        "two": two,
        "ratio": round(two["pages_per_s"] / one["pages_per_s"], 2),
        "cpu_ratio": round(2 * one["cpu_ms"] / (two["cpu_ms"] + two["server_cpu_ms"]), 2),
        "cores": os.cpu_count(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=3)
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--sites", default=SITES, help="names of sites, between blanks")
    parser.add_argument("--store", choices=("files", "postgres"), default="files")
    arguments = parser.parse_args()
    database = running_server(*SERVER_SETTINGS) if arguments.store == "postgres" else nullcontext()
    with database as server:
        runs = [run(workers, arguments, server) for _ in range(arguments.rounds) for workers in WORKERS]
    print(json.dumps(summary(runs, arguments.store)))


if __name__ == "__main__":
    main()
