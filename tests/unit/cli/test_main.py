"""The command line: help, groups, suggestions, errors, settings and completion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest

from evercrawl.cli.context import CliContext, log_bug
from evercrawl.cli.main import ALIASES, COMMANDS, GROUPS, root, run
from evercrawl.core.document import paragraphs
from evercrawl.model import __version__


@pytest.fixture(autouse=True)
def _clean_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("EVERCRAWL_COLLECTION", raising=False)
    monkeypatch.delenv("EVERCRAWL_CONTACT", raising=False)
    monkeypatch.chdir(tmp_path)


def test_version() -> None:
    done = subprocess.run([sys.executable, "-m", "evercrawl.cli.main", "--version"], capture_output=True, text=True)
    assert done.stdout == f"evercrawl {__version__}\n"


def test_the_version_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom evercrawl.cli.main import run\nrun(['--version'])\n"
        "print(sorted({'rich', 'asyncio', 'uvloop', 'aiodns', 'selectolax', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_for_80_columns(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Examples are wrapped, first sentences are whole, and the options of all commands take one line."""
    assert run([name, "--help"]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert [line for line in lines if len(line) > 80 or (line.endswith("...") and not line.startswith("Usage"))] == []
    assert "--no-progress" not in shown
    assert f"evercrawl {name}" in shown
    assert "--json" in shown or name in ("config", "completion", "lab")


def test_aliases_name_commands() -> None:
    assert set(ALIASES.values()) <= set(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["crwal"], 2, "did you mean 'crawl'?"),
        (["alert", "ad"], 2, "did you mean 'add'?"),
        (["crawl", "http://a.test/", "--depth=-1"], 2, "it must be a whole number, not negative, or none."),
        (["serve", "--port", "80x"], 2, "'80x' is not a number."),
        (["serve", "--port", "99999"], 2, "99999 is not from 0 to 65535."),
        (["alert", "log", "-n", "0"], 2, "0 is not 1 or more."),
        (["crawl", "--wrokers", "3"], 2, "no such option '--wrokers'"),
        (["crawl", "--max-pags", "3"], 2, "'--max-pages'"),
        (["crawl"], 2, "give a URL"),
        (["crawl", "ftp://example.org/"], 2, "not a URL that can be crawled"),
        (["crawl", "htp://example.org/"], 2, "did you mean 'http://example.org/'?"),
        (["crawl", "https://example.org/", "--max-pages", "many"], 2, "'--max-pages': 'many' cannot be used"),
        (["crawl", "https://example.org/", "--include", "("], 2, "'--include': '(' cannot be used"),
        (["crawl", "https://example.org/", "--filter", "nowhere:x"], 2, "there is no module 'nowhere'"),
        (["crawl", "https://example.org/", "--gap", "soon"], 2, "must be a duration"),
        (["crawl", "https://example.org/", "--scope", "planet"], 2, "planet"),
        (["status"], 2, "no collection here"),
        (["-C", "nowhere", "status"], 2, "nowhere is not a collection"),
        (["config", "get", "pace.delaay"], 2, "did you mean 'pace.delay'?"),
        (["config", "set", "pace.delay", "1s"], 2, "no collection here"),
        (["config", "set", "--user", "pace.mode", "fast"], 2, "gentle, paper, unlimited"),
        (["tool", "divination"], 2, "the tools are"),
    ],
)
def test_wrong_usage_gives_one_clear_message(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert words in shown.err
    assert "Traceback" not in shown.err


def test_without_a_command_it_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert capsys.readouterr().err.startswith("Usage: evercrawl")


@pytest.mark.parametrize("flags", [["--gap", "soon"], ["--filter", "nowhere:x"]])
def test_a_refused_crawl_leaves_no_folder_behind(flags: list[str], tmp_path: Path) -> None:
    assert run(["crawl", "https://example.org/", *flags]) == 2
    assert not list(tmp_path.glob("*.evercrawl"))


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (FileNotFoundError(2, "No such file or directory", "far/x.svg"), 2, "cannot use far/x.svg: No such"),
        (PermissionError(13, "Permission denied", "x\x1b.svg"), 2, "vg: Permission denied"),
        (OSError(28, "No space left on device"), 5, "cannot use a file: No space left on device"),
        (OSError(9, "Bad file descriptor"), 1, "this is a bug in evercrawl"),
        (ModuleNotFoundError("no", name="asyncpg"), 2, "needs an extra: pip install 'evercrawl[postgres]'"),
        (ModuleNotFoundError("no", name="evercrawl.gone"), 1, "this is a bug in evercrawl"),
    ],
)
def test_missing_files_and_extras_are_not_reported_as_bugs(
    error: Exception, code: int, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(root, "main", fail)
    assert run(["graph"]) == code
    shown = capsys.readouterr().err
    assert words in shown
    assert "\x1b" not in shown


def test_a_misspelt_setting_is_reported_with_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "example.org.evercrawl" / "collection.toml"
    file.parent.mkdir()
    file.write_text("[pace]\ndelaay = 3\n")
    assert run(["status"]) == 2
    shown = capsys.readouterr().err
    assert str(file) in shown
    assert "did you mean 'pace.delay'?" in shown


def test_why_for_an_unknown_url_checks_the_scope(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "example.org.evercrawl" / "collection.toml"
    file.parent.mkdir()
    file.write_text('[scope]\nseeds = ["https://example.org/"]\n')
    assert run(["why", "https://example.net/x"]) == 1
    shown = capsys.readouterr().out
    assert "no page of the collection links to this URL" in shown
    assert "would be skipped (out_of_scope): host example.net is not one of example.org" in shown
    assert run(["why", "https://example.org/x"]) == 1
    assert "would be followed: in scope" in capsys.readouterr().out


def test_the_contact_is_saved_for_the_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "contact", "me@example.org"]) == 0
    assert run(["config", "get", "identity.contact"]) == 0
    assert capsys.readouterr().out == "me@example.org\n"
    assert "me@example.org" in (tmp_path / "config" / "evercrawl" / "config.toml").read_text()


