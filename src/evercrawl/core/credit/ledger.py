"""How does credit flow? The early detection of the source document (`mission.md` D3), in whole numbers.

N seeds share X. A crawled page is left with nothing: a tenth goes to the Lambda page, the rest in equal
shares to its links. When Lambda holds more than the next page, what it holds goes to all pages in equal
parts. That last step is one number here, the dividend per page since the beginning: a page's credit is what
is stored with it and the dividends since that was settled. What does not divide stays with Lambda, so the
sum never changes: not within a shard, not between shards (what is on its way is counted), not over a crash
(ledger and pages change in the transaction of the visit).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

MICROS = 1_000_000
"""Units of one credit; all sums here are in units."""
SEED_CREDITS = 1_000_000
"""X of the source document. Ten million pages then hold 0.1 credits each on average, which is 100,000 units;
a store of 64-bit numbers can count the flow of nine million times the whole sum.
"""
TAX_PERCENT = 10


class PageCredit(NamedTuple):
    """What is stored with a page; its credit is this and the dividends since (`credit_of`)."""

    held: int
    since: int
    """The ledger's dividend up to which `held` includes it."""
    earned: int = 0
    """What links gave to the page, faded (`importance_of`); spending does not touch it."""
    generation: int = 0
    """The generation in which it earned last."""


class CreditLedger(NamedTuple):
    """The credit of a shard: minted + received = sent + Lambda's + held by its pages + in hand."""

    lambda_page: int = 0
    dividend: int = 0
    """What Lambda gave to each page, summed up since the beginning."""
    pages: int = 0
    held: int = 0
    """The credit of all pages together, dividends that were not settled included."""
    unallocated: int = 0
    """Taken from somewhere and not given to anybody yet; 0 at every commit."""
    minted: int = 0
    sent: int = 0
    """To other shards, summed up since the beginning; what is sent and not received is on its way."""
    received: int = 0
    turnover: int = 0
    """Credit spent here in this generation."""
    generation: int = 0
    """As all shards of a process count it (`age`)."""


class SeedCredit(NamedTuple):
    """The ledger once the seeds have their credit, and how much each of them has."""

    ledger: CreditLedger
    share: int


class LinkShares(NamedTuple):
    """What a visit leaves behind: the page without credit, and an equal share for each link, in hand."""

    ledger: CreditLedger
    page: PageCredit
    share: int


class Evened(NamedTuple):
    """The ledger, and what goes from its Lambda page to those of other shards."""

    ledger: CreditLedger
    gifts: dict[int, int]


def mint_seeds(ledger: CreditLedger, seeds: int, *, amount: int = SEED_CREDITS * MICROS) -> SeedCredit:
    """Mint an amount that so many seeds share; the shares are in hand until `hand_out`."""
    share = amount // seeds
    in_hand = share * seeds
    ledger = ledger._replace(
        minted=ledger.minted + amount,
        unallocated=ledger.unallocated + in_hand,
        lambda_page=ledger.lambda_page + amount - in_hand,
    )
    return SeedCredit(ledger, share)


def add_pages(ledger: CreditLedger, pages: int = 1) -> CreditLedger:
    """So many pages are new here; each is stored as `new_page` has it."""
    return ledger._replace(pages=ledger.pages + pages)


def new_page(ledger: CreditLedger) -> PageCredit:
    """A page without credit, and without a claim on dividends of the past."""
    return PageCredit(0, ledger.dividend, 0, ledger.generation)


def remove_page(page: PageCredit, ledger: CreditLedger) -> CreditLedger:
    """The page is forgotten; its credit goes to Lambda."""
    credit = credit_of(page, ledger.dividend)
    return ledger._replace(pages=ledger.pages - 1, held=ledger.held - credit, lambda_page=ledger.lambda_page + credit)


def credit_of(page: PageCredit, dividend: int) -> int:
    """What the page holds now."""
    return page.held + dividend - page.since


def settle(page: PageCredit, dividend: int) -> PageCredit:
    """The same credit with all dividends included in `held`."""
    return page._replace(held=credit_of(page, dividend), since=dividend)


def importance_of(page: PageCredit, generation: int) -> int:
    """What links gave to the page, each generation counting half of the next; orders pages as PageRank does.

    The credit itself does not: it is 0 after every visit. All that was ever earned does not either: it
    remembers for long that the seeds held everything in the beginning.
    """
    return page.earned >> (generation - page.generation)


def with_share(page: PageCredit, amount: int, *, generation: int) -> PageCredit:
    """The page with a share of some link more; dividends need not be settled for that."""
    earned = importance_of(page, generation) + amount
    return PageCredit(page.held + amount, page.since, earned, generation)


