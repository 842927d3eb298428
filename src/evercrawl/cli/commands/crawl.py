"""The commands `crawl` and `watch`: start, resume or update a collection."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, allow_private_option, parse_budget, setting_flag, with_cli
from evercrawl.cli.terminal import emit_json, exit_code_of
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.cli.progress import ProgressView
    from evercrawl.config import LoadedSettings
    from evercrawl.model.run import Summary

FLAG_KEYS = {
    "max_pages": "crawl.max_pages",
    "max_time": "crawl.max_time",
    "depth": "scope.max_depth",
    "scope": "scope.kind",
    "pace": "pace.mode",
    "gap": "pace.delay",
    "concurrency": "crawl.concurrency",
    "workers": "crawl.workers",
    "store": "store.url",
    "include": "scope.include",
    "exclude": "scope.exclude",
    "filters": "scope.plugins",
    "media_type": "scope.media_types",
    "language": "scope.languages",
    "newer_than": "scope.newer_than",
    "keyword": "scope.keywords",
    "exclude_host": "scope.exclude_hosts",
    "dynamic": "scope.dynamic_pages",
    "allow_private": "http.allow_private",
    "resolve": "http.resolve",
    "budget": "revisit.budget",
    "outposts": "outposts.listen",
    "wait": "crawl.idle_timeout",
    "order": "credit.order",
    "render": "render.mode",
    "with_assets": "assets.enabled",
}
"""The setting that each flag overrides for one run."""

SAVED_SECTION = "scope."  # Flags of this section describe the collection, so a new collection saves them.
SAVED_KEYS = (
    *("pace.mode", "pace.delay", "pace.unlimited_concurrency", "http.allow_private", "http.resolve"),
    *("revisit.budget", "credit.order", "assets.enabled", "render.mode"),
)
"""Other flags that a new collection saves: how its sites are reached, so that later runs reach them in the same way."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run: the collection, its settings, and the URLs given for it."""

    path: Path
    is_new: bool
    urls: tuple[str, ...]
    loaded: LoadedSettings
    refresh: bool
    forever: bool = False  # Wait for pages to become due instead of ending.
    focus: str | None = None  # The topic; None keeps the current one.
    is_folder_new: bool = False  # The folder was made for this run.


def _setting(flag: str, *names: str, **attributes: Any) -> Callable[[Any], Any]:
    """Return an option that overrides the setting named in FLAG_KEYS."""
    name = names[0] if names else flag.removeprefix("--").replace("-", "_")
    return setting_flag(FLAG_KEYS[name], flag, *names, **attributes)


_RUN_OPTIONS = (
    _setting("--max-time", metavar="SECONDS", help="Stop after this time: 90, 5m, 2h."),
    _setting("--wait", metavar="SECONDS", help="Before ending, wait this long for paused sites and retries: 10m."),
    _setting(
        "--order",
        type=click.Choice(["credit", "breadth-first", "paper-credit"]),
        help="Which page comes first. Default: credit.",
    ),
    _setting("--depth", metavar="N", help="Follow links at most N steps from a start URL."),
    click.option(
        "--scope", type=click.Choice(["host", "prefix", "domain", "list"]), help="Which URLs to crawl. Default: host."
    ),
    click.option("--pace", type=click.Choice(["gentle", "paper", "own"]), help="How gently to crawl. Default: gentle."),
    _setting("--gap", metavar="SECONDS", help="Minimum delay per site. A longer Crawl-delay still wins."),
    _setting("--concurrency", metavar="N", help="Maximum requests in flight over all sites."),
    _setting("--workers", metavar="N", help="Worker processes, to use several cores."),
    _setting("--store", metavar="DSN", help="Keep the state in postgresql://user@host/database."),
    click.option("--budget", metavar="N/day", callback=parse_budget, help="Maximum requests: 1000/day, 50/hour."),
    _setting("--include", multiple=True, metavar="RE", help="Crawl only URLs that match. Repeatable."),
    _setting("--exclude", multiple=True, metavar="RE", help="Skip URLs that match. Repeatable."),
    _setting(
        "--filter", "filters", multiple=True, metavar="MODULE:OBJECT", help="Use your own URL filter. Repeatable."
    ),
    _setting(
        "--media-type", multiple=True, metavar="TYPE", help="Keep only this type: text/html, image/*. Repeatable."
    ),
    _setting("--language", multiple=True, metavar="CODE", help="Keep only pages in this language: en. Repeatable."),
    _setting("--newer-than", metavar="DATE", help="Keep only pages dated after this: 2026-01-01, 30d."),
    _setting("--keyword", multiple=True, metavar="WORD", help="Keep only pages with this word. Repeatable."),
    _setting("--exclude-host", multiple=True, metavar="HOST", help="Never request this host. Repeatable."),
    click.option("--dynamic/--no-dynamic", default=None, help="Fetch CGI and other dynamic pages. Default: yes."),
    _setting(
        "--render",
        type=click.Choice(["auto", "never", "always"]),
        help="Which pages to render with a browser. Default: auto, where scripts add something.",
    ),
    click.option(
        "--with-assets/--without-assets",
        default=None,
        help="Also store styles, images, fonts and scripts of pages. Default: no.",
    ),
    allow_private_option,
    _setting(
        "--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Connect to this address, like curl. Repeatable."
    ),
    _setting("--outposts", metavar="HOST:PORT", help="Accept paired outposts at this address."),
    click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object."),
)


