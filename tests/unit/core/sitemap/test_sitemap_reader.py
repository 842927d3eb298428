from __future__ import annotations

import gzip
import tracemalloc
from datetime import UTC, datetime

import pytest

from evercrawl.core.sitemap.sitemap_markup import MAX_TAGS, MAX_TOKEN_BYTES, parse_tags
from evercrawl.core.sitemap.sitemap_reader import read_sitemap, unpack_body
from evercrawl.core.sitemap.sitemap_values import is_in_scope
from evercrawl.model.document import Alternate
from evercrawl.model.sitemap import Sitemap, SitemapLimits, SitemapType

HERE = "http://site.test/maps/sitemap.xml"
DAY = datetime(2024, 5, 6, tzinfo=UTC)


def read(body: str | bytes, url: str = HERE, content_type: str | None = None) -> Sitemap:
    raw = body.encode() if isinstance(body, str) else body
    return read_sitemap(raw, url, content_type=content_type)


def urls_in(body: str | bytes, content_type: str | None = None) -> list[str]:
    return [entry.url for entry in read(body, content_type=content_type).entries]


def urlset(*locs: str) -> str:
    return "<urlset>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>"


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ('urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"', "urlset"),
        ('urlset xmlns="http://nobody.test/"', "urlset"),
        ("urlset", "urlset"),
        ("URLSET", "urlset"),
    ],
)
def test_the_namespace_does_not_matter(root: str, expected: str):
    name = root.split()[0]
    found = read(f"<{root}><url xmlns=''><loc>http://site.test/a</loc></url></{name}>")
    assert (found.type, [entry.url for entry in found.entries]) == (expected, ["http://site.test/a"])
    assert found.error is None


def test_undeclared_prefixes_do_no_harm():
    body = "<urlset><url><loc>http://site.test/a</loc><image:image><image:loc>/i.png</image:loc></image:image>"
    found = read(body + "</url></urlset>")
    assert found.error is None
    assert found.entries[0].images == ("http://site.test/i.png",)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("  http://site.test/a\n", "http://site.test/a"),
        ("<![CDATA[ http://site.test/?a=1&b=2 ]]>", "http://site.test/?a=1&b=2"),
        ("http://site.test/?a=1&amp;b=2", "http://site.test/?a=1&b=2"),
        ("http://site.test/?a=1&#38;b=&#x32;", "http://site.test/?a=1&b=2"),
        ("http://site.test/caf&eacute;", "http://site.test/caf%C3%A9"),
        ("http://site.test/a b", "http://site.test/a%20b"),
        ("HTTP://SITE.test/a", "http://site.test/a"),
        ("http://site.test", "http://site.test"),
        ("/a", "http://site.test/a"),
        ("a", "http://site.test/maps/a"),
        ("//other.test/a", "http://other.test/a"),
        ("site.test/a", "http://site.test/a"),
        ("www.site.test/a", "http://www.site.test/a"),
        ("http://other.test/a", "http://other.test/a"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"),
    ],
)
def test_a_loc(written: str, expected: str):
    assert urls_in(urlset(written)) == [expected]


@pytest.mark.parametrize(
    "written",
    ["", " ", "mailto:a@site.test", "javascript:x", "ftp://site.test/a", "http://", "http://a..:99999/", "http://%/"],
)
def test_a_loc_that_names_no_page(written: str):
    found = read(urlset(written, "http://site.test/ok"))
    assert [entry.url for entry in found.entries] == ["http://site.test/ok"]


def test_a_record_whose_text_is_its_url():
    body = "<sitemapindex><sitemap>\n http://site.test/1.xml </sitemap><sitemap>x</sitemap></sitemapindex>"
    assert urls_in(body) == ["http://site.test/1.xml"]


def test_a_loc_that_is_too_long():
    assert urls_in(urlset("http://site.test/" + "a" * 9000, "http://site.test/ok")) == ["http://site.test/ok"]


def test_hints_of_an_entry():
    body = (
        "<urlset><url><loc>http://site.test/a</loc><lastmod>2024-05-06</lastmod>"
        "<changefreq> Daily </changefreq><priority> 0.7 </priority></url>"
        "<url><loc>http://site.test/b</loc><lastmod>soon</lastmod><changefreq>often</changefreq>"
        "<priority>nan</priority></url>"
        "<url><loc>http://site.test/c</loc><priority>high</priority></url></urlset>"
    )
    first, second, third = read(body).entries
    assert (first.lastmod, first.changefreq, first.priority) == (DAY, "daily", 0.7)
    assert (second.lastmod, second.changefreq, second.priority) == (None, None, None)
    assert third.priority is None


