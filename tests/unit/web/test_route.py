"""Parameters are parsed to typed values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.web.route import BadRequest, Parameter, limit

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (limit(), None, 50),
        (limit(), "7", 7),
        (Parameter("f", "", "bool", default=False), None, False),
        (Parameter("f", "", "bool"), "true", True),
        (Parameter("c", "", "choice", choices=("a", "b")), "b", "b"),
        (Parameter("s", "", "time"), "24h", NOW - timedelta(days=1)),
        (Parameter("t", ""), "", None),
    ],
)
def test_parameters_are_typed(parameter: Parameter, text: str | None, value: object):
    assert parameter.parse(text, now=NOW) == value


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (limit(), "0"),
        (limit(), "501"),
        (limit(), "-1"),
        (limit(), "1e3"),
        (limit(), "٣"),
        (Parameter("f", "", "bool"), "maybe"),
        (Parameter("c", "", "choice", choices=("a",)), "b"),
        (Parameter("s", "", "time"), "whenever"),
        (Parameter("t", "", required=True), None),
        (Parameter("t", ""), "x" * 9000),
        (Parameter("t", ""), "a\x00b"),
    ],
)
def test_invalid_text_is_refused(parameter: Parameter, text: str | None):
    with pytest.raises(BadRequest):
        parameter.parse(text, now=NOW)
