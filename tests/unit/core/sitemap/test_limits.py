"""Bombs and endless files cost what the limits say, counted in entries, bytes and calls and not in time."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from evercrawl.core.sitemap.sitemap_markup import MAX_TAGS, MAX_TOKEN_BYTES, parse_tags
from evercrawl.core.sitemap.sitemap_reader import read_sitemap, unpack_body
from evercrawl.model.sitemap import Sitemap, SitemapLimits, SitemapType

HERE = "http://site.test/sitemap.xml"
SMALL = SitemapLimits(most_bytes=10_000, most_entries=10, most_elements=100, most_depth=5, most_fields=8)
URL = "<url><loc>http://site.test/</loc></url>"


def read(body: str | bytes, limits: SitemapLimits = SMALL) -> Sitemap:
    return read_sitemap(body.encode() if isinstance(body, str) else body, HERE, limits=limits)


@pytest.mark.parametrize(
    ("body", "entries", "error"),
    [
        ("<urlset>" + URL * 11 + "</urlset>", 10, "more than 10 entries; the rest was not read"),
        ("<urlset>" + URL + "<a/>" * 100 + "</urlset>", 1, "more than 100 elements"),
        ("<urlset>" + URL + "<a>" * 9, 1, "elements are nested more than 5 deep"),
        ("<urlset>" + URL + "<url>" + "<a/>" * 9, 1, "more than 8 elements in one entry"),
        ("<urlset>" + URL + " " * 10_000, 1, "longer than 10000 bytes; the rest was not read"),
        ("http://site.test/\n" * 11, 10, "more than 10 lines; the rest was not read"),
        ("URL,LAST_UPDATED\n" + "http://site.test/,1\n" * 20, 9, "more than 10 lines; the rest was not read"),
        ("<urlset>&b;" + URL * 10 + "<url><loc>/cut</loc>", 10, "more than 10 entries; the rest was not read"),
    ],
)
def test_every_limit_leaves_what_came_before(body: str, entries: int, error: str):
    found = read(body)
    assert (len(found.entries), found.error) == (entries, error)


def test_a_limit_is_not_tried_again_with_the_lenient_reader():
    assert read("<urlset>" + "<a>" * 9 + "&").error == "elements are nested more than 5 deep"


def test_entities_never_expand():
    entities = '<!ENTITY a "http://site.test/x">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "&a;"}">' for n in range(9)
    )
    body = f"<!DOCTYPE u [{entities}]><urlset><url><loc>&a8;</loc></url>{URL}</urlset>"
    assert [entry.url for entry in read(body).entries] == ["http://site.test/"]


@pytest.mark.parametrize("padding", ["", "<!--" + " " * 20_000 + "-->"])
def test_external_entities_are_nothing(padding: str):
    body = f'<!DOCTYPE u [{padding}<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://site.test/&x;</loc></url></urlset>'
    found = read(body, SitemapLimits())
    assert [entry.url for entry in found.entries] in (["http://site.test/"], [])
    assert "root:" not in str(found)


def test_a_document_type_too_long_to_be_taken_off_declares_nothing():
    body = "<!DOCTYPE u [" + " " * 20_000 + '<!ENTITY x "y">]><urlset><url><loc>/&x;</loc></url></urlset>'
    assert read(body, SitemapLimits()).error == "the document declares the entity 'x'"


def test_a_gzip_bomb_gives_no_more_than_the_limit():
    bomb = gzip.compress(b" " * 30_000_000)
    tracemalloc.start()
    try:
        found = unpack_body(bomb, most_bytes=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.data) == 1_000_000
    assert peak < 5_000_000


def test_a_bomb_of_many_members_ends():
    member = gzip.compress(b"")
    assert unpack_body(member * 5000, most_bytes=100).data == b""


@pytest.mark.parametrize("start", ["<a b='", "<!-- ", "<"])
def test_a_tag_without_end(start: str):
    body = "<urlset>" + URL + start + "x" * (MAX_TOKEN_BYTES + 1_000_000)
    found = read(body, SitemapLimits())
    assert (len(found.entries), found.error) == (1, f"a tag is longer than {MAX_TOKEN_BYTES} bytes")


class Counted:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.calls = 0
        self.characters = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.calls += 1

    def end(self, name: str) -> None:
        self.calls += 1

    def text(self, data: str) -> None:
        self.calls += 1
        self.characters += len(data)


@pytest.mark.parametrize("piece", ["<", "<a b='", '<a b="', "<!--", "<![CDATA[", "<?", "<!", "&", "<a/>", "</a>", "<a"])
def test_the_lenient_reader_looks_at_everything_once(piece: str):
    sink = Counted()
    parse_tags(piece * 2000, sink)
    assert sink.calls <= 2 * 2000 + 1
    assert sink.characters <= len(piece) * 2000


def test_the_lenient_reader_stops():
    sink = Counted()
    parse_tags("<" * (MAX_TAGS + 5), sink)
    assert sink.calls == MAX_TAGS


@pytest.mark.parametrize(
    "body", [b"<!DOCTYPE a [" + b"<!--" * 50_000, b'<!DOCTYPE a ["' + b"x" * 100_000, b"<?" * 50_000, b"<!--" * 50_000]
)
def test_a_prolog_without_end(body: bytes):
    assert read(body, SitemapLimits()).type is SitemapType.UNKNOWN