def test_translations_videos_and_news():
    body = (
        "<urlset><url><loc>http://site.test/a</loc>"
        '<xhtml:link rel="alternate" hreflang="de" href="/de"/>'
        '<xhtml:link rel="stylesheet" href="/s"/>'
        "<v:video><v:title> One </v:title></v:video><v:video><v:title>Two</v:title></v:video>"
        "<news:news><news:publication><news:name>N</news:name></news:publication>"
        "<news:title>T</news:title></news:news></url></urlset>"
    )
    (entry,) = read(body).entries
    assert entry.alternates == (Alternate("http://site.test/de", "de", None),)
    assert entry.videos == ({"title": "One"}, {"title": "Two"})
    assert entry.news == {"name": "N", "title": "T"}


# Encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-8-sig", "utf-8"])
def test_unicode_with_and_without_mark(encoding: str):
    body = '<?xml version="1.0"?>' + urlset("http://site.test/é")
    assert urls_in(body.encode(encoding)) == ["http://site.test/%C3%A9"]


@pytest.mark.parametrize(
    ("declared", "encoding", "content_type"),
    [
        ("ISO-8859-1", "latin-1", None),
        ("windows-1252", "cp1252", "text/xml; charset=utf-8"),
        ("GBK", "gbk", None),
        ("Shift_JIS", "cp932", None),
        ("", "cp1251", "text/xml; charset=windows-1251"),
        ("ISO-8859-1", "utf-8", "text/xml; charset=iso-8859-1"),
    ],
)
def test_declared_encodings(declared: str, encoding: str, content_type: str | None):
    letter = {"gbk": "中", "cp932": "あ", "cp1251": "ж"}.get(encoding, "é")
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    body = (declaration + urlset(f"http://site.test/?{letter}")).encode(encoding)
    expected = read(urlset(f"http://site.test/?{letter}")).entries
    assert read(body, content_type=content_type).entries == expected


def test_a_loc_with_a_byte_that_is_no_character_is_dropped():
    body = '<?xml version="1.0" encoding="utf-8"?>' + urlset("http://site.test/~", "http://site.test/c")
    assert urls_in(body.encode().replace(b"~", b"\xff")) == ["http://site.test/c"]


# What does not belong there


@pytest.mark.parametrize(
    "before",
    [
        "\ufeff \n",
        "<?xml version='1.1'?>",
        "<?xml?>",
        "<!-- <urlset> -->",
        "<?xml-stylesheet href='x.xsl'?>",
        "Warning: something in x.php on line 3\n<?xml version='1.0'?>",
        "<!DOCTYPE urlset>",
        '<!DOCTYPE urlset SYSTEM "http://other.test/x.dtd" [<!ENTITY a "]>"> <!-- don\'t -->]>',
    ],
)
def test_content_before_the_root(before: str):
    found = read(before + urlset("http://site.test/a"))
    assert ([entry.url for entry in found.entries], found.error) == (["http://site.test/a"], None)


@pytest.mark.parametrize(
    "body",
    [
        "<!DOCTYPE html><title>404</title><p>http://site.test/",
        "<html><body>no</body></html>",
        "<!-- x --><HTML></HTML>",
        "<x:html/>",
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><a/></html>',
    ],
)
def test_a_web_page_is_no_sitemap(body: str):
    assert read(body) == Sitemap(SitemapType.UNKNOWN, error="a web page, not a sitemap")


@pytest.mark.parametrize("body", ["", " \n", "\ufeff", "<", "<>", "{}", "<error><url>http://site.test/</url></error>"])
def test_other_content_is_no_sitemap(body: str):
    found = read(body)
    assert (found.type, found.entries) == (SitemapType.UNKNOWN, ())
    assert found.error is not None


# Broken XML


BOTH = ["http://site.test/a?b&c", "http://site.test/d"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<url><loc>http://site.test/a?b&c</loc></url><url><loc>http://site.test/d</loc></url>", BOTH),
        ("<url><loc>http://site.test/a?b&c</loc><url><loc>http://site.test/d</loc>", BOTH),
        ("<url><loc>http://site.test/a?b&c</url><url><loc>http://site.test/d</loc></url>", BOTH),
        ("<url></nothing><x y=z><x/></x><loc>http://site.test/a?b&c</loc></url><url><loc>http", BOTH[:1]),
        ("<url><loc>http://site.test/a?b&c</loc></url>\x0b<url><loc>http://site.test/d</loc>", BOTH),
        ("<url><loc><![CDATA[http://site.test/a?b&c]]></loc></url> 1 < 2 <!-- <url> --></urlset>", BOTH[:1]),
        ("<url><loc>http://site.test/a?b&amp;c</loc></url><![CDATA[", BOTH[:1]),
        ("<url><loc>http://site.test/a?b&#38;c&#xD800;&#0;</loc></url>&", BOTH[:1]),
    ],
)
def test_broken_markup_costs_its_own_element_only(body: str, expected: list[str]):
    found = read("<urlset>" + body)
    assert [entry.url for entry in found.entries] == expected
    assert found.error is not None
    assert "not well-formed" in found.error


