"""The comparator of an outpost: what an answer becomes on its way home, and what is remembered of it."""

from __future__ import annotations

from evercrawl.core.url import site_of
from evercrawl.model.fetch import Exchange, Failed, Fetched, FetchResult
from evercrawl.outpost.hand import OutpostFetcher
from evercrawl.outpost.protocol.answer import (
    SharedExchange,
    encode_answer,
    failure_result,
    join_exchange,
    unfetched_result,
)
from evercrawl.outpost.protocol.compare import ChangeHistory, ResultKind, classify_answer, next_history, wire_digest
from evercrawl.outpost.protocol.message import FetchJob, JobResult
from evercrawl.outpost.station_book import AgentState

ComparedAnswer = tuple[JobResult, ChangeHistory | None, SharedExchange | None]
"""What is sent, the page's habit, and what both sides hold from now on; None: as before."""


def compare_answer(
    job: FetchJob, result: FetchResult, *, book: AgentState, hand: OutpostFetcher, now_us: int
) -> ComparedAnswer:
    """The answer to a job, held against what home has and what the page did before."""
    if isinstance(result, Failed) and result.exchange is None:
        return failure_result(job, result), None, None
    exchange = result.exchange
    assert exchange is not None
    base = book.held(job.url)
    if not isinstance(result, Fetched):
        return encode_answer(job, result, exchange, verdict=ResultKind.AT_ONCE, held=base), None, None
    if result.truncated is None:
        return _compare_body(job, result, exchange, base, habit=book.habit(job.url), now_us=now_us)
    if job.body_limit is not None:
        return encode_answer(job, result, exchange, verdict=ResultKind.AT_ONCE, held=base), None, None
    rest_us = hand.rest_of(site_of(job.url))
    why = "larger than an outpost takes"
    return unfetched_result(job, ResultKind.NOT_MINE, why, rest_us=rest_us), None, None


def _compare_body(
    job: FetchJob,
    result: Fetched,
    exchange: Exchange,
    base: SharedExchange | None,
    *,
    habit: ChangeHistory,
    now_us: int,
) -> ComparedAnswer:
    digest = wire_digest(exchange.wire_body)
    verdict = classify_answer(digest, home_has=job.home_has, habit=habit, now_us=now_us, resend_us=job.resend_us)
    item = encode_answer(job, result, exchange, verdict=verdict, held=base)
    is_sent = verdict in (ResultKind.AT_ONCE, ResultKind.CHANGED)
    habit = next_history(habit, digest, now_us=now_us, sent=is_sent)
    if verdict is ResultKind.WITHHELD:
        return item, habit, None
    return (
        item,
        habit,
        SharedExchange(digest, join_exchange(exchange.request_head, exchange.response_head, exchange.wire_body)),
    )
