"""Crawler traps: what the URL patterns of a site have yielded, and which links and pages that blocks.
A site with few pages is not judged. Judgements are pure functions; `Traps` holds the state of one shard's sites."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import orjson
from xxhash import xxh3_64_intdigest, xxh32_intdigest

from evercrawl.core.traps.irrelevant_parts import learn_parts
from evercrawl.core.traps.pattern_probe import next_probe
from evercrawl.core.traps.pattern_stats import DUPLICATES_ABOVE, GROWTH_ABOVE, PatternState, PatternStats, evidence
from evercrawl.core.traps.trap_state import TrapState, observe_visit, record_visit
from evercrawl.core.traps.trap_verdict import (
    HostStats,
    TrapAction,
    TrapVerdict,
    after_host,
    allows_all,
    check_link,
    check_queued,
    host_stats_bytes,
    host_stats_of,
    is_blocked,
)
from evercrawl.core.traps.user_rules import RuleAction, TrapFilter, UserRule, matching_rule, rule_refusal, rules_of
from evercrawl.core.url import registrable_domain, site_of, site_parts
from evercrawl.engine.decision import Decision, LinkTarget, NewLink, Refused, SiteUpdate, VisitFacts
from evercrawl.engine.interpret import status_of
from evercrawl.engine.ports import ShardStore, SiteStore
from evercrawl.engine.site_state import TRAPS, SiteState, SiteStates
from evercrawl.model.fetch import Failed, Fetched, Moved
from evercrawl.model.page import Candidate, Page
from evercrawl.model.reason import Reason
from evercrawl.model.settings import TrapSettings
from evercrawl.model.site import Site

log = logging.getLogger("evercrawl")

MAX_STATES = 1000  # Sites over all shards whose trap state is in memory, ten to two hundred kilobytes each.
TRAP_RECHECK = timedelta(days=7)  # A blocked page is checked again after this time.
SAMPLED_FROM = 4
MAX_REOPENINGS = 20  # Times in one run that the blocked pages of one site are queued again.
TRUSTED_FROM = 80
OBSERVE_ONE_IN = 8  # Of a well-known pattern, only one page in this many is observed.
HOSTS = "trap_hosts"  # The name under which host statistics of a domain are stored.
MAX_DOMAINS = 10_000  # Domains of a shard that are in memory; only those with more than one host.
MAX_COUNTED_HOSTS = 100_000  # Hosts that are remembered as counted; the store knows all of them.
MAX_HOST_LINKS = 200  # Links of one page whose hosts are counted.
FIRST_HOST_SAMPLE = 8
"""The blocked host with this number is let through, then one whenever the number has doubled."""
RULES_KEY = (0, "trap_rules")  # Where a shard stores the user rules that it has applied; no site has this number.
REOPENED = (Reason.TRAP, Reason.FILE_TYPE, Reason.ROBOTS)  # Links refused for these may be found to be admitted.
PORTION = 1000  # Pages or refusals that are read in one step.


# Judgements


def check_trap_link(link: NewLink, target: LinkTarget, *, pages: int, year: int, rules: TrapFilter) -> NewLink:
    """Return the link, refused or put last if trap detection or a user rule says so."""
    url, is_seed = link.candidate.url, link.candidate.depth == 0
    if target.blocked is not None and not is_seed and pages == 0 and _is_judged_url(url, rules):
        return link._replace(refused=target.blocked)
    refused = rules.refusal(url, year=year, is_requested=is_seed)
    if refused is not None:
        return link._replace(refused=refused)
    checked = _check_pattern(link, target.traps, rules)
    if not is_seed and checked.refused is None and rules.is_doubtful(url, year=year):
        return checked._replace(is_last=True)
    return checked


def _is_judged_url(url: str, rules: TrapFilter) -> bool:
    return rules.settings.enabled and rules.user_rule(url) is None


def _check_pattern(link: NewLink, state: TrapState | None, rules: TrapFilter) -> NewLink:
    url = link.candidate.url
    if state is None or link.candidate.depth == 0 or is_open(state) or rules.user_rule(url) is not None:
        return link
    verdict = check_link(state, url)
    if verdict.action is TrapAction.BLOCK:
        return link._replace(refused=_blocked(verdict))
    return link._replace(is_last=link.is_last or verdict.action is TrapAction.THROTTLE)


_last_checked: list[tuple[TrapState | None, bool]] = [(None, True)]


def is_open(state: TrapState) -> bool:
    """Return whether the state blocks no URL at all; the last answer is remembered."""
    if _last_checked[0][0] is not state:
        _last_checked[0] = (state, allows_all(state))
    return _last_checked[0][1]


def _blocked(verdict: TrapVerdict) -> Refused:
    return Reason.TRAP, f"{verdict.pattern}: {verdict.evidence}"


def count_visit(facts: VisitFacts, decision: Decision) -> Decision:
    """Learn what a first visit yielded to the patterns of its URL, and check the page's links by it."""
    before = facts.related.knowledge.traps
    if before is None or not _is_first_visit(facts, decision):
        return decision
    new_links = [
        link.candidate.url for link in decision.links if link.refused is None and link.site.id == facts.page.site_id
    ]
    after, new_text = _after_visit(before, facts, decision, new_links)
    if after is before:
        return decision
    site = decision.site._replace(traps=after, new_text=new_text, log=_new_blocks(facts.page.url, before, after))
    if _reopens(facts.page.url, before, after):
        site = site._replace(reopened=True)
    rules = facts.policy.traps
    links = tuple(
        _check_pattern(link, after, rules) if link.refused is None and link.site.id == facts.page.site_id else link
        for link in decision.links
    )
    return decision._replace(site=site, links=links)