def spend(page: PageCredit, ledger: CreditLedger, *, links: int) -> LinkShares:
    """A visit: all credit leaves the page, a tenth of it to Lambda, the rest in equal shares to its links.

    A page without links, or one that could not be read, leaves everything to Lambda. What does not divide
    goes there too.
    """
    credit = credit_of(page, ledger.dividend)
    share = (credit - credit * TAX_PERCENT // 100) // links if links else 0
    for_links = share * links
    ledger = ledger._replace(
        held=ledger.held - credit,
        unallocated=ledger.unallocated + for_links,
        lambda_page=ledger.lambda_page + credit - for_links,
        turnover=ledger.turnover + credit,
    )
    return LinkShares(ledger, page._replace(held=0, since=ledger.dividend), share)


def total_credit(ledger: CreditLedger) -> int:
    """All credit that is in the shard."""
    return ledger.lambda_page + ledger.held + ledger.unallocated


def allocate(ledger: CreditLedger, *, kept: int = 0, sent: int = 0, refused: int = 0) -> CreditLedger:
    """What was in hand went to pages of this shard, to other shards, or (nobody took it) to Lambda."""
    return ledger._replace(
        unallocated=ledger.unallocated - kept - sent - refused,
        held=ledger.held + kept,
        sent=ledger.sent + sent,
        lambda_page=ledger.lambda_page + refused,
    )


def receive(ledger: CreditLedger, amount: int) -> CreditLedger:
    """Credit of another shard has arrived; it is in hand until `hand_out`."""
    return ledger._replace(received=ledger.received + amount, unallocated=ledger.unallocated + amount)


def is_lambda_next(ledger: CreditLedger, *, highest: int) -> bool:
    """Lambda holds more than the page whose turn it is, so it is Lambda's turn."""
    return ledger.lambda_page > highest and ledger.lambda_page >= ledger.pages > 0


def pay_dividend(ledger: CreditLedger) -> CreditLedger:
    """Lambda's turn: what it holds goes to all pages of the shard in equal parts, in one number."""
    if not ledger.pages:
        return ledger
    each, left = divmod(ledger.lambda_page, ledger.pages)
    return ledger._replace(lambda_page=left, dividend=ledger.dividend + each, held=ledger.held + each * ledger.pages)


def set_aside(ledger: CreditLedger, amount: int) -> CreditLedger:
    """A part of what Lambda holds is in hand, to be given to Lambdas of other shards."""
    return ledger._replace(lambda_page=ledger.lambda_page - amount, unallocated=ledger.unallocated + amount)


def as_stored(ledger: CreditLedger) -> CreditLedger:
    """The ledger as it is stored: what is in hand is Lambda's until somebody has it.

    A crash then forgets for whom it was, and loses nothing.
    """
    return ledger._replace(unallocated=0, lambda_page=ledger.lambda_page + ledger.unallocated)


def adopt_pages(ledger: CreditLedger, pages: int, *, amount: int) -> CreditLedger:
    """The ledger of a shard that holds so many pages, some of which perhaps came past it, by an import, say.

    They are stored with nothing, which is worth the dividend. In a shard without any credit, Lambda gets
    `amount`, for all pages alike.
    """
    strangers = max(0, pages - ledger.pages)
    if not strangers:
        return ledger
    gained = strangers * ledger.dividend
    ledger = ledger._replace(pages=pages, held=ledger.held + gained, minted=ledger.minted + gained)
    if ledger.minted + ledger.received:
        return ledger
    return ledger._replace(minted=amount, lambda_page=amount)


def even_out(ledger: CreditLedger, pages_elsewhere: Mapping[int, int]) -> Evened:
    """Give Lambdas of other shards their part, so that Lambda's credit goes to all pages of the collection.

    Each part is in proportion to that shard's pages. Page counts may be old: nothing is lost by that, and
    the next time mends it. A part that would not give every page one unit stays here. The gifts count as
    sent; who takes one calls `receive` and `hand_out(refused=…)`.
    """
    pages = ledger.pages + sum(pages_elsewhere.values())
    gifts = {
        shard: gift
        for shard, count in sorted(pages_elsewhere.items())
        if count and (gift := ledger.lambda_page * count // pages) >= count
    }
    sent = sum(gifts.values())
    ledger = ledger._replace(lambda_page=ledger.lambda_page - sent, sent=ledger.sent + sent)
    return Evened(ledger, gifts)


def balance(ledger: CreditLedger) -> int:
    """What the books are wrong by: 0, always."""
    return ledger.minted + ledger.received - ledger.sent - total_credit(ledger)


HALF_LIVES = 2
"""Generations in which as much credit is spent as there is; what a page earned counts half in the next."""


class CreditAge(NamedTuple):
    """The generation that all shards of a process are in, and what they have spent in it."""

    generation: int = 0
    turnover: int = 0


def join_age(age: CreditAge, ledger: CreditLedger) -> CreditAge:
    """The age with a shard more, as its books were stored: the oldest says which generation it is."""
    if ledger.generation > age.generation:
        return CreditAge(ledger.generation, ledger.turnover)
    same = ledger.generation == age.generation
    return age._replace(turnover=age.turnover + ledger.turnover) if same else age


def age_after_spending(age: CreditAge, credit: int, *, whole: int) -> CreditAge:
    """The age when so much more was spent of all the credit there is."""
    if whole < HALF_LIVES:
        return age
    generations, turnover = divmod(age.turnover + credit, whole // HALF_LIVES)
    return CreditAge(age.generation + generations, turnover)


def with_generation(ledger: CreditLedger, age: CreditAge) -> CreditLedger:
    """The books in the generation that all shards are in."""
    if ledger.generation >= age.generation:
        return ledger
    return ledger._replace(generation=age.generation, turnover=0)


CREDIT_KEY = (0, "credit")
"""Where a shard's ledger is kept among what was learned about sites; no site has this number."""


def ledger_bytes(ledger: CreditLedger) -> bytes:
    """The stored form."""
    return json.dumps(list(ledger)).encode()


def ledger_of(stored: bytes | None) -> CreditLedger:
    """What was stored; empty where there is nothing. Numbers that a later version adds are left out."""
    if stored is None:
        return CreditLedger()
    return CreditLedger(*json.loads(stored)[: len(CreditLedger._fields)])
