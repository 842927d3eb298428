"""List the crawler traps of a collection and set rules about them, also while another process crawls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from heapq import nlargest
from pathlib import Path

from evercrawl.adapters.sql.state_reader import ROWS_AT_A_TIME, ShardReader, StateReader
from evercrawl.config import collection_file, write_setting
from evercrawl.core.traps.trap_state import trap_state_of
from evercrawl.core.traps.trap_verdict import host_stats_of, trap_reports
from evercrawl.core.traps.url_check import URL_TRAP_CLASSES
from evercrawl.core.traps.url_pattern import shape_of
from evercrawl.core.traps.user_rules import MAX_EXAMPLES, RuleAction, format_rule, matches, rules_of
from evercrawl.core.url import canonical, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.reason import Reason
from evercrawl.model.settings import TrapSettings
from evercrawl.model.site import RuleEffect, TrapPattern

PATTERNS = "traps"  # The name of the stored pattern statistics of a site.
HOSTS = "trap_hosts"  # The name of the stored host statistics of a domain.
MAX_CHECKED_PAGES = 200_000  # Pages that are checked to show the effect of a rule.
MAX_SITES_FOR_STATUS = 100
MAX_IN_STATUS = 5


def trap_patterns(collection: Path, settings: TrapSettings) -> list[TrapPattern]:
    """Return every throttled, blocked or rejected pattern, costliest first, after the user's rules."""
    reader = StateReader(collection)
    found = [*_learned_patterns(reader), *_host_patterns(reader), *_by_url_form(reader)]
    found.sort(key=lambda one: (-one.requests, one.site, one.pattern))
    return [*_user_rules(settings), *found]


def costliest_traps(reader: StateReader) -> tuple[TrapPattern, ...]:
    """Return the costliest blocked pattern of a few large sites."""
    worst: list[TrapPattern] = []
    for shard in reader.shards():
        with reader.shard(shard) as state:
            judged = state.sampled_sites(state.sites_with_state(PATTERNS)[:ROWS_AT_A_TIME], PATTERNS)
            for _, name, _, blob in nlargest(MAX_SITES_FOR_STATUS, judged, key=lambda site: site.pages):
                worst += [one for one in _patterns(name, blob) if one.state == "blocked"][:1]
    return tuple(nlargest(MAX_IN_STATUS, worst, key=lambda one: one.requests))


def _learned_patterns(reader: StateReader) -> Iterator[TrapPattern]:
    for shard in reader.shards():
        with reader.shard(shard) as state:
            ids = state.sites_with_state(PATTERNS)
            for start in range(0, len(ids), ROWS_AT_A_TIME):
                for _, name, _, blob in state.sampled_sites(ids[start : start + ROWS_AT_A_TIME], PATTERNS):
                    yield from _patterns(name, blob)


def _host_patterns(reader: StateReader) -> Iterator[TrapPattern]:
    """Yield domains with an endless number of hosts."""
    for shard in reader.shards():
        with reader.shard(shard) as state:
            for number in state.sites_with_state(HOSTS):
                known = host_stats_of(state.site_state(number, HOSTS) or b"")
                if known.is_blocked:
                    yield TrapPattern(
                        known.domain, f"*.{known.domain}", "hosts", known.evidence, known.hosts, "blocked"
                    )


def _patterns(site: str, blob: bytes | None) -> list[TrapPattern]:
    return [
        TrapPattern(site, one.pattern, one.kind, one.evidence, one.requests, one.state)
        for one in trap_reports(trap_state_of(blob or b""))
    ]


def _by_url_form(reader: StateReader) -> list[TrapPattern]:
    """Return traps detected by the form of the URL: per site and class, the count and an example."""
    found: dict[tuple[str, str], tuple[int, str, str]] = {}
    for refusal in reader.refusals():
        kind, _, text = refusal.detail.partition(": ")
        if refusal.reason is Reason.TRAP and kind in URL_TRAP_CLASSES:
            place = (site_of(refusal.url), kind)
            count, url, first = found.get(place, (0, refusal.url, text))
            found[place] = (count + 1, url, first)
    return [
        TrapPattern(site, shape_of(url), kind, f"{text} ({count} URL{'s' * (count != 1)}, such as {url})", 0, "refused")
        for (site, kind), (count, url, text) in found.items()
    ]


