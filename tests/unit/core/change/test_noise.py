"""Recognition of noise in texts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evercrawl.core.change.noise import (
    count_words,
    has_price,
    is_count,
    is_identifier,
    is_prose,
    is_same_moment,
    is_todays_date,
    significant_text,
    text_shape,
    text_similarity,
    without_ages,
)

NOW = datetime(2026, 3, 12, 9, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Updated 3 minutes ago", "Read 10,412 times", "17 users online", "Stand: 12.03.2024, 09:14 Uhr",
        "Gelesen: 10.412 mal", "閲覧数 1,234", "hace 5 minutos", "há 3 horas", "3 dagen geleden",
        "2 saat önce", "Time: 09:14", "2024-03-12T09:14:03Z", "right now", "5 days inactive", "22m. ago",
        "Dernière mise à jour : 12 mars 2024 09:14",
    ],
)  # fmt: skip
def test_noise_has_no_significant_text(text: str):
    assert significant_text(text) == ""


@pytest.mark.parametrize(
    "text", ["Price: 89.90", "Monday 9:00 - 17:00", "12 March 2024", "Serves 4 people", "In stock: 12", "Hier klicken"]
)
def test_content_stays_significant(text: str):
    assert significant_text(text) == text.replace(" ", "")


def test_prose_keeps_its_numbers_but_not_times_to_the_second():
    text = "The council voted 31 to 14 on the tram line, which had been viewed 3 times before in this very hall"
    assert significant_text(text) != significant_text(text.replace("31", "32"))
    stamped = f"{text}, as of 12 March 2024 09:14:03"
    assert significant_text(stamped) == significant_text(
        stamped.replace("09:14:03", "10:15:04").replace("12 March", "13 April")
    )


def test_shapes():
    assert text_shape("10,412 views on 3 May 2024") == text_shape("9 views on 12 June 2025")
    assert text_shape("-3 degrees") == text_shape("17 degrees")
    assert text_shape("3 degrees") != text_shape("3 metres")


def test_prose_in_a_script_without_spaces():
    assert is_prose("市議会は港から大学まで路面電車を建設することを決めた。")
    assert not is_prose("在庫あり")


@pytest.mark.parametrize("text", ["12 March 2026", "12.03.2026", "2026-03-12", "13 March", "2026年3月12日"])
def test_todays_date(text: str):
    assert is_todays_date(text, now=NOW)


@pytest.mark.parametrize("text", ["22 March 2026", "12.04.2026", "no number", "12", "March 2 @ 12:30"])
def test_another_date(text: str):
    assert not is_todays_date(text, now=NOW)


def test_text_similarity():
    assert text_similarity("Today: 7 degrees, rain", "Today: 19 degrees, sun") > 0.7
    assert text_similarity("Buy shoes", "Win a holiday") < 0.4
    assert text_similarity("", "x") == 0


def test_a_number_is_similar_to_numbers_only():
    assert text_similarity("302", "398") == 1
    assert text_similarity("302", "c0ffee • 2d. ago") == 0
    assert text_similarity("8", "7d") == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("039-427-1680", True),
        ("031 106 2860", True),
        ("07890 99-322", True),
        ("MB-5623", True),
        ("25-02-02 16:56", False),
        ("2026-03-12", False),
        ("1,604 views", False),
        ("1 604 878", False),
        ("12.5 km", False),
        ("12/2026", False),
    ],
)
def test_numbers_that_count_nothing(text: str, expected: bool):
    assert is_identifier(text) is expected


def test_prices():
    assert has_price("1.299,00 €")
    assert has_price("from 12 USD")
    assert not has_price("12 metres")


def test_korean_words_are_counted_by_their_spaces():
    assert count_words("위원회는 일정을 연기했습니다") == 3
    assert count_words("閲覧数が増えた") > 3


@pytest.mark.parametrize(("text", "expected"), [("39", True), ("1.9k", True), ("2,040", True), ("39 votes", False)])
def test_a_count_is_a_number_and_nothing_else(text: str, expected: bool):
    assert is_count(text) is expected


def test_without_ages():
    assert without_ages("Resolved (5 days ago)") == without_ages("Resolved (a week ago)")
    assert without_ages("Resolved (5 days ago)") != without_ages("Reopened (a week ago)")


def test_a_picture_made_of_signs_says_nothing():
    drawing = r" ___  _____ | __ \ /_ | / / /_ | |_) |" * 6
    assert significant_text(drawing) == ""
    assert significant_text("★★★☆☆") != ""
    assert significant_text(f"{drawing} and a sentence of some words beside it, which is read") != ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "This page was generated in about 0.003s by Mill 2.21",
            "This page was generated in about 0.002s by Mill 2.21",
        ),
        ("Page rendered in 12 ms, 5 queries", "Page rendered in 9 ms, 5 queries"),
        ("Seite in 0,021 Sekunden generiert", "Seite in 0,4 Sekunden generiert"),
    ],
)
def test_how_long_a_page_took_is_noise(before: str, after: str):
    assert significant_text(before) == significant_text(after)
    assert significant_text("The winner ran it in 9.58 s") != significant_text("The winner ran it in 9.63 s")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Sun, Feb 02, 11:04", "Feb 02 2025, 11:04", True),
        ("02/Feb/25 07:08", "02/Feb/2025 07:08", False),
        ("Sun, Feb 02, 11:04", "Feb 03 2025, 11:04", False),
        ("12 March 2024, 19:30", "19 March 2024, 19:30", False),
        ("4 days", "11:04", False),
    ],
)
def test_the_same_moment_in_another_form(one: str, other: str, is_same: bool):
    assert is_same_moment(one, other) is is_same
