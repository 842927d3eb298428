"""`evercrawl trap`: what the crawl walks out of by itself, and what the operator says about it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import CommandGroup, common_options
from evercrawl.cli.terminal import ExitCode, emit_json, format_rate, format_share, plural
from evercrawl.core.politeness import parse_rate
from evercrawl.model.sanitize import safe_line
from evercrawl.model.time import in_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.model.report import RevisitPlan
    from evercrawl.model.site import RuleEffect, TrapPattern

LONGEST_EVIDENCE = 200


@click.group("trap", cls=CommandGroup)
@common_options
def trap_command() -> None:
    """Show the patterns of URLs that bring nothing, and say a word about them, also while a crawl runs.

    PATTERN is written as `trap list` shows it (/shop?color=, /cal/{n}/{n}, /old/**), or with * as a glob over
    path and query or the whole URL.

    \b
    evercrawl trap list --json
    evercrawl trap exclude '/shop?color=' --site https://example.org --dry-run
    evercrawl trap exclude '/shop?color=' --site https://example.org
    evercrawl trap undo '/shop?color=' --site https://example.org
    """


@trap_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def trap_list(cli: CliContext, as_json: bool) -> None:
    """Patterns that are throttled, fenced or refused, with the evidence; your own rules first.

    \b
    evercrawl trap list --json | jq -r 'select(.state == "fenced") | .pattern'
    """
    with cli.open_collection() as collection:
        found = collection.traps()
    for one in found:
        if as_json:
            _emit_trap(one)
        else:
            evidence = safe_line(one.evidence, longest=LONGEST_EVIDENCE)
            click.echo(f"{one.state:<9} {safe_line(one.site)} {safe_line(one.pattern)}")
            click.echo(f"          {one.kind}: {evidence}")
    if not found and not as_json:
        cli.note("no traps so far")


def _emit_trap(one: TrapPattern) -> None:
    fields = {
        "site": one.site,
        "pattern": one.pattern,
        "class": one.kind,
        "evidence": one.evidence,
        "requests": one.requests,
        "state": one.state,
    }
    emit_json("trap", fields)


def _rule_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--yes", is_flag=True, help="Do not ask; on a terminal you are asked otherwise."),
        click.option("--dry-run", is_flag=True, help="Only show what it would touch."),
        click.option("--site", metavar="SITE", help="Only on this site (origin or host); otherwise on all."),
        click.argument("pattern"),
    ):
        function = option(function)
    return function


@trap_command.command("exclude")
@_rule_options
@common_options
@pass_cli
def trap_exclude(cli: CliContext, pattern: str, site: str | None, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Leave out the URLs of PATTERN from now on; what is stored stays.

    A running crawl hears it within seconds. Pages that wait are refused when their turn comes.
    """
    with cli.open_collection() as collection:
        rule = partial(collection.trap_exclude, _checked_pattern(pattern), site)
        _apply_rule(cli, rule, "left out", is_sure=yes or as_json, dry_run=dry_run, as_json=as_json)


@trap_command.command("allow")
@_rule_options
@common_options
@pass_cli
def trap_allow(cli: CliContext, pattern: str, site: str | None, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Ask for the URLs of PATTERN whatever is said against them, other than robots.txt and the scope.

    A running crawl hears it within seconds, and pages that were kept out come back into the queue. Links that
    never became pages are offered again at the next start.
    """
    with cli.open_collection() as collection:
        rule = partial(collection.trap_allow, _checked_pattern(pattern), site)
        _apply_rule(cli, rule, "allowed", is_sure=yes or as_json, dry_run=dry_run, as_json=as_json)


@trap_command.command("undo")
@click.argument("pattern")
@click.option("--site", metavar="SITE", help="The site that the rule was about, if it was about one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def trap_undo(cli: CliContext, pattern: str, site: str | None, as_json: bool) -> int:
    """Take back what you said about PATTERN: the crawl decides again by itself."""
    with cli.open_collection() as collection:
        done = collection.trap_undo(_checked_pattern(pattern), site)
    if as_json:
        emit_json("trap-undo", {"pattern": pattern, "site": site, "done": done})
    elif done:
        click.echo(f"no rule about {safe_line(pattern)} any more")
    else:
        cli.note(f"there was no rule about {safe_line(pattern)}; see: evercrawl trap list")
    return ExitCode.OK if done else ExitCode.ERROR


def _checked_pattern(pattern: str) -> str:
    if not pattern.strip() or any(character.isspace() for character in pattern):
        raise click.BadParameter("a pattern is one word, such as '/shop?color='", param_hint="PATTERN")
    return pattern


def _apply_rule(
    cli: CliContext, rule: Callable[..., RuleEffect], word: str, *, is_sure: bool, dry_run: bool, as_json: bool
) -> None:
    """Show what the rule touches, then write it, unless nobody wants it."""
    effect = rule()
    if not as_json:
        _show_effect(effect, word)
    if not dry_run and (is_sure or not sys.stdin.isatty() or click.confirm("Do it?")):
        effect = rule(do=True)
        cli.note(f"{effect.pattern} is {word} from now on; take it back with: evercrawl trap undo")
    elif not as_json:
        cli.note("nothing was changed")
    if as_json:
        emit_json("trap-rule", asdict(effect))


def _show_effect(effect: RuleEffect, word: str) -> None:
    sample = "" if effect.looked_at >= effect.of else f", of {effect.looked_at:,} that were looked at"
    click.echo(
        f"{plural(effect.known, 'known page')} ({effect.waiting:,} not asked for yet{sample}) and "
        f"{plural(effect.refused, 'refused URL')} would be {word}"
    )
    for url in effect.examples:
        click.echo(f"  {safe_line(url)}")


@click.group("pace", cls=CommandGroup)
@common_options
def pace_command() -> None:
    """Slow single sites down, and take it back, also while a crawl runs.

    The gap of the whole collection is a setting: evercrawl config set pace.gap 5s

    \b
    evercrawl pace slow https://example.org 30s
    evercrawl pace list --json
    evercrawl pace undo https://example.org
    """


@pace_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def pace_list(cli: CliContext, as_json: bool) -> None:
    """The sites that you slow down, each with its least gap.

    \b
    evercrawl pace list --json | jq -r .site
    """
    with cli.open_collection() as collection:
        found = collection.slowed()
    for one in found:
        if as_json:
            emit_json("slowed", asdict(one))
        else:
            click.echo(f"{safe_line(one.site)}  one request in {one.gap_s:g} s")
    if not found and not as_json:
        cli.note("no site is slowed down")


@pace_command.command("slow")
@click.argument("site")
@click.argument("gap")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def pace_slow(cli: CliContext, site: str, gap: str, as_json: bool) -> None:
    """Leave at least GAP (30s, 5m, 1h; at most a day) between two requests to SITE (origin or host).

    A running crawl hears it within seconds. It makes no site faster: a longer gap that robots.txt, a slow
    answer or the settings ask for still wins. A second call about the same site replaces the first.

    \b
    evercrawl pace slow example.org 2m
    """
    from evercrawl.config.schema import known_settings, value_of

    try:
        span = value_of(known_settings()["pace.shortest"], gap)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="GAP") from None
    with cli.open_collection() as collection:
        done = collection.slow_down(site, span)
    if as_json:
        emit_json("slowed", asdict(done))
    else:
        click.echo(f"{safe_line(done.site)} gets at most one request in {done.gap_s:g} s from now on")


@pace_command.command("undo")
@click.argument("site")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def pace_undo(cli: CliContext, site: str, as_json: bool) -> int:
    """Take back what you said about SITE: its pace is that of the settings and of its answers again.

    \b
    evercrawl pace undo example.org
    """
    with cli.open_collection() as collection:
        done = collection.slow_no_more(site)
    if as_json:
        emit_json("slowed-undo", {"site": site, "done": done})
    elif done:
        click.echo(f"{safe_line(site)} is not slowed down any more")
    else:
        cli.note(f"{safe_line(site)} was not slowed down; see: evercrawl pace list")
    return ExitCode.OK if done else ExitCode.ERROR


_LONGEST_URL = 90
_SPENT = 0.95
"""A budget of which less is spent is more than enough."""


def rate_option(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """The requests a day that an option names."""
    if text is None:
        return None
    try:
        return parse_rate(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} cannot be used, it {error}.", ctx, param) from None


@click.command("plan")
@click.option(
    "--budget",
    metavar="N/day",
    callback=rate_option,
    help="Requests: 1000/day, 50/hour, or 1000 (a day). Default: that of the settings, or what is worth it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def plan_command(cli: CliContext, budget: float | None, as_json: bool) -> None:
    """Say what would be fetched with a budget, and the freshness to expect. Nothing is sent.

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
        click.echo("no page to keep fresh yet")
        return
    of = f" of {format_rate(plan.budget_per_day)}" if plan.budget_per_day is not None else ""
    lines = {
        "requests": f"{format_rate(plan.requests_per_day)}{of}, for {plural(plan.pages, 'page')}",
        "freshness": f"{format_share(plan.expected_freshness, plan.uncertainty)} to expect, "
        f"{plan.freshness_now:.1%} now".replace("%", " %").replace("  %", " %"),
        "threshold": _threshold_text(plan),
        "worth it now": f"{plural(plan.pages_due, 'page')}",
        "not there yet": f"{plural(plan.without_copy, 'page')}" if plan.without_copy else "",
        "rests on": f"a sample of {plural(plan.sampled, 'page')}" if plan.sampled < plan.pages else "",
    }
    for name, text in lines.items():
        if text:
            click.echo(f"{name:<14} {text}")
    _show_first_visits(plan)
    _show_busiest_sites(plan)


def _threshold_text(plan: RevisitPlan) -> str:
    if plan.threshold_days is None:
        return "none: the budget does not pay for the longest interval, so every page comes in turn"
    if plan.budget_per_day is not None and plan.requests_per_day < _SPENT * plan.budget_per_day:
        return "none: every page can be visited at its shortest interval"
    return f"a visit should bring {in_words(plan.threshold_days)} of a current copy"


def _show_first_visits(plan: RevisitPlan) -> None:
    if plan.first:
        click.echo("first would come")
    for visit in plan.first:
        worth = "must be made" if visit.value_days is None else f"brings {in_words(visit.value_days)}"
        click.echo(f"  {worth:<18} {safe_line(visit.url, longest=_LONGEST_URL)}")


def _show_busiest_sites(plan: RevisitPlan) -> None:
    if len(plan.sites) > 1:
        click.echo("sites with most requests")
    for site in plan.sites if len(plan.sites) > 1 else ():
        asked = format_rate(site.requests_per_day or 0.0)
        fresh = format_share(site.freshness, site.uncertainty)
        click.echo(f"  {asked:>14}  {fresh:<16}  {plural(site.pages, 'page'):>14}  {safe_line(site.site)}")
