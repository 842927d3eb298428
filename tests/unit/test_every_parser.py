"""Every function that parses what others wrote is tried on hostile inputs: by a case of the test of sizes or of the
fuzzer. A new parser without one fails here, unless only the operator writes what it reads."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import _lru_cache_wrapper
from pathlib import Path
from types import CodeType, FrameType

import evercrawl
from tests.fuzz.targets import TARGETS
from tests.unit.test_hostile_size import READERS

SOURCE = Path(evercrawl.__file__).parent
VERBS = (
    "parse_", "read_", "decode", "detect_", "unpack", "sniff_", "extract_", "split_", "rewrite_", "normalize_",
    "sanitize_", "find_", "discover_",
)  # fmt: skip
TEXTS = frozenset(("str", "bytes", "Headers"))
SAMPLE_CHARS = 400


def parsers() -> Iterator[str]:
    """Yield every public function with the name of a parser that takes text or bytes, as `module:function`."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = path.relative_to(SOURCE).with_suffix("").as_posix()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith(VERBS) and _takes_text(node):
                yield f"{module}:{node.name}"


def _takes_text(node: ast.FunctionDef) -> bool:
    annotations = [one.annotation for one in (*node.args.args, *node.args.kwonlyargs) if one.annotation is not None]
    names = {name.id for one in annotations for name in ast.walk(one) if isinstance(name, ast.Name)}
    return not names.isdisjoint(TEXTS)


def forget_cached() -> None:
    """Let functions that keep results run again, whatever other tests called."""
    for name, module in list(sys.modules.items()):
        if name.startswith("evercrawl."):
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper):
                    value.cache_clear()


def called_parsers() -> set[str]:
    """Return what the cases call when they read their first inputs."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    forget_cached()
    sys.setprofile(note)
    try:
        for reader, pieces in READERS.values():
            for piece in pieces[:2]:
                with suppress(Exception):
                    reader(piece * max(1, SAMPLE_CHARS // len(piece)))
        for target in TARGETS.values():
            for seed in target.seeds:
                with suppress(*target.errors):
                    target.read(seed)
    finally:
        sys.setprofile(None)
    names = ((Path(code.co_filename), code.co_name) for code in seen)
    return {
        f"{path.relative_to(SOURCE).with_suffix('').as_posix()}:{name}"
        for path, name in names
        if path.is_relative_to(SOURCE)
    }


OPERATOR = """
adapters/browser/launch:find_browser adapters/http/dns:parse_overrides adapters/http/dns:parse_servers
adapters/system:read_private_file core/items:extract_items
adapters/postgres/postgres_pool:parse_address cli/context:parse_budget collection/agent_tools:parse_permissions
collection/exchange/export:parse_export_format collection/exchange/import_sources:parse_import_format
collection/simulation:parse_policies collection/overrides:parse_place
config/credentials_file:read_credentials config/load:read_host_list config/load:read_lines
core/alerts/message_format:parse_secret core/change/version_rules:parse_retention
core/focus/classifier:parse_shares core/politeness:parse_delay_rules core/politeness:parse_hours
core/scope/selection:parse_keyword core/scope/url_filter:parse_filter core/traps/user_rules:parse_rule
model/time:parse_rate outpost/channel:parse_address sitemaps/folder_pages:parse_base_url
web/pages/administration:parse_list
"""
"""What only the operator types, or writes into settings of a trusted collection."""
OWN = """
adapters/sql/database:parse_statements adapters/sql/database:read_statements core/document/word_lists:read_lists
"""
"""What only this program writes."""
LOOK_UP = """
adapters/warc/reader:read_archive_bytes adapters/warc/reader:read_record adapters/warc/rewrite:rewrite_file
collection/backup:find_backup collection/change_groups:read_window collection/site_list:find_origin
collection/site_list:find_site collection/stored_pages:parse_response collection/stored_pages:split_version
collection/table_view:read_skipped collection/table_view:read_table web/app:find_handler
web/endpoints:read_values web/pages/collections:find_anywhere web/pages/search:find_target
"""
"""Look something up in a store by its name, with parsers that have cases."""
NOT_FOREIGN = frozenset(f"{OPERATOR} {OWN} {LOOK_UP}".split())


def test_every_parser_has_a_case() -> None:
    found, called = set(parsers()), called_parsers()
    assert "core/robots/robots_txt:parse_robots" in found & called, "the search itself works"
    assert sorted(found - called - NOT_FOREIGN) == []
    assert sorted(NOT_FOREIGN - found) == [], "these do not exist any more"
