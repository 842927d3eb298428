"""Every read of a visit: what is known before the request, and what the store knows about the answer.
The state of a site is read after the last await, so that visits to one site never lose each other's updates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, assert_never

from evercrawl.core.change.change_history import SiteChangeHistory
from evercrawl.core.change.detectors import DEFAULT_DETECTOR
from evercrawl.core.change.snapshot import unpack_snapshot
from evercrawl.core.credit.shard_credit import ShardCredit
from evercrawl.core.digest import content_digest, payload_sha1
from evercrawl.core.fields.reading import FieldComparison, is_data, judge_field_change, page_part, rules_for
from evercrawl.core.frontier import Visit
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decode_body
from evercrawl.core.render_choice import SiteRendering
from evercrawl.core.sitemap.sitemap_discovery import SitemapState
from evercrawl.core.traps.not_found import is_left_empty
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.url import key_of
from evercrawl.core.visit.links import FoundLinks
from evercrawl.engine.decide import fetched_outcome, redirect_refusal, scope_refusal, trap_refusal
from evercrawl.engine.decision import Comparison, Content, Decision, PageKnowledge, Past, Policy, Related, SiteKnowledge
from evercrawl.engine.duplicates import MAX_COPIES, Duplicates, may_have_changed
from evercrawl.engine.interpret import (
    QUICK_BYTES,
    CompareTask,
    compare,
    compare_long,
    links_in,
    original_of,
    parse,
    parse_bounded,
    read_fields_bounded,
    redirect_target,
    repair_fields_bounded,
    takes_long,
    wants_snapshot,
)
from evercrawl.engine.links import LinkIntake, PlacedLink
from evercrawl.engine.page_order import PageOrder
from evercrawl.engine.ports import Archive, ShardStore
from evercrawl.engine.probes import Probes, looks_like_not_found
from evercrawl.engine.revisits import Revisits
from evercrawl.engine.runtime import Runtime
from evercrawl.engine.site_state import SiteState, SiteStates
from evercrawl.engine.traps import Traps
from evercrawl.model.document import Document
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Headers, Moved, NotModified
from evercrawl.model.page import Candidate, OriginalRecord, Page
from evercrawl.model.site import Site
from evercrawl.model.time import to_us

VERSIONS_BACK = (0, 1, 2, 3, 5, 8, 12, 18, 27, 40)  # Those that are searched for a value of a field that is missing.


@dataclass(frozen=True, slots=True)
class ShardKnowledge:
    """What one shard has learned about its sites and pages."""

    change: SiteStates[SiteChangeHistory]
    sitemaps: SiteStates[SitemapState]
    revisits: Revisits
    traps: Traps
    duplicates: Duplicates
    credit: ShardCredit
    order: PageOrder
    rendering: SiteStates[SiteRendering]


class ContentReader:
    """Parses answers, and compares them with the last visit."""

    def __init__(
        self,
        store: ShardStore,
        archive: Archive,
        change: SiteStates[SiteChangeHistory],
        *,
        original_of: Callable[[bytes], Awaitable[OriginalRecord | None]],
        policy: Policy,
    ) -> None:
        """`original_of` finds where content of this digest is archived."""
        self._store = store
        self._archive = archive
        self._change = change
        self._original_of = original_of
        self._policy = policy

    async def read(self, page: Page, answer: Fetched, *, now: datetime, may_know: bool = False) -> Content:
        """Return the content of an answer, parsed and compared.
        `may_know`: the bytes of a stored version of the page would not be judged differently now."""
        digest = content_digest(answer.body)
        original = await self._original_of(digest)
        past = await self._past(page, digest)
        if may_know and past.is_same and original is not None and original.page_id == page.id:
            return Content(digest, payload_sha1(answer.exchange.wire_body), None, original, past, is_known=True)
        site = await self._change.of(page.site_id)
        document = await parse(answer, self._policy, wants_snapshot=wants_snapshot(page, past, site.value))
        note = answer.rendering
        payload = answer.body if note is not None and note.is_rendered else answer.exchange.wire_body
        fields, stopped = await self._fields(page, answer, document, past)
        if stopped is not None and document is not None:
            document = replace(document, stopped=stopped)
        content = Content(digest, payload_sha1(payload), document, original, past, fields=fields)
        detector = self._policy.settings.change.detector
        task = CompareTask(page, document, answer.body, past, site.value, now, detector)
        if page.version and not past.is_same and self._policy.parser is not None and takes_long(task):
            document, comparison = await compare_long(task, self._policy)
            content = content._replace(document=document, comparison=_with_fields(comparison, fields))
        return self.compare_content(page, answer, content, site, now=now)

    async def find_original(self, content: Content) -> Content:
        """Return the content with the page, if any, that stored the same bytes while this one was being read."""
        if content.original is not None:
            return content
        return content._replace(original=await self._original_of(content.digest))

    def compare_content(
        self, page: Page, answer: Fetched, content: Content, site: SiteState[SiteChangeHistory], *, now: datetime
    ) -> Content:
        """Return the content, compared with the current knowledge of its site."""
        if page.version == 0 or content.past.is_same:
            return content
        before = content.comparison
        if before is not None and (before.site_before is None or before.site_before is site.value):
            return content
        if before is not None and before.is_long:
            # Another page of the site was compared meanwhile: this one teaches nothing about the site.
            return content._replace(comparison=before._replace(site=None, site_before=None, held=None))
        found = compare(page, content.document, answer.body, content.past, site.value, now=now, policy=self._policy)
        return content._replace(comparison=_with_fields(found, content.fields))

    async def _fields(
        self, page: Page, answer: Fetched, document: Document | None, past: Past
    ) -> tuple[FieldComparison | None, str | None]:
        """Return the fields of an answer, compared with those of the newest version, and why they were not read.
        Repairs of selectors are stored."""
        rules = rules_for(page.url, self._policy.fields.rules())
        if not rules or (document is None and not is_data(answer.headers, answer.body)):
            return None, None
        before = None
        if page.version > 0 and not past.is_same:
            headers, body = (await self._newest_version(page)) if not past.body else (answer.headers, past.body)
            before = page_part(headers, body, past.text or "")
        after = page_part(answer.headers, answer.body, document.text if document is not None else "")
        found, stopped = await read_fields_bounded(before, after, rules, self._policy)
        for number in (page.version - back for back in VERSIONS_BACK):
            if number < 1 or before is None or found is None or not found.missing:
                break
            place = await self._store.earlier_original(page.id, number)
            earlier = page_part(*self._read_archive(place), await self._store.text(page.id, number) or "")
            found = await repair_fields_bounded(found, earlier, after, rules, self._policy)
        for repair in found.repairs if found is not None else ():
            seen_at = answer.exchange.began.isoformat(timespec="seconds")
            self._policy.fields.add_repair(repair._replace(url=page.url, at=seen_at))
        return found, stopped

    async def _past(self, page: Page, digest: bytes) -> Past:
        if page.version == 0:
            return Past()
        settings = self._policy.settings
        baseline = await self._store.baseline(page.id)
        if digest == page.digest:
            return Past(is_same=True, baseline=baseline)
        text = await self._store.text(page.id, page.version)
        before = unpack_snapshot(baseline.snapshot) if baseline is not None else None
        if before is not None and settings.change.detector == DEFAULT_DETECTOR:
            return Past(text=text, baseline=baseline, snapshot=before)
        headers, body = await self._newest_version(page)
        document = await parse_bounded(page.url, headers, body, self._policy)
        packed = document.snapshot if document is not None and not document.stopped else None
        before = unpack_snapshot(packed) if packed is not None else None
        return Past(text=text, body=body, baseline=baseline, snapshot=before)

    async def _newest_version(self, page: Page) -> tuple[Headers, bytes]:
        """Return the newest version from the archive; empty where it cannot be read."""
        return self._read_archive(await self._store.version_original(page.id))

    def _read_archive(self, place: OriginalRecord | None) -> tuple[Headers, bytes]:
        record = self._archive.read(place) if place is not None else None
        if record is None:
            return (), b""
        headers, wire_body = record
        http = self._policy.settings.http
        try:
            return headers, decode_body(
                headers, wire_body, limits=DecodeLimits(http.max_decoded_bytes, http.max_compression_ratio)
            )
        except BadCoding:
            return (), b""


def _with_fields(comparison: Comparison, fields: FieldComparison | None) -> Comparison:
    """Return the comparison as the fields of the page judge it; a field that differs needs no other evidence."""
    if fields is None:
        return comparison
    change = judge_field_change(comparison.change, fields)
    return comparison._replace(change=change, held=None if fields.differences else comparison.held)


class _Links(NamedTuple):
    """Links of an answer: as found, new ones of this shard, and those of other shards."""

    found: FoundLinks
    own: list[PlacedLink]
    others: dict[int, list[Candidate]]


_NO_LINKS = _Links(FoundLinks(), [], {})


class VisitReader:
    """Reads for the visits of one shard."""

    def __init__(
        self,
        store: ShardStore,
        contents: ContentReader,
        knowledge: ShardKnowledge,
        *,
        links: LinkIntake,
        probes: Probes,
        runtime: Runtime,
    ) -> None:
        self._store = store
        self._contents = contents
        self._knowledge = knowledge
        self._links = links
        self._probes = probes
        self._runtime = runtime
        self._policy = runtime.policy

    async def gather(self, turn: Visit) -> PageKnowledge:
        """Read what is known about a page before its request."""
        page, site, knowledge = turn.page, turn.queue.site, self._knowledge
        traps = await knowledge.traps.load(site.id, pages=self._links.pages_of(site))
        return PageKnowledge(
            turn.queue.robots,
            knowledge.traps.check_page(page, None if traps is None else traps.value),
            await knowledge.duplicates.mirror_copy(page, site.name),
            (await knowledge.revisits.outlooks.of(site.id)).value,
            await knowledge.duplicates.is_doubtful(page),
            (await knowledge.order.yields.of(site.id)).value.answers,
        )

    async def trap_state(self, site: Site) -> SiteState[TrapState] | None:
        """Read the trap state of a site; None: it has too few pages to be judged."""
        return await self._knowledge.traps.load(site.id, pages=self._links.pages_of(site))

    def refuse_queued(
        self, pages: list[Page], site: Site, state: SiteState[TrapState] | None, *, now: datetime
    ) -> list[tuple[Page, Decision]]:
        """Return the queued pages of a site that are no longer wanted, before robots.txt is fetched for them."""
        traps, answers, refused = self._knowledge.traps, self._knowledge.order.answers(site.id), []
        for page in pages:
            outcome = scope_refusal(page, PageKnowledge(answers=answers), now, self._policy)
            if outcome is None:
                trap = traps.check_page(page, None if state is None else state.value)
                known = PageKnowledge(trap=trap or traps.check_first_page(page, site))
                outcome = trap_refusal(page, known, now, self._policy)
            if outcome is not None:
                refused.append((page, Decision(outcome)))
        return refused

    async def look_up(self, turn: Visit, answer: FetchResult, known: PageKnowledge, *, now: datetime) -> Related:
        """Read what the store knows about an answer. Links that are not pages yet are reserved for this visit."""
        related = await self._look_up(turn, answer, known, now=now)
        # What other visits of the site write is read last.
        return related._replace(knowledge=self._site_knowledge(turn.queue.site, turn.page, related))

    async def _look_up(self, turn: Visit, answer: FetchResult, known: PageKnowledge, *, now: datetime) -> Related:
        match answer:
            case Fetched():
                return await self._look_up_content(turn, answer, now=now)
            case Moved():
                found, is_loop = await self._look_up_target(turn.page, answer, known, now=now)
                own, others = self._links.split(found.candidates)
                links = _Links(found, await self._links.place(own), others)
                related = await self._related(turn, answer, None, links)
                return related._replace(is_loop=is_loop, targets=self._links.targets(links.own))
            case NotModified():
                baseline = await self._store.baseline(turn.page.id)
                if baseline is not None and baseline.digest == turn.page.digest:
                    original: OriginalRecord | None = original_of(turn.page, baseline)
                else:
                    original = await self._store.version_original(turn.page.id)
                return (await self._related(turn, answer, None))._replace(baseline=baseline, original=original)
            case Failed():
                return await self._related(turn, answer, None)
            case unknown:
                assert_never(unknown)

    async def _look_up_content(self, turn: Visit, answer: Fetched, *, now: datetime) -> Related:
        page, policy = turn.page, self._policy
        content = await self._contents.read(page, answer, now=now, may_know=await self._may_know(page, answer))
        popular = self._runtime.popular
        found = links_in(page, content.document, popular=popular, now_us=to_us(now), policy=policy)
        own, others = self._links.split(found.candidates)
        links = _Links(found, await self._links.place(own), others)
        related = await self._related(turn, answer, content, links)
        # What other visits write is read last: there is no await from here to `apply` unless something matches.
        content = await self._contents.find_original(content)
        outcome = fetched_outcome(page, answer, content)
        duplicates = await self._knowledge.duplicates.look_up(page, content, outcome)
        change = await self._knowledge.change.of(page.site_id)
        content = self._contents.compare_content(page, answer, content, change, now=now)
        targets = self._links.targets(links.own)
        return related._replace(content=content, duplicates=duplicates, targets=targets)

    async def _may_know(self, page: Page, answer: Fetched) -> bool:
        """Return whether only the content of an answer decides about it, so that stored bytes need not be parsed."""
        policy = self._policy
        if page.version == 0 or page.duplicate_of is not None or answer.rendering is not None:
            return False
        if len(answer.body) > QUICK_BYTES or policy.is_focused or self._knowledge.credit.is_exact:
            return False
        if policy.scope.selection(page.url).reads_content or rules_for(page.url, policy.fields.rules()):
            return False
        return await self._probes.soft_404_state(page.site_id, looks_like_not_found=False) is None

    async def _look_up_target(
        self, page: Page, answer: Moved, known: PageKnowledge, *, now: datetime
    ) -> tuple[FoundLinks, bool]:
        """Return the target of a redirect as a link, and whether it leads back to the page."""
        target = answer.target
        is_loop = target == page.url or await self._store.moved_to(key_of(target)) == page.url
        if page.depth == 0:
            self._runtime.adopt(page.url, target)
        if redirect_refusal(page, answer, known) is not None:
            return FoundLinks(), is_loop
        return redirect_target(page, answer, now_us=to_us(now), policy=self._policy), is_loop

    async def _related(
        self, turn: Visit, answer: FetchResult, content: Content | None, links: _Links = _NO_LINKS
    ) -> Related:
        page, site, knowledge = turn.page, turn.queue.site, self._knowledge
        document = content.document if content is not None else None
        says_not_found = looks_like_not_found(page, answer, document)
        traps = await self.trap_state(site)
        soft_404 = None
        if traps is None and isinstance(answer, (Fetched, Moved)):
            is_suspect = says_not_found or (
                content is not None and document is not None and is_left_empty(content.past.text, document.text)
            )
            soft_404 = await self._probes.soft_404_state(site.id, looks_like_not_found=is_suspect)
        hosts = None
        if document is not None and not page.version:
            hosts = await knowledge.traps.hosts.load(site, [its for _, its in links.own])
        await self._load_states(site)
        copies: list[Page] = []
        if may_have_changed(page, answer, content):
            copies = await self._store.duplicates_of(page.id, MAX_COPIES)
        return Related(
            SiteKnowledge(site, traps=None if traps is None else traps.value, soft_404=soft_404, hosts=hosts),
            knowledge.revisits.level(),
            knowledge.credit.weight(page)
            if isinstance(answer, NotModified) or (content is not None and content.is_known)
            else knowledge.credit.weight_after_visit(page),
            knowledge.revisits.announced_at(page.id),
            knowledge.revisits.is_requested(page.id),
            content,
            found=links.found,
            own=links.own,
            others=links.others,
            says_not_found=says_not_found,
            copies=copies,
        )

    async def _load_states(self, site: Site) -> None:
        knowledge = self._knowledge
        await knowledge.change.of(site.id)
        await knowledge.revisits.outlooks.of(site.id)
        await knowledge.order.yields.of(site.id)
        if self._policy.settings.sitemaps.enabled:
            await knowledge.sitemaps.of(site.id)

    def _site_knowledge(self, site: Site, page: Page, related: Related) -> SiteKnowledge:
        """Return what is known about a site now; its states are loaded."""
        knowledge, before, content = self._knowledge, related.knowledge, related.content
        teaches = page.visits == 0 or (content is not None and not content.past.is_same)
        change = knowledge.change.cached(site.id)
        outlook = knowledge.revisits.outlooks.cached(site.id)
        sitemaps = knowledge.sitemaps.cached(site.id) if self._policy.settings.sitemaps.enabled else None
        traps = knowledge.traps.states.cached(site.id)
        yields = knowledge.order.yields.cached(site.id)
        return SiteKnowledge(
            site,
            before.change if change is None else change.value,
            before.outlook if outlook is None else outlook.value,
            None if sitemaps is None else sitemaps.value,
            before.traps if before.traps is None or traps is None else traps.value,
            before.soft_404,
            None if yields is None else yields.value,
            knowledge.order.learned_form(page.url) if teaches else None,
            before.hosts,
            self._probes.may_probe(site.id),
            page.version > 0 and self._probes.may_check_gone(site.id, page.id, now=self._runtime.clock.now()),
        )
