"""Find the page that another one duplicates: by its bytes, canonical link, main text, or mirrored site.
The near-duplicate index only proposes; verdicts are checked against the store. A duplicate is archived and its links
are followed, but they get no credit, and its revisits are worth less."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from evercrawl.core.digest import text_digest
from evercrawl.core.duplicates.minhash import page_signatures, signature_similarity, text_signature
from evercrawl.core.duplicates.repeats import (
    GONE_STATUSES,
    MIN_CANONICAL_SIMILARITY,
    MirrorRegistry,
    can_represent,
    is_plainer,
    is_still_duplicate,
    should_recheck,
    titles_match,
)
from evercrawl.core.url import canonical_of_href, key_of, path_of, site_of
from evercrawl.core.visit.outcome import VisitOutcome
from evercrawl.engine.decision import Content, Decision, DuplicateLookup, NearText, TextToIndex, VisitFacts
from evercrawl.engine.interpret import status_of
from evercrawl.engine.ports import NearTexts, PageStore
from evercrawl.model.document import Document
from evercrawl.model.fetch import Fetched, FetchResult, Moved
from evercrawl.model.page import DuplicateCandidate, OriginalRecord, Page, Represented
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.settings import DuplicateSettings

MIN_CHARS = 400
"""A shorter main text says too little: "please log in", or the footer of every page of a site."""
MIN_CHARS_WITHOUT_LINKS = 2000  # A shorter main text does not make a page a duplicate by itself: its links count too.
MIN_SIMILARITY_IF_SHORT = 0.95  # How much such pages must have in common, text and links together.
MIRROR_PROBES = 13  # Of 256 pages of a mirror, this many are fetched to verify the mirror.
NEW_CONTENT = frozenset((Reason.NEW, Reason.CHANGED))
UNCHANGED = frozenset((Reason.SAME_CONTENT, Reason.NOISE))
MAX_COPIES = 64  # Duplicates that one change queues; the others wait until they are due.


# Judgements


def find_duplicate(facts: VisitFacts, decision: Decision) -> Decision:
    """Decide whether a page is a duplicate: by its bytes, its canonical link, or its main text."""
    content, lookup = decision.content, facts.related.duplicates
    if content is None:
        return decision
    if decision.outcome.changed and content.document is not None and content.document.text:
        decision = decision._replace(text_digest=text_digest(content.document.text))
    decision = _check_same_bytes(facts.page, decision, lookup)
    previous = facts.page.duplicate_of if decision.outcome.reason in UNCHANGED else None
    if previous is not None and _is_same_body(lookup.previous, content):
        return _mark_same_body(facts.page, decision, lookup.previous)
    if content.document is not None and needs_lookup(facts.page, decision.outcome):
        decision = _find_other(facts, decision, content.document, lookup)
    if previous is not None and decision.duplicate_of is None:
        detail = f"{decision.outcome.detail}; the page that it duplicated has changed"
        decision = decision._replace(outcome=decision.outcome._replace(detail=detail))
    return decision


def needs_lookup(page: Page, outcome: VisitOutcome) -> bool:
    """Return whether to look for other pages with the same content."""
    was_duplicate = page.duplicate_of is not None and outcome.reason in UNCHANGED
    return was_duplicate or outcome.reason in NEW_CONTENT


def _check_same_bytes(page: Page, decision: Decision, lookup: DuplicateLookup) -> Decision:
    """Mark a page as duplicate only if the page that first had its bytes still has them."""
    is_copy = decision.outcome.reason is Reason.DUPLICATE and decision.duplicate_of is not None
    if not is_copy or lookup.is_original_pending:
        return decision
    assert decision.content is not None
    if _is_same_body(lookup.original, decision.content):
        return _mark_same_body(page, decision, lookup.original)
    return _not_a_copy(page, decision)


def _not_a_copy(page: Page, decision: Decision) -> Decision:
    if decision.outcome.outcome is not Outcome.DUPLICATE:
        return decision._replace(duplicate_of=None)
    reason = Reason.CHANGED if page.version else Reason.NEW
    outcome = decision.outcome._replace(outcome=Outcome.FETCHED, reason=reason, detail=REASON_TEXT[reason])
    return decision._replace(outcome=outcome, duplicate_of=None)


def _is_same_body(other: DuplicateCandidate | None, content: Content) -> bool:
    return other is not None and can_represent(other) and other.digest == content.digest


def _not_committed(original: OriginalRecord, content: Content) -> DuplicateCandidate:
    """Return the page with the same bytes that was judged since the last commit, so that they are current."""
    return DuplicateCandidate(original.page_id, original.url, 1, None, None, None, digest=content.digest)


def _mark_same_body(page: Page, decision: Decision, other: DuplicateCandidate | None) -> Decision:
    assert other is not None
    if is_plainer(page.url, other.url):
        view = Represented(other.page_id, page.id, Reason.DUPLICATE, f"same body as {page.url}")
        return _not_a_copy(page, decision)._replace(represented=view)
    return _mark(decision, other.page_id, Reason.DUPLICATE, f"same body as {other.url}")


def _find_other(facts: VisitFacts, decision: Decision, document: Document, lookup: DuplicateLookup) -> Decision:
    page, near, canonical = facts.page, lookup.near, lookup.canonical
    decision = decision._replace(signature=near.signature)
    if canonical is not None and _is_canonical(page, canonical, near.signature):
        detail = f"it names {canonical.url} as its canonical page"
        return _mark(decision, canonical.page_id, Reason.CANONICAL, detail)
    settings = facts.policy.settings.duplicates
    if near.signature is None or not may_be_near(document, settings):
        return decision
    return _compare_text(page, decision, document, near, near.signature, settings)


def may_be_near(document: Document, settings: DuplicateSettings) -> bool:
    """Return whether the main text is long enough to be compared."""
    return settings.near_duplicates and len(document.text) >= MIN_CHARS


def _compare_text(
    page: Page, decision: Decision, document: Document, near: NearText, of_text: bytes, settings: DuplicateSettings
) -> Decision:
    signed, enough = of_text, settings.similarity
    if near.of_page is not None:
        signed, enough = near.of_page, max(enough, MIN_SIMILARITY_IF_SHORT)
    match, other = near.match, near.page
    if match is not None and match.page == page.id:
        return decision
    if match is not None and match.similarity >= enough and _is_near(other, of_text, document.title, settings):
        assert other is not None
        likeness = f"({match.similarity:.0%} similar)"
        if not is_plainer(page.url, other.url):
            detail = f"nearly the same text as {other.url} {likeness}"
            return _mark(decision, other.page_id, Reason.NEAR_DUPLICATE, detail)
        detail = f"nearly the same text as {page.url} {likeness}"
        view = Represented(other.page_id, page.id, Reason.NEAR_DUPLICATE, detail)
        decision = decision._replace(represented=view)
    return decision._replace(near_text=TextToIndex(signed, len(document.text), of_text, document.title))


def _is_near(other: DuplicateCandidate | None, of_text: bytes, title: str | None, settings: DuplicateSettings) -> bool:
    """Return whether the newest text of the proposed page is as near, and the titles agree.
    The index may hold texts that a crash undid or that have changed since. Pages of one form that differ in a name or
    a number (a product, a station, a day) usually have different titles."""
    if other is None or other.signature is None or not titles_match(other.title, title):
        return False
    return signature_similarity(of_text, other.signature) >= settings.similarity


def _is_canonical(page: Page, canonical: DuplicateCandidate, signature: bytes | None) -> bool:
    is_possible = can_represent(canonical) and canonical.duplicate_of != page.id
    return is_possible and not _contradict(signature, canonical.signature)


def _contradict(one: bytes | None, other: bytes | None) -> bool:
    """Return whether two texts have nothing in common: some sites name the front page as canonical for every page."""
    if one is None or other is None:
        return False
    return signature_similarity(one, other) < MIN_CANONICAL_SIMILARITY


def _mark(decision: Decision, page_id: int, reason: Reason, detail: str) -> Decision:
    outcome = decision.outcome._replace(outcome=Outcome.DUPLICATE, reason=reason, detail=detail)
    return decision._replace(outcome=outcome, duplicate_of=page_id)


def may_have_changed(page: Page, answer: FetchResult, content: Content | None) -> bool:
    """Return whether a known page has new bytes, is gone or redirects."""
    if not page.version:
        return False
    is_new = content is not None and not content.past.is_same
    return is_new or isinstance(answer, Moved) or status_of(answer) in GONE_STATUSES


def copies_to_requeue(facts: VisitFacts, decision: Decision) -> Decision:
    """Queue the duplicates of a page that has changed."""
    is_noise = isinstance(facts.answer, Fetched) and not decision.outcome.is_new_version
    if not facts.related.copies or is_noise:
        return decision
    weight, version = facts.policy.settings.duplicates.revisit_weight, facts.page.version + 1
    asked = [
        page
        for page in facts.related.copies
        if should_recheck(page.key, visits=page.visits, version=version, weight=weight)
    ]
    return decision._replace(requeue=tuple(asked))


# State


class Duplicates:
    """Finds the pages of one shard that a page may duplicate."""

    def __init__(
        self,
        store: PageStore,
        near: NearTexts,
        *,
        settings: DuplicateSettings,
        mirrors: MirrorRegistry,
        page_at: Callable[[str], Awaitable[DuplicateCandidate | None]],
    ) -> None:
        """`page_at` finds a page in any shard of this process."""
        self._store = store
        self._near = near
        self._settings = settings
        self.mirrors = mirrors
        self._page_at = page_at
        self._uncommitted: dict[int, DuplicateCandidate] = {}
        """Pages whose text was indexed since the last commit."""
        self._judged: set[int] = set()
        """Pages with new content since the last commit."""

    def weight(self, page: Page) -> float:
        """Return what a visit to the page is worth against one to a page that is no duplicate."""
        return 1.0 if page.duplicate_of is None else self._settings.revisit_weight

    async def mirror_copy(self, page: Page, site: str) -> str | None:
        """Return where a copy of the page is known, if its site is a mirror; None: the page has to be fetched.
        Some pages are fetched anyway, so that a wrong verdict corrects itself."""
        mirror = self.mirrors.of(site)
        if mirror is None or page.depth == 0 or page.key[-1] < MIRROR_PROBES:
            return None
        url = mirror.of + path_of(page.url)
        other = await self._page_at(url)
        if other is None or not can_represent(other):
            return None
        evidence = f"{mirror.same} of {mirror.compared} pages"
        return f"its site is a copy of {mirror.of} ({evidence}), where it is {url}"

    async def is_doubtful(self, page: Page) -> bool:
        """Return whether the page that this one duplicates has changed, so that the content is needed again."""
        if page.duplicate_of is None:
            return False
        own, other = (
            await self._store.duplicate_candidate(page.id),
            await self._store.duplicate_candidate(page.duplicate_of),
        )
        return own is None or not is_still_duplicate(own, other, enough=self._settings.similarity)

    async def look_up(self, page: Page, content: Content, outcome: VisitOutcome) -> DuplicateLookup:
        """Read the pages that a page may duplicate."""
        lookup, document, original = DuplicateLookup(), content.document, content.original
        if outcome.reason is Reason.DUPLICATE and original is not None:
            if original.page_id in self._judged:
                return lookup._replace(original=_not_committed(original, content))
            other = await self._store.duplicate_candidate(original.page_id)
            lookup = lookup._replace(original=await self._representative(page, other))
            if _is_same_body(lookup.original, content):
                return lookup
        if page.duplicate_of is not None and outcome.reason in UNCHANGED:
            lookup = lookup._replace(previous=await self._store.duplicate_candidate(page.duplicate_of))
            if _is_same_body(lookup.previous, content):
                return lookup
        elif outcome.reason not in NEW_CONTENT and outcome.reason is not Reason.DUPLICATE:
            return lookup
        if document is None:
            return lookup
        return lookup._replace(
            canonical=await self._canonical_page(page, document.canonical), near=await self._near_text(page, document)
        )

    async def _canonical_page(self, page: Page, canonical: str | None) -> DuplicateCandidate | None:
        """Return the known page that this one names as canonical, if it is of the same site."""
        if canonical is None or canonical == page.url:
            return None
        url = canonical_of_href(canonical)
        if url is None or url == page.url or site_of(url) != site_of(page.url):
            return None
        return await self._store.duplicate_candidate(key_of(url))

    async def _near_text(self, page: Page, document: Document) -> NearText:
        text = document.text
        if not may_be_near(document, self._settings):
            return NearText(text_signature(text) if text else None)
        of_page = None
        if len(text) < MIN_CHARS_WITHOUT_LINKS:
            of_text, of_page = page_signatures(text, (link.url for link in document.links))
        else:
            of_text = text_signature(text)
        match = self._near.find(of_page or of_text, chars=len(text))
        if match is None:
            return NearText(of_text, of_page)
        other = self._uncommitted.get(match.page)
        if other is None:
            other = await self._representative(page, await self._store.duplicate_candidate(match.page))
            other = other if other is not None and can_represent(other) else None
        return NearText(of_text, of_page, match, other)

    async def _representative(self, page: Page, other: DuplicateCandidate | None) -> DuplicateCandidate | None:
        """Return the page that represents another one, if they still have the same content; else the other one."""
        if other is None or other.duplicate_of is None or other.duplicate_of == page.id:
            return other
        first = await self._store.duplicate_candidate(other.duplicate_of)
        return first if is_still_duplicate(other, first, enough=self._settings.similarity) else other

    def apply(self, page: Page, decision: Decision) -> None:
        """Remember the text of a page, for later pages and for its site."""
        answer, content, index = decision.answer, decision.content, decision.near_text
        if isinstance(answer, Moved):
            self.mirrors.add_redirect(page.url, answer.target)
        if isinstance(answer, Fetched) and content is not None and decision.outcome.changed:
            self._judged.add(page.id)
            # Mirrors are compared by main text, because links may contain the host.
            self.mirrors.add_page(page.url, decision.text_digest or content.digest)
        if index is not None:
            self._near.add(page.id, index.signed, chars=index.chars)
            self._uncommitted[page.id] = DuplicateCandidate(
                page.id, page.url, page.version + 1, index.signature, None, None, index.title
            )

    def forget_committed(self) -> None:
        """Forget what the commit has stored."""
        self._uncommitted.clear()
        self._judged.clear()

    def save(self) -> None:
        """Flush the index."""
        self._near.flush()

    def close(self) -> None:
        """Close the index."""
        self._near.close()
