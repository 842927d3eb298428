"""Build pages: python -m research.app_pages FILE.jsonl.gz [PROGRAM…]; programs are generators and applications."""

from __future__ import annotations

import sys
from pathlib import Path

from research.app_pages import blogs, forums, references, repositories, shops, small_programs, trackers, wikis  # noqa: F401
from research.app_pages.applications import APPLICATIONS
from research.app_pages.generators import GENERATORS
from research.app_pages.pages import Book, save, trim


def main(target: Path, names: list[str]) -> None:
    """Build the programs named, or all; print what the truth claims and the pages lack."""
    book = Book()
    for number, (name, build) in enumerate(GENERATORS.items()):
        if not names or name in names:
            build(book, name, number)
    for name, fill in APPLICATIONS.items():
        if not names or name in names:
            fill(book)
    print("\n".join(book.complaints) or f"{len(book.pages)} pages")
    save(trim(book.pages), target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
