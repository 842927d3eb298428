"""The only writer of visits: archive first, then everything else into one batch, without waiting in between."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import assert_never

from evercrawl.core.credit.shard_credit import ShardCredit
from evercrawl.core.digest import text_digest
from evercrawl.core.document.compression import outline_of, pack_outline, pack_text
from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.core.frontier import Frontier
from evercrawl.core.http.message import trusted_last_modified
from evercrawl.core.scope.scope import Scope
from evercrawl.core.scope.selection import SELECTION_REASONS
from evercrawl.core.url import canonical_of_href, key_of, site_of
from evercrawl.core.visit.links import pack_links
from evercrawl.engine.assets import StoredAssets
from evercrawl.engine.commits import CommitBuffer, LinkChannel
from evercrawl.engine.decision import Content, Decision, NewLink
from evercrawl.engine.gather import ShardKnowledge
from evercrawl.engine.interpret import status_of
from evercrawl.engine.links import LinkIntake
from evercrawl.engine.ports import Archive, PageStore, RenderedRecord, Stored
from evercrawl.engine.runtime import FocusGuide, RunStats
from evercrawl.model.change import Change
from evercrawl.model.fetch import Failed, Fault, Fetched, Moved, NotModified, Truncation, header
from evercrawl.model.page import (
    Baseline,
    Candidate,
    CompletedVisit,
    CreditShare,
    PackedText,
    Page,
    Promotion,
    QueuePosition,
    Refusal,
    SettledChange,
    Version,
)
from evercrawl.model.reason import Outcome
from evercrawl.model.site import Site
from evercrawl.model.time import to_us

RELEVANCE = "relevance"
RELEVANCE_DIGITS = 4
MAX_CONTENT_TYPE_CHARS = 200
TRUNCATIONS = {
    Fault.TIMEOUT: "time",
    Fault.RESET: "disconnect",
    Fault.INCOMPLETE: "disconnect",
    Fault.HEADERS_TOO_LARGE: "length",
    Fault.INVALID_HTTP: "unspecified",
}
"""Fault -> value of WARC-Truncated for an answer that was not read to its end (WARC 1.1 section 5.13)."""
STILL_DUPLICATE = frozenset((Outcome.UNCHANGED, Outcome.DEFERRED, Outcome.ERROR))
"""Outcomes after which a page stays a duplicate."""


class VisitWriter:
    """Writes the visits of one shard into its next commit."""

    def __init__(
        self,
        assets: StoredAssets,
        buffer: CommitBuffer,
        channel: LinkChannel,
        *,
        links: LinkIntake,
        credit: ShardCredit,
        knowledge: ShardKnowledge,
        stats: RunStats,
        focus: FocusGuide | None,
    ) -> None:
        self._assets = assets
        self._buffer = buffer
        self._channel = channel
        self._links = links
        self._credit = credit
        self._knowledge = knowledge
        self._stats = stats
        self._focus = focus

    def apply(self, page: Page, site: Site, decision: Decision, *, now: datetime) -> CompletedVisit:
        """Write a visit.
        Only the archive write can fail. After it nothing may, so credit is never spent by an unrecorded visit."""
        if self._focus is not None and decision.answer is not None:
            decision = self._learn_relevance(self._focus, page, decision)
        stored = archive_answer(page, decision, self._assets.archive)
        if isinstance(decision.answer, Moved) and stored is not None:
            self._assets.write_redirect(page.url, decision.answer, stored, now=now)
        visit = visit_row(page, decision, now=now, stored=stored)
        self._learn(page, site, decision)
        links, send = decision.links, decision.send
        if decision.credit.pays:
            paid = self._credit.distribute(
                page,
                decision.found,
                new=[link.candidate for link in links],
                sent=[candidate for candidates in send.values() for candidate in candidates],
                expands=decision.credit.expands,
            )
            share, visit = paid.share, visit._replace(spent=paid.spent)
            links = tuple(link._replace(candidate=link.candidate._replace(credit=share)) for link in links)
            send = {target: [link._replace(credit=share) for link in batch] for target, batch in send.items()}
            self._buffer.write_share(page, paid.waited, generation=self._credit.generation)
        self.write_visit(page, visit)
        self._links.release(decision.release)
        self.write_links(links, send, decision.found.refusals, now_us=to_us(now))
        return visit

    def write_settled(self, settled: Iterable[SettledChange]) -> None:
        """Write verdicts on changes of earlier visits."""
        for verdict in settled:
            self._buffer.batch.settled.append(verdict)
            if verdict.schedule is not None:
                self._buffer.batch.rescheduled.append(verdict.schedule)
            self._stats.changed = max(0, self._stats.changed - (not verdict.change.changed))
            self._buffer.touch()

    def write_visit(self, page: Page, visit: CompletedVisit) -> None:
        """Write the row of a visit; the next commit acknowledges it."""
        self._buffer.write_visit(page, visit)
        self._stats.count_visit(page, visit)

    def write_links(
        self,
        links: Iterable[NewLink],
        send: Mapping[int, Sequence[Candidate]],
        refusals: Sequence[Refusal],
        *,
        now_us: int,
    ) -> None:
        """Enter own links, send those of other shards, and note refusals."""
        batch = self._buffer.batch
        found_before = len(batch.new_pages)
        refusals = [*refusals, *self._links.enter(links, batch, now_us=now_us)]
        self._stats.found += len(batch.new_pages) - found_before
        batch.refusals.extend(refusals)
        self._stats.refused.update(refusal.reason for refusal in refusals)
        for target, candidates in send.items():
            self._channel.send(target, pack_links(candidates))
        self._buffer.touch()

    def _learn(self, page: Page, site: Site, decision: Decision) -> None:
        knowledge, update = self._knowledge, decision.site
        if update.change is not None:
            knowledge.change.update(site.id, update.change)
            if decision.settled or decision.is_held:
                # What waits must be stored together with its visit.
                knowledge.change.save_soon(site.id)
        self.write_settled(decision.settled)
        if update.outlook is not None:
            knowledge.revisits.outlooks.update(site.id, update.outlook)
        if update.yields is not None:
            knowledge.order.yields.update(site.id, update.yields)
        if update.sitemaps is not None:
            knowledge.sitemaps.update(site.id, update.sitemaps)
        knowledge.revisits.note_visit(page.id, decision.rate_estimate)
        if decision.represented is not None:
            self._buffer.batch.represented.append(decision.represented)
        knowledge.duplicates.apply(page, decision)

    def _learn_relevance(self, focus: FocusGuide, page: Page, decision: Decision) -> Decision:
        """Let the focus learn from a page, and add the page's relevance."""
        document = decision.content.document if decision.content is not None else None
        if isinstance(decision.answer, Fetched) and document is not None:
            score = focus.learn_page(page, document)
            self._stats.judged += 1
            self._stats.on_topic = focus.on_topic()
            relevance = {RELEVANCE: round(score, RELEVANCE_DIGITS)}
            return decision._replace(analysis={**relevance, **decision.analysis})
        if isinstance(decision.answer, Moved):
            focus.follow_redirect(page, decision.answer)
        else:
            focus.discard(page)
        return decision


