"""Values are parsed and formatted."""

from __future__ import annotations

import tomllib
from datetime import timedelta
from typing import Any

import pytest

from evercrawl.config.schema import CHECKS, ORDERED, describe_type, format_value, known_settings, parse_value

KNOWN = known_settings()


@pytest.mark.parametrize("key", KNOWN)
def test_every_default_survives_being_written_and_read(key: str) -> None:
    known = KNOWN[key]
    written = tomllib.loads(f"value = {format_value(known, known.default)}")["value"]
    assert parse_value(known, written) == known.default
    assert describe_type(known)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("1.5s", 1.5), ("500ms", 0.5), ("2m", 120), ("1h", 3600), ("7d", 604_800), (3, 3), (0.25, 0.25), ("90", 90)],
)
def test_a_duration_has_a_unit_or_is_in_seconds(written: object, seconds: float) -> None:
    assert parse_value(KNOWN["pace.delay"], written) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("written", "size"), [("16MiB", 16 * 2**20), ("64MB", 64_000_000), ("1_000", 1000), (4096, 4096), ("1.5 KiB", 1536)]
)
def test_a_size_has_a_unit_or_is_in_bytes(written: object, size: int) -> None:
    assert parse_value(KNOWN["http.max_wire_bytes"], written) == size


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("crawl.max_pages", "10_000", 10_000),
        ("crawl.max_pages", "none", None),
        ("scope.max_depth", "0", 0),
        ("http.allow_private", "yes", True),
        ("http.allow_private", "off", False),
        ("scope.exclude", "a,b", ("a", "b")),
        ("scope.exclude", r"['a{1,2}', 'b']", ("a{1,2}", "b")),
        ("scope.exclude", ["x"], ("x",)),
        ("http.allow_ports", "25, 6000", (25, 6000)),
        ("http.resolve", "example.org:443:[2001:db8::1]", ("example.org:443:[2001:db8::1]",)),
        ("pace.response_time_factor", "2.5", 2.5),
    ],
)
def test_text_is_read_by_the_type_of_its_setting(key: str, written: object, value: Any) -> None:
    assert parse_value(KNOWN[key], written) == value


@pytest.mark.parametrize(
    ("key", "written", "word"),
    [
        ("pace.mode", "fast", "gentle, paper, unlimited"),
        ("scope.kind", "planet", "host, prefix, domain, list"),
        ("store.durability", "maybe", "process, power"),
        ("archive.gzip_level", 9, "0 to 3"),
        ("crawl.concurrency", 0, "more than 0"),
        ("crawl.concurrency", "-3", "whole number"),
        ("crawl.concurrency", 2.5, "whole number"),
        ("crawl.concurrency", True, "whole number"),
        ("crawl.concurrency", "none", "not none"),
        ("crawl.max_pages", "5MiB", "whole number"),
        ("http.connect_timeout", "5 parsecs", "duration"),
        ("http.connect_timeout", "9" * 30, "duration"),
        ("http.max_compression_ratio", float("inf"), "number"),
        ("http.max_wire_bytes", "1.5B", "size"),
        ("http.verify_tls", "perhaps", "true or false"),
        ("http.resolve", "example.org:192.0.2.7", "HOST:PORT:ADDR"),
        ("http.allow_ports", [0], "1 to 65535"),
        ("scope.exclude", ["("], "regular expression"),
        ("scope.exclude", "[1", "list"),
        ("scope.exclude", 7, "list"),
        ("scope.plugins", "no-colon", "module:object"),
        ("identity.product", "my bot/2", "letters"),
        ("identity.contact", "nobody", "mail address"),
        ("identity.contact", "a@b.org\r\nX-Evil: 1", "text"),
        ("revisit.jitter", 0.9, "from 0 to 0.5"),
        ("crawl.concurrency", 10**400, "not as large"),
    ],
)
def test_a_bad_value_is_refused_with_what_it_must_be(key: str, written: object, word: str) -> None:
    with pytest.raises(ValueError, match="must be") as refused:
        parse_value(KNOWN[key], written)
    assert word in str(refused.value)


def test_the_checks_name_settings_that_exist() -> None:
    assert set(CHECKS) <= set(KNOWN)
    assert {key for pair in ORDERED for key in pair} <= set(KNOWN)
