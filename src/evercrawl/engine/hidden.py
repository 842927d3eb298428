"""Offering pages that nothing links to, where the operator asked for it, beside the links of a page."""

from __future__ import annotations

from evercrawl.core.visit.links import add_url, numbered_neighbours, parent_urls
from evercrawl.engine.interpret import VisitResult
from evercrawl.engine.runtime import Runtime
from evercrawl.model.fetch import Fetched
from evercrawl.model.page import Page
from evercrawl.model.time import to_us


def offer_hidden(page: Page, seen: VisitResult, around: Runtime) -> None:
    """Add the folders above a page that was found, and its numbered neighbours, to what it offers.

    A guess leads to no further guesses beside it: only what exists has neighbours.
    """
    settings = around.settings.discovery
    if not (settings.parent_folders or settings.neighbour_numbers) or not isinstance(seen.result, Fetched) or page.version:
        return
    guesses = [*parent_urls(page.url, settings.parent_folders), *numbered_neighbours(page.url, settings.neighbour_numbers)]
    now_us = to_us(around.clock.now())
    for url in guesses:
        add_url(seen.offers, url, depth=page.depth + 1, hops=0, parent=page, scope=around.scope, now_us=now_us)
