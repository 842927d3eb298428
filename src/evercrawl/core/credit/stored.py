"""How is the ledger of a shard written? As a list of whole numbers in JSON, which know no upper limit."""

from __future__ import annotations

import json

from evercrawl.core.credit.flow import Ledger

CREDIT_KEY = (0, "credit")
"""Where a shard's ledger is kept among what was learned about sites; no site has this number."""


def ledger_bytes(ledger: Ledger) -> bytes:
    """The stored form."""
    return json.dumps(list(ledger)).encode()


def ledger_of(stored: bytes | None) -> Ledger:
    """What was stored; empty where there is nothing. Numbers that a later version adds are left out."""
    if stored is None:
        return Ledger()
    return Ledger(*json.loads(stored)[: len(Ledger._fields)])