def run_options(function: Any) -> Any:
    """Add the options of commands that crawl."""
    for option in reversed(_RUN_OPTIONS):
        function = option(function)
    return function


@click.command("crawl")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@_setting("--max-pages", metavar="N", help="Stop after N pages; none: no limit. Default: 10000.")
@click.option("--refresh", is_flag=True, help="Visit every known page now, due or not.")
@click.option(
    "--focus",
    metavar="FILE|URL|QUERY",
    help="Crawl for a topic: examples file, example URL, or words. Saved; none turns it off.",
)
@run_options
@with_cli
def crawl_command(
    cli: CliContext, /, urls: tuple[str, ...], refresh: bool, focus: str | None, as_json: bool, **flags: Any
) -> int:
    """Crawl a site, or resume and update a collection.

    \b
    evercrawl crawl https://example.org        a whole host into example.org.evercrawl
    evercrawl crawl                            resume, or visit what is due
    evercrawl crawl https://example.org/docs/ --scope prefix --max-pages 500
    evercrawl crawl https://example.org --focus examples.jsonl
    evercrawl crawl https://example.org --focus "solar power"

    A second run continues where the first stopped: it fetches queued pages and revisits pages that are due.
    Press Ctrl-C to stop safely, and again to cancel the requests in flight.
    """
    plan = plan_run(cli, urls, refresh=refresh, flags=given_flags(flags))
    return execute_run(cli, replace(plan, focus=focus), as_json=as_json)


def execute_run(cli: CliContext, plan: RunPlan, *, as_json: bool) -> int:
    """Run as planned, print the summary, and return the exit code."""
    summary, signal_number = _run_and_summarise(cli, plan)
    if as_json:
        from evercrawl.cli.progress import summary_fields

        emit_json("crawl", summary_fields(summary))
    return exit_code_of(summary, signal_number=signal_number)


def given_flags(flags: dict[str, Any]) -> dict[str, object]:
    """Return the flags that were given, by setting."""
    given = {
        FLAG_KEYS[name]: value
        for name, value in flags.items()
        if value not in (None, ()) and (value is not False or name == "dynamic")
    }
    if given.get("pace.mode") == "own":
        given["pace.mode"] = "unlimited"
        if "crawl.concurrency" in given:
            given["pace.unlimited_concurrency"] = given["crawl.concurrency"]
    if "crawl.idle_timeout" in given:
        given["crawl.retry_timeout"] = given["crawl.idle_timeout"]
    return given


def plan_run(
    cli: CliContext, urls: Sequence[str], *, flags: dict[str, object], refresh: bool = False, forever: bool = False
) -> RunPlan:
    """Return the collection and settings of a run; create the collection if it is new."""
    from evercrawl.collection.crawl import check_plugins
    from evercrawl.collection.urls import parse_page_url
    from evercrawl.config import collection_file, create_collection, is_collection, write_setting

    seeds = tuple(parse_page_url(url) for url in urls)
    path = _collection_for(cli, seeds)
    is_new, is_folder_new = not is_collection(path), not path.exists()
    loaded = cli.load_settings(path, flags)
    known = () if is_new else cli.load_settings(path).settings.scope.seeds
    fresh = tuple(seed for seed in dict.fromkeys(seeds) if seed not in known)
    check_plugins(loaded.settings)
    saved = {key: value for key, value in flags.items() if key.startswith(SAVED_SECTION) or key in SAVED_KEYS}
    if is_new:
        create_collection(path, {"scope.seeds": fresh, **saved})
    elif fresh:
        first = {} if known else saved  # `login` may have made the collection.
        for key, value in {"scope.seeds": (*known, *fresh), **first}.items():
            write_setting(collection_file(path), key, value)
    if is_new or fresh:
        loaded = cli.load_settings(path, flags)
    return RunPlan(path, is_new, seeds, loaded, refresh, forever, is_folder_new=is_folder_new)


