"""What a run consists of besides its shards: how it ends, its peers, its tasks, counts and focus."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from evercrawl.core.digest import content_digest
from evercrawl.core.duplicates.url_seen import UrlCache
from evercrawl.core.frontier import priority_of_value
from evercrawl.core.url import canonical
from evercrawl.engine.decision import Policy
from evercrawl.engine.machines import Machines
from evercrawl.engine.ports import Clock, Fetcher, Renderer
from evercrawl.model.document import Document
from evercrawl.model.fetch import Failed, Fault, FetchResult, Moved, Request
from evercrawl.model.page import Candidate, CompletedVisit, LinkBatch, Page
from evercrawl.model.reason import GONE_REASONS, Outcome, Reason

if TYPE_CHECKING:
    from evercrawl.core.focus.classifier import TopicSketch
    from evercrawl.core.focus.feedback_frontier import FeedbackFrontier
    from evercrawl.core.focus.focus import Focus
    from evercrawl.core.focus.focus_frontier import FocusFrontier

log = logging.getLogger("evercrawl")

FOCUS_KEY = (0, "focus")  # Where the state of the focus is kept; no site has this number.


class Ended(StrEnum):
    """Why a run has ended."""

    DONE = "done"
    LIMIT = "limit"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"


class StopSignal:
    """Ends a run: first gently, then at once. Safe to call from a signal handler of the same thread."""

    def __init__(self) -> None:
        self.stage = 0
        self._changed = asyncio.Event()

    def finish(self) -> None:
        """Start nothing new, and let requests in flight end."""
        self._raise_to(1)

    def cancel(self) -> None:
        """Cancel requests in flight, then save."""
        self._raise_to(2)

    def _raise_to(self, stage: int) -> None:
        self.stage = max(self.stage, stage)
        self._changed.set()

    async def wait_for_stage(self) -> None:
        """Return when the stage rises."""
        await self._changed.wait()
        self._changed.clear()


class Peers(Protocol):
    """The other processes of a crawl. Messages between two of them arrive in order, or the receiver has ended."""

    def owns(self, shard: int) -> bool:
        """Check whether this process owns the shard."""

    def is_first(self) -> bool:
        """Check whether this process stores what belongs to no shard, such as refused seeds."""

    def may_fetch(self) -> bool:
        """Check whether our shards are certainly ours now; otherwise no site may be contacted."""

    def send_links(self, batch: LinkBatch) -> None:
        """Send links to another process's shard; they stay in our store until it confirms them."""

    def polls_outbox(self) -> bool:
        """Check whether receivers read links from the sender's outbox, including our own."""

    def confirm_links(self, source: int, target: int, seq: int) -> None:
        """Confirm that every batch up to this one is stored, so that its sender can delete it."""

    def offer_url(self, candidate: Candidate, shard: int) -> None:
        """Send a URL to another process's shard; we keep it as a refusal until it becomes a page."""

    async def fetch_remotely(self, request: Request, shard: int) -> FetchResult:
        """Fetch from another process's site, at that site's pace."""

    def report_moved_seed(self, seed: str, target: str) -> None:
        """Report that a seed moved to another host, which is in scope from now on."""

    def report_spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        """Report what this process has spent; return what all processes have spent."""

    def report_idle(self, ended: Ended) -> bool:
        """Report that this process is idle; return whether all processes are."""


class NoPeers:
    """Implements `Peers` for a process that owns every shard."""

    def owns(self, shard: int) -> bool:
        return True

    def is_first(self) -> bool:
        return True

    def may_fetch(self) -> bool:
        return True

    def send_links(self, batch: LinkBatch) -> None:
        raise AssertionError("every shard is ours")

    def polls_outbox(self) -> bool:
        return False

    def confirm_links(self, source: int, target: int, seq: int) -> None:
        raise AssertionError("every shard is ours")

    def offer_url(self, candidate: Candidate, shard: int) -> None:
        raise AssertionError("every shard is ours")

    async def fetch_remotely(self, request: Request, shard: int) -> FetchResult:
        raise AssertionError("every shard is ours")

    def report_moved_seed(self, seed: str, target: str) -> None:
        pass

    def report_spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        return visits, wire_bytes

    def report_idle(self, ended: Ended) -> bool:
        return True


