"""What today's settings and robots.txt files say about known URLs, whatever was decided when they were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.plugins import installed_schemes
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.cluster.crawl_builder import scope_of
from evercrawl.cluster.run_requests import MAX_URLS, request_visits
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots
from evercrawl.core.scope.scope import NO_ANSWERS, Scope
from evercrawl.core.scope.selection import SELECTION_REASONS
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.url import PAGE_SCHEMES, key_of, shard_of_site, site_of
from evercrawl.core.visit.links import MAX_REFUSED_CHARS
from evercrawl.errors import ConfigError
from evercrawl.model.listing import PageDecision, PageRecord, SkippedUrl
from evercrawl.model.page import Refusal
from evercrawl.model.reason import Outcome, Reason, RefusalReason
from evercrawl.model.settings import Settings

CACHED_ROBOTS = 1000
JUDGED_ANEW = frozenset(
    {
        Reason.UNSUPPORTED_SCHEME, Reason.URL_TOO_LONG, Reason.BLOCKED_PORT, Reason.OUT_OF_SCOPE, Reason.TOO_DEEP,
        Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.FILTERED, Reason.FILE_TYPE, Reason.DYNAMIC, Reason.EXCLUDED_HOST,
        Reason.REMOVED, Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE,
    }
)  # fmt: skip
"""Reasons that follow from the settings and robots.txt alone, so that the stored one does not count."""


class StoredRefusal(NamedTuple):
    """What was decided about a URL, and what the decision depends on."""

    url: str
    depth: int
    hops: int = 0
    reason: Reason | None = None  # None: it was not refused.
    detail: str = ""
    target: str | None = None  # Where its page redirects to; the reason may be about that.
    is_cut: bool = False  # Only the beginning of the URL is known.


class CurrentRules:
    """The rules of a collection as they are now."""

    def __init__(self, collection: Path, settings: Settings) -> None:
        self._settings = settings
        self._reader = StateReader(collection)
        self._scope = _scope(settings)
        self._traps = TrapFilter(settings.traps)
        self._year = datetime.now(UTC).year
        self._robots = lru_cache(CACHED_ROBOTS)(self._read_robots)
        self._has_moved_seeds = False

    def refusal(self, found: StoredRefusal) -> RefusalReason | None:
        """Return why a URL is not requested today; None: it may be."""
        url, is_seed = found.url, self._scope.is_seed(found.url)
        if found.is_cut or not url.startswith(self._scope.schemes):
            return None if found.reason is None else (found.reason, found.detail)
        # A page that was admitted in spite of its ending is one.
        answers = None if found.reason is None else NO_ANSWERS
        refused = self._by_scope(url, depth=found.depth, hops=found.hops, is_seed=is_seed, answers=answers)
        is_without_seeds = not self._settings.scope.seeds  # As after an import: nothing is in scope then.
        return (
            (self._scope.listed_refusal(url) if is_without_seeds else refused)
            or self._traps.refusal(url, year=self._year, is_requested=found.depth == 0)
            or self._by_robots(url)
            or self._of_target(found)
            or self._stored(found)
        )

    def schedule(self, url: str) -> tuple[str, str] | None:
        """Return the pattern and the user's schedule for a URL; None: visits follow what was learned."""
        return self._scope.schedule_rule(url)

    def _of_target(self, found: StoredRefusal) -> RefusalReason | None:
        """Return why a redirect is not followed today, if that was why its page was refused."""
        if found.reason is Reason.UNSUPPORTED_SCHEME and found.url.startswith(PAGE_SCHEMES):
            return found.reason, found.detail  # It redirects to another scheme, since its own can be fetched.
        target = found.target
        if found.reason is None or target is None:
            return None
        refused = self._by_scope(target, depth=found.depth, hops=found.hops + 1)
        if refused is None and site_of(target) == site_of(found.url):
            refused = self._by_robots(target)
        return None if refused is None else (refused[0], f"redirects to {target}: {refused[1]}")

    def _by_scope(self, url: str, **place: Any) -> RefusalReason | None:
        """Return the scope's refusal; where seeds have moved to is read from many shards, so only for a refusal."""
        refused = self._scope.verdict(url, **place)
        if refused is None or self._has_moved_seeds:
            return refused
        self._adopt_moved_seeds()
        return self._scope.verdict(url, **place)

    def _by_robots(self, url: str) -> RefusalReason | None:
        rules = self._robots(site_of(url))
        if rules is None or rules.is_unreachable:
            return None
        verdict = rules.verdict(url)
        if verdict.allowed or verdict.reason is Reason.PRIVATE_ADDRESS:
            return None
        return Reason.ROBOTS, verdict.detail

    def _stored(self, found: StoredRefusal) -> RefusalReason | None:
        """Return the stored refusal if nothing has changed that it depends on."""
        reason, settings = found.reason, self._settings
        if reason is None or reason in JUDGED_ANEW:
            return None
        selection = self._scope.selection(found.url)
        if reason in SELECTION_REASONS:
            return selection.judge_again(reason, found.detail, is_seed=found.depth == 0)
        is_over = (
            (reason is Reason.NOFOLLOW and settings.scope.follow_nofollow)
            or (reason is Reason.PRIVATE_ADDRESS and settings.http.allow_private)
            or (reason is Reason.TRAP and not settings.traps.enabled)
            or (reason is Reason.SITE_PAGE_LIMIT and selection.max_pages is None)
        )
        return None if is_over else (reason, found.detail)

    def _read_robots(self, site: str) -> RobotsRules | None:
        """Return the stored robots.txt of a site; None: it was not read yet."""
        shard = shard_of_site(site, self._settings.store.shards)
        if shard not in self._reader.shards():
            return None
        with self._reader.shard(shard) as state:
            found = state.site_named(site)
        if found is None or found.robots is None:
            return None
        return compile_robots(found.robots, agent=self._settings.identity.product)

    def _adopt_moved_seeds(self) -> None:
        """Add the hosts that seeds have moved to, as a crawl does."""
        self._has_moved_seeds = True
        seeds = defaultdict(list)
        for seed in self._scope.seeds:
            seeds[shard_of_site(site_of(seed), self._settings.store.shards)].append(seed)
        for shard in seeds.keys() & set(self._reader.shards()):
            with self._reader.shard(shard) as state:
                moved = {seed: page.moved_to for seed in seeds[shard] if (page := state.page(key_of(seed)))}
            for seed, target in moved.items():
                if target is not None:
                    self._scope.add_moved_seed(seed, target)


