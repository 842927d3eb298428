"""The place of a page in the queue of its site: pages before their views, then by credit."""

from __future__ import annotations

from collections.abc import Sequence

from evercrawl.core.credit.shard_credit import ShardCredit
from evercrawl.core.credit.url_yield import (
    SiteYield,
    Tier,
    after_visit,
    expected_yield,
    looks_like_view,
    tier_of,
    yield_bytes,
    yield_of,
)
from evercrawl.core.duplicates.url_seen import UrlSeenTest
from evercrawl.core.frontier import PageLevels
from evercrawl.core.url import key_of
from evercrawl.engine.decision import Decision, VisitFacts
from evercrawl.engine.ports import ShardStore
from evercrawl.engine.site_state import SiteStates, StateKind
from evercrawl.model.page import Candidate, Page
from evercrawl.model.reason import Outcome

YIELDS = StateKind("yields", read=yield_of, write=yield_bytes, size=lambda _: 1)
MAX_YIELDS = 2000  # Sites over all shards whose yields are in memory.
MAX_NEW_LINKS = 24  # New links of one page that count for what it leads to.
LINK_SHARE = 0.8  # What a page yields if it only leads to new content, compared to the content itself.
NOTHING = SiteYield()


def learn_yield(facts: VisitFacts, decision: Decision) -> Decision:
    """Learn what a first visit yielded: new text, or links that promise some."""
    known, new_text = facts.related.knowledge.yields, decision.site.new_text
    if known is None or new_text is None:
        return decision
    own = decision.outcome.outcome
    gain = 0.0 if own is Outcome.DUPLICATE else new_text
    links = [link for link in decision.links if link.refused is None and link.site.id == facts.page.site_id]
    promise = max((link.candidate.expected for link in links[:MAX_NEW_LINKS]), default=0.0)
    after = after_visit(known, facts.page.url, max(gain, LINK_SHARE * promise))
    return decision._replace(site=decision.site._replace(yields=after))


class PageOrder:
    """Decides where the pages of one shard are queued."""

    def __init__(
        self, store: ShardStore, credit: ShardCredit, seen: UrlSeenTest, *, levels: PageLevels, shards: int
    ) -> None:
        self.yields = SiteStates(store, YIELDS, most=max(1, MAX_YIELDS // shards))
        self.credit = credit
        self.last_priority = levels.last
        self._may_know = seen.filter.may_know
        self._levels = levels

    def _is_known(self, url: str) -> bool:
        return self._may_know(key_of(url))

    def expected(self, url: str, site_id: int) -> float:
        """Return the share of new content that a visit to a URL should yield."""
        state = self.yields.cached(site_id)
        known = NOTHING if state is None else state.value
        return expected_yield(known, url, is_view=looks_like_view(url, self._is_known))

    def priority_of(self, candidate: Candidate) -> int:
        """Return the priority of a new page."""
        tier = tier_of(candidate.expected)
        if tier is Tier.PAGE or not self.credit.orders_queue or candidate.depth == 0 or candidate.hops:
            return self.credit.priority_of(candidate)
        return self._levels.of(tier)

    def demotions(self, pages: Sequence[Page]) -> list[tuple[Page, int]]:
        """Return the queued pages that turn out to be views or poor, with their new priorities."""
        if not self.credit.orders_queue or self.credit.is_exact:
            return []
        found = []
        for page in pages:
            if page.visits or page.depth == 0 or page.hops or page.priority >= self._levels.last:
                continue
            priority = self._levels.of(tier_of(self.expected(page.url, page.site_id)))
            if priority > max(page.priority, self._levels.main - 1):
                found.append((page, priority))
        return found