class TaskSet:
    """A set of tasks or futures in the order in which they were added.

    A Python set is ordered by memory address: the order of cancellation would differ from run to run, and simulations
    could not be repeated.
    """

    def __init__(self) -> None:
        self._all: dict[asyncio.Future[Any], None] = {}

    def add(self, one: asyncio.Future[Any]) -> None:
        """Add a task."""
        self._all[one] = None

    def discard(self, one: asyncio.Future[Any]) -> None:
        """Remove a task."""
        self._all.pop(one, None)

    def __iter__(self) -> Iterator[asyncio.Future[Any]]:
        return iter(tuple(self._all))

    def __len__(self) -> int:
        return len(self._all)


MAX_ANSWER_TIMES = 10_000  # Answer times kept for the median.


@dataclass(slots=True)
class RunStats:
    """Counts of one run over all shards."""

    requests: int = 0
    wire_bytes: int = 0
    visits: int = 0
    outcomes: Counter[tuple[Outcome, Reason]] = field(default_factory=Counter)
    refused: Counter[Reason] = field(default_factory=Counter)
    found: int = 0
    answer_ms: list[int] = field(default_factory=list)
    first_error: str | None = None
    most_parallel: int = 0
    last_site: str = ""
    reached: bool = False  # Some server has answered.
    judged: int = 0  # Pages that the focus has judged.
    on_topic: float = 0.0  # Expected number of pages on topic.
    new: int = 0
    changed: int = 0
    revisits: int = 0
    gone: int = 0  # Pages that we have a version of and the server no longer has.
    paused_pages: set[bytes] = field(default_factory=set)  # Keys of pages whose sites asked us to wait.

    def count_request(self, result: FetchResult) -> None:
        """Count a request that has ended."""
        self.requests += 1
        exchange = result.exchange
        if isinstance(result, Failed) and result.fault is Fault.WITHHELD:
            self.reached = True
            return
        if exchange is None:
            if isinstance(result, Failed) and result.fault is not Fault.INTERNAL:
                self._note_error(result.url, result.detail)
            return
        self.reached = True
        self.wire_bytes += len(exchange.wire_body) + len(exchange.response_head)
        if len(self.answer_ms) < MAX_ANSWER_TIMES:
            self.answer_ms.append(int(exchange.took.total_seconds() * 1000))

    @property
    def finished_visits(self) -> int:
        """The number of visits that have ended."""
        return self.outcomes.total()

    @property
    def harvest_ratio(self) -> float | None:
        """The share of pages on topic; None: the run has no focus, or has judged nothing."""
        return self.on_topic / self.judged if self.judged else None

    def count_visit(self, page: Page, visited: CompletedVisit) -> None:
        """Count a visit."""
        self.outcomes[visited.outcome, visited.reason] += 1
        if visited.reason in (Reason.SITE_PAUSED, Reason.SIGNED_OUT):
            self.paused_pages.add(page.key)
        elif self.paused_pages:
            self.paused_pages.discard(page.key)
        self.revisits += page.visits > 0
        if visited.version is not None:
            self.new += visited.version.number == 1
            self.changed += visited.version.number > 1
        is_missing = visited.outcome is Outcome.ERROR and visited.reason in GONE_REASONS
        self.gone += page.version > 0 and is_missing
        if visited.outcome is Outcome.REJECTED:
            self.refused[visited.reason] += 1
        elif visited.outcome is Outcome.ERROR:
            self._note_error(page.url, visited.detail)

    def _note_error(self, url: str, detail: str) -> None:
        if self.first_error is None:
            self.first_error = f"{url}: {detail}"

    def with_outcome(self, *outcomes: Outcome) -> int:
        """Return the number of visits with one of these outcomes."""
        return sum(count for (outcome, _), count in self.outcomes.items() if outcome in outcomes)

    def with_reason(self, *reasons: Reason) -> int:
        """Return the number of visits with one of these reasons."""
        return sum(count for (_, reason), count in self.outcomes.items() if reason in reasons)


