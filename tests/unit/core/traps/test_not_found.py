from __future__ import annotations

import re

import pytest

from evercrawl.core.traps.not_found import (
    ProbeAnswer,
    ProbeOutcome,
    common_message,
    has_lost_text,
    has_new_text,
    has_same_message,
    invented_urls,
    is_left_empty,
    is_soft_404,
    judge_probe,
    probe_url,
    soft_404_page,
)
from tests.worlds.traps.sites import prose


def test_invented_url_changes_the_place_that_differs() -> None:
    made = probe_url("http://a.test/p/17", "http://a.test/p/18", seed=1)
    assert made.startswith("http://a.test/p/")
    assert made.removeprefix("http://a.test/p/").isdigit()
    assert made not in ("http://a.test/p/17", "http://a.test/p/18")
    assert made == probe_url("http://a.test/p/17", "http://a.test/p/18", seed=1)
    assert made != probe_url("http://a.test/p/17", "http://a.test/p/18", seed=2)


def test_invented_url_changes_the_year_before_the_month() -> None:
    made = probe_url("http://a.test/cal/2025/03", "http://a.test/cal/2027/11", seed=5)
    year = made.removeprefix("http://a.test/cal/").removesuffix("/11")
    assert 2500 <= int(year) < 2900


def test_invented_date_is_a_valid_date() -> None:
    made = probe_url("http://a.test/x?date=2026-11-15", "http://a.test/x?date=2026-02-29", seed=5)
    year, _, rest = made.removeprefix("http://a.test/x?date=").partition("-")
    assert 2500 < int(year) < 2900
    assert rest == "02-29"
    made = probe_url("http://a.test/at/20261115093000", "http://a.test/at/20260229103000", seed=5)
    assert made.removeprefix("http://a.test/at/2").endswith("0229103000")
    assert len(made) == len("http://a.test/at/20260229103000")


def test_invented_value_keeps_its_kind() -> None:
    made = probe_url("http://a.test/wiki/Apple.html", "http://a.test/wiki/Pear.html", seed=3)
    assert made.startswith("http://a.test/wiki/")
    assert made.endswith(".html")
    value = probe_url("http://a.test/x?time=101", "http://a.test/x?time=102", seed=3)
    assert value.startswith("http://a.test/x?time=")
    assert probe_url("http://a.test/a/b", "http://a.test/a/b/c", seed=3).startswith("http://a.test/a/b/")


def test_probe_distinguishes_three_kinds_of_sites() -> None:
    message = "We could not find {} here, but there is a lot to see on our other pages today."
    one = ProbeAnswer(200, message.format("/a/77"), 5, 5)
    other = ProbeAnswer(200, message.format("/a/9912"), 5, 5)
    kind, same = judge_probe(one, other)
    assert kind is ProbeOutcome.SAME
    assert same is not None
    assert is_soft_404(message.format("/b/1"), same)
    assert not is_soft_404(prose("page"), same)

    assert judge_probe(ProbeAnswer(404), ProbeAnswer(200, "x")) == (ProbeOutcome.NOT_FOUND, None)
    maze = ProbeAnswer(200, prose(1), 8, 8), ProbeAnswer(200, prose(2), 8, 8)
    assert judge_probe(*maze) == (ProbeOutcome.INVENTED, None)
    with_navigation = ProbeAnswer(200, prose(1), 8, 2), ProbeAnswer(200, prose(2), 8, 2)
    assert judge_probe(*with_navigation) == (ProbeOutcome.ANSWERED, None)
    recommending = [ProbeAnswer(200, message.format("x") + prose(n, count=10), 8, 8) for n in (1, 2)]
    assert judge_probe(recommending[0], recommending[1])[0] is not ProbeOutcome.INVENTED


def test_part_of_a_soft_404_text_is_not_a_soft_404() -> None:
    assert not is_soft_404("Sorry.", soft_404_page("Sorry. " + prose("long")))


@pytest.mark.parametrize(
    ("url", "in_query", "form"),
    [
        ("http://a.test/", False, r"/[a-z]{11}"),
        ("http://a.test/notes:pidof", False, r"/[a-z]{11}"),
        ("http://a.test/post/foo/", False, r"/post/[a-z]{11}/"),
        ("http://a.test/topic/15/some-slug/", False, r"/topic/\d+/[a-z]{11}/"),
        ("http://a.test/2024/05/my-post/", False, r"/2024/05/[a-z]{11}/"),
        ("http://a.test/view.php?f=2&t=123", True, r"/view\.php\?f=2&t=\d{6,}"),
        ("http://a.test/doku.php?id=notes:abc", True, r"/doku\.php\?id=[a-z]{11}"),
        ("http://a.test/view.php?f=2&t=123", False, r"/[a-z]{11}\.php"),
    ],
)
def test_invented_urls_are_of_the_same_kind(url: str, in_query: bool, form: str) -> None:
    one, other = invented_urls(url, seed=3, in_query=in_query)
    assert one != other
    assert all(re.fullmatch(form, made.removeprefix("http://a.test")) for made in (one, other)), (one, other)


def test_the_words_of_the_url_do_not_count() -> None:
    words = "{}\nTätä sivua ei ole vielä olemassa. Voit luoda sen."
    known = soft_404_page(words.format("Zofigamelob"), "http://a.test/zofigamelob")
    assert is_soft_404(words.format("notes:perf_arm_spe"), known, "http://a.test/notes:perf_arm_spe")
    assert not is_soft_404("notes:perf_arm_spe", known, "http://a.test/notes:perf_arm_spe")


def test_the_common_message_is_what_real_pages_do_not_show() -> None:
    menu, sorry = "Kundservice och leverans", "Varan är slut"
    answers = [ProbeAnswer(200, f"{menu}\n{sorry}\n{prose(n, count=9)}", url=f"http://a.test/{n}") for n in "xy"]
    message = common_message(answers, [ProbeAnswer(200, f"{menu}\n{prose('real')}")])
    known = soft_404_page("", phrases=message)
    assert has_same_message(f"{sorry}\n{prose('other')}", known)
    assert not has_same_message(f"{menu}\n{prose('other')}", known)
    assert not has_same_message("anything", soft_404_page(""))


def test_lost_text() -> None:
    text = prose("text", count=300)
    half, other = " ".join(text.split()[:150]), prose("other", count=300)
    assert has_lost_text(text, "Gone.")
    assert is_left_empty(text, "Gone.")
    assert has_lost_text(text, other)
    assert not is_left_empty(text, other), "the page is about something else now"
    assert not has_lost_text(text, half)
    few = " ".join(text.split()[:5])
    assert has_lost_text(text, few)
    assert not has_new_text(text, few), "what is left is its own"
    assert has_new_text(text, "Gone for good.")
    assert not is_left_empty("Short.", "Gone.")
    assert not has_lost_text(None, "Gone.")
    unspaced = (
        "東京都は日本の首都であり、世界最大の都市圏の一つである。人口は約千四百万人で、政治と経済の中心地となっている。"
        * 3
    )
    assert is_left_empty(unspaced, "このページは削除されました。")
    assert not has_lost_text(unspaced, unspaced[:80])
