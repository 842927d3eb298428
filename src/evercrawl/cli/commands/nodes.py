"""The commands `cluster` and `outpost`: processes on other machines."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, CommandGroup, allow_private_option, common_options, json_option, with_cli
from evercrawl.cli.terminal import emit_json, format_size, plural, relative_time
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.collection.outposts import OutpostStatus


@click.group("cluster", cls=CommandGroup)
def cluster_command() -> None:
    """List or stop the workers of a collection in PostgreSQL.

    \b
    evercrawl cluster status --json
    evercrawl cluster drain 3f9a
    """


@cluster_command.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per worker.")
@with_cli
def cluster_status(cli: CliContext, as_json: bool) -> None:
    """List the running workers with host, start time, shards and visits."""
    from evercrawl.collection.workers import list_workers

    with cli.open_collection() as collection:
        found = list_workers(collection.path, collection.settings.store.url)
    for member in found:
        if as_json:
            emit_json("cluster", member._asdict() | {"id": str(member.id)})
            continue
        state = "draining" if member.draining else "idle" if member.quiet else "working"
        done = f"{member.shards:>5} shards  {member.visits:>9,} visits  {format_size(member.wire_bytes):>9}"
        place = f"{member.host} ({member.pid}), started {relative_time(member.began)}"
        click.echo(f"{str(member.id)[:8]}  {state:<9} {done}  {place}")
    if not found and not as_json:
        click.echo("no worker is running")


@cluster_command.command("drain")
@click.argument("worker", metavar="ID|all")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_cli
def cluster_drain(cli: CliContext, worker: str, as_json: bool) -> None:
    """Stop workers after their current requests; their shards pass to others.

    ID is the start of a worker's id, as `cluster status` shows it.
    """
    from evercrawl.collection.workers import drain_workers

    with cli.open_collection() as collection:
        count = drain_workers(collection.path, worker, collection.settings.store.url)
    if not count:
        raise click.ClickException(f"no worker id starts with {worker!r}; list them with: evercrawl cluster status")
    if as_json:
        emit_json("cluster-drain", {"workers": count})
    else:
        cli.note(f"stopping {plural(count, 'worker')} at the next heartbeat")


CODE_HOURS = 24


@click.group("outpost", cls=CommandGroup)
@common_options
def outpost_command() -> None:
    """Run small fetchers close to the sites; they send home only what changed.

    \b
    evercrawl outpost pair --for example.org --home crawler.example.net:7443                      at home
    evercrawl watch --outposts 0.0.0.0:7443                                                       at home
    evercrawl outpost run --home crawler.example.net:7443 --code CODE --allow example.org         at the site
    evercrawl outpost status --json                                                               at home

    An outpost connects to home, so it needs no open port and works behind NAT. It fetches only hosts that its
    owner allows, obeys robots.txt and the pace itself, and runs no code from home.
    """


@outpost_command.command("pair")
@click.option(
    "--for",
    "routes",
    multiple=True,
    required=True,
    metavar="ROUTE",
    help="Sites to fetch: a suffix (.edu), a domain (example.org) or a site. Repeatable.",
)
@click.option("--name", metavar="NAME", help="Name of the outpost. Default: the first route.")
@click.option("--home", metavar="HOST:PORT", help="Address where the outpost reaches home.")
@click.option(
    "--hours",
    type=click.IntRange(1, 24 * 30),
    default=CODE_HOURS,
    show_default=True,
    metavar="N",
    help="How long the code is valid.",
)
@json_option
@with_cli
def outpost_pair(
    cli: CliContext, routes: tuple[str, ...], name: str | None, home: str | None, hours: int, as_json: bool
) -> None:
    """Print a one-time code that pairs an outpost.

    \b
    evercrawl outpost pair --for .edu
    evercrawl outpost pair --for example.org --name office --home crawler.example.net:7443
    """
    from evercrawl.collection.outposts import create_pairing_code

    name = name or routes[0]
    collection = cli.require_collection()
    code = create_pairing_code(collection, name=name, routes=list(routes), valid_for=timedelta(hours=hours))
    if as_json:
        emit_json("outpost-pair", {"name": name, "routes": list(routes), "code": code, "home": home})
        return
    click.echo(code)
    allow = " ".join(f"--allow {route}" for route in routes)
    cli.note(f"Run this close to the site within {plural(hours, 'hour')}; the code works once:")
    cli.note(f"  evercrawl outpost run --home {home or 'HOST:PORT'} --code {code} {allow}")


@outpost_command.command("run")
@click.option("--home", metavar="HOST:PORT", help="Address of home. Saved for the next run.")
@click.option("--code", metavar="CODE", help="Code from `outpost pair`. Needed once.")
@click.option(
    "--allow", multiple=True, metavar="HOST", help="Host that may be fetched, as in `pair --for`. Saved. Repeatable."
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the outpost's file. Default: in your state folder.",
)
@click.option(
    "--read",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Read the site's files from this folder instead of by HTTP.",
)
@click.option("--max-rate", metavar="N/TIME", help="Maximum requests to all sites, such as 30/minute.")
@click.option("--max-disk", default="256MiB", show_default=True, metavar="SIZE", help="Maximum size of the file.")
@click.option("--gap", metavar="SECONDS", help="Minimum delay between requests to a site.")
@allow_private_option
@click.option("--clock-offset", type=float, default=0.0, hidden=True, help="For tests: shift the clock.")
@click.option("--json", "as_json", is_flag=True, help="At the end, print a summary as JSON.")
@with_cli
def outpost_run(cli: CliContext, /, as_json: bool, **given: Any) -> None:
    """Fetch for home until stopped with Ctrl-C or SIGTERM, which is always safe.

    \b
    evercrawl outpost run --home crawler.example.net:7443 --code CODE --allow example.org
    evercrawl outpost run                                    again, with the saved options
    evercrawl outpost run --read /var/www/html --max-rate 30/minute
    """
    import asyncio

    from evercrawl.collection.outposts import run_outpost

    options = _outpost_options(cli, given)
    flags: dict[str, object] = {}
    if given["gap"] is not None:
        flags["pace.delay"] = given["gap"]
    if given["allow_private"]:
        flags["http.allow_private"] = True
    settings = cli.load_settings(None, flags).settings
    cli.note(f"outpost in {options.folder}; press Ctrl-C to stop")
    requests = asyncio.run(run_outpost(options, settings, notify=lambda words: cli.note(safe_line(words))))
    if as_json:
        emit_json("outpost-run", {"requests": requests})


def _outpost_options(cli: CliContext, given: dict[str, Any]) -> Any:
    from evercrawl.collection.outposts import AgentOptions
    from evercrawl.config.schema import known_settings, parse_value
    from evercrawl.model.time import parse_rate

    state = cli.env.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    try:
        rate = given["max_rate"]
        gap = timedelta(days=1) / parse_rate(rate) if rate is not None else timedelta(0)
    except ValueError as error:
        raise ConfigError(f"--max-rate {given['max_rate']!r} cannot be used: it {error}") from None
    try:
        disk = parse_value(known_settings()["outposts.cache_bytes"], given["max_disk"])
    except ValueError as error:
        raise ConfigError(f"--max-disk {given['max_disk']!r} cannot be used: it {error}") from None
    return AgentOptions(
        folder=given["state"] or Path(state) / "evercrawl" / "outpost",
        home=given["home"],
        code=given["code"],
        allow=given["allow"],
        read=given["read"],
        rate_gap=gap,
        disk_bytes=int(disk),
        clock_offset=timedelta(seconds=given["clock_offset"]),
    )


@outpost_command.command("status")
@json_option
@with_cli
def outpost_status(cli: CliContext, as_json: bool) -> None:
    """List the outposts with requests, bytes sent, and what a plain crawl would have cost.

    \b
    evercrawl outpost status
    evercrawl outpost status --json | jq '.outposts[].bytes_sent'
    """
    from evercrawl.collection.outposts import list_outposts

    found = list_outposts(cli.require_collection())
    if as_json:
        emit_json("outposts", {"outposts": [asdict(one) | {"share": one.share} for one in found]})
        return
    if not found:
        cli.note("no outposts; pair one with: evercrawl outpost pair --for example.org")
    for one in found:
        click.echo(_outpost_line(one))


def _outpost_line(one: OutpostStatus) -> str:
    share = f"{one.share:.1%} of {format_size(one.bytes_plain)}" if one.share is not None else "nothing yet"
    seen = relative_time(one.seen) if one.seen else "never"
    answers = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in one.counts.items() if count)
    return (
        f"{safe_line(one.name)} ({safe_line(' '.join(one.routes))}): "
        f"{plural(one.requests, 'request')} to the sites, {format_size(one.bytes_sent)} sent ({share})\n"
        f"    {answers or 'no responses'}; last seen {seen}{', active' if one.has_lease else ''}"
    )


@outpost_command.command("unpair")
@click.argument("name")
@json_option
@with_cli
def outpost_unpair(cli: CliContext, name: str, as_json: bool) -> None:
    """Unpair an outpost. Its key becomes invalid, and the crawler fetches its sites again."""
    from evercrawl.collection.outposts import unpair

    unpair(cli.require_collection(), name)
    if as_json:
        emit_json("outpost-unpair", {"name": name})
