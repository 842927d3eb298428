"""Credit is neither created nor lost, under any operations, over several shards, with crashes and repeats."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from evercrawl.core.credit.ledger import (
    CreditLedger,
    PageCredit,
    add_pages,
    allocate,
    credit_of,
    is_lambda_next,
    pay_dividend,
    receive,
    reserve,
    spend,
)
from tests.worlds.credit_ledger import balance, mint_seeds, new_page, with_share

SHARDS = 3
shards = st.integers(0, SHARDS - 1)


class Parcel(NamedTuple):
    """Credit in transit: for pages of the target, and for its Lambda page."""

    seq: int
    source: int
    target: int
    shares: tuple[tuple[int, int], ...]
    grant: int


class Shard:
    """What a store keeps of one shard. A commit makes it durable, a crash returns to the last commit."""

    def __init__(self) -> None:
        self.ledger = CreditLedger()
        self.pages: dict[int, PageCredit] = {}
        self.outbox: list[Parcel] = []
        self.taken = dict.fromkeys(range(SHARDS), 0)
        self.next_parcel = 1

    def copy(self) -> Shard:
        twin = Shard()
        twin.ledger, twin.next_parcel = self.ledger, self.next_parcel
        twin.pages, twin.outbox, twin.taken = dict(self.pages), list(self.outbox), dict(self.taken)
        return twin

    def give(self, page: int, amount: int) -> None:
        if page not in self.pages:
            self.ledger = add_pages(self.ledger)
            self.pages[page] = new_page(self.ledger)
        self.ledger = allocate(self.ledger, kept=amount)
        self.pages[page] = with_share(self.pages[page], amount, generation=self.ledger.generation)

    def post(self, source: int, target: int, shares: tuple[tuple[int, int], ...], grant: int = 0) -> None:
        self.outbox.append(Parcel(self.next_parcel, source, target, shares, grant))
        self.next_parcel += 1


class CreditMachine(RuleBasedStateMachine):
    """Three shards that visit pages of each other; page p belongs to shard p modulo 3."""

    @initialize(count=st.integers(1, 9), amount=st.integers(1, 10**12))
    def begin(self, count: int, amount: int) -> None:
        self.live = [Shard() for _ in range(SHARDS)]
        self.minted = 0
        for number, shard in enumerate(self.live):
            seeds = range(number, count, SHARDS)
            if not seeds:
                continue
            self.minted += amount
            shard.ledger, share = mint_seeds(shard.ledger, len(seeds), amount=amount)
            for page in seeds:
                shard.give(page, share)
        self.stored = [shard.copy() for shard in self.live]

    @rule(
        at=shards,
        data=st.data(),
        links=st.lists(st.integers(0, 40), max_size=8, unique=True),
        refused=st.integers(0, 2),
    )
    def visit(self, at: int, data: st.DataObject, links: list[int], refused: int) -> None:
        shard = self.live[at]
        if not shard.pages:
            return
        page = data.draw(st.sampled_from(sorted(shard.pages)))
        if is_lambda_next(shard.ledger, highest=credit_of(shard.pages[page], shard.ledger.dividend)):
            shard.ledger = pay_dividend(shard.ledger)
        count = len(links) + refused
        shard.ledger, shard.pages[page], share = spend(shard.pages[page], shard.ledger, links=count)
        shard.ledger = allocate(shard.ledger, refused=share * refused)
        for link in links:
            if link % SHARDS == at:
                shard.give(link, share)
        for target in range(SHARDS):
            others = tuple((link, share) for link in links if link % SHARDS == target != at)
            if others:
                shard.ledger = allocate(shard.ledger, sent=share * len(others))
                shard.post(at, target, others)

    @rule(at=shards)
    def lambdas_turn(self, at: int) -> None:
        self.live[at].ledger = pay_dividend(self.live[at].ledger)

    @rule(at=shards, counts=st.lists(st.integers(0, 50), min_size=SHARDS, max_size=SHARDS))
    def even_lambdas(self, at: int, counts: list[int]) -> None:
        shard = self.live[at]
        pages, whole = len(shard.pages) + sum(counts), shard.ledger.lambda_page
        for target, count in enumerate(counts):
            if target != at and count:
                grant = whole * count // pages
                shard.ledger = allocate(reserve(shard.ledger, grant), sent=grant)
                shard.post(at, target, (), grant)

    @rule(at=shards, repeats=st.integers(1, 2))
    def deliver(self, at: int, repeats: int) -> None:
        """Deliver committed batches of a shard, perhaps again. Each counts once."""
        for parcel in self.stored[at].outbox * repeats:
            target = self.live[parcel.target]
            if parcel.seq <= target.taken[at]:
                continue
            target.taken[at] = parcel.seq
            target.ledger = receive(target.ledger, parcel.grant + sum(share for _, share in parcel.shares))
            target.ledger = allocate(target.ledger, refused=parcel.grant)
            for page, share in parcel.shares:
                target.give(page, share)

    @rule(at=shards)
    def commit(self, at: int) -> None:
        self.stored[at] = self.live[at].copy()

    @rule(at=shards)
    def crash(self, at: int) -> None:
        self.live[at] = self.stored[at].copy()

    @invariant()
    def books_agree(self) -> None:
        for shard in (*self.live, *self.stored):
            ledger = shard.ledger
            assert balance(ledger) == 0
            assert ledger.unallocated == 0
            assert ledger.pages == len(shard.pages)
            assert ledger.held == sum(credit_of(page, ledger.dividend) for page in shard.pages.values())
            assert min(ledger.lambda_page, ledger.held, ledger.turnover) >= 0

    @invariant()
    def nothing_is_made_or_lost(self) -> None:
        """Stored credit plus stored and undelivered batches equals what was minted."""
        here = sum(shard.ledger.lambda_page + shard.ledger.held for shard in self.stored)
        underway = sum(
            parcel.grant + sum(share for _, share in parcel.shares)
            for shard in self.stored
            for parcel in shard.outbox
            if parcel.seq > self.stored[parcel.target].taken[parcel.source]
        )
        assert here + underway == self.minted
        assert underway == sum(s.ledger.sent for s in self.stored) - sum(s.ledger.received for s in self.stored)


CreditMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestCredit = CreditMachine.TestCase
