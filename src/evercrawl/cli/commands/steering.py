"""The commands `trap`, `pace`, `plan`, `pause`, `resume` and `stop`: steer a crawl, even while it runs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import (
    CliContext,
    CommandGroup,
    common_options,
    json_lines_option,
    json_option,
    parse_budget,
    with_cli,
)
from evercrawl.cli.terminal import ExitCode, emit_json, emit_list, format_rate, format_share, plural
from evercrawl.model.sanitize import safe_line
from evercrawl.model.time import format_days

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.model.report import RevisitPlan
    from evercrawl.model.site import RuleEffect, TrapPattern

EVIDENCE_CHARS = 200


@click.group("trap", cls=CommandGroup)
@common_options
def trap_command() -> None:
    """List crawler traps, and exclude or allow URL patterns, even while a crawl runs.

    Write PATTERN as `trap list` shows it (/shop?color=, /cal/{n}/{n}, /old/**), or use * to match any part of
    the path and query or of the whole URL. Your rules override detection.

    \b
    evercrawl trap list --json
    evercrawl trap exclude '/shop?color=' --site https://example.org --dry-run
    evercrawl trap exclude '/shop?color=' --site https://example.org
    evercrawl trap undo '/shop?color=' --site https://example.org
    """


@trap_command.command("list")
@json_lines_option
@with_cli
def trap_list(cli: CliContext, as_json: bool) -> None:
    """List throttled, blocked and refused patterns with the evidence; your rules come first.

    \b
    evercrawl trap list --json | jq -r 'select(.state == "blocked") | .pattern'
    """
    with cli.open_collection() as collection:
        found = collection.traps()
    emit_list(cli, "trap", found, _trap_fields, _trap_text, "no traps found", as_json=as_json)


def _trap_fields(one: TrapPattern) -> dict[str, object]:
    names = ("site", "pattern", "kind", "evidence", "requests", "state")
    return {"class" if name == "kind" else name: getattr(one, name) for name in names}


def _trap_text(one: TrapPattern) -> str:
    evidence = safe_line(one.evidence, longest=EVIDENCE_CHARS)
    return f"{one.state:<9} {safe_line(one.site)} {safe_line(one.pattern)}\n          {one.kind}: {evidence}"


def _rule_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        json_option,
        click.option("--yes", is_flag=True, help="Do not ask for confirmation."),
        click.option("--dry-run", is_flag=True, help="Only show what would be affected."),
        click.option("--site", metavar="SITE", help="Only on this host or origin. Default: all sites."),
        click.argument("pattern"),
    ):
        function = option(function)
    return function


@trap_command.command("exclude")
@_rule_options
@with_cli
def trap_exclude(cli: CliContext, pattern: str, site: str | None, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Stop fetching URLs that match PATTERN. Stored versions stay.

    A running crawl applies it within seconds. Queued pages are skipped when their turn comes.
    """
    with cli.open_collection() as collection:
        rule = partial(collection.trap_exclude, _checked_pattern(pattern), site)
        _apply_rule(cli, rule, "excluded", is_sure=yes or as_json, dry_run=dry_run, as_json=as_json)


@trap_command.command("allow")
@_rule_options
@with_cli
def trap_allow(cli: CliContext, pattern: str, site: str | None, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Always fetch URLs that match PATTERN, unless robots.txt or the scope forbids it.

    A running crawl applies it within seconds and queues excluded pages again. Links that were never queued
    are reconsidered at the next start.
    """
    with cli.open_collection() as collection:
        rule = partial(collection.trap_allow, _checked_pattern(pattern), site)
        _apply_rule(cli, rule, "allowed", is_sure=yes or as_json, dry_run=dry_run, as_json=as_json)


@trap_command.command("undo")
@click.argument("pattern")
@click.option("--site", metavar="SITE", help="The site of the rule, if it has one.")
@json_option
@with_cli
def trap_undo(cli: CliContext, pattern: str, site: str | None, as_json: bool) -> int:
    """Remove your rule for PATTERN; detection applies again."""
    with cli.open_collection() as collection:
        done = collection.trap_undo(_checked_pattern(pattern), site)
    if as_json:
        emit_json("trap-undo", {"pattern": pattern, "site": site, "done": done})
    elif done:
        click.echo(f"rule for {safe_line(pattern)} removed")
    else:
        cli.note(f"there is no rule for {safe_line(pattern)}; list them with: evercrawl trap list")
    return ExitCode.OK if done else ExitCode.ERROR


def _checked_pattern(pattern: str) -> str:
    if not pattern.strip() or any(character.isspace() for character in pattern):
        raise click.BadParameter("a pattern is one word, such as '/shop?color='", param_hint="PATTERN")
    return pattern


def _apply_rule(
    cli: CliContext, rule: Callable[..., RuleEffect], word: str, *, is_sure: bool, dry_run: bool, as_json: bool
) -> None:
    """Show what the rule affects, then save it if the user agrees."""
    effect = rule()
    if not as_json:
        _show_effect(effect, word)
    if not dry_run and (is_sure or not sys.stdin.isatty() or click.confirm("Apply this rule?")):
        effect = rule(apply=True)
        cli.note(f"{effect.pattern} is now {word}; undo with: evercrawl trap undo")
    elif not as_json:
        cli.note("no rule saved")
    if as_json:
        emit_json("trap-rule", asdict(effect))


def _show_effect(effect: RuleEffect, word: str) -> None:
    sample = "" if effect.checked >= effect.total else f", in a sample of {effect.checked:,}"
    click.echo(
        f"{plural(effect.known, 'known page')} ({effect.queued:,} queued{sample}) and "
        f"{plural(effect.refused, 'skipped URL')} would be {word}"
    )
    for url in effect.examples:
        click.echo(f"  {safe_line(url)}")


@click.group("pace", cls=CommandGroup)
@common_options
def pace_command() -> None:
    """Slow down requests to single sites, even while a crawl runs.

    For all sites, change the setting: evercrawl config set pace.delay 5s

    \b
    evercrawl pace slow https://example.org 30s
    evercrawl pace list --json
    evercrawl pace undo https://example.org
    """


@pace_command.command("list")
@json_lines_option
@with_cli
def pace_list(cli: CliContext, as_json: bool) -> None:
    """List the sites that you slowed down, with their delays.

    \b
    evercrawl pace list --json | jq -r .site
    """
    with cli.open_collection() as collection:
        found = collection.rate_overrides()
    emit_list(
        cli, "slowed", found, asdict, lambda one: f"{safe_line(one.site)}  one request every {one.delay_s:g} s",
        "no slowed sites", as_json=as_json,
    )  # fmt: skip


@pace_command.command("slow")
@click.argument("site")
@click.argument("gap")
@json_option
@with_cli
def pace_slow(cli: CliContext, site: str, gap: str, as_json: bool) -> None:
    """Wait at least GAP (30s, 5m, 1h; at most a day) between requests to SITE (host or origin).

    A running crawl applies it within seconds. Longer delays from robots.txt, slow responses or settings still
    win. A second call for the same site replaces the first.

    \b
    evercrawl pace slow example.org 2m
    """
    from evercrawl.config.schema import known_settings, parse_value

    try:
        span = parse_value(known_settings()["pace.min_delay"], gap)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="GAP") from None
    with cli.open_collection() as collection:
        done = collection.set_rate_override(site, span)
    if as_json:
        emit_json("slowed", asdict(done))
    else:
        click.echo(f"{safe_line(done.site)}: now at most one request every {done.delay_s:g} s")


@pace_command.command("undo")
@click.argument("site")
@json_option
@with_cli
def pace_undo(cli: CliContext, site: str, as_json: bool) -> int:
    """Stop slowing SITE down.

    \b
    evercrawl pace undo example.org
    """
    with cli.open_collection() as collection:
        done = collection.remove_rate_override(site)
    if as_json:
        emit_json("slowed-undo", {"site": site, "done": done})
    elif done:
        click.echo(f"{safe_line(site)} is no longer slowed down")
    else:
        cli.note(f"{safe_line(site)} was not slowed down; list sites with: evercrawl pace list")
    return ExitCode.OK if done else ExitCode.ERROR


@click.group("schedule", cls=CommandGroup)
@common_options
def schedule_command() -> None:
    """Say when to visit a site or a page, instead of what was learned.

    \b
    evercrawl schedule set news.example.org "every 10 minutes"
    evercrawl schedule set https://example.org/prices "weekdays at 9, 17:30" --zone Europe/Berlin
    evercrawl schedule list --json
    evercrawl schedule remove news.example.org

    A host or origin is a site, a URL with a path is one page, and `*` at the end means everything that begins so.
    If several apply to a page, the longest decides. Visits happen while `watch`, `serve` or `crawl` runs, which
    applies changes within seconds.
    """


@schedule_command.command("list")
@json_lines_option
@with_cli
def schedule_list(cli: CliContext, as_json: bool) -> None:
    """List your schedules, each with the first time after now.

    \b
    evercrawl schedule list --json | jq -r .place
    """
    with cli.open_collection() as collection:
        found = collection.schedules()
    none = "no schedules: visits follow what was learned"
    emit_list(
        cli, "schedule", found, asdict, lambda one: f"{_as_typed(one.place)}  {one.meaning}", none, as_json=as_json
    )


def _as_typed(place: str) -> str:
    """Return a place as one types it: a page as its URL, a part of a site with `*` at its end."""
    is_part = not place.endswith("$") and place.count("/") > 2
    return safe_line(f"{place}*" if is_part else place.removesuffix("$"))


@schedule_command.command("set")
@click.argument("place")
@click.argument("when")
@click.option("--zone", default="", metavar="NAME", help="Time zone of the times, such as Europe/Berlin. Default: UTC.")
@json_option
@with_cli
def schedule_set(cli: CliContext, place: str, when: str, zone: str, as_json: bool) -> None:
    """Visit PLACE as WHEN says: every 10 minutes, hourly, daily at 6:30, weekdays at 9, "mon, thu at 7:15, 19".

    \b
    evercrawl schedule set example.org/reports/* "mondays at 8"
    """
    with cli.open_collection() as collection:
        done = collection.set_schedule(place, when, zone=zone)
    if as_json:
        emit_json("schedule", asdict(done))
    else:
        click.echo(f"{_as_typed(done.place)}: {done.meaning}")


@schedule_command.command("remove")
@click.argument("place")
@json_option
@with_cli
def schedule_remove(cli: CliContext, place: str, as_json: bool) -> int:
    """Let visits to PLACE follow what was learned.

    \b
    evercrawl schedule remove news.example.org
    """
    with cli.open_collection() as collection:
        done = collection.remove_schedule(place)
    if as_json:
        emit_json("schedule-removed", {"place": place, "done": done})
    elif done:
        click.echo(f"{safe_line(place)} has no schedule any more; its visits are learned from the next one on")
    else:
        cli.note(f"{safe_line(place)} has no schedule; list them with: evercrawl schedule list")
    return ExitCode.OK if done else ExitCode.ERROR


_URL_CHARS = 90
_SPENT = 0.95  # A plan that spends less than this share has more budget than it needs.


@click.command("plan")
@click.option(
    "--budget",
    metavar="N/day",
    callback=parse_budget,
    help="Requests: 1000/day, 50/hour, or 1000 (per day). Default: the setting revisit.budget.",
)
@json_option
@with_cli
def plan_command(cli: CliContext, budget: float | None, as_json: bool) -> None:
    """Estimate the freshness that a request budget buys, without sending a request.

    \b
    evercrawl plan
    evercrawl plan --budget 1000/day
    evercrawl plan --budget 50/hour --json | jq .expected_freshness
    """
    with cli.open_collection() as collection:
        plan = collection.plan(budget)
    if as_json:
        emit_json("plan", asdict(plan))
    else:
        _show_plan(plan)


def _show_plan(plan: RevisitPlan) -> None:
    if not plan.pages:
        click.echo("no pages yet; crawl first with: evercrawl crawl URL")
        return
    of = f" of {format_rate(plan.budget_per_day)}" if plan.budget_per_day is not None else ""
    expected = format_share(plan.expected_freshness, plan.uncertainty)
    lines = {
        "requests": f"{format_rate(plan.requests_per_day)}{of}, for {plural(plan.pages, 'page')}",
        "freshness": f"{expected} expected, {plan.freshness_now:.1%} now",
        "threshold": _threshold_text(plan),
        "due now": f"{plural(plan.pages_due, 'page')}",
        "not fetched": f"{plural(plan.without_copy, 'page')}" if plan.without_copy else "",
        "basis": f"a sample of {plural(plan.sampled, 'page')}" if plan.sampled < plan.pages else "",
    }
    for name, text in lines.items():
        if text:
            click.echo(f"{name:<14} {text}")
    _show_first_visits(plan)
    _show_busiest_sites(plan)


def _threshold_text(plan: RevisitPlan) -> str:
    if plan.threshold_days is None:
        return "none: the budget does not cover the longest interval, so pages are visited in turn"
    if plan.budget_per_day is not None and plan.requests_per_day < _SPENT * plan.budget_per_day:
        return "none: every page can be visited at its shortest interval"
    return f"a visit must gain {format_days(plan.threshold_days)} of a current copy"


def _show_first_visits(plan: RevisitPlan) -> None:
    if plan.first:
        click.echo("next visits")
    for visit in plan.first:
        gain = "required" if visit.value_days is None else f"gains {format_days(visit.value_days)}"
        click.echo(f"  {gain:<18} {safe_line(visit.url, longest=_URL_CHARS)}")


def _show_busiest_sites(plan: RevisitPlan) -> None:
    if len(plan.sites) > 1:
        click.echo("busiest sites")
    for site in plan.sites if len(plan.sites) > 1 else ():
        requests = format_rate(site.requests_per_day or 0.0)
        fresh = format_share(site.freshness, site.uncertainty)
        click.echo(f"  {requests:>14}  {fresh:<16}  {plural(site.pages, 'page'):>14}  {safe_line(site.site)}")


@click.command("pause")
@json_option
@with_cli
def pause_command(cli: CliContext, as_json: bool) -> None:
    """Pause the running crawl, wherever it was started, until you resume it.

    \b
    evercrawl pause
    evercrawl resume

    Requests in flight may finish; nothing new is requested. Starting a crawl also ends the pause.
    """
    from evercrawl.collection.runs import live_run, pause_run

    path = cli.require_collection()
    pause_run(path, by="command line")
    is_running = live_run(path, now=datetime.now(UTC)) is not None
    if as_json:
        emit_json("pause", {"paused": True, "running": is_running})
    else:
        cli.note("paused" if is_running else "paused; no crawl is running now")


@click.command("resume")
@json_option
@with_cli
def resume_command(cli: CliContext, as_json: bool) -> None:
    """Resume a crawl that was paused.

    \b
    evercrawl resume
    """
    from evercrawl.collection.runs import resume_run

    was_paused = resume_run(cli.require_collection())
    if as_json:
        emit_json("pause", {"paused": False, "was_paused": was_paused})
    else:
        cli.note("resumed" if was_paused else "nothing was paused")


@click.command("stop")
@json_option
@with_cli
def stop_command(cli: CliContext, as_json: bool) -> int:
    """Stop the running crawl, wherever it was started; requests in flight may finish.

    \b
    evercrawl stop
    """
    from evercrawl.collection.runs import live_run, stop_run

    path = cli.require_collection()
    is_running = live_run(path, now=datetime.now(UTC)) is not None
    if is_running:
        stop_run(path, by="command line")
    if as_json:
        emit_json("stop", {"stopping": is_running})
    else:
        cli.note("stopping the crawl" if is_running else "no crawl is running")
    return ExitCode.OK if is_running else ExitCode.ERROR
