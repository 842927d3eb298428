"""Which pages deserve requests? Early detection: credit that flows along links and starves traps.

`flow` moves credit without ever making or losing any, `order` turns it into the frontier's bands.
"""

from __future__ import annotations

from evercrawl.core.credit.flow import (
    Evened,
    Ledger,
    PageCredit,
    Seeded,
    Shares,
    balance,
    credit_of,
    credited,
    distribute,
    enter,
    even_out,
    hand_out,
    importance_of,
    is_lambda_next,
    leave,
    new_page,
    receive,
    seed,
    settle,
    spend,
)
from evercrawl.core.credit.order import band_of_credit, mean_credit, moves_to, sinks_to

__all__ = [
    "Evened",
    "Ledger",
    "PageCredit",
    "Seeded",
    "Shares",
    "balance",
    "band_of_credit",
    "credit_of",
    "credited",
    "distribute",
    "enter",
    "even_out",
    "hand_out",
    "importance_of",
    "is_lambda_next",
    "leave",
    "mean_credit",
    "moves_to",
    "new_page",
    "receive",
    "seed",
    "settle",
    "sinks_to",
    "spend",
]
