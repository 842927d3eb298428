"""The `evercrawl` command. A command's module is imported when the command is called, not before."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from evercrawl.cli.context import CliContext
from evercrawl.cli.options import common_options
from evercrawl.cli.terminal import ExitCode
from evercrawl.errors import BugFound, EvercrawlError
from evercrawl.model import __version__

_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
COMMANDS = {
    "crawl": "Start, resume or update a crawl.",
    "watch": "Keep a collection fresh, for ever.",
    "serve": "Look at a collection in a browser; REST API, Memento, CDX, metrics.",
    "status": "What the collection holds, and what is due.",
    "plan": "What a budget would buy: pages to fetch and freshness to expect, sending nothing.",
    "simulate": "Replay history against revisit policies: freshness against requests.",
    "why": "Why a URL was or was not asked for.",
    "skipped": "URLs that were not asked for, each with its reason.",
    "log": "Every visit, one a line, as crawl.log or as JSON.",
    "trap": "URLs without end: what is left out and why; exclude, allow, undo.",
    "pace": "Sites that you slow down, also while a crawl runs.",
    "history": "The versions of a page, and when each came to be.",
    "sentiment": "How friendly a page is, was, and its site.",
    "show": "A stored version of a page: text, html, headers, links or raw.",
    "diff": "What differs between two versions of a page.",
    "changes": "What changed on which pages since some time.",
    "mute": "Parts of pages whose changes you do not want to be told of.",
    "search": "Find pages by what they say, now or as of some moment.",
    "links": "What links to a page, what it links to, and how important it is.",
    "check": "Dead links, redirect chains, and pages that nobody links to.",
    "graph": "The link graph in numbers, as files and as a picture.",
    "index": "How the search index stands, and making it anew.",
    "alert": "Be told of changes: by webhook, mail or feed, at once or as a digest.",
    "hub": "Let hubs tell of news: list, subscribe, unsubscribe (WebSub).",
    "export": "Take pages and versions out: WARC, WACZ, JSON, CSV, Parquet, a mirror and more.",
    "import": "Make or extend a collection from WARC or WACZ files.",
    "verify": "Prove that every stored version can be read back.",
    "store": "Show the space that the collection takes, and reclaim it.",
    "cluster": "The workers of a collection that lies in PostgreSQL.",
    "outpost": "Small processes near the sites that send home only what changed.",
    "config": "Show or change settings.",
    "sitemap": "For owners of sites: make, serve, check and announce a true sitemap.",
    "lab": "Rerun the papers' experiments in virtual time.",
    "doctor": "Check this machine, and robots.txt of a site as we read it.",
    "tool": "Ask one decision from a pipe: JSON lines in, JSON lines out.",
    "version": "The version of evercrawl and of what it stands on.",
}
ALIASES = {"run": "crawl", "sync": "crawl"}
MODULES = {"import": "import_"}
"""Commands whose name is a word of Python."""


class CommandTable(click.Group):
    """The commands by name; `evercrawl.cli.commands.NAME` has `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        found: click.Command = import_module(f"evercrawl.cli.commands.{MODULES.get(name, name)}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            close = get_close_matches(args[0], [*COMMANDS, *ALIASES], n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "; see: evercrawl --help"
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=CommandTable, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="evercrawl %(version)s")
@common_options
@click.pass_context
def root(ctx: click.Context) -> None:
    """Keep a living copy of web sites: polite, crash-safe, able to explain every decision.

    \b
    evercrawl crawl https://example.org     crawl a site into ./example.org.evercrawl
    evercrawl crawl                         the same again: resume, or fetch what is due
    evercrawl why https://example.org/x     why a page was or was not fetched
    """
    ctx.ensure_object(CliContext)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run a command; every error ends as one clear message and an exit code."""
    cli = CliContext()
    try:
        code = root.main(list(arguments), prog_name="evercrawl", standalone_mode=False, obj=cli)
        return int(code) if isinstance(code, int) else ExitCode.OK
    except click.ClickException as error:
        _say_usage(error)
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except BugFound as error:
        return _say_defect(error, cli)
    except EvercrawlError as error:
        return _say_error(error)
    except OSError as error:
        return _say_file_error(error) if _is_about_files(error) else _say_defect(error, cli)
    except Exception as error:
        return _say_defect(error, cli)


def _say_usage(error: click.ClickException) -> None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = error.format_message()
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(message, err=True)
        return
    click.echo(f"evercrawl: {message[:1].lower()}{message[1:]}", err=True)
    if context is not None and context.command_path != "evercrawl":
        click.echo(f"help: {context.command_path} --help", err=True)


def _say_error(error: EvercrawlError) -> int:
    from evercrawl.cli.safe_text import safe_block

    click.echo(f"evercrawl: {safe_block(str(error))}", err=True)
    return error.exit_code


def _is_about_files(error: OSError) -> bool:
    return error.filename is not None or error.errno in _DISK_ERRORS


def _say_file_error(error: OSError) -> int:
    """A file that cannot be used as the user wants it, or a disk that takes no more."""
    from evercrawl.cli.safe_text import safe_line

    name = safe_line(os.fsdecode(error.filename)) if error.filename is not None else "a file"
    click.echo(f"evercrawl: {name} cannot be used: {error.strerror}", err=True)
    return ExitCode.STORE if error.errno in _DISK_ERRORS else ExitCode.USAGE


def _say_defect(error: Exception, cli: CliContext) -> int:
    """A short word for the user; the traceback goes to the log, and to the terminal only with -v."""
    from evercrawl.cli.context import log_bug
    from evercrawl.cli.safe_text import safe_line

    place = log_bug(error, cli)
    summary = safe_line(f"{type(error).__name__}: {error}", longest=300)
    click.echo(f"evercrawl: this is a defect in evercrawl: {summary}", err=True)
    click.echo(f"The details are in {place}" if place else "Call again with -v for the details", err=True)
    if cli.verbose:
        import traceback

        click.echo("".join(traceback.format_exception(error)), err=True)
    return ExitCode.ERROR


def _reader_left() -> int:
    """The reader of our pipe has seen enough (`| head`): no error, and no second complaint at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OK


if __name__ == "__main__":
    main()


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