class CreditPayout:
    """Writes credit to known pages: of this shard with a commit, of other shards with a batch of links."""

    def __init__(
        self,
        credit: ShardCredit,
        store: PageStore,
        buffer: CommitBuffer,
        channel: LinkChannel,
        *,
        links: LinkIntake,
        frontier: Frontier,
        scope: Scope,
        takes_batches: Callable[[int], bool],
    ) -> None:
        """`takes_batches`: credit can be sent to the shard of this number."""
        self._credit = credit
        self._store = store
        self._buffer = buffer
        self._channel = channel
        self._links = links
        self._frontier = frontier
        self._scope = scope
        self._takes_batches = takes_batches

    async def pay_out(self) -> None:
        """Pay the links that gained most credit; queued pages among them may move up."""
        own, others = self._by_shard(self._credit.take_richest())
        positions = await self._store.queue_positions(list(own))
        # No await from here on: shares, ledger and batches belong to one commit.
        self._pay_own(own, positions)
        self._pay_others(others)

    def _by_shard(self, shares: Mapping[str, int]) -> tuple[dict[bytes, tuple[str, int]], dict[int, dict[str, int]]]:
        """Return shares of this shard by key, and those of others by shard and URL; the rest goes to Lambda."""
        own: dict[bytes, tuple[str, int]] = {}
        others: dict[int, dict[str, int]] = {}
        refused = 0
        shard_of: dict[str, int] = {}
        for link, amount in shares.items():
            url = canonical_of_href(link, self._scope.schemes)
            if url is None:
                refused += amount
                continue
            site = site_of(url)
            target = shard_of.get(site, -1)
            if target < 0:
                target = shard_of[site] = self._links.shard_of(site)
            if target == self._links.shard:
                key = key_of(url)
                _, before = own.get(key, ("", 0))
                own[key] = (url, before + amount)
            elif self._takes_batches(target) and self._scope.verdict(url, depth=1) is None:
                of_target = others.setdefault(target, {})
                of_target[url] = of_target.get(url, 0) + amount
            else:
                refused += amount
        self._credit.record_payments(kept=0, sent=0, refused=refused)
        return own, others

    def _pay_own(self, own: Mapping[bytes, tuple[str, int]], positions: Sequence[QueuePosition]) -> None:
        generation, kept = self._credit.generation, 0
        gained: dict[int, int] = {}
        for position in positions:
            url, amount = own[position.key]
            kept += amount
            gained[position.page_id] = amount
            self._buffer.batch.shares.append(CreditShare(position.page_id, amount, generation))
            self._promote(url, position, amount)
        self._frontier.add_credit(gained)
        found = {position.key for position in positions}
        missing = {key: share for key, share in own.items() if key not in found}
        waiting = {url: amount for key, (url, amount) in missing.items() if self._links.is_uncommitted(key)}
        self._credit.put_back(waiting)
        refused = sum(amount for _, amount in missing.values()) - sum(waiting.values())
        self._credit.record_payments(kept=kept, sent=0, refused=refused)
        self._buffer.touch()

    def _promote(self, url: str, position: QueuePosition, amount: int) -> None:
        priority = self._credit.better_priority(position, amount)
        if priority is None or position.seq is None:
            return
        # Pages that the settings move down stay below those with as much credit.
        priority += max(0, -self._scope.selection(url).priority)
        if priority >= position.priority:
            return
        if not self._frontier.is_unread(position.site_id, position.priority, position.seq):
            return
        move = Promotion(
            position.page_id, position.site_id, position.priority, position.seq, priority, self._links.next_seq()
        )
        self._frontier.move_page(move.page_id, move.seq)
        self._buffer.batch.promoted.append(move)

    def _pay_others(self, others: Mapping[int, Mapping[str, int]]) -> None:
        grants = self._credit.grants()
        for target in sorted(others.keys() | grants.keys()):
            shares = others.get(target, {})
            self._credit.record_payments(kept=0, sent=sum(shares.values()), refused=0)
            self._channel.send(target, pack_links((), shares=shares, grant=grants.get(target, 0)))
            self._buffer.touch()


