"""`evercrawl trap`: what the crawl walks out of by itself, and what the operator says about it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.model.site import RuleEffect, TrapPattern

LONGEST_EVIDENCE = 200


@click.group("trap")
@common_options
def command() -> None:
    """Show the patterns of URLs that bring nothing, and say a word about them, also while a crawl runs.

    PATTERN is written as `trap list` shows it (/shop?color=, /cal/{n}/{n}, /old/**), or with * as a glob over
    path and query or the whole URL.

    \b
    evercrawl trap list --json
    evercrawl trap exclude '/shop?color=' --site https://example.org --dry-run
    evercrawl trap exclude '/shop?color=' --site https://example.org
    evercrawl trap undo '/shop?color=' --site https://example.org
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def list_(session: Session, as_json: bool) -> None:
    """Patterns that are throttled, fenced or refused, with the evidence; your own rules first.

    \b
    evercrawl trap list --json | jq -r 'select(.state == "fenced") | .pattern'
    """
    with session.open_collection() as collection:
        found = collection.traps()
    for one in found:
        if as_json:
            _emit(one)
        else:
            evidence = safe_line(one.evidence, longest=LONGEST_EVIDENCE)
            click.echo(f"{one.state:<9} {safe_line(one.site)} {safe_line(one.pattern)}")
            click.echo(f"          {one.kind}: {evidence}")
    if not found and not as_json:
        session.note("no traps so far")


def _emit(one: TrapPattern) -> None:
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


@command.command("exclude")
@_rule_options
@common_options
@pass_session
def exclude(session: Session, pattern: str, site: str | None, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Leave out the URLs of PATTERN from now on; what is stored stays.

    A running crawl hears it within seconds. Pages that wait are refused when their turn comes.
    """
    with session.open_collection() as collection:
        rule = partial(collection.trap_exclude, _checked(pattern), site)
        _say(session, rule, "left out", is_sure=yes or as_json, dry_run=dry_run, as_json=as_json)


@command.command("allow")
@_rule_options
@common_options
@pass_session
def allow(session: Session, pattern: str, site: str | None, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Ask for the URLs of PATTERN whatever is said against them, other than robots.txt and the scope.

    A running crawl hears it within seconds, and pages that were kept out come back into the queue. Links that
    never became pages are offered again at the next start.
    """
    with session.open_collection() as collection:
        rule = partial(collection.trap_allow, _checked(pattern), site)
        _say(session, rule, "allowed", is_sure=yes or as_json, dry_run=dry_run, as_json=as_json)


@command.command("undo")
@click.argument("pattern")
@click.option("--site", metavar="SITE", help="The site that the rule was about, if it was about one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def undo(session: Session, pattern: str, site: str | None, as_json: bool) -> int:
    """Take back what you said about PATTERN: the crawl decides again by itself."""
    with session.open_collection() as collection:
        done = collection.trap_undo(_checked(pattern), site)
    if as_json:
        emit_json("trap-undo", {"pattern": pattern, "site": site, "done": done})
    elif done:
        click.echo(f"no rule about {safe_line(pattern)} any more")
    else:
        session.note(f"there was no rule about {safe_line(pattern)}; see: evercrawl trap list")
    return ExitCode.OK if done else ExitCode.ERROR


def _checked(pattern: str) -> str:
    if not pattern.strip() or any(character.isspace() for character in pattern):
        raise click.BadParameter("a pattern is one word, such as '/shop?color='", param_hint="PATTERN")
    return pattern


def _say(
    session: Session, rule: Callable[..., RuleEffect], word: str, *, is_sure: bool, dry_run: bool, as_json: bool
) -> None:
    """Show what the rule touches, then write it, unless nobody wants it."""
    effect = rule()
    if not as_json:
        _show(effect, word)
    if not dry_run and (is_sure or not sys.stdin.isatty() or click.confirm("Do it?")):
        effect = rule(do=True)
        session.note(f"{effect.pattern} is {word} from now on; take it back with: evercrawl trap undo")
    elif not as_json:
        session.note("nothing was changed")
    if as_json:
        emit_json("trap-rule", asdict(effect))


def _show(effect: RuleEffect, word: str) -> None:
    sample = "" if effect.looked_at >= effect.of else f", of {effect.looked_at:,} that were looked at"
    click.echo(
        f"{counted(effect.known, 'known page')} ({effect.waiting:,} not asked for yet{sample}) and "
        f"{counted(effect.refused, 'refused URL')} would be {word}"
    )
    for url in effect.examples:
        click.echo(f"  {safe_line(url)}")
