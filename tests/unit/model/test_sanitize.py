"""Crawled text is safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.model.sanitize import has_credentials, mask_passwords, safe_block, safe_line


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;ZXZpbA==\x1b\\text", "text"),
        ("\x9b31mred", "red"),
        ("\x1b(0text", "text"),
        ("user\u202egpj.exe", "usergpj.exe"),
        ("a\u2066b\u2069c\u200bd\ufeffe", "abcde"),
        ("bell\x07 back\x08", "bell back"),
        ("one\r\ntwo\tthree\u2028four", "one two three four"),
        ("plain text", "plain text"),
        ("grüße \U0001f468\u200d\U0001f469\u200d\U0001f467", "grüße \U0001f468\u200d\U0001f469\u200d\U0001f467"),
        ("lone \udc80 surrogate", "lone  surrogate"),
        ("[bold]markup[/bold]", "[bold]markup[/bold]"),
        ("open \x1b]0;never closed", "open "),
    ],
)
def test_a_line_shows_only_visible_characters(hostile: str, shown: str) -> None:
    assert safe_line(hostile) == shown


def test_a_long_line_is_cut() -> None:
    assert safe_line("x" * 50, longest=10) == "x" * 9 + "…"


def test_a_block_keeps_lines_and_tabs() -> None:
    assert safe_block("one\r\n\ttwo\x1b[1m\rthree\n") == "one\n\ttwothree\n"


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    for shown in (safe_line(text), safe_block(text).replace("\n", "").replace("\t", "")):
        hidden = {char for char in shown if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
        assert hidden <= {"\u200c", "\u200d"}
        shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:s3cret@db/crawls", "postgresql://me:***@db/crawls"),
        ("postgresql://me:p@ss@db/crawls", "postgresql://me:***@db/crawls"),
        ("postgresql://:s3cret@db/", "postgresql://:***@db/"),
        ("postgresql://me@db/x?password=s3cret&sslmode=on", "postgresql://me@db/x?password=***&sslmode=on"),
        ("postgresql://db/x?SSLPassword=s3cret", "postgresql://db/x?SSLPassword=***"),
        ("two: https://a:b@c/ and ftp://d:e@f", "two: https://a:***@c/ and ftp://d:***@f"),
        ("https://example.org:8080/a@b", "https://example.org:8080/a@b"),
        ("https://example.org/?to=me:you@example.org", "https://example.org/?to=me:you@example.org"),
    ],
)
def test_passwords_are_masked(text: str, shown: str) -> None:
    assert mask_passwords(text) == shown
    assert mask_passwords(shown) == shown


def test_credentials_are_recognised() -> None:
    for url in ("https://me:x@host/", "https://me@host/", "https://:x@host", "https:\\\\me:x@host\\", "//me:x@host/"):
        assert has_credentials(url), url
    for url in ("https://host/a@b", "https://host?a=me:x@host", "https://host#@", "https://host:80/"):
        assert not has_credentials(url), url
