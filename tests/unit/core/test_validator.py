from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evercrawl.core.http.message import trusted_last_modified

SEEN_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("value", ["Sun, 01 Mar 2026 12:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_date_up_to_the_visit_is_sent_back_as_it_came(value: str):
    assert trusted_last_modified((("Last-Modified", value),), seen_at=SEEN_AT) == value


@pytest.mark.parametrize("value", ["Sun, 01 Mar 2026 12:00:01 GMT", "Fri, 01 Jan 2100 00:00:00 GMT", "soon", ""])
def test_the_future_and_what_is_no_date_vouch_for_nothing(value: str):
    assert trusted_last_modified((("last-modified", value),), seen_at=SEEN_AT) is None


def test_without_the_field_there_is_nothing():
    assert trusted_last_modified((), seen_at=SEEN_AT) is None
