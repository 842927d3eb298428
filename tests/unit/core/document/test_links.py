"""Refresh and srcset of the HTML standard."""

from __future__ import annotations

import pytest

from evercrawl.core.document.links import parse_refresh, parse_srcset


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("5", (5, "")),
        (".5; url=x", (0, "x")),
        ("3.7,URL = 'a b'c", (3, "a b")),
        ("1; 'open", (1, "open")),
        ("1;url", (1, "url")),
        ("9" * 40 + ";x", (999_999_999, "x")),
        ("", None),
        ("x", None),
        ("1x", None),
        ("-1", None),
    ],
)
def test_refresh(content: str, target: tuple[int, str] | None) -> None:
    assert parse_refresh(content) == target


@pytest.mark.parametrize(
    ("srcset", "urls"),
    [
        ("", []),
        (", ,", []),
        ("a, b 2x", ["a", "b"]),
        ("a,, b", ["a", "b"]),
        ("a 1x 2x, b", ["b"]),
        ("a 1w 1h, b 1h", ["a"]),
        ("a 0w, b 0x, c -1x", ["b"]),
        ("a (1x, b", []),
        ("data:,x 1x, y", ["data:,x", "y"]),
    ],
)
def test_srcset(srcset: str, urls: list[str]) -> None:
    assert parse_srcset(srcset) == urls
