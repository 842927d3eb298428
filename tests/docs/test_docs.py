"""The docs are complete, up to date and short, and everything that they name exists."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from types import ModuleType

import click
import pytest

from evercrawl.cli.commands.crawl import FLAG_KEYS
from evercrawl.cli.main import COMMANDS, root
from evercrawl.cli.terminal import EXIT_TEXT, ExitCode
from evercrawl.config.load import find_setting, parse_setting
from evercrawl.config.schema import known_settings, sections
from evercrawl.errors import ConfigError
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *(REPOSITORY / "research").rglob("*.md"), *REPOSITORY.glob("*.md")])
FILES = frozenset({"alerts.sqlite", "alerts.lock", "web.sqlite"})
"""Files of a collection whose names look like settings."""
MOST_WORDS = 40_500
"""In the README and all hand-written pages of docs."""
MOST_ARCHITECTURE_WORDS = 900
LONGEST_LINE = 120
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_PACKAGE_PATH = re.compile(
    r"`((?:model|core|engine|adapters|cli|cluster|collection|config|lab|outpost|sitemaps|testing|web)/[\w/.]*)`"
)
_TEST_PATH = re.compile(r"`(tests/[\w/]+(?:\.py)?)`")
_TEST_NAME = re.compile(r"`(test_\w+)`")
_CALL = re.compile(r"(?m)^ *(?:\$ )?(evercrawl [a-z-](?:.*\\\n)*.*)$|`(evercrawl [^`]+)`|\| (evercrawl [^|&\n`]*)")
_REST = re.compile(r"\s+#\s| \| | && | > | < |\s{2,}")
_OPTION = re.compile(r"`(--[a-z][a-z-]+)")


def load_script(path: Path) -> ModuleType:
    """Import a program of the repository that is not part of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _generator() -> ModuleType:
    return load_script(DOCS / "generate.py")


def _name(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def _found(pattern: re.Pattern[str]) -> Iterator[tuple[Path, str, str]]:
    """Yield page, place (file:line) and text of every match in the docs."""
    for path in PAGES:
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            for text in pattern.findall(line):
                yield path, f"{_name(path)}:{number}", text


def _report(found: list[str]) -> None:
    assert not found, f"{len(found)} problems:\n" + "\n".join(found)


def test_the_reference_is_up_to_date() -> None:
    pages = _generator().pages()
    assert set(pages) == {path.name for path in (DOCS / "reference").glob("*.md")}
    _report([
        f"docs/reference/{name} is out of date; run: make docs\n{difference}"
        for name, text in pages.items()
        if (difference := _difference((DOCS / "reference" / name).read_text(), text))
    ])  # fmt: skip


def _difference(before: str, after: str) -> str:
    """Return the lines that differ; empty: none."""
    lines = unified_diff(before.splitlines(), after.splitlines(), "stored", "generated", n=0, lineterm="")
    return "\n".join(islice(lines, 20))


def test_every_setting_section_reason_and_exit_code_has_a_text() -> None:
    assert all(known.help.endswith(".") for known in known_settings().values())
    assert all(text.endswith(".") for text in sections().values())
    assert set(REASON_TEXT) == set(Reason)
    assert all(REASON_TEXT.values())
    assert set(EXIT_TEXT) == set(ExitCode)
    assert set(_generator().OUTCOME_TEXT) == set(Outcome)


def _leaves(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something, with its full name."""
    if not isinstance(command, click.Group):
        yield name.strip(), command
        return
    context = click.Context(command, **root.context_settings)
    for child in command.list_commands(context):
        found = command.get_command(context, child)
        assert found is not None
        yield from _leaves(found, f"{name} {child}")


def test_every_command_takes_json() -> None:
    without = [name for name, command in _leaves(root) if not any("--json" in o.opts for o in _options(command))]
    assert without == ["completion"], "only `completion`, which prints a shell script, has no JSON"


def _options(command: click.Command) -> list[click.Option]:
    own = [param for param in command.params if isinstance(param, click.Option)]
    return own + [o for child in getattr(command, "commands", {}).values() for o in _options(child)]


def test_every_command_and_option_has_a_help_text() -> None:
    found = []
    for name in COMMANDS:
        command = root.get_command(click.Context(root, **root.context_settings), name)
        assert command is not None, name
        found += [] if command.help else [f"{name} has no help text"]
        found += [f"{name} {option.opts[0]} has no help text" for option in _options(command) if not option.help]
    _report(found)


def test_links_lead_somewhere() -> None:
    _report([
        f"{place} links to {target}"
        for path, place, target in _found(_LINK)
        if "://" not in target
        and not target.startswith(("#", "mailto:"))
        and not (path.parent / target.partition("#")[0]).exists()
    ])  # fmt: skip


def test_links_to_headings_lead_to_one() -> None:
    headings = {path.resolve(): _anchors(path.read_text()) for path in PAGES}
    found = []
    for path, place, target in _found(_LINK):
        file, _, anchor = target.partition("#")
        page = (path.parent / file).resolve() if file else path.resolve()
        if "://" not in target and anchor and page in headings and anchor not in headings[page]:
            found.append(f"{place} links to {target}")
    _report(found)


def _anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as both the forge and the site make them."""
    titles = re.findall(r"(?m)^#+ (.+)$", text)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower())).strip("-") for title in titles}


