"""The comparator of an outpost: what an answer becomes on its way home, and what is remembered of it."""

from __future__ import annotations

from evercrawl.core.url import site_of
from evercrawl.model.fetch import Exchange, Failed, Fetched, FetchResult
from evercrawl.outpost.hand import Hand
from evercrawl.outpost.protocol.answer import Held, answered_item, failed_item, flat, unasked_item
from evercrawl.outpost.protocol.compare import Habit, Verdict, after_answer, verdict_on, wire_digest
from evercrawl.outpost.protocol.message import Item, Job
from evercrawl.outpost.station_book import StationBook

Compared = tuple[Item, Habit | None, Held | None]
"""What is sent, the page's habit, and what both sides hold from now on; None: as before."""


def compared(job: Job, result: FetchResult, *, book: StationBook, hand: Hand, now_us: int) -> Compared:
    """The answer to a job, held against what home has and what the page did before."""
    if isinstance(result, Failed) and result.exchange is None:
        return failed_item(job, result), None, None
    exchange = result.exchange
    assert exchange is not None
    base = book.held(job.url)
    if not isinstance(result, Fetched):
        return answered_item(job, result, exchange, verdict=Verdict.AT_ONCE, held=base), None, None
    if result.truncated is None:
        return _whole(job, result, exchange, base, habit=book.habit(job.url), now_us=now_us)
    if job.body_limit is not None:
        return answered_item(job, result, exchange, verdict=Verdict.AT_ONCE, held=base), None, None
    rest_us = hand.rest_of(site_of(job.url))
    why = "larger than an outpost takes"
    return unasked_item(job, Verdict.NOT_MINE, why, rest_us=rest_us), None, None


def _whole(job: Job, result: Fetched, exchange: Exchange, base: Held | None, *, habit: Habit, now_us: int) -> Compared:
    digest = wire_digest(exchange.wire_body)
    verdict = verdict_on(digest, home_has=job.home_has, habit=habit, now_us=now_us, resend_us=job.resend_us)
    item = answered_item(job, result, exchange, verdict=verdict, held=base)
    is_sent = verdict in (Verdict.AT_ONCE, Verdict.CHANGED)
    habit = after_answer(habit, digest, now_us=now_us, sent=is_sent)
    if verdict is Verdict.WITHHELD:
        return item, habit, None
    return item, habit, Held(digest, flat(exchange.request_head, exchange.response_head, exchange.wire_body))
