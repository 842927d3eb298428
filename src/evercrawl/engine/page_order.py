"""The place of a page in the queue of its site: pages before their views, then by credit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from evercrawl.core.credit.shard_credit import ShardCredit
from evercrawl.core.credit.url_yield import (
    PAGE_PRIOR,
    VIEW_PRIOR,
    Endings,
    Form,
    PathViews,
    SiteYield,
    Tier,
    UrlName,
    after_visit,
    expected_yield,
    has_version,
    hashes_in,
    kinds_of,
    looks_like_view,
    names_in,
    parameters_of,
    parents_of,
    plainer_urls,
    tier_of,
    without_format,
    yield_bytes,
    yield_of,
)
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.duplicates.url_seen import UrlSeenTest
from evercrawl.core.frontier import PageLevels
from evercrawl.core.scope.scope import NO_ANSWERS, Answers, admits_more, after_answer, after_refusal
from evercrawl.core.url import key_of
from evercrawl.engine.decision import Decision, VisitFacts
from evercrawl.engine.ports import ShardStore
from evercrawl.engine.site_state import SiteStates, StateKind
from evercrawl.model.fetch import Failed, Fault, Fetched, Moved
from evercrawl.model.page import Candidate, Page
from evercrawl.model.reason import Outcome, Reason

YIELDS = StateKind("yields", read=yield_of, write=yield_bytes, size=lambda _: 1)
MAX_YIELDS = 2000  # Sites over all shards whose yields are in memory.
MAX_NEW_LINKS = 24  # New links of one page that count for what it leads to.
LINK_SHARE = 0.8  # What a page yields if it only leads to new content, compared to the content itself.
MAX_NAMES = 50_000  # Names in URLs over all shards of which the first URL is remembered; as many visits.
NOTHING = SiteYield()


def learn_yield(facts: VisitFacts, decision: Decision) -> Decision:
    """Learn what a first visit yielded: new text, or links to pages of another kind that promise some.
    A redirect yields what its target promises, nothing if that is known already."""
    known, form, new_text = facts.related.knowledge.yields, facts.related.knowledge.form, decision.site.new_text
    if isinstance(facts.answer, Moved) and facts.page.visits == 0 and facts.page.depth > 0:
        new_text = 0.0
    if new_text is None and _is_without_text(facts, decision):
        new_text = 0.0
    if known is None or form is None or new_text is None:
        return decision
    own = decision.outcome.outcome
    gain = 0.0 if own is Outcome.DUPLICATE else new_text
    links = [link for link in decision.links if link.refused is None and link.site.id == facts.page.site_id]
    own_kinds = kinds_of(facts.page.url)
    promises = (link.candidate.expected for link in links[:MAX_NEW_LINKS] if kinds_of(link.candidate.url) != own_kinds)
    promise = max(promises, default=0.0)
    after = after_visit(known, facts.page.url, max(gain, LINK_SHARE * promise), form)
    return decision._replace(site=decision.site._replace(yields=after))


def _is_without_text(facts: VisitFacts, decision: Decision) -> bool:
    """Return whether a first visit brought a feed, an archive, or another file that is no page."""
    is_first = isinstance(facts.answer, Fetched) and facts.page.version == 0 and decision.content is not None
    return is_first and decision.content is not None and decision.content.document is None


def learn_ending(facts: VisitFacts, decision: Decision) -> Decision:
    """Learn from a first visit whether endings in this folder mean files, and note links that were refused for theirs.
    If they turn out to be pages, what was refused is queued again."""
    site, page, answer = facts.related.knowledge.site, facts.page, facts.answer
    known = decision.site.yields or facts.related.knowledge.yields
    if known is None:
        return decision
    after = known.answers
    if isinstance(answer, Fetched) and page.version == 0 and decision.content is not None:
        after = after_answer(after, page.url, is_page=decision.content.document is not None and _is_html(answer))
    elif isinstance(answer, Failed) and answer.fault is Fault.MEDIA_TYPE and page.visits == 0:
        after = after_answer(after, page.url, is_page=False)
    for link in decision.links:
        if link.refused is not None and link.refused[0] is Reason.FILE_TYPE and link.site.id == site.id:
            after = after_refusal(after, link.candidate.url)
    if after is known.answers:
        return decision
    is_reopened = decision.site.reopened or admits_more(known.answers, after, page.url)
    yields = replace(known, answers=after)
    return decision._replace(site=decision.site._replace(yields=yields, reopened=is_reopened))


def _is_html(answer: Fetched) -> bool:
    return sniff_media_type(answer.headers, answer.body) in HTML_TYPES


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
        self._visited: dict[int, None] = {}
        self._shown: dict[int, None] = {}
        """Pages of which a view was visited first."""
        self._max_names = max(1, MAX_NAMES // shards)
        self._path_views = PathViews(self._max_names)
        self._endings = Endings()

    def _is_known(self, url: str) -> bool:
        return self._may_know(key_of(url))

    def _is_known_page(self, name: UrlName) -> bool:
        return name.target is not None and self._is_known(name.target)

    def form_of(self, url: str) -> Form:
        """Return what the form of a URL says about its page; what it names first is remembered."""
        hashes = hashes_in(url)
        if not hashes and "?" not in url:
            is_view = self._path_views.is_view(url) or self._plain_page(url) is not None
            return Form.VIEW if is_view else Form.PAGE
        firsts = self._first_names(url, hashes)
        if not firsts or (not any(name.is_word for name in firsts) and looks_like_view(url, self._is_known)):
            return Form.VIEW
        if "?" not in url and self._path_views.is_view(url):
            return Form.VIEW
        return Form.FIRST_VERSION if hashes and has_version(url) else Form.PAGE

    def _plain_page(self, url: str) -> str | None:
        """Return the known URL of which this one is another format, or a view that its last segment names."""
        plain = without_format(url)
        if plain is not None and self._is_known(plain):
            return plain
        return self._endings.page_of(url, self._is_known)

    def learned_form(self, url: str) -> Form | None:
        """Return the form under which a visit teaches. None: it teaches nothing. A view of a page that was not visited
        yet has new text only for that reason, and a page that a view showed before lacks it only for that reason."""
        form = self.form_of(url)
        if form is Form.VIEW:
            is_misleading = not any(shown in self._visited for shown in self._shown_pages(url))
        else:
            is_misleading = hash(url) in self._shown or any(
                version in self._visited for version in self._path_views.versions_of(url)
            )
        return None if is_misleading else form

    def _shown_pages(self, url: str) -> Iterator[int]:
        """Yield the hashes of the URLs of which a URL is taken for a view."""
        if "?" in url:
            yield from map(hash, plainer_urls(url))
        else:
            yield from self._path_views.pages_of(url)
            if (plain := self._plain_page(url)) is not None:
                yield hash(plain)
        for name in names_in(url):
            if name.target is not None:
                yield hash(name.target)
            for text in (name.text, name.bare):
                first = None if text is None else self._first.get(hash(text))
                if first is not None:
                    yield first.url

    def note_visit(self, url: str) -> None:
        """Remember that a URL was visited, and what it showed."""
        self._visited[hash(url)] = None
        for page in (*self._shown_pages(url), *map(hash, parents_of(url))):
            if page not in self._visited:
                self._shown[page] = None
        for known in (self._visited, self._shown):
            while len(known) > self._max_names:
                del known[next(iter(known))]

    def _first_names(self, url: str, hashes: int) -> list[UrlName]:
        """Return what a URL names that no other named before, or only others like it with more hashes.
        A page with a URL of its own is no name: `?next=/login`, or `?action=diff&id=Tea` if there is `?Tea`."""
        own, firsts = _Namer(hash(parameters_of(url)), hashes, hash(url)), []
        for name in names_in(url):
            if self._is_known_page(name):
                continue
            if name.bare is not None and hash(name.bare) in self._first:
                continue
            key = hash(name.text)
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

    def answers(self, site_id: int) -> Answers:
        """Return whether URLs of a site with endings of files answered with pages; its yields are loaded."""
        state = self.yields.cached(site_id)
        return NO_ANSWERS if state is None else state.value.answers

    def priority_of(self, candidate: Candidate) -> int:
        """Return the priority of a new page."""
        if not self.credit.orders_queue or candidate.depth == 0:
            return self.credit.priority_of(candidate)
        tier = self._tier(candidate.url, candidate.expected, candidate.hops)
        return self.credit.priority_of(candidate) if tier is Tier.PAGE else self._levels.of(tier)

    def _tier(self, url: str, expected: float, hops: int) -> Tier:
        """Return the tier of a URL. Versions come after pages, also views that a path names, unless they yield as much.
        The target of a redirect counts as a page, unless visits showed that its kind yields little, or it names a known
        page, such as the one that a login leads back to."""
        if hops and expected >= VIEW_PRIOR and not any(map(self._is_known_page, names_in(url))):
            return Tier.PAGE
        tier, is_version = tier_of(expected), has_version(url)
        is_doubtful = tier is Tier.PAGE and expected < PAGE_PRIOR and ("?" not in url or is_version)
        if tier is Tier.VIEW or is_doubtful:
            is_view = self.form_of(url) is Form.VIEW
            return Tier.VIEW if is_view else Tier.VERSION if tier is Tier.VIEW or is_version else tier
        return Tier.VERSION if tier is Tier.PAGE and is_version else tier

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
