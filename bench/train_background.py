"""Count what pages look like in general, for topics that are given by good examples only.

python bench/train_background.py SHARED/conformance/maintext/pages

Only how many of the pages have a word is kept, and only of words that several pages have.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

from evercrawl.adapters.learned import BACKGROUND_FILE, FOLDER
from evercrawl.core.focus.background import shares_of, written
from evercrawl.core.focus.feature import page_blocks
from evercrawl.core.focus.relevance import page_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="gzip files of HTML")
    arguments = parser.parse_args()
    pages = []
    for path in sorted(arguments.folder.rglob("*.gz")):
        # The URL of a stored page is not known; what depends on it is left out.
        blocks = page_blocks(
            "", page_of("http://page.test/", gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        )
        pages.append({name: features for name, features in blocks.items() if name not in ("url", "shape")})
    (FOLDER / BACKGROUND_FILE).write_text(written(shares_of(pages)), encoding="utf-8")


if __name__ == "__main__":
    main()
