"""`evercrawl plan`: what a budget would buy, sending nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evercrawl.cli.forecast_words import rate, share
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.core.duration import in_words
from evercrawl.core.rate import parse_rate

if TYPE_CHECKING:
    from evercrawl.model.report import RevisitPlan

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
@pass_session
def command(session: Session, budget: float | None, as_json: bool) -> None:
    """Say what would be fetched with a budget, and the freshness to expect. Nothing is sent.

    \b
    evercrawl plan
    evercrawl plan --budget 1000/day
    evercrawl plan --budget 50/hour --json | jq .expected_freshness
    """
    with session.open_collection() as collection:
        plan = collection.plan(budget)
    if as_json:
        emit_json("plan", asdict(plan))
    else:
        _show(plan)


def _show(plan: RevisitPlan) -> None:
    if not plan.pages:
        click.echo("no page to keep fresh yet")
        return
    of = f" of {rate(plan.budget_per_day)}" if plan.budget_per_day is not None else ""
    lines = {
        "requests": f"{rate(plan.requests_per_day)}{of}, for {counted(plan.pages, 'page')}",
        "freshness": f"{share(plan.expected_freshness, plan.uncertainty)} to expect, "
        f"{plan.freshness_now:.1%} now".replace("%", " %").replace("  %", " %"),
        "threshold": _threshold_words(plan),
        "worth it now": f"{counted(plan.pages_due, 'page')}",
        "not there yet": f"{counted(plan.without_copy, 'page')}" if plan.without_copy else "",
        "rests on": f"a sample of {counted(plan.sampled, 'page')}" if plan.sampled < plan.pages else "",
    }
    for name, text in lines.items():
        if text:
            click.echo(f"{name:<14} {text}")
    _show_first(plan)
    _show_sites(plan)


def _threshold_words(plan: RevisitPlan) -> str:
    if plan.threshold_days is None:
        return "none: the budget does not pay for the longest interval, so every page comes in turn"
    if plan.budget_per_day is not None and plan.requests_per_day < _SPENT * plan.budget_per_day:
        return "none: every page can be visited at its shortest interval"
    return f"a visit should bring {in_words(plan.threshold_days)} of a current copy"


def _show_first(plan: RevisitPlan) -> None:
    if plan.first:
        click.echo("first would come")
    for visit in plan.first:
        worth = "must be made" if visit.value_days is None else f"brings {in_words(visit.value_days)}"
        click.echo(f"  {worth:<18} {safe_line(visit.url, longest=_LONGEST_URL)}")


def _show_sites(plan: RevisitPlan) -> None:
    if len(plan.sites) > 1:
        click.echo("sites with most requests")
    for site in plan.sites if len(plan.sites) > 1 else ():
        asked = rate(site.requests_per_day or 0.0)
        fresh = share(site.freshness, site.uncertainty)
        click.echo(f"  {asked:>14}  {fresh:<16}  {counted(site.pages, 'page'):>14}  {safe_line(site.site)}")
