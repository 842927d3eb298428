"""Count what pages look like in general, for topics that are given by good examples only.

python bench/train_background.py SHARED/conformance/maintext/pages

Only how many of the pages have a word is kept, and only of words that several pages have.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

from evercrawl.adapters.learned import BACKGROUND_FILE, FOLDER
from evercrawl.core.focus.classifier import feature_shares, format_shares
from evercrawl.core.focus.focus import parse_page
from evercrawl.core.focus.page_features import page_blocks


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


if __name__ == "__main__":
    main()
