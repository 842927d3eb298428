"""Decisions about a folder of collections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.collection.folder import WatchTurn, judge_health, next_turns, parse_tags
from evercrawl.errors import ConfigError
from evercrawl.model.listing import Totals

DAY = 86_400.0


def waiting(name: str, *, is_due: bool = True) -> WatchTurn:
    return WatchTurn(name, is_due)


def running(name: str, for_s: float, *, is_idle: bool = False) -> WatchTurn:
    return WatchTurn(name, is_due=True, for_s=for_s, is_idle=is_idle)


def test_all_run_where_they_fit() -> None:
    watched = [running("a", DAY, is_idle=True), waiting("b", is_due=False), waiting("c")]
    assert next_turns(watched, others=1, limit=4, turn_s=600) == ([], ["b", "c"])


def test_they_take_turns_where_they_do_not() -> None:
    watched = [running("a", 700), running("b", 900), waiting("c"), waiting("d", is_due=False)]
    assert next_turns(watched, others=0, limit=2, turn_s=600) == (["b"], [])
    assert next_turns(watched[1:], others=0, limit=2, turn_s=600) == ([], ["c"]), "d has nothing to do"
    assert next_turns([running("a", 5), waiting("c")], others=0, limit=1, turn_s=600) == ([], [])
    idle = [running("a", 700), running("b", 5, is_idle=True), waiting("c")]
    assert next_turns(idle, others=0, limit=2, turn_s=600) == (["b"], [])


@given(
    st.lists(st.tuples(st.booleans(), st.none() | st.floats(0, 1e5), st.booleans()), max_size=12),
    st.integers(0, 5),
    st.integers(1, 6),
)
def test_never_more_than_the_limit_are_started(
    facts: list[tuple[bool, float | None, bool]], others: int, limit: int
) -> None:
    watched = [WatchTurn(str(n), is_due, for_s, is_idle) for n, (is_due, for_s, is_idle) in enumerate(facts)]
    stops, starts = next_turns(watched, others=others, limit=limit, turn_s=600)
    now = {one.name for one in watched if one.for_s is not None}
    assert set(stops) <= now
    assert not set(starts) & now
    assert not starts or others + len(now) + len(starts) <= limit


@pytest.mark.parametrize(
    ("requests", "summary", "closed", "distrust", "health"),
    [(0, {}, 0, None, "new"), (9, {"fetched": 9, "errors": 1}, 0, None, "ok"),
     (9, {"fetched": 1, "errors": 8}, 0, None, "attention"),
     (9, {"fetched": 1, "not_modified": 31, "errors": 2}, 0, None, "ok"), (9, {"errors": 1, "gone": 1}, 0, None, "ok"),
     (9, {}, 2, None, "attention"),
     (1, {"nothing_reachable": True}, 0, None, "attention"), (9, {}, 0, "it belongs to another user", "attention")],
)  # fmt: skip
def test_health(requests: int, summary: dict[str, object], closed: int, distrust: str | None, health: str) -> None:
    found, detail = judge_health(Totals(requests=requests), distrust=distrust, summary=summary, closed=closed)
    assert found == health
    assert bool(detail) == (health != "ok")


def test_tags() -> None:
    assert parse_tags(" News, press  news,") == ("news", "press")
    assert parse_tags("") == ()
    for text in ("x" * 41, " ".join(map(str, range(21)))):
        with pytest.raises(ConfigError):
            parse_tags(text)
