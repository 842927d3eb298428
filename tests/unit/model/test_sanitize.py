"""Crawled text is safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.model.sanitize import safe_block, safe_line


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
