"""A group of commands whose modules are imported when one of them is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """Commands by name: `subcommands` says in which module of `evercrawl.cli.commands` the `command` is."""

    def __init__(self, *args: Any, subcommands: Mapping[str, str], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._subcommands = subcommands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._subcommands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = self._subcommands.get(cmd_name)
        if module is None:
            return None
        found: click.Command = import_module(f"evercrawl.cli.commands.{module}").command
        return found
