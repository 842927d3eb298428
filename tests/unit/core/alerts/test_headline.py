"""The sentence that says what happened."""

from __future__ import annotations

import pytest

from evercrawl.core.alerts.headline import MAX_HEADLINE_CHARS, cut_at_word, headline, page_name
from evercrawl.core.change.detectors import bytes_change
from evercrawl.core.change.text_diff import make_edit
from evercrawl.model.alerts import Event, EventKind
from evercrawl.model.change import Edit

LONG = "The harbour office answers all questions about the ferry, the quay and the weather of the next day. " * 4


def edit(removed: str, added: str, *, key: int = 1, is_entry: bool = False) -> Edit:
    return make_edit(key, removed, added, is_template=False, is_entry=is_entry)


def changed(title: str | None, *edits: Edit, page: int = 1, omitted: int = 0, at_us: int = 1) -> Event:
    url = f"https://example.org/{page}"
    return Event(0, page, page, url, EventKind.CONTENT, 0.1, at_us, 2, title, edits, None, omitted)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([edit("Nurse", "Doctor")], "Jobs: 'Nurse' became 'Doctor'"),
        ([edit("Wanted: Nurse, full time", "Wanted: Doctor, full time")], "Jobs: 'Nurse' became 'Doctor'"),
        ([edit("12 €", "15 €")], "Jobs: 12 € → 15 €"),
        ([edit("Adult ticket 12 €", "Adult ticket 15 €")], "Jobs: Adult ticket 12 € → 15 €"),
        ([edit(f"{LONG}It costs $12.", f"{LONG}It costs $15.")], "Jobs: It costs $12 → $15"),
        ([edit("Price: EUR 12", "Price: EUR 15")], "Jobs: Price: EUR 12 → EUR 15"),
        ([edit("価格は 12 円です", "価格は 15 円です")], "Jobs: 価格は 12 → 15"),
        ([edit("新しい看護師を募集しています", "新しい看護士を募集しています")],
         "Jobs: '新しい看護師を募集してい' became '新しい看護士を募集してい'"),
        ([edit("", "A new ferry runs from May on.")], "Jobs: added 'A new ferry runs from May on.'"),
        ([edit("The last ferry leaves at ten.", "")], "Jobs: removed 'The last ferry leaves at ten.'"),
        ([edit("The pool is open today.", "The pool is not open today.")],
         "Jobs: added 'not' in 'The pool is not open today.'"),
        ([edit("Nurse", "Doctor"), edit("12 €", "15 €", key=2)], "Jobs: 'Nurse' became 'Doctor', and 1 more change"),
        ([edit("a b c d e f", "x b c y e f")], "Jobs: 'a' became 'x', and 1 more change"),
        ([edit("Old post", "New post", is_entry=True), edit("Nurse", "Doctor", key=2)],
         "Jobs: 'Nurse' became 'Doctor', and 1 more change"),
        ([edit("Nurse", ""), edit("", "Doctor", key=2)], "Jobs: 'Nurse' became 'Doctor'"),
        ([edit("Cook", ""), edit("Nurse", ""), edit("", "Doctor", key=2)],
         "Jobs: 'Nurse' became 'Doctor', and 1 more change"),
        ([edit("Nurse", ""), edit("", LONG[:60], key=2)],
         "Jobs: added 'The harbour office answers all questions about the ferry, th', and 1 more change"),
        ([], "Jobs: the content changed"),
    ],
)  # fmt: skip
def test_one_change_says_what_changed(edits: list[Edit], expected: str) -> None:
    assert headline([changed("Jobs", *edits)]) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Jobs | Harbour News", "Jobs"),
        ("Jobs - Prices – harbournews", "Jobs - Prices"),
        ("Jobs | Town council", "Jobs | Town council"),
        ("Prices - 2026", "Prices - 2026"),
        ("Harbour News", "Harbour News"),
        (" | Harbour News", "| Harbour News"),
    ],
)
def test_the_name_of_the_site_is_left_out_of_titles(title: str, expected: str) -> None:
    event = changed(title)._replace(url="https://www.harbour-news.example/jobs")
    assert page_name(event) == expected


def test_a_file_without_text_has_changed() -> None:
    assert headline([changed("Map", *bytes_change().edits)]) == "Map: the file changed"


