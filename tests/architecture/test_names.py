"""Names are unique and say what things are, every module has a docstring, and sizes stay within the targets."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.architecture.house import TARGETS, function_sizes, measure
from tests.architecture.source import PACKAGE, place, report, trees

EMPTY_WORDS = frozenset({"util", "utils", "helper", "helpers", "common", "misc", "base", "tmp"})
REPEATED_FILE_NAMES = frozenset({
    "robots", "crawl", "search", "traps", "links", "alerts", "credit", "focus", "history", "status", "serve",
    "export", "sitemap", "store", "schema",
})  # fmt: skip
"""Subjects with a module in several layers; every other file name is unique."""
LISTED = 10


def test_no_public_class_name_is_used_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(place(path, node.lineno))
    report([f"{', '.join(found)}: both define {name}" for name, found in places.items() if len(found) > 1])


def test_file_names_are_unique() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in trees():
        if not path.name.startswith("__"):
            places[path.stem].append(place(path))
    report([
        f"{', '.join(found)}: the name {name} is used {len(found)} times"
        for name, found in places.items()
        if len(found) > 1 and name not in REPEATED_FILE_NAMES
    ])  # fmt: skip


def test_module_names_say_what_they_contain() -> None:
    report([
        f"{place(path)}: name it for what it contains"
        for path in trees()
        if EMPTY_WORDS & {word for part in path.relative_to(PACKAGE).with_suffix("").parts for word in part.split("_")}
    ])  # fmt: skip


def test_every_module_has_a_docstring() -> None:
    report([f"{place(path)}: has no docstring" for path, tree in trees().items() if not ast.get_docstring(tree)])


def test_the_layout_reaches_its_targets() -> None:
    report([
        f"{name}: {value:g}, at most {TARGETS[name]:g} (python tests/architecture/house.py -v lists them)"
        for name, value in measure().items()
        if value > TARGETS[name]
    ])  # fmt: skip


def test_print_the_largest_files_and_functions(capsys: pytest.CaptureFixture[str]) -> None:
    """Print a report for the log; it fails for nothing."""
    files = sorted(((len(path.read_text().splitlines()), path.stem) for path in trees()), reverse=True)
    functions = sorted(
        ((size, f"{path.stem}:{name}") for path, tree in trees().items() for name, size in function_sizes(tree)),
        reverse=True,
    )
    with capsys.disabled():
        print("\nlargest files:     " + ", ".join(f"{name} {lines}" for lines, name in files[:LISTED]))
        print("largest functions: " + ", ".join(f"{name} {lines}" for lines, name in functions[:LISTED]))
