"""Learning of noise from visit to visit."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from evercrawl.core.change.change_history import (
    MAX_PAGE_LOCATIONS,
    MAX_SITE_EDITS,
    MAX_SITE_LOCATIONS,
    MAX_SITE_TEXTS,
    PageChangeHistory,
    SiteChangeHistory,
)
from evercrawl.core.change.learning import classify_visit, learn_page
from evercrawl.core.change.snapshot import Snapshot, snapshot_html
from evercrawl.model.change import Change, ChangeClass

START = datetime(2026, 1, 1, tzinfo=UTC)
SENTENCES = [
    "The harbour was closed for the whole day because of the storm from the west.",
    "A cheap lamp for four hours a day was enough for the plant on the window.",
    "The blade is ground by hand and comes with a guard made of leather.",
    "When the limit is reached the least recently used tile is dropped first.",
    "Four rooms in a quiet yard with a balcony and a view over the park.",
    "Opponents had argued that a bus would do the same work for less money.",
]


class Watched:
    """A watched site: each call of `see` is a visit."""

    def __init__(self) -> None:
        self.site = SiteChangeHistory()
        self.pages: dict[str, PageChangeHistory] = {}
        self.last: dict[str, Snapshot] = {}
        self.visits = 0
        self.visits_to: Counter[str] = Counter()

    def see(self, url: str, markup: str, *, visit: int | None = None) -> Change | None:
        after = snapshot_html(markup)
        before = self.last.get(url)
        self.last[url] = after
        self.visits += 1
        self.visits_to[url] = visit or self.visits_to[url] + 1
        now = START + timedelta(hours=self.visits)
        if before is None:
            self.site = learn_page(after, self.site, page_url=url)
            self.pages[url] = PageChangeHistory()
            return None
        change, self.pages[url], self.site, _ = classify_visit(
            before, after, self.pages[url], self.site, now=now, page_url=url, visit=self.visits_to[url]
        )
        return change

    def kinds(self, url: str, versions: list[str]) -> list[ChangeClass]:
        changes = [self.see(url, version) for version in versions]
        return [change.kind for change in changes if change is not None]


def article(text: str, *, rest: str = "".join(f"<p>{each}</p>" for each in SENTENCES)) -> str:
    return f"<main><h1>Title</h1>{rest}{text}</main>"


def counter(number: int) -> str:
    return article(f"<p class=zz>Gesehn vun {number} Lidd</p>")


def test_a_counter_in_an_unknown_language_is_learned_from_one_page():
    kinds = Watched().kinds("/a", [counter(100 + number * 7) for number in range(10)])
    assert kinds[0] is ChangeClass.CONTENT
    assert set(kinds[6:]) == {ChangeClass.NOISE}


def test_a_counter_is_learned_sooner_from_several_pages():
    watched = Watched()
    for url in "abcd":
        watched.see(url, counter(ord(url)))
    kinds = [watched.see(url, counter(1000 + ord(url))) for url in "abcd"]
    assert [change.kind for change in kinds if change][2:] == [ChangeClass.NOISE] * 2


def test_learned_noise_does_not_hide_content_beside_it():
    watched = Watched()
    watched.kinds("/a", [counter(number) for number in range(10)])
    change = watched.see("/a", counter(99) + f"<main><p>{SENTENCES[0].upper()}</p></main>")
    assert change is not None
    assert change.kind is ChangeClass.CONTENT


def test_a_location_that_settles_counts_again():
    watched = Watched()
    watched.kinds("/a", [counter(number) for number in range(10)])
    assert set(watched.kinds("/a", [counter(9)] * 6)) == {ChangeClass.NOISE}
    assert watched.kinds("/a", [counter(77)]) == [ChangeClass.CONTENT]


def test_unchanged_visits_let_a_location_settle():
    watched = Watched()
    for visit in range(1, 9):
        watched.see("/a", counter(visit), visit=visit)
    change = watched.see("/a", counter(77), visit=40)
    assert change is not None
    assert change.kind is ChangeClass.CONTENT


def test_prose_that_changes_at_every_visit_is_content_at_every_visit():
    versions = [
        article(f"<p>{' '.join(SENTENCES[number % 5].split()[number % 7 :])} {number}x</p>") for number in range(20)
    ]
    assert set(Watched().kinds("/a", versions)) == {ChangeClass.CONTENT}


def test_a_reverted_edit_is_two_changes():
    one, other = article("<p>Open</p>"), article("<p>Closed</p>")
    assert Watched().kinds("/a", [one, other, one]) == [ChangeClass.CONTENT] * 2


def test_a_price_that_changes_now_and_then_is_always_content():
    prices = [89, 89, 79, 79, 79, 85, 85, 85, 99, 99]
    kinds = Watched().kinds("/a", [article(f"<p>Price: {price}</p>") for price in prices])
    changed = [before != after for before, after in pairwise(prices)]
    # An unchanged page is not compared at all.
    assert [kind is ChangeClass.CONTENT for kind in kinds] == changed


def test_prices_on_otherwise_stable_pages_are_content():
    watched = Watched()
    urls = [f"/{number}" for number in range(12)]
    for url in urls:
        watched.see(url, article("<p>Cost: 80</p>"))
    found = []
    for at, url in enumerate(urls[::3]):
        found.append(watched.see(url, article("<p>Cost: 75</p>"), visit=20 + at))
        watched.site = watched.site.after_unchanged(PageChangeHistory()).after_unchanged(PageChangeHistory())
    assert all(change is not None and change.kind is ChangeClass.CONTENT for change in found)


TOWNS = ("Cork", "Faro", "Nantes", "Bergamo", "Funchal", "Aqaba", "Tbilisi", "Tromsø", "Gdańsk", "Ponta Delgada")
STATES = (*["On time"] * 8, "Boarding", "Last call", "Gate closed")


def departures(page: int, draw: random.Random) -> str:
    """Return a page with a board: each row has a time, a town, a gate and a state."""
    rows = "".join(
        f"<tr><td>{10 + row}:{draw.randrange(10, 60)}<td>{draw.choice(TOWNS)}"
        f"<td>{draw.choice('ABCD')}{draw.randrange(1, 30)}<td>{draw.choice(STATES)}"
        for row in range(2)
    )
    return article(f"<p>About journey {'abcdefgh'[page]}</p><table>{rows}</table>")


def test_states_on_a_board_whose_rows_turn_are_noise():
    watched, draw = Watched(), random.Random(5)
    visits = [[watched.see(f"https://a/{page}", departures(page, draw)) for page in range(8)] for _ in range(12)]
    late = [change.kind for changes in visits[6:] for change in changes if change is not None]
    assert len(late) == 48
    assert late.count(ChangeClass.CONTENT) <= 2


def test_a_state_in_a_table_whose_rows_keep_their_names_is_content():
    def table(state: str, visit: int) -> str:
        rows = "".join(
            f"<tr><td>{visit % 24:02}:0{row}<td>{town}<td>{'ABCD'[row]}{visit * 7 % 29}<td>{now}"
            for row, (town, now) in enumerate((("Cork", "Open"), ("Faro", state), ("Nantes", "Open")))
        )
        return article(f"<table>{rows}</table>")

    watched = Watched()
    for visit in range(8):
        for page in range(6):
            watched.see(f"https://a/{page}", table("Open", visit))
    change = watched.see("https://a/0", table("Closed until May", 9))
    assert change is not None
    assert change.kind is ChangeClass.CONTENT


def test_todays_date_is_noise_and_another_is_not():
    def dated(day: datetime) -> str:
        return article(f"<p>Kalenner: {day:%d.%m.%Y}</p>")

    watched = Watched()
    watched.see("/a", dated(START - timedelta(days=1)))
    today, event = watched.see("/a", dated(START)), watched.see("/a", dated(START + timedelta(days=90)))
    assert today is not None
    assert event is not None
    assert (today.kind, event.kind) == (ChangeClass.NOISE, ChangeClass.CONTENT)


def rotating(number: int) -> str:
    """Return a page with one of several rotating texts."""
    return article(f"<div class=kx><p>{SENTENCES[number % 6].replace('the', 'some')}</p></div>")


def test_rotating_texts_are_noise():
    watched = Watched()
    urls = [f"/{number}" for number in range(8)]
    kinds = [
        change.kind
        for visit in range(6)
        for at, url in enumerate(urls)
        if (change := watched.see(url, rotating(at + visit * (at + 2)))) is not None
    ]
    assert kinds.count(ChangeClass.CONTENT) <= 4
    assert set(kinds[8:]) == {ChangeClass.NOISE}


def everywhere(make: Callable[[int, bool], str], *, pages: int = 12) -> list[Change]:
    """Return the changes of one edit on all pages."""
    watched = Watched()
    for is_edited in (False, False, True):
        found = [watched.see(f"/{number}", make(number, is_edited)) for number in range(pages)]
    return [change for change in found if change is not None]


def own_words(number: int) -> str:
    return f"<p>{SENTENCES[number % 6]} This is page {number} of the site.</p>" * 3


def test_a_menu_edit_is_one_edit_on_all_pages():
    changes = everywhere(
        lambda number, is_edited: (
            f"<nav><a href=a>{'Stories' if is_edited else 'News'}</a></nav>{article(own_words(number), rest='')}"
        )
    )
    assert {change.kind for change in changes} == {ChangeClass.NOISE}
    assert len({change.edit_key for change in changes}) == 1
    assert all(change.edits and change.edits[0].is_template for change in changes)


@pytest.mark.parametrize("stamp", ["Generated by mill 1.2 at 2026-01-05 09:{}:11 +0000", "Built {} minutes ago"])
def test_pages_made_in_the_same_second_have_no_edit_in_common(stamp: str):
    changes = everywhere(
        lambda number, is_edited: article(
            own_words(number), rest=f"<footer>{stamp.format(31 if is_edited else 12)}</footer>"
        )
    )
    assert {change.kind for change in changes} == {ChangeClass.NOISE}
    assert not any(change.edits for change in changes)


def test_a_number_that_always_changes_is_no_edit_that_pages_have_in_common():
    watched = Watched()
    for visit in range(6):
        changes = [
            watched.see(
                f"/{number}",
                article(
                    own_words(number), rest=f"<footer>Made in about 0.00{(visit + number // 6) % 4}s by Mill</footer>"
                ),
            )
            for number in range(12)
        ]
    assert not any(change.edits for change in changes if change is not None)


def test_a_notice_on_all_pages_becomes_one_edit():
    changes = everywhere(
        lambda number, is_edited: article(own_words(number) + ("<p>We moved to a new office.</p>" if is_edited else ""))
    )
    assert [change.kind for change in changes[:6]] == [ChangeClass.CONTENT] * 6
    assert {change.kind for change in changes[6:]} == {ChangeClass.NOISE}
    assert len({change.edit_key for change in changes}) == 1


def test_the_same_sentence_on_the_only_pages_visited_is_content():
    watched = Watched()
    for number in range(12):
        watched.see(f"/{number}", article(own_words(number)))
    changes = [
        watched.see(
            f"/{number}",
            article(own_words(number) + "<p>The council closed the old bridge near the mill for good.</p>"),
        )
        for number in range(5)
    ]
    assert [change.kind for change in changes if change is not None] == [ChangeClass.CONTENT] * 5


def test_the_same_edit_of_a_few_pages_is_content():
    watched = Watched()
    sold_out = {3, 7, 11}
    found = []
    for is_edited in (False, False, True):
        for number in range(12):
            stock = "Sold out" if is_edited and number in sold_out else "In stock"
            change = watched.see(f"/{number}", article(f"{own_words(number)}<p class=s>{stock}</p>", rest=""))
            if change is not None and change.changed:
                found.append(number)
    assert found == sorted(sold_out)


def test_histories_are_immutable():
    watched = Watched()
    for number in range(3):
        for url in "ab":
            watched.see(url, counter(number))
    page, site = watched.pages["a"], watched.site
    as_they_were = page.to_bytes(), site.to_bytes()
    watched.see("a", counter(50))
    assert (page.to_bytes(), site.to_bytes()) == as_they_were


def test_histories_round_trip():
    watched = Watched()
    for number in range(5):
        for url in "abc":
            watched.see(url, counter(number))
            watched.site = SiteChangeHistory.from_bytes(watched.site.to_bytes())
            watched.pages[url] = PageChangeHistory.from_bytes(watched.pages[url].to_bytes())
    assert watched.site == SiteChangeHistory.from_bytes(watched.site.to_bytes())
    assert watched.see("a", counter(99)) is not None
    assert watched.site.locations


def test_unreadable_histories_are_empty():
    assert PageChangeHistory.from_bytes(b"?") == PageChangeHistory()
    assert SiteChangeHistory.from_bytes(b"\xff" * 40) == SiteChangeHistory()


def test_histories_stay_small():
    watched = Watched()
    for visit in range(4):
        for url in range(12):
            blocks = "".join(
                f"<div class={chr(97 + at % 26)}{chr(97 + at // 26)}>w{at} {visit}-{url}-{at}</div>"
                for at in range(260)
            )
            watched.see(str(url), f"<main>{blocks}</main>")
    assert all(len(memory.locations) <= MAX_PAGE_LOCATIONS for memory in watched.pages.values())
    assert len(watched.site.locations) <= MAX_SITE_LOCATIONS
    assert len(watched.site.texts) <= MAX_SITE_TEXTS
    assert len(watched.site.edits) <= MAX_SITE_EDITS
    assert len(watched.site.to_bytes()) < 32_000
    assert max(len(memory.to_bytes()) for memory in watched.pages.values()) < 900