def _user_rules(settings: TrapSettings) -> list[TrapPattern]:
    states = {RuleAction.EXCLUDE: "excluded", RuleAction.ALLOW: "allowed"}
    return [
        TrapPattern(rule.site or "*", rule.pattern, "user", "your rule", 0, states[rule.action])
        for rule in rules_of(settings)
    ]


def rule_effect(collection: Path, pattern: str, site: str | None) -> RuleEffect:
    """Return which pages and URLs a rule about the pattern affects."""
    reader = StateReader(collection)
    sites = match_sites(reader, site)
    effect = RuleEffect(pattern, sites, 0, 0, 0, 0, 0)
    for shard in reader.shards():
        with reader.shard(shard) as state:
            effect = _add_pages(effect, state, limit=max(1000, MAX_CHECKED_PAGES // len(reader.shards())))
    refused = 0
    for refusal in reader.refusals():
        with suppress(ValueError):
            refused += _is_affected(effect, refusal.url)
    return replace(effect, refused=refused)


def _add_pages(effect: RuleEffect, state: ShardReader, *, limit: int) -> RuleEffect:
    last = state.next_id()
    ids = range(1, last, max(1, last // limit))
    known = queued = checked = 0
    examples = list(effect.examples)
    for start in range(0, len(ids), ROWS_AT_A_TIME):
        for page in state.sampled_pages(ids[start : start + ROWS_AT_A_TIME]):
            checked += 1
            if _is_affected(effect, page.url):
                known += 1
                queued += page.visits == 0
                examples += [page.url] if len(examples) < MAX_EXAMPLES else []
    return replace(
        effect,
        known=effect.known + known,
        queued=effect.queued + queued,
        checked=effect.checked + checked,
        total=effect.total + last - 1,
        examples=tuple(examples),
    )


def _is_affected(effect: RuleEffect, url: str) -> bool:
    if not url.startswith(("http://", "https://")) or "/" not in url[8:]:
        return False
    return (not effect.sites or site_of(url) in effect.sites) and matches(effect.pattern, url)


def match_sites(reader: StateReader, site: str | None) -> tuple[str, ...]:
    """Return the sites with this origin or host; empty: all sites."""
    if site is None:
        return ()
    if "://" in site:
        page = canonical(site if "/" in site.partition("://")[2] else site + "/")
        if page is None:
            raise ConfigError(f"{site!r} is not a site; write it like https://example.org")
        return (site_of(page),)
    found = tuple(each.name for each in reader.sites() if each.name.partition("://")[2] == site.rstrip("/"))
    if not found:
        raise ConfigError(f"the collection has no site {site!r}; write a new one like https://{site}")
    return found


def set_rule(
    collection: Path, settings: TrapSettings, action: RuleAction | None, pattern: str, sites: tuple[str, ...]
) -> TrapSettings:
    """Write a rule to the collection's file, which a running crawl reloads; None removes the rule."""
    lines = [format_rule(pattern, site) for site in sites] or [format_rule(pattern, None)]
    exclude = tuple(line for line in settings.exclude if line not in lines)
    allow = tuple(line for line in settings.allow if line not in lines)
    if action is RuleAction.EXCLUDE:
        exclude = (*exclude, *lines)
    if action is RuleAction.ALLOW:
        allow = (*allow, *lines)
    file = collection_file(collection)
    for key, before, after in (("traps.exclude", settings.exclude, exclude), ("traps.allow", settings.allow, allow)):
        if after != before:
            write_setting(file, key, after)
    return replace(settings, exclude=exclude, allow=allow)