def _collection_for(cli: CliContext, seeds: Sequence[str]) -> Path:
    """Return the named or enclosing collection, else that of the first URL; without a URL, the one here."""
    from evercrawl.config import default_collection_path, enclosing_collection

    if not seeds:
        found = cli.find_collection()
        if found is None:
            raise ConfigError("nothing to crawl; give a URL, or a collection with -C DIR")
        return found
    return cli.named_collection() or enclosing_collection(Path.cwd()) or default_collection_path(seeds[0])


def _run_and_summarise(cli: CliContext, plan: RunPlan) -> tuple[Summary, int | None]:
    from evercrawl.cli.context import close_log, open_log
    from evercrawl.cli.progress import open_progress, summary_box
    from evercrawl.collection.crawl import loop_factory, raise_file_limit

    _print_header(cli, plan)
    open_log(plan.path, verbose=cli.verbose)
    raise_file_limit()
    try:
        with open_progress(cli) as view, asyncio.Runner(loop_factory=loop_factory()) as runner:
            summary, signal_number = runner.run(_crawl(plan, view))
    finally:
        close_log()
    is_kept = not (summary.nothing_reachable and plan.is_folder_new) or cli.named_collection() is not None
    if not is_kept:
        shutil.rmtree(plan.path, ignore_errors=True)
    if not cli.quiet:
        cli.err.print(summary_box(summary, plan.path if is_kept else None))
    if not is_kept:
        cli.note(f"nothing could be stored, so the new collection {plan.path} was removed")
    return summary, signal_number


async def _crawl(plan: RunPlan, view: ProgressView) -> tuple[Summary, int | None]:
    from evercrawl.cli.progress import InterruptHandler, handle_signals
    from evercrawl.collection.collection import open as open_collection
    from evercrawl.collection.crawl import StopSignal

    settings = plan.loaded.settings
    stop = StopSignal()
    handler = InterruptHandler(
        stop, say=view.say, in_flight=lambda: view.last.in_flight, timeout=settings.crawl.shutdown_timeout
    )
    with handle_signals(handler, view.dump):
        async with open_collection(plan.path, create=True, settings=settings) as collection:
            summary = await collection.crawl(
                urls=plan.urls,
                refresh=plan.refresh,
                forever=plan.forever,
                stop=stop,
                on_progress=view.update,
                focus=plan.focus,
            )
    return summary, handler.signal_number


def _print_header(cli: CliContext, plan: RunPlan) -> None:
    from evercrawl.cli.progress import display_path
    from evercrawl.collection.crawl import min_delay
    from evercrawl.model import __version__

    settings = plan.loaded.settings
    names = ", ".join(url.split("/")[2] for url in plan.urls[:3]) or "resume"
    more = f" and {len(plan.urls) - 3} more" if len(plan.urls) > 3 else ""
    new = "  (new)" if plan.is_new else ""
    cli.note(f"evercrawl {__version__} · {names}{more} · collection {display_path(plan.path)}{new}")
    if settings.identity.contact is None and min_delay(settings):
        cli.note("! no contact set: at most one request per second per site. Set yours:")
        cli.note("  evercrawl config contact you@example.org")


@click.command("watch")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--serve", "port", type=click.IntRange(0, 65535), metavar="PORT", help="Also open the web interface on this port."
)
@click.option("--refresh", is_flag=True, help="First visit every known page, due or not.")
@run_options
@with_cli
def watch_command(
    cli: CliContext, /, urls: tuple[str, ...], port: int | None, refresh: bool, as_json: bool, **flags: Any
) -> int:
    """Keep a collection up to date until you stop it.

    \b
    evercrawl watch                                        all known pages
    evercrawl watch https://example.org --budget 500/day   at most 500 requests per day
    evercrawl watch --serve 8787                           with the web interface
    evercrawl plan --budget 500/day                        estimate first, without requests

    It learns from every visit: pages that change often are visited often, the others rarely, and every page
    sometimes. Press Ctrl-C (or send SIGTERM) to stop safely; the next run continues. A crash loses nothing.
    """
    chosen = given_flags(flags) | {"crawl.max_pages": None}
    plan = plan_run(cli, urls, flags=chosen, refresh=refresh, forever=True)
    if port is not None:
        from evercrawl.cli.commands.serve import serve_while_watching

        return serve_while_watching(cli, plan.path, port, flags=chosen, refresh=refresh, as_json=as_json)
    return execute_run(cli, plan, as_json=as_json)
