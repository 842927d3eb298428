"""What every command shares: which collection, how much to say, where to."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from evercrawl.collection.library import Collection
    from evercrawl.config import Configured


@dataclass
class Session:
    """The global options of one call."""

    directory: Path | None = None
    quiet: bool = False
    verbose: int = 0
    color: str = "auto"
    progress: bool = True
    env: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def named_collection(self) -> Path | None:
        """The collection that -C or EVERCRAWL_COLLECTION names, whether it exists or not."""
        if self.directory is not None:
            return self.directory
        named = self.env.get("EVERCRAWL_COLLECTION")
        return Path(named) if named else None

    def find_collection(self) -> Path | None:
        """The collection that this call is about; None: there is none."""
        from evercrawl.config import find_collection, is_collection

        named = self.named_collection()
        if named is None:
            return find_collection(Path.cwd())
        if not is_collection(named):
            raise ConfigError(f"{named} is not a collection; make one with: evercrawl -C {named} crawl URL")
        return named

    def require_collection(self) -> Path:
        """The collection of this call; ConfigError where there is none."""
        found = self.find_collection()
        if found is None:
            raise ConfigError("no collection here; name one with -C DIR, or make one with: evercrawl crawl URL")
        return found

    def configured(self, collection: Path | None, flags: dict[str, object] | None = None) -> Configured:
        """The settings in force."""
        from evercrawl.config import read_settings

        return read_settings(collection, flags=flags, env=self.env)

    def open_collection(self) -> Collection:
        """The collection of this call, opened for looking."""
        path = self.require_collection()
        from evercrawl.collection import library

        return library.open(path, settings=self.configured(path).settings)

    @cached_property
    def out(self) -> Console:
        """Standard output: data."""
        return self._console(to_stderr=False)

    @cached_property
    def err(self) -> Console:
        """Standard error: everything that is not data."""
        return self._console(to_stderr=True)

    def _console(self, *, to_stderr: bool) -> Console:
        """A console that takes no markup, so that crawled text is never more than text."""
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
        """One line for the user on stderr, unless -q."""
        if not self.quiet:
            click.echo(text, err=True)


pass_session = click.make_pass_decorator(Session, ensure=True)


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The global options, which may stand before or behind the command's name."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Put a global option that was given into the session; the later one wins."""
    if ctx.get_parameter_source(param.name or "") is not click.core.ParameterSource.DEFAULT:
        setattr(ctx.ensure_object(Session), param.name or "", value)


def _option(*names: str, **attributes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(*names, expose_value=False, is_eager=True, callback=_remember, **attributes)


_OPTIONS = (
    _option(
        "-C", "--collection", "directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
        help="The collection's folder. Otherwise EVERCRAWL_COLLECTION, or found from here upwards.",
    ),
    _option("-q", "--quiet", "quiet", is_flag=True, help="Say nothing but errors and data."),
    _option("-v", "--verbose", "verbose", count=True, help="Say more; tracebacks of defects too."),
    _option(
        "--color", "color", type=click.Choice(["auto", "always", "never"]), default="auto",
        help="Colours; auto also heeds NO_COLOR.",
    ),
    _option("--progress/--no-progress", "progress", default=True, help="Show progress on a terminal."),
)  # fmt: skip
