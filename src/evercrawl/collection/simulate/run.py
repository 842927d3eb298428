"""Every policy with every budget over every trace, with the code that production uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from evercrawl.core.politeness import is_total_rate, parse_rate
from evercrawl.errors import ConfigError
from evercrawl.lab import POLICIES
from evercrawl.lab.measure import SIGNALS, score
from evercrawl.lab.replay import warm_up
from evercrawl.lab.trace import Trace

NAMES = (*POLICIES, "oracle")
"""The oracle is told each page's true mean rate: what learning can hope for at most."""
MOST_PER_PAGE_DAY = 1000.0

__all__ = ["NAMES", "SIGNALS", "Run", "budget_of", "checked_policies", "trials"]


class Run(NamedTuple):
    """One replay; the budget is requests per page and day."""

    trace: str
    policy: str
    budget: float
    freshness: float
    requests_per_page_day: float
    useful_share: float
    """Share of the visits that found something new."""


def checked_policies(names: str) -> list[str]:
    """The policies of a list with commas; ConfigError names one that there is not."""
    chosen = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in chosen if name not in NAMES]
    if unknown or not chosen:
        wrong = f"there is no revisit policy {unknown[0]!r}" if unknown else "name a revisit policy"
        raise ConfigError(f"{wrong}; there are {', '.join(NAMES)}")
    return chosen


def budget_of(text: str, trace: Trace) -> float:
    """Requests per page and day; `N/day` is for all pages of the trace together."""
    try:
        number = parse_rate(text)
    except ValueError as error:
        raise ConfigError(f"the budget {text!r} {error}, or requests per page and day such as 0.05") from None
    per_page = number / max(_live_pages(trace), 1e-9) if is_total_rate(text) else number
    if per_page > MOST_PER_PAGE_DAY:
        raise ConfigError(
            f"the budget {text!r} is {per_page:,.0f} requests per page and day, more than "
            f"{MOST_PER_PAGE_DAY:,.0f}; a number for all pages together is written like 1000/day"
        )
    return per_page


def _live_pages(trace: Trace) -> float:
    """Pages that live at a time, on average over the judged part."""
    begin = warm_up(trace)
    lives = (
        max((trace.days if page.death is None else min(page.death, trace.days)) - max(page.birth, begin), 0.0)
        for page in trace.pages
    )
    return sum(lives) / max(trace.days - begin, 1e-9)


def trials(
    traces: Sequence[Trace],
    policies: Sequence[str],
    budgets: Sequence[str],
    *,
    signal: str = "none",
    on_begin: Callable[[str], None] = lambda text: None,
) -> Iterator[Run]:
    """One run after the other; `on_begin` is told which."""
    planned = [(trace, name, budget_of(text, trace)) for trace in traces for name in policies for text in budgets]
    for place, (trace, name, budget) in enumerate(planned, start=1):
        on_begin(f"{place} of {len(planned)}: {name} on {trace.site} with {budget:.3g} requests per page and day")
        found = score(trace, name, per_page_day=budget, signal=signal)
        yield Run(trace.site, name, budget, found.freshness, found.requests_per_page_day, found.useful_share)
