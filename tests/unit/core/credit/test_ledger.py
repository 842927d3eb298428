"""The flow of credit: the source document's example, and edge cases."""

from __future__ import annotations

import pytest

from evercrawl.core.credit.ledger import (
    MICROS,
    SEED_CREDITS,
    CreditAge,
    CreditLedger,
    PageCredit,
    add_pages,
    age_after_spending,
    allocate,
    credit_of,
    importance_of,
    is_lambda_next,
    join_age,
    pay_dividend,
    receive,
    spend,
    with_generation,
)
from tests.worlds.credit_ledger import balance, mint_seeds, new_page, with_share


def page_with(credits: int) -> tuple[PageCredit, CreditLedger]:
    """Return a page with this many whole credits, and its ledger."""
    ledger, share = mint_seeds(CreditLedger(), 1, amount=credits * MICROS)
    ledger = allocate(add_pages(ledger), kept=share)
    return with_share(new_page(ledger), share, generation=ledger.generation), ledger


def test_the_worked_example_100_credits_10_links_9_each() -> None:
    page, ledger = page_with(100)
    ledger, page, share = spend(page, ledger, links=10)
    assert share == 9 * MICROS
    assert ledger.lambda_page == 10 * MICROS
    assert credit_of(page, ledger.dividend) == 0
    assert ledger.unallocated == 90 * MICROS
    assert balance(allocate(add_pages(ledger, 10), kept=90 * MICROS)) == 0


def test_seeds_share_equally_and_lambda_gets_the_rest() -> None:
    ledger, share = mint_seeds(CreditLedger(), 3, amount=100)
    assert (share, ledger.lambda_page, ledger.unallocated, ledger.minted) == (33, 1, 99, 100)
    assert mint_seeds(CreditLedger(), 4).share == SEED_CREDITS * MICROS // 4


def test_dividend_is_one_number_for_all_pages() -> None:
    page, ledger = page_with(100)
    ledger, page, share = spend(page, ledger, links=4)
    ledger = allocate(add_pages(ledger, 4), kept=4 * share)
    links = [with_share(new_page(ledger), share, generation=ledger.generation) for _ in range(4)]
    ledger = pay_dividend(ledger)
    assert ledger.dividend == 2 * MICROS
    assert [credit_of(each, ledger.dividend) for each in (page, *links)] == [2 * MICROS] + [24_500_000] * 4
    assert ledger.held == 100 * MICROS
    assert balance(ledger) == 0


def test_new_page_gets_no_past_dividends() -> None:
    _, ledger = page_with(100)
    ledger = pay_dividend(ledger._replace(lambda_page=7, minted=ledger.minted + 7))
    assert credit_of(new_page(add_pages(ledger)), ledger.dividend) == 0


def test_remainder_stays_with_lambda() -> None:
    ledger = pay_dividend(CreditLedger(lambda_page=10, pages=4, minted=10))
    assert (ledger.lambda_page, ledger.dividend, ledger.held) == (2, 2, 8)
    assert balance(ledger) == 0


def test_lambda_waits_for_the_first_page() -> None:
    ledger = CreditLedger(lambda_page=10, minted=10)
    assert pay_dividend(ledger) == ledger
    assert not is_lambda_next(ledger, highest=0)


@pytest.mark.parametrize(("highest", "is_next"), [(9, True), (10, False), (11, False)])
def test_lambda_is_next_when_it_is_the_richest(highest: int, is_next: bool) -> None:
    assert is_lambda_next(CreditLedger(lambda_page=10, pages=2), highest=highest) is is_next


def test_lambda_is_not_next_while_it_has_less_than_a_unit_for_each() -> None:
    assert not is_lambda_next(CreditLedger(lambda_page=10, pages=11), highest=0)


def test_page_without_links_gives_everything_to_lambda() -> None:
    page, ledger = page_with(100)
    ledger, page, share = spend(page, ledger, links=0)
    assert (share, ledger.lambda_page, ledger.unallocated, ledger.held) == (0, 100 * MICROS, 0, 0)
    assert balance(ledger) == 0


def test_more_links_than_units() -> None:
    page = PageCredit(7, 0)
    ledger, page, share = spend(page, CreditLedger(held=7, pages=1, minted=7), links=1000)
    assert (share, ledger.lambda_page, page.held) == (0, 7, 0)


def test_spending_includes_unsettled_dividends() -> None:
    page, ledger = page_with(10)
    ledger = pay_dividend(ledger._replace(lambda_page=5 * MICROS, minted=15 * MICROS))
    assert credit_of(page, ledger.dividend) == 15 * MICROS
    ledger, _, share = spend(page, ledger, links=1)
    assert share == 13_500_000


def test_refused_links_pay_to_lambda() -> None:
    page, ledger = page_with(100)
    ledger, page, share = spend(page, ledger, links=2)
    ledger = allocate(add_pages(ledger), kept=share, refused=share)
    assert (ledger.lambda_page, ledger.held, ledger.pages) == (55 * MICROS, 45 * MICROS, 2)
    assert balance(ledger) == 0


def test_credit_in_transit_is_counted() -> None:
    page, here = page_with(100)
    here, page, share = spend(page, here, links=1)
    here, there = allocate(here, sent=share), CreditLedger(pages=1)
    assert here.sent - there.received == 90 * MICROS
    there = allocate(receive(there, share), kept=share)
    assert (balance(here), balance(there), there.held) == (0, 0, 90 * MICROS)


def test_old_earnings_count_less() -> None:
    page = with_share(PageCredit(0, 0), 800, generation=1)
    assert importance_of(page, 1) == 800
    assert importance_of(page, 3) == 200
    page = with_share(page, 100, generation=3)
    assert (page.held, page.earned, page.generation) == (900, 300, 3)


def test_spending_keeps_the_importance() -> None:
    page, ledger = page_with(100)
    _, page, _ = spend(page, ledger, links=3)
    assert page.earned == 100 * MICROS


def test_generation_ends_when_half_of_all_credit_is_spent() -> None:
    age = age_after_spending(CreditAge(), 30, whole=100)
    assert age == CreditAge(0, 30)
    assert age_after_spending(age, 70, whole=100) == CreditAge(2, 0)


def test_small_shard_does_not_age_faster() -> None:
    small, _, _ = spend(PageCredit(10, 0), CreditLedger(held=10, pages=1, minted=10), links=0)
    age = age_after_spending(CreditAge(), small.turnover, whole=1000)
    assert with_generation(small, age) == small
    assert small.turnover == 10


def test_ledger_follows_the_shared_generation() -> None:
    assert with_generation(CreditLedger(turnover=5), CreditAge(3, 7)) == CreditLedger(generation=3)
    assert with_generation(CreditLedger(turnover=5, generation=3), CreditAge(3, 7)).turnover == 5


def test_oldest_shard_sets_the_generation_after_a_restart() -> None:
    age = join_age(CreditAge(), CreditLedger(generation=4, turnover=20))
    age = join_age(age, CreditLedger(generation=2, turnover=500))
    age = join_age(age, CreditLedger(generation=4, turnover=3))
    assert age == CreditAge(4, 23)


def test_nothing_ages_without_credit() -> None:
    assert age_after_spending(CreditAge(), 5, whole=0) == CreditAge()
