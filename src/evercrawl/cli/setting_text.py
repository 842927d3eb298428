"""A flag that overrides a setting is checked where it stands, so that a mistake is told by the flag's name."""

from __future__ import annotations

from typing import get_origin

import click


class SettingText(click.ParamType):
    """The text of one setting; `convert` gives it back unchanged once it is known to be usable."""

    name = "text"

    def __init__(self, key: str) -> None:
        self.key = key

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from evercrawl.config.known import known_settings
        from evercrawl.config.value import value_of

        known = known_settings()[self.key]
        try:
            value_of(known, (value,) if get_origin(known.shape) is tuple else value)
        except ValueError as error:
            self.fail(f"{value!r} cannot be used, it {error}.", param, ctx)
        return value
