"""The flow of credit, in whole numbers (early detection, paper D).
A crawled page gives a tenth of its credit to the Lambda page, the rest in equal shares to its links. When Lambda holds
more than the next page, it pays all pages a dividend: a page's credit is its balance plus the dividends since.
Remainders stay with Lambda, and credit in transit is counted, so the sum never changes, not even in a crash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from evercrawl.model import wide

MICROS = 1_000_000  # Units of one credit. All sums are in units.
SEED_CREDITS = 1_000_000
"""X. Ten million pages hold 100,000 units each on average; 64 bits count the flow of nine million times the sum."""
TAX_PERCENT = 10


class PageCredit(NamedTuple):
    """What is stored with a page. `credit_of` adds the dividends since."""

    held: int
    since: int  # The dividend that `held` already includes.
    earned: int = 0  # Faded shares from links (`importance_of`). Spending does not touch it.
    generation: int = 0  # The generation in which it last earned.


@wide
class CreditLedger(NamedTuple):
    """The credit of a shard: minted + received = sent + Lambda's + held by its pages + unallocated."""

    lambda_page: int = 0
    dividend: int = 0  # What Lambda paid to each page since the beginning.
    pages: int = 0
    held: int = 0  # The credit of all pages, including unsettled dividends.
    unallocated: int = 0  # Taken but not yet given to anyone; 0 at every commit.
    minted: int = 0
    sent: int = 0  # To other shards since the beginning. Sent but not received credit is in transit.
    received: int = 0
    turnover: int = 0  # Credit spent here in this generation.
    generation: int = 0  # Counted for all shards of a process together (`CreditAge`).


class LinkShares(NamedTuple):
    """The result of a visit: the page without credit, and an equal unallocated share for each link."""

    ledger: CreditLedger
    page: PageCredit
    share: int


def add_pages(ledger: CreditLedger, pages: int = 1) -> CreditLedger:
    """Count new pages. Each is stored as `new_page` returns it."""
    return ledger._replace(pages=ledger.pages + pages)


def credit_of(page: PageCredit, dividend: int) -> int:
    """Return the page's current credit."""
    return page.held + dividend - page.since


def importance_of(page: PageCredit, generation: int) -> int:
    """Return what links gave to the page, each generation counting half of the next.
    It orders pages like PageRank. Credit cannot: it is 0 after every visit. The total ever earned favours the seeds."""
    return page.earned >> (generation - page.generation)


def spend(page: PageCredit, ledger: CreditLedger, *, links: int) -> LinkShares:
    """Spend all credit of a page: a tenth goes to Lambda, the rest in equal shares to its links.
    Without links, or if the page could not be read, everything goes to Lambda. So do remainders."""
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
    """Return all credit in the shard."""
    return ledger.lambda_page + ledger.held + ledger.unallocated


def allocate(ledger: CreditLedger, *, kept: int = 0, sent: int = 0, refused: int = 0) -> CreditLedger:
    """Move unallocated credit to pages of this shard, to other shards, or (refused) to Lambda."""
    return ledger._replace(
        unallocated=ledger.unallocated - kept - sent - refused,
        held=ledger.held + kept,
        sent=ledger.sent + sent,
        lambda_page=ledger.lambda_page + refused,
    )


def receive(ledger: CreditLedger, amount: int) -> CreditLedger:
    """Add credit from another shard. It stays unallocated until `allocate`."""
    return ledger._replace(received=ledger.received + amount, unallocated=ledger.unallocated + amount)


def is_lambda_next(ledger: CreditLedger, *, highest: int) -> bool:
    """True if Lambda holds more than the next page, so it is Lambda's turn."""
    return ledger.lambda_page > highest and ledger.lambda_page >= ledger.pages > 0


def pay_dividend(ledger: CreditLedger) -> CreditLedger:
    """Pay Lambda's credit to all pages of the shard in equal parts."""
    if not ledger.pages:
        return ledger
    each, left = divmod(ledger.lambda_page, ledger.pages)
    return ledger._replace(lambda_page=left, dividend=ledger.dividend + each, held=ledger.held + each * ledger.pages)


def reserve(ledger: CreditLedger, amount: int) -> CreditLedger:
    """Take credit from Lambda for the Lambda pages of other shards."""
    return ledger._replace(lambda_page=ledger.lambda_page - amount, unallocated=ledger.unallocated + amount)


def as_stored(ledger: CreditLedger) -> CreditLedger:
    """Return the ledger as stored: unallocated credit belongs to Lambda.
    A crash then loses no credit, only for whom it was."""
    return ledger._replace(unallocated=0, lambda_page=ledger.lambda_page + ledger.unallocated)


def adopt_pages(ledger: CreditLedger, pages: int, *, amount: int) -> CreditLedger:
    """Adjust the ledger to a shard with `pages` pages, of which others, such as an import, added some.
    They are stored with nothing, which is worth the dividend. In a shard without credit, Lambda gets `amount`."""
    added = max(0, pages - ledger.pages)
    if not added:
        return ledger
    gained = added * ledger.dividend
    ledger = ledger._replace(pages=pages, held=ledger.held + gained, minted=ledger.minted + gained)
    return ledger if ledger.minted + ledger.received else ledger._replace(minted=amount, lambda_page=amount)


def drop_pages(ledger: CreditLedger, credits: Sequence[int]) -> CreditLedger:
    """Return the ledger without some pages, given what each is stored with; Lambda gets their credit."""
    freed = sum(credits) + len(credits) * ledger.dividend
    pages, held = ledger.pages - len(credits), ledger.held - freed
    return ledger._replace(pages=pages, held=held, lambda_page=ledger.lambda_page + freed)


HALF_LIVES = 2  # Generations in which as much credit is spent as exists.


class CreditAge(NamedTuple):
    """The generation of all shards of a process, and what they spent in it.
    If each shard counted its own, what their pages earned could not be compared."""

    generation: int = 0
    turnover: int = 0


def join_age(age: CreditAge, ledger: CreditLedger) -> CreditAge:
    """Return the age with one more stored ledger. The oldest decides the generation."""
    if ledger.generation > age.generation:
        return CreditAge(ledger.generation, ledger.turnover)
    same = ledger.generation == age.generation
    return age._replace(turnover=age.turnover + ledger.turnover) if same else age


def age_after_spending(age: CreditAge, credit: int, *, whole: int) -> CreditAge:
    """Return the age after spending `credit` of the `whole`."""
    if whole < HALF_LIVES:
        return age
    generations, turnover = divmod(age.turnover + credit, whole // HALF_LIVES)
    return CreditAge(age.generation + generations, turnover)


def with_generation(ledger: CreditLedger, age: CreditAge) -> CreditLedger:
    """Return the ledger in the generation of all shards."""
    if ledger.generation >= age.generation:
        return ledger
    return ledger._replace(generation=age.generation, turnover=0)


CREDIT_KEY = (0, "credit")  # Where a shard's ledger is stored. No site has this number.


def ledger_bytes(ledger: CreditLedger) -> bytes:
    """Return the stored form."""
    return json.dumps(list(ledger)).encode()


def ledger_of(stored: bytes | None) -> CreditLedger:
    """Read the stored form; empty if there is none. Fields of a later version are ignored."""
    return CreditLedger() if stored is None else CreditLedger(*json.loads(stored)[: len(CreditLedger._fields)])


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
