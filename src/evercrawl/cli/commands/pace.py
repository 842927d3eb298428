"""`evercrawl pace`: sites that the operator slows down, also while a crawl runs."""

from __future__ import annotations

from dataclasses import asdict

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session


@click.group("pace")
@common_options
def command() -> None:
    """Slow single sites down, and take it back, also while a crawl runs.

    The gap of the whole collection is a setting: evercrawl config set pace.gap 5s

    \b
    evercrawl pace slow https://example.org 30s
    evercrawl pace list --json
    evercrawl pace undo https://example.org
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def list_(session: Session, as_json: bool) -> None:
    """The sites that you slow down, each with its least gap.

    \b
    evercrawl pace list --json | jq -r .site
    """
    with session.open_collection() as collection:
        found = collection.slowed()
    for one in found:
        if as_json:
            emit_json("slowed", asdict(one))
        else:
            click.echo(f"{safe_line(one.site)}  one request in {one.gap_s:g} s")
    if not found and not as_json:
        session.note("no site is slowed down")


@command.command("slow")
@click.argument("site")
@click.argument("gap")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def slow(session: Session, site: str, gap: str, as_json: bool) -> None:
    """Leave at least GAP (30s, 5m, 1h; at most a day) between two requests to SITE (origin or host).

    A running crawl hears it within seconds. It makes no site faster: a longer gap that robots.txt, a slow
    answer or the settings ask for still wins. A second call about the same site replaces the first.

    \b
    evercrawl pace slow example.org 2m
    """
    from evercrawl.config.known import known_settings
    from evercrawl.config.value import value_of

    try:
        span = value_of(known_settings()["pace.shortest"], gap)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="GAP") from None
    with session.open_collection() as collection:
        done = collection.slow_down(site, span)
    if as_json:
        emit_json("slowed", asdict(done))
    else:
        click.echo(f"{safe_line(done.site)} gets at most one request in {done.gap_s:g} s from now on")


@command.command("undo")
@click.argument("site")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def undo(session: Session, site: str, as_json: bool) -> int:
    """Take back what you said about SITE: its pace is that of the settings and of its answers again.

    \b
    evercrawl pace undo example.org
    """
    with session.open_collection() as collection:
        done = collection.slow_no_more(site)
    if as_json:
        emit_json("slowed-undo", {"site": site, "done": done})
    elif done:
        click.echo(f"{safe_line(site)} is not slowed down any more")
    else:
        session.note(f"{safe_line(site)} was not slowed down; see: evercrawl pace list")
    return ExitCode.OK if done else ExitCode.ERROR
