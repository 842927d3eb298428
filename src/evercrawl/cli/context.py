"""What every command shares: the collection, the consoles, the log file, and common options."""

from __future__ import annotations

import logging
import os
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

import click

from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.sanitize import mask_passwords, safe_line

if TYPE_CHECKING:
    from rich.console import Console

    from evercrawl.collection.collection import Collection
    from evercrawl.config import LoadedSettings


@dataclass
class CliContext:
    """The global options of one command."""

    directory: Path | None = None
    quiet: bool = False
    verbose: int = 0
    color: str = "auto"
    progress: bool = True
    untrusted: bool = False
    env: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    _is_distrust_shown: bool = False

    def named_collection(self) -> Path | None:
        """Return the collection that -C or EVERCRAWL_COLLECTION names, even if it does not exist."""
        if self.directory is not None:
            return self.directory
        named = self.env.get("EVERCRAWL_COLLECTION")
        return Path(named) if named else None

    def find_collection(self) -> Path | None:
        """Return the named collection, or the one in or above this folder; None if there is none."""
        from evercrawl.config import find_collection, is_collection

        named = self.named_collection()
        if named is None:
            return find_collection(Path.cwd())
        if not is_collection(named):
            raise ConfigError(f"{named} is not a collection; create one with: evercrawl -C {named} crawl URL")
        return named

    def require_collection(self) -> Path:
        """Return the collection; raise ConfigError if there is none."""
        found = self.find_collection()
        if found is None:
            raise ConfigError("no collection here; give one with -C DIR, or create one with: evercrawl crawl URL")
        return found

    def load_settings(self, collection: Path | None, flags: dict[str, object] | None = None) -> LoadedSettings:
        """Load the settings in force; say once what is off because the collection is not trusted."""
        from evercrawl.config import read_settings
        from evercrawl.config.trust import TRUST_NONE, TRUST_VARIABLE

        if self.untrusted:
            self.env[TRUST_VARIABLE] = os.environ[TRUST_VARIABLE] = TRUST_NONE  # Also for processes that we start.
        loaded = read_settings(collection, flags=flags, env=self.env)
        if loaded.distrust is not None and loaded.distrust.off and not self._is_distrust_shown:
            self.note(f"evercrawl: {safe_line(loaded.distrust.message(), longest=1000)}")
            self._is_distrust_shown = True
        return loaded

    def open_collection(self) -> Collection:
        """Open the collection for reading."""
        from evercrawl.collection.collection import open as open_collection

        path = self.require_collection()
        return open_collection(path, settings=self.load_settings(path).settings)

    @cached_property
    def out(self) -> Console:
        """Return the console on standard output, for data."""
        return self._console(to_stderr=False)

    @cached_property
    def err(self) -> Console:
        """Return the console on standard error, for everything else."""
        return self._console(to_stderr=True)

    def _console(self, *, to_stderr: bool) -> Console:
        """Return a console without markup, so that crawled text stays plain text."""
        from rich.console import Console

        class PipedConsole(Console):
            """A console that leaves a reader who has gone to `run`; rich would exit with 1."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError

        return PipedConsole(
            file=sys.stderr if to_stderr else sys.stdout,
            force_terminal=True if self.color == "always" else None,
            color_system=None if self.color == "never" else "auto",
            no_color=True if self.color == "never" else None,
            markup=False,
            highlight=False,
            emoji=False,
        )

    def note(self, text: str) -> None:
        """Print a line on stderr, unless -q is given."""
        if not self.quiet:
            click.echo(text, err=True)


pass_cli = click.make_pass_decorator(CliContext, ensure=True)

LOG_FILE = "evercrawl.log"
LOG_BYTES = 5_000_000
LOG_FILES = 3
LOG_MODE = 0o640
STORAGE_LOG = "evercrawl.storage"  # Warnings of this logger concern stored data; they are printed too.


class MaskingFormatter(logging.Formatter):
    """Writes log records without the passwords in them, also in tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        return mask_passwords(super().format(record))


