"""Paper C's example comes out: 13 pages, then 4 of 14; 6151 ms and 1899 ms; tables 1 to 4."""

from __future__ import annotations

import pytest
from research.papers.college import PAGES, UPDATED
from research.papers.sitemap import SitemapExperiment, run_sitemap
from research.papers.sitemap_chart import draw_sitemap


@pytest.fixture(scope="module")
def found() -> SitemapExperiment:
    return run_sitemap()


def test_the_papers_sums(found: SitemapExperiment) -> None:
    seconds = {one.name: one for one in found.seconds}
    assert (seconds["full"].ms, len(seconds["full"].downloaded)) == (6151, 14)
    assert (seconds["extended"].ms, len(seconds["extended"].downloaded)) == (1899, 4)
    assert set(seconds["extended"].downloaded) == {page.url for page in UPDATED}
    assert found.matches


def test_an_ordinary_sitemap_and_validators_bring_the_same_pages(found: SitemapExperiment) -> None:
    seconds = {one.name: one for one in found.seconds}
    wanted = {page.url for page in UPDATED}
    assert set(seconds["standard"].downloaded) == set(seconds["validators"].downloaded) == wanted
    assert seconds["validators"].requests > seconds["standard"].requests
    assert len(seconds["cautious"].downloaded) > len(wanted), "by default a sitemap has to prove true first"
    assert set(seconds["cautious"].downloaded) > wanted


def test_the_papers_tables(found: SitemapExperiment) -> None:
    assert [len(table) for table in found.tables] == [13, 14, 4, 14]
    first, sitemap, again, record = found.tables
    assert sum(row.download_ms or 0 for row in first) == 5312
    assert [row.last_updated_ms for row in sitemap] == [page.updated_ms for page in PAGES]
    assert [row.anchor_text for row in again] == ["Teaching", "University Toppers", "Placement", "Our Alumnus"]
    newest = {row.url for row in record if (row.last_visited_ms or 0) >= 1_309_453_215_000}
    assert newest == {page.url for page in UPDATED}


def test_two_runs_are_alike(found: SitemapExperiment) -> None:
    assert run_sitemap() == found


def test_the_picture(found: SitemapExperiment) -> None:
    picture = draw_sitemap(found.seconds)
    assert picture.startswith("<svg ")
    assert "1,899, 4 pages" in picture
