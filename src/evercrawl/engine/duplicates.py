"""Of what is a page a duplicate? Asked of each new version: does it name another page as its canonical form
(RFC 6596), and does its main text say nearly what another page of the shard says?

Verdicts are checked against the store: the index only proposes. A duplicate is kept and its links are
followed, but they get no credit (`engine/credit.py`), and its revisits are worth less.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.digest import text_digest
from evercrawl.core.duplicates.host_mirrors import (
    MIN_REDIRECTED,
    HostEvidence,
    HostMirror,
    compare_hosts,
    wilson_lower_bound,
)
from evercrawl.core.duplicates.minhash import page_signatures, signature_similarity, text_signature
from evercrawl.core.duplicates.page_duplicates import (
    GONE_STATUSES,
    MIN_CANONICAL_SIMILARITY,
    can_represent,
    is_still_duplicate,
    should_recheck,
    titles_match,
)
from evercrawl.core.url import canonical_of_href, key_of, path_of, site_of
from evercrawl.core.visit.outcome import VisitOutcome, judge_mirrored
from evercrawl.engine.interpret import VisitResult
from evercrawl.engine.ports import NearTexts, ShardStore
from evercrawl.engine.records import status_of
from evercrawl.model.document import Document
from evercrawl.model.page import DuplicateCandidate, Page
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.settings import DuplicateSettings

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard

LEAST_CHARS = 400
"""A main text that is shorter says too little: "please log in", or what stands below every page of a site."""
TELLING_CHARS = 2000
"""A main text that is shorter does not make a page a duplicate by itself: where the page leads counts too."""
LEAST_SIMILARITY_IF_SHORT = 0.95
"""How much such pages must have in common, text and links together."""
PROBED = 13
"""Of 256 pages of a copy, so many are asked for."""
STANDS_FOR_ITSELF = frozenset((Reason.NEW, Reason.CHANGED))
UNCHANGED = frozenset((Reason.SAME_CONTENT, Reason.NOISE))


class _Fresh(NamedTuple):
    """A text that is not stored yet."""

    url: str
    signature: bytes
    title: str | None


class Duplicates:
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
        return 1.0 if page.duplicate_of is None else self._settings.revisit_weight

    async def judge(self, page: Page, seen: VisitResult) -> None:
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
        return own is None or not is_still_duplicate(own, other, enough=self._settings.similarity)

    async def _check_copy(self, page: Page, seen: VisitResult) -> None:
        """The same body as another page is a copy only while that page still has it."""
        judgement, other = seen.judgement, seen.duplicate_of
        if judgement.changed:
            self._said[page.id] = seen.digest
        if judgement.reason is not Reason.DUPLICATE or other is None or other in self._said:
            return
        if await self._still_copies(seen, other):
            return
        reason = Reason.CHANGED if page.version else Reason.NEW
        detail = REASON_TEXT[reason]
        seen.judgement = judgement._replace(outcome=Outcome.FETCHED, reason=reason, detail=detail)
        seen.duplicate_of = None

    async def _still_copies(self, seen: VisitResult, other: int) -> bool:
        """The other page has the very same content; then this one is marked as its copy."""
        twin = await self._store.twin(other)
        if twin is None or not can_represent(twin) or twin.digest != seen.digest:
            return False
        _mark(seen, twin.page_id, Reason.DUPLICATE, f"same body as {twin.url}")
        return True

    async def _look_for_others(self, page: Page, seen: VisitResult, document: Document) -> None:
        text = document.text
        may_repeat = self._settings.near_duplicates and len(text) >= LEAST_CHARS
        of_page = None
        if may_repeat and len(text) < TELLING_CHARS:
            seen.signature, of_page = page_signatures(text, (link.url for link in document.links))
        else:
            seen.signature = text_signature(text) if text else None
        if await self._is_named(page, seen, document.canonical):
            return
        if may_repeat and seen.signature is not None:
            await self._compare(page, seen, seen.signature, document, of_page=of_page)

    async def of_mirror(self, page: Page, site: str, *, now: datetime) -> VisitOutcome | None:
        """A page that is known from the site that its own is a copy of; None: it has to be asked for.

        Some are asked for all the same, so that a wrong verdict heals.
        """
        mirror = self.mirrors.of(site)
        if mirror is None or page.depth == 0 or page.key[-1] < PROBED:
            return None
        url = mirror.of + path_of(page.url)
        twin = await self._twin_at(url)
        if twin is None or not can_represent(twin):
            return None
        evidence = f"{mirror.same} of {mirror.compared} pages"
        detail = f"its site is a copy of {mirror.of} ({evidence}), where it is {url}"
        return judge_mirrored(page, detail, now=now)

    async def _is_named(self, page: Page, seen: VisitResult, canonical: str | None) -> bool:
        """The page names another one, which answers, and whose text does not contradict it."""
        if canonical is None or canonical == page.url:
            return False
        url = canonical_of_href(canonical)
        if url is None or url == page.url or site_of(url) != site_of(page.url):
            return False
        twin = await self._store.twin(key_of(url))
        if twin is None or not can_represent(twin) or twin.duplicate_of == page.id:
            return False
        if _contradict(seen.signature, twin.signature):
            return False
        _mark(seen, twin.page_id, Reason.CANONICAL, f"it names {url} as its canonical page")
        return True

    async def _compare(
        self, page: Page, seen: VisitResult, of_text: bytes, document: Document, *, of_page: bytes | None
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
        _mark(seen, match.page, Reason.NEAR_DUPLICATE, detail)

    async def _url_of(self, page_id: int, of_text: bytes, title: str | None) -> str | None:
        """The URL of the page that the index proposes, if its newest text is as near and the titles agree.

        The index may know what a crash took back, and what has changed since. Pages of one form that differ
        in a name or a number (a product, a station, a day) say so in their titles: they are no copies.
        """
        fresh = self._fresh.get(page_id)
        if fresh is None:
            twin = await self._store.twin(page_id)
            if twin is None or twin.signature is None or not can_represent(twin):
                return None
            fresh = _Fresh(twin.url, twin.signature, twin.title)
        if not titles_match(fresh.title, title):
            return None
        return fresh.url if signature_similarity(of_text, fresh.signature) >= self._settings.similarity else None

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
    return signature_similarity(one, other) < MIN_CANONICAL_SIMILARITY


def _mark(seen: VisitResult, page_id: int, reason: Reason, detail: str) -> None:
    seen.judgement = seen.judgement._replace(outcome=Outcome.DUPLICATE, reason=reason, detail=detail)
    seen.duplicate_of = page_id


SAMPLES = 32
"""Paths of a site that are compared."""
MOST_SITES = 4096
"""Sites of which samples are held, those seen last; about 6 KB each."""
MOST_CONTENTS = 65_536
"""Contents by which copies are noticed, those seen last."""
MOST_MIRRORS = 10_000
"""Copies that are remembered."""
LEAST_LED_SHARE = 0.8
"""Of the redirects of a site, so many must lead to the same path of the other, at the careful end."""
MIRRORS_KEY = (0, "mirrors")
"""Where the copies are kept; no site has this number."""


@dataclass(slots=True)
class _Sample:
    """What is known of a site."""

    contents: dict[str, bytes] = field(default_factory=dict)
    """Path -> digest of what it holds."""
    bar: int = 1 << 32
    """Hashes of paths that are kept are smaller."""
    led: dict[str, int] = field(default_factory=dict)
    """Site -> pages here that lead to the same path there."""
    led_elsewhere: int = 0
    """Pages here that lead anywhere else."""

    def take(self, path: str, digest: bytes) -> bool:
        """Keep the paths with the smallest hashes; True: this is one of them."""
        if _draw(path) >= self.bar:
            return False
        self.contents[path] = digest
        if len(self.contents) > SAMPLES:
            last = max(self.contents, key=_draw)
            del self.contents[last]
            self.bar = _draw(last)
            return last != path
        return True


class Mirrors:
    """The copies of a collection, as far as they are known."""

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on
        self._samples: OrderedDict[str, _Sample] = OrderedDict()
        self._holders: OrderedDict[tuple[str, bytes], str] = OrderedDict()
        """Path and content -> the site where it was met first."""
        self._mirrors: dict[str, HostMirror] = {}
        self.is_saved = True

    def of(self, site: str) -> HostMirror | None:
        """The site that this one is a copy of; None: it stands for itself, as far as we know."""
        return self._mirrors.get(site) if self._mirrors else None

    def fetched(self, url: str, digest: bytes) -> None:
        """A page holds this."""
        if not self._is_on:
            return
        path = path_of(url)
        site = url.removesuffix(path)
        sample = self._sample(site)
        if not sample.take(path, digest):
            return
        if site in self._mirrors:
            self._check_again(self._mirrors[site])
        other = self._holders.setdefault((path, digest), site)
        if other != site and (found := self._compare(site, other)) is not None:
            self._remember(found)
        if len(self._holders) > MOST_CONTENTS:
            self._holders.popitem(last=False)

    def moved(self, url: str, target: str) -> None:
        """A page leads to another one."""
        if not self._is_on:
            return
        path, there = path_of(url), path_of(target)
        site, other = url.removesuffix(path), target.removesuffix(there)
        sample = self._sample(site)
        if other == site or there != path:
            sample.led_elsewhere += 1
            return
        same = sample.led[other] = sample.led.get(other, 0) + 1
        others = sum(sample.led.values()) + sample.led_elsewhere
        if same >= MIN_REDIRECTED and wilson_lower_bound(same, others) >= LEAST_LED_SHARE:
            self._remember(HostMirror(site, other, same, others))

    def _sample(self, site: str) -> _Sample:
        sample = self._samples.get(site)
        if sample is None:
            sample = self._samples[site] = _Sample()
            if len(self._samples) > MOST_SITES:
                self._samples.popitem(last=False)
        else:
            self._samples.move_to_end(site)
        return sample

    def _compare(self, site: str, other: str) -> HostMirror | None:
        """Both as they are sampled."""
        one, two = self._samples.get(site), self._samples.get(other)
        if one is None or two is None:
            return None
        here = HostEvidence(site, credit=0, redirected_to=two.led.get(site, 0))
        there = HostEvidence(other, credit=0, redirected_to=one.led.get(other, 0))
        return compare_hosts(here, there, samples=(one.contents, two.contents))

    def _check_again(self, mirror: HostMirror) -> None:
        """A page of a copy was looked at all the same: a verdict that samples speak against is taken back."""
        one, two = self._samples.get(mirror.site), self._samples.get(mirror.of)
        if one is None or two is None:
            return
        common = one.contents.keys() & two.contents.keys()
        same = sum(one.contents[path] == two.contents[path] for path in common)
        if same * 2 < len(common):
            del self._mirrors[mirror.site]
            self.is_saved = False

    def _remember(self, mirror: HostMirror) -> None:
        before = self._mirrors.get(mirror.site)
        if mirror.of in self._mirrors or (before is not None and before.of == mirror.of):
            return
        if len(self._mirrors) < MOST_MIRRORS:
            self._mirrors[mirror.site] = mirror
            self.is_saved = False

    def to_bytes(self) -> bytes:
        """The stored form; it counts as saved from now on."""
        self.is_saved = True
        return json.dumps([list(mirror) for mirror in self._mirrors.values()]).encode()

    def recall(self, stored: bytes | None) -> None:
        """What was known in an earlier run."""
        if stored is not None and self._is_on:
            self._mirrors = {row[0]: HostMirror(*row) for row in json.loads(stored)}


def _draw(path: str) -> int:
    return xxh32_intdigest(path.encode("utf-8", "surrogatepass"))


MOST_REPEATS = 64
"""Duplicates that one change sends for; others are looked at when their own time comes."""


async def send_for_repeats(page: Page, seen: VisitResult, shard: Shard) -> None:
    """Queue the duplicates of a page that says something else than before, is gone or leads elsewhere."""
    if not _says_otherwise(page, seen):
        return
    weight, version = shard.around.settings.duplicates.revisit_weight, page.version + 1
    found = await shard.store.repeats(page.id, MOST_REPEATS)
    asked = [
        repeat.key
        for repeat in found
        if should_recheck(repeat.key, visits=repeat.visits, version=version, weight=weight)
    ]
    if asked:
        await shard.due.visit_soon(asked)


def _says_otherwise(page: Page, seen: VisitResult) -> bool:
    if not page.version:
        return False
    status = status_of(seen.result)
    has_left = status in GONE_STATUSES or (status is not None and 300 < status < 400 and status != 304)
    return has_left or seen.judgement.is_new_version
