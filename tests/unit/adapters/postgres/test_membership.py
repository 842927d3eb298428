"""How many shards a worker takes and releases."""

from __future__ import annotations

from evercrawl.adapters.postgres.membership import ShardShare


def test_unclaimed_shards_are_taken_until_their_worker_comes():
    meant_for_another = ShardShare(8, 8, lacking=8, free=4, members=4)
    assert meant_for_another.wanted(8, left_over=False) == 0
    assert meant_for_another.wanted(8, left_over=True) == 1
    assert meant_for_another.surplus(11) == 0
    assert meant_for_another._replace(free=0).surplus(11) == 3


def test_worker_keeps_one_shard_above_its_share_while_no_one_lacks_any():
    settled = ShardShare(8, 9, lacking=0, free=0, members=4)
    assert [settled.surplus(owned) for owned in (7, 9, 10, 11)] == [0, 0, 0, 1]


def test_remainder_goes_to_the_first_worker():
    assert ShardShare(8, 9, lacking=0, free=2, members=4).wanted(8, left_over=False) == 1
    assert ShardShare(8, 9, lacking=2, free=2, members=4).wanted(8, left_over=False) == 0
