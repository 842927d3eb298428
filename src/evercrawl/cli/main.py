"""The `evercrawl` command. A command's module is imported only when the command is called."""

from __future__ import annotations

import errno
import gc
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

import click

from evercrawl.cli.context import CliContext, CommandGroup, common_options, log_bug
from evercrawl.cli.terminal import ExitCode
from evercrawl.errors import BugFound, EvercrawlError
from evercrawl.model import __version__
from evercrawl.model.sanitize import mask_passwords, safe_block, safe_line

GC_THRESHOLD = 20_000  # New objects before Python searches for cycles; loading modules makes many, and no cycles.
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


class ListedCommand(NamedTuple):
    """A command as `evercrawl --help` lists it; `module` below `cli.commands` defines `NAME_command`."""

    module: str
    text: str


GROUPS: dict[str, dict[str, ListedCommand]] = {
    "Start": {
        "crawl": ListedCommand("crawl", "Crawl a site, or resume and update a collection."),
        "watch": ListedCommand("crawl", "Keep a collection up to date until you stop it."),
        "serve": ListedCommand("serve", "Open the web interface and the API."),
        "login": ListedCommand("sign_in_command", "Sign in to a site, so that it is crawled signed in."),
        "config": ListedCommand("setup", "Show or change settings."),
    },
    "Look": {
        "status": ListedCommand("decisions", "Show what the collection holds and what is due."),
        "search": ListedCommand("search", "Search the text of all pages, now or at an earlier time."),
        "changes": ListedCommand("versions", "List what changed since a given time."),
        "history": ListedCommand("versions", "List the versions of a page."),
        "show": ListedCommand("versions", "Print a stored version of a page."),
        "diff": ListedCommand("versions", "Compare two versions of a page."),
        "fields": ListedCommand("field_commands", "Collect values from pages: prices, versions, dates, lists."),
        "sentiment": ListedCommand("versions", "Show the sentiment of a page over time, and of its site."),
        "why": ListedCommand("decisions", "Explain why a URL was or was not fetched."),
        "skipped": ListedCommand("decisions", "List URLs that were not fetched, with reasons."),
        "log": ListedCommand("decisions", "Print every visit, as crawl.log or JSON."),
        "links": ListedCommand("links", "Show a page's links; find dead links and orphan pages."),
        "graph": ListedCommand("links", "Summarise, export or draw the link graph."),
        "credit": ListedCommand("links", "Show the credit of pages, which decides their order."),
    },
    "Be notified": {
        "alert": ListedCommand("alerts", "Get changes by webhook, mail or feed."),
        "mute": ListedCommand("notices", "Ignore changes in parts of a page or site."),
        "websub": ListedCommand("notices", "Subscribe to sites that push their updates (WebSub)."),
    },
    "Data in and out": {
        "export": ListedCommand("transfer", "Export pages as WARC, WACZ, JSON, CSV, Parquet and more."),
        "import": ListedCommand("transfer", "Import WARC or WACZ files, or pages to watch."),
        "verify": ListedCommand("transfer", "Check that every stored version can be read back."),
        "mcp": ListedCommand("serve", "Let language-model agents search and read the collection."),
        "sitemap": ListedCommand("sitemap", "Build, serve, check and announce your own site's sitemap."),
    },
    "Steer": {
        "plan": ListedCommand("steering", "Estimate the freshness that a request budget buys."),
        "trap": ListedCommand("steering", "List crawler traps; exclude or allow URL patterns."),
        "pace": ListedCommand("steering", "Slow down requests to a site."),
        "pause": ListedCommand("steering", "Pause the running crawl."),
        "resume": ListedCommand("steering", "Resume a paused crawl."),
        "stop": ListedCommand("steering", "Stop the running crawl, wherever it was started."),
        "schedule": ListedCommand("steering", "Say when to visit a site or a page."),
    },
    "Operate": {
        "backup": ListedCommand("store", "Copy the collection to another folder, also while a crawl runs."),
        "restore": ListedCommand("store", "Restore a collection from a backup."),
        "remove": ListedCommand("store", "Remove a site, a page or a version everywhere."),
        "store": ListedCommand("store", "Show disk use; prune, compact, move or upload data."),
        "index": ListedCommand("search", "Show or rebuild the search index."),
        "cluster": ListedCommand("nodes", "List or stop the workers of a PostgreSQL collection."),
        "outpost": ListedCommand("nodes", "Run small fetchers close to the sites."),
        "trust": ListedCommand("setup", "Trust a collection that somebody else made, or stop it."),
        "signature": ListedCommand("setup", "Sign your requests, so that sites can tell that they are yours."),
        "doctor": ListedCommand("setup", "Check this machine, and a site's robots.txt."),
        "completion": ListedCommand("setup", "Print the completion script for your shell."),
        "version": ListedCommand("setup", "Show the versions of evercrawl, Python and SQLite."),
    },
    "Research": {
        "simulate": ListedCommand("research", "Compare revisit policies on recorded history."),
        "tool": ListedCommand("research", "Run one crawler decision on JSON lines from stdin."),
        "lab": ListedCommand("research", "Rerun the experiments of the papers."),
    },
}
COMMANDS: dict[str, ListedCommand] = {name: listed for group in GROUPS.values() for name, listed in group.items()}
ALIASES = {"run": "crawl", "sync": "crawl"}


