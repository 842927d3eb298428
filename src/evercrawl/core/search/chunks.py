"""Split the Markdown of a page into chunks for retrieval: one per section, long sections in several.
A chunk keeps its id as long as its section keeps its headings, so that an index can be updated in place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from evercrawl.core.digest import text_digest

MAX_CHUNK_CHARS = 4000  # Of the text of one chunk.
_HEADING = re.compile(r"(#{1,6}) (.*)")
_FENCE = re.compile(r" {0,12}(`{3,}|~{3,})")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|#+>.)-])")


class Chunk(NamedTuple):
    """A section of a page, or a part of a long one."""

    id: str  # Hexadecimal; the same for the same page, headings and part.
    headings: tuple[str, ...]  # From the title of the page down to the section.
    part: int  # From 1; more than 1 for long sections.
    text: str  # Markdown without the heading.


def split_markdown(url: str, title: str, markdown: str, *, max_chars: int = MAX_CHUNK_CHARS) -> list[Chunk]:
    """Return the chunks of a page, in order; sections without text give none."""
    seen: Counter[tuple[str, ...]] = Counter()
    chunks: list[Chunk] = []
    for headings, text in _sections(title, markdown):
        seen[headings] += 1
        for number, part in enumerate(_parts(text, max_chars), 1):
            key = text_digest("\n".join((url, *headings, f"{seen[headings]}.{number}"))).hex()
            chunks.append(Chunk(key, headings, number, part))
    return chunks


def _sections(title: str, markdown: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the headings above each text, and the text."""
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if mark is not None and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        found = None if fence else _HEADING.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        yield from _section(title, above, lines)
        lines.clear()
        level = len(found[1])
        above = [heading for heading in above if heading[0] < level]
        above.append((level, _ESCAPED.sub(r"\1", found[2]).strip()))
    yield from _section(title, above, lines)


def _section(title: str, above: list[tuple[int, str]], lines: list[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    text = "\n".join(lines).strip()
    if text:
        names = tuple(name for _, name in above)
        yield (names if names[:1] == (title,) else (title, *names)), text


def _parts(text: str, max_chars: int) -> Iterator[str]:
    """Yield the text in parts of at most `max_chars`, cut between paragraphs, else between words."""
    part: list[str] = []
    size = 0
    for paragraph in text.split("\n\n"):
        if part and size + 2 + len(paragraph) > max_chars:
            yield "\n\n".join(part)
            part, size = [], 0
        *full, rest = _pieces(paragraph, max_chars)
        yield from full
        part.append(rest)
        size += len(rest) + 2
    if part:
        yield "\n\n".join(part)


def _pieces(paragraph: str, max_chars: int) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(paragraph) - start > max_chars:
        cut = max(paragraph.rfind(mark, start + max_chars // 2, start + max_chars) for mark in ("\n", ". ", " "))
        end = start + max_chars if cut < 0 else cut + 1
        pieces.append(paragraph[start:end].rstrip())
        start = end
    pieces.append(paragraph[start:])
    return pieces