def _scope(settings: Settings) -> Scope:
    """Return the scope; filters of modules that cannot be loaded from here are left out."""
    try:
        return scope_of(settings, installed_schemes())
    except ConfigError:
        without = replace(settings, scope=replace(settings.scope, plugins=()))
        return scope_of(without, installed_schemes())


def skipped_urls(collection: Path, settings: Settings, site: str | None = None) -> Iterator[SkippedUrl]:
    """Yield the URLs that are not requested today, with today's reason: rejected ones, then pages."""
    rules, reader = CurrentRules(collection, settings), StateReader(collection)
    for one in reader.refusals():
        if site is None or _is_on_site(one.url, site):
            yield from _skipped(rules, of_refusal(one), one.parent)
    for page in reader.page_decisions():
        if site is None or _is_on_site(page.url, site):
            yield from _skipped(rules, of_page(page), page.parent)


def _skipped(rules: CurrentRules, found: StoredRefusal, parent: str | None) -> Iterator[SkippedUrl]:
    refused = rules.refusal(found)
    if refused is not None:
        yield SkippedUrl(found.url, *refused, parent)


def _is_on_site(url: str, site: str) -> bool:
    """Return whether the URL is on this host or origin."""
    if not url.startswith(("http://", "https://")) or "/" not in url[8:]:
        return False
    origin = site_of(url)
    return site.rstrip("/") in (origin, origin.partition("://")[2])


def of_refusal(one: Refusal) -> StoredRefusal:
    """Return what a stored refusal depends on."""
    return StoredRefusal(one.url, one.depth, 0, one.reason, one.detail, is_cut=is_cut(one.url))


def is_cut(url: str) -> bool:
    """Return whether only the beginning of a refused URL is known."""
    return len(url) >= MAX_REFUSED_CHARS


def of_page(page: PageDecision | PageRecord) -> StoredRefusal:
    """Return what the last decision about a page depends on."""
    if page.outcome is not Outcome.REJECTED:
        return StoredRefusal(page.url, page.depth, page.hops)
    return StoredRefusal(page.url, page.depth, page.hops, page.reason, page.detail, page.moved_to)


def requeue_allowed(collection: Path, settings: Settings) -> int:
    """Ask the next run to visit pages that were rejected and are not any more; return their number."""
    reader = StateReader(collection)
    rules = CurrentRules(collection, settings)
    allowed = [page.url for page in reader.rejected_pages() if rules.refusal(of_page(page)) is None]
    for begin in range(0, len(allowed), MAX_URLS):
        request_visits(collection, allowed[begin : begin + MAX_URLS], by="changed settings or robots.txt")
    return len(allowed)
