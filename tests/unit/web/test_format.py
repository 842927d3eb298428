"""Values as text for people and for JSON."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import pytest
from markupsafe import Markup

from evercrawl.web.format import (
    crawled,
    format_duration,
    format_size,
    link_to,
    plain_line,
    relative_time,
    time_element,
    to_plain,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_text_for_people():
    assert format_size(1_500_000) == "1.5 MB"
    assert format_duration(45) == "45 s"
    assert relative_time(NOW - timedelta(hours=3), NOW) == "3 hours ago"
    assert relative_time(NOW + timedelta(minutes=5), NOW) == "in 5 minutes"
    assert relative_time(NOW - timedelta(days=90), NOW) == "2026-08-17"
    assert time_element(None) == Markup("–")
    assert 'datetime="2026-11-15T12:00:00Z" title="2026-11-15 12:00:00 UTC"' in time_element(NOW)
    assert (
        link_to("/page", url="https://a.example/?q=ü&x='")
        == "/page?url=https%3A%2F%2Fa.example%2F%3Fq%3D%C3%BC%26x%3D%27"
    )
    assert crawled('<script>"\u202e\x1b[31m') == Markup("<bdi>&lt;script&gt;&#34;</bdi>")
    assert plain_line("a\u202eb\nc") == "ab c"


class _Row(NamedTuple):
    at_us: int
    name: bytes


def test_values_for_json():
    assert to_plain({"rows": [_Row(0, b"\x01")], date(2026, 1, 2): timedelta(seconds=2)}) == {
        "rows": [{"at": "1970-01-01T00:00:00Z", "name": "01"}],
        "2026-01-02": 2.0,
    }
    assert to_plain("lone \ud800 surrogate") == "lone ? surrogate"
    with pytest.raises(TypeError):
        to_plain(object())
