"""Writing credit to pages that are known already: of this shard with a commit, of others with a parcel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evercrawl.core.url import canonical_of_href, key_of, shard_of_site, site_of
from evercrawl.model.page import CreditShare, Promotion, QueuePosition

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard


async def pay_out(shard: Shard, *, shards: int) -> None:
    """Give the links that gained most what waits for them; those that are queued may move up."""
    own, others = _by_shard(shard.credits.take_richest(shards=shards), shard, shards=shards)
    standings = await shard.store.standings(list(own))
    # From here on nothing waits: shares, ledger and parcels are in one commit.
    _pay_own(shard, own, standings)
    _pay_others(shard, others)


def _by_shard(
    shares: Mapping[str, int], shard: Shard, *, shards: int
) -> tuple[dict[bytes, tuple[str, int]], dict[int, dict[str, int]]]:
    """Shares of this shard by key, and those of others by shard and URL; what is no page goes to Lambda."""
    own: dict[bytes, tuple[str, int]] = {}
    others: dict[int, dict[str, int]] = {}
    refused = 0
    schemes = shard.around.scope.schemes
    shard_of: dict[str, int] = {}
    for link, amount in shares.items():
        url = canonical_of_href(link, schemes)
        if url is None:
            refused += amount
            continue
        site = site_of(url)
        target = shard_of.get(site, -1)
        if target < 0:
            target = shard_of[site] = shard_of_site(site, shards)
        if target == shard.number:
            key = key_of(url)
            _, before = own.get(key, ("", 0))
            own[key] = (url, before + amount)
        elif shard.takes_parcels(target) and shard.around.scope.verdict(url, depth=1) is None:
            of_target = others.setdefault(target, {})
            of_target[url] = of_target.get(url, 0) + amount
        else:
            refused += amount
    shard.credits.wrote(kept=0, sent=0, refused=refused)
    return own, others


def _pay_own(shard: Shard, own: Mapping[bytes, tuple[str, int]], standings: Sequence[QueuePosition]) -> None:
    credits, batch = shard.credits, shard.ledger.batch
    generation = credits.generation
    kept = 0
    for standing in standings:
        _, amount = own[standing.key]
        kept += amount
        batch.shares.append(CreditShare(standing.page_id, amount, generation))
        _promote(shard, standing, amount)
    found = {standing.key for standing in standings}
    missing = {key: share for key, share in own.items() if key not in found}
    waiting = {url: amount for key, (url, amount) in missing.items() if shard.intake.is_on_its_way(key)}
    credits.put_back(waiting)
    refused = sum(amount for _, amount in missing.values()) - sum(waiting.values())
    credits.wrote(kept=kept, sent=0, refused=refused)
    shard.ledger.touch()


def _promote(shard: Shard, standing: QueuePosition, amount: int) -> None:
    band = shard.credits.better_band(standing, amount)
    if band is None or standing.seq is None:
        return
    if not shard.frontier.is_unread(standing.site_id, standing.band, standing.seq):
        return
    move = Promotion(standing.page_id, standing.site_id, standing.band, standing.seq, band, shard.intake.next_seq())
    shard.frontier.moving(move.page_id, move.seq)
    shard.ledger.batch.promoted.append(move)


def _pay_others(shard: Shard, others: Mapping[int, Mapping[str, int]]) -> None:
    gifts = shard.credits.gifts()
    for target in sorted(others.keys() | gifts.keys()):
        shares = others.get(target, {})
        shard.credits.wrote(kept=0, sent=sum(shares.values()), refused=0)
        shard.send_credit(target, shares=shares, gift=gifts.get(target, 0))