def test_an_unclosed_loc_keeps_its_date():
    body = "<urlset><url><loc>http://site.test/a<lastmod>2024-05-06</lastmod></url></urlset>"
    (entry,) = read(body).entries
    assert (entry.url, entry.lastmod) == ("http://site.test/a", DAY)


@pytest.mark.parametrize("cut", range(9, 60))
def test_a_cut_file_gives_whole_urls_only(cut: int):
    body = "<urlset><url><loc>http://site.test/a</loc></url><url><loc>http://site.test/bcd</loc></url></urlset>"
    assert urls_in(body[:cut]) in ([], ["http://site.test/a"])


# Plain text and tables


def test_a_text_sitemap():
    found = read("http://site.test/a\r\n\r\n# more\r  https://site.test/b  \nHTTP://site.test/c")
    assert (found.type, found.error) == (SitemapType.TEXT, None)
    assert [entry.url for entry in found.entries] == ["http://site.test/a", "https://site.test/b", "http://site.test/c"]


def test_prose_is_no_list():
    assert read("We moved.\nPlease see\nhttp://site.test/").type is SitemapType.UNKNOWN


@pytest.mark.parametrize("separator", ["\t", ",", "; ", "|"])
def test_an_extended_sitemap_as_a_table(separator: str):
    rows = [("ANCHOR_TEXT", "URL", "LAST_UPDATED"), ("Home", "http://site.test/", "1272964276000")]
    found = read("\n".join(separator.join(row) for row in rows))
    assert found.type is SitemapType.EXTENDED
    (entry,) = found.entries
    assert (entry.url, entry.text) == ("http://site.test/", "Home")
    assert entry.lastmod == datetime(2010, 5, 4, 9, 11, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    "body",
    [
        "<X><P><ANCHOR_TEXT>A  b</ANCHOR_TEXT><URL>/a</URL><LAST_UPDATED>1714953600000</LAST_UPDATED></P></X>",
        "<X><L><P><URL>/a</URL><ANCHOR_TEXT>A b</ANCHOR_TEXT><LAST_UPDATED>2024-05-06</LAST_UPDATED></P></L></X>",
        "<X><P ANCHOR_TEXT='A b' URL='/a' LAST_UPDATED='1714953600000'/></X>",
        "<urlset><url><loc>/a</loc><x:ANCHOR_TEXT>A b</x:ANCHOR_TEXT>"
        "<x:LAST_UPDATED>1714953600000</x:LAST_UPDATED></url></urlset>",
        "<urlset><url><ANCHOR_TEXT>A b</ANCHOR_TEXT><URL>/a</URL>"
        "<LAST_UPDATED>1714953600000</LAST_UPDATED></url></urlset>",
    ],
)
def test_an_extended_sitemap_in_xml(body: str):
    found = read(body)
    assert (found.type, found.error) == (SitemapType.EXTENDED, None)
    assert [(entry.url, entry.text, entry.lastmod) for entry in found.entries] == [("http://site.test/a", "A b", DAY)]


def test_pages_of_an_extended_sitemap_without_a_container_each():
    body = (
        "<X><L><URL>/a</URL><LAST_UPDATED>1</LAST_UPDATED><URL>/b</URL><LAST_UPDATED>2</LAST_UPDATED>"
        "<URL>mailto:x</URL><LAST_UPDATED>3</LAST_UPDATED></L></X>"
    )
    assert urls_in(body) == ["http://site.test/a", "http://site.test/b"]


def test_a_date_alone_makes_a_sitemap_an_extended_one():
    found = read("<urlset><url><loc>/a</loc><LAST_UPDATED>1714953600000</LAST_UPDATED></url></urlset>")
    assert (found.type, found.entries[0].lastmod, found.entries[0].text) == (SitemapType.EXTENDED, DAY, "")


def test_a_damaged_table():
    body = 'URL,LAST_UPDATED\nhttp://site.test/,1\n"' + "x" * 200_000
    found = read(body)
    assert ([entry.url for entry in found.entries], found.type) == (["http://site.test/"], SitemapType.EXTENDED)
    assert found.error is not None
    assert found.error.startswith("the table is damaged")


def test_a_long_first_line_is_no_heading():
    assert read("URL,LAST_UPDATED," + "x" * 2000).type is SitemapType.UNKNOWN


# Packing