def test_settings_show_their_origin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERCRAWL_PACE__DELAY", "7s")
    assert run(["config", "show", "--origin"]) == 0
    shown = {line.split(" = ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert '"7s"' in shown["pace.delay"]
    assert shown["pace.delay"].endswith("# environment variable EVERCRAWL_PACE__DELAY")
    assert run(["config", "get", "pace.delay", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["pace.delay"]["value"] == '"7s"'


def test_doctor_reports_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert {"python", "compiled", "native", "sqlite", "dns", "tls", "clock", "disk", "extra pdf", "identity"} <= set(
        checks
    )
    assert checks["identity"]["verdict"] == "warn"
    assert "config contact" in checks["identity"]["remedy"]
    is_compiled = not paragraphs.__file__.endswith(".py")
    assert checks["compiled"]["detail"].startswith("yes" if is_compiled else "no")


def test_a_bug_is_logged_and_reported_briefly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise RuntimeError("broken on purpose\x1b[2J")

    monkeypatch.setattr("evercrawl.cli.main.import_module", broken)
    assert run(["status"]) == 1
    shown = capsys.readouterr().err
    log = tmp_path / "state" / "evercrawl" / "evercrawl.log"
    assert "RuntimeError: broken on purpose" in shown
    assert str(log) in shown
    assert "Traceback" not in shown
    assert "\x1b" not in shown
    assert "Traceback" in log.read_text()


def test_a_closed_pipe_is_not_an_error() -> None:
    command = f"{sys.executable} -m evercrawl.cli.main config show | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.startswith("identity.product")


def test_a_table_into_a_closed_pipe_is_left_to_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with suppress(BrokenPipeError), os.fdopen(writing, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        with pytest.raises(BrokenPipeError):
            CliContext().out.print("a line")


def test_the_help_lists_every_command_under_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    lines = [line.strip() for line in shown.splitlines()]
    for heading, commands in GROUPS.items():
        place = lines.index(f"{heading}:")
        listed = [line.split()[0] for line in lines[place + 1 : place + 1 + len(commands)]]
        assert listed == list(commands)
    assert all(len(line) <= 80 for line in shown.partition("Start:")[2].splitlines())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_line_that_installs_them(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    first, script = capsys.readouterr().out.split("\n", 1)
    assert first.startswith("# To turn completion on")
    assert f"evercrawl completion {shell}" in first
    assert "_EVERCRAWL_COMPLETE" in script


def _all_commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, **root.context_settings)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _all_commands(child, f"{path} {name}")


def test_examples_in_help_stay_on_lines_of_their_own() -> None:
    for path, command in _all_commands(root, "evercrawl"):
        shown = click.Context(command, info_name=path, **root.context_settings).get_help()
        for line in shown.splitlines():
            assert line.count(" evercrawl ") < 2, (path, line)


def test_passwords_appear_in_no_output(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "c.evercrawl").mkdir()
    (tmp_path / "c.evercrawl" / "collection.toml").write_text("")
    here, address = ["-C", "c.evercrawl"], "postgresql://me:s3cret@db.example/crawls"
    assert run([*here, "config", "set", "store.url", address]) == 0
    assert run([*here, "config", "set", "store.url", address, "--json"]) == 0
    for command in (["show"], ["show", "--json"], ["get", "store.url"], ["get", "store.url", "--json"]):
        assert run([*here, "config", *command]) == 0
    assert run([*here, "crawl", "https://me:s3cret@example.org/"]) == 2
    assert run([*here, "config", "set", "scope.seeds", "['https://me:s3cret@example.org/']"]) == 2
    assert run([*here, "crawl", "--store", "mysql://me:s3cret@db.example/", "https://example.org/"]) == 2
    out, err = capsys.readouterr()
    assert "s3cret" not in out + err
    assert out.count("me:***@db.example") == 5
    assert "without a user name or password" in err
    assert "s3cret" in (tmp_path / "c.evercrawl" / "collection.toml").read_text()


def test_passwords_appear_in_no_log(tmp_path: Path) -> None:
    try:
        raise ValueError("no answer from postgresql://me:s3cret@db.example/crawls")
    except ValueError as error:
        path = log_bug(error, CliContext(env={"XDG_STATE_HOME": str(tmp_path)}))
    assert path is not None
    assert "me:***@db.example" in path.read_text()
    assert "s3cret" not in path.read_text()
