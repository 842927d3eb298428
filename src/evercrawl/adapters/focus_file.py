"""The file with a collection's focus, so that a resumed crawl keeps it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercrawl.adapters.graph_files import load_numpy
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.core.focus.classifier import TopicSketch
    from evercrawl.core.focus.focus import Focus

FILE = "topic.bin"


def load_focus(collection: Path) -> Focus | TopicSketch | None:
    """Return the collection's focus, or None; raise ConfigError if the file is damaged."""
    path = collection / FILE
    try:
        stored = path.read_bytes()
        load_numpy("a focused crawl", "focus")
        from evercrawl.core.focus.classifier import TopicSketch, is_sketch  # most crawls have no focus
        from evercrawl.core.focus.focus import Focus

        return TopicSketch.from_bytes(stored) if is_sketch(stored) else Focus.from_bytes(stored)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read ({error}); set the focus again with --focus") from error


def save_focus(collection: Path, focus: Focus | TopicSketch | None) -> None:
    """Store the focus, or delete it if None."""
    path = collection / FILE
    if focus is None:
        path.unlink(missing_ok=True)
        return
    temporary = path.with_suffix(".new")
    temporary.write_bytes(focus.to_bytes())
    os.replace(temporary, path)


def focus_from_file(path: Path) -> Focus | TopicSketch:
    """Learn a topic from an examples file; raise ConfigError with the line of an error.
    Without examples of other pages the crawl itself learns how they differ."""
    from evercrawl.adapters.learned import load_background
    from evercrawl.core.focus.classifier import sketch_from_pages
    from evercrawl.core.focus.focus import focus_from_rows, parse_example

    try:
        rows = list(_rows(path))
        if all(row.get("on_topic", True) for row in rows):
            pages = ((example.url, example.document) for example in map(parse_example, rows))
            return sketch_from_pages(pages, background=load_background())
        return focus_from_rows(rows, background=load_background())
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _row(line, number)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _row(line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number} is not JSON: {error.msg}") from error
    except RecursionError:
        raise ValueError(f"line {number} is nested too deeply") from None
    if not isinstance(row, dict) or not ("html" in row or "text" in row):
        raise ValueError(f"line {number} is not an object with url and html or text")
    return row
