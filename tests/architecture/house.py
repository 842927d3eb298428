"""Measure the layout of the package: `python tests/architecture/house.py` prints the table."""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "evercrawl"
SMALL_MODULE = 60
"""Modules with fewer lines are counted as small."""

TARGETS: dict[str, float] = {
    "modules": 444,
    "lines": 102_500,
    "top-level names": 14,
    "median function": 8,
    "p99 function": 64,
    "longest function": 70,
    "most constructor parameters": 8,
    "public class names used twice": 0,
    "module names used more than once": 15,
    "modules under 60 lines": 60,
    "import cycles": 0,
}
"""The most that each figure may be."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def measure() -> dict[str, float]:
    """Return the figures of the table, in its order."""
    paths = modules()
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in paths.items()}
    sizes = sorted(size for tree in trees.values() for _, size in function_sizes(tree))
    return {
        "modules": len(paths),
        "lines": sum(lines.values()),
        "top-level names": len(_top_level_names()),
        "median function": statistics.median(sizes),
        "p99 function": sizes[int(len(sizes) * 0.99)],
        "longest function": sizes[-1],
        "most constructor parameters": max(count for tree in trees.values() for _, count in constructors(tree)),
        "public class names used twice": len(classes_named_twice(trees)),
        "module names used more than once": len(modules_named_twice(paths)),
        "modules under 60 lines": sum(count < SMALL_MODULE for count in lines.values()),
        "import cycles": len(import_cycles(trees)),
    }


def _top_level_names() -> set[str]:
    entries = (path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
    return {path.stem for path in entries if not path.name.startswith("__")}


def function_sizes(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each function's name and its number of lines."""
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.end_lineno:
            yield node.name, node.end_lineno - node.lineno + 1


def constructors(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each class that writes its own constructor, and the number of its parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, Function) and member.name == "__init__":
                    given = member.args
                    yield node.name, len(given.posonlyargs + given.args + given.kwonlyargs) - 1


def classes_named_twice(trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Return each public class name that several modules define, with those modules."""
    places: dict[str, list[str]] = {}
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    return {name: found for name, found in places.items() if len(found) > 1}


def modules_named_twice(paths: dict[str, Path]) -> dict[str, int]:
    """Return each file name that several packages use, with the number of files."""
    counts = Counter(path.stem for path in paths.values() if path.name != "__init__.py")
    return {name: count for name, count in counts.items() if count > 1}


def import_cycles(trees: dict[str, ast.Module]) -> list[list[str]]:
    """Return groups of modules that import each other, imports for type checking included."""
    edges = {name: sorted(_imported(tree, trees) - {name}) for name, tree in trees.items()}
    return [group for group in _strongly_connected(edges) if len(group) > 1]


def _imported(tree: ast.Module, trees: dict[str, ast.Module]) -> set[str]:
    names = set()
    for node in _at_import(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                names.add(full if full in trees else node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return names & trees.keys()


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Everything outside of functions: what runs, or is checked, when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function):
            yield child
            yield from _at_import(child)


def _strongly_connected(edges: dict[str, list[str]]) -> list[list[str]]:
    """Tarjan's algorithm, without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []
    for root in edges:
        work = [(root, iter(edges[root]))] if root not in index else []
        if work:
            index[root] = low[root] = len(index)
            stack.append(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    groups.append(stack[cut:])
                    del stack[cut:]
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                work.append((following, iter(edges[following])))
            elif following in stack:
                low[node] = min(low[node], index[following])
    return groups


def main() -> int:
    """Print the table; exit 1 where a target is missed."""
    figures = measure()
    for name, value in figures.items():
        verdict = "ok" if value <= TARGETS[name] else "MISSED"
        print(f"{name:35} {value:>8,g}   target {TARGETS[name]:>8,g}   {verdict}")
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules().items()}
    if "-v" in sys.argv:
        for name, places in sorted(classes_named_twice(trees).items()):
            print(f"class {name}: {', '.join(places)}")
        for name, count in sorted(modules_named_twice(modules()).items()):
            print(f"module name {name}: {count} files")
        for group in import_cycles(trees):
            print(f"import cycle: {', '.join(group)}")
        longest = sorted(
            ((size, f"{module}:{name}") for module, tree in trees.items() for name, size in function_sizes(tree)),
            reverse=True,
        )
        print("longest functions:", ", ".join(f"{name} {size}" for size, name in longest[:10]))
        widest = sorted(
            ((count, f"{module}:{name}") for module, tree in trees.items() for name, count in constructors(tree)),
            reverse=True,
        )
        print("widest constructors:", ", ".join(f"{name} {count}" for count, name in widest[:10]))
    return int(any(value > TARGETS[name] for name, value in figures.items()))


if __name__ == "__main__":
    sys.exit(main())
