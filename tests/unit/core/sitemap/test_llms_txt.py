"""llms.txt: links of a Markdown file, and a file of the main pages of a site."""

from __future__ import annotations

from time import process_time

from evercrawl.core.sitemap.sitemap_reader import MAX_LISTED, is_llms_txt, read_llms_txt, read_sitemap, write_llms_txt
from evercrawl.model.sitemap import SitemapLimits, SitemapPage, SitemapType

BASE = "https://a.example/"
TEXT = """# Harbour

> All about the harbour.

- [Prices](/prices): what a berth costs
- [Map](<maps/all.md>) and [Prices again](https://a.example/prices#top)
- https://a.example/bare

## Optional

* [Elsewhere](https://b.example/x "title"), [mail](mailto:a@b.example), [broken], [](/untitled)
"""


def urls(text: str) -> dict[str, str | None]:
    found = read_sitemap(text.encode(), BASE + "llms.txt")
    return {entry.url: entry.text for entry in found.entries}


def test_links_are_read_in_order_with_their_texts():
    assert urls(TEXT) == {
        BASE + "prices": "Prices",
        BASE + "maps/all.md": "Map",
        BASE + "prices#top": "Prices again",
        BASE + "bare": None,
        "https://b.example/x": "Elsewhere",
        BASE + "untitled": None,
    }
    assert read_sitemap(TEXT.encode(), BASE + "llms.txt").type is SitemapType.TEXT


def test_a_web_page_in_its_place_says_nothing():
    page = b"<!doctype html><title>Not found</title><a href=/x>x</a>"
    assert read_sitemap(page, BASE + "llms.txt").type is SitemapType.UNKNOWN
    assert urls("nothing here") == {}
    assert is_llms_txt(BASE + "docs/llms.txt?x")
    assert not is_llms_txt(BASE + "llms.txt/x")


def test_a_written_file_has_sections_and_can_be_read_back():
    pages = [
        SitemapPage(BASE, None, "Harbour [news]"),
        SitemapPage(BASE + "boats/a_(b)", None, ""),
        SitemapPage(BASE + "prices", None, "Prices"),
    ]
    text = write_llms_txt(pages, BASE).decode()
    assert text == (
        "# Harbour news\n\n## Pages\n\n- [Harbour news](https://a.example/)\n- [Prices](https://a.example/prices)\n\n"
        "## boats\n\n- [https://a.example/boats/a_(b)](https://a.example/boats/a_%28b%29)\n"
    )
    assert list(urls(text)) == [BASE, BASE + "prices", BASE + "boats/a_%28b%29"]


def test_a_large_site_names_its_sitemap_for_the_rest():
    pages = [SitemapPage(f"{BASE}p/{number}", None, "") for number in range(MAX_LISTED + 1)]
    text = write_llms_txt(pages, BASE).decode()
    assert text.startswith("# a.example\n")
    assert text.endswith("- [Sitemap of all 501 pages](https://a.example/sitemap.xml)\n")
    assert text.count("\n- ") == MAX_LISTED + 1


def test_links_are_not_read_beyond_the_limits() -> None:
    text = b"".join(b"- [a](https://a.example/%d) [](\n" % number for number in range(1_000))
    limits = SitemapLimits(max_entries=10)
    assert len(read_llms_txt(text, BASE + "llms.txt", limits=limits).entries) == 10
    before = process_time()
    read_llms_txt(b"[](" * 3_000_000, BASE + "llms.txt", limits=SitemapLimits(max_elements=10_000))
    assert process_time() - before < 2
