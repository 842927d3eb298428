"""The package's source files, parsed once for all architecture tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "src" / "evercrawl"


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax tree of every module."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def part_of(path: Path) -> str:
    """Return the top-level name a module belongs to: `core` for core/url.py."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def place(path: Path, line: int = 1) -> str:
    """Return where something is, as editors understand it: file:line."""
    return f"{path.relative_to(REPOSITORY)}:{line}"


@cache
def imports(tree: ast.AST) -> list[tuple[int, str]]:
    """Return the line and full name of every import, in functions and for type checking too."""
    return list(_imports(tree))


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{prefix}.{alias.name}") for alias in node.names)


def own_imports(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, full name and part of every import from another part of the package."""
    for line, name in imports(trees()[path]):
        parts = name.split(".")
        if parts[0] == "evercrawl" and len(parts) > 1 and parts[1] != part_of(path):
            yield line, name, parts[1]


def report(found: list[str]) -> None:
    """Fail with one line per violation."""
    assert not found, f"{len(found)} violations:\n" + "\n".join(found)
