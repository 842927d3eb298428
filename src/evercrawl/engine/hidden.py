"""Offering pages that nothing links to, where the operator asked for it, beside the links of a page."""

from __future__ import annotations

from evercrawl.core.hidden import neighbours_of, parents_of
from evercrawl.core.moment import to_us
from evercrawl.core.offer import judge_url
from evercrawl.engine.see import Seen, Surroundings
from evercrawl.model.fetch import Fetched
from evercrawl.model.page import Page


def offer_hidden(page: Page, seen: Seen, around: Surroundings) -> None:
    """Add the folders above a page that was found, and its numbered neighbours, to what it offers.

    A guess leads to no further guesses beside it: only what exists has neighbours.
    """
    settings = around.settings.hidden
    if not (settings.parents or settings.neighbours) or not isinstance(seen.result, Fetched) or page.version:
        return
    guesses = [*parents_of(page.url, settings.parents), *neighbours_of(page.url, settings.neighbours)]
    now_us = to_us(around.clock.now())
    for url in guesses:
        judge_url(seen.offers, url, depth=page.depth + 1, hops=0, parent=page, scope=around.scope, now_us=now_us)
