"""The docs are complete, up to date, and lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import click
import pytest

from evercrawl.cli.main import COMMANDS, root
from evercrawl.cli.terminal import EXIT_TEXT, ExitCode
from evercrawl.config.schema import known_settings, sections
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *REPOSITORY.glob("*.md")])
FILES = frozenset({"notify.sqlite", "notify.lock"})
"""Files of a collection whose names look like settings."""
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_PACKAGE_PATH = re.compile(r"`((?:model|core|engine|adapters|cli|config|sim|web|browse)/[\w/.]*)`")
_TEST_PATH = re.compile(r"`(tests/[\w/]+(?:\.py)?)`")
_TEST_NAME = re.compile(r"`(test_\w+)`")
_CALL = re.compile(r"evercrawl(?: -C \S+)? ([a-z]+)")


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _name(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("name", ["settings.md", "cli.md", "reasons.md", "exit-codes.md", "api.md", "metrics.md"])
def test_the_reference_is_up_to_date(name: str) -> None:
    assert (DOCS / "reference" / name).read_text() == _generator().pages()[name], "run: make docs"


def test_every_setting_section_reason_and_exit_code_has_a_text() -> None:
    assert all(known.help.endswith(".") for known in known_settings().values())
    assert all(text.endswith(".") for text in sections().values())
    assert set(REASON_TEXT) == set(Reason)
    assert all(REASON_TEXT.values())
    assert set(EXIT_TEXT) == set(ExitCode)
    assert set(_generator().OUTCOME_TEXT) == set(Outcome)


def _options(command: click.Command) -> list[click.Option]:
    own = [param for param in command.params if isinstance(param, click.Option)]
    return own + [o for child in getattr(command, "commands", {}).values() for o in _options(child)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_a_text(name: str) -> None:
    command = root.get_command(click.Context(root), name)
    assert command is not None
    assert command.help
    assert all(option.help for option in _options(command))


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in _LINK.findall(path.read_text()):
        if "://" not in target and not target.startswith("#"):
            assert (path.parent / target.partition("#")[0]).exists(), f"{_name(path)} links to {target}"


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_files_that_are_named_exist(path: Path) -> None:
    for target in _PACKAGE_PATH.findall(path.read_text()):
        assert (REPOSITORY / "src" / "evercrawl" / target).exists(), f"{_name(path)} names {target}"


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_tests_that_are_named_exist(path: Path) -> None:
    text = path.read_text()
    for target in _TEST_PATH.findall(text):
        assert (REPOSITORY / target).exists(), f"{_name(path)} names {target}"
    defined = _defined_tests()
    for test in _TEST_NAME.findall(text):
        assert test in defined, f"{_name(path)} names {test}"


@lru_cache(maxsize=1)
def _defined_tests() -> frozenset[str]:
    sources = (path.read_text() for path in (REPOSITORY / "tests").rglob("test_*.py"))
    return frozenset(name for source in sources for name in re.findall(r"def (test_\w+)", source))


def test_every_guarantee_names_a_test() -> None:
    promises = re.split(r"\n(?=\d+\. )", (DOCS / "concepts" / "guarantees.md").read_text())[1:]
    assert len(promises) > 5
    assert all(_TEST_PATH.search(promise) or _TEST_NAME.search(promise) for promise in promises)


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_commands_that_are_shown_exist(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line.startswith("$ evercrawl ")]
    for line in lines:
        found = _CALL.search(line)
        assert found is not None, line
        assert found[1] in COMMANDS, line


def test_the_index_leads_to_every_page() -> None:
    linked = {(DOCS / target).resolve() for target in _LINK.findall((DOCS / "index.md").read_text())}
    expected = {path for path in DOCS.rglob("*.md") if path.parent.name != "decisions"} - {DOCS / "index.md"}
    assert expected <= linked
    assert DOCS / "decisions" in linked


def test_settings_that_are_named_exist() -> None:
    names = re.compile(rf"`((?:{'|'.join(sections())})\.[a-z_]+)\b")
    for path in PAGES:
        for key in names.findall(path.read_text()):
            assert key in known_settings() or key in FILES, f"{_name(path)} names {key}"
