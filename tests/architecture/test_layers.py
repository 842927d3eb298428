"""Imports go one way, `model` and `core` are pure, and the interfaces reach the crawler through `collection` only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import PACKAGE, imports, own_imports, part_of, place, report, trees

LAYERS = {
    "errors": 0,
    "model": 1,
    "core": 2,
    "engine": 3,
    "adapters": 4,
    "config": 5,
    "outpost": 6,
    "sitemaps": 6,
    "cluster": 7,
    "lab": 8,
    "collection": 9,
    "testing": 9,
    "web": 10,
    "cli": 11,
    "__main__": 12,
    "__init__": 12,
}
"""A part may import parts with a smaller number."""
INTERFACES = {
    "cli": {"collection", "config", "errors", "model", "web"},
    "web": {"collection", "config", "errors", "model"},
    "__init__": {"collection", "config", "errors", "model"},
}
"""What the interfaces may import; `cli` starts the web server."""
IO_MODULES = frozenset({
    "aiodns", "aiohttp", "asyncio", "concurrent", "ctypes", "fcntl", "http", "io", "logging", "mmap",
    "multiprocessing", "os", "pathlib", "pycares", "random", "secrets", "select", "selectors", "shutil",
    "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib",
    "uvloop",
})  # fmt: skip
PURE_NAMES = frozenset({"random.Random", "urllib.parse.quote", "urllib.parse.unquote", "urllib.parse.urlencode"})
"""Pure names of these modules: a type for parameters, and functions of strings."""
IO_FUNCTIONS = frozenset({"open", "print", "input"})
CLOCKS = frozenset({"datetime", "date", "time"})
CLOCK_READS = frozenset({"now", "utcnow", "today", "time", "monotonic", "perf_counter", "time_ns", "monotonic_ns"})


def test_imports_are_absolute() -> None:
    report([
        f"{place(path, line)}: write {name} as an absolute import"
        for path, tree in trees().items()
        for line, name in imports(tree)
        if name.startswith(".")
    ])  # fmt: skip


def test_every_part_has_a_layer() -> None:
    found = {part_of(path): path for path in trees()}
    report([
        f"{place(path)}: {part} has no layer; add it here and to docs/concepts/architecture.md"
        for part, path in found.items()
        if part not in LAYERS
    ])  # fmt: skip


def test_imports_go_one_way() -> None:
    report([
        f"{place(path, line)}: {part_of(path)} must not import {name}"
        for path in trees()
        for line, name, other in own_imports(path)
        if LAYERS.get(other, 99) >= LAYERS.get(part_of(path), 0)
    ])  # fmt: skip


def test_interfaces_import_the_collection_only() -> None:
    report([
        f"{place(path, line)}: {part_of(path)} must not import {name}; offer it in evercrawl.collection"
        for path in trees()
        for line, name, other in own_imports(path)
        if part_of(path) in INTERFACES and other not in INTERFACES[part_of(path)]
    ])  # fmt: skip


def _pure_modules() -> Iterator[tuple[Path, ast.Module]]:
    for path, tree in trees().items():
        if path.is_relative_to(PACKAGE / "model") or path.is_relative_to(PACKAGE / "core"):
            yield path, tree


def test_model_and_core_do_no_io() -> None:
    found = [
        f"{place(path, line)}: imports {name}"
        for path, tree in _pure_modules()
        for line, name in imports(tree)
        if name.split(".")[0] in IO_MODULES and name not in PURE_NAMES
    ]
    found += [
        f"{place(path, node.lineno)}: calls {node.func.id}"
        for path, tree in _pure_modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IO_FUNCTIONS
    ]
    report(found)


def test_model_and_core_read_no_clock() -> None:
    report([
        f"{place(path, node.lineno)}: reads a clock; take `now` as a parameter"
        for path, tree in _pure_modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _is_clock_read(node.func)
    ])  # fmt: skip


def _is_clock_read(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id in CLOCKS
        and function.attr in CLOCK_READS
    )


def test_model_and_core_do_not_await() -> None:
    report([
        f"{place(path, node.lineno)}: is asynchronous"
        for path, tree in _pure_modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Await)
    ])  # fmt: skip


DIALERS = {
    "evercrawl/adapters/guarded_apprise.py": "checks every connection of its process",
    "evercrawl/adapters/http/client.py": "connects to addresses of the resolver",
    "evercrawl/adapters/http/dialer.py": "connects to addresses that it checked",
    "evercrawl/adapters/http/proxy.py": "the proxy that the user names; addresses behind it come from the resolver",
    "evercrawl/adapters/remote_search.py": "urllib with the dialer's handlers",
    "evercrawl/collection/alerts/mail.py": "smtplib with the dialer's sockets",
    "evercrawl/adapters/objectstore/bucket.py": "obstore with a proxy that uses the dialer",
    "evercrawl/outpost/channel.py": "the home that the pairing code names",
    "evercrawl/cluster/supervisor.py": "a pair of sockets to an own process",
    "evercrawl/cluster/worker_process.py": "a pair of sockets to an own process",
}
"""Modules that may open connections, and what keeps them from private addresses. The database has its own rules."""
CLIENTS = frozenset({
    "aiohttp", "apprise", "boto3", "ftplib", "http.client", "httpx", "imaplib", "obstore", "poplib",
    "requests", "smtplib", "telnetlib", "urllib.request", "urllib3", "xmlrpc.client",
})  # fmt: skip
CONNECTS = frozenset({"create_connection", "open_connection", "open_unix_connection", "sock_connect"})


def test_connections_are_opened_only_by_those_who_check_addresses() -> None:
    found = {
        f"{place(path, line)}: {what}"
        for path, tree in trees().items()
        if path.relative_to(PACKAGE.parent).as_posix() not in DIALERS
        for line, what in _connections(tree)
    }
    report(sorted(found))


def _connections(tree: ast.Module) -> Iterator[tuple[int, str]]:
    clients = tuple(f"{name}." for name in CLIENTS)
    yield from ((line, name) for line, name in imports(tree) if f"{name}.".startswith(clients))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CONNECTS:
            yield node.lineno, node.attr
