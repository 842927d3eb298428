"""What every `evercrawl lab` command does with its experiment: say it, draw it, and judge it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from evercrawl.cli.terminal import ExitCode, emit_json
from evercrawl.errors import ConfigError

Found = TypeVar("Found", bound="Judged")
Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")


class Judged(Protocol):
    """The result of an experiment."""

    @property
    def matches(self) -> bool:
        """It came out as it should."""


def plot_option(words: str) -> Callable[[Command], Command]:
    """`--plot FILE`, with its help."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("--plot", metavar="FILE", type=kind, help=words)


def present(
    kind: str,
    found: Found,
    *,
    as_json: bool,
    fields: Callable[[Found], dict[str, object]],
    show: Callable[[Found], None],
) -> int:
    """Print the result, for people or as JSON; the exit code says whether it came out as it should."""
    if as_json:
        emit_json(kind, fields(found))
    else:
        show(found)
    return ExitCode.OK if found.matches else ExitCode.ERROR


def draw(plot: Path, picture: str) -> None:
    """Write a picture."""
    try:
        plot.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"the picture cannot be written to {plot}: {error.strerror}") from None
