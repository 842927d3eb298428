"""Write the man page of `evercrawl` from its commands. Run it with `make man`."""

from __future__ import annotations

import sys
from inspect import cleandoc
from pathlib import Path

import click

from evercrawl.cli.main import GROUPS, root
from evercrawl.cli.terminal import EXIT_TEXT
from evercrawl.model import __version__

DEFAULT_PATH = Path(__file__).resolve().parent.parent / "build" / "man" / "evercrawl.1"


def man_page() -> str:
    """Return the man page as roff."""
    context = click.Context(root, info_name="evercrawl", **root.context_settings)
    lines = [
        f'.TH EVERCRAWL 1 "" "evercrawl {__version__}" "User Commands"',
        ".SH NAME",
        "evercrawl \\- keep an up-to-date copy of web sites",
        ".SH SYNOPSIS",
        ".B evercrawl",
        "[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGS\\fR]...",
        ".SH DESCRIPTION",
        *_paragraphs(root.help or ""),
        ".SH OPTIONS",
        *_options(root, context),
    ]
    for heading, commands in GROUPS.items():
        lines.append(f".SH {_escape(heading.upper())}")
        for name in commands:
            command = root.get_command(context, name)
            assert command is not None
            lines += _command(command, click.Context(command, parent=context, info_name=name))
    lines.append(".SH EXIT STATUS")
    for code, text in EXIT_TEXT.items():
        lines += [".TP", f".B {int(code)}", _escape(text)]
    return "\n".join(lines) + "\n"


def _command(command: click.Command, context: click.Context) -> list[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".SS {_escape(context.command_path.removeprefix('evercrawl '))} {_escape(usage)}"]
    lines += _paragraphs(command.help or "")
    if context.parent is not None:
        lines += _options(command, context, common={option.name for option in root.params})
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                lines += _command(child, click.Context(child, parent=context, info_name=name))
    return lines


def _options(command: click.Command, context: click.Context, common: set[str | None] | None = None) -> list[str]:
    """Return the options; those of every command are listed once, under OPTIONS."""
    lines = []
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if (
            isinstance(param, click.Option)
            and record is not None
            and param.name not in (common or set()) | ({"help"} if common else set())
        ):
            lines += [".TP", f".B {_escape(record[0])}", _escape(record[1])]
    return lines


def _paragraphs(text: str) -> list[str]:
    lines = []
    for paragraph in cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            lines += [".PP", ".nf", *map(_escape, paragraph.split("\n")[1:]), ".fi"]
        else:
            lines += [".PP", *map(_escape, paragraph.split("\n"))]
    return lines


def _escape(text: str) -> str:
    """Return text for roff: dashes stay dashes, and no line starts a request."""
    escaped = text.strip("\r").replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_PATH
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(man_page(), encoding="utf-8")
    print(path)
