"""The books of one shard: who gets what a visit pays."""

from __future__ import annotations

from evercrawl.core.credit.ledger import ledger_bytes, ledger_of
from evercrawl.core.credit.shard_credit import Generations, ShardCredit
from evercrawl.core.url import key_of
from evercrawl.core.visit.links import FoundLinks
from evercrawl.model.page import Candidate, Page, QueuePosition, Refusal
from evercrawl.model.reason import Reason
from evercrawl.model.settings import CreditSettings
from tests.worlds.credit_ledger import balance

SHARE = 1_000_000_000_000 // 2


def credits_of(
    generations: Generations | None = None, *, pages: int = 0, elsewhere: int = 0, **settings: object
) -> ShardCredit:
    return ShardCredit(
        None,
        pages=pages,
        settings=CreditSettings(**settings),  # type: ignore[arg-type]
        priorities=8,
        seeds=2,
        pages_elsewhere=lambda: {7: elsewhere} if elsewhere else {},
        generations=generations or Generations(lambda: 2 * SHARE),
    )


def candidate(path: str, credit: int | None = None, *, parent: str | None = "https://a.test/") -> Candidate:
    url = f"https://a.test{path}"
    return Candidate(url, key_of(url), 0 if parent is None else 1, 0, parent, None, credit)


def page_of(credits: ShardCredit, path: str = "/") -> Page:
    columns = credits.add_page(candidate(path, parent=None))
    return Page(1, b"k", f"https://a.test{path}", 1, 0, 0, 0, 1, credit=columns.credit)


def test_a_seed_gets_its_part_of_what_is_minted():
    credits = credits_of()
    page = page_of(credits)
    assert page.credit == SHARE
    assert (credits.ledger.minted, credits.ledger.held) == (SHARE, SHARE)


def test_a_visit_pays_new_links_known_links_and_lambda():
    credits = credits_of()
    page = page_of(credits)
    new, known = candidate("/new"), candidate("/known")
    found = FoundLinks(candidates=[new, known], recent=["https://a.test/menu"])
    found.refusals.append(Refusal(b"", "x", Reason.OUT_OF_SCOPE, "", None, 0))
    paid = credits.distribute(page, found, new=[new], sent=[], expands=True)
    share = (SHARE - SHARE // 10) // 4
    assert paid.spent == SHARE
    assert paid.share == share
    credits.add_page(new._replace(credit=share))
    assert credits.take_richest() == {"https://a.test/menu": share, "https://a.test/known": share}
    assert balance(credits.ledger) == 0


def test_a_duplicate_pays_nobody_but_lambda_and_its_links_come_last():
    credits = credits_of()
    page = page_of(credits)
    new = candidate("/new")
    paid = credits.distribute(page, FoundLinks(candidates=[new]), new=[new], sent=[], expands=False)
    assert paid.share == 0
    assert credits.priority_of(new._replace(credit=0)) == 7
    assert credits.ledger.lambda_page == SHARE


def test_links_of_other_shards_are_sent_with_their_share():
    credits = credits_of()
    page = page_of(credits)
    far = candidate("/far")
    paid = credits.distribute(page, FoundLinks(candidates=[far]), new=[], sent=[far], expands=True)
    share = SHARE - SHARE // 10
    assert paid.share == share
    assert credits.ledger.sent == share


def test_a_visited_page_spends_what_waited_for_it_too():
    credits = credits_of()
    page, other = page_of(credits), page_of(credits, "/other")
    credits.distribute(page, FoundLinks(recent=[other.url]), new=[], sent=[], expands=True)
    paid = credits.distribute(other, FoundLinks(), new=[], sent=[], expands=True)
    share = SHARE - SHARE // 10
    assert (paid.waited, paid.spent) == (share, SHARE + share)
    assert credits.take_richest() == {}
    assert balance(credits.ledger) == 0


def test_all_shards_of_a_process_are_in_one_generation():
    shared = Generations(lambda: 2 * SHARE)
    here, there = credits_of(shared), credits_of(shared)
    page = page_of(here)
    page_of(there)
    here.distribute(page, FoundLinks(), new=[], sent=[], expands=True)
    assert (here.generation, there.generation) == (1, 1)
    assert there.to_store().generation == 1


def test_what_is_in_hand_is_lambdas_in_the_store():
    credits = credits_of()
    page = page_of(credits)
    credits.distribute(page, FoundLinks(recent=["https://a.test/menu"]), new=[], sent=[], expands=True)
    stored = credits.to_store()
    assert stored.unallocated == 0
    assert stored.lambda_page == SHARE
    assert ledger_of(ledger_bytes(stored)) == stored


def test_pages_that_came_past_the_books_are_adopted():
    credits = credits_of(pages=10)
    assert credits.ledger.pages == 10
    assert credits.ledger.lambda_page == 2 * SHARE
    assert balance(credits.ledger) == 0


def test_lambda_pays_the_pages_of_all_shards():
    credits = credits_of(elsewhere=3)
    page = page_of(credits)
    credits.distribute(page, FoundLinks(), new=[], sent=[], expands=True)
    poor = page._replace(credit=page.credit - SHARE)
    credits.distribute(poor, FoundLinks(), new=[], sent=[], expands=True)
    assert credits.grants() == {7: SHARE * 3 // 4}
    assert credits.ledger.sent == SHARE * 3 // 4
    assert balance(credits.ledger) == 0


def test_a_queued_page_moves_up_when_it_has_gained_enough():
    credits = credits_of()
    page_of(credits)
    queued = QueuePosition(b"k", 2, 1, 7, 5, -credits.ledger.dividend)
    assert credits.better_priority(queued, 10 * SHARE) == 0
    assert credits.better_priority(queued, 0) is None
    assert credits.better_priority(queued._replace(seq=None), 10 * SHARE) is None
    assert credits_of(order="breadth-first").better_priority(queued, 10 * SHARE) is None


def test_importance_weighs_revisits_within_bounds():
    credits = credits_of()
    page = page_of(credits)
    assert credits.weight(page) == 1.0, "nothing is known before the first commit"
    credits.to_store()
    assert credits.weight(page) == 0.25
    assert credits.weight(page._replace(earned=100 * SHARE)) == 4.0
    assert credits_of(importance_exponent=0.0).weight(page) == 1.0


def test_a_full_pot_keeps_its_richer_half_and_loses_nothing():
    credits = credits_of(buffer_entries=200, writes_per_visit=0)
    page = page_of(credits)
    met = [f"https://a.test/{number}" for number in range(500)]
    credits.distribute(page, FoundLinks(recent=met), new=[], sent=[], expands=True)
    assert credits.is_round_over()
    assert credits.take_richest() == {}
    assert not credits.is_round_over()
    assert balance(credits.ledger) == 0
    assert credits.to_store().lambda_page == SHARE