def test_the_site_lists_every_page_once() -> None:
    site = load_script(DOCS / "build_site.py")
    listed = [
        page
        for part in site.page_order()
        for name in part.values()
        for page in ([name] if isinstance(name, str) else name)
    ]
    assert len(listed) == len(set(listed))
    assert set(listed) == {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    outside = site.outside_links("[a](../../deploy/x.yaml) [b](../index.md)", DOCS / "guides" / "x.md")
    assert re.fullmatch(r"\[a\]\(https://\S+/deploy/x\.yaml\) \[b\]\(\.\./index\.md\)", outside)


@pytest.mark.slow
def test_the_site_is_built_and_its_links_lead_somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = load_script(DOCS / "build_site.py")
    monkeypatch.setattr(site, "SITE", tmp_path)
    site.main()
    (built,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(list(built.rglob("*.html"))) >= len(list(DOCS.rglob("*.md")))
    assert (built / "search" / "search_index.json").is_file()
    (built / "index.html").write_text(
        '<a href="missing.html">x</a><script src="https://cdn.example.org/x.js"></script>'
    )
    assert site.broken_links(built) == ["index.html: missing.html"]
    assert site.foreign_loads(built) == ["https://cdn.example.org/x.js"]


def test_named_source_files_exist() -> None:
    package = REPOSITORY / "src" / "evercrawl"
    _report([f"{place} names {name}" for _, place, name in _found(_PACKAGE_PATH) if not (package / name).exists()])


def test_named_tests_exist() -> None:
    defined = _defined_tests()
    found = [f"{place} names {name}" for _, place, name in _found(_TEST_PATH) if not (REPOSITORY / name).exists()]
    found += [f"{place} names {name}" for _, place, name in _found(_TEST_NAME) if name not in defined]
    _report(found)


def _defined_tests() -> frozenset[str]:
    sources = (path.read_text() for path in (REPOSITORY / "tests").rglob("test_*.py"))
    return frozenset(name for source in sources for name in re.findall(r"def (test_\w+)", source))


def test_every_guarantee_names_a_test() -> None:
    promises = re.split(r"\n(?=\d+\. )", (DOCS / "concepts" / "guarantees.md").read_text())[1:]
    assert len(promises) > 5
    assert all(_TEST_PATH.search(promise) or _TEST_NAME.search(promise) for promise in promises)


def _calls() -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the words of every command in code blocks and inline code."""
    for path in PAGES:
        text = path.read_text()
        for found in _CALL.finditer(text):
            call = re.sub(r"\\\n\s*", "", next(filter(None, found.groups())))
            if not set(call.split()[1:2]) & {*COMMANDS, "-C", "-q"} and found[2] is None:
                continue  # A sentence with our name.
            line = text.count("\n", 0, found.start()) + 1
            command = _REST.split(call)[0].rstrip(".,;:")
            yield f"{_name(path)}:{line}", [word for word in shlex.split(command)[1:] if word not in ("…", "...")]


def syntax_error(words: list[str]) -> str | None:
    """Return what is wrong with the words of a command; values are not checked."""
    command: click.Command = root
    context = click.Context(root, **root.context_settings)
    try:
        while isinstance(command, click.Group):
            parser = command.make_parser(context)
            parser.allow_interspersed_args = False
            _, rest, _ = parser.parse_args(list(words))
            if not rest:
                return None
            found = command.get_command(context, rest[0])
            if found is None:
                return f"there is no command {rest[0]}"
            command, words, context = found, rest[1:], click.Context(found, parent=context, **found.context_settings)
        _, rest, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        return error.format_message()
    return f"{rest} is too much" if rest else None


def test_shown_commands_and_their_options_exist() -> None:
    calls = list(_calls())
    assert len(calls) > 200
    _report([f"{place} {error}" for place, words in calls if (error := syntax_error(words)) is not None])


def test_shown_settings_can_be_set() -> None:
    found = []
    for place, words in _calls():
        key, *value = [word for word in words[2:] if word != "--user"] or [""]
        if words[:2] != ["config", "set"] or not key:
            continue
        try:
            setting = find_setting(key)
            if value:
                parse_setting(setting, value[0])
        except ConfigError as error:
            found.append(f"{place} {error}")
    _report(found)


def test_named_options_exist() -> None:
    commands = [command for _, command in _leaves(root)]
    options = {one for c in commands for option in _options(c) for one in (*option.opts, *option.secondary_opts)}
    _report([f"{place} names {name}" for _, place, name in _found(_OPTION) if name not in options])


def test_the_index_links_every_page() -> None:
    linked = {(DOCS / target).resolve() for target in _LINK.findall((DOCS / "index.md").read_text())}
    expected = {path for path in DOCS.rglob("*.md") if path.parent.name != "decisions"} - {DOCS / "index.md"}
    _report([f"docs/index.md does not link {_name(path)}" for path in sorted(expected - linked)])
    assert DOCS / "decisions" in linked


def test_named_settings_exist() -> None:
    names = re.compile(rf"`((?:{'|'.join(sections())})\.[a-z_]+)\b")
    known = FILES | set(known_settings())
    _report([f"{place} names {name}" for _, place, name in _found(names) if name not in known])


def test_the_docs_are_short() -> None:
    generated = {DOCS / "reference" / name for name in _generator().pages()}
    pages = [*DOCS.rglob("*.md"), REPOSITORY / "README.md"]
    words = {path: len(path.read_text().split()) for path in pages if path not in generated}
    assert sum(words.values()) <= MOST_WORDS
    assert words[DOCS / "concepts" / "architecture.md"] <= MOST_ARCHITECTURE_WORDS


def test_the_architecture_page_names_every_package() -> None:
    text = (DOCS / "concepts" / "architecture.md").read_text()
    packages = {path.parent.name for path in (REPOSITORY / "src" / "evercrawl").glob("*/__init__.py")}
    assert sorted(name for name in packages if not re.search(rf"\b{name}\b", text)) == []


def test_lines_are_wrapped() -> None:
    found = []
    for path in PAGES:
        is_code = False
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            is_code ^= line.startswith("```")
            is_free = is_code or line.startswith(("|", "    ")) or "](" in line or "://" in line
            if len(line) > LONGEST_LINE and not is_free and path.parent.name != "reference":
                found.append(f"{_name(path)}:{number} has {len(line)} characters")
    _report(found)


def test_the_guide_says_which_flags_are_kept() -> None:
    page = (DOCS / "guides" / "archive-a-site.md").read_text(encoding="utf-8")
    flags = {name: f"--{name.replace('_', '-')}" for name in FLAG_KEYS} | {"filters": "--filter"}
    assert [flag for flag in flags.values() if f"`{flag}`" not in page] == []