def test_gzip_is_recognised_by_its_bytes():
    body = urlset("http://site.test/a").encode()
    assert urls_in(gzip.compress(body), "text/html") == ["http://site.test/a"]
    assert urls_in(gzip.compress(gzip.compress(body))) == ["http://site.test/a"]
    assert urls_in(gzip.compress(body[:20]) + gzip.compress(body[20:])) == ["http://site.test/a"]


def test_gzip_three_times_is_refused():
    assert read(gzip.compress(gzip.compress(gzip.compress(b"x")))).error == "compressed more than 2 times"


def test_damaged_gzip_keeps_its_readable_part():
    body = gzip.compress(urlset(*(f"http://site.test/{number}" for number in range(5000))).encode())
    half = read(body[: len(body) // 2])
    assert half.error == "the gzip data end too early"
    assert 0 < len(half.entries) < 5000
    assert read(b"\x1f\x8b\x08 no gzip at all").type is SitemapType.UNKNOWN


def test_scope():
    assert is_in_scope(HERE, "http://site.test/maps/a")
    assert not is_in_scope(HERE, "http://site.test/a")
    assert not is_in_scope(HERE, "mailto:x")
    assert not is_in_scope("", "http://site.test/a")


LIMITS_URL = "http://site.test/sitemap.xml"
SMALL = SitemapLimits(max_bytes=10_000, max_entries=10, max_elements=100, max_depth=5, max_fields=8)
URL = "<url><loc>http://site.test/</loc></url>"


def read_limited(body: str | bytes, limits: SitemapLimits = SMALL) -> Sitemap:
    return read_sitemap(body.encode() if isinstance(body, str) else body, LIMITS_URL, limits=limits)


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
def test_every_limit_keeps_what_came_before(body: str, entries: int, error: str):
    found = read_limited(body)
    assert (len(found.entries), found.error) == (entries, error)


def test_exceeded_limit_is_not_retried_leniently():
    assert read_limited("<urlset>" + "<a>" * 9 + "&").error == "elements are nested more than 5 deep"


def test_entities_never_expand():
    entities = '<!ENTITY a "http://site.test/x">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "&a;"}">' for n in range(9)
    )
    body = f"<!DOCTYPE u [{entities}]><urlset><url><loc>&a8;</loc></url>{URL}</urlset>"
    assert [entry.url for entry in read_limited(body).entries] == ["http://site.test/"]


@pytest.mark.parametrize("padding", ["", "<!--" + " " * 20_000 + "-->"])
def test_external_entities_are_ignored(padding: str):
    body = f'<!DOCTYPE u [{padding}<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://site.test/&x;</loc></url></urlset>'
    found = read_limited(body, SitemapLimits())
    assert [entry.url for entry in found.entries] in (["http://site.test/"], [])
    assert "root:" not in str(found)


def test_oversized_document_type_declares_nothing():
    body = "<!DOCTYPE u [" + " " * 20_000 + '<!ENTITY x "y">]><urlset><url><loc>/&x;</loc></url></urlset>'
    assert read_limited(body, SitemapLimits()).error == "the document declares the entity 'x'"


def test_a_gzip_bomb_gives_no_more_than_the_limit():
    bomb = gzip.compress(b" " * 30_000_000)
    tracemalloc.start()
    try:
        found = unpack_body(bomb, max_bytes=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.data) == 1_000_000
    assert peak < 5_000_000


def test_a_bomb_of_many_members_ends():
    member = gzip.compress(b"")
    assert unpack_body(member * 5000, max_bytes=100).data == b""


@pytest.mark.parametrize("start", ["<a b='", "<!-- ", "<"])
def test_a_tag_without_end(start: str):
    body = "<urlset>" + URL + start + "x" * (MAX_TOKEN_BYTES + 1_000_000)
    found = read_limited(body, SitemapLimits())
    assert (len(found.entries), found.error) == (1, f"a tag is longer than {MAX_TOKEN_BYTES} bytes")


class Counted:
    """Counts the calls."""

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
def test_lenient_parser_reads_everything_once(piece: str):
    sink = Counted()
    parse_tags(piece * 2000, sink)
    assert sink.calls <= 2 * 2000 + 1
    assert sink.characters <= len(piece) * 2000


def test_lenient_parser_stops():
    sink = Counted()
    parse_tags("<" * (MAX_TAGS + 5), sink)
    assert sink.calls == MAX_TAGS


@pytest.mark.parametrize(
    "body", [b"<!DOCTYPE a [" + b"<!--" * 50_000, b'<!DOCTYPE a ["' + b"x" * 100_000, b"<?" * 50_000, b"<!--" * 50_000]
)
def test_a_prolog_without_end(body: bytes):
    assert read_limited(body, SitemapLimits()).type is SitemapType.UNKNOWN
