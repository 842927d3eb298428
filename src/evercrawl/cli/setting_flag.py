"""A flag that overrides a setting is checked where it stands, so that a message about it names the flag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_origin

import click


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
    from evercrawl.config.known import known_settings
    from evercrawl.config.value import value_of

    known = known_settings()[key]
    try:
        value_of(known, (text,) if get_origin(known.shape) is tuple else text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} cannot be used, it {error}.", ctx, param) from None
