"""Main text of pages of real software filled with our own texts (research/app_pages): the source's paragraphs are kept,
words of menus, footers and sidebars are not. Run as a script for a table: python -m tests.unit.test_app_pages [FILE]"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evercrawl.core.document.html import parse_document
from evercrawl.model.settings import ParseSettings

pytestmark = pytest.mark.regression_pin
KEPT_BAR = 0.98
FOREIGN_BAR = 0.01
KIND_FLOOR = {"search": 0.94}  # Least share of paragraphs kept on pages of one kind.
USUAL_FLOOR = 0.98
KIND_CEILING = {
    "forum": 0.03,
    "listing": 0.02,
    "tracker": 0.015,
}  # Greatest share of foreign words on pages of one kind.
USUAL_CEILING = 0.01
MIN_PROGRAMS = 70
PAGES = Path(__file__).parents[1] / "data" / "app_pages.jsonl.gz"


class Score(NamedTuple):
    """What the text of one page keeps, and the words in it that are not the page's own."""

    id: str
    software: str
    kind: str
    paragraphs: int
    lost: list[str]
    words: int
    foreign: Counter[str]


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def padded(text: str) -> str:
    return " " + " ".join(words_of(text)) + " "


def load_pages(path: Path = PAGES) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def text_of(page: dict[str, Any]) -> str:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return parse_document(page["url"], headers, page["html"].encode(), agent="TestBot", limits=ParseSettings()).text


def score(page: dict[str, Any]) -> Score:
    """Compare the text with the truth: a paragraph is kept if its words follow each other; a word is foreign if it
    occurs more often than in the paragraphs and the optional strings together."""
    text = text_of(page)
    found = padded(text)
    lost = [paragraph for paragraph in page["paragraphs"] if padded(paragraph) not in found]
    own = Counter(word for part in (*page["paragraphs"], *page["optional"]) for word in words_of(part))
    foreign = Counter(words_of(text)) - own
    return Score(
        page["id"], page["software"], page["kind"], len(page["paragraphs"]), lost, len(words_of(text)), foreign
    )


def shares(scores: Iterable[Score]) -> tuple[float, float]:
    """Return the share of paragraphs kept and of foreign words."""
    several = list(scores)
    paragraphs, words = sum(one.paragraphs for one in several), sum(one.words for one in several)
    kept = 1 - sum(len(one.lost) for one in several) / paragraphs
    return kept, sum(one.foreign.total() for one in several) / max(1, words)


def by_kind(scores: Iterable[Score]) -> dict[str, list[Score]]:
    groups: dict[str, list[Score]] = defaultdict(list)
    for one in scores:
        groups[one.kind].append(one)
    return groups


@pytest.fixture(scope="module")
def scores() -> list[Score]:
    return [score(page) for page in load_pages()]


def test_paragraphs_are_kept_and_menus_are_not(scores: list[Score]) -> None:
    kept, foreign = shares(scores)
    assert len({one.software for one in scores}) >= MIN_PROGRAMS
    assert kept >= KEPT_BAR
    assert foreign <= FOREIGN_BAR


def test_every_kind_of_page_is_read_well(scores: list[Score]) -> None:
    found = {kind: shares(members) for kind, members in by_kind(scores).items()}
    poor = {kind: kept for kind, (kept, _) in found.items() if kept < KIND_FLOOR.get(kind, USUAL_FLOOR)}
    noisy = {kind: foreign for kind, (_, foreign) in found.items() if foreign > KIND_CEILING.get(kind, USUAL_CEILING)}
    assert (poor, noisy) == ({}, {})


def test_the_truth_of_every_page_is_on_the_page() -> None:
    for page in load_pages():
        html = page["html"]  # a word may be cut by markup
        on_page = {word for joint in (" ", "") for word in words_of(unescape(re.sub(r"<[^>]+>", joint, html)))}
        missing = [text for text in page["paragraphs"] if not set(words_of(text)) <= on_page]
        assert page["paragraphs"], page["id"]
        assert not missing, page["id"]


def print_table(scores: list[Score]) -> None:
    """Print shares by program and by kind, then all of them."""
    for key in ("software", "kind"):
        groups: dict[str, list[Score]] = defaultdict(list)
        for one in scores:
            groups[getattr(one, key)].append(one)
        for name, members in sorted(groups.items()):
            kept, foreign = shares(members)
            print(f"{name:24} {len(members):4} pages  kept {kept:7.2%}  foreign {foreign:7.2%}")
        print()
    kept, foreign = shares(scores)
    print(f"{'all':24} {len(scores):4} pages  kept {kept:7.2%}  foreign {foreign:7.2%}")


if __name__ == "__main__":
    print_table([score(page) for page in load_pages(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGES)])
