"""Nothing that people read uses the phrases that we replaced because they read like a translation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import REPOSITORY, place, report

FOLDERS = ("src", "docs", "research", "deploy")
SUFFIXES = frozenset({".py", ".md", ".html", ".js", ".css", ".sql", ".toml", ".txt", ".yml", ".yaml", ".service"})

PHRASES = (
    "a visit should bring", "and making it anew", "answer to everything", "as far as they prove true",
    "at least so much", "bears from us", "brings", "came to be", "code that waits for nobody",
    "counts more than the evidence", "database that is waited for", "for ever", "from there on nothing does",
    "heeds", "held up by", "how friendly a page is", "how often is looked for", "how the search index stands",
    "is asked for", "is looked for", "last met", "lets its lock go", "looked at", "not looked at", "one a line",
    "only your own rules count", "or pages of the form", "set aside", "steered by", "tables are made when",
    "the same again", "told is what", "told of", "too early to be worth", "visit it soon",
    "visits go where they bring", "walk out of traps", "what is met", "what visits brought", "words came",
    "words went", "your word counts",
)  # fmt: skip
"""The left column and rule 3 of our style guide for English."""
LABELS = ("Alone", "Came to be", "Keep fresh", "Spared", "That say", "Told", "Vanished", "Waiting")
"""Words that are fine in a sentence, but not as the whole label of a column or button."""

_PHRASE = re.compile(r"\b(?:" + "|".join(p.replace(" ", r"(?:\s+#?\s*)") for p in PHRASES) + r")\b", re.IGNORECASE)
_LABEL = re.compile(r">\s*(?:" + "|".join(LABELS) + r")\s*<")


def _texts() -> Iterator[tuple[Path, str]]:
    files = [*REPOSITORY.glob("*.md"), REPOSITORY / "Makefile", REPOSITORY / "pyproject.toml"]
    for folder in FOLDERS:
        files += [path for path in (REPOSITORY / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file()]
    for path in sorted(files):
        yield path, path.read_text(encoding="utf-8")


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def test_no_replaced_phrase_is_left() -> None:
    report([
        f"{place(path, _line(text, match.start()))}: {' '.join(match[0].split())!r}"
        for path, text in _texts()
        for match in _PHRASE.finditer(text)
    ])  # fmt: skip


def test_no_replaced_label_is_left() -> None:
    report([
        f"{place(path, _line(text, match.start()))}: the label {match[0]}"
        for path, text in _texts()
        if path.suffix == ".html"
        for match in _LABEL.finditer(text)
    ])  # fmt: skip
