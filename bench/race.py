"""Race evercrawl against Scrapy (tuned), wget and others on the same real pages, interleaved, one core each.

    python bench/race.py [ROUNDS [NAME…]]
    SITES="postgresql-doc-15 python-django-doc python3.11-doc libgtk-3-doc sbcl-doc debian-policy" python bench/race.py

Names: evercrawl, evercrawl-pure (without native code), the peers of the shared bench folder, wget-warc, and colly-tuned
and spider-full where `rivals/setup.sh` of that folder has built them below RACE_ROOT. Uses the web of the shared folder
(EVERCRAWL_SHARED/bench), builds what is missing below ./scratch, prints one JSON line a run and at the end the medians
and ratios. evercrawl runs with everything on but rendering, which no other has: robots, main text, near-duplicate
signature, WARC with gzip, state in SQLite.
"""

from __future__ import annotations

import compileall
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("EVERCRAWL_SHARED", ROOT.parent / "shared"))
SCRATCH = Path(os.environ.get("EVERCRAWL_SCRATCH", ROOT / "scratch"))
CORPUS = Path(os.environ.get("CORPUS_ROOT", SCRATCH / "corpus"))
PEER_PYTHON = SCRATCH / "peers-venv" / "bin" / "python"
NAMES = ("evercrawl", "scrapy-tuned", "wget", "wget-warc")
RACE_ROOT = Path(os.environ.get("RACE_ROOT", SCRATCH / "race"))
RIVALS = {
    "colly-tuned": (
        "colly/colly-race",
        "-dedup",
        "-warc",
        "-text",
        "-robots",
        "-c",
        "64",
        "-o",
        f"{SCRATCH}/peers/out",
    ),
    "spider-full": ("spider/target/release/spider-race", "full", f"{SCRATCH}/peers/out", "64"),
}
"""Programs that the shared folder builds below RACE_ROOT, with text, sha1 and gzip WARC like ours."""


def prepare() -> None:
    """Corpus, peers and their Python environment; our bytecode too, which pip makes for the peers."""
    compileall.compile_dir(ROOT / "src", quiet=1)
    SCRATCH.mkdir(parents=True, exist_ok=True)
    if not (CORPUS / "nginx" / "urls.txt").exists():
        subprocess.run(["bash", str(SHARED / "bench/corpus.sh"), "build"], check=True, env=_environment())
    if not PEER_PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER_PYTHON.parents[1])], check=True)
        subprocess.run([str(PEER_PYTHON), "-m", "pip", "install", "-q", "scrapy", "uvloop"], check=True)


def _environment() -> dict[str, str]:
    return {**os.environ, "CORPUS_ROOT": str(CORPUS), "PYTHON": sys.executable}


def load_peers() -> ModuleType:
    """The shared race, with evercrawl as one more entrant."""
    os.environ.update(
        CORPUS_ROOT=str(CORPUS),
        WORK=str(SCRATCH / "peers"),
        RESULTS=str(SCRATCH / "peers.jsonl"),
        PY=str(PEER_PYTHON),
        EVERCRAWL_CONTACT="mailto:bench@example.org",
    )
    spec = importlib.util.spec_from_file_location("peers", SHARED / "bench/peers.py")
    assert spec is not None
    assert spec.loader is not None
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    flags = ["--pace", "own", "--allow-private", "--max-pages", "none", "--include", r"^[^?]*\.html?$", "--no-progress"]
    crawl = [sys.executable, "-m", "evercrawl", "-C", f"{SCRATCH}/peers/out/c", "crawl", "--render", "never", *flags]
    peers.PEERS["evercrawl"] = crawl
    peers.PEERS["evercrawl-pure"] = ["env", "EVERCRAWL_PURE=1", *crawl]
    peers.PEERS["wget-warc"] = [*peers.PEERS["wget"], "--warc-file", f"{SCRATCH}/peers/out/wget"]
    for name, (program, *arguments) in RIVALS.items():
        peers.PEERS[name] = ["env", "GOGC=400", str(RACE_ROOT / program), *arguments]
    return peers


def race(rounds: int, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Run every entrant once a round."""
    peers = load_peers()
    results = Path(os.environ["RESULTS"])
    results.unlink(missing_ok=True)
    os.chdir(SCRATCH.parent)
    (SCRATCH.parent / "scratch").mkdir(exist_ok=True)
    for _ in range(rounds):
        for name in names:
            peers.run(name)
            for old in SCRATCH.glob("peers.*.*"):
                if old.is_dir():
                    shutil.rmtree(old, ignore_errors=True)
    return [json.loads(line) for line in results.read_text().splitlines()]


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians by entrant and the ratios that the promise is about."""
    table = {}
    for name in dict.fromkeys(run["name"] for run in runs):
        own = [run for run in runs if run["name"] == name]
        table[name] = {
            field: median(run[field] for run in own) for field in ("pages_s", "cpu_per_1000", "peak_mb", "uniq_html")
        }
    if "evercrawl" in table:
        ours = table["evercrawl"]
        for other in table.values():
            other["times_slower_than_evercrawl"] = round(ours["pages_s"] / other["pages_s"], 2)
    return table


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    names = tuple(sys.argv[2:]) or NAMES
    prepare()
    subprocess.run(["bash", str(SHARED / "bench/corpus.sh"), "serve"], check=True, env=_environment())
    try:
        print(json.dumps(summary(race(rounds, names)), indent=1))
    finally:
        subprocess.run(["bash", str(SHARED / "bench/corpus.sh"), "stop"], check=False, env=_environment())


if __name__ == "__main__":
    main()