def _after_visit(
    before: TrapState, facts: VisitFacts, decision: Decision, new_links: Sequence[str]
) -> tuple[TrapState, float | None]:
    """Return the state after a visit, and the share of new text on the page if it was measured."""
    page, answer = facts.page, facts.answer
    document = decision.content.document if decision.content is not None else None
    text = document.text if document is not None else ""
    links = document.links if document is not None else ()
    if not _is_worth_observing(before, page.url):
        parts = learn_parts(
            before.url_parts, page.url, text, links=links, new_links=new_links, with_names=before.is_suspicious
        )
        return before if parts is before.url_parts else replace(before, url_parts=parts), None
    is_copy = decision.outcome.reason is Reason.DUPLICATE
    stays = isinstance(answer, Moved) and site_of(answer.target) == site_of(page.url)
    observed, after = observe_visit(
        before,
        page.url,
        status=status_of(answer) or 0,
        text=text,
        duplicate=is_copy,
        new_links=new_links,
        duplicate_of=decision.original.url if is_copy and decision.original is not None else "",
        links=links,
        redirects_back=not new_links and stays,
    )
    is_page = 200 <= observed.status < 300 and not observed.soft_404
    return record_visit(after, observed), observed.new.essential if is_page else 0.0


def _is_first_visit(facts: VisitFacts, decision: Decision) -> bool:
    """Return whether the visit counts for its patterns: revisits and unreadable answers do not."""
    match facts.answer:
        case Fetched():
            return facts.page.version == 0 and decision.content is not None and decision.content.document is not None
        case Moved() | Failed():
            return facts.page.visits == 0
        case _:
            return False


def _is_worth_observing(state: TrapState, url: str) -> bool:
    """Return whether to measure the text, which costs as much as finding its links."""
    patterns = state.patterns_of(url)
    # A unique name at the top of a site has a shape of its own; then its skeleton is used.
    record = state.patterns.get(patterns[0].name) or state.patterns.get(patterns[-1].name)
    if record is None or record.requests < TRUSTED_FROM or not _is_settled(record):
        return True
    return xxh32_intdigest(url.encode("utf-8", "surrogatepass")) % OBSERVE_ONE_IN == 0


