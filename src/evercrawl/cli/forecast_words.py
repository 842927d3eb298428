"""Estimates as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.cli.output import counted
from evercrawl.core.duration import in_words

if TYPE_CHECKING:
    from evercrawl.model.report import FreshnessEstimate, RevisitStatus


def share(value: float, uncertainty: float) -> str:
    """A share with its standard error: 93.4 % ± 0.8 %."""
    return f"{value:.1%} ± {uncertainty:.1%}".replace("%", " %")


def rate(per_day: float) -> str:
    """Requests a day: 1,000 a day, 0.25 a day."""
    return f"{per_day:,.0f} a day" if per_day >= 10 else f"{per_day:.2g} a day"


def freshness_words(found: FreshnessEstimate) -> str:
    """The estimate and what it rests on."""
    if not found.pages:
        return "nothing to estimate yet"
    words = f"{share(found.freshness, found.uncertainty)} of {counted(found.pages, 'page')} (estimated)"
    if found.without_copy:
        words += f"; {found.without_copy:,} without a copy count as stale, of the others {found.of_copies:.1%}"
    return words.replace("%", " %").replace("  %", " %")


def steering_words(steering: RevisitStatus) -> str:
    """Policy, budget and threshold."""
    budget = "no budget" if steering.budget_per_day is None else f"budget {rate(steering.budget_per_day)}"
    words = f"{steering.policy}, {budget}"
    if steering.policy == "optimal":
        words += f", a visit should bring {in_words(steering.threshold_days)} of a current copy"
    return words
