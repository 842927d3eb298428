"""Which edits change a page's digest, and how a page excludes itself."""

from __future__ import annotations

import pytest

from evercrawl.sitemaps.page_content import ContentSummary, read_content

PAGE = """<!doctype html><html><head><title>Ships</title><meta name="description" content="All ships">
<script>var made = 1;</script></head><body><nav class="menu"><a href="/">Home</a></nav>
<main><h1>Ships</h1><p>The Albatross sails at ten.</p><a href="/ships/albatross">Albatross</a></main>
<footer>Copyright 2025 by the harbour</footer></body></html>"""
HTML = (("Content-Type", "text/html; charset=utf-8"),)
SITE = "https://harbour.test/"


def reading(page: str) -> ContentSummary:
    return read_content(SITE + "ships.html", HTML, page.encode(), agent="evercrawl", site=SITE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("at ten", "at noon"),
        ("<title>Ships</title>", "<title>Boats</title>"),
        ("All ships", "All boats"),
        ('href="/ships/albatross"', 'href="/ships/bellbird"'),
        ("</body>", "<p>One more thing.</p></body>"),
    ],
)
def test_edits_that_change_the_digest(old: str, new: str) -> None:
    assert reading(PAGE.replace(old, new)).digest != reading(PAGE).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("var made = 1", "var made = 2"),
        ("Copyright 2025", "Copyright 2026"),
        ('<a href="/">Home</a>', '<a href="/">Home</a><a href="/new">New</a>'),
        ("<main>", "<!-- built by hand -->\n\n   <main>"),
        ("<main>", '<main class="wide">'),
        ('href="/ships/albatross"', 'href="https://harbour.test/ships/albatross"'),
    ],
)
def test_edits_that_do_not_change_the_digest(old: str, new: str) -> None:
    assert reading(PAGE.replace(old, new)).digest == reading(PAGE).digest


def test_a_generation_time_does_not_change_the_digest() -> None:
    pages = (
        PAGE.replace("</main>", f"<p>Generated on 2026-11-{day} 10:0{day[1]}:17</p></main>") for day in ("11", "12")
    )
    assert len({reading(page).digest for page in pages}) == 1


def test_noindex_canonical_and_redirect() -> None:
    assert reading(PAGE).title == "Ships"
    assert reading(PAGE.replace("<title>Ships</title>", "")).title == "Ships"
    assert reading(PAGE.replace("</head>", '<meta name="robots" content="noindex">')).noindex
    canonical = reading(PAGE.replace("</head>", '<link rel="canonical" href="/fleet">')).canonical
    assert canonical == SITE + "fleet"
    moved = reading('<meta http-equiv="refresh" content="0; url=/fleet"><p>gone there</p>')
    assert moved.moves_to == SITE + "fleet"


def test_navigation_names_are_ignored_if_they_cover_everything() -> None:
    page = "<nav><p>Only a menu here: {}</p></nav>"
    assert reading(page.format("one")).digest != reading(page.format("two")).digest


def test_other_files_are_compared_byte_by_byte() -> None:
    plain = (("Content-Type", "application/pdf"),)
    digests = {read_content(SITE, plain, body, agent="evercrawl", site=SITE).digest for body in (b"%PDF 1", b"%PDF 2")}
    assert len(digests) == 2
