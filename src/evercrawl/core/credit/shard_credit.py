"""The credit of one shard: what visits pay to links, who gets it, and what is stored.
Shares of new pages go into their rows. Shares of known pages wait in a buffer and are written now and then, the largest
first. In the store, the buffer and what is reserved for other shards belong to Lambda, so a crash loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.credit import ledger as ledgers
from evercrawl.core.credit.ledger import (
    MICROS,
    SEED_CREDITS,
    CreditAge,
    CreditLedger,
    PageCredit,
    credit_priority,
    importance_weight,
    mean_credit,
    mean_importance,
    raised_priority,
)
from evercrawl.core.frontier import priority_of
from evercrawl.core.visit.links import FoundLinks
from evercrawl.model.page import Candidate, Page, QueuePosition
from evercrawl.model.settings import CreditSettings

BY_CREDIT, PAPER_CREDIT = "credit", "paper-credit"
PAPER_WINDOW = 10_000  # Queued pages of one site among which the richest is found.
VISITS_PER_ROUND = 500  # The buffer is written after this many visits.
MIN_WRITES = 200  # At least this many shares are written in each round.
KEPT_SHARE = 2  # A full buffer keeps its richer half; the rest goes to the Lambda page.
COUNTED_PART = 2000  # Spending is counted for generations once it exceeds all credit divided by this.


class CreditShares(NamedTuple):
    """What a visit pays: what leaves the page, and the share of each link."""

    spent: int
    share: int
    waited: int = 0  # The part of `spent` that waited in the buffer; it is written with the visit.


class CreditColumns(NamedTuple):
    """The credit columns of a new page."""

    credit: int
    earned: int
    generation: int


class Generations:
    """The generation that all shards of a process share."""

    def __init__(self, whole: Callable[[], int]) -> None:
        """`whole` returns all credit in these shards."""
        self.age = CreditAge()
        self._whole = whole
        self._uncounted = 0
        self._count_above = 0

    def join(self, ledger: CreditLedger) -> None:
        """Add the stored ledger of one more shard."""
        self.age = ledgers.join_age(self.age, ledger)

    def after(self, credit: int) -> int:
        """Return the generation after spending `credit` more."""
        uncounted = self._uncounted + credit
        if uncounted <= self._count_above:
            return self.age.generation
        return ledgers.age_after_spending(self.age, uncounted, whole=self._whole()).generation

    def spend(self, credit: int) -> None:
        """Count what was spent; all shards are summed up at most a thousand times per generation."""
        self._uncounted += credit
        if self._uncounted > self._count_above:
            whole = self._whole()
            self.age = ledgers.age_after_spending(self.age, self._uncounted, whole=whole)
            self._uncounted, self._count_above = 0, whole // COUNTED_PART


class ShardCredit:
    """The credit ledger of one shard.
    Invariant: after a commit, the store (pages, ledger, link batches in transit) holds what was minted."""

    def __init__(
        self,
        stored: bytes | None,
        *,
        pages: int,
        settings: CreditSettings,
        priorities: int,
        seeds: int,
        pages_elsewhere: Callable[[], Mapping[int, int]],
        generations: Generations,
        shards: int = 1,
    ) -> None:
        amount = SEED_CREDITS * MICROS
        self._ledger = ledgers.adopt_pages(ledgers.ledger_of(stored), pages, amount=amount)
        self._generations = generations
        self._shards = shards
        generations.join(self._ledger)
        self._seed_share = amount // max(1, seeds)
        self._settings = settings
        self._priorities = priorities
        self._pages_elsewhere = pages_elsewhere
        self._buffer: dict[str, int] = {}
        self._for_others = 0
        """Reserved for the Lambda pages of other shards."""
        self._visits = 0
        self._entered = self._kept = self._sent = self._refused = 0
        """New pages, their credit, and what was sent and refused since the ledger was last read."""
        self._mean = mean_importance(self._ledger)

    @property
    def ledger(self) -> CreditLedger:
        """The ledger up to now."""
        if self._entered or self._kept or self._sent or self._refused:
            ledger = ledgers.allocate(self._ledger, kept=self._kept, sent=self._sent, refused=self._refused)
            self._ledger = ledgers.add_pages(ledger, self._entered) if self._entered else ledger
            self._entered = self._kept = self._sent = self._refused = 0
        return self._ledger

    @property
    def pages(self) -> int:
        """Pages of this shard."""
        return self._ledger.pages + self._entered

    @property
    def whole(self) -> int:
        """All credit of this shard."""
        return ledgers.total_credit(self._ledger)

    def to_store(self) -> CreditLedger:
        """Return the ledger as the next commit has to write it."""
        self._ledger = ledgers.with_generation(self.ledger, self._generations.age)
        self._mean = mean_importance(self._ledger)
        return ledgers.as_stored(self._ledger)

    # New pages

    @property
    def orders_queue(self) -> bool:
        """Whether the queue is ordered by credit."""
        return self._settings.order in (BY_CREDIT, PAPER_CREDIT)

    @property
    def is_exact(self) -> bool:
        """Whether the richest page is next, exactly as in the paper."""
        return self._settings.order == PAPER_CREDIT

    def balance_of(self, page: Page) -> int:
        """Return the credit of a queued page, without the dividends that all pages get."""
        return page.credit + self._buffer.get(page.url, 0)

    def balances_of(self, pages: Iterable[Page]) -> list[float]:
        """Return the same for many pages."""
        gained = self._buffer.get
        return [page.credit + gained(page.url, 0) for page in pages]

    def exact_value(self, page: Page, tie_seed: int) -> float:
        """Return the credit of a page with a fraction of a unit that breaks ties at random."""
        return self.balance_of(page) + xxh32_intdigest(page.key, seed=tie_seed) / 2**32

    @property
    def last_priority(self) -> int:
        """The last priority that credit gives; views and poor pages come after it."""
        return self._priorities - 1

    def priority_of(self, candidate: Candidate) -> int:
        """Return the priority of a new page; without credit it is breadth first."""
        if candidate.credit is None or not self.orders_queue:
            return priority_of(depth=candidate.depth, hops=candidate.hops, priorities=self._priorities)
        if candidate.hops:
            return 0
        if not candidate.credit:
            return self.last_priority
        return credit_priority(candidate.credit, mean=mean_credit(self._ledger), priorities=self._priorities)

    def add_page(self, candidate: Candidate) -> CreditColumns:
        """Add a new page with its share and return its columns; the share of a seed is minted."""
        ledger = self._ledger
        amount = candidate.credit or 0
        if candidate.parent is None and candidate.depth == 0 and not amount:
            amount = self._seed_share
            minted, unallocated = ledger.minted + amount, ledger.unallocated + amount
            self._ledger = ledger = ledger._replace(minted=minted, unallocated=unallocated)
        self._entered += 1
        self._kept += amount
        return CreditColumns(amount - ledger.dividend, amount, self.generation)

    def refuse(self, candidate: Candidate) -> None:
        """Give the share of a refused link to the Lambda page."""
        self._refused += candidate.credit or 0

    # Visits

    def distribute(
        self, page: Page, found: FoundLinks, *, new: Sequence[Candidate], sent: Sequence[Candidate], expands: bool
    ) -> CreditShares:
        """Divide the page's credit among its links: new ones, those sent to other shards, and known ones.
        A page that does not expand (a duplicate, or without links) leaves everything to the Lambda page."""
        self._visits += 1
        waited = self._buffer.pop(page.url, 0)
        self._kept += waited
        held = PageCredit(page.credit + waited, 0)
        self._ledger, reserved = self._lambdas_turn(held.held)
        self._for_others += reserved
        credit = ledgers.credit_of(held, self._ledger.dividend)
        refused = len(found.refusals) - found.refused_embeds
        links = len(found.recent) + len(found.candidates) + refused if expands else 0
        self._ledger, _, share = ledgers.spend(held, self._ledger, links=links)
        self._generations.spend(credit)
        self._ledger = ledgers.with_generation(self._ledger, self._generations.age)
        if share:
            known = _known(found.candidates, new, sent)
            self._put(found.recent, share)
            self._put(known, share)
            # A link that occurs twice, in two spellings, counts as one page.
            repeated = len(found.candidates) - len(new) - len(sent) - len(known)
            self._sent += share * len(sent)
            self._refused += share * (repeated + refused)
        return CreditShares(credit, share, waited)

    def _lambdas_turn(self, held: int) -> tuple[CreditLedger, int]:
        """Return the ledger before a page with this credit is visited, and what is reserved for other shards.
        If the Lambda page holds more, it first pays all pages of the collection."""
        ledger = self.ledger
        if not ledgers.is_lambda_next(ledger, highest=held + ledger.dividend):
            return ledger, 0
        elsewhere = sum(self._pages_elsewhere().values())
        reserved = ledger.lambda_page * elsewhere // (ledger.pages + elsewhere)
        return ledgers.pay_dividend(ledgers.reserve(ledger, reserved)), reserved

    def _put(self, urls: Iterable[str], share: int) -> None:
        buffer = self._buffer
        for url in urls:
            buffer[url] = buffer.get(url, 0) + share

    def receive(self, amount: int, *, grant: int, shares: Mapping[str, int]) -> None:
        """Receive credit from another shard."""
        self._ledger = ledgers.receive(self.ledger, amount)
        self._refused += grant
        for url, share in shares.items():
            self._buffer[url] = self._buffer.get(url, 0) + share

    def pay_known(self, candidates: Sequence[Candidate], fresh: Iterable[Candidate]) -> None:
        """Pay the received links that are pages already."""
        new = {candidate.key for candidate in fresh}
        for candidate in candidates:
            if candidate.key not in new and candidate.credit:
                self._put((candidate.url,), candidate.credit)
        # A link that occurs twice counts as one page.
        counted = {candidate.key: candidate for candidate in candidates if candidate.key in new}
        repeated = [c for c in candidates if c.key in new and counted[c.key] is not c]
        self._refused += sum(candidate.credit or 0 for candidate in repeated)

    # Known pages

    def is_round_over(self) -> bool:
        """Return whether it is time to write the buffer."""
        return self._visits >= VISITS_PER_ROUND or len(self._buffer) > self._room()

    def _room(self) -> int:
        return max(MIN_WRITES, self._settings.buffer_entries // max(1, self._shards))

    def take_richest(self) -> dict[str, int]:
        """Remove and return the links that gained most; the caller reports with `record_payments` what became of them.
        If the buffer is full, its poorer half goes to the Lambda page."""
        writes = (
            max(MIN_WRITES, self._settings.writes_per_visit * self._visits) if self._settings.writes_per_visit else 0
        )
        self._visits = 0
        buffer, by_amount = self._buffer, itemgetter(1)
        richest = dict(nlargest(writes, buffer.items(), key=by_amount)) if len(buffer) > writes else dict(buffer)
        for url in richest:
            del buffer[url]
        room = self._room()
        if len(buffer) > room:
            kept = dict(nlargest(room // KEPT_SHARE, buffer.items(), key=by_amount))
            self._refused += sum(buffer.values()) - sum(kept.values())
            self._buffer = kept
        return richest

    def put_back(self, shares: Mapping[str, int]) -> None:
        """Put back shares that could not be written yet."""
        for url, amount in shares.items():
            self._put((url,), amount)

    def record_payments(self, *, kept: int, sent: int, refused: int) -> None:
        """Record what became of shares: paid to pages here, sent to other shards, or refused."""
        self._ledger = ledgers.allocate(self.ledger, kept=kept, sent=sent, refused=refused)

    def grants(self) -> dict[int, int]:
        """Return what the Lambda pages of other shards get, in proportion to their pages."""
        reserved, self._for_others = self._for_others, 0
        pages = {shard: count for shard, count in self._pages_elsewhere().items() if count}
        total = sum(pages.values())
        grants = {shard: grant for shard, count in pages.items() if (grant := reserved * count // total) >= count}
        sent = sum(grants.values())
        self._ledger = ledgers.allocate(self.ledger, sent=sent, refused=reserved - sent)
        return grants

    def better_priority(self, standing: QueuePosition, gained: int) -> int | None:
        """Return the better priority of a queued page that has gained credit; None: it stays."""
        if standing.seq is None or not self.orders_queue or standing.priority > self.last_priority:
            return None
        ledger = self.ledger
        credit = standing.credit + ledger.dividend + gained
        return raised_priority(standing.priority, credit, mean=mean_credit(ledger), priorities=self._priorities)

    # Importance

    @property
    def generation(self) -> int:
        """The generation in which shares are earned now."""
        return self._generations.age.generation

    def weight(self, page: Page) -> float:
        """Return how much a current copy of the page counts, 1 for an average one."""
        return self._weight(page, self.generation)

    def weight_after_visit(self, page: Page) -> float:
        """Return the same for a page that is about to spend its credit, which may begin a generation."""
        held = page.credit + self._buffer.get(page.url, 0)
        ledger, _ = self._lambdas_turn(held)
        return self._weight(page, self._generations.after(held + ledger.dividend))

    def _weight(self, page: Page, generation: int) -> float:
        earned = PageCredit(0, 0, page.earned, page.generation)
        importance = ledgers.importance_of(earned, max(page.generation, generation))
        return importance_weight(importance, mean=self._mean, influence=self._settings.importance_exponent)


def _known(candidates: Sequence[Candidate], new: Sequence[Candidate], sent: Sequence[Candidate]) -> list[str]:
    """Return the URLs of those candidates of this shard that are pages already."""
    if len(new) + len(sent) == len(candidates):
        return []
    others = {candidate.key for candidate in (*new, *sent)}
    return [candidate.url for candidate in candidates if candidate.key not in others]
