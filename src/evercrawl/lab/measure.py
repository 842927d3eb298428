"""How good is a policy? The four measures G1 to G4: gap closed, and requests for a given freshness."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, inf, log

from evercrawl.lab import policy
from evercrawl.lab.comparison import Oracle
from evercrawl.lab.replay import Driven, Notice, Score, poor_signal, replay, true_lastmod
from evercrawl.lab.trace import Trace

SIGNALS = ("none", "true", "poor")
LEAST_MISSING = 1e-9
UNLIMITED = 1e6
"""Requests per page and day that no rule of its own pace can use up."""


def notices_of(trace: Trace, signal: str) -> list[Notice] | None:
    """The announcements of a kind of signal; None: there is no source to poll."""
    if signal == "true":
        return true_lastmod(trace)
    return poor_signal(trace) if signal == "poor" else None


def made(name: str, trace: Trace) -> Driven:
    """The policy of that name, or the oracle; the replay keeps the budget."""
    return Oracle(trace) if name == "oracle" else policy(name)


def score(trace: Trace, name: str, *, per_page_day: float, signal: str = "none") -> Score:
    """One run of a policy by name."""
    return replay(trace, made(name, trace), per_page_day=per_page_day, notices=notices_of(trace, signal))


def gap_closed(*, freshness: float, uniform: float, oracle: float) -> float:
    """G1: share of the way from uniform to the oracle; nan where there is no way to go."""
    return (freshness - uniform) / (oracle - uniform) if oracle > uniform else float("nan")


def requests_for(goal: float, curve: Mapping[float, float]) -> float:
    """Requests at which a curve (requests to freshness) reaches `goal`, by interpolation.

    What is missing to 1 falls about as a power of the requests, so both are taken on a log scale: a straight
    line of freshness between two budgets would lie below the curve, and charge a few percent too much.
    Below the first point the first point counts; inf where the curve never gets there.
    """
    before: float | None = None
    for requests in sorted(curve):
        if curve[requests] >= goal:
            return requests if before is None else _between(before, requests, goal, curve)
        before = requests
    return inf


def _between(low: float, high: float, goal: float, curve: Mapping[float, float]) -> float:
    part = (_missing(goal) - _missing(curve[low])) / (_missing(curve[high]) - _missing(curve[low]))
    return exp(log(low) + part * (log(high) - log(low)))


def _missing(freshness: float) -> float:
    return log(max(1.0 - freshness, LEAST_MISSING))


def share_of_requests(goal: Score, curve: Mapping[float, float]) -> float:
    """G2 to G4: requests for the freshness of another policy's run, as a share of the requests it used."""
    return requests_for(goal.freshness, curve) / goal.requests_per_page_day