def _is_settled(record: PatternStats) -> bool:
    """Return whether a pattern keeps yielding new text, or ends by itself without copies."""
    ends = record.growth < GROWTH_ABOVE and record.duplicates < DUPLICATES_ABOVE / 2
    return record.is_proven or (ends and record.state is not PatternState.BLOCKED)


def _reopens(url: str, before: TrapState, after: TrapState) -> bool:
    names = [name for name, _ in before.patterns_of(url)]
    return any(is_blocked(before, name) and not is_blocked(after, name) for name in names)


def _new_blocks(url: str, before: TrapState, after: TrapState) -> tuple[str, ...]:
    lines = []
    for name, _ in before.patterns_of(url):
        was, now = before.patterns.get(name), after.patterns.get(name)
        if now is not None and now.state is PatternState.BLOCKED and (was is None or was.state < PatternState.BLOCKED):
            lines.append(f"trap: {name} is blocked, with URLs like {url}: {evidence(now)}")
    return tuple(lines)


def request_trap_probe(facts: VisitFacts, decision: Decision) -> Decision:
    """Ask for a probe of the pattern that most deserves one."""
    before, after = facts.related.knowledge.traps, decision.site.traps
    if before is None or after is None or after.requests == before.requests or not facts.related.knowledge.may_probe:
        return decision
    return decision._replace(probe=next_probe(after, seed=after.requests))


def count_hosts(facts: VisitFacts, decision: Decision) -> Decision:
    """Count the hosts of the same domain that the first page of a host names."""
    stats, content = facts.related.knowledge.hosts, decision.content
    if stats is None or facts.page.version or content is None or content.document is None:
        return decision
    site = facts.related.knowledge.site
    urls = [link.url for link in content.document.links[:MAX_HOST_LINKS]]
    others = {site_of(url) for url in urls} - {site.name}
    count = sum(registrable_domain(site_parts(other).host) == site.domain for other in others)
    fresh = sum(
        target.pages == 0 and target.site.domain == site.domain and target.site.id != site.id
        for target in facts.related.targets.values()
    )
    after = after_host(stats, others=count, fresh=min(fresh, count))
    update = decision.site._replace(hosts=after)
    if after.is_blocked and not stats.is_blocked:
        line = f"trap: new hosts of {site.domain} are blocked: {after.evidence}"
        update = update._replace(log=(*update.log, line))
    return decision._replace(site=update)


# State


class HostTraps:
    """Detects domains that name endless new hosts; a shard owns whole registrable domains."""

    def __init__(self, store: SiteStore) -> None:
        self._store = store
        self._known: OrderedDict[str, HostStats] = OrderedDict()
        self._unsaved: set[str] = set()
        self._blocked_pages: Counter[str] = Counter()
        self._counted: set[int] = set()
        """Sites of such domains whose links were counted."""
        self._samples: set[int] = set()
        """Blocked sites that are let through as samples."""

    async def load(self, site: Site, named_sites: Sequence[Site]) -> HostStats | None:
        """Return the statistics of the site's domain, if the page names other hosts of it for the first time."""
        if site.domain not in self._known:
            if all(other.id == site.id or other.domain != site.domain for other in named_sites):
                return None
            stored = await self._store.site_state(key_of_domain(site.domain), HOSTS)
            self._known[site.domain] = HostStats(site.domain) if stored is None else host_stats_of(stored)
            while len(self._known) > MAX_DOMAINS and (oldest := next(iter(self._known))) not in self._unsaved:
                del self._known[oldest]
        return None if site.id in self._counted else self._known.get(site.domain)

    def update(self, site: Site, stats: HostStats) -> None:
        """Store the statistics of the site's domain; the site is not counted again."""
        if len(self._counted) >= MAX_COUNTED_HOSTS:
            self._counted.clear()
        self._counted.add(site.id)
        self._known[site.domain] = stats
        self._unsaved.add(site.domain)

    def refusal(self, site: Site) -> Refused | None:
        """Return why a site that was never contacted is blocked; None: it is not."""
        known = self._known.get(site.domain)
        is_let_in = site.id in self._counted or site.id in self._samples
        if known is None or not known.is_blocked or site.requests or is_let_in:
            return None
        self._blocked_pages[site.domain] += 1
        times = self._blocked_pages[site.domain]
        if times >= FIRST_HOST_SAMPLE and times & (times - 1) == 0:
            self._samples.add(site.id)
            return None
        return Reason.TRAP, f"hosts without end: {known.evidence}"

    def unsaved(self) -> dict[tuple[int, str], bytes]:
        """Return what has to be stored; it counts as stored from now on."""
        found = {
            (key_of_domain(domain), HOSTS): host_stats_bytes(self._known[domain]) for domain in sorted(self._unsaved)
        }
        self._unsaved.clear()
        return found


