"""Of what is a page a duplicate? Asked of each new version: does it name another page as its canonical form
(RFC 6596), and does its main text say nearly what another page of the shard says?

Verdicts are checked against the store: the index only proposes. A duplicate is kept and its links are
followed, but they get no credit (`engine/credit.py`), and its revisits are worth less.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import NamedTuple

from evercrawl.core.digest import text_digest
from evercrawl.core.duplicates.cluster import LEAST_CANONICAL_SIMILARITY
from evercrawl.core.duplicates.follow import answers, still_repeats
from evercrawl.core.duplicates.title import titles_agree
from evercrawl.core.judgement import Judgement, judge_mirrored
from evercrawl.core.signature import signature, signatures, similarity
from evercrawl.core.url import canonical_of_href, key_of, path_of, site_of
from evercrawl.engine.mirrors import Mirrors
from evercrawl.engine.ports import NearTexts, ShardStore
from evercrawl.engine.see import Seen
from evercrawl.model.document import Document
from evercrawl.model.page import DuplicateCandidate, Page
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.settings import DuplicateSettings

LEAST_CHARS = 400
"""A main text that is shorter says too little: "please log in", or what stands below every page of a site."""
TELLING_CHARS = 2000
"""A main text that is shorter does not make a page a duplicate by itself: where the page leads counts too."""
LEAST_SIMILARITY_IF_SHORT = 0.95
"""How much such pages must have in common, text and links together."""
PROBED = 13
"""Of 256 pages of a copy, so many are asked for."""
STANDS_FOR_ITSELF = frozenset((Reason.NEW, Reason.CHANGED))
UNCHANGED = frozenset((Reason.SAME_CONTENT, Reason.ONLY_NOISE))


class _Fresh(NamedTuple):
    """A text that is not stored yet."""

    url: str
    signature: bytes
    title: str | None


class Twins:
    """The duplicates of one shard."""

    def __init__(
        self,
        store: ShardStore,
        near: NearTexts,
        *,
        settings: DuplicateSettings,
        mirrors: Mirrors,
        twin_at: Callable[[str], Awaitable[DuplicateCandidate | None]],
    ) -> None:
        """`twin_at` finds a page in any shard of this process."""
        self._store = store
        self._near = near
        self._settings = settings
        self.mirrors = mirrors
        self._twin_at = twin_at
        self._fresh: dict[int, _Fresh] = {}
        self._said: dict[int, bytes | None] = {}
        """Pages that were judged since the last commit, with the digests of what they say."""

    def weight(self, page: Page) -> float:
        """What a visit to the page is worth against one to a page that stands for itself."""
        return 1.0 if page.duplicate_of is None else self._settings.weight

    async def judge(self, page: Page, seen: Seen) -> None:
        """Say of a new version whether it is a duplicate; its text is known to later ones."""
        document = seen.document
        if seen.digest is not None and seen.judgement.changed:
            seen.text_digest = text_digest(document.text) if document is not None and document.text else None
            # What a copy of a page has too is its main text, for links may name the host.
            self.mirrors.fetched(page.url, seen.text_digest or seen.digest)
        await self._check_copy(page, seen)
        repeated = page.duplicate_of if seen.judgement.reason in UNCHANGED else None
        if repeated is not None and await self._still_copies(seen, repeated):
            return
        if document is not None and (repeated is not None or seen.judgement.reason in STANDS_FOR_ITSELF):
            await self._look_for_others(page, seen, document)
        if repeated is not None and seen.duplicate_of is None:
            detail = f"{seen.judgement.detail}; what it repeated says something else now"
            seen.judgement = seen.judgement._replace(detail=detail)

    async def doubts(self, page: Page) -> bool:
        """The page was a duplicate, and the one that it repeats says something else by now.

        The verdict has to be made again, for which the page's content is needed.
        """
        if page.duplicate_of is None:
            return False
        own, other = await self._store.twin(page.id), await self._store.twin(page.duplicate_of)
        return own is None or not still_repeats(own, other, enough=self._settings.similarity)

    async def _check_copy(self, page: Page, seen: Seen) -> None:
        """The same body as another page is a copy only while that page still has it."""
        judgement, other = seen.judgement, seen.duplicate_of
        if judgement.changed:
            self._said[page.id] = seen.digest
        if judgement.reason is not Reason.SAME_AS_OTHER or other is None or other in self._said:
            return
        if await self._still_copies(seen, other):
            return
        reason = Reason.CHANGED if page.version else Reason.NEW
        detail = REASON_TEXT[reason]
        seen.judgement = judgement._replace(outcome=Outcome.FETCHED, reason=reason, detail=detail)
        seen.duplicate_of = None

    async def _still_copies(self, seen: Seen, other: int) -> bool:
        """The other page has the very same content; then this one is marked as its copy."""
        twin = await self._store.twin(other)
        if twin is None or not answers(twin) or twin.digest != seen.digest:
            return False
        _mark(seen, twin.page_id, Reason.SAME_AS_OTHER, f"same body as {twin.url}")
        return True

    async def _look_for_others(self, page: Page, seen: Seen, document: Document) -> None:
        text = document.text
        may_repeat = self._settings.near and len(text) >= LEAST_CHARS
        of_page = None
        if may_repeat and len(text) < TELLING_CHARS:
            seen.signature, of_page = signatures(text, (link.url for link in document.links))
        else:
            seen.signature = signature(text) if text else None
        if await self._is_named(page, seen, document.canonical):
            return
        if may_repeat and seen.signature is not None:
            await self._compare(page, seen, seen.signature, document, of_page=of_page)

    async def of_mirror(self, page: Page, site: str, *, now: datetime) -> Judgement | None:
        """A page that is known from the site that its own is a copy of; None: it has to be asked for.

        Some are asked for all the same, so that a wrong verdict heals.
        """
        mirror = self.mirrors.of(site)
        if mirror is None or page.depth == 0 or page.key[-1] < PROBED:
            return None
        url = mirror.of + path_of(page.url)
        twin = await self._twin_at(url)
        if twin is None or not answers(twin):
            return None
        evidence = f"{mirror.same} of {mirror.compared} pages"
        detail = f"its site is a copy of {mirror.of} ({evidence}), where it is {url}"
        return judge_mirrored(page, detail, now=now)

    async def _is_named(self, page: Page, seen: Seen, canonical: str | None) -> bool:
        """The page names another one, which answers, and whose text does not contradict it."""
        if canonical is None or canonical == page.url:
            return False
        url = canonical_of_href(canonical)
        if url is None or url == page.url or site_of(url) != site_of(page.url):
            return False
        twin = await self._store.twin(key_of(url))
        if twin is None or not answers(twin) or twin.duplicate_of == page.id:
            return False
        if _contradict(seen.signature, twin.signature):
            return False
        _mark(seen, twin.page_id, Reason.CANONICAL_ELSEWHERE, f"it names {url} as its canonical page")
        return True

    async def _compare(
        self, page: Page, seen: Seen, of_text: bytes, document: Document, *, of_page: bytes | None
    ) -> None:
        """`of_page`: signature of text and links together, for a page whose text does not tell enough."""
        chars = len(document.text)
        signed, enough = of_text, self._settings.similarity
        if of_page is not None:
            signed, enough = of_page, max(enough, LEAST_SIMILARITY_IF_SHORT)
        match = self._near.find(signed, chars=chars)
        if match is not None and match.page == page.id:
            return
        url = None
        if match is not None and match.similarity >= enough:
            url = await self._url_of(match.page, of_text, document.title)
        if match is None or url is None:
            self._near.add(page.id, signed, chars=chars)
            self._fresh[page.id] = _Fresh(page.url, of_text, document.title)
            return
        detail = f"it says nearly the same as {url} ({match.similarity:.0%} alike)"
        _mark(seen, match.page, Reason.NEARLY_SAME, detail)

    async def _url_of(self, page_id: int, of_text: bytes, title: str | None) -> str | None:
        """The URL of the page that the index proposes, if its newest text is as near and the titles agree.

        The index may know what a crash took back, and what has changed since. Pages of one form that differ
        in a name or a number (a product, a station, a day) say so in their titles: they are no copies.
        """
        fresh = self._fresh.get(page_id)
        if fresh is None:
            twin = await self._store.twin(page_id)
            if twin is None or twin.signature is None or not answers(twin):
                return None
            fresh = _Fresh(twin.url, twin.signature, twin.title)
        if not titles_agree(fresh.title, title):
            return None
        return fresh.url if similarity(of_text, fresh.signature) >= self._settings.similarity else None

    def committed(self) -> None:
        """What was judged is in the store."""
        self._fresh.clear()
        self._said.clear()

    def save(self) -> None:
        """Hand the index to the operating system."""
        self._near.flush()

    def close(self) -> None:
        """Let go of the index."""
        self._near.close()


def _contradict(one: bytes | None, other: bytes | None) -> bool:
    """The texts have nothing in common; a whole site that names its front page would vanish otherwise."""
    if one is None or other is None:
        return False
    return similarity(one, other) < LEAST_CANONICAL_SIMILARITY


def _mark(seen: Seen, page_id: int, reason: Reason, detail: str) -> None:
    seen.judgement = seen.judgement._replace(outcome=Outcome.DUPLICATE, reason=reason, detail=detail)
    seen.duplicate_of = page_id
