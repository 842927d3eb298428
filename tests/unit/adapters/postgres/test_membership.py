"""How many shards a worker takes and lets go."""

from __future__ import annotations

from evercrawl.adapters.postgres.membership import ShardShare


def test_what_nobody_comes_for_is_taken_and_kept_until_somebody_does():
    meant_for_another = ShardShare(8, 8, lacking=8, free=4, members=4)
    assert meant_for_another.wanted(8, left_over=False) == 0
    assert meant_for_another.wanted(8, left_over=True) == 1
    assert meant_for_another.surplus(11) == 0
    assert meant_for_another._replace(free=0).surplus(11) == 3


def test_one_shard_more_than_the_share_is_kept_while_nobody_lacks_any():
    settled = ShardShare(8, 9, lacking=0, free=0, members=4)
    assert [settled.surplus(owned) for owned in (7, 9, 10, 11)] == [0, 0, 0, 1]


def test_what_does_not_come_out_even_goes_to_whoever_is_first():
    assert ShardShare(8, 9, lacking=0, free=2, members=4).wanted(8, left_over=False) == 1
    assert ShardShare(8, 9, lacking=2, free=2, members=4).wanted(8, left_over=False) == 0
