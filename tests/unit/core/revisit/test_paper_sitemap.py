"""Paper C's example: 13 pages, then 4 of 14 (C6)."""

from __future__ import annotations

from evercrawl.core.revisit.interval_rules import SitemapRow, to_download

SITE = "http://www.xyz.com/"
FIRST_VISIT = {
    "index": (538, 1308111730000, 1272964276000),
    "about": (235, 1308111730538, 1272964523000),
    "courses": (256, 1308111730773, 1272964705000),
    "courses/btech": (327, 1308111731029, 1272964720000),
    "courses/pharmacy": (423, 1308111731356, 1272964736000),
    "facilities": (498, 1308111731779, 1276682653000),
    "photo_gallery": (890, 1308111732277, 1276683322000),
    "faculty": (348, 1308111733167, 1273576124000),
    "faculty/teaching": (459, 1308111733515, 1308473192000),
    "faculty/nonteaching": (450, 1308111733974, 1273576523000),
    "results": (236, 1308111734424, 1308473495000),
    "placement": (365, 1308111734660, 1308473616000),
    "contact": (287, 1308111735025, 1272964754000),
}
"""Tables 1 and 2: download time, LAST_VISITED and the LAST_UPDATED that the second sitemap has."""
NEW_TIMES = {"faculty/teaching": 515, "results": 351, "placement": 360, "alumni": 673}
"""Table 3."""


def _url(name: str) -> str:
    return f"{SITE}{name}.html"


ROWS = [SitemapRow(name, _url(name), row[2]) for name, row in FIRST_VISIT.items()]
ROWS.insert(12, SitemapRow("Our Alumnus", _url("alumni"), 1309334004000))


def test_the_first_visit_downloads_all_thirteen_pages() -> None:
    assert len(to_download([row for row in ROWS if "alumni" not in row.url], {})) == 13


def test_the_second_visit_downloads_exactly_four_of_fourteen() -> None:
    visited = {_url(name): row[1] for name, row in FIRST_VISIT.items()}
    chosen = to_download(ROWS, visited)
    assert chosen == [_url(name) for name in NEW_TIMES]
    assert len(ROWS) == 14


def test_the_times_of_the_paper_come_out() -> None:
    visited = {_url(name): row[1] for name, row in FIRST_VISIT.items()}
    times = {_url(name): row[0] for name, row in FIRST_VISIT.items()}
    times |= {_url(name): spent for name, spent in NEW_TIMES.items()}
    assert sum(times.values()) == 6151
    assert sum(times[url] for url in to_download(ROWS, visited)) == 1899
