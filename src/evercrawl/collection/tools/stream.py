"""JSON lines in, JSON lines out, in order and with the same `id`; a bad line gives an error and no more."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import orjson

Tool = Callable[[dict[str, Any]], dict[str, Any]]

_FIELDS = "a after agent b base before body content_type html input page_url robots_txt text url user_agent"
TEXTS = frozenset(_FIELDS.split())
"""Fields of the lines that have to be strings."""
TOOLS = ("robots", "url", "extract", "changed", "similar", "sitemap", "trap", "sentiment")
"""Each is the function of that name in the module of that name, imported when it is asked for: a pipe pays
for the start of its own tool only.
"""


def tool_named(name: str) -> Tool:
    """One of TOOLS."""
    found: Tool = getattr(import_module(f"evercrawl.collection.tools.{name}"), name)
    return found


def answer_lines(tool: Tool, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer every line of `source` on `sink` at once, so that a program can talk with the tool."""
    for line in source:
        if line.isspace():
            continue
        sink.write(_written(_answer(tool, line)))
        sink.flush()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file, one a line; ValueError names the line that is none."""
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.isspace() or not line:
            continue
        try:
            row = _read(line)
        except ValueError as error:
            raise ValueError(f"line {number} is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is not a JSON object")
        rows.append(row)
    return rows


def _answer(tool: Tool, line: bytes) -> dict[str, Any]:
    """One line must never end the stream, whatever is wrong with it."""
    try:
        row = _read(line)
    except Exception as error:
        return {"id": None, "error": f"{type(error).__name__}: {error}"}
    if not isinstance(row, dict):
        return {"id": None, "error": "the line is not a JSON object"}
    try:
        return {"id": row.get("id"), **tool(row)}
    except Exception as error:
        return {"id": row.get("id"), "error": _told(error, row)}


def _told(error: Exception, row: dict[str, Any]) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    if isinstance(error, TypeError | AttributeError):
        wrong = [name for name in TEXTS & row.keys() if not isinstance(row[name], str)]
        if wrong:
            # Null may stand for a field that need not be given: it is the last to be blamed.
            return f"{min(wrong, key=lambda name: (row[name] is None, name))} is not a string"
    return f"{type(error).__name__}: {error}"


def _read(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        # The slower reader also takes lone surrogates, which pages do contain.
        return json.loads(line)


def _written(answer: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(answer, default=str).encode() + b"\n"
