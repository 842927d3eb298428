"""Check that ledgers, pages and minted credit of all shards agree."""

from __future__ import annotations

from collections.abc import Iterator

from evercrawl.core.credit.ledger import CREDIT_KEY, CreditLedger, ledger_of
from evercrawl.core.visit.links import unpack_links
from evercrawl.testing.store import MemoryStore
from tests.worlds.credit_ledger import balance


def ledgers_of(store: MemoryStore) -> dict[int, CreditLedger]:
    """Return each shard's stored ledger."""
    return {shard: ledger_of(store.state_of(shard).site_states.get(CREDIT_KEY)) for shard in range(store.shards)}


def credit_in_transit(store: MemoryStore) -> int:
    """Return the credit in link batches that are sent but not received."""
    return sum(
        unpack_links(parcel.links).credit
        for shard in range(store.shards)
        for parcel in store.state_of(shard).outbox.values()
        if parcel.seq > store.state_of(parcel.target).received.get(parcel.source, 0)
    )


def find_errors(store: MemoryStore) -> list[str]:
    """Return what is wrong; nothing if credit is conserved."""
    ledgers = ledgers_of(store)
    found = [f"shard {shard}: {words}" for shard in ledgers for words in _in_shard(store, shard, ledgers[shard])]
    whole = sum(ledger.lambda_page + ledger.held for ledger in ledgers.values()) + credit_in_transit(store)
    minted = sum(ledger.minted for ledger in ledgers.values())
    if whole != minted:
        found.append(f"{minted} was minted, {whole} is there")
    return found


def _in_shard(store: MemoryStore, shard: int, ledger: CreditLedger) -> Iterator[str]:
    pages = [record.page for record in store.state_of(shard).records.values()]
    held = sum(page.credit + ledger.dividend for page in pages)
    if balance(ledger) != 0 or ledger.unallocated != 0:
        yield f"out of balance by {balance(ledger)}, {ledger.unallocated} in hand"
    if ledger.pages != len(pages):
        yield f"{ledger.pages} pages in the books, {len(pages)} in the store"
    if ledger.held != held:
        yield f"{ledger.held} held by the books, {held} by pages"
    if any(page.credit + ledger.dividend < 0 for page in pages):
        yield "a page owes credit"
