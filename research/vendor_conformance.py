"""Copy the test vectors that may be published into tests/data/conformance, without those whose licence is unknown.

    python research/vendor_conformance.py SHARED/conformance

Whole pages, robots.txt files of real sites and corpora without a licence stay outside: tests over them run where
EVERCRAWL_SHARED names the folder that has them, and are listed as not tested elsewhere.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections import Counter
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "tests" / "data" / "conformance"
LICENCES = {
    "own words": "written for this project, Apache-2.0",
    "apache/nutch": "Apache-2.0",
    "crawler-commons/crawler-commons": "Apache-2.0",
    "dgtlmoon/changedetection.io": "Apache-2.0",
    "google/robotstxt": "Apache-2.0",
    "html5lib/html5lib-tests": "MIT",
    "iipc/webarchive-commons": "Apache-2.0",
    "internetarchive/heritrix3": "Apache-2.0",
    "scrapy/protego": "BSD-3-Clause",
    "scrapy/scrapy": "BSD-3-Clause",
    "scrapy/w3lib": "BSD-3-Clause",
    "seomoz/reppy": "MIT",
    "web-platform-tests/wpt": "BSD-3-Clause",
    "webrecorder/warcio": "Apache-2.0",
}
FILES = (
    "change/living_sequences.jsonl.gz", "change/pairs.jsonl", "html/base_url.jsonl", "html/charset.jsonl",
    "html/links.jsonl", "html/meta_refresh.jsonl", "html/robots_directives.jsonl", "html/srcset.jsonl",
    "http_hostile/catalogue.jsonl", "robots/fetch_semantics.jsonl", "robots/rules.jsonl", "sentiment/probes.jsonl",
    "sitemaps/dates.jsonl", "sitemaps/parse.jsonl", "sitemaps/site_trees.jsonl", "traps/site_traps.jsonl",
    "traps/url_verdicts.jsonl", "urls/equivalence.jsonl", "urls/join.jsonl", "urls/normalize.jsonl",
    "urls/wpt_parse.jsonl", "urls/wpt_percent_encoding.jsonl", "urls/wpt_toascii.jsonl", "warc/cases.jsonl",
    "warc/writer_facts.jsonl",
)  # fmt: skip


def publishable(line: str) -> str | None:
    """Return the origin of a row, or None if its licence is unknown; rows without an origin are our own."""
    source = json.loads(line).get("source")
    origin = source["repo"] if isinstance(source, dict) else "own words"
    return origin if origin in LICENCES else None


def main(shared: Path) -> None:
    """Write the files and a page about their origin."""
    shutil.rmtree(TARGET, ignore_errors=True)
    table = ["| File | Rows | Origin |", "|---|---|---|"]
    for name in FILES:
        path = shared / name
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text("utf-8")
        rows = [(line, origin) for line in text.split("\n") if line and (origin := publishable(line)) is not None]
        target = TARGET / (name if name.endswith(".gz") else f"{name}.gz")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress("".join(f"{line}\n" for line, _ in rows).encode(), 9, mtime=0))
        counts = Counter(origin for _, origin in rows)
        table.append(f"| `{name}` | {len(rows)} | {', '.join(f'{one} ({n})' for one, n in counts.most_common())} |")
        for line, _ in rows if name == "warc/cases.jsonl" else ():
            file = Path("warc", json.loads(line)["file"])
            (TARGET / file.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy(shared / file, TARGET / file)
    licences = [f"- {origin}: {licence}" for origin, licence in LICENCES.items()]
    words = (
        "# Conformance data\n\n"
        "Test vectors, one JSON object per line, written by `research/vendor_conformance.py`. Facts converted from\n"
        "the tests of other projects keep their `source`: repository, file and commit. No code is kept.\n\n"
        "Not here, because they may not be published: whole pages of third parties (`maintext`, `near_duplicates`),\n"
        "robots.txt files of real sites, and corpora and projects without a licence. Tests over those run where\n"
        "`EVERCRAWL_SHARED` names the folder that has them; elsewhere the last lines of the run list them.\n\n"
        "## Licences\n\n"
    )
    (TARGET / "README.md").write_text(words + "\n".join([*licences, "", "## Files", "", *table]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
