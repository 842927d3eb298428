"""Imports go one way, `model/` and `core/` are pure, and names say what things are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "evercrawl"
MODULES = sorted(PACKAGE.rglob("*.py"))
PURE = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in ("model", "core")]

LAYERS = {
    "version": 0,
    "errors": 0,
    "model": 1,
    "core": 2,
    "engine": 3,
    "adapters": 4,
    "config": 5,
    "tools": 5,
    "forecast": 5,
    "outpost": 5,
    "graph": 5,
    "sim": 11,
    "build": 6,
    "report": 6,
    "look": 6,
    "trap_view": 6,
    "slowing": 8,
    "past": 6,
    "search": 6,
    "exchange": 6,
    "browse": 7,
    "runs": 6,
    "announced": 6,
    "owner": 7,
    "together": 7,
    "focusing": 7,
    "cluster": 8,
    "notify": 8,
    "workers": 9,
    "crawling": 10,
    "library": 11,
    "lab": 10,
    "trial": 11,
    "web": 12,
    "cli": 13,
    "demo_web": 0,
    "demo": 14,
    "__main__": 14,
}
"""A module may import what has a smaller number or is in its own part; `evercrawl` only names the library."""

IO_MODULES = frozenset({
    "aiodns", "aiohttp", "asyncio", "concurrent", "ctypes", "fcntl", "http", "io", "logging", "mmap",
    "multiprocessing", "os", "pathlib", "pycares", "random", "secrets", "select", "selectors", "shutil",
    "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib",
    "uvloop",
})  # fmt: skip
HANDED_IN = frozenset({"random.Random"})
"""The type of something that a caller hands in; making one from the clock or the system would be a call."""
CLOCK_READS = frozenset({"now", "utcnow", "today", "time", "monotonic", "perf_counter", "time_ns", "monotonic_ns"})
CLOCKS = frozenset({"datetime", "date", "time"})
EMPTY_WORDS = frozenset(
    {"util", "utils", "helper", "helpers", "manager", "common", "misc", "base", "handler", "handlers"}
)
REPORTED = 10


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that is imported, inside functions and for types too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_imports_go_one_way(path: Path) -> None:
    if path == PACKAGE / "__init__.py":
        return
    own = _part(path)
    assert own in LAYERS, f"{own} has no place in the layers; give it one here and in docs/concepts/architecture.md"
    for line, imported in _imports(_tree(path)):
        parts = imported.split(".")
        if parts[0] != "evercrawl" or parts[1] == own:
            continue
        assert parts[1] in LAYERS, f"{path}:{line} imports {imported} from the package itself"
        assert LAYERS[parts[1]] < LAYERS[own], f"{path}:{line}: {own} must not import {imported}"


@pytest.mark.parametrize("path", PURE, ids=_name)
def test_model_and_core_do_no_io(path: Path) -> None:
    for line, imported in _imports(_tree(path)):
        is_pure = imported in HANDED_IN or imported.split(".")[0] not in IO_MODULES
        assert is_pure, f"{path}:{line} imports {imported}"
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("open", "print", "input"), f"{path}:{node.lineno} does I/O"


@pytest.mark.parametrize("path", PURE, ids=_name)
def test_model_and_core_read_no_clock_and_await_nothing(path: Path) -> None:
    for node in ast.walk(_tree(path)):
        assert not isinstance(node, (ast.AsyncFunctionDef, ast.Await)), f"{path}:{node.lineno} awaits"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            is_clock = isinstance(owner, ast.Name) and owner.id in CLOCKS and node.func.attr in CLOCK_READS
            assert not is_clock, f"{path}:{node.lineno} reads a clock"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_names_say_what_things_are(path: Path) -> None:
    words = set(path.stem.split("_")) | set(path.parent.name.split("_"))
    assert not words & EMPTY_WORDS, f"{path}: name it for the question that it answers"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(_tree(path)), f"{path} has no docstring"


def test_the_largest_functions_and_files_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """A report, not a gate: `pytest -s tests/architecture` or any CI log shows the tail."""
    files = sorted(((len(path.read_text().splitlines()), _name(path)) for path in MODULES), reverse=True)
    functions = sorted((entry for path in MODULES for entry in _functions(path)), reverse=True)
    with capsys.disabled():
        print("\nlargest files:     " + ", ".join(f"{name} {lines}" for lines, name in files[:REPORTED]))
        print("largest functions: " + ", ".join(f"{name} {lines}" for lines, name in functions[:REPORTED]))
    assert functions


def _functions(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno:
            yield node.end_lineno - node.lineno + 1, f"{_name(path)}:{node.name}"
