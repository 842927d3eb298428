"""No regular expression of the product may take more than linear time, whatever text it gets.
Every pattern is tried, the way its module calls it, on strings derived from the pattern itself; the processor time of a
string eight times as long may not be many times as much."""

from __future__ import annotations

import ast
import importlib
import re
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import evercrawl
from tests.architecture.attack_strings import attack_strings

SHORT, LONG = 1_500, 12_000
FASTEST_S = 0.04  # Some clocks of processor time go in steps of 10 ms.
MOST_GROWTH = 24.0  # Of the time, for a string eight times as long: linear is 8, quadratic is 64.
TOO_LONG_S = 0.5
REPEATS = 3
SOURCE = Path(evercrawl.__file__).parent
CALLS = frozenset(("search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split"))
PASSED_ON = {  # Patterns that are called under another name.
    "evercrawl.config.schema": "fullmatch",
    "evercrawl.core.document.bounds": "search",
    "evercrawl.core.document.links": "match",
    "evercrawl.core.url": "match",
    "evercrawl.web.protocols.memento": "fullmatch",
}


class Use(NamedTuple):
    """A pattern and one way in which its module calls it."""

    place: str
    pattern: re.Pattern[Any]
    call: str


def uses_in(path: Path) -> Iterator[Use]:
    """Return the patterns of a module: its own variables, and literals in calls such as `re.sub`."""
    module = ".".join(("evercrawl", *path.relative_to(SOURCE).with_suffix("").parts))
    calls: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in CALLS and isinstance(node.value, ast.Name):
            calls[node.value.id].add(_kind(node.attr))
        if isinstance(node, ast.Call) and _is_direct(node) and isinstance(node.args[0], ast.Constant):
            assert isinstance(node.func, ast.Attribute)
            yield Use(f"{module}:{node.lineno}", re.compile(node.args[0].value), _kind(node.func.attr))
    for name, value in vars(importlib.import_module(module)).items():
        members = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else [value]
        for pattern in members:
            if isinstance(pattern, re.Pattern):
                known = calls.get(name) or {PASSED_ON.get(module, "search")}
                yield from (Use(f"{module}.{name}", pattern, call) for call in sorted(known))


def _kind(call: str) -> str:
    """Return the call that stands for this one: all that look for every match take the same steps."""
    return call if call in ("search", "match", "fullmatch") else "finditer"


def _is_direct(node: ast.Call) -> bool:
    """Return whether a call is one of the functions of `re` that search."""
    func = node.func
    is_function = isinstance(func, ast.Attribute) and func.attr in CALLS and bool(node.args)
    return is_function and isinstance(func.value, ast.Name) and func.value.id == "re"  # type: ignore[attr-defined]


def runner(use: Use) -> Callable[[Any], object]:
    """Return a function that calls the pattern on a text."""
    if use.call == "finditer":
        return lambda text: sum(1 for _ in use.pattern.finditer(text))
    return getattr(use.pattern, use.call)  # type: ignore[no-any-return]


def seconds(run: Callable[[Any], object], text: Any) -> float:
    """Return the processor time of a call; one that does not end soon is stopped."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, TOO_LONG_S)
    start = time.process_time()
    try:
        run(text)
    except TimeoutError:
        return 10 * TOO_LONG_S
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.process_time() - start


def _is_slow(slow: float, fast: float) -> bool:
    """Return whether a text eight times as long took many times as long."""
    return slow > max(FASTEST_S, min(MOST_GROWTH * fast, TOO_LONG_S))


def slow_text(use: Use) -> str | None:
    """Return the start of a text on which the call takes more than linear time."""
    run = runner(use)
    shorter = attack_strings(use.pattern, SHORT)
    for long, short in zip(attack_strings(use.pattern, LONG), shorter, strict=True):
        slow, fast = seconds(run, long), 0.0
        if slow < FASTEST_S or not _is_slow(slow, fast := seconds(run, short)):
            continue
        if slow < TOO_LONG_S:  # Not stopped: perhaps something else took the time.
            fast = min(fast, *(seconds(run, short) for _ in range(REPEATS)))
            slow = min(slow, *(seconds(run, long) for _ in range(REPEATS)))
        if _is_slow(slow, fast):
            return f"{use.place} ({use.call}) took {fast:.4f} s, then {slow:.4f} s, on {long[:40]!r}"
    return None


MODULES = sorted(path for path in SOURCE.rglob("*.py") if re.search(r"^import re$", path.read_text(), re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_pattern_takes_more_than_linear_time(path: Path) -> None:
    assert [found for use in uses_in(path) if (found := slow_text(use))] == []


@pytest.mark.parametrize("expression", [r"\s*x", r"(a+)+$", r"<([^>]*)>", r"[\w.]+@", r".*token.*;"])
def test_slow_patterns_are_found(expression: str) -> None:
    assert slow_text(Use("here", re.compile(expression), "search")) is not None
