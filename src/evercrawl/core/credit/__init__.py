"""Which pages deserve requests? Early detection: credit that flows along links and starves traps.

`flow` moves credit without ever making or losing any, `age` counts generations, `order`
turns credit into the frontier's bands.
"""

from __future__ import annotations

from evercrawl.core.credit.age import Age, aged, joined, spent
from evercrawl.core.credit.flow import (
    Evened,
    Ledger,
    PageCredit,
    Seeded,
    Shares,
    adopted,
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
    resting,
    seed,
    set_aside,
    settle,
    spend,
    whole_of,
)
from evercrawl.core.credit.order import band_of_credit, mean_credit, mean_importance, moves_to, sinks_to, weight_of
from evercrawl.core.credit.stored import ledger_bytes, ledger_of

__all__ = [
    "Age",
    "Evened",
    "Ledger",
    "PageCredit",
    "Seeded",
    "Shares",
    "adopted",
    "aged",
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
    "joined",
    "leave",
    "ledger_bytes",
    "ledger_of",
    "mean_credit",
    "mean_importance",
    "moves_to",
    "new_page",
    "receive",
    "resting",
    "seed",
    "set_aside",
    "settle",
    "sinks_to",
    "spend",
    "spent",
    "weight_of",
    "whole_of",
]
