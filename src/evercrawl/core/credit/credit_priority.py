"""Turn "highest credit first" into queue priorities, each for twice the credit of the next.
A page gets the priority of its credit relative to the mean, and rises when it receives shares. Nothing moves down in
the queue. Dividends are equal for all pages, so they never change the order."""

from __future__ import annotations

from evercrawl.core.credit.ledger import TAX_PERCENT, CreditLedger, total_credit

TOP_OF_MEAN = 8  # A page with this many times the mean credit has the first priority; the next begins at half of that.
MIN_WEIGHT, MAX_WEIGHT = 0.25, 4.0  # Bounds of the weight that importance gives a page in the revisit value.


def mean_credit(ledger: CreditLedger) -> int:
    """Return the credit of an average page."""
    return ledger.held // ledger.pages if ledger.pages else 0


def mean_importance(ledger: CreditLedger) -> float:
    """Return the importance of an average page.
    Half of all credit is spent per generation, nine tenths of it on links, and each counts half of the next."""
    return (100 - TAX_PERCENT) / 100 * total_credit(ledger) / max(1, ledger.pages)


def importance_weight(importance: float, *, mean: float, influence: float) -> float:
    """Return the weight of a current copy, 1 for an average page; with `influence` 0 all are equal.
    Bounded, so no page is forgotten and none takes the whole budget."""
    if mean <= 0.0 or influence <= 0.0:
        return 1.0
    weight = float((importance / mean) ** influence)
    return min(MAX_WEIGHT, max(MIN_WEIGHT, weight))


def credit_priority(credit: int, *, mean: int, priorities: int) -> int:
    """Return the priority for a page of this credit; 0 is the most urgent."""
    top = TOP_OF_MEAN * max(1, mean)
    below = (top - 1) // max(1, credit)
    return min(priorities - 1, below.bit_length())


def raised_priority(priority: int, credit: int, *, mean: int, priorities: int) -> int | None:
    """Return the better priority of a queued page that received credit; None if it stays."""
    deserved = credit_priority(credit, mean=mean, priorities=priorities)
    return deserved if deserved < priority else None
