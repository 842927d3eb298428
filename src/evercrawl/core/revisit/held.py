"""Why is a known page not asked for now? The site's own word, the server's cache hint, or our belief."""

from __future__ import annotations

from enum import StrEnum

from evercrawl.core.revisit.outlook import Outlook
from evercrawl.core.revisit.schedule import belief_of, is_held_by_cache
from evercrawl.core.revisit.signal import is_trusted

LEAST_RECALL = 0.5
"""A site that announces fewer of its changes is not what a page is left alone for."""


class Held(StrEnum):
    """The cause for which a page that we know is left alone."""

    SITEMAP = "sitemap"
    """Its site tells what changes, was asked after our visit, and did not name the page."""
    CACHE = "cache"
    """The server called its last answer fresh for longer than the schedule would have waited."""
    MODEL = "model"
    """A visit would bring less than the budget asks for."""
    FAILED = "failed"
    """The last visits failed; it is tried again later."""
    GONE = "gone"
    """It has vanished, or is not asked for again."""


def held_by(state: bytes | None, outlook: Outlook, *, is_gone: bool = False, tries: int = 0) -> Held:
    """The cause for which a page that is not due is not asked for; `state` is what its schedule stored."""
    if is_gone:
        return Held.GONE
    if tries:
        return Held.FAILED
    if _is_silent(state, outlook):
        return Held.SITEMAP
    return Held.CACHE if is_held_by_cache(state) else Held.MODEL


def _is_silent(state: bytes | None, outlook: Outlook) -> bool:
    """Has the site, whose word counts, been asked since our visit and not named the page?"""
    page, site = belief_of(state), outlook.belief
    if page is None or page.visited is None or not is_trusted(site) or site.recall < LEAST_RECALL:
        return False
    return site.polled is not None and site.polled > page.visited and page.notices < 1.0
