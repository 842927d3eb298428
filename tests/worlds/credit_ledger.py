"""What tests and benchmarks do with a ledger and its pages beside what a crawl does: mint, share and audit."""

from __future__ import annotations

from typing import NamedTuple

from evercrawl.core.credit.ledger import MICROS, SEED_CREDITS, CreditLedger, PageCredit, importance_of, total_credit


class SeedCredit(NamedTuple):
    """The ledger after minting, and the share of each seed."""

    ledger: CreditLedger
    share: int


def mint_seeds(ledger: CreditLedger, seeds: int, *, amount: int = SEED_CREDITS * MICROS) -> SeedCredit:
    """Mint an amount for the seeds. Their shares stay unallocated until `allocate`."""
    share = amount // seeds
    total = share * seeds
    ledger = ledger._replace(
        minted=ledger.minted + amount,
        unallocated=ledger.unallocated + total,
        lambda_page=ledger.lambda_page + amount - total,
    )
    return SeedCredit(ledger, share)


def new_page(ledger: CreditLedger) -> PageCredit:
    """Return a page without credit or claims on past dividends."""
    return PageCredit(0, ledger.dividend, 0, ledger.generation)


def with_share(page: PageCredit, amount: int, *, generation: int) -> PageCredit:
    """Return the page with one more share. Dividends need not be settled."""
    earned = importance_of(page, generation) + amount
    return PageCredit(page.held + amount, page.since, earned, generation)


def balance(ledger: CreditLedger) -> int:
    """Return the error of the ledger, which is always 0."""
    return ledger.minted + ledger.received - ledger.sent - total_credit(ledger)
