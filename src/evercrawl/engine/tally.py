"""What a run has done so far, counted as it happens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from evercrawl.model.fetch import Failed, Fault, FetchResult
from evercrawl.model.page import CompletedVisit, Page
from evercrawl.model.reason import Outcome, Reason

MOST_ANSWER_TIMES = 10_000
"""Answer times kept for the median."""


@dataclass(slots=True)
class Tally:
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
    reached: bool = False
    """Some server has answered."""
    judged: int = 0
    """Pages of which a focus said whether they are on topic."""
    on_topic: int = 0
    new: int = 0
    changed: int = 0
    revisits: int = 0
    gone: int = 0
    """Pages that we have a version of and that the server does not have any more."""

    def requested(self, result: FetchResult) -> None:
        """One request went out and ended like this."""
        self.requests += 1
        exchange = result.exchange
        if exchange is None:
            if isinstance(result, Failed) and result.fault is not Fault.INTERNAL:
                self._note_error(result.url, result.detail)
            return
        self.reached = True
        self.wire_bytes += len(exchange.wire_body) + len(exchange.response_head)
        if len(self.answer_ms) < MOST_ANSWER_TIMES:
            self.answer_ms.append(int(exchange.took.total_seconds() * 1000))

    @property
    def decided(self) -> int:
        """Visits that have ended."""
        return self.outcomes.total()

    @property
    def harvest_ratio(self) -> float | None:
        """The share of pages on topic; None: the run has no focus, or has judged nothing."""
        return self.on_topic / self.judged if self.judged else None

    def visited(self, page: Page, visited: CompletedVisit) -> None:
        """One visit is decided."""
        self.outcomes[visited.outcome, visited.reason] += 1
        self.revisits += page.visits > 0
        if visited.version is not None:
            self.new += visited.version.number == 1
            self.changed += visited.version.number > 1
        self.gone += page.version > 0 and visited.reason in (Reason.GONE, Reason.NOT_FOUND)
        if visited.outcome is Outcome.REJECTED:
            self.refused[visited.reason] += 1
        elif visited.outcome is Outcome.ERROR:
            self._note_error(page.url, visited.detail)

    def _note_error(self, url: str, detail: str) -> None:
        if self.first_error is None:
            self.first_error = f"{url}: {detail}"

    def with_outcome(self, *outcomes: Outcome) -> int:
        """Visits that ended with one of these."""
        return sum(count for (outcome, _), count in self.outcomes.items() if outcome in outcomes)

    def with_reason(self, *reasons: Reason) -> int:
        """Visits that ended for one of these reasons."""
        return sum(count for (_, reason), count in self.outcomes.items() if reason in reasons)
