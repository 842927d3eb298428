"""Any two pages can be compared."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.classify import compare
from evercrawl.core.change.learning import classify_visit, learn_page
from evercrawl.core.change.snapshot import pack_snapshot, snapshot_html, unpack_snapshot
from evercrawl.model.change import ChangeClass

TOKENS = (
    "<p> </p> <div> </div> <main> </main> <ul> <li> </ul> <a href=x> </a> <nav> </nav> <h1> </h1>"
    " <table> <td> <title> </title> <script> </script> <div class=ad> <article> <br> 12 1.234 views"
    " online ago Updated 09:14:03 2024-03-12 © € word words and more of them. é 日本 前 \0 &amp; &#xD800;"
)
MARKUP = st.lists(st.sampled_from(TOKENS.split()) | st.text(max_size=4), max_size=50).map(" ".join)
PAGES = st.binary(max_size=300) | MARKUP.map(lambda text: text.encode("utf-8", "surrogatepass"))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@settings(max_examples=200, deadline=None)
@given(PAGES)
def test_a_page_does_not_differ_from_itself(page: bytes):
    assert compare(page, page).kind is ChangeClass.NONE


@settings(max_examples=400, deadline=None)
@given(PAGES, PAGES)
def test_any_two_pages_can_be_compared_either_way(one: bytes, other: bytes):
    there, back = compare(one, other), compare(other, one)
    assert there.kind is back.kind
    for change in (there, back):
        assert 0 <= change.size <= 1
        assert (change.size > 0) is change.changed


@settings(max_examples=150, deadline=None)
@given(PAGES)
def test_packed_snapshots_round_trip(page: bytes):
    snapshot = snapshot_html(page)
    assert unpack_snapshot(pack_snapshot(snapshot)) == snapshot


@settings(max_examples=150, deadline=None)
@given(st.lists(PAGES, min_size=2, max_size=8))
def test_any_history_can_be_classified_and_stored(pages: list[bytes]):
    snapshots = [snapshot_html(page) for page in pages]
    page, site = PageChangeHistory(), learn_page(snapshots[0], SiteChangeHistory(), page_url="/")
    for visit, (before, after) in enumerate(pairwise(snapshots), start=2):
        _, page, site, _ = classify_visit(before, after, page, site, now=NOW, page_url="/", visit=visit)
        assert PageChangeHistory.from_bytes(page.to_bytes()) == page
        assert SiteChangeHistory.from_bytes(site.to_bytes()) == site


@given(st.binary(max_size=100))
def test_any_bytes_can_be_read_as_histories(stored: bytes):
    PageChangeHistory.from_bytes(stored)
    SiteChangeHistory.from_bytes(stored)
    unpack_snapshot(stored)
