"""A flag that overrides a setting is checked where it stands, so that a message about it names the flag."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_origin

import click

from evercrawl.cli.context import CliContext


def setting_flag(key: str, *names: str, **attributes: Any) -> Callable[[Any], Any]:
    """An option for the setting `key`; its text is given on as it is, once it is known to be usable."""

    def check(ctx: click.Context, param: click.Parameter, given: Any) -> Any:
        for text in given if isinstance(given, tuple) else (given,):
            _check_one(key, text, ctx, param)
        return given

    return click.option(*names, callback=check, **attributes)


def _check_one(key: str, text: str | None, ctx: click.Context, param: click.Parameter) -> None:
    if text is None:
        return
    from evercrawl.config.schema import known_settings, value_of

    known = known_settings()[key]
    try:
        value_of(known, (text,) if get_origin(known.shape) is tuple else text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} cannot be used, it {error}.", ctx, param) from None


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The global options, which may stand before or behind the command's name."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Put a global option that was given into the cli; the later one wins."""
    if ctx.get_parameter_source(param.name or "") is not click.core.ParameterSource.DEFAULT:
        setattr(ctx.ensure_object(CliContext), param.name or "", value)


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
