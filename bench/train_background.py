"""Count what pages look like in general, for topics that are given by good examples only.

python bench/train_background.py SHARED/conformance/maintext/pages

Only how many of the pages have a word is kept, and only of words that several pages have.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from evercrawl.adapters.learned import BACKGROUND_FILE, FOLDER
from evercrawl.core.focus.classifier import PARTS, FeatureShares
from evercrawl.core.focus.focus import parse_page
from evercrawl.core.focus.page_features import Blocks, page_blocks

MIN_FEATURE_PAGES = 4  # Features of fewer pages are dropped.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="gzip files of HTML")
    arguments = parser.parse_args()
    pages = []
    for path in sorted(arguments.folder.rglob("*.gz")):
        # The URL of a stored page is not known; what depends on it is left out.
        blocks = page_blocks(
            "", parse_page("http://page.test/", gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        )
        pages.append({name: features for name, features in blocks.items() if name not in ("url", "shape")})
    (FOLDER / BACKGROUND_FILE).write_text(format_shares(feature_shares(pages)), encoding="utf-8")


def feature_shares(pages: Iterable[Blocks]) -> FeatureShares:
    """Return the share of pages that have each feature, without rare ones."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    total = 0
    for blocks in pages:
        total += 1
        for name, features in blocks.items():
            counts[name].update(features.keys())
    return {
        name: {feature: count / total for feature, count in sorted(of.items()) if count >= MIN_FEATURE_PAGES}
        for name, of in sorted(counts.items())
    }


def format_shares(shares: FeatureShares) -> str:
    """Format one line per feature: block, feature, parts of a thousand."""
    return "".join(
        f"{name}\t{feature}\t{round(share * PARTS)}\n" for name, of in shares.items() for feature, share in of.items()
    )


if __name__ == "__main__":
    main()