def test_left_out_edits_are_counted() -> None:
    assert headline([changed("Jobs", edit("Nurse", "Doctor"), omitted=7)]).endswith("and 7 more changes")


def test_new_and_missing_pages() -> None:
    page = changed("Timetable")
    assert headline([page._replace(kind=EventKind.NEW)]) == "New page: Timetable"
    assert headline([page._replace(kind=EventKind.GONE)]) == "Page gone: Timetable"
    assert headline([page._replace(kind=EventKind.METADATA)]) == "Timetable: title or description changed"
    assert headline([changed(None, edit("a", "b"))]) == "example.org/1: 'a' became 'b'"


def test_several_pages() -> None:
    jobs, prices = changed("Jobs", edit("Nurse", "Doctor")), changed("Prices", edit("12 €", "15 €", key=2), page=2)
    news = changed("News", edit(LONG, LONG + "More of it, at length.", key=3), page=3)
    assert (
        headline([jobs, prices])
        == "2 pages of example.org changed: Jobs ('Nurse' became 'Doctor'), Prices (12 € → 15 €)"
    )
    many = [changed(f"A page with a long title, number {n}", edit(str(n), "x", key=n), page=n) for n in range(1000)]
    assert headline(many).startswith("1,000 pages of example.org changed: A page with a long title, number 0; A page")
    assert headline(many).endswith("more")
    other = news._replace(url="https://other.example/")
    assert headline([jobs, other]).startswith("2 pages on 2 sites changed: Jobs (")
    same = [changed(f"Page {n}", edit("12 €", "15 €"), page=n) for n in range(3)]
    assert headline(same) == "3 pages of example.org changed in the same way: 12 € → 15 €"


def test_kinds_are_counted_apart() -> None:
    new = [changed(f"New {n}", page=n)._replace(kind=EventKind.NEW) for n in (5, 6)]
    gone = [changed("Old", page=7)._replace(kind=EventKind.GONE)]
    assert headline(new) == "2 new pages on example.org: New 5, New 6"
    assert (
        headline([*gone, gone[0]._replace(url="https://example.org/8")])
        == "2 pages of example.org are gone: Old and 1 more"
    )
    mixed = headline([changed("Jobs", edit("a", "b")), *new, *gone])
    assert mixed == "example.org: 1 page changed, 2 new, 1 gone: Jobs, New 5, New 6, Old"


def test_pages_that_only_list_others_come_last() -> None:
    index = changed("Archive", edit("", "Jobs", is_entry=True), page=1)
    jobs = changed("Jobs", edit("Nurse", "Doctor", key=2), page=2)
    new = changed("New", page=3)._replace(kind=EventKind.NEW)
    assert headline([index, new, jobs]) == "example.org: 2 pages changed, 1 new: Jobs, New, Archive"
    assert headline([index, jobs]).startswith("2 pages of example.org changed: Jobs ('Nurse' became 'Doctor'), Archive")


def test_one_page_several_times() -> None:
    first, second = changed("Prices", edit("12 €", "15 €")), changed("Prices", edit("15 €", "18 €"), at_us=2)
    assert headline([first, second]) == "Prices changed 2 times; last: 15 € → 18 €"
    assert headline([first, second._replace(kind=EventKind.GONE)]) == "Page gone: Prices"


@pytest.mark.parametrize(
    "text", ["\u202e<b>\x1b[31m\r\nBcc: x@example.org\x00\ud800", LONG, "字" * 900, "wordwithoutspaces" * 80]
)
def test_any_text_gives_one_bounded_line(text: str) -> None:
    for events in (
        [changed(text, edit(text, "now"))],
        [changed(text, edit(text, text + " and more"))],
        [changed(text, edit(text, "now")), changed(text, edit("", text), page=2)],
        [changed(text, edit(text, "now")), changed(text, edit("", text))],
        [changed(text)._replace(kind=EventKind.NEW, url=f"https://example.org/{text}")],
    ):
        line = headline(events)
        assert len(line) <= MAX_HEADLINE_CHARS
        assert line.isprintable() or "\u200d" in line
        line.encode()


def test_texts_are_cut_after_a_word() -> None:
    assert cut_at_word("one two three four", 12) == "one two…"
    assert cut_at_word("one", 12) == "one"
    assert cut_at_word("x" * 30, 12) == "x" * 11 + "…"
