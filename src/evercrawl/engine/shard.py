"""One shard at work: it takes turns from its frontier, starts visits, and commits what they decide."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from random import Random

from evercrawl.core.change.held_changes import HOLD_SECONDS, settle_held
from evercrawl.core.credit.ledger import CREDIT_KEY, ledger_bytes
from evercrawl.core.credit.shard_credit import PAPER_WINDOW, ShardCredit
from evercrawl.core.duplicates.repeats import MIRRORS_KEY
from evercrawl.core.frontier import (
    FIRST_COME,
    FetchRobots,
    FetchSide,
    Frontier,
    Idle,
    PageChoice,
    PageLevels,
    PagesNeeded,
    Visit,
    Wait,
)
from evercrawl.core.politeness import SideRequest, reopened
from evercrawl.core.render_choice import Evidence, RenderChoice
from evercrawl.core.revisit.request_budget import BUDGET_KEY
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.core.url import site_of
from evercrawl.core.visit.links import FoundLinks, LinkBatchContents
from evercrawl.core.visit.outcome import judge_failed
from evercrawl.engine.apply import CreditPayout, VisitWriter, visit_row
from evercrawl.engine.assets import CompletePages, StoredAssets, closed_answer, is_closed_for_assets
from evercrawl.engine.commits import CommitBuffer, LinkChannel
from evercrawl.engine.decision import Decision, PageKnowledge, Related
from evercrawl.engine.duplicates import Duplicates
from evercrawl.engine.feeds import SitemapPoller
from evercrawl.engine.gather import ContentReader, ShardKnowledge, VisitReader
from evercrawl.engine.links import LinkIntake, judge_new_links
from evercrawl.engine.page_order import PageOrder
from evercrawl.engine.page_rendering import RENDERING, PageRendering, not_rendered, read_embedded
from evercrawl.engine.probes import Probes
from evercrawl.engine.revisits import URGENT_PRIORITY, DuePages, Revisits
from evercrawl.engine.robots import SiteAccess, SiteRequests
from evercrawl.engine.runtime import FOCUS_KEY, BackgroundTasks, Runtime, TaskSet
from evercrawl.engine.shared import ShardHost, ShardPorts, SharedState
from evercrawl.engine.site_state import CHANGE, FRESHNESS, MAX_OUTLOOKS, MAX_TEXTS, SITEMAPS, SiteStates
from evercrawl.engine.traps import RULES_KEY, Traps, apply_rules, requeue_reopened
from evercrawl.engine.visit import visit
from evercrawl.errors import EvercrawlError
from evercrawl.model.fetch import Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.page import Batch, Candidate, LinkBatch, NewPage, Page, Promotion, Refusal, Requeue, ShardState
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import Site
from evercrawl.model.time import DAY_US, from_us, span_us, to_us

log = logging.getLogger("evercrawl")

IDLE_COMMIT_GAP = timedelta(milliseconds=30)
"""Minimum time between early commits while the queue is empty."""
WAITING_COMMIT_GAP = timedelta(milliseconds=250)
"""Minimum time between early commits while sites wait for their delays and new pages may help."""
SETTLE_INTERVAL_S = 10.0
"""How often held changes are checked, while there are some."""
FIRST_COMMIT_VISITS = 4
"""The first commits of a run come after this many visits, later ones after half as many as there were before."""
SAVE_STATES_EVERY = timedelta(minutes=1)
"""The state of sites is saved with the first commit after this time; a crash loses no more than that."""
Work = Visit | FetchRobots | FetchSide


LIFT = 4.0  # How many times the credit of a page counts for each level of priority in the settings of its site.


class Shard:
    """Everything of one shard that is in memory while this process owns it."""

    def __init__(
        self,
        facts: ShardState,
        ports: ShardPorts,
        runtime: Runtime,
        shared: SharedState,
        host: ShardHost,
        *,
        credit_state: bytes | None,
    ) -> None:
        self.number = facts.shard
        self.store = ports.store
        self.clock = runtime.clock
        self.policy = runtime.policy
        self.stats = shared.stats
        self.wake = asyncio.Event()
        self.saves_shared_state = False
        """This shard stores what belongs to no shard: the budget, mirrors and the focus."""
        self.quiet_until_us: int | None = 0
        """When this shard has something to do next; None: never. It is meaningful only while `is_quiet`."""
        self.opens_us: int | None = None
        """The same for pages that wait for their site to open, or for the end of quiet hours."""
        self._paused_due: list[int] = []
        """When pages are due whose sites asked us to wait; a heap."""
        self._ports, self._runtime, self._shared, self._host = ports, runtime, shared, host
        self._epoch = facts.epoch
        self._crashed_at_us = self._now_us() if facts.crashed else None
        self._broken: EvercrawlError | None = None
        self._tasks = TaskSet()
        self._without_slot: set[asyncio.Task[None]] = set()
        """Visits whose page is being rendered."""
        self._rendered_ids: set[int] = set()
        """The same, as numbers of pages; they stay until the visit has ended."""
        self._last_commit_us = self._states_saved_us = self._committed_visits = 0
        self._commits = 0  # Commits that are under way, which may bring work.
        self._awaits_commit = False  # The shard rests until one of them has ended.
        self._has_held = asyncio.Event()
        self._is_resting = self._is_retired = False
        self._build_queue(facts, credit_state)
        self._build_knowledge()
        self._build_visits()
        self._build_writers()

    def _build_queue(self, facts: ShardState, credit_state: bytes | None) -> None:
        """Build what decides which page is next."""
        settings, shared, focus = self.policy.settings, self._shared, self._runtime.focus
        random = Random(f"{shared.seed}/{facts.shard}/{facts.epoch}")
        self.buffer = CommitBuffer(
            self.store,
            self._ports.archive,
            epoch=facts.epoch,
            pages=settings.store.commit_pages,
            on_close=self._close_batch,
            contents=shared.contents if not facts.pages else None,
        )
        self.credit = ShardCredit(
            credit_state,
            pages=facts.pages,
            settings=settings.credit,
            priorities=PageLevels(settings.frontier.priorities).main,
            seeds=len(settings.scope.seeds),
            pages_elsewhere=partial(self._host.pages_elsewhere, self.number),
            generations=shared.generations,
            shards=shared.shards,
        )
        window, choice = self._page_choice(random)
        self.frontier = Frontier(
            pace=shared.pace,
            priorities=settings.frontier.priorities,
            window=window,
            back_queues=1,
            random=random,
            robots_of=self.robots_of,
            choice=choice,
        )
        self.traps = Traps(self.store, self.policy.traps, shards=shared.shards)
        levels = PageLevels(settings.frontier.priorities)
        self.order = PageOrder(self.store, self.credit, shared.seen, levels=levels, shards=shared.shards)
        self.links = LinkIntake(
            self.store,
            facts,
            shards=shared.shards,
            seen=shared.seen,
            order=self.order,
            traps=self.traps,
            robots_of=self.robots_of,
            focus=focus,
        )
        self.channel = LinkChannel(facts, self.store, self.buffer, receive=self._receive_contents)

    def _page_choice(self, random: Random) -> tuple[int, PageChoice]:
        """Return how many pages of a site are in memory, and which of them is next."""
        focus, credit, window = self._runtime.focus, self.credit, self.policy.settings.frontier.window
        if focus is not None:
            return focus.window, PageChoice(value_of=lambda page: focus.value_of(page.url))
        if credit.is_exact:
            richest = partial(credit.exact_value, tie_seed=random.getrandbits(32))
            return PAPER_WINDOW, PageChoice(value_of=richest, one_at_a_time=True)
        choice = PageChoice(ranks_of=credit.balances_of) if credit.orders_queue else FIRST_COME
        return window, self._with_site_priorities(choice) if self.policy.scope.has_priorities else choice

    def _with_site_priorities(self, choice: PageChoice) -> PageChoice:
        """Return the choice with the priorities that the settings give to sites and URL patterns."""
        selection, credit = self.policy.scope.selection, self.credit
        if choice.ranks_of is not None:
            choice = choice._replace(
                ranks_of=lambda pages: [
                    credit.balance_of(page) * LIFT ** selection(page.url).priority for page in pages
                ]
            )
        return choice._replace(lift_of=lambda site: selection(f"{site}/").priority)

    def _build_knowledge(self) -> None:
        """Build what the shard learns, and the schedule that follows from it."""
        store, shared, policy = self.store, self._shared, self.policy
        near, mirrors, page_at = self._ports.near, shared.mirrors, self._host.page_at
        duplicates = Duplicates(store, near, settings=policy.settings.duplicates, mirrors=mirrors, page_at=page_at)
        most = max(1, MAX_OUTLOOKS // shared.shards)
        credit, outlooks = self.credit, SiteStates(store, FRESHNESS, most=most)
        revisits = Revisits(
            outlooks,
            shared.budget,
            policy,
            lambda page: credit.weight(page) * duplicates.weight(page) * policy.scope.weight(page.url),
        )
        change = SiteStates(store, CHANGE, most=MAX_TEXTS // shared.shards)
        sitemaps = SiteStates(store, SITEMAPS, most=most)
        rendering = SiteStates(store, RENDERING, most=most)
        self.knowledge = ShardKnowledge(
            change, sitemaps, revisits, self.traps, duplicates, credit, self.order, rendering
        )
        next_seq, commit = self.links.next_seq, self.commit
        self.due = DuePages(store, revisits, self.buffer, next_seq=next_seq, commit=commit, settings=policy.settings)

    def _build_visits(self) -> None:
        """Build what sends requests, and reads and writes visits."""
        runtime, archive, knowledge = self._runtime, self._ports.archive, self.knowledge
        access = SiteAccess(self._shared.side_requests.run, self.robots_of)
        self._followups = BackgroundTasks(self.wake.set, self._fail)
        self._probes = Probes(
            self.traps,
            self.policy,
            access=access,
            known_keys=self.links.known,
            enqueue=self._enqueue,
            commit=self.commit,
            tasks=BackgroundTasks(self.wake.set, self._fail),
        )
        self.sitemaps = SitemapPoller(
            self.store,
            knowledge,
            self.due,
            runtime=runtime,
            access=access,
            site_numbered=self.links.site_numbered,
            enter_links=self._enter_links,
            tasks=BackgroundTasks(self.wake.set, self._fail),
        )
        self._assets = StoredAssets(self.store, archive, self.buffer, settings=self.policy.settings)
        self.completion = CompletePages(
            self.store,
            archive,
            self.buffer,
            fetch=access.fetch,
            scope=self.policy.scope,
            settings=self.policy.settings,
            tasks=BackgroundTasks(self.wake.set, self._fail),
        )
        self._requests = SiteRequests(
            self.frontier,
            self.buffer,
            self._assets,
            runtime=runtime,
            side_requests=self._shared.side_requests,
            stats=self.stats,
            remember=self.links.remember,
            on_robots=self._apply_robots,
        )
        self._rendering = PageRendering(
            self._shared.renderer, knowledge.rendering, clock=self.clock, policy=self.policy
        )
        contents = ContentReader(
            self.store, archive, knowledge.change, original_of=self.buffer.original_of, policy=self.policy
        )
        self._reader = VisitReader(
            self.store, contents, knowledge, links=self.links, probes=self._probes, runtime=runtime
        )

    def _build_writers(self) -> None:
        """Build what writes into the next commit."""
        self._writer = VisitWriter(
            self._assets,
            self.buffer,
            self.channel,
            links=self.links,
            credit=self.credit,
            knowledge=self.knowledge,
            stats=self.stats,
            focus=self._runtime.focus,
        )
        self._payout = CreditPayout(
            self.credit,
            self.store,
            self.buffer,
            self.channel,
            links=self.links,
            frontier=self.frontier,
            scope=self.policy.scope,
            takes_batches=self._host.takes_batches,
        )

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is in flight or unsaved, and no wake-up is pending."""
        return self._is_resting and not self.wake.is_set()

    @property
    def is_completing(self) -> bool:
        """Whether assets of visited pages are missing."""
        is_visiting = bool(self._tasks) or not self.buffer.batch.is_empty()
        return self.completion.is_busy or (self.policy.settings.assets.enabled and is_visiting)

    @property
    def in_flight(self) -> int:
        """The number of requests in flight."""
        return len(self._tasks)

    def robots_of(self, site: Site) -> RobotsRules | None:
        """Return the rules of a site; None: its robots.txt was not read yet."""
        queue = self.frontier.queues.get(site.id)
        if queue is not None and queue.robots is not None:
            return queue.robots
        return self._shared.robots.of(site)

    # The loop

    async def run(self) -> None:
        """Take turns until cancelled; an error of the store or the archive ends it."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._commit_regularly())
            group.create_task(self._settle_regularly())
            group.create_task(self._take_turns())

    async def _take_turns(self) -> None:
        while self._broken is None:
            await self._step()
        raise self._broken

    async def _step(self) -> None:
        # A wake-up from here on, also while we wait for a slot, counts before the next rest.
        self._is_resting = False
        self.wake.clear()
        now_us = self._now_us()
        self.sitemaps.start_due(now_us)
        await self.completion.start_due()
        await self.due.requeue(now_us)
        await self._read_needed()
        await self._shared.slots.acquire()
        if self._runtime.focus is not None or self.credit.is_exact or self._should_commit_early():
            await self._catch_up()
        turn = self._next_turn()
        if isinstance(turn, (Wait, Idle)):
            self._shared.slots.release()
            if not await self._look_ahead(turn):
                await self._rest(turn)
        else:
            self._start(turn)

    def _next_turn(self) -> Work | Wait | Idle:
        frontier, now_us = self.frontier, self._now_us()
        if not self._may_start():
            return frontier.part_turn(now_us=now_us)
        return frontier.asset_turn(now_us=now_us) if self._host.has_enough_pages() else frontier.turn(now_us=now_us)

    def _should_commit_early(self) -> bool:
        """Return whether to commit new pages before the regular time: at first they are a large part of the queue."""
        visited = len(self.buffer.batch.visited)
        return visited >= max(FIRST_COMMIT_VISITS, self._committed_visits // 2) and self.credit.orders_queue

    async def _catch_up(self) -> None:
        """Commit and read new pages: the best one may have been found while we waited for a slot."""
        if self.buffer.batch.new_pages:
            await self.commit()
        await self._read_needed()

    async def _read_needed(self) -> None:
        while (need := self.frontier.needs(now_us=self._now_us())) is not None:
            if isinstance(need, PagesNeeded):
                await self._read_pages(need)
            else:
                sites = await self.store.waiting_sites(need.priority, need.after_id, need.most)
                self.frontier.offer(need, [self._as_opened(site) for site in sites], now_us=self._now_us())

    async def _read_pages(self, need: PagesNeeded) -> None:
        site = self.frontier.queues[need.site_id].site
        traps = await self._reader.trap_state(site)
        pages = await self.store.queue(need.site_id, need.priority, need.after_seq, need.most)
        if not self.frontier.still_needs(need):
            return
        await self.order.yields.of(site.id)
        now = self.clock.now()
        refused = self._reader.refuse_queued(pages, site, traps, now=now)
        for page, refusal in refused:
            self._write_visit(page, refusal, now=now)
            self.buffer.count_answer(page.site_id)
        left_out = {page.id for page, _ in refused}
        for page, priority in self.order.demotions([page for page in pages if page.id not in left_out]):
            self._demote(page, priority)
            left_out.add(page.id)
        self.frontier.fill(need, pages, refused=frozenset(left_out))

    def _demote(self, page: Page, priority: int) -> None:
        """Queue a page behind others of its site: it is only a view of one, or its kind yields little."""
        move = Promotion(page.id, page.site_id, page.priority, page.seq, priority, self.links.next_seq())
        self.buffer.batch.promoted.append(move)
        self.buffer.count_answer(page.site_id)
        self.buffer.touch()

    def _may_start(self) -> bool:
        return not self._is_retired and self._host.may_start()

    def _start(self, turn: Work) -> None:
        self.stats.last_site = turn.queue.site.name
        self.stats.most_parallel = max(self.stats.most_parallel, turn.queue.in_flight)
        if isinstance(turn, Visit):
            self.stats.visits += 1
        self._shared.budget.spend(self._now_us() / DAY_US)
        task = asyncio.create_task(self._carry_out(turn))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task in self._without_slot:
            self._without_slot.discard(task)
        else:
            self._shared.slots.release()
        self.wake.set()

    async def _carry_out(self, turn: Work) -> None:
        in_flight = turn.queue.in_flight
        try:
            match turn:
                case Visit():
                    await visit(turn, self)
                case FetchRobots():
                    await self._requests.fetch_robots(turn)
                case FetchSide():
                    await self._requests.fetch_side(turn)
        except asyncio.CancelledError:
            # The request may have been sent, so the site's delay counts from now although there is no answer.
            if not self._end_rendering(turn) and turn.queue.in_flight >= in_flight:
                self._requests.end(turn.queue, _no_answer(turn, "cancelled"), now=self.clock.now())
            raise
        except EvercrawlError as error:
            self._broken = error
        except Exception as defect:
            self._write_defect(turn, defect, in_flight)

    def _write_defect(self, turn: Work, defect: Exception, in_flight: int) -> None:
        """Let a bug of ours fail one page, not the crawl; the page records the error and is tried again later."""
        log.exception("defect while visiting %r", turn)
        failed = _no_answer(turn, f"{type(defect).__name__}: {defect}")
        if isinstance(turn, Visit):
            now = self.clock.now()
            self._write_visit(turn.page, Decision(judge_failed(turn.page, failed, asked=None, now=now)), now=now)
        if not self._end_rendering(turn) and turn.queue.in_flight >= in_flight:
            self._requests.end(turn.queue, failed, now=self.clock.now())
        if isinstance(turn, FetchSide):
            self._shared.side_requests.done(turn.side_request, failed)
        elif isinstance(turn, FetchRobots):
            turn.queue.fetching_robots = False

    def _fail(self, error: BaseException) -> None:
        """Remember the error of a background task."""
        if isinstance(error, EvercrawlError):
            self._broken = error
        else:
            log.error("defect in a background task", exc_info=error)

    # Rest

    async def _rest(self, turn: Wait | Idle) -> None:
        """Commit if that may yield work, else wait for a wake-up or the next moment."""
        now_us, commit_us = self._now_us(), self._early_commit_us(turn)
        if commit_us is not None and commit_us <= now_us:
            await self.commit()
            return
        self.quiet_until_us = self._next_moment_us(turn, commit_us, now_us)
        self.opens_us = self._next_opening_us(turn, now_us)
        # A poll that waits for its site to open is not work; one that reads an answer is.
        is_reading = self.sitemaps.is_busy or bool(self._probes.tasks) or self.completion.is_busy
        is_reading = is_reading and isinstance(turn, Idle)
        self._awaits_commit = self._commits > 0
        is_busy = bool(self._tasks) or bool(self._followups) or is_reading or self._awaits_commit
        self._is_resting = not is_busy and self.buffer.batch.is_empty()
        if self.is_quiet:
            self._host.on_quiet()
        await self._wait_for_wake()

    def _next_moment_us(self, turn: Wait | Idle, commit_us: int | None, now_us: int) -> int | None:
        moments = [turn.until_us] if isinstance(turn, Wait) else []
        others = (self.due.next_us, commit_us, self.due.next_look_ahead_us(now_us), self.sitemaps.next_us())
        moments += [moment for moment in others if moment is not None]
        blocked_us = self._host.blocked_until_us()
        if blocked_us is not None:
            # Nothing may start before that, but unsaved work is committed in time.
            moments = [max(moment, blocked_us) for moment in moments if moment != commit_us] or [blocked_us]
            moments += [blocked_us] if any(queue.has_work() for queue in self.frontier.queues.values()) else []
            moments += [commit_us] if commit_us is not None else []
        return min(moments, default=None)

    def _next_opening_us(self, turn: Wait | Idle, now_us: int) -> int | None:
        while self._paused_due and self._paused_due[0] <= now_us:
            heappop(self._paused_due)
        moments = [*([turn.until_us] if isinstance(turn, Wait) else []), *self._paused_due[:1]]
        blocked_us = self._host.blocked_until_us()
        if blocked_us is not None:
            return max(blocked_us, min(moments, default=blocked_us))
        return min(moments, default=None)

    def _early_commit_us(self, turn: Wait | Idle) -> int | None:
        """Return when an early commit may yield work; None: it would not."""
        batch = self.buffer.batch
        if isinstance(turn, Idle) and not batch.is_empty() and not self.frontier.is_saturated():
            return self._last_commit_us + span_us(IDLE_COMMIT_GAP)
        if batch.new_pages or batch.requeued:
            return self._last_commit_us + span_us(WAITING_COMMIT_GAP)
        return None

    async def _wait_for_wake(self) -> None:
        if self.quiet_until_us is None:
            await self.wake.wait()
            return
        delay = from_us(self.quiet_until_us) - self.clock.now()
        try:
            async with asyncio.timeout(max(0.0, delay.total_seconds())):
                await self.wake.wait()
        except TimeoutError:
            pass

    def _now_us(self) -> int:
        return to_us(self.clock.now())

    async def _look_ahead(self, turn: Wait | Idle) -> bool:
        """Spend spare requests on pages that are due next; return whether any were queued."""
        if not isinstance(turn, Idle) or not self._may_start() or self._host.has_enough_pages():
            return False
        return await self.due.look_ahead(self._now_us())

    # The steps of a visit

    async def gather(self, turn: Visit) -> PageKnowledge:
        """Read everything that is known about a page before its request."""
        return await self._reader.gather(turn)

    async def fetch(self, request: Request, turn: Visit, known: PageKnowledge) -> tuple[FetchResult, datetime]:
        """Send a request to the page's site; return the answer and its moment."""
        self.knowledge.revisits.start_visit(turn.page, known.outlook, now_us=self._now_us())
        self.due.start_visit(turn.page.id)
        answer = await self._requests.send(request, turn.queue)
        if isinstance(answer, Fetched):
            evidence, choice = await self._rendering.plan(turn.page, answer)
            if choice.paths and (embedded := read_embedded(answer, choice.paths)) is not None:
                return embedded, self.clock.now()
            if choice.should_render or choice.paths:
                return await self._render(turn, answer, evidence, choice), self.clock.now()
            if choice.why:
                answer = not_rendered(answer, choice.why)
        return answer, self.clock.now()

    async def _render(self, turn: Visit, answer: Fetched, evidence: Evidence, choice: RenderChoice) -> FetchResult:
        """Render a page. Its request ends before, and it gives up its slot, for the requests of the browser."""
        self._requests.end(turn.queue, answer, now=self.clock.now(), is_retry=turn.page.tries > 0)
        self.frontier.start_rendering(turn.queue)
        self._rendered_ids.add(turn.page.id)
        task = asyncio.current_task()
        assert task is not None
        self._without_slot.add(task)
        self._shared.slots.release()
        self.wake.set()
        rendered = await self._rendering.render(turn.page, answer, evidence, choice)
        await self._shared.slots.acquire()
        self._without_slot.discard(task)
        return rendered

    def _end_rendering(self, turn: Work) -> bool:
        """Note that the visit to a page that was rendered has ended; return False if it was not rendered."""
        if not isinstance(turn, Visit) or turn.page.id not in self._rendered_ids:
            return False
        self._rendered_ids.discard(turn.page.id)
        self.frontier.end_rendering(turn.queue)
        self.buffer.count_answer(turn.queue.site.id)
        return True

    async def look_up(self, turn: Visit, answer: FetchResult, known: PageKnowledge, *, now: datetime) -> Related:
        """Read what the store knows about the answer."""
        return await self._reader.look_up(turn, answer, known, now=now)

    def apply(self, turn: Visit, decision: Decision, *, now: datetime) -> None:
        """Write a decision, and start what follows from it."""
        page, site = turn.page, turn.queue.site
        self._write_visit(page, decision, now=now, site=site)
        if decision.answer is None:
            self.frontier.record_skip(turn.queue)
            self.buffer.count_answer(site.id)
            return
        if not self._end_rendering(turn):
            self._requests.end(turn.queue, decision.answer, now=now, is_retry=page.tries > 0)
        self.order.note_visit(page.url)
        self._probes.apply(site, page, decision, now=now)
        if self.traps.apply(site, decision.site):
            self._followups.start(self._requeue_reopened(site))
        if decision.is_held:
            self._has_held.set()
        if decision.site.sitemaps is not None:
            self.sitemaps.apply(turn.queue.site, decision.site.sitemaps)
        for copy in decision.requeue:
            self.due.enqueue(copy, URGENT_PRIORITY)
        if decision.requeue:
            self.buffer.commit_soon()

    def _write_visit(self, page: Page, decision: Decision, *, now: datetime, site: Site | None = None) -> None:
        if site is None or decision.answer is None:
            row = visit_row(page, decision, now=now)
            self._writer.write_visit(page, row)
        else:
            row = self._writer.apply(page, site, decision, now=now)
        if row.due_us is not None:
            self.due.note(row.due_us)
            if row.outcome is Outcome.DEFERRED and row.reason is not Reason.WITHHELD:
                heappush(self._paused_due, row.due_us)

    # Links

    async def add_side_request(self, side_request: SideRequest) -> None:
        """Send a request to one of our sites on behalf of another; assets that are stored need none."""
        if side_request.is_asset:
            request = self._shared.side_requests.request_of(side_request)
            stored = await self._assets.answer(request, now=self.clock.now())
            if stored is not None:
                self._shared.side_requests.done(side_request, stored)
                return
        site = self._as_opened(await self.links.site_for(site_of(side_request.url)))
        if side_request.is_asset and is_closed_for_assets(site, now_us=self._now_us()):
            self._shared.side_requests.done(side_request, closed_answer(side_request.url, site))
            return
        self.frontier.add_side_request(self.frontier.open_queue(site), side_request)
        self.wake.set()

    async def _enter_links(self, found: FoundLinks) -> None:
        """Enter links that no visit found, such as those of a sitemap."""
        own, others = self.links.split(found.candidates)
        await self._enter(own, others, found.refusals)

    async def _enter(
        self, own: list[Candidate], others: Mapping[int, list[Candidate]], refusals: list[Refusal]
    ) -> None:
        placed = await self.links.place(own)
        now = self.clock.now()
        links = judge_new_links(placed, self.links.targets(placed), year=now.year, policy=self.policy)
        self._writer.write_links(links, others, refusals, now_us=to_us(now))

    async def offer(self, candidates: list[Candidate]) -> None:
        """Enter links or seeds that belong to this shard."""
        await self._enter(candidates, {}, [])
        self.wake.set()

    def refuse(self, refusals: list[Refusal]) -> None:
        """Note refusals that no visit found, such as those of seeds."""
        self._writer.write_links((), {}, refusals, now_us=self._now_us())

    def send_links(self, target: int, candidates: list[Candidate]) -> None:
        """Send links to another shard with the next commit."""
        self._writer.write_links((), {target: candidates}, [], now_us=self._now_us())

    async def receive(self, batch: LinkBatch) -> None:
        """Enter links and credit from another shard."""
        await self.channel.receive(batch)
        self.wake.set()

    async def _receive_contents(self, contents: LinkBatchContents) -> None:
        placed = await self.links.place(contents.candidates)
        now = self.clock.now()
        self.credit.receive(contents.credit, grant=contents.grant, shares=contents.shares)
        self.credit.pay_known(contents.candidates, [candidate for candidate, _ in placed])
        links = judge_new_links(placed, self.links.targets(placed), year=now.year, policy=self.policy)
        self._writer.write_links(links, {}, [], now_us=to_us(now))

    def mark_delivered(self, seq: int) -> None:
        """Note that the target has stored one of our link batches."""
        self.buffer.batch.delivered.append(seq)
        self.buffer.touch()

    async def is_trap(self, url: str) -> bool:
        """Return whether trap detection or a user rule refuses a URL."""
        site = await self.links.site_for(site_of(url))
        return await self.traps.is_trap(url, site, pages=self.links.pages_of(site), year=self.clock.now().year)

    # Pages to visit again

    def _enqueue(self, page: Page) -> None:
        self.due.enqueue(page, page.priority)

    async def visit_soon(self, keys: list[bytes]) -> None:
        """Queue known pages before those that the schedule has queued."""
        await self.due.visit_soon(keys)
        self.wake.set()

    async def requeue_all(self) -> None:
        """Queue every known page, whatever the schedule says."""
        await self.due.requeue_all(self._now_us())

    async def apply_rules(self) -> None:
        """Queue what the user rules about traps admit now, and apply the user's schedules."""
        stored = await apply_rules(self.policy.traps, self.store, enqueue=self._enqueue, commit=self.commit)
        if stored is not None:
            self.buffer.batch.site_states[RULES_KEY] = stored
            await self.commit()
        await self.due.apply_schedules(self.policy)
        self.wake.set()

    async def _apply_robots(self, site: Site, rules: RobotsRules) -> None:
        """Read the sitemaps that robots.txt names; if its rules have changed, queue again what they refused before."""
        before = site.robots
        if before is not None and (before.policy, before.body) != (rules.record.policy, rules.record.body):
            self._followups.start(self._requeue_reopened(site))
        await self.sitemaps.apply_robots(site, rules)

    async def _requeue_reopened(self, site: Site) -> None:
        await self.commit()
        await requeue_reopened(site, self.traps, self.store, enqueue=self._enqueue, offer=self._offer_again)
        self.wake.set()

    async def _offer_again(self, candidates: list[Candidate]) -> None:
        """Enter links that this run has refused before."""
        self._shared.seen.cache.forget(candidate.key for candidate in candidates)
        await self.offer(candidates)

    # Commits

    async def _commit_regularly(self) -> None:
        while True:
            await self.buffer.until_due(self.policy.settings.store.commit_interval)
            await self.commit()

    async def commit(self) -> None:
        """Commit everything so far, and notify the frontier and other shards."""
        self._commits += 1
        try:
            await self._commit()
        finally:
            self._commits -= 1
            if self._awaits_commit:  # Also if another commit has written everything.
                self._awaits_commit = False
                self.wake.set()

    async def _commit(self) -> None:
        if self._now_us() - self._states_saved_us >= span_us(SAVE_STATES_EVERY):
            self._save_states()
        if self.credit.is_round_over():
            await self._payout.pay_out()
        committed = await self.buffer.commit()
        if committed is None:
            return
        now_us = self._last_commit_us = self._now_us()
        self._committed_visits += len(committed.batch.visited)
        self.links.forget_committed(committed.batch)
        self.knowledge.duplicates.forget_committed()
        self._assets.forget_committed()
        self.completion.add_committed(committed.batch)
        self.knowledge.revisits.forget_committed(committed.batch)
        self.frontier.record_commit(committed.answers, now_us=now_us)
        await self._announce(committed.batch, now_us)
        self.wake.set()

    def _save_states(self) -> None:
        """Put what was learned about sites into the next commit."""
        self._states_saved_us = self._now_us()
        knowledge, shared, states = self.knowledge, self._shared, self.buffer.batch.site_states
        knowledge.duplicates.save()
        states |= knowledge.change.unsaved()
        states |= knowledge.revisits.outlooks.unsaved()
        states |= knowledge.sitemaps.unsaved()
        states |= knowledge.traps.unsaved()
        states |= self.order.yields.unsaved()
        states |= knowledge.rendering.unsaved()
        if not self.saves_shared_state:
            return
        if not shared.mirrors.is_saved:
            states[MIRRORS_KEY] = shared.mirrors.to_bytes()
        states[BUDGET_KEY] = shared.budget.to_bytes()
        if self._runtime.focus is not None:
            states[FOCUS_KEY] = self._runtime.focus.to_bytes()

    async def _settle_regularly(self) -> None:
        """Judge held changes whose time is up; this starts no visits, so that shards do not wake for it."""
        while True:
            await self._has_held.wait()
            await asyncio.sleep(SETTLE_INTERVAL_S)
            self._settle_changes(everything=self._is_resting and not self._has_work_within(HOLD_SECONDS))

    def _has_work_within(self, seconds: float) -> bool:
        """Return whether something is planned within this time."""
        until_us = self.quiet_until_us
        return until_us is not None and until_us - self._now_us() < seconds * 1_000_000

    def _settle_changes(self, *, everything: bool = False) -> None:
        """Judge held changes whose time is up; all of them when no other pages will come in that time."""
        now, known = self.clock.now(), self.knowledge.change
        self._has_held.clear()
        for site_id, state in known.in_memory():
            if not state.value.held:
                continue
            after, settled = settle_held(state.value, now=now, rules=self.policy.corrections(), everything=everything)
            if settled:
                state.update(after)
                known.save_soon(site_id)
                self._writer.write_settled(settled)
            if after.held:
                self._has_held.set()

    def _close_batch(self, batch: Batch) -> None:
        """Add the state that must match the batch exactly."""
        batch.site_states |= self.knowledge.sitemaps.urgent()
        batch.site_states |= self.knowledge.change.urgent()
        batch.site_states[CREDIT_KEY] = ledger_bytes(self.credit.to_store())
        self.frontier.close_moves()

    async def _announce(self, batch: Batch, now_us: int) -> None:
        """Tell the frontier about new work, and other shards about link batches."""
        priorities: dict[int, set[int]] = {}
        entries: tuple[NewPage | Requeue | Promotion, ...] = (*batch.new_pages, *batch.requeued, *batch.promoted)
        for entry in entries:
            priorities.setdefault(entry.site_id, set()).add(entry.priority)
        for site_id, site_priorities in priorities.items():
            site = await self.links.site_numbered(site_id)
            if site is not None:
                self.frontier.add_pages(self._as_opened(site), site_priorities, now_us=now_us)
        for sent in batch.sent:
            self._host.deliver(sent)
        for source, seq in batch.received.items():
            self._host.confirm(source, self.number, seq)

    # End

    def retire(self) -> None:
        """Start nothing new: the shard is about to be released."""
        self._is_retired = True

    async def finish(self, within: timedelta) -> None:
        """Wait for visits in flight up to the time limit; cancelled pages stay in the queue."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within.total_seconds())
        await self.buffer.cancel(*self._all_tasks())
        self._settle_changes(everything=True)
        self._save_states()
        await self._payout.pay_out()
        await self.commit()

    async def abandon(self) -> None:
        """Cancel everything that is in flight, and save nothing."""
        self.cancel_visits()
        await asyncio.gather(*self._all_tasks(), return_exceptions=True)

    def cancel_visits(self) -> None:
        """Cancel every visit in flight."""
        for task in self._all_tasks():
            task.cancel()

    def _all_tasks(self) -> list[asyncio.Future[None]]:
        others = (self.sitemaps.tasks, self._probes.tasks, self._followups, self.completion.all_tasks())
        return [*self._tasks, *(task for tasks in others for task in tasks)]

    async def close(self, *, cleanly: bool) -> None:
        """Release the shard."""
        self._ports.archive.close()
        self.knowledge.duplicates.close()
        if cleanly and not self._waits_after_crash():
            await self.store.release(self._epoch)
        await self.store.close()

    def _waits_after_crash(self) -> bool:
        """Return whether delays after a crash may still run; the next owner has to keep them too."""
        if self._crashed_at_us is None:
            return False
        settings = self.policy.settings
        longest = max(settings.pace.max_delay, settings.robots.max_crawl_delay, self._shared.restart_delay)
        return self._now_us() < self._crashed_at_us + span_us(longest)

    def _as_opened(self, site: Site) -> Site:
        """Return a site as this run treats it: one that did not answer in earlier runs gets another chance, and a run
        that somebody started reads an older robots.txt again first.
        After a crash every site waits its whole delay, because the last requests before it are unknown."""
        if not self.policy.forever and site.id not in self.frontier.closed_ids:
            site = reopened(site, now_us=self._now_us(), robots_since_us=self._shared.robots_since_us)
        if self._crashed_at_us is None:
            return site
        delay_us = max(span_us(self._shared.restart_delay), site.delay_ms * 1000)
        return site._replace(open_us=max(site.open_us, self._crashed_at_us + delay_us))


def _no_answer(turn: Work, detail: str) -> Failed:
    url = turn.page.url if isinstance(turn, Visit) else turn.queue.site.name
    return Failed(url, Fault.INTERNAL, detail, timedelta(0))
