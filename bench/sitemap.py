"""How much does a sitemap cost when ten files of a large site changed?

    python bench/sitemap.py SITE SCRATCH --edits 10

SITE is a folder of HTML files, such as the largest of the benchmark web; it is copied to SCRATCH and edited
there. Prints one JSON object. The exit code is 1 where the second build names other pages than
those that were edited, or takes more than a tenth of the first.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from evercrawl.sitemaps.folder_pages import FolderRules, find_page_files, page_url
from evercrawl.sitemaps.generator import BuildReport, SitemapTarget, build_from_folder

BASE = "https://docs.example/"
RULES = FolderRules(BASE)
NEWS = b"<p>A sentence that was not here before, of edition %d.</p>"
MOST_SHARE = 0.1


def main() -> None:
    """Copy, build, edit, build again, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--edits", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder: Path = arguments.scratch / "sitemap-bench"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        report = measure(arguments.site, folder, edits=arguments.edits, random=Random(arguments.seed))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(report, indent=1))
    sys.exit(not report["named_exactly"] or max(report["cpu_share"], report["share"]) > MOST_SHARE)


def measure(site: Path, folder: Path, *, edits: int, random: Random) -> dict[str, Any]:
    """Figures of both builds."""
    copy, out = folder / "site", folder / "out"
    shutil.copytree(site, copy, symlinks=True, ignore=shutil.ignore_patterns("*.gz"))
    out.mkdir()
    target = SitemapTarget(out, BASE, folder / "state.jsonl")
    first, first_s, first_cpu = _timed(copy, target)
    edited = _edit(copy, edits, random)
    second, second_s, second_cpu = _timed(copy, target)
    return {
        "files": first.pages + sum(first.excluded.values()),
        "pages": first.pages,
        "excluded": first.excluded,
        "first_s": round(first_s, 2),
        "first_cpu_s": round(first_cpu, 2),
        "second_s": round(second_s, 2),
        "second_cpu_s": round(second_cpu, 2),
        "share": round(second_s / first_s, 4),
        "cpu_share": round(second_cpu / first_cpu, 4),
        "changed": len(second.changed),
        "named_exactly": set(second.changed) == edited and not second.added and not second.removed,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _timed(copy: Path, target: SitemapTarget) -> tuple[BuildReport, float, float]:
    began, cpu = perf_counter(), process_time()
    report = build_from_folder(copy, RULES, target)
    return report, perf_counter() - began, process_time() - cpu


def _edit(copy: Path, edits: int, random: Random) -> set[str]:
    """Add a sentence to so many files; gives their URLs."""
    chosen = random.sample([file for file in find_page_files(copy, RULES) if not Path(file.path).is_symlink()], edits)
    for number, file in enumerate(chosen):
        path = Path(file.path)
        body = path.read_bytes()
        end = body.rfind(b"</body>")
        at = end if end >= 0 else len(body)
        path.write_bytes(body[:at] + NEWS % number + body[at:])
    return {page_url(file.key, RULES) for file in chosen}


if __name__ == "__main__":
    main()
