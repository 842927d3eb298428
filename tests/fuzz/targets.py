"""Everything that reads bytes of others, each with a few inputs to start from and the errors it may raise."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import brotli
import zstandard

from evercrawl.adapters.parse_worker import parse_within_budget
from evercrawl.adapters.pdf import handler as pdf
from evercrawl.adapters.pictures import decode_picture
from evercrawl.adapters.warc.reader import WarcDamage, WarcRecord, parse_warc_date
from evercrawl.collection.exchange.import_sources import (
    DamagedRecord,
    ImportedResponse,
    RecordFiles,
    fetch_result_of,
    locate_records,
    response_parts,
    warc_files,
)
from evercrawl.collection.exchange.markdown import _Blocks, _blocks_of_lines
from evercrawl.collection.stored_pages import decode_html
from evercrawl.collection.table_view import decode_row_cursor, table_columns
from evercrawl.collection.urls import read_url_list
from evercrawl.config.credentials_file import _parse as parse_credentials
from evercrawl.config.load import read_settings
from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.classify import compare
from evercrawl.core.change.snapshot import pack_snapshot, snapshot_html, unpack_snapshot
from evercrawl.core.change.snapshot_diff import diff_snapshots
from evercrawl.core.document.bounds import truncate_markup
from evercrawl.core.document.compression import apply_patch, unpack_outline
from evercrawl.core.document.elements import parse_tree
from evercrawl.core.document.html import parse_document, rewrite_css
from evercrawl.core.document.link_rewriting import rewrite_html
from evercrawl.core.document.links import parse_link_header, parse_refresh, parse_srcset
from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.core.embedded_state import compare_embedded, embedded_html, embedded_values, prose_paths
from evercrawl.core.faults import http_date, retry_after
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decode
from evercrawl.core.http.http1 import BadResponse, ReadLimits, ResponseReader
from evercrawl.core.http.message import RawResponse, fetch_result
from evercrawl.core.render_choice import evidence_in, sketch_of
from evercrawl.core.revisit.user_schedule import next_time, parse_schedule
from evercrawl.core.robots.robots_txt import parse_robots, sitemap_urls, verdict_for
from evercrawl.core.search.query_parser import parse_query
from evercrawl.core.search.tokenizer import normalize_for_index
from evercrawl.core.sign_in.cookies import CookieJar, parse_cookie_file
from evercrawl.core.sign_in.login_form import find_login_form
from evercrawl.core.sitemap.sitemap_reader import feed_document, read_llms_txt, read_sitemap
from evercrawl.core.sitemap.websub_protocol import discover_hubs
from evercrawl.core.traps.url_check import url_verdict
from evercrawl.core.url import canonical, join, key_of, surt
from evercrawl.core.usage_terms import header_terms, parse_preferences, tdmrep_terms
from evercrawl.engine.ports import ParseTask
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.fetch import Exchange, Fetched, Request
from evercrawl.model.settings import HttpSettings, ParseSettings
from evercrawl.model.sitemap import SitemapLimits
from evercrawl.model.table import parse_filters
from evercrawl.outpost.channel import NotAuthentic, _parse_hello
from evercrawl.outpost.messages import (
    FetchJob,
    Heartbeat,
    JobBatch,
    JobResult,
    NotUnderstood,
    ResultBatch,
    ResultKind,
    decode_message,
    encode_message,
)
from evercrawl.web.access_control import session_secret
from evercrawl.web.auth import AccessScope, User
from evercrawl.web.protocols import cdx as cdx_server
from evercrawl.web.replay import parse_stamp, sanitize_page
from evercrawl.web.route import BadRequest, Inputs
from tests.fuzz import converters as more
from tests.unit.adapters.test_pdf import pdf_with

URL = "https://a.example/b/c?d=1"
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
MAX_URLS = 2000  # Of one input.


class Target(NamedTuple):
    """A reader, the inputs to start from, and what it may raise."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    errors: tuple[type[Exception], ...] = ()


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def in_folder(use: Callable[[Path], object]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        use(folder)
    finally:
        shutil.rmtree(folder)


# Pages


PAGE = """<!doctype html><html lang=en><meta charset=utf-8><title>A page</title><base href=/x/>
<link rel=canonical href=/c><meta name=robots content="noindex,nofollow"><meta http-equiv=refresh content="5;url=/r">
<style>a{b:url(c.png)} @import "x.css"; @media print{p{margin:0}}</style><script type="application/ld+json">
{"@type":"Article","datePublished":"2026-05-12","headline":"News"}</script>
<nav class=menu><ul><li><a href=/a>One</a><li><a href="/b?x=1&amp;y=2" rel="nofollow ugc">Two</a></ul></nav>
<main id=content><h1>Heading</h1><p>The town hall opens at <time datetime="2026-05-12T10:00">ten</time>, says
the mayor. It costs $ 3.50.</p><table><tr><th>a<td>1<tr><th>b<td>2</table><img src=a.png srcset="a 1x, b 2x">
<svg><a xlink:href="javascript:x"/></svg><template><p>t</p></template><pre>code
 more</pre><form action=/s><input name=q><select><option>1</select></form></main>
<footer>3 minutes ago &middot; &#169; 2026 &notit; caf\u00e9 \u6f22\u5b57 e\u0301</footer>"""
OLD_PAGE = PAGE.replace("opens at", "closes at").replace("Two", "Three").replace("<td>2", "<td>9")
HTML = (("Content-Type", "text/html"),)
SCRIPTS = b"""<p>Words in a page</p><a href=/l>x</a><script id=__NEXT_DATA__ type=application/json>{"props":[{"title":
"Words in a page","to":"/l"},{"title":"<b>Other</b> words"}]}</script><script type=application/json>[{"a":1,"b":2},
"text",["Set",1],[1,1,3]]</script><script>window.__STATE__ = {"a":["b c d", 1e5]}; self['x']=JSON.parse("[\\"y\\"]");
document.getElementById('app').innerHTML = 1</script><div id=app></div><form method=post><input name=u><label>User<input
type=password name=p></label><select name=s><option value=1 selected>2</select></form>"""
COOKIES = (
    b"session=a b; Path=/x; Domain=.a.example; Secure; HttpOnly; Max-Age=99; Expires=Tue, 12 May 2026 10:00:00 GMT",
    b"# Netscape HTTP Cookie File\n.a.example\tTRUE\t/\tTRUE\t1900000000\tname\tvalue\n"
    b"#HttpOnly_b.example\tFALSE\t/\tFALSE\t0\ta\tb\n",
    b'[{"name":"a","value":"b","domain":".a.example","path":"/","expires":1.9e9,"sameSite":"Lax","secure":true}]',
    b'["https://a.example"]\nbasic = "u:p"\nproxy = "socks5h://u:p@p.example:1"\n[["https://a.example".cookies]]\n'
    b'name = "a"\nvalue = "b"\n["https://a.example".login]\nurl = "/login"\nuser = "u"\npassword = { env = "P" }\n',
    SCRIPTS,
)
TYPED = (
    b">=400", b"200..299", b"!=2026-05-12", b"7 days ago..2026-05-12T10:00", b"!~ab", b"2 MB", b"50%",
    b"weekdays at 9, 18:30 Europe/Berlin", b"every 10 minutes", b"mon, thu at 7:15", b"WzEsMiwzXQ",
    b"example.org\nhttps://a.example/ # x\n", b'<opml><outline xmlUrl="https://a.example/f"/></opml>',
)  # fmt: skip
PAGES = (
    PAGE.encode(),
    OLD_PAGE.encode(),
    "<p>\u4f60\u597d</p>".encode("gb18030"),
    "\ufeff<p>16".encode("utf-16"),
    b"<div>" * 50 + b"<table><tr><td>" * 20,
)


def read_page(data: bytes) -> object:
    headers = (("Content-Type", "text/html"), ("Link", text(data[:100])))
    limits = ParseSettings()
    return parse_document(
        URL, headers, data, agent="T", limits=limits, all_details=True, wants_snapshot=True, wants_outline=True
    )


def read_pdf(data: bytes) -> None:
    limits = ParseSettings(max_cpu_time=timedelta(seconds=1))
    parse_within_budget(ParseTask(URL, (), data, "application/pdf", "T", limits), lambda _: pdf)


def read_change(data: bytes) -> None:
    compare(PAGE, text(data))
    compare(text(data), OLD_PAGE)


def read_scripts(data: bytes) -> None:
    tree = parse_tree(truncate_markup(data))
    values = embedded_values(tree)
    embedded_html(values, prose_paths(values))
    after = sketch_of(HTML, data)
    compare_embedded(values, url=URL, text=text(data), added=after.words, links=after.links)
    evidence_in(page_answer(data))


def page_answer(data: bytes) -> Fetched:
    return Fetched(URL, 200, HTML, data, Exchange(b"", b"", data, None, NOW, timedelta(0)), None)


def read_markup(data: bytes) -> None:
    rewrite_html(text(data), lambda url: url + "x")
    rewrite_css(text(data), lambda url: url + "x")
    body = parse_tree(truncate_markup(data)).body
    if body is not None:
        blocks = _Blocks(URL).of(body)
        _blocks_of_lines([line for block in blocks for line in block.lines], blocks)


def read_words(data: bytes) -> None:
    text_signature(text(data))
    normalize_for_index(text(data))


def read_sign_in(data: bytes) -> None:
    CookieJar().update(URL, (("Set-Cookie", data.decode("latin-1")),), now=NOW)
    find_login_form(page_answer(data))
    for read in (parse_cookie_file, lambda value: parse_credentials(value, "here", {})):
        try:
            read(text(data))
        except (ConfigError, ValueError):
            pass


def read_typed(data: bytes) -> None:
    value = text(data)
    for column in table_columns("pages"):
        try_typed(lambda value: parse_filters(column, value, now=NOW), value)  # noqa: B023 - used at once
    try_typed(lambda value: next_time(parse_schedule(value), after=NOW), value)
    try_typed(decode_row_cursor, value)
    try_typed(read_url_list, value)


def try_typed(read: Callable[[str], object], value: str) -> None:
    try:
        read(value)
    except ConfigError:
        pass


def read_snapshot(data: bytes) -> None:
    known, found = snapshot_html(PAGE), unpack_snapshot(data)
    if found is not None:
        diff_snapshots(known, found)
        diff_snapshots(found, known)
    unpacked = unpack_snapshot(zstandard.compress(data))
    if unpacked is not None:
        diff_snapshots(known, unpacked)


def read_stored(data: bytes) -> None:
    PageChangeHistory.from_bytes(data)
    SiteChangeHistory.from_bytes(data)
    for read in (unpack_outline, lambda frame: apply_patch(frame, b"base", most_bytes=1 << 20)):
        try:
            read(data)
        except ValueError:
            pass


def read_fields(data: bytes) -> None:
    value = text(data)
    list(parse_link_header(value))
    parse_refresh(value)
    parse_srcset(value)
    http_date(value)
    retry_after(value, now=NOW)


def read_urls(data: bytes) -> None:
    for line in text(data).split("\n", MAX_URLS)[:MAX_URLS]:
        url_verdict(line, hops=3, year=2026)
        absolute = join(URL, line)
        for found in (canonical(line), canonical(absolute) if absolute else None):
            if found is not None:
                assert canonical(found) == found, "the canonical form is not its own canonical form"
                key_of(found)
                surt(found)


def read_robots(data: bytes) -> None:
    rules = parse_robots(data, agent="evercrawl")
    for url in (URL, "https://a.example/", "https://a.example/" + "a" * 500 + "?q=%zz"):
        verdict_for(rules, url)
    sitemap_urls(rules, URL)


def read_publisher(data: bytes) -> None:
    """Read what a publisher says about use, and its list of pages for language models."""
    read_llms_txt(data, URL, limits=SitemapLimits())
    parse_preferences(text(data), "robots.txt")
    tdmrep_terms(URL, data)
    header_terms(URL, (("X-Robots-Tag", text(data)), ("Link", text(data)), ("tdm-policy", text(data))), agent="a")


def read_feed(data: bytes) -> None:
    for kind in ("application/rss+xml", "text/xml; charset=latin-1"):
        feed_document(URL, (("Content-Type", kind),), data)
        discover_hubs(URL, (("Content-Type", kind), ("Link", text(data[:200]))), data)


# The wire


def read_response(data: bytes) -> None:
    settings = HttpSettings()
    reader = ResponseReader(ReadLimits(settings.max_header_bytes, settings.max_headers, 1 << 20))
    step = 1 + (len(data) and data[-1]) * 7
    for at in range(0, len(data), step):
        if reader.feed(data[at : at + step]):
            break
    reader.end()
    assert reader.head is not None
    exchange = Exchange(b"", reader.head.raw, reader.body, None, NOW, timedelta(0))
    answer = RawResponse(reader.head, exchange, is_cut=reader.truncated)
    fetch_result(Request(URL, etag='"a"'), answer, limits=DecodeLimits(1 << 20, 100.0))


def read_coded(data: bytes) -> None:
    for codings in (["gzip"], ["br"], ["zstd"], ["deflate"], ["gzip", "br"]):
        try:
            decode(data, codings, limits=DecodeLimits(4 << 20, 1000.0))
        except BadCoding:
            pass


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n<p>Hi\r\n0\r\nTrailer: x\r\n\r\n"
RESPONSES = (
    HEAD + b"Content-Length: 5\r\n\r\n<p>Hi",
    CHUNKED,
    b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>Hi"),
    b"HTTP/1.0 301 Moved\nLocation: //b.example/\xe4\nSet-Cookie: a=b\n folded: x\n\n",
    b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nRetry-After: 120\r\nConnection: close\r\n\r\n',
)
CODED = tuple(pack(PAGE.encode() * 3) for pack in (gzip.compress, brotli.compress, zstandard.compress))


# Files of others


def warc_record(kind: str, block: bytes, **fields: str) -> bytes:
    lines = {"WARC-Type": kind, "WARC-Date": "2026-11-01T12:00:00.5Z", "WARC-Target-URI": URL} | {
        name.replace("_", "-"): value for name, value in fields.items()
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"WARC/1.1\r\n{head}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


WARC = b"".join(
    (
        warc_record("warcinfo", b"software: x\r\n"),
        warc_record("response", RESPONSES[0], WARC_Record_ID="<urn:uuid:1>", WARC_Payload_Digest="sha1:AAAA"),
        warc_record("response", CHUNKED, WARC_Truncated="length", WARC_IP_Address="1.2.3.4"),
        warc_record("revisit", RESPONSES[4], WARC_Refers_To="<urn:uuid:1>"),
        warc_record("request", b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", WARC_Concurrent_To="<urn:uuid:1>"),
    )
)


def read_warc_file(path: Path) -> None:
    files = RecordFiles([path])
    try:
        for found in locate_records(path, 0):
            if not isinstance(found, WarcDamage):
                place, record = found
                assert files.read(place).block == record.block
                use_record(record)
    finally:
        files.close()


def use_record(record: WarcRecord) -> None:
    try:
        date = parse_warc_date(record.headers.get("warc-date", ""))
        capture = ImportedResponse(URL, date, None, False, response_parts(record), b"")
        fetch_result_of(capture, HttpSettings())
    except (DamagedRecord, ValueError, OverflowError):
        pass


def read_warc(data: bytes) -> None:
    def use(folder: Path) -> None:
        for name, content in (("plain.warc", data), ("packed.warc.gz", gzip.compress(data, 1))):
            (folder / name).write_bytes(content)
            read_warc_file(folder / name)

    in_folder(use)


def read_wacz(data: bytes) -> None:
    def use(folder: Path) -> None:
        (folder / "a.wacz").write_bytes(data)
        (folder / "out").mkdir()
        for path in warc_files([folder / "a.wacz"], "wacz", folder / "out"):
            read_warc_file(path)

    in_folder(use)


def wacz(compression: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as package:
        package.writestr("archive/data.warc.gz", gzip.compress(WARC))
        package.writestr("datapackage.json", "{}")
    return out.getvalue()


def read_settings_file(data: bytes) -> None:
    def use(folder: Path) -> None:
        (folder / "collection.toml").write_bytes(data)
        read_settings(folder, env={"HOME": str(folder)}, untrusted=bool(len(data) % 2))

    in_folder(use)


SETTINGS = b"""[scope]
seeds = ["https://a.example/"]
include = ["/news/"]
exclude_media_types = ["image/*"]
newer_than = "2026-05-01"
[pace]
delay = "1s"
[site."*.example.org"]
max_pages = 100
[http]
max_wire_bytes = "8 MB"
allow_ports = [8080]
[revisit]
site_budget = 10
"""
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 30>>stream
BT /F 12 Tf (Hello) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
6 0 obj<</Title(A title)>>endobj
xref
0 1
0000000000 65535 f
trailer<</Root 1 0 R/Info 6 0 R/Size 7>>
startxref
0
%%EOF
"""


# Other programs


def read_frame(data: bytes) -> None:
    for read in (decode_message, _parse_hello):
        try:
            read(data)
        except (NotUnderstood, NotAuthentic):
            pass


JOBS = JobBatch(tuple(FetchJob(number, URL, '"tag"', None, 1000, b"d" * 16, b"e" * 6, 5) for number in range(9)))
RESULTS = ResultBatch(7, (JobResult(1, ResultKind.FIRST, b"d" * 16, b"blob" * 9, b"", 10, 20, "1.2.3.4"),))
FRAMES = (
    encode_message(JOBS),
    encode_message(RESULTS),
    encode_message(Heartbeat(3)),
    b"\x03\x00\x00\x00\x00\x0a[[1,2],16]",
    json.dumps({"outpost": "o", "nonce": "00" * 16, "pair": "11" * 16}).encode(),
)


INPUTS = Inputs({}, User("reader", AccessScope.READ, None), "")


def read_cdx(data: bytes) -> None:
    value = text(data)
    line = {
        "urlkey": "example,a)/b/c?d=1",
        "timestamp": "20261101120000",
        "url": URL,
        "mime": "text/html",
        "status": "200",
    }
    for use in (
        lambda: list(cdx_server._filter_lines([line], value, INPUTS, is_wayback=False)),
        lambda: list(cdx_server._filter_lines([line], value, INPUTS, is_wayback=True)),
        lambda: cdx_server._target(value, None),
        lambda: cdx_server._bound(value, "0"),
        lambda: parse_stamp(value),
    ):
        try:
            use()
        except BadRequest:
            pass


SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>https://a.example/&amp;x</loc>
<lastmod>2026-05-12T10:00:00+02:00</lastmod><changefreq>daily</changefreq><priority>0.5</priority>
<image:image><image:loc>https://a.example/i.png</image:loc></image:image></url><!-- x --><url><loc><![CDATA[
https://a.example/y]]></loc></url></urlset>"""
INDEX = b"<sitemapindex><sitemap><loc>https://a.example/s.xml.gz</loc></sitemap></sitemapindex>"
FEEDS = (
    b"""<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><link>https://a.example/</link><item><title>A
</title><link>https://a.example/1</link><description>&lt;p&gt;Hi&lt;/p&gt;</description><pubDate>Tue, 12 May 2026
10:00:00 GMT</pubDate><guid>1</guid></item></channel></rss>""",
    b"""<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="https://hub.example/"/><link rel="self"
href="https://a.example/f"/><entry><title type="html">A</title><link href="/1"/><updated>2026-05-12T10:00:00Z</updated>
<content type="xhtml"><div>x</div></content></entry></feed>""",
    b'<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><rss><channel><item><title>&c;</title></item></channel></rss>',
)
PUBLISHER = (
    b"# Town\n> About us\n\n## Pages\n- [Prices](/prices): what it costs\n- https://a.example/x\n",
    b'train-ai=n, search=y;q="x", ai-input=yes, ai-train=no',
    b'[{"location": "/news/*.html$", "tdm-reservation": 1, "tdm-policy": "/tdm.json"}]',
    b'<meta name=robots content="noai, noimageai"><meta name="tdm-reservation" content=1><a rel=license href=/l>L</a>'
    b'<script type="application/ld+json">{"license": ["https://a.example/l", {"name": "L"}]}</script>',
)
ROBOTS = (
    b"User-agent: *\nDisallow: /a*b$\nAllow: /%7Ex\nCrawl-delay: 2.5\n\nUser-agent: evercrawl\nDisallow: /p\n"
    b"Sitemap: /s.xml\nRequest-rate: 1/5 0600-0845\nVisit-time: 0600-0845\n",
    b"\xef\xbb\xbfuser-agent : EVERCRAWL # x\rdisallow:\r\nNoindex: /\n<html>",
)
URLS = (
    b"https://user:pw@EXAMPLE.org:443/a/../b;c?d=%e4&e#f\n//\xc3\xa9.example/\n?q\nhttp://[::ffff:1.2.3.4]/\n\\\\x\\y",
    b"http://0x7f.1/\nhttp://a.example/a/a/a/a/?sid=0123456789abcdef&page=2&page=3\nhttp://xn--a.example./%00%zz/",
)
FIELDS = (
    b'<https://a.example/>; rel="next up"; title*=UTF-8\'\'x, </b>;rel=canonical;a="\\"b"',
    b"5; url='/x y'",
    b"a.png 1x, b.png 200w 3h, data:,c 2x",
    b"Tue, 12 May 2026 10:00:00 GMT",
)


TARGETS: dict[str, Target] = {
    "page": Target(read_page, PAGES),
    "change": Target(read_change, PAGES),
    "replay": Target(lambda data: sanitize_page(decode_html(data, "text/html"), URL, lambda url: url), PAGES),
    "scripts": Target(read_scripts, (SCRIPTS, PAGE.encode())),
    "markup": Target(read_markup, PAGES),
    "words": Target(read_words, (PAGE.encode(), "\u6f22 e\u0301 \U0001f469\u200d\U0001f469 a.b-c_d 12,5".encode())),
    "sign-in": Target(read_sign_in, COOKIES),
    "typed": Target(read_typed, TYPED),
    "snapshot": Target(read_snapshot, (pack_snapshot(snapshot_html(PAGE)), zstandard.decompress(
        pack_snapshot(snapshot_html(PAGE)), max_output_size=1 << 20))),
    "stored state": Target(read_stored, (PageChangeHistory().to_bytes(), SiteChangeHistory().to_bytes(), CODED[2])),
    "header fields": Target(read_fields, FIELDS),
    "URL": Target(read_urls, URLS),
    "robots.txt": Target(read_robots, ROBOTS),
    "sitemap": Target(lambda data: read_sitemap(data, URL), (SITEMAP, INDEX, gzip.compress(SITEMAP), URLS[1])),
    "feed": Target(read_feed, FEEDS),
    "publisher": Target(read_publisher, PUBLISHER),
    "HTTP response": Target(read_response, RESPONSES, (BadResponse,)),
    "content coding": Target(read_coded, CODED),
    "WARC": Target(read_warc, (WARC,)),
    "WACZ": Target(read_wacz, (wacz(zipfile.ZIP_STORED), wacz(zipfile.ZIP_DEFLATED)), (ConfigError, StoreUnavailable)),
    "PDF": Target(read_pdf, (PDF, pdf_with("Hello paper", "A title"))),
    "CDX query": Target(read_cdx, (b"!~url:a.*b", b"=status:200", b"*.example.org", b"20261101120000")),
    "search query": Target(
        lambda data: parse_query(text(data), now=NOW),
        (b'"a b" -c title:d site:a.example changed:>7d lang:en asof:2026-05 type:pdf OR e*',),
        (ConfigError,),
    ),
    "outpost frame": Target(read_frame, FRAMES),
    "settings": Target(read_settings_file, (SETTINGS,), (ConfigError,)),
    "fields": Target(more.read_page_fields, (PAGE.encode(), b'{"items": [{"price": 3.5, "a": [1]}]}', b"$ 1.234,50")),
    "markdown": Target(more.write_markdown, PAGES),
    "text": Target(more.read_text, (PAGE.encode(), b"The town. It is good! 12 May 2026", b"@charset \"utf-8\"; a{}")),
    "messages": Target(more.write_messages, (PAGE.encode(), b"{{ x }} {% raw %} old new", b"a\r\nBcc: x")),
    "picture": Target(decode_picture, (more.PNG,)),
    "changedetection": Target(more.read_backup, (more.backup_file(more.WATCH, b"1794984679,aa.txt\n1,bb.br"),)),
    "watch": Target(more.in_backup, (more.WATCH, b"1794984679,aa.txt\n1794984680,bb.br\n")),
    "stored values": Target(more.read_stored_values, (CODED[2], b"\0\0\0\1\0\0\0\1abc")),
    "own values": Target(more.read_own_values, (b"12:[]", b"[]", b'{"a": 1}')),
    "requests": Target(
        more.read_requests,
        (b"/c/name/x?y=1", b"1-2_3-4", b"0.123", b"price < 3", b"127.0.0.1", more.BOOKMARKS, more.OPML),
    ),
    "cookie": Target(
        lambda data: session_secret({"cookie": data.decode("latin-1")}, "evercrawl_session"),  # type: ignore[arg-type]
        (b'evercrawl_session=abc; b="c\\"d"; $Path=/',),
    ),
}  # fmt: skip