class BackgroundTasks(TaskSet):
    """Tasks besides the visits; each that ends wakes its shard, and errors are reported."""

    def __init__(self, wake: Callable[[], None], report: Callable[[BaseException], None]) -> None:
        super().__init__()
        self.wake = wake
        self._report = report

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task."""
        task = asyncio.create_task(work)
        self.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.discard(task)
        self.wake()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(error)


class FocusGuide:
    """Rates URLs by the focus of the crawl, and learns from every page.

    Invariant: URLs are canonical.
    """

    def __init__(self, focus: Focus | TopicSketch, *, window: int, priorities: int) -> None:
        self.window = window
        """Pages of one site among which the best is chosen."""
        self._priorities = priorities
        self._frontier = _frontier_for(focus)
        self._fetched_before, self._on_topic_before = 0, 0.0
        self._name = content_digest(focus.to_bytes())

    def value_of(self, url: str) -> float:
        """Return the value of fetching a URL now."""
        return self._frontier.value_of(url)

    def priority_of(self, candidate: Candidate) -> int:
        """Return the priority of a new page; seeds are first."""
        if candidate.depth == 0 and not candidate.hops:
            self._frontier.add_seed(candidate.url)
        return priority_of_value(self.value_of(candidate.url), priorities=self._priorities)

    def learn_page(self, page: Page, document: Document) -> float:
        """Learn from a page; return how likely it is on topic, 0 to 1."""
        links = tuple(link._replace(url=canonical(link.url) or link.url) for link in document.links)
        return self._frontier.add_page(page.url, replace(document, links=links))

    def on_topic(self) -> float:
        """Return the expected number of pages on topic in this run."""
        fetched = self._frontier.fetched - self._fetched_before
        return min(float(fetched), max(0.0, self._frontier.on_topic - self._on_topic_before))

    def follow_redirect(self, page: Page, result: Moved) -> None:
        """Follow a redirect."""
        self._frontier.follow_redirect(page.url, result.target)

    def discard(self, page: Page) -> None:
        """Forget a page that could not be fetched."""
        self._frontier.discard(page.url)

    def to_bytes(self) -> bytes:
        """Return the learned state, preceded by the digest of the focus."""
        return self._name + self._frontier.to_bytes()

    def restore(self, stored: bytes | None) -> None:
        """Continue from an earlier run with the same focus; ignore what cannot be read."""
        try:
            if stored and stored.startswith(self._name):
                self._frontier.restore(stored[len(self._name) :])
                self._fetched_before, self._on_topic_before = self._frontier.fetched, self._frontier.on_topic
        except ValueError as error:
            log.warning("the state of the focus is unreadable and starts empty: %s", error)


def _frontier_for(focus: Focus | TopicSketch) -> FocusFrontier | FeedbackFrontier:
    from evercrawl.core.focus.focus import Focus  # most crawls have no focus

    if isinstance(focus, Focus):
        from evercrawl.core.focus.focus_frontier import FocusFrontier
        from evercrawl.core.focus.link_scorer import LinkScorer

        return FocusFrontier(LinkScorer(focus))
    from evercrawl.core.focus.feedback_frontier import FeedbackFrontier  # needs numpy

    return FeedbackFrontier(focus)


@dataclass(frozen=True, slots=True)
class Runtime:
    """What every visit of a run shares."""

    policy: Policy
    clock: Clock
    fetcher: Fetcher
    popular: UrlCache  # URLs that were found recently.
    peers: Peers = field(default_factory=NoPeers)
    focus: FocusGuide | None = None  # What the crawl looks for; None: everything.
    renderer: Renderer | None = None  # None: no page is rendered.
    machines: Machines | None = None  # What the sites share; None: nothing is waited for.

    def adopt(self, seed: str, target: str) -> None:
        """Add the host that a seed has moved to, here and at the peers."""
        self.policy.scope.add_moved_seed(seed, target)
        self.peers.report_moved_seed(seed, target)