def key_of_domain(domain: str) -> int:
    """Return a number for a domain that no site has; site numbers start at 1."""
    return xxh3_64_intdigest(domain.encode()) >> 1 | 1 << 62


class Traps:
    """The trap state of one shard's sites."""

    def __init__(self, store: ShardStore, rules: TrapFilter, *, shards: int) -> None:
        self.rules = rules
        self.states = SiteStates(store, TRAPS, most=max(1, MAX_STATES // shards))
        self.hosts = HostTraps(store)
        self._open: set[int] = set()
        """Sites whose state blocked nothing when it was read last; only visits change it."""
        self._reopenings: Counter[int] = Counter()
        self._blocked_pages: Counter[tuple[int, str]] = Counter()
        self._samples: set[int] = set()
        """Blocked pages that are let through as samples."""

    async def load(self, site_id: int, *, pages: int) -> SiteState[TrapState] | None:
        """Return the state of a site; None: it has too few pages to be judged."""
        settings = self.rules.settings
        return await self.states.of(site_id) if settings.enabled and pages >= settings.min_pages else None

    async def load_for_links(self, site_id: int, *, pages: int) -> None:
        """Load the state of a site that links lead to, unless it blocks nothing."""
        if site_id in self._open or self.states.cached(site_id) is not None:
            return
        state = await self.load(site_id, pages=pages)
        if state is not None and allows_all(state.value):
            self._open.add(site_id)

    def target(self, site: Site, *, pages: int) -> tuple[TrapState | None, Refused | None]:
        """Return the loaded state of a site that links lead to, and why its host is blocked."""
        held = self.states.cached(site.id)
        blocked = self.hosts.refusal(site) if pages == 0 and self.rules.settings.enabled else None
        return None if held is None else held.value, blocked

    async def is_trap(self, url: str, site: Site, *, pages: int, year: int) -> bool:
        """Return whether a link to a site that is known already is refused."""
        state = await self.load(site.id, pages=pages)
        target = LinkTarget(site, max(pages, 1), traps=None if state is None else state.value)
        link = NewLink(Candidate(url, b"", 1, 0, None, None), site)
        return check_trap_link(link, target, pages=target.pages, year=year, rules=self.rules).refused is not None

    def check_page(self, page: Page, state: TrapState | None) -> Refused | None:
        """Return why a queued page is not fetched; None: it may be.
        Patterns block only pages that were never visited. Whenever the number of blocked pages has doubled, one of them
        is let through, so that a wrong verdict corrects itself."""
        rule = self.rules.user_rule(page.url)
        if rule is not None:
            return rule_refusal(rule)
        if state is None or page.version or page.depth == 0 or is_open(state):
            return None
        verdict = check_queued(state, page.url)
        if verdict.action is not TrapAction.BLOCK or self._is_sample(page, verdict.pattern):
            return None
        return _blocked(verdict)

    def check_first_page(self, page: Page, site: Site) -> Refused | None:
        """Return why a page of a site that was never contacted is not fetched."""
        if site.requests or not page.depth or not _is_judged_url(page.url, self.rules):
            return None
        return self.hosts.refusal(site)

    def _is_sample(self, page: Page, pattern: str) -> bool:
        """Return whether to let a page through; it is checked when read from the queue and again before its request."""
        if page.id in self._samples:
            self._samples.discard(page.id)
            return True
        self._blocked_pages[page.site_id, pattern] += 1
        times = self._blocked_pages[page.site_id, pattern]
        is_sample = times >= SAMPLED_FROM and times & (times - 1) == 0
        if is_sample:
            self._samples.add(page.id)
        return is_sample

    def apply(self, site: Site, update: SiteUpdate) -> bool:
        """Keep what a visit taught about a site; return whether blocked pages are to be queued again."""
        for line in update.log:
            log.info("%s", line)
        if update.hosts is not None:
            self.hosts.update(site, update.hosts)
        if update.traps is None:
            return False
        self._open.discard(site.id)
        self.states.update(site.id, update.traps)
        if not update.reopened or self._reopenings[site.id] >= MAX_REOPENINGS:
            return False
        self._reopenings[site.id] += 1
        for blocked in [blocked for blocked in self._blocked_pages if blocked[0] == site.id]:
            del self._blocked_pages[blocked]
        return True

    def unsaved(self) -> dict[tuple[int, str], bytes]:
        """Return what has to be stored; it counts as stored from now on."""
        return self.states.unsaved() | self.hosts.unsaved()


# Unblocked pages


async def apply_rules(
    rules: TrapFilter, store: ShardStore, *, enqueue: Callable[[Page], None], commit: Callable[[], Awaitable[None]]
) -> bytes | None:
    """Queue what the user rules admit now; return the rules to store under `RULES_KEY`, None: they are the same."""
    before, after = _stored_rules(await store.site_state(*RULES_KEY)), rules_of(rules.settings)
    if before == after:
        return None
    after_id = 0
    while pages := await store.unfetched(after_id, PORTION):
        after_id = pages[-1].id
        for page in pages:
            action = _action(after, page.url)
            if action is not RuleAction.EXCLUDE and action is not _action(before, page.url):
                enqueue(page)
        await commit()
    return orjson.dumps([rules.settings.exclude, rules.settings.allow])


def _stored_rules(stored: bytes | None) -> tuple[UserRule, ...]:
    if stored is None:
        return ()
    exclude, allow = orjson.loads(stored)
    return rules_of(TrapSettings(exclude=tuple(exclude), allow=tuple(allow)))


def _action(rules: Sequence[UserRule], url: str) -> RuleAction | None:
    rule = matching_rule(rules, url)
    return None if rule is None else rule.action


async def requeue_reopened(
    site: Site,
    traps: Traps,
    store: ShardStore,
    *,
    enqueue: Callable[[Page], None],
    offer: Callable[[list[Candidate]], Awaitable[None]],
) -> None:
    """Queue the blocked pages and links of a site again, after a block or a refusal by ending was found wrong,
    or robots.txt has changed."""
    state = (await traps.states.of(site.id)).value
    after_id = 0
    while pages := await store.unfetched(after_id, PORTION):
        after_id = pages[-1].id
        # Sorted by key, not by discovery: the pages found first are those that caused the block.
        for page in sorted(pages, key=lambda page: page.key):
            was_blocked = page.site_id == site.id and page.tries == 0
            if was_blocked and traps.check_page(page, state) is None:
                enqueue(page)
    after_key = b""
    while refusals := await store.refusals(after_key, PORTION):
        after_key = refusals[-1].key
        found = [
            Candidate(refusal.url, refusal.key, refusal.depth, 0, refusal.parent, None)
            for refusal in refusals
            if refusal.reason in REOPENED and refusal.url.startswith(site.name + "/")
        ]
        if found:
            await offer(found)