def open_log(folder: Path, *, verbose: int) -> Path:
    """Write log records to a file in `folder`, at most `LOG_FILES` files of `LOG_BYTES`.
    If it cannot be written, the file is in the user's state folder."""
    from logging.handlers import RotatingFileHandler

    class PrivateFileHandler(RotatingFileHandler):
        """Creates files that others cannot read."""

        def _open(self) -> TextIOWrapper:
            os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, LOG_MODE))
            return super()._open()

    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        folder = _state_folder(os.environ)
        folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOG_FILE
    handler = PrivateFileHandler(
        path, maxBytes=LOG_BYTES, backupCount=LOG_FILES - 1, encoding="utf-8", errors="backslashreplace"
    )
    handler.setFormatter(MaskingFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    log = logging.getLogger("evercrawl")
    close_log()
    log.addHandler(handler)
    shown = logging.StreamHandler(sys.stderr)
    shown.setLevel(logging.WARNING)
    shown.addFilter(logging.Filter(STORAGE_LOG))
    shown.setFormatter(MaskingFormatter("evercrawl: %(message)s"))
    log.addHandler(shown)
    log.setLevel(logging.DEBUG if verbose else logging.INFO)
    log.propagate = False
    return path


def close_log() -> None:
    """Close the log files of this process."""
    log = logging.getLogger("evercrawl")
    for handler in list(log.handlers):
        log.removeHandler(handler)
        handler.close()


def log_bug(error: Exception, cli: CliContext) -> Path | None:
    """Write the traceback to the log and return its path; None if that fails."""
    for folder in _folders(cli):
        try:
            path = open_log(folder, verbose=0)
        except OSError:
            continue
        logging.getLogger("evercrawl").error("bug", exc_info=error)
        close_log()
        return path
    return None


def _folders(cli: CliContext) -> list[Path]:
    try:
        found = cli.find_collection()
    except EvercrawlError:
        found = None
    return [*([found] if found else []), _state_folder(cli.env)]


def _state_folder(env: Mapping[str, str]) -> Path:
    state = env.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    return Path(state) / "evercrawl"


class HelpFormatter(click.HelpFormatter):
    """Help whose examples fit the terminal."""

    def write_text(self, text: str) -> None:
        """Write paragraphs; examples are lines after a backspace, as in click."""
        parts = [self._fit(part) if part.startswith("\b\nevercrawl ") else part for part in text.split("\n\n")]
        super().write_text("\n\n".join(parts))

    def _fit(self, part: str) -> str:
        """Return examples with their comments in one column, or below them where that is too wide."""
        room = self.width - self.current_indent
        rows = [re.split(r"(?<=\S) {2,}(?=\S)", line, maxsplit=1) for line in part.splitlines()[1:]]
        column = 2 + max((len(row[0]) for row in rows if len(row) == 2), default=0)
        is_wide = any(column + len(row[1]) > room for row in rows if len(row) == 2)
        lines = []
        for command, *comment in rows:
            wrapped = textwrap.wrap(command, room - 2, subsequent_indent="    ", break_on_hyphens=False)
            lines += [f"{line} \\" for line in wrapped[:-1]] + wrapped[-1:]
            if comment and is_wide:
                lines.append(f"    {comment[0]}")
            elif comment:
                lines[-1] = lines[-1].ljust(column) + comment[0]
        return "\n".join(["\b", *lines])


click.Context.formatter_class = HelpFormatter


class CommonOption(click.Option):
    """An option of every command, which only the help of the program explains."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return how to write the option, and its text; in commands, one line stands for all of them."""
        if ctx.parent is None:
            return super().get_help_record(ctx)
        is_last = self.name == "untrusted"
        return ("-C DIR, -q, -v, ...", "Options of all commands: evercrawl --help.") if is_last else None


class CommandGroup(click.Group):
    """A group that suggests the closest name for a mistyped command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their whole first sentences."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(500)) for name, one in found if one and not one.hidden])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            close = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; see: {ctx.command_path} --help"
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)


def setting_flag(key: str, *names: str, **attributes: Any) -> Callable[[Any], Any]:
    """Return an option that overrides the setting `key`; errors name the flag."""

    def check(ctx: click.Context, param: click.Parameter, given: Any) -> Any:
        for text in given if isinstance(given, tuple) else (given,):
            _check_value(key, text, ctx, param)
        return given

    return click.option(*names, callback=check, **attributes)


def _check_value(key: str, text: str | None, ctx: click.Context, param: click.Parameter) -> None:
    if text is None:
        return
    from evercrawl.config.schema import known_settings, parse_value

    known = known_settings()[key]
    try:
        parse_value(known, (text,) if get_origin(known.shape) is tuple else text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} cannot be used, it {error}.", ctx, param) from None


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
json_lines_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
allow_private_option = click.option("--allow-private", is_flag=True, help="Allow private and loopback addresses.")
resolve_option = click.option(
    "--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Connect to this address instead, like curl. Repeatable."
)


def parse_budget(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """Return the requests per day that an option asks for."""
    from evercrawl.model.time import parse_rate

    try:
        return None if text is None else parse_rate(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} cannot be used, it {error}.", ctx, param) from None


def network_flags(*, allow_private: bool, resolve: tuple[str, ...] = ()) -> dict[str, object]:
    """Return the settings that --allow-private and --resolve override."""
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    return flags | ({"http.resolve": resolve} if resolve else {})


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the global options, which may stand before or after the command's name."""
    for option in reversed(_COMMON_OPTIONS):
        command = option(command)
    return command


def with_cli(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the global options, and pass what they say as the first argument."""
    return common_options(pass_cli(command))


def _store_option(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Put a global option into the context; the later one wins."""
    if ctx.get_parameter_source(param.name or "") is not click.core.ParameterSource.DEFAULT:
        setattr(ctx.ensure_object(CliContext), param.name or "", value)


def _common_option(*names: str, **attributes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    attributes |= {"cls": CommonOption, "expose_value": False, "is_eager": True, "callback": _store_option}
    return click.option(*names, **attributes)


_COMMON_OPTIONS = (
    _common_option(
        "-C", "--collection", "directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
        help="Collection folder. Default: EVERCRAWL_COLLECTION, or the one in or above this folder.",
    ),
    _common_option("-q", "--quiet", "quiet", is_flag=True, help="Print only data and errors."),
    _common_option("-v", "--verbose", "verbose", count=True, help="Print more, with tracebacks of bugs."),
    _common_option(
        "--color", "color", type=click.Choice(["auto", "always", "never"]), default="auto",
        help="Use colours. auto: on a terminal, unless NO_COLOR is set.",
    ),
    _common_option("--progress/--no-progress", "progress", default=True, help="Show progress on a terminal."),
    _common_option("--untrusted", "untrusted", is_flag=True, help="Run and send nothing that the collection names."),
)  # fmt: skip
