"""Lines of crawl.log have twelve fields, even with hostile URLs and headers."""

from __future__ import annotations

import re

import pytest

from evercrawl.collection.visit_log import CODES, heritrix_line
from evercrawl.model.listing import VisitLogRow
from evercrawl.model.reason import Reason

AT = 1_700_000_000_250_000
FETCHED = VisitLogRow(
    1, AT, "https://a.test/x", "fetched", "new", 200, 1500, 4321, 2, "https://a.test/", "text/html; x", b"\0" * 20
)
FORM = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z +-?\d+ +\d+ \S+ (?:L+|-) \S+ \S+ #\d{3} \d{17}\+\d+ \S+ - \S+"
)


def test_a_visit_is_one_line_of_twelve_fields() -> None:
    line = heritrix_line(FETCHED)
    assert FORM.fullmatch(line)
    fields = line.split()
    assert fields == [
        "2023-11-14T22:13:21.750Z",
        "200",
        "4321",
        "https://a.test/x",
        "LL",
        "https://a.test/",
        "text/html",
        "#000",
        "20231114221320250+1500",
        "sha1:" + "A" * 32,
        "-",
        "fetched,new",
    ]


def test_the_parent_can_be_omitted() -> None:
    assert heritrix_line(FETCHED, with_parent=False).split()[5] == "-"


@pytest.mark.parametrize(
    ("reason", "code"), [("dns", "-1"), ("timeout", "-4"), ("robots", "-9998"), ("internal", "-5")]
)
def test_failures_have_the_codes_of_heritrix(reason: str, code: str) -> None:
    failed = FETCHED._replace(status=None, outcome="error", reason=reason)
    fields = heritrix_line(failed).split()
    assert (fields[1], fields[9]) == (code, "-")


def test_an_answer_without_a_body_has_no_digest() -> None:
    assert heritrix_line(FETCHED._replace(status=304, reason="not_modified")).split()[9] == "-"


def test_every_code_is_below_zero() -> None:
    assert all(code < 0 for code in CODES.values())
    assert set(CODES) <= set(Reason)


@pytest.mark.parametrize("trick", ["\n200 forged", " a b", "\u202egnp.exe", "\x1b[31m", "\ud800", "é"])
def test_nothing_crawled_ends_a_field_or_a_line(trick: str) -> None:
    hostile = FETCHED._replace(
        url=f"https://a.test/{trick}", parent=f"https://a.test/{trick}", content_type=f"text/{trick}"
    )
    line = heritrix_line(hostile)
    assert FORM.fullmatch(line)
    assert line.isascii()
    assert line.isprintable()
