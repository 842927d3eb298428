"""The place of a page in the queue of its site: pages before their views, then by credit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from evercrawl.core.credit.shard_credit import ShardCredit
from evercrawl.core.credit.url_yield import (
    PAGE_PRIOR,
    VIEW_PRIOR,
    Form,
    SiteYield,
    Tier,
    UrlName,
    after_visit,
    expected_yield,
    hashes_in,
    kinds_of,
    looks_like_view,
    names_in,
    parameters_of,
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
MAX_NAMES = 50_000  # Names in URLs over all shards of which the first URL is remembered.
NOTHING = SiteYield()


def learn_yield(facts: VisitFacts, decision: Decision) -> Decision:
    """Learn what a first visit yielded: new text, or links to pages of another kind that promise some."""
    known, new_text = facts.related.knowledge.yields, decision.site.new_text
    if known is None or new_text is None:
        return decision
    own = decision.outcome.outcome
    gain = 0.0 if own is Outcome.DUPLICATE else new_text
    links = [link for link in decision.links if link.refused is None and link.site.id == facts.page.site_id]
    own_kinds = kinds_of(facts.page.url)
    promises = (link.candidate.expected for link in links[:MAX_NEW_LINKS] if kinds_of(link.candidate.url) != own_kinds)
    promise, form = max(promises, default=0.0), facts.related.knowledge.form
    after = after_visit(known, facts.page.url, max(gain, LINK_SHARE * promise), form)
    return decision._replace(site=decision.site._replace(yields=after))


class _Namer(NamedTuple):
    shape: int
    hashes: int
    url: int


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
        self._first: dict[int, _Namer] = {}
        """The URLs that first named something."""
        self._max_names = max(1, MAX_NAMES // shards)

    def _is_known(self, url: str) -> bool:
        return self._may_know(key_of(url))

    def form_of(self, url: str) -> Form:
        """Return what the form of a URL says about its page; what it names first is remembered."""
        hashes = hashes_in(url)
        if not hashes and "?" not in url:
            return Form.PAGE
        firsts = self._first_names(url, hashes)
        if not firsts or (not any(name.is_word for name in firsts) and looks_like_view(url, self._is_known)):
            return Form.VIEW
        return Form.FIRST_VERSION if hashes else Form.PAGE

    def _first_names(self, url: str, hashes: int) -> list[UrlName]:
        """Return what a URL names that no other named before, or only others like it with more hashes."""
        own, firsts = _Namer(_hash(parameters_of(url)), hashes, _hash(url)), []
        for name in names_in(url):
            key = _hash(name.text)
            known = self._first.get(key)
            if known is None or (known.shape == own.shape and known.hashes > hashes):
                self._first[key] = known = own
            if known == own:
                firsts.append(name)
        while len(self._first) > self._max_names:
            del self._first[next(iter(self._first))]
        return firsts

    def expected(self, url: str, site_id: int) -> float:
        """Return the share of new content that a visit to a URL should yield."""
        state = self.yields.cached(site_id)
        known = NOTHING if state is None else state.value
        return expected_yield(known, url, self.form_of(url))

    def priority_of(self, candidate: Candidate) -> int:
        """Return the priority of a new page."""
        if not self.credit.orders_queue or candidate.depth == 0:
            return self.credit.priority_of(candidate)
        tier = self._tier(candidate.url, candidate.expected, candidate.hops)
        if tier is not Tier.PAGE:
            return self._levels.of(tier)
        priority = self.credit.priority_of(candidate)
        is_version = candidate.expected < PAGE_PRIOR and hashes_in(candidate.url) > 0
        return max(priority, self._levels.main - 1) if is_version else priority

    def _tier(self, url: str, expected: float, hops: int) -> Tier:
        """Return the tier of a URL. Versions come after all pages, unless they yield as much.
        The target of a redirect counts as a page, unless visits showed that its kind yields little."""
        if hops and expected >= VIEW_PRIOR:
            return Tier.PAGE
        tier = tier_of(expected)
        is_version = tier is Tier.PAGE and expected < PAGE_PRIOR and hashes_in(url) > 0
        return Tier.VIEW if is_version and self.form_of(url) is Form.VIEW else tier

    def demotions(self, pages: Sequence[Page]) -> list[tuple[Page, int]]:
        """Return the queued pages that turn out to be views or poor, with their new priorities."""
        if not self.credit.orders_queue or self.credit.is_exact:
            return []
        found = []
        for page in pages:
            if page.visits or page.depth == 0 or page.priority >= self._levels.last:
                continue
            priority = self._levels.of(self._tier(page.url, self.expected(page.url, page.site_id), page.hops))
            if priority > max(page.priority, self._levels.main - 1):
                found.append((page, priority))
        return found


def _hash(text: str) -> int:
    return int(xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")))
