"""`evercrawl cluster`: the workers of a collection in a database."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import CommandGroup, common_options
from evercrawl.cli.terminal import emit_json, exact_time, format_size, plural
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.outpost.status import OutpostStatus


@click.group("cluster", cls=CommandGroup)
def cluster_command() -> None:
    """Show the workers of a collection that lies in PostgreSQL, and send them home.

    \b
    evercrawl cluster status --json
    evercrawl cluster drain 3f9a
    """


@cluster_command.command("status")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a worker.")
@common_options
@pass_cli
def cluster_status(cli: CliContext, as_json: bool) -> None:
    """List the workers that live: where, since when, how many shards, what they have done in this run."""
    from evercrawl.cluster.database_worker import list_workers

    with cli.open_collection() as collection:
        found = list_workers(collection.path, collection.settings.store.url)
    for member in found:
        if as_json:
            emit_json("cluster", member._asdict() | {"id": str(member.id)})
            continue
        state = "draining" if member.draining else "resting" if member.quiet else "at work"
        done = f"{member.shards:>5} shards  {member.visits:>9,} visits  {format_size(member.wire_bytes):>9}"
        place = f"{member.host} ({member.pid}), since {member.began:%Y-%m-%d %H:%M} UTC"
        click.echo(f"{str(member.id)[:8]}  {state:<9} {done}  {place}")
    if not found and not as_json:
        click.echo("nobody works on this collection")


@cluster_command.command("drain")
@click.argument("worker", metavar="ID|all")
@common_options
@pass_cli
def cluster_drain(cli: CliContext, worker: str) -> None:
    """Ask workers to finish their requests, save, let go of their shards and end.

    ID is the beginning of a worker's id as `cluster status` shows it.
    """
    from evercrawl.cluster.database_worker import drain_workers

    with cli.open_collection() as collection:
        asked = drain_workers(collection.path, worker, collection.settings.store.url)
    if not asked:
        raise click.ClickException(f"no worker's id begins with {worker!r}; see: evercrawl cluster status")
    cli.note(f"{asked} asked; each ends with its next heartbeat")


CODE_HOURS = 24


@click.group("outpost", cls=CommandGroup)
@common_options
def outpost_command() -> None:
    """Small processes near the sites: they ask, compare, and send home only what is new.

    \b
    evercrawl outpost pair --for example.org --home crawler.example.net:7443     at home: prints a code
    evercrawl outpost run --home crawler.example.net:7443 --code CODE --allow example.org
    evercrawl watch --outposts 0.0.0.0:7443                                      home waits for outposts
    evercrawl outpost status --json

    An outpost calls home, so it needs no open port and works behind NAT. It asks only hosts that its owner
    allows, obeys robots.txt and the pace itself, and runs no code that it is sent.
    """


@outpost_command.command("pair")
@click.option(
    "--for",
    "routes",
    multiple=True,
    required=True,
    metavar="ROUTE",
    help="A suffix (.edu), a domain with all below it (example.org) or a site. Repeatable.",
)
@click.option("--name", metavar="NAME", help="What to call it. Default: the first route.")
@click.option("--home", metavar="HOST:PORT", help="The address at which the outpost will reach home.")
@click.option(
    "--hours",
    type=click.IntRange(1, 24 * 30),
    default=CODE_HOURS,
    show_default=True,
    help="How long the code can be used.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def outpost_pair(
    cli: CliContext, routes: tuple[str, ...], name: str | None, home: str | None, hours: int, as_json: bool
) -> None:
    """Print a code with which one outpost can be paired, once.

    \b
    evercrawl outpost pair --for .edu
    evercrawl outpost pair --for example.org --name office --home crawler.example.net:7443
    """
    from evercrawl.outpost.status import create_pairing_code

    called = name or routes[0]
    collection = cli.require_collection()
    code = create_pairing_code(collection, called=called, routes=list(routes), valid_for=timedelta(hours=hours))
    if as_json:
        emit_json("outpost-pair", {"name": called, "routes": list(routes), "code": code, "home": home})
        return
    click.echo(code)
    allow = " ".join(f"--allow {route}" for route in routes)
    cli.note(f"Run this near the site within {plural(hours, 'hour')}; the code works once:")
    cli.note(f"  evercrawl outpost run --home {home or 'HOST:PORT'} --code {code} {allow}")


@outpost_command.command("run")
@click.option("--home", metavar="HOST:PORT", help="Where home listens; remembered.")
@click.option("--code", metavar="CODE", help="From `outpost pair` at home; needed once.")
@click.option(
    "--allow",
    multiple=True,
    metavar="HOST",
    help="A host that may be asked, as in --for of pair; remembered. Repeatable.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the outpost keeps its file. Default: below your state folder.",
)
@click.option(
    "--read",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Read the site's files here and make no HTTP request.",
)
@click.option("--max-rate", metavar="N/TIME", help="Most requests to all sites, such as 30/minute.")
@click.option("--max-disk", default="256MiB", show_default=True, metavar="SIZE", help="Largest file.")
@click.option("--gap", metavar="SECONDS", help="Least gap between two requests to one site.")
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--clock-offset", type=float, default=0.0, hidden=True, help="For tests: a clock that is wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON at the end.")
@common_options
@pass_cli
def outpost_run(cli: CliContext, /, as_json: bool, **given: Any) -> None:
    """Work for home until stopped (Ctrl-C or SIGTERM), which is safe at any moment.

    \b
    evercrawl outpost run --home crawler.example.net:7443 --code CODE --allow example.org
    evercrawl outpost run                                    the same again, as remembered
    evercrawl outpost run --read /var/www/html --max-rate 30/minute
    """
    import asyncio

    from evercrawl.outpost.agent_builder import run_outpost

    orders = _outpost_orders(cli, given)
    flags: dict[str, object] = {}
    if given["gap"] is not None:
        flags["pace.gap"] = given["gap"]
    if given["allow_private"]:
        flags["http.allow_private"] = True
    settings = cli.configured(None, flags).settings
    cli.note(f"outpost in {orders.folder}; stop it with Ctrl-C")
    requests = asyncio.run(run_outpost(orders, settings, notify=lambda words: cli.note(safe_line(words))))
    if as_json:
        emit_json("outpost-run", {"requests": requests})


def _outpost_orders(cli: CliContext, given: dict[str, Any]) -> Any:
    from evercrawl.config.schema import known_settings, value_of
    from evercrawl.model.time import parse_rate
    from evercrawl.outpost.agent_builder import AgentOptions

    state = cli.env.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    try:
        rate = given["max_rate"]
        gap = timedelta(days=1) / parse_rate(rate) if rate is not None else timedelta(0)
    except ValueError as error:
        raise ConfigError(f"--max-rate {given['max_rate']!r} {error}") from None
    try:
        disk = value_of(known_settings()["outposts.held_bytes"], given["max_disk"])
    except ValueError as error:
        raise ConfigError(f"--max-disk {given['max_disk']!r} {error}") from None
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def outpost_status(cli: CliContext, as_json: bool) -> None:
    """Outposts of the collection: bytes sent, bytes that a plain crawl would have taken, requests.

    \b
    evercrawl outpost status
    evercrawl outpost status --json | jq '.outposts[].bytes_sent'
    """
    from evercrawl.outpost.status import list_outposts

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
    seen = exact_time(one.seen) if one.seen else "never"
    answers = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in one.counts.items() if count)
    return (
        f"{safe_line(one.name)} ({safe_line(' '.join(one.routes))}): "
        f"{plural(one.requests, 'request')} to the sites, {format_size(one.bytes_sent)} sent ({share})\n"
        f"    {answers or 'no answers'}; seen {seen}{', has the lease' if one.has_lease else ''}"
    )


@outpost_command.command("forget")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def outpost_unpair(cli: CliContext, name: str, as_json: bool) -> None:
    """Unpair an outpost: its key opens nothing any more, and its sites are the crawler's again."""
    from evercrawl.outpost.status import unpair

    unpair(cli.require_collection(), name)
    if as_json:
        emit_json("outpost-forget", {"name": name})
