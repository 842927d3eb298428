"""What else is said about what a visit saw: relevance where the crawl has a focus, and what analysers say."""

from __future__ import annotations

from evercrawl.core.sentiment.field_analysers import analyse_fields
from evercrawl.engine.focus import ON_TOPIC
from evercrawl.engine.interpret import VisitResult
from evercrawl.engine.runtime import RunStats, Runtime
from evercrawl.model.fetch import Fetched, Moved
from evercrawl.model.page import Page

RELEVANCE = "relevance"
DIGITS = 4


def look_into(page: Page, seen: VisitResult, around: Runtime, tally: RunStats) -> None:
    """Let the focus learn from the page, and add what is said about a new version; nothing here waits."""
    if around.focus is not None:
        _tell_focus(page, seen, around, tally)
    if seen.document is not None and seen.judgement.is_new_version:
        seen.analysis |= analyse_fields(seen.document, around.analysers)


def _tell_focus(page: Page, seen: VisitResult, around: Runtime, tally: RunStats) -> None:
    focus = around.focus
    assert focus is not None
    if isinstance(seen.result, Fetched) and seen.document is not None:
        score = focus.saw(page, seen.document)
        seen.analysis[RELEVANCE] = round(score, DIGITS)
        tally.judged += 1
        tally.on_topic += score > ON_TOPIC
    elif isinstance(seen.result, Moved):
        focus.moved(page, seen.result)
    else:
        focus.drop(page)
