"""Generations: one count for shards of every size."""

from __future__ import annotations

from evercrawl.core.credit.ledger import (
    CreditAge,
    CreditLedger,
    PageCredit,
    age_after_spending,
    join_age,
    spend,
    with_generation,
)


def test_a_generation_passes_when_half_of_all_credit_was_spent() -> None:
    age = age_after_spending(CreditAge(), 30, whole=100)
    assert age == CreditAge(0, 30)
    assert age_after_spending(age, 70, whole=100) == CreditAge(2, 0)


def test_what_a_small_shard_spends_does_not_make_it_older_than_others() -> None:
    small, _, _ = spend(PageCredit(10, 0), CreditLedger(held=10, pages=1, minted=10), links=0)
    age = age_after_spending(CreditAge(), small.turnover, whole=1000)
    assert with_generation(small, age) == small
    assert small.turnover == 10


def test_the_books_of_a_shard_follow_the_count_and_begin_anew_with_it() -> None:
    assert with_generation(CreditLedger(turnover=5), CreditAge(3, 7)) == CreditLedger(generation=3)
    assert with_generation(CreditLedger(turnover=5, generation=3), CreditAge(3, 7)).turnover == 5


def test_after_a_restart_the_oldest_shard_says_which_generation_it_is() -> None:
    age = join_age(CreditAge(), CreditLedger(generation=4, turnover=20))
    age = join_age(age, CreditLedger(generation=2, turnover=500))
    age = join_age(age, CreditLedger(generation=4, turnover=3))
    assert age == CreditAge(4, 23)


def test_where_there_is_no_credit_nothing_grows_old() -> None:
    assert age_after_spending(CreditAge(), 5, whole=0) == CreditAge()
