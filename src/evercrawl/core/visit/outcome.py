"""What does the end of a visit mean for the page: outcome, reason, when to come again?"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.core import url as urls
from evercrawl.core.faults import FAULT_RULES, retry_wait
from evercrawl.model.change import Change, ChangeClass
from evercrawl.model.fetch import Failed, Fault, Fetched, Headers, Moved, Truncation, header
from evercrawl.model.page import Page
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.time import to_us

RECHECK = timedelta(days=1)
"""A page that robots.txt or the scope kept us from is considered again after this time, without a request
if still refused.
"""
MIRROR_RECHECK = timedelta(days=7)
"""A page that is known from another site is considered again after this time, without a request if it still
is.
"""


class VisitOutcome(NamedTuple):
    """What a visit means for its page."""

    outcome: Outcome
    reason: Reason
    detail: str
    due_us: int | None
    """When to come again; of a page that was seen the revisit policy says it."""
    tries: int
    interval_s: int
    is_new_version: bool
    changed: bool | None = None
    """The page was seen, and differs in meaning from what we had; None: it was not seen."""


def judge_fetched(page: Page, result: Fetched, *, change: Change | None, copy_of: str | None) -> VisitOutcome:
    """A body came. `change`: how it differs from the last sight of the page, None where this is the first.
    `copy_of` is another page's URL that already has this very content.
    """
    is_changed = change is None or change.changed
    if result.truncated is not None:
        outcome, reason, detail = (
            Outcome.TRUNCATED,
            _TRUNCATIONS[result.truncated],
            f"{len(result.body)} bytes were kept",
        )
    elif change is not None and change.kind is ChangeClass.NOISE:
        outcome, reason, detail = Outcome.UNCHANGED, Reason.NOISE, REASON_TEXT[Reason.NOISE]
    elif copy_of is not None:
        outcome, reason, detail = Outcome.DUPLICATE, Reason.DUPLICATE, f"same body as {copy_of}"
    elif change is None:
        outcome, reason, detail = Outcome.FETCHED, Reason.NEW, REASON_TEXT[Reason.NEW]
    elif is_changed:
        outcome, reason, detail = Outcome.FETCHED, Reason.CHANGED, REASON_TEXT[Reason.CHANGED]
    else:
        outcome, reason, detail = Outcome.UNCHANGED, Reason.SAME_CONTENT, REASON_TEXT[Reason.SAME_CONTENT]
    return _seen(outcome, reason, detail, changed=is_changed, is_new_version=is_changed)


_TRUNCATIONS = {
    Truncation.WIRE: Reason.BODY_TOO_LARGE,
    Truncation.DECODED: Reason.DECODED_TOO_LARGE,
    Truncation.RATIO: Reason.COMPRESSION_RATIO,
}


def judge_not_modified() -> VisitOutcome:
    """The server vouches for what we have."""
    return _seen(Outcome.UNCHANGED, Reason.NOT_MODIFIED, REASON_TEXT[Reason.NOT_MODIFIED])


def judge_moved(
    page: Page, result: Moved, *, refused: tuple[Reason, str] | None, loops: bool, most_hops: int
) -> VisitOutcome:
    """A redirect: an error when it loops or goes on too long, refused when its target is, else an answer."""
    if loops or result.target == page.url:
        detail = f"redirects to {result.target}, which leads back here"
        return _seen(Outcome.ERROR, Reason.REDIRECT_LOOP, detail)
    if page.hops >= most_hops:
        detail = f"after {page.hops} redirects in a row this one to {result.target} is not followed"
        return _seen(Outcome.ERROR, Reason.TOO_MANY_REDIRECTS, detail)
    if refused is not None:
        reason, words = refused
        detail = f"redirects to {result.target}: {words}"
        return _seen(Outcome.REJECTED, reason, detail)
    detail = f"redirects to {result.target} ({result.status})"
    return _seen(Outcome.FETCHED, Reason.REDIRECT, detail)


def judge_failed(page: Page, result: Failed, *, asked: timedelta | None, now: datetime) -> VisitOutcome:
    """No usable answer: try again later as the fault's rule says, or not by ourselves."""
    rule = FAULT_RULES[result.fault]
    outcome, reason = rule.outcome, rule.reason
    if result.fault is Fault.BAD_REDIRECT and (scheme := foreign_scheme(result)) is not None:
        outcome, reason = Outcome.REJECTED, Reason.UNSUPPORTED_SCHEME
        detail = f"redirects to a {scheme}: URL; {REASON_TEXT[Reason.UNSUPPORTED_SCHEME]}"
    else:
        detail = _words(result, reason)
    tries = page.tries + 1
    wait = retry_wait(result.fault, tries=tries)
    if wait is not None and asked is not None:
        wait = max(wait, asked)
    due_us = None if wait is None else to_us(now + wait)
    return VisitOutcome(outcome, reason, detail, due_us, tries, page.interval_s, is_new_version=False)


def _words(result: Failed, reason: Reason) -> str:
    """The fault in words that stand alone: what the fetcher saw is more exact than the reason's text.

    Of a defect of ours the fetcher saw only its name, which says nothing to the operator without that text.
    """
    if result.fault is Fault.INTERNAL and result.detail:
        return f"{REASON_TEXT[reason]}: {result.detail}"
    return result.detail or REASON_TEXT[reason]


def judge_refused(page: Page, reason: Reason, detail: str, *, now: datetime, wait: timedelta = RECHECK) -> VisitOutcome:
    """Known, due, and not asked for: robots.txt, the scope or a fence says no."""
    due_us = to_us(now + wait)
    return VisitOutcome(Outcome.REJECTED, reason, detail, due_us, page.tries, page.interval_s, is_new_version=False)


def judge_mirrored(page: Page, detail: str, *, now: datetime) -> VisitOutcome:
    """Known, due, and not asked for: a copy of this page is known."""
    due_us = to_us(now + MIRROR_RECHECK)
    return VisitOutcome(
        Outcome.DUPLICATE, Reason.MIRROR, detail, due_us, page.tries, page.interval_s, is_new_version=False
    )


def foreign_scheme(result: Failed) -> str | None:
    """The scheme of a redirect that leaves the web, such as `file` or `javascript`."""
    location = header(result.headers, "location")
    target = urls.join(result.url, location) if location is not None else None
    if target is None or target.startswith(urls.PAGE_SCHEMES):
        return None
    return target.partition(":")[0]


def _seen(
    outcome: Outcome, reason: Reason, detail: str, *, changed: bool = False, is_new_version: bool = False
) -> VisitOutcome:
    """The site has answered; when to come again is the revisit policy's to say."""
    return VisitOutcome(outcome, reason, detail, None, 0, 0, is_new_version, changed)


MOST_FRESH = timedelta(days=1)
"""Longer lifetimes are mostly meant for browsers that can reload; pages change before they end."""

_MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
_NOT_STORED = re.compile(r"(?:^|,)\s*(?:no-cache|no-store)\b", re.IGNORECASE)


def fresh_for(headers: Headers) -> timedelta:
    """How long asking again would bring the same from any cache on the way; zero where nothing is said."""
    control = header(headers, "cache-control") or ""
    found = _MAX_AGE.search(control)
    if found is None or _NOT_STORED.search(control):
        return timedelta(0)
    age = (header(headers, "age") or "").strip()
    left = int(found[1]) - (int(age) if age.isascii() and age.isdigit() and len(age) <= 10 else 0)
    return min(timedelta(seconds=max(left, 0)), MOST_FRESH)
