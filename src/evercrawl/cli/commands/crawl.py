"""`evercrawl crawl`: start, resume or update."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import common_options, setting_flag
from evercrawl.cli.terminal import emit_json, exit_code_of
from evercrawl.collection.urls import parse_page_url
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.cli.progress import ProgressView
    from evercrawl.config import Configured
    from evercrawl.model.report import Summary
    from evercrawl.model.settings import ScopeSettings

FLAG_KEYS = {
    "max_pages": "crawl.max_pages",
    "max_time": "crawl.max_time",
    "depth": "scope.depth",
    "scope": "scope.kind",
    "pace": "pace.mode",
    "gap": "pace.gap",
    "concurrency": "crawl.concurrency",
    "workers": "crawl.workers",
    "store": "store.url",
    "include": "scope.include",
    "exclude": "scope.exclude",
    "filters": "scope.plugins",
    "allow_private": "http.allow_private",
    "resolve": "http.resolve",
    "budget": "revisit.budget",
    "outposts": "outposts.listen",
}
"""Which setting each flag overrides for one run."""

KEPT_SECTION = "scope."
"""Flags of this section describe the collection, so they are written into it when it is made."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run: which collection, with which settings and which URLs on top of what it knows."""

    path: Path
    is_new: bool
    urls: tuple[str, ...]
    configured: Configured
    refresh: bool
    forever: bool = False
    """Wait for what comes due instead of ending."""
    focus: str | None = None
    """What to look for; None: as before."""


def _setting(flag: str, *names: str, **attributes: Any) -> Callable[[Any], Any]:
    """An option that overrides the setting which FLAG_KEYS names."""
    name = names[0] if names else flag.removeprefix("--").replace("-", "_")
    return setting_flag(FLAG_KEYS[name], flag, *names, **attributes)