# Records


def archive_answer(page: Page, decision: Decision, archive: Archive) -> Stored | None:
    """Write the exchange to the archive, as a revisit record if the bytes are archived already.
    Responses that are not kept are not written."""
    answer, original = decision.answer, decision.original
    if answer is None or answer.exchange is None or decision.outcome.reason in SELECTION_REASONS:
        return None
    match answer:
        case NotModified():
            return archive.append(page.url, answer.exchange, revisit=original, not_modified=True)
        case Fetched(truncated=truncated):
            sha1 = decision.content.sha1 if decision.content is not None else None
            if answer.rendering is not None and answer.rendering.is_rendered:
                is_same = decision.content is not None and decision.content.past.is_same
                rendered = None if is_same else RenderedRecord(answer.body, answer.rendering.screenshot)
                return archive.append(page.url, answer.exchange, rendered=rendered)
            same_bytes = original is not None and original.payload_sha1 == sha1
            return archive.append(
                page.url,
                answer.exchange,
                truncated=Truncation.WIRE if truncated is Truncation.WIRE else None,
                payload_sha1=sha1,
                revisit=original if same_bytes else None,
            )
        case Moved():
            return archive.append(page.url, answer.exchange)
        case Failed(fault=fault):
            return archive.append(page.url, answer.exchange, truncated=TRUNCATIONS.get(fault))
        case unknown:
            assert_never(unknown)


