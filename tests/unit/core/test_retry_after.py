"""Retry-After in all its forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.faults import MAX_RETRY_AFTER, retry_after

NOW = datetime(2026, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("1.5", 1.5),
        ("0", 0),
        ("-5", 0),
        ("+7", 7),
        ("Fri, 06 Nov 2026 08:51:07 GMT", 90),
        ("Friday, 06-Nov-26 08:51:07 GMT", 90),
        ("Fri Nov  6 08:51:07 2026", 90),
        ("Fri, 06 Nov 2026 09:51:07 +0100", 90),
        ("Fri, 06 Nov 2020 08:51:07 GMT", 0),
        ("99999999999", MAX_RETRY_AFTER.total_seconds()),
        ("9" * 60, MAX_RETRY_AFTER.total_seconds()),
        ("Fri, 01 Jan 2100 00:00:00 GMT", MAX_RETRY_AFTER.total_seconds()),
    ],
)
def test_a_wait_is_read(value: str, seconds: float) -> None:
    assert retry_after(value, now=NOW) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value", [None, "", "soon", "inf", "nan", "1e3", "Fri, 99 Nov 2026 08:51:07 GMT", "1" * 100, "."]
)
def test_what_is_no_wait_is_none(value: str | None) -> None:
    assert retry_after(value, now=NOW) is None


@given(st.text(max_size=70) | st.from_regex(r"[A-Za-z]{3}, [0-9]{1,4} Nov [0-9]{1,6} [0-9:]{1,9} ?[A-Z+0-9-]*"))
def test_any_text_gives_a_bounded_wait_or_none(text: str) -> None:
    wait = retry_after(text, now=NOW)
    assert wait is None or timedelta(0) <= wait <= MAX_RETRY_AFTER
