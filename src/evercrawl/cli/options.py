"""Options that commands share, and the class of command groups."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_origin

import click

from evercrawl.cli.context import CliContext, pass_cli


class CommandGroup(click.Group):
    """A group that suggests the closest name for a mistyped command."""

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
pace_option = click.option(
    "--pace", type=click.Choice(["gentle", "paper", "own"]), help="How gently to crawl. Default: gentle."
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
    return click.option(*names, expose_value=False, is_eager=True, callback=_store_option, **attributes)


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
