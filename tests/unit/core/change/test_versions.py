"""Which version people mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.change.versions import VersionMissing, choose_version, is_version_name
from evercrawl.errors import ConfigError

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
VERSIONS = [
    (1, datetime(2026, 10, 1, 8, tzinfo=UTC)),
    (4, datetime(2026, 11, 1, 15, 30, 20, 123456, tzinfo=UTC)),
    (5, NOW - timedelta(hours=3)),
]


@pytest.mark.parametrize(
    ("which", "place"),
    [
        ("-1", 1), ("@-1", 1), ("-2", 0), ("-0", 2), ("0", 2), ("@0", 2), ("v4", 1), ("@4", 1), ("@v1", 0),
        ("7d", 1), ("1h", 2), ("now", 2), ("yesterday", 1), ("2026-11-01", 1), ("2026-10-31", 0),
        ("2026-11-01T15:30:20Z", 1), ("2026-11-01T15:30:19Z", 0), ("2026-10", 0),
    ],
)  # fmt: skip
def test_the_version_that_is_meant(which: str, place: int) -> None:
    assert choose_version(VERSIONS, which, now=NOW) == place


@pytest.mark.parametrize("which", ["-3", "v2", "9", "2026-09-30", "1y"])
def test_a_version_that_is_not_there(which: str) -> None:
    with pytest.raises(VersionMissing):
        choose_version(VERSIONS, which, now=NOW)
    assert is_version_name(which, now=NOW)


@pytest.mark.parametrize("which", ["", "user", "example.org/x", "v", "--1", "2026-13-01"])
def test_what_names_no_version(which: str) -> None:
    assert not is_version_name(which, now=NOW)
    with pytest.raises(ConfigError):
        choose_version(VERSIONS, which, now=NOW)
