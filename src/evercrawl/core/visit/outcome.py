"""The result of a visit: outcome, reason, and when to visit the page again."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.core import url as urls
from evercrawl.core.faults import FAULT_RULES, retry_wait
from evercrawl.model import wide
from evercrawl.model.change import Change, ChangeClass
from evercrawl.model.fetch import Failed, Fault, Fetched, Headers, Moved, Truncation, header
from evercrawl.model.page import Page
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.time import to_us

RECHECK = timedelta(days=1)  # Wait before a page that robots.txt or the scope refuses is checked again.
MIRROR_RECHECK = timedelta(days=7)  # The same for a page of a mirrored host.


@wide
class VisitOutcome(NamedTuple):
    """What a visit means for its page."""

    outcome: Outcome
    reason: Reason
    detail: str
    due_us: int | None  # When to visit the page again; if content was seen, the revisit policy sets it.
    tries: int
    interval_s: int
    is_new_version: bool
    changed: bool | None = None  # The content differs in meaning from the last visit; None: no content was seen.


def judge_fetched(
    page: Page, result: Fetched, *, change: Change | None, copy_of: str | None, stopped: str | None = None
) -> VisitOutcome:
    """Return the outcome of an answer with a body.
    `change`: how it differs from the last visit, None: this is the first. `copy_of`: the URL of a page with the same
    body. `stopped`: why it was not parsed to its end."""
    is_changed = change is None or change.changed
    if result.truncated is not None:
        outcome, reason, detail = (
            Outcome.TRUNCATED,
            _TRUNCATIONS[result.truncated],
            f"{len(result.body)} bytes were kept",
        )
    elif stopped is not None:
        outcome, reason, detail = Outcome.TRUNCATED, Reason.PARSE_LIMIT, f"{stopped}; all bytes are kept"
    elif result.rendering is not None and result.rendering.lacks_browser:
        outcome, reason, detail = Outcome.TRUNCATED, Reason.NEEDS_BROWSER, REASON_TEXT[Reason.NEEDS_BROWSER]
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
    """Return the outcome of a 304."""
    return _seen(Outcome.UNCHANGED, Reason.NOT_MODIFIED, REASON_TEXT[Reason.NOT_MODIFIED])


def judge_moved(
    page: Page, result: Moved, *, refused: tuple[Reason, str] | None, loops: bool, most_hops: int
) -> VisitOutcome:
    """Return the outcome of a redirect: an error if it loops or is one too many, refused if its target is."""
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
    """Return the outcome of a fault: retry as the rule of the fault says, or give up.
    A page that was not requested has not failed: it keeps its tries, and its turn comes again."""
    rule = FAULT_RULES[result.fault]
    if result.fault in (Fault.WITHHELD, Fault.SIGNED_OUT, Fault.LOGOUT):
        detail, again_us = result.detail or REASON_TEXT[rule.reason], to_us(now + max(rule.wait, asked or rule.wait))
        return VisitOutcome(rule.outcome, rule.reason, detail, again_us, page.tries, page.interval_s, False)
    outcome, reason = rule.outcome, rule.reason
    if result.fault is Fault.BAD_REDIRECT and (scheme := foreign_scheme(result)) is not None:
        outcome, reason = Outcome.REJECTED, Reason.UNSUPPORTED_SCHEME
        detail = f"redirects to a {scheme}: URL; {REASON_TEXT[Reason.UNSUPPORTED_SCHEME]}"
    else:
        detail = _words(result, reason)
    tries = page.tries + 1
    wait = retry_wait(result.fault, tries=tries, asked=asked)
    due_us = None if wait is None else to_us(now + wait)
    return VisitOutcome(outcome, reason, detail, due_us, tries, page.interval_s, is_new_version=False)


def _words(result: Failed, reason: Reason) -> str:
    """Return the fault in words; the fetcher's detail is more exact than the text of the reason.
    The detail of a defect is only its name, so the text of the reason comes first."""
    if result.fault is Fault.INTERNAL and result.detail:
        return f"{REASON_TEXT[reason]}: {result.detail}"
    return result.detail or REASON_TEXT[reason]


def judge_refused(page: Page, reason: Reason, detail: str, *, now: datetime, wait: timedelta = RECHECK) -> VisitOutcome:
    """Return the outcome of a page that is not fetched because of robots.txt, the scope or a trap."""
    due_us = to_us(now + wait)
    return VisitOutcome(Outcome.REJECTED, reason, detail, due_us, page.tries, page.interval_s, is_new_version=False)


def judge_mirrored(page: Page, detail: str, *, now: datetime) -> VisitOutcome:
    """Return the outcome of a page that is not fetched because a copy is known."""
    due_us = to_us(now + MIRROR_RECHECK)
    return VisitOutcome(
        Outcome.DUPLICATE, Reason.MIRROR, detail, due_us, page.tries, page.interval_s, is_new_version=False
    )


def foreign_scheme(result: Failed) -> str | None:
    """Return the scheme of a redirect that leaves the web, such as `file` or `javascript`."""
    location = header(result.headers, "location")
    target = urls.join(result.url, location) if location is not None else None
    if target is None or target.startswith(urls.PAGE_SCHEMES):
        return None
    return target.partition(":")[0]


def _seen(
    outcome: Outcome, reason: Reason, detail: str, *, changed: bool = False, is_new_version: bool = False
) -> VisitOutcome:
    """Return the outcome of an answer; the revisit policy sets the next visit."""
    return VisitOutcome(outcome, reason, detail, None, 0, 0, is_new_version, changed)


MAX_FRESH = timedelta(days=1)  # Longer lifetimes are mostly meant for browsers, which can reload.

_MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
_NOT_STORED = re.compile(r"(?:^|,)\s*(?:no-cache|no-store)\b", re.IGNORECASE)


def fresh_for(headers: Headers) -> timedelta:
    """Return how long the server calls an answer fresh (RFC 9111 section 4.2); zero: it does not say."""
    control = header(headers, "cache-control") or ""
    found = _MAX_AGE.search(control)
    if found is None or _NOT_STORED.search(control):
        return timedelta(0)
    age = (header(headers, "age") or "").strip()
    left = int(found[1]) - (int(age) if age.isascii() and age.isdigit() and len(age) <= 10 else 0)
    return min(timedelta(seconds=max(left, 0)), MAX_FRESH)