def version_of(page: Page, decision: Decision, stored: Stored) -> Version | None:
    """Return the new version that a visit found; None: there is none."""
    answer, content = decision.answer, decision.content
    if not isinstance(answer, Fetched) or content is None or not decision.outcome.is_new_version:
        return None
    document = content.document
    text = document.text if document is not None else ""
    content_type = header(answer.headers, "content-type")
    change = _settled_change(decision)
    return Version(
        number=page.version + 1,
        digest=content.digest,
        payload_sha1=content.sha1,
        text_digest=decision.text_digest or (text_digest(text) if document is not None else None),
        signature=decision.signature or (text_signature(text) if text else None),
        content_type=content_type[:MAX_CONTENT_TYPE_CHARS] if content_type else None,
        encoding=document.encoding if document is not None else None,
        title=document.title if document is not None else None,
        lang=document.lang if document is not None else None,
        body_bytes=len(answer.body),
        words=text.count(" ") + 1 if text else 0,
        etag=header(answer.headers, "etag"),
        last_modified=trusted_last_modified(answer.headers, seen_at=answer.exchange.began),
        file=stored.file,
        offset=stored.offset,
        length=stored.length,
        record_id=stored.record_id,
        truncated=answer.truncated,
        change_class=change.kind.value if change is not None else None,
        change_size=round(change.size, 4) if change is not None else None,
        text=_packed(page, content.past.text, text) if document is not None else None,
        analysis=json.dumps(decision.analysis, ensure_ascii=False) if decision.analysis else None,
    )


def _packed(page: Page, before: str | None, text: str) -> PackedText:
    return pack_text(text, page.version + 1, None if before is None else (page.version, before))


def visit_row(page: Page, decision: Decision, *, now: datetime, stored: Stored | None = None) -> CompletedVisit:
    """Return the row that a visit writes."""
    answer, content, outcome = decision.answer, decision.content, decision.outcome
    exchange = answer.exchange if answer is not None else None
    # Only an answer with the page's content may replace its validators.
    has_content = isinstance(answer, NotModified) or (isinstance(answer, Fetched) and content is not None)
    headers = answer.headers if has_content and answer is not None else ()
    at_us = to_us(exchange.began if exchange is not None else now)
    return CompletedVisit(
        page_id=page.id,
        site_id=page.site_id,
        priority=page.priority,
        seq=page.seq,
        at_us=at_us,
        outcome=outcome.outcome,
        reason=outcome.reason,
        detail=outcome.detail,
        status=status_of(answer),
        took_ms=int(exchange.took.total_seconds() * 1000) if exchange is not None else 0,
        wire_bytes=len(exchange.wire_body) if exchange is not None else 0,
        due_us=outcome.due_us,
        tries=outcome.tries,
        interval_s=outcome.interval_s,
        version=version_of(page, decision, stored) if stored is not None else None,
        etag=header(headers, "etag"),
        last_modified=trusted_last_modified(headers, seen_at=now),
        moved_to=answer.target if isinstance(answer, Moved) else None,
        duplicate_of=_duplicate_of(page, decision),
        digest=content.digest if content is not None else None,
        baseline=_baseline(content, stored, at_us=at_us) if content is not None and stored is not None else None,
        change=_settled_change(decision),
        rate_estimate=decision.rate_estimate,
        outline=_outline(content, is_new=outcome.is_new_version) if content is not None else None,
    )


def _settled_change(decision: Decision) -> Change | None:
    """Return the change that a visit found; None: there is none, or its verdict waits."""
    comparison = decision.content.comparison if decision.content is not None else None
    return None if comparison is None or decision.is_held else comparison.change


def _outline(content: Content, *, is_new: bool) -> bytes | None:
    """Return the links and headings of a page if they may have changed; edits of a template change links too."""
    if content.document is None or not (is_new or content.comparison is not None):
        return None
    return pack_outline(outline_of(content.document))


def _duplicate_of(page: Page, decision: Decision) -> int | None:
    """Return the page that this one duplicates: found now, or found earlier and unchanged since."""
    outcome, answer = decision.outcome.outcome, decision.answer
    if outcome is Outcome.DUPLICATE and answer is not None:
        return decision.duplicate_of
    was_judged = isinstance(answer, Fetched)
    return page.duplicate_of if outcome in STILL_DUPLICATE and not was_judged else None


def _baseline(content: Content, stored: Stored, *, at_us: int) -> Baseline | None:
    comparison = content.comparison
    if comparison is None or comparison.snapshot is None:
        return None
    place = (stored.record_id, stored.file, stored.offset, stored.length)
    return Baseline(content.digest, content.sha1, at_us, *place, comparison.snapshot, comparison.memory)