def _rate(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    from evercrawl.core.politeness import parse_rate

    try:
        return None if text is None else parse_rate(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} {error}", context, option) from error


_RUN_OPTIONS = (
    _setting("--max-time", metavar="SECONDS", help="Stop after this time; also 5m, 2h."),
    _setting("--depth", metavar="N", help="Follow links at most N steps from a seed."),
    click.option(
        "--scope", type=click.Choice(["host", "prefix", "domain", "list"]), help="Which URLs belong. Default: host."
    ),
    click.option("--pace", type=click.Choice(["gentle", "paper", "own"]), help="How gently to ask. Default: gentle."),
    _setting("--gap", metavar="SECONDS", help="Least gap per site; a larger Crawl-delay still wins."),
    _setting("--concurrency", metavar="N", help="Most requests in flight over all sites."),
    _setting("--workers", metavar="N", help="Processes that share the work, to use more than one core."),
    _setting("--store", metavar="DSN", help="postgresql://user@host/database: keep the state there."),
    click.option("--budget", metavar="N/day", callback=_rate, help="Most requests a day in all; also 50/hour."),
    _setting("--include", multiple=True, metavar="RE", help="Only URLs that match one of these. Repeatable."),
    _setting("--exclude", multiple=True, metavar="RE", help="No URLs that match one of these. Repeatable."),
    _setting("--filter", "filters", multiple=True, metavar="MODULE:OBJECT", help="A filter of your own. Repeatable."),
    click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses."),
    _setting("--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Use this address, as curl does. Repeatable."),
    _setting("--outposts", metavar="HOST:PORT", help="Listen here for paired outposts and use them."),
    click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on stdout."),
)


def run_options(function: Any) -> Any:
    """The options that every command has that asks sites."""
    for option in reversed(_RUN_OPTIONS):
        function = option(function)
    return function


@click.command("crawl")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@_setting("--max-pages", metavar="N", help="Stop after N pages of this run, or none. Default: 10000.")
@click.option("--refresh", is_flag=True, help="Visit every known page now, whatever the schedule says.")
@click.option(
    "--focus",
    metavar="FILE|URL|QUERY",
    help="Look for a topic: a file of examples, the URL of an example, or words. It stays; none ends it.",
)
@run_options
@common_options
@pass_cli
def crawl_command(
    cli: CliContext, /, urls: tuple[str, ...], refresh: bool, focus: str | None, as_json: bool, **flags: Any
) -> int:
    """Crawl from the URLs, or go on where the collection stands.

    \b
    evercrawl crawl https://example.org                    a whole host into ./example.org.evercrawl
    evercrawl crawl                                        resume, or visit what is due
    evercrawl crawl https://example.org/docs/ --scope prefix --max-pages 500
    evercrawl crawl https://example.org --focus examples.jsonl    pages like the examples first
    evercrawl crawl https://example.org --focus "solar power"     pages about these words first

    Calling it again never starts over: pages that wait are fetched, pages that are due are visited again.
    Ctrl-C stops safely; a second one cancels the requests in flight.
    """
    plan = plan_run(cli, urls, refresh=refresh, flags=given_flags(flags))
    return execute_run(cli, replace(plan, focus=focus), as_json=as_json)


def execute_run(cli: CliContext, plan: RunPlan, *, as_json: bool) -> int:
    """Run as planned, say what was done, and give the exit code."""
    summary, signal_number = _run_and_summarise(cli, plan)
    if as_json:
        from evercrawl.cli.progress import summary_fields

        emit_json("crawl", summary_fields(summary))
    return exit_code_of(summary, signal_number=signal_number)


def given_flags(flags: dict[str, Any]) -> dict[str, object]:
    """The flags that were given, by setting."""
    given = {FLAG_KEYS[name]: value for name, value in flags.items() if value not in (None, (), False)}
    if given.get("pace.mode") == "own" and "crawl.concurrency" in given:
        given["pace.own_concurrency"] = given["crawl.concurrency"]
    return given


def plan_run(
    cli: CliContext, urls: Sequence[str], *, flags: dict[str, object], refresh: bool = False, forever: bool = False
) -> RunPlan:
    """Which collection is meant, made if it is new, and with which settings."""
    from evercrawl.config import collection_file, create_collection, is_collection, write_setting

    seeds = tuple(parse_page_url(url) for url in urls)
    path = _collection_for(cli, seeds)
    is_new = not is_collection(path)
    configured = cli.configured(path, flags)
    known = () if is_new else cli.configured(path).settings.scope.seeds
    fresh = tuple(seed for seed in dict.fromkeys(seeds) if seed not in known)
    _check_scope(configured.settings.scope)
    _check_analysers(configured.settings.analysis.enabled)
    if is_new:
        kept = {key: value for key, value in flags.items() if key.startswith(KEPT_SECTION)}
        create_collection(path, {"scope.seeds": fresh, **kept})
    elif fresh:
        write_setting(collection_file(path), "scope.seeds", (*known, *fresh))
    if is_new or fresh:
        configured = cli.configured(path, flags)
    return RunPlan(path, is_new, seeds, configured, refresh, forever)


def _check_scope(scope: ScopeSettings) -> None:
    """ConfigError for a filter or pattern that cannot be used, before a folder is made for nothing."""
    from evercrawl.adapters.plugins import installed_schemes, load_filter
    from evercrawl.core.scope.scope import Scope

    if scope.plugins:
        sys.path.insert(0, str(Path.cwd()))
    filters = {name: load_filter(name) for name in scope.plugins}
    Scope(scope, filters=filters, schemes=installed_schemes())


def _check_analysers(names: Sequence[str]) -> None:
    """ConfigError for an analyser that cannot be used; modules in this folder are found."""
    from evercrawl.adapters.analysers import load_analysers

    if any(":" in name for name in names):
        sys.path.insert(0, str(Path.cwd()))
    load_analysers(names)


def _collection_for(cli: CliContext, seeds: Sequence[str]) -> Path:
    """The collection that is named, or around us, or of the first URL; without a URL, the one here."""
    from evercrawl.config import default_collection_path, enclosing_collection

    if not seeds:
        found = cli.find_collection()
        if found is None:
            raise ConfigError("nothing to crawl: name a URL, or a collection with -C DIR")
        return found
    return cli.named_collection() or enclosing_collection(Path.cwd()) or default_collection_path(seeds[0])


def _run_and_summarise(cli: CliContext, plan: RunPlan) -> tuple[Summary, int | None]:
    from evercrawl.adapters.system import reduce_gc_frequency
    from evercrawl.cli.context import close_log, open_log
    from evercrawl.cli.progress import open_progress, summary_box

    _print_header(cli, plan)
    open_log(plan.path, verbose=cli.verbose)
    reduce_gc_frequency()
    try:
        with open_progress(cli) as view, asyncio.Runner(loop_factory=_loop_factory()) as runner:
            summary, signal_number = runner.run(_crawl(plan, view))
    finally:
        close_log()
    if not cli.quiet:
        cli.err.print(summary_box(summary, plan.path))
    return summary, signal_number


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    import uvloop

    return uvloop.new_event_loop


async def _crawl(plan: RunPlan, view: ProgressView) -> tuple[Summary, int | None]:
    from evercrawl.cli.progress import InterruptHandler, handle_signals
    from evercrawl.collection.collection import StopSignal
    from evercrawl.collection.collection import open as open_collection

    settings = plan.configured.settings
    stop = StopSignal()
    brake = InterruptHandler(
        stop, say=view.say, in_flight=lambda: view.last.in_flight, patience=settings.crawl.shutdown
    )
    with handle_signals(brake, view.dump):
        async with open_collection(plan.path, create=True, settings=settings) as collection:
            summary = await collection.crawl(
                urls=plan.urls,
                refresh=plan.refresh,
                forever=plan.forever,
                stop=stop,
                on_progress=view.update,
                focus=plan.focus,
            )
    return summary, brake.signal_number


def _print_header(cli: CliContext, plan: RunPlan) -> None:
    from evercrawl.cli.progress import display_path
    from evercrawl.cluster.build import pace_for
    from evercrawl.model import __version__

    settings = plan.configured.settings
    names = ", ".join(url.split("/")[2] for url in plan.urls[:3]) or "resume"
    more = f" and {len(plan.urls) - 3} more" if len(plan.urls) > 3 else ""
    fresh = "  (new)" if plan.is_new else ""
    cli.note(f"evercrawl {__version__} · {names}{more} · collection {display_path(plan.path)}{fresh}")
    if settings.identity.contact is None and pace_for(settings).floor:
        cli.note("! no contact set, so one request a second per site is the fastest; set yours:")
        cli.note("  evercrawl config contact you@example.org")


@click.command("watch")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--serve",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve the web interface too, at this port of this machine.",
)
@run_options
@common_options
@pass_cli
def watch_command(cli: CliContext, /, urls: tuple[str, ...], port: int | None, as_json: bool, **flags: Any) -> int:
    """Keep the collection fresh until stopped: pages when a visit is worth it, sitemaps, new pages.

    \b
    evercrawl watch                                        whatever the collection knows
    evercrawl watch https://example.org --budget 500/day   at most 500 requests a day
    evercrawl watch --serve 8787                           and look at it in a browser meanwhile
    evercrawl plan --budget 500/day                        what that would bring, sending nothing

    Every visit is learned from: pages that change often are seen often, pages that rest seldom, none never.
    Ctrl-C (or SIGTERM) stops safely, and the next call goes on; a crash loses nothing.
    """
    chosen = given_flags(flags) | {"crawl.max_pages": None}
    if port is not None:
        from evercrawl.cli.commands.serve import serve_while_watching

        plan = plan_run(cli, urls, flags=chosen, forever=True)
        return serve_while_watching(cli, plan.path, port, flags=chosen, as_json=as_json)
    return execute_run(cli, plan_run(cli, urls, flags=chosen, forever=True), as_json=as_json)
