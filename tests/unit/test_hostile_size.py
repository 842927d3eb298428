"""Everything that reads what others wrote takes time in proportion to its size.
Each reader gets repetitions of many small pieces, half as long and as long again; a reader that needs far more than
twice the processor time fails. Pages may cost a fixed time more, up to where bounds.py cuts them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from evercrawl.collection import tools
from evercrawl.collection.stored_pages import decode_html
from evercrawl.core.change.classify import compare
from evercrawl.core.change.detectors import text_change
from evercrawl.core.document.encoding import detect_charset
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.links import parse_link_header, parse_refresh, parse_srcset
from evercrawl.core.search.tokenizer import fold_text, normalize_for_index
from evercrawl.core.traps.user_rules import matches
from evercrawl.core.url import matches_glob, surt
from evercrawl.model.settings import ParseSettings
from evercrawl.web.replay import sanitize_page
from tests.fuzz.converters import write_markdown
from tests.fuzz.targets import TARGETS, Target

pytestmark = pytest.mark.slow
SIZES = (20_000, 40_000, 80_000)
FAST_S = 0.3  # Of the longest input; a faster reader is not measured again. Linear readers take a tenth of this.
MOST_GROWTH = 3.2  # Of the time, for twice the input: linear is 2, quadratic is 4.
CLEARLY_LINEAR = 2.4  # A growth below this is not measured again.
REPEATS = 2
URL = "https://a.example/"

MARKUP = (
    "<div>", "<b>", "<a href=/x>", "<font color=1>", "<table><tr><td>", "<p><b><i>", "<ul><li>", "<span class=a>x",
    "<form><input>", "<h1><h2>", "<svg><g>", "<math><mi>", "<select><option>", "<template><div>", "<button>", "<!--",
    "<!-- x --><!", "<![CDATA[", "&amp", "&#x41", "<p a=1 b='2' c>", '<a href="', "<", "</", "<p>a", "word ", "x", " ",
    "\n", "\u00a0", "\u0301", "a\u0300\u0316", "\u0300\u0316", "漢", "ก", "👩‍👩‍👧", "<br>", "<pre>\n", "<tr><td>1<td>2",
    "<dt>a<dd>b", "<h2>a</h2>", "<img src=/a.png srcset='a 1x, b 2x'>", "<style>", "<script>", "<title>a</title>",
    "<iframe src=/x>", "<a href=/x><h3>T</h3><p>S</p></a>", "<label>a</label><input>", "<sup><a href=#1>1</a></sup>",
    "<script type=application/ld+json>[[[", '<script type=application/ld+json>{"a":', "1 2 3 ", "12 May 2026, ",
    "3 minutes ago · ", "$ 3.50 ", "This is a sentence. ", "[((", " - ", " | ", ": ", "0", "0\t",
)  # fmt: skip
MARKDOWN = ("é</p>", "<p>a", "<li>a", "<td>a", "<b>a</b> ", "<a href=/x>a</a> ", "<pre>a\n", "<h2>a", "<dd>a")
FIELDS = (" ", "<", "<a>; rel=x, ", ";", '"', ';a="', ", ", '<a>;a="\\', "<a>;a=", "(", "a 1x, ", "1", "'", "0;url=")
STYLES = ("url(", "@import ", "/*", "\\75 ", "a{b:url(")
TEXTS = (
    "\u0301",
    "\u0300\u0316",
    "a",
    "漢",
    "👩‍",
    "\ufdfa",
    "\u0915\u093c",
    "1.",
    "a'",
    "good bad ",
    ". ",
    "not ",
    "!",
    '"',
)
PLACES = (
    "/", "/../", "%", "%25", "&", "a=1&", ";", "/a", "a.", "@", ":", "é", "\u0301", "?", "sess_", "1", "-", "[]",
    "/(S(a))", "a;b=", "://",
)  # fmt: skip
ROBOTS = (
    "User-agent: a\n", "Disallow: /a*b*c$\n", "Disallow: /" + "*a" * 50 + "\n", " ", ":", "<br>", "\n", "#",
    "Sitemap: /x\n", "Disallow: /" + "a" * 3000 + "\n", "Disallow: /" + "*" * 100 + "\n", "Request-rate: 1/1\n",
    "Disallow: /a*a*a*a*a*a*a*b\n", "Disallow: /%\n", "Visit-time: 0600-0845\n",
)  # fmt: skip
SITEMAPS = (
    "<url><loc>https://a.example/</loc></url>", "<url>", "<", "<loc>", "<![CDATA[", "<!--", "<?x ", ' a="', "&", " ",
    "<item><link>https://a.example/</link></item>", "<entry><link href='x'/></entry>", "https://a.example/x\n", "-",
    "<!DOCTYPE [<!--", "<a:url xmlns:a='b'>",
)  # fmt: skip


def parse_page(text: str) -> object:
    body = f"<html><body><main>{text}</main></body></html>".encode()
    headers = (("Content-Type", "text/html"),)
    return parse_document(
        URL, headers, body, agent="T", limits=ParseSettings(), wants_snapshot=True, wants_outline=True
    )


def compare_pages(text: str) -> object:
    return compare(f"<main>{text}", f"<main><p>new</p>{text}x")  # Not `tool changed`, whose processes are not timed.


def numbered(text: str, start: str, count: int = 20) -> str:
    """Return a text in which every few characters are followed by another number."""
    parts = range(0, len(text), count)
    return "".join(f"{text[at : at + count]}{start}{at % 7919} " for at in parts)


def compare_blocks(text: str) -> object:
    return compare(f"<main>{numbered(text, 'a')}", f"<main>{numbered(text, 'b')}")


def compare_lines(text: str) -> object:
    return text_change(numbered(text, "a"), numbered(text, "b"))


def replay_page(text: str) -> object:
    return sanitize_page(decode_html(text.encode(), "text/html"), URL, lambda url: url)


def read_robots(text: str) -> object:
    return tools.robots({"robots_txt": "User-agent: *\n" + text, "user_agent": "x", "url": URL + "a" * 2000})


def sitemap_reader(root: str) -> Callable[[str], object]:
    return lambda text: tools.sitemap({"url": URL + "sitemap.xml", "body": root + text})


def of_url(reader: Callable[[str], object], start: str) -> Callable[[str], object]:
    return lambda text: reader(start + text)


READERS: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
    "page": (parse_page, MARKUP),
    "comparison": (compare_pages, MARKUP),
    "comparison of blocks": (compare_blocks, ("<p>", "<li><a href=/x>", "<tr><td>", " | ", "<b>", "x", "12 May 2026 ")),
    "difference": (lambda text: text_change(text, f"new\n{text}x"), (*TEXTS, "a\n", "漢\n", "a b\n", "\n")),
    "difference of lines": (compare_lines, ("\n", "\n\n", " ", "a\n", "a b ")),
    "markdown": (lambda text: write_markdown(text.encode("utf-8", "replace")), MARKDOWN),
    "similarity": (lambda text: tools.similar({"a": text, "b": text + "x"}), MARKUP),
    "replay": (replay_page, MARKUP),
    "style": (lambda text: replay_page(f"<style>{text}</style>"), STYLES),
    "style attribute": (lambda text: replay_page(f'<p style="{text}">'), STYLES),
    "Link header": (lambda text: list(parse_link_header("<a>" + text)), FIELDS),
    "srcset": (parse_srcset, FIELDS),
    "refresh": (parse_refresh, FIELDS),
    "index": (lambda text: normalize_for_index("a" + text), TEXTS),
    "folding": (lambda text: fold_text("a" + text), TEXTS),
    "sentiment": (lambda text: tools.sentiment({"text": text}), TEXTS),
    "charset": (lambda text: detect_charset(text.encode(), None), (*MARKUP, "<meta ", "<meta charset=", '<a "')),
    "robots.txt": (read_robots, ROBOTS),
    "sitemap": (sitemap_reader("<urlset>"), SITEMAPS),
    "RSS": (sitemap_reader("<rss><channel>"), SITEMAPS),
    "Atom": (sitemap_reader("<feed>"), SITEMAPS),
    "document type": (sitemap_reader("<?xml version='1.0'?><!DOCTYPE x ["), SITEMAPS),
    "URL": (of_url(lambda url: tools.url({"input": url, "base": URL}), URL), PLACES),
    "URL query": (of_url(lambda url: tools.url({"input": url, "base": URL}), URL + "?"), PLACES),
    "host": (of_url(lambda url: tools.url({"input": url, "base": URL}), "https://"), PLACES),
    "trap": (of_url(lambda url: tools.trap({"url": url}), URL), PLACES),
    "trap query": (of_url(lambda url: tools.trap({"url": url}), URL + "?"), PLACES),
    "SURT": (of_url(surt, URL), PLACES),
    "glob": (lambda text: matches_glob("*a" * 500 + "b", URL + text), ("a", "ab", "*")),
    "rule": (lambda text: matches("/*a" + "*a" * 50 + "b", URL + text), ("a", "ab", "/")),
}


SEED_CHARS = 64  # Of an input that a case of the fuzzer starts from: its first, last and middle parts are repeated.


def of_target(target: Target) -> Callable[[str], object]:
    """Return a reader of text that gives its bytes to a case of the fuzzer."""

    def read(text: str) -> None:
        with suppress(*target.errors):
            target.read(text.encode("latin-1"))

    return read


def pieces_of(target: Target) -> tuple[str, ...]:
    """Return what to repeat: signs, and parts of the inputs that a case starts from."""
    middles = (seed[len(seed) // 2 :][:SEED_CHARS] for seed in target.seeds[:2])
    parts = [part for seed in target.seeds for part in (seed[:SEED_CHARS], seed[-SEED_CHARS:])]
    return tuple(dict.fromkeys(part.decode("latin-1") for part in (*parts, *middles) if part)) + SIGNS


SIGNS = ("<", "[", "{", '"', ",", "\\", "=", ";", "a", "1", " ", "\n", "\r\n", "\0", "\xff", "%", "(", "a:", '{"a":')
# Their sizes are not those of the text: packages are read from their end, PDFs in processes with a budget. Changes
# have readers of their own above.
OTHER_SIZES = frozenset(("PDF", "WARC", "WACZ", "settings", "changedetection", "change"))
READERS |= {
    f"{name} (fuzz)": (of_target(target), pieces_of(target))
    for name, target in TARGETS.items()
    if name not in OTHER_SIZES
}


def seconds(reader: Callable[[str], Any], piece: str, size: int) -> float:
    text = piece * (size // len(piece))
    start = time.process_time()
    reader(text)
    return time.process_time() - start


def growth(reader: Callable[[str], Any], piece: str) -> float | None:
    """Return by what the time grows when the input doubles; None: it is too short to matter."""
    times = [seconds(reader, piece, size) for size in SIZES]
    for _ in range(REPEATS):
        if times[-1] < FAST_S:
            return None
        if _grown(times) < CLEARLY_LINEAR:
            break
        times = [min(before, seconds(reader, piece, size)) for before, size in zip(times, SIZES, strict=True)]
    return _grown(times)


def _grown(times: list[float]) -> float:
    return min(times[2] / max(times[1], 0.01), times[1] / max(times[0], 0.01))


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time(name: str) -> None:
    reader, pieces = READERS[name]
    found = {piece: growth(reader, piece) for piece in pieces}
    assert {piece: grown for piece, grown in found.items() if grown is not None and grown > MOST_GROWTH} == {}


def test_a_quadratic_reader_is_found() -> None:
    def quadratic(text: str) -> None:
        for at in range(len(text)):
            text.count("b", at)

    assert (growth(quadratic, "a") or 0) > MOST_GROWTH
