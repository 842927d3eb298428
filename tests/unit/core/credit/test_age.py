"""Generations: one count for shards of every size."""

from __future__ import annotations

from evercrawl.core.credit.age import Age, aged, joined, spent
from evercrawl.core.credit.flow import Ledger, PageCredit, spend


def test_a_generation_passes_when_half_of_all_credit_was_spent() -> None:
    age = spent(Age(), 30, whole=100)
    assert age == Age(0, 30)
    assert spent(age, 70, whole=100) == Age(2, 0)


def test_what_a_small_shard_spends_does_not_make_it_older_than_others() -> None:
    small, _, _ = spend(PageCredit(10, 0), Ledger(held=10, pages=1, minted=10), links=0)
    age = spent(Age(), small.turnover, whole=1000)
    assert aged(small, age) == small
    assert small.turnover == 10


def test_the_books_of_a_shard_follow_the_count_and_begin_anew_with_it() -> None:
    assert aged(Ledger(turnover=5), Age(3, 7)) == Ledger(generation=3)
    assert aged(Ledger(turnover=5, generation=3), Age(3, 7)).turnover == 5


def test_after_a_restart_the_oldest_shard_says_which_generation_it_is() -> None:
    age = joined(Age(), Ledger(generation=4, turnover=20))
    age = joined(age, Ledger(generation=2, turnover=500))
    age = joined(age, Ledger(generation=4, turnover=3))
    assert age == Age(4, 23)


def test_where_there_is_no_credit_nothing_grows_old() -> None:
    assert spent(Age(), 5, whole=0) == Age()