class RootGroup(CommandGroup):
    """The top-level commands, in groups."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        module = import_module(f"evercrawl.cli.commands.{COMMANDS[name].module}")
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), listed.text) for name, listed in commands.items()])


@click.command(cls=RootGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="evercrawl %(version)s")
@common_options
@click.pass_context
def root(ctx: click.Context) -> None:
    """Keep an up-to-date copy of web sites: polite, crash-safe, and able to explain every decision.

    \b
    evercrawl crawl https://example.org     crawl a site into example.org.evercrawl
    evercrawl crawl                         later: resume, or fetch what is due
    evercrawl why https://example.org/x     why a page was or was not fetched
    evercrawl completion bash --help        set up shell completion
    """
    ctx.ensure_object(CliContext)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code."""
    gc.set_threshold(GC_THRESHOLD)
    code = run(sys.argv[1:] if arguments is None else arguments)
    # Nothing that a crawl leaves is searched for cycles again when Python ends. DuckDB reports what is left as leaked.
    (gc.unfreeze if "duckdb" in sys.modules else gc.freeze)()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; turn every error into one clear message."""
    cli, stdout = CliContext(), sys.stdout
    try:
        code = root.main(list(arguments), prog_name="evercrawl", standalone_mode=False, obj=cli)
        sys.stdout.flush()  # Here, not when Python ends: the reader may have gone.
        return int(code) if isinstance(code, int) else ExitCode.OK
    except click.ClickException as error:
        _print_usage_error(error)
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _close_broken_pipe()
    except SystemExit:
        # Click ends the program when a reader has gone, and replaces standard output before.
        if sys.stdout is stdout:
            raise
        return _close_broken_pipe()
    except BugFound as error:
        return _print_bug(error, cli)
    except EvercrawlError as error:
        return _print_error(error)
    except OSError as error:
        return _print_file_error(error) if _is_file_error(error) else _print_bug(error, cli)
    except ModuleNotFoundError as error:
        return _print_missing_extra(error, cli)
    except Exception as error:
        return _print_bug(error, cli)


_PLAIN_WORDS = (
    (r"a valid (integer|float)( range)?\.", "a number."),
    (r"in the range (\S+)<=x<=(\S+)\.", r"from \1 to \2."),
    (r"in the range x>=(\S+)\.", r"\1 or more."),
)  # What click says of numbers, in words.


def _print_usage_error(error: click.ClickException) -> None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = error.format_message()
    for pattern, words in _PLAIN_WORDS:
        message = re.sub(pattern, words, message)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(message, err=True)
        return
    click.echo(f"evercrawl: {mask_passwords(message[:1].lower() + message[1:])}", err=True)
    if context is not None and context.command_path != "evercrawl":
        click.echo(f"help: {context.command_path} --help", err=True)


def _print_error(error: EvercrawlError) -> int:
    click.echo(f"evercrawl: {safe_block(mask_passwords(str(error)))}", err=True)
    return error.exit_code


def _is_file_error(error: OSError) -> bool:
    return error.filename is not None or error.errno in _DISK_ERRORS


def _print_file_error(error: OSError) -> int:
    name = safe_line(os.fsdecode(error.filename)) if error.filename is not None else "a file"
    click.echo(f"evercrawl: cannot use {name}: {error.strerror}", err=True)
    return ExitCode.STORE if error.errno in _DISK_ERRORS else ExitCode.USAGE


def _print_bug(error: Exception, cli: CliContext) -> int:
    """Print a short message; the traceback goes to the log, and with -v to the terminal."""
    path = log_bug(error, cli)
    summary = safe_line(mask_passwords(f"{type(error).__name__}: {error}"), longest=300)
    click.echo(f"evercrawl: this is a bug in evercrawl: {summary}", err=True)
    click.echo(f"Details are in {path}" if path else "Run it again with -v for details", err=True)
    if cli.verbose:
        import traceback

        click.echo(mask_passwords("".join(traceback.format_exception(error))), err=True)
    return ExitCode.ERROR


def _print_missing_extra(error: ModuleNotFoundError, cli: CliContext) -> int:
    from evercrawl.collection.doctor import EXTRAS

    extra = next((extra for extra, (module, _) in EXTRAS.items() if module == error.name), None)
    if extra is None:
        return _print_bug(error, cli)
    click.echo(f"evercrawl: this needs an extra: pip install 'evercrawl[{extra}]' ({error.name} is missing)", err=True)
    return ExitCode.USAGE


def _close_broken_pipe() -> int:
    """Exit quietly when the reader of our pipe has gone (`| head`), as if by its signal: output may be incomplete."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.BROKEN_PIPE


if __name__ == "__main__":
    main()
