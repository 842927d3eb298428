"""What does syncing every group of commits cost? Crawls of a local web with each durability, in turn.

    python bench/durability.py [ROUNDS [PAGES [SITES]]]

The last line is JSON: medians of CPU and wall seconds per crawl, and their ratio (power / process) per round.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

MODES = ("process", "power")


def crawl(folder: Path, origins: list[str], mode: str) -> dict[str, float]:
    """Crawl into a new collection; return what it took."""
    seeds, resolved = [], []
    for number, origin in enumerate(origins):
        port = origin.rpartition(":")[2]
        host = f"www.site-{number}.example"
        seeds.append(f"http://{host}:{port}/")
        resolved += ["--resolve", f"{host}:{port}:127.0.0.1"]
    command = [sys.executable, "-m", "evercrawl", "-C", str(folder / "c.evercrawl"), "crawl", *seeds, *resolved]
    command += ["--allow-private", "--pace", "own", "--max-pages", "none", "--json"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
    env |= {"EVERCRAWL_CONTACT": "mailto:bench@example.org", "EVERCRAWL_STORE__DURABILITY": mode}
    start = time.monotonic()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    summary = json.loads(said.splitlines()[-1])
    return {
        "wall": time.monotonic() - start,
        "cpu": used.ru_utime + used.ru_stime,
        "fetched": summary["fetched"],
        "exit": process.returncode,
    }


def main() -> None:
    rounds, pages, sites = (int(value) for value in (*sys.argv[1:], *("6", "300", "6")[len(sys.argv) - 1 :]))
    found: dict[str, list[dict[str, float]]] = {mode: [] for mode in MODES}
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as place:
        command = [sys.executable, "-m", "tests.e2e.web_server", os.devnull, str(sites), str(pages), "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            origins = json.loads(server.stdout.readline())
            for number in range(rounds):
                for mode in MODES if number % 2 else MODES[::-1]:
                    folder = Path(place) / f"{mode}-{number}"
                    folder.mkdir()
                    found[mode].append(crawl(folder, origins, mode))
                    print(mode, found[mode][-1], flush=True)
        finally:
            server.terminate()
            server.wait()
    answer: dict[str, object] = {"rounds": rounds, "pages": pages, "sites": sites}
    for kind in ("cpu", "wall"):
        for mode in MODES:
            answer[f"{kind}_{mode}"] = round(median(one[kind] for one in found[mode]), 2)
        pairs = zip(found["power"], found["process"], strict=True)
        answer[f"{kind}_ratios"] = [round(one[kind] / other[kind], 3) for one, other in pairs]
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
