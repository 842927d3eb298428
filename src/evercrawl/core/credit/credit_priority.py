"""How does "highest credit first" become front queues? By bands of credit, each twice as rich as the next.

A sorted list of ten million pages is not needed: a page goes to the band of its credit against the mean
credit of a page, and moves up when shares that it receives carry it over a border. Nothing is moved down in
the queue: what has become poor is noticed when its turn comes (`sinks_to`). Dividends are the same for all
pages and so never change their order.
"""

from __future__ import annotations

from evercrawl.core.credit.ledger import TAX_PERCENT, CreditLedger, total_credit

TOP_OF_MEAN = 8
"""A page that holds so many times the mean is in the first band; half of that is the border of the next."""
LEAST_WEIGHT, MOST_WEIGHT = 0.25, 4.0
"""Bounds of what importance makes of a page in the revisit value."""
LEAST_SINK = 2
"""A page whose credit now belongs so many bands lower goes back to the queue instead of being visited."""


def mean_credit(ledger: CreditLedger) -> int:
    """The credit of an average page."""
    return ledger.held // ledger.pages if ledger.pages else 0


def mean_importance(ledger: CreditLedger) -> float:
    """The importance of an average page.

    Half of all credit is spent in a generation, nine tenths of it on links, and each generation counts half
    of the next: nine tenths of all credit are remembered.
    """
    return (100 - TAX_PERCENT) / 100 * total_credit(ledger) / max(1, ledger.pages)


def importance_weight(importance: float, *, mean: float, influence: float) -> float:
    """What a current copy of a page counts, 1 for an average one; `influence` 0: all count alike.

    Bounded, so that no page is forgotten and none has the whole budget.
    """
    if mean <= 0.0 or influence <= 0.0:
        return 1.0
    weight = float((importance / mean) ** influence)
    return min(MOST_WEIGHT, max(LEAST_WEIGHT, weight))


def credit_priority(credit: int, *, mean: int, bands: int) -> int:
    """The front queue for a page of this credit; 0 is the most urgent. Unknown means count as average."""
    top = TOP_OF_MEAN * max(1, mean)
    below = (top - 1) // max(1, credit)
    return min(bands - 1, below.bit_length())


def raised_priority(band: int, credit: int, *, mean: int, bands: int) -> int | None:
    """The better band for a queued page that has just received credit; None: it stays."""
    deserved = credit_priority(credit, mean=mean, bands=bands)
    return deserved if deserved < band else None


def lowered_priority(band: int, credit: int, *, mean: int, bands: int) -> int | None:
    """The band for a page whose turn has come although its credit has fallen behind; None: visit it.

    Only where the difference is clear, so that no page goes to and fro.
    """
    deserved = credit_priority(credit, mean=mean, bands=bands)
    return deserved if deserved >= band + LEAST_SINK else None
