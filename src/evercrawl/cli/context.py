"""What every command shares: the collection, the consoles and the log file."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

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

        return Console(
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
