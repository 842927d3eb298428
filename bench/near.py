"""How long does it take to find a near duplicate among millions of signatures, and in how much memory?

    python bench/near.py FOLDER --texts 10000000

Fills an index with random signatures and a few planted near duplicates of known similarity, then looks up
signatures that are there, that are near and that are not. Prints one JSON object. FOLDER is made and deleted.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import sys
from pathlib import Path
from random import Random
from time import perf_counter, process_time, thread_time
from typing import Any

from evercrawl.adapters.duplicates_index import NearDuplicateIndex
from evercrawl.core.duplicates.minhash import MIN_SIMILARITY, PERMUTATIONS, signature_similarity

LOOK_UPS = 20_000
SIMILARITIES = (0.95, 0.8, 0.65, 0.5)
TEXT_CHARS = 5000
MOST_MS = 1.0


def main() -> None:
    """Fill, look up, report; exit code 1 where a look-up takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=1_000_000)
    arguments = parser.parse_args()
    folder: Path = arguments.folder / "near-index"
    try:
        report = measure(folder, arguments.texts)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(report, indent=1))
    figures = (*report["absent"].values(), *report["present"].values())
    sys.exit(max(figures) > MOST_MS)


def measure(folder: Path, texts: int) -> dict[str, Any]:
    """Figures of one index of so many texts."""
    random = Random(1)
    kept: list[tuple[int, bytes]] = []
    began = process_time()
    with NearDuplicateIndex(folder) as index:
        for page in range(texts):
            signature = random.randbytes(PERMUTATIONS)
            if page % (texts // LOOK_UPS or 1) == 0:
                kept.append((page, signature))
            index.add(page, signature, chars=TEXT_CHARS)
        filled = process_time() - began
        peak_of_filling = _peak_mb()
        report: dict[str, Any] = {"texts": texts, "fill_us_per_text": round(filled / texts * 1e6, 1)}
        report["own_memory_mb"] = _own_mb()
        report["absent"] = _times(index, [random.randbytes(PERMUTATIONS) for _ in range(LOOK_UPS)])
        report["present"] = _times(index, [signature for _, signature in kept])
        report["own_memory_mb_after_look_ups"] = _own_mb()
        report["found"] = {alike: _found(index, kept, alike, random) for alike in SIMILARITIES}
    report["peak_rss_mb"] = {"while_filling": peak_of_filling, "at_end_with_mapped_pages": _peak_mb()}
    report["disk_mb"] = sum(path.stat().st_size for path in folder.iterdir()) >> 20
    return report


def _times(index: NearDuplicateIndex, signatures: list[bytes]) -> dict[str, float]:
    """Wall time in the middle; at the edge the processor's, which other programs do not touch."""
    wall, processor = [], []
    for signature in signatures:
        began, began_work = perf_counter(), thread_time()
        index.find(signature, chars=TEXT_CHARS)
        processor.append((thread_time() - began_work) * 1e3)
        wall.append((perf_counter() - began) * 1e3)
    processor.sort()
    return {
        "median_wall_ms": round(statistics.median(wall), 4),
        "median_cpu_ms": round(statistics.median(processor), 4),
        "p99_cpu_ms": round(processor[len(processor) * 99 // 100], 4),
    }


def _found(index: NearDuplicateIndex, kept: list[tuple[int, bytes]], alike: float, random: Random) -> float:
    """The share of near duplicates of this similarity (or a little more) that are found."""
    wanted, found = 0, 0
    for page, signature in kept:
        near = bytes(byte if random.random() < alike else random.randrange(256) for byte in signature)
        if signature_similarity(signature, near) >= max(MIN_SIMILARITY, alike - 0.05):
            wanted += 1
            match = index.find(near, chars=TEXT_CHARS)
            found += match is not None and match.page == page
    return round(found / wanted, 4)


def _own_mb() -> int:
    """Memory that the system cannot take back: without the pages of mapped files (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("RssAnon"))


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


if __name__ == "__main__":
    main()
