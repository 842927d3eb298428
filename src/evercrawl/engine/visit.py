"""One visit, from left to right: gather, fetch, decide, apply."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from evercrawl.core.frontier import Visit
from evercrawl.engine.decide import decide, first_refusal, request_for
from evercrawl.engine.decision import Decision, PageKnowledge, Policy, Related
from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import FetchResult, Request


class VisitSteps(Protocol):
    """What a visit needs from its shard."""

    clock: Clock
    policy: Policy

    async def gather(self, turn: Visit) -> PageKnowledge:
        """Read everything that is known about a page before its request."""

    async def fetch(self, request: Request, turn: Visit, known: PageKnowledge) -> tuple[FetchResult, datetime]:
        """Send a request to the page's site; return the answer and its moment."""

    async def look_up(self, turn: Visit, answer: FetchResult, known: PageKnowledge, *, now: datetime) -> Related:
        """Read what the store knows about the answer: same content, new links, near duplicates."""

    def apply(self, turn: Visit, decision: Decision, *, now: datetime) -> None:
        """Write a decision; nothing else writes."""


async def visit(turn: Visit, shard: VisitSteps) -> None:
    """Visit one page."""
    now, policy = shard.clock.now(), shard.policy
    known = await shard.gather(turn)
    if refusal := first_refusal(turn.page, known, now=now, policy=policy):
        shard.apply(turn, refusal, now=now)
        return
    answer, now = await shard.fetch(request_for(turn.page, known, policy=policy), turn, known)
    related = await shard.look_up(turn, answer, known, now=now)
    shard.apply(turn, decide(turn.page, answer, known, related, now=now, policy=policy), now=now)
