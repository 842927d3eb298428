"""Links between shards, and times at the borders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.url import key_of
from evercrawl.core.visit.links import pack_links, unpack_links
from evercrawl.model.page import Candidate
from evercrawl.model.time import from_us, span_us, to_us


def test_a_parcel_gives_back_what_was_packed_without_the_senders_numbers():
    urls = ["http://a.test/", "http://b.test/x?y=%C3%A9"]
    sent = [Candidate(url, key_of(url), depth, 1, "http://c.test/", 99) for depth, url in enumerate(urls)]
    assert unpack_links(pack_links(sent)).candidates == [candidate._replace(parent_id=None) for candidate in sent]


def test_a_parcel_carries_credit_for_links_for_known_pages_and_for_lambda():
    link = Candidate("http://a.test/", key_of("http://a.test/"), 1, 0, None, None, 7)
    contents = unpack_links(pack_links([link], shares={"http://b.test/": 5}, grant=3))
    assert (contents.candidates, contents.shares, contents.grant) == ([link], {"http://b.test/": 5}, 3)
    assert contents.credit == 15


def test_a_parcel_of_an_older_version_has_links_without_credit():
    contents = unpack_links(b'[["http://a.test/",1,0,null]]')
    assert contents.candidates[0].credit is None
    assert contents.credit == 0


@given(st.datetimes(timezones=st.just(UTC)))
def test_moments_survive_the_border(moment: datetime):
    assert from_us(to_us(moment)) == moment


def test_spans():
    assert span_us(timedelta(seconds=1.5)) == 1_500_000
