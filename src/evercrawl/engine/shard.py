"""One shard at work: it takes turns from its frontier, starts visits, and commits what came of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from evercrawl.core.credit.ledger import CREDIT_KEY, ledger_bytes
from evercrawl.core.duplicates.url_seen import BloomChain
from evercrawl.core.faults import FAULT_RULES
from evercrawl.core.frontier import FetchRobots, FetchSide, Frontier, Idle, PagesNeeded, Visit, Wait
from evercrawl.core.politeness import HostQueue, SideRequest
from evercrawl.core.revisit.request_budget import BUDGET_KEY, RequestBudget
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.url import shard_of_site, site_of
from evercrawl.core.visit.link_batch import LinkBatchContents, pack_links
from evercrawl.core.visit.outcome import judge_failed
from evercrawl.engine.commits import CommitBuffer, LinkChannel
from evercrawl.engine.comparison import Comparisons
from evercrawl.engine.credit import ShardCredit
from evercrawl.engine.duplicates import MIRRORS_KEY, Duplicates
from evercrawl.engine.feeds import SitemapPoller
from evercrawl.engine.focus import FOCUS_KEY
from evercrawl.engine.interpret import scope_refusal, site_pause
from evercrawl.engine.links import LinkIntake
from evercrawl.engine.payout import pay_out
from evercrawl.engine.ports import Archive, ShardStore
from evercrawl.engine.probes import Probes
from evercrawl.engine.records import status_of, visited_of
from evercrawl.engine.revisits import DuePages, Revisits
from evercrawl.engine.robots import SideRequests, fetch_robots, fetch_side
from evercrawl.engine.runtime import RunStats, Runtime, TaskSet
from evercrawl.engine.site_state import CHANGE, FRESHNESS, MOST_OUTLOOKS, MOST_TEXTS, SIGNALS, SiteState, SiteStates
from evercrawl.engine.traps import Traps
from evercrawl.engine.visit import visit
from evercrawl.errors import EvercrawlError
from evercrawl.model.fetch import Failed, Fault, FetchResult
from evercrawl.model.page import Batch, Candidate, CompletedVisit, LinkBatch, Page, Refusal, ShardState
from evercrawl.model.reason import Reason
from evercrawl.model.site import Site
from evercrawl.model.time import DAY_US, from_us, span_us, to_us

log = logging.getLogger("evercrawl")

STARVED_COMMIT = timedelta(milliseconds=30)
"""Least time between two commits that are made early because the queue has run dry."""
HELPFUL_COMMIT = timedelta(milliseconds=250)
"""The same while some site waits for its gap and others may have found new pages."""

SAVE_MEMORIES_EVERY = timedelta(minutes=1)
"""What was learned about sites is written with the first commit after this time; a crash costs no more."""

NAMED_CLOSURES = frozenset((Reason.SITE_PAUSED, Reason.DNS, Reason.TLS))
"""Why a site is closed, where that says more than that it is down."""

Work = Visit | FetchRobots | FetchSide


class Shard:
    """Everything of one shard that lives in memory while this process owns it."""

    def __init__(
        self,
        *,
        store: ShardStore,
        facts: ShardState,
        archive: Archive,
        frontier: Frontier,
        intake: LinkIntake,
        traps: Traps,
        around: Runtime,
        tally: RunStats,
        errands: SideRequests,
        shards: int,
        slots: asyncio.Semaphore,
        may_start: Callable[[], bool],
        deliver: Callable[[LinkBatch], None],
        is_delivered: Callable[[int, int, int], None],
        became_quiet: Callable[[], None],
        restart_gap: timedelta,
        purse: RequestBudget,
        blocked_until_us: Callable[[], int | None],
        gate_of: Callable[[Site], RobotsRules | None],
        forever: bool,
        credits: ShardCredit,
        twins: Duplicates,
        takes_parcels: Callable[[int], bool],
        contents: BloomChain | None,
    ) -> None:
        self.number = facts.shard
        self.store = store
        self.archive = archive
        self.frontier = frontier
        self.intake = intake
        self.traps = traps
        self.made_up = Probes(self)
        self.around = around
        self.tally = tally
        self.errands = errands
        pages = around.settings.store.commit_pages
        self.credits = credits
        self.twins = twins
        self.takes_parcels = takes_parcels
        """Credit can be sent to the shard of this number."""
        self.ledger = CommitBuffer(
            store, archive, epoch=facts.epoch, pages=pages, closing=self._close_batch, contents=contents
        )
        self.mailbox = LinkChannel(facts, store, self.ledger, open_parcel=self._open)
        self.due = DuePages(self)
        memories = SiteStates(store, CHANGE, most=MOST_TEXTS // shards)
        self.comparisons = Comparisons(store, archive, memories, settings=around.settings, agent=around.agent)
        outlooks = SiteStates(store, FRESHNESS, most=max(1, MOST_OUTLOOKS // shards))
        self.revisits = Revisits(outlooks, purse, around.settings.revisit, self._weight)
        self.gate_of = gate_of
        states = SiteStates(store, SIGNALS, most=max(1, MOST_OUTLOOKS // shards))
        self.signals = SitemapPoller(self, states, forever=forever)
        self._memories_saved_us = 0
        self.keeps_purse = False
        """This shard stores for all what is left of the budget, and which sites are copies."""
        self.wake = asyncio.Event()
        self._epoch = facts.epoch
        self._shards = shards
        self._slots = slots
        self._may_start = may_start
        self._blocked_until_us = blocked_until_us
        self._deliver = deliver
        self._is_delivered = is_delivered
        self._became_quiet = became_quiet
        self._crashed_at_us = self._now_us() if facts.crashed else None
        self._restart_gap_us = span_us(restart_gap)
        self._broken: EvercrawlError | None = None
        self._tasks = TaskSet()
        self._last_commit_us = 0
        self.quiet_until_us: int | None = 0
        """When this shard has something to do next; None: nothing is left. Only meaningful while
        `is_quiet`.
        """
        self._rests = False

    @property
    def is_quiet(self) -> bool:
        """Nothing is under way, nothing is unsaved, and nobody has called since."""
        return self._rests and not self.wake.is_set()

    # The loop

    async def run(self) -> None:
        """Take turns until cancelled; an error of the store or the archive ends it."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._commit_regularly())
            group.create_task(self._take_turns())

    async def _take_turns(self) -> None:
        while self._broken is None:
            await self._step()
        raise self._broken

    async def _step(self) -> None:
        # Who calls from here on, also while we wait for a slot, is heard before the next rest.
        self._rests = False
        self.wake.clear()
        self.signals.start_due(self._now_us())
        await self.due.requeue(self._now_us())
        await self._read_needed()
        await self._slots.acquire()
        if self.around.focus is not None:
            await self._catch_up()
        turn = self.frontier.turn(now_us=self._now_us()) if self._may_start() else Idle()
        if isinstance(turn, (Wait, Idle)):
            self._slots.release()
            if not self._probe(turn) and not await self._look_ahead(turn):
                await self._rest(turn)
        else:
            self._start(turn)

    async def _catch_up(self) -> None:
        """The best page may be among those that were found while we waited for a slot."""
        if self.ledger.batch.new_pages:
            await self.commit()
        await self._read_needed()

    async def _read_needed(self) -> None:
        while (need := self.frontier.needs(now_us=self._now_us())) is not None:
            if isinstance(need, PagesNeeded):
                await self._read_pages(need)
            else:
                sites = await self.store.waiting_sites(need.band, need.after_id, need.most)
                self.frontier.offer(need, [self._after_crash(site) for site in sites], now_us=self._now_us())

    async def _read_pages(self, need: PagesNeeded) -> None:
        site = self.frontier.queues[need.site_id].site
        notes = await self.traps.load(need.site_id, pages=self.intake.pages_of(site))
        pages = await self.store.queue(need.site_id, need.band, need.after_seq, need.most)
        if not self.frontier.still_needs(need):
            return
        refused = self._refuse_unwanted(pages, notes, site)
        self.frontier.fill(need, pages, refused=refused)

    def _refuse_unwanted(self, pages: list[Page], notes: SiteState[TrapState] | None, site: Site) -> frozenset[int]:
        """Decide pages that the scope does not want (any more), or that lie behind a fence, before their site
        is asked for anything.
        """
        now = self.around.clock.now()
        refused: set[int] = set()
        for page in pages:
            judgement = scope_refusal(page, self.around.scope, now=now)
            judgement = judgement or self.traps.on_turn(page, notes, now=now)
            if judgement is None and site.requests == 0:
                judgement = self.traps.on_first_turn(page, site, now=now)
            if judgement is not None:
                self.write_visited(page, visited_of(page, judgement, now=now))
                self.ledger.count_answer(page.site_id)
                refused.add(page.id)
        return frozenset(refused)

    def _start(self, turn: Work) -> None:
        self.tally.last_site = turn.queue.site.name
        self.tally.most_parallel = max(self.tally.most_parallel, turn.queue.in_flight)
        if isinstance(turn, Visit):
            self.tally.visits += 1
        self.revisits.purse.spend(self._now_us() / DAY_US)
        task = asyncio.create_task(self._carry_out(turn))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._slots.release()
        self.wake.set()

    async def _carry_out(self, turn: Work) -> None:
        in_flight = turn.queue.in_flight
        try:
            match turn:
                case Visit():
                    await visit(turn, self)
                case FetchRobots():
                    await fetch_robots(turn, self)
                case FetchSide():
                    await fetch_side(turn, self)
        except asyncio.CancelledError:
            # The request may have gone out: the site's gap counts from now, although nothing came of it.
            if turn.queue.in_flight >= in_flight:
                self.answered(turn.queue, _nothing_came(turn, "cancelled"), now_us=self._now_us())
            raise
        except EvercrawlError as error:
            self._broken = error
        except Exception as defect:
            self._write_defect(turn, defect, in_flight)

    def _write_defect(self, turn: Work, defect: Exception, in_flight: int) -> None:
        """A defect of ours costs one page, not the crawl; the page is tried again later and says why."""
        log.exception("defect while visiting %r", turn)
        failed = _nothing_came(turn, f"{type(defect).__name__}: {defect}")
        if isinstance(turn, Visit):
            now = self.around.clock.now()
            judgement = judge_failed(turn.page, failed, asked=None, now=now)
            self.write_visited(turn.page, visited_of(turn.page, judgement, now=now))
        if turn.queue.in_flight >= in_flight:
            self.answered(turn.queue, failed, now_us=self._now_us())
        if isinstance(turn, FetchSide):
            self.errands.done(turn.side_request, failed)
        elif isinstance(turn, FetchRobots):
            turn.queue.fetching_robots = False

    async def _rest(self, turn: Wait | Idle) -> None:
        """Nothing can start now: commit if that may bring work, else wait for a wake-up or the next
        moment.
        """
        commit_us = self._early_commit_us(turn)
        if commit_us is not None and commit_us <= self._now_us():
            await self.commit()
            return
        moments = [turn.until_us] if isinstance(turn, Wait) else []
        moments += [
            moment
            for moment in (self.due.next_us, commit_us, self.due.next_look_us(self._now_us()), self.signals.next_us())
            if moment is not None
        ]
        blocked_us = self._blocked_until_us()
        if blocked_us is not None:
            # What could start earlier may not; what has to be saved is saved all the same.
            moments = [max(moment, blocked_us) for moment in moments if moment != commit_us] or [blocked_us]
            moments += [commit_us] if commit_us is not None else []
        self.quiet_until_us = min(moments, default=None)
        # A poll that waits for its site to open is no work; one that reads an answer is.
        is_reading = (self.signals.is_busy or self.made_up.is_busy) and isinstance(turn, Idle)
        self._rests = not self._tasks and not is_reading and self.ledger.batch.is_empty()
        if self.is_quiet:
            self._became_quiet()
        await self._wait_for_wake()

    def _early_commit_us(self, turn: Wait | Idle) -> int | None:
        """When a commit before its time may bring work; None: it would not."""
        batch = self.ledger.batch
        if isinstance(turn, Idle) and not batch.is_empty() and not self.frontier.is_saturated():
            return self._last_commit_us + span_us(STARVED_COMMIT)
        if batch.new_pages or batch.requeued:
            return self._last_commit_us + span_us(HELPFUL_COMMIT)
        return None

    async def _wait_for_wake(self) -> None:
        if self.quiet_until_us is None:
            await self.wake.wait()
            return
        delay = from_us(self.quiet_until_us) - self.around.clock.now()
        try:
            async with asyncio.timeout(max(0.0, delay.total_seconds())):
                await self.wake.wait()
        except TimeoutError:
            pass

    def _now_us(self) -> int:
        return to_us(self.around.clock.now())

    async def _look_ahead(self, turn: Wait | Idle) -> bool:
        """Spend what is left over on what is due next; True: something was queued."""
        return isinstance(turn, Idle) and self._may_start() and await self.due.look_ahead(self._now_us())

    def _probe(self, turn: Wait | Idle) -> bool:
        """Look for sitemaps where nothing else is to be asked; True: there is something to do again."""
        return isinstance(turn, Idle) and not self._tasks and self._may_start() and self.signals.probe()

    # What visits write

    def write_visited(self, page: Page, visited: CompletedVisit) -> None:
        """A visit is decided; it is acknowledged by the next commit."""
        self.ledger.write_visited(page, visited)
        self.tally.visited(page, visited)
        if visited.due_us is not None:
            self.due.note(visited.due_us)

    def break_off(self, error: BaseException) -> None:
        """Something beside the visits has failed."""
        if isinstance(error, EvercrawlError):
            self._broken = error
        else:
            log.error("defect while asking beside the visits", exc_info=error)

    def skipped(self, queue: HostQueue) -> None:
        """A page was decided without asking its site."""
        self.frontier.skipped(queue)
        self.ledger.count_answer(queue.site.id)

    def answered(self, queue: HostQueue, result: FetchResult, *, now_us: int) -> None:
        """A request has ended: pace, pauses and totals of its site."""
        self.tally.requested(result)
        exchange = result.exchange
        failed = isinstance(result, Failed) and FAULT_RULES[result.fault].blames_site
        took = result.took if isinstance(result, Failed) else result.exchange.took
        wire_bytes = len(exchange.wire_body) + len(exchange.response_head) if exchange is not None else 0
        pause = site_pause(result, failures=queue.site.failures + 1, now=from_us(now_us))
        if pause is not None:
            reason = _closed_reason(result, queue.site.failures + 1)
            self.frontier.close_site(queue, until_us=now_us + span_us(pause), reason=reason)
            self.ledger.hurry()
        self.frontier.answered(queue, now_us=now_us, took=took, failed=failed, wire_bytes=wire_bytes)
        self.ledger.count_answer(queue.site.id)
        self.note_site(queue)

    def note_site(self, queue: HostQueue) -> None:
        """The site's row goes into the next commit."""
        self.ledger.note_site(queue.site)
        self.intake.remember(queue.site)

    def learned_robots(self, queue: HostQueue, gate: RobotsRules) -> None:
        """The site's rules are known now."""
        self.frontier.learned_robots(queue, gate, now_us=self._now_us())
        self.signals.met(queue)
        self.ledger.hurry()

    # Links

    def sort_out(self, candidates: Iterable[Candidate]) -> tuple[list[Candidate], dict[int, list[Candidate]]]:
        """Candidates of this shard, and those of others by shard."""
        own: list[Candidate] = []
        others: dict[int, list[Candidate]] = {}
        for candidate in candidates:
            shard = shard_of_site(site_of(candidate.url), self._shards)
            (own if shard == self.number else others.setdefault(shard, [])).append(candidate)
        return own, others

    def pass_on(
        self, placed: list[tuple[Candidate, Site]], others: dict[int, list[Candidate]], refusals: list[Refusal]
    ) -> None:
        """Enter own links, pack those for other shards, note refusals; all with the next commit."""
        batch = self.ledger.batch
        found_before = len(batch.new_pages)
        refusals = refusals + self.intake.enter(placed, batch)
        self.tally.found += len(batch.new_pages) - found_before
        batch.refusals.extend(refusals)
        self.tally.refused.update(refusal.reason for refusal in refusals)
        for target, candidates in others.items():
            self.mailbox.send(target, pack_links(candidates))
        self.ledger.touch()

    def send_credit(self, target: int, *, shares: Mapping[str, int], gift: int) -> None:
        """Credit for known pages of another shard, and for its Lambda."""
        self.mailbox.send(target, pack_links((), shares=shares, gift=gift))
        self.ledger.touch()

    async def take_in(self, parcel: LinkBatch) -> None:
        """Take in links and credit from another shard."""
        await self.mailbox.take_in(parcel)
        self.wake.set()

    async def _open(self, contents: LinkBatchContents) -> None:
        fresh = await self.intake.unknown(contents.candidates)
        placed = await self.intake.place(fresh)
        self.credits.received(contents.credit, gift=contents.gift, shares=contents.shares)
        self.credits.known(contents.candidates, fresh)
        self.pass_on(placed, {}, [])

    async def offer(self, candidates: list[Candidate]) -> None:
        """Take in links or seeds that belong to this shard."""
        placed = await self.intake.place(await self.intake.unknown(candidates))
        self.pass_on(placed, {}, [])
        self.wake.set()

    def refuse(self, refusals: list[Refusal]) -> None:
        """Note refusals that no visit found, such as seeds."""
        self.pass_on([], {}, refusals)

    def delivered(self, seq: int) -> None:
        """One of our parcels is stored by its target."""
        self.ledger.batch.delivered.append(seq)
        self.ledger.touch()

    async def add_side_request(self, errand: SideRequest) -> None:
        """A request to one of our sites on behalf of another."""
        site = await self.intake.site_for(site_of(errand.url))
        self.frontier.add_side_request(self.frontier.open_queue(self._after_crash(site)), errand)
        self.wake.set()

    # Commits

    async def _commit_regularly(self) -> None:
        while True:
            await self.ledger.until_due(self.around.settings.store.commit_interval)
            await self.commit()

    async def commit(self) -> None:
        """Acknowledge everything so far, and tell the frontier and other shards of it."""
        if self._now_us() - self._memories_saved_us >= span_us(SAVE_MEMORIES_EVERY):
            self._save_memories()
        if self.credits.is_round_over(shards=self._shards):
            await pay_out(self, shards=self._shards)
        committed = await self.ledger.commit()
        if committed is None:
            return
        now_us = self._last_commit_us = self._now_us()
        self.intake.committed(committed.batch)
        self.twins.committed()
        self.frontier.committed(committed.answers, now_us=now_us)
        await self._announce(committed.batch, now_us)
        self.wake.set()

    def _save_memories(self) -> None:
        """What was learned about sites goes into the next commit."""
        self._memories_saved_us = self._now_us()
        self.twins.save()
        self.ledger.batch.memories |= self.comparisons.memories.unsaved()
        self.ledger.batch.memories |= self.revisits.outlooks.unsaved()
        self.ledger.batch.memories |= self.signals.states.unsaved()
        self.ledger.batch.memories |= self.traps.yields.unsaved() | self.traps.hosts.unsaved()
        if self.keeps_purse and not self.twins.mirrors.is_saved:
            self.ledger.batch.memories[MIRRORS_KEY] = self.twins.mirrors.to_bytes()
        if self.keeps_purse:
            self.ledger.batch.memories[BUDGET_KEY] = self.revisits.purse.to_bytes()
            if self.around.focus is not None:
                self.ledger.batch.memories[FOCUS_KEY] = self.around.focus.to_bytes()

    def _close_batch(self, batch: Batch) -> None:
        """What must be exactly as of the batch that it is written with."""
        batch.memories[CREDIT_KEY] = ledger_bytes(self.credits.to_store())
        self.frontier.moved()

    def _weight(self, page: Page) -> float:
        """What a current copy of a page counts."""
        return self.credits.weight(page) * self.twins.weight(page)

    async def _announce(self, batch: Batch, now_us: int) -> None:
        """Tell the frontier of new work, and other shards of parcels."""
        bands: dict[int, set[int]] = {}
        for page in batch.new_pages:
            bands.setdefault(page.site_id, set()).add(page.band)
        for requeued in batch.requeued:
            bands.setdefault(requeued.site_id, set()).add(requeued.band)
        for promoted in batch.promoted:
            bands.setdefault(promoted.site_id, set()).add(promoted.band)
        for site_id, site_bands in bands.items():
            site = await self.intake.site_numbered(site_id)
            if site is not None:
                self.frontier.added(self._after_crash(site), site_bands, now_us=now_us)
        for parcel in batch.sent:
            self._deliver(parcel)
        for source, seq in batch.taken.items():
            self._is_delivered(source, self.number, seq)

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return len(self._tasks)

    # Ends

    def retire(self) -> None:
        """Begin nothing new: the shard is about to be let go."""
        self._may_start = _never

    async def finish(self, within: timedelta) -> None:
        """Wait for visits under way, but not for ever; what is cut off stays in the queue."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within.total_seconds())
        self.cancel_visits()
        await asyncio.gather(*self._tasks, *self.signals.polls, *self.made_up.tasks, return_exceptions=True)
        self._save_memories()
        await pay_out(self, shards=self._shards)
        await self.commit()

    async def abandon(self) -> None:
        """Nothing is under way at a site any more, and nothing is saved."""
        self.cancel_visits()
        await asyncio.gather(*self._tasks, *self.signals.polls, *self.made_up.tasks, return_exceptions=True)

    def cancel_visits(self) -> None:
        """Break off every visit under way."""
        for task in [*self._tasks, *self.signals.polls, *self.made_up.tasks]:
            task.cancel()

    async def close(self, *, cleanly: bool) -> None:
        """Let go of the shard."""
        self.archive.close()
        self.twins.close()
        if cleanly and not self._waits_for_a_crash():
            await self.store.release(self._epoch)
        await self.store.close()

    def _waits_for_a_crash(self) -> bool:
        """Some site may still have its gap from before we took over, of which only we know: whoever comes
        next has to wait as we did.
        """
        if self._crashed_at_us is None:
            return False
        settings = self.around.settings
        longest = max(settings.pace.max_delay, settings.robots.max_crawl_delay)
        return self._now_us() < self._crashed_at_us + max(span_us(longest), self._restart_gap_us)

    def _after_crash(self, site: Site) -> Site:
        """Nobody knows what was asked in the last moments before a crash: every site gets its whole gap
        from the restart on.
        """
        if self._crashed_at_us is None:
            return site
        gap_us = max(self._restart_gap_us, site.gap_ms * 1000)
        return site._replace(open_us=max(site.open_us, self._crashed_at_us + gap_us))


def _never() -> bool:
    return False


def _nothing_came(turn: Work, detail: str) -> Failed:
    url = turn.page.url if isinstance(turn, Visit) else turn.queue.site.name
    return Failed(url, Fault.INTERNAL, detail, timedelta(0))


def _closed_reason(result: FetchResult, failures: int) -> str:
    if not isinstance(result, Failed):
        return ""
    reason = FAULT_RULES[result.fault].reason
    status = status_of(result)
    words = f"status {status}" if status is not None else result.detail
    if result.fault is Fault.DENIED:
        reason = Reason.SITE_PAUSED
    named = reason if reason in NAMED_CLOSURES else Reason.SITE_DOWN
    times = "for the first time" if failures == 1 else f"{failures} times in a row"
    return f"{named}: {words}, {times}"
