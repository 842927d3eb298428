"""The revisit rules of papers A and C, through real crawls of a served site with a moved clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from research.papers.college import FIRST_VISIT_MS, PAGES, UPDATED

from evercrawl.adapters.system import SystemClock
from evercrawl.collection.collection import Collection
from evercrawl.core.sitemap.sitemap_writer import extended_sitemap, sitemap_files
from evercrawl.model.sitemap import SitemapPage
from evercrawl.model.time import from_us, to_us
from tests.e2e.moved_clock import ServedSite, collection_of, crawl_on_day, served_site

LEAVES = tuple(f"/leaf{number}" for number in range(5))
DAY = 1.01  # A little more than a day, so that every page is due.


def pages_of(requests: list[str]) -> list[str]:
    return [path for path in requests if path != "/robots.txt" and not path.startswith("/sitemap")]


def put_hub(site: ServedSite) -> None:
    """A page that links to five leaves, below the start page."""
    site.put("/", "/hub")
    site.put("/hub", *LEAVES)
    for leaf in LEAVES:
        site.put(leaf)


def rule_about(collection: Collection, url: str) -> str:
    forecast = collection.why(url).forecast
    assert forecast is not None
    return forecast.rule_text


@pytest.mark.parametrize(("changed", "is_visited"), [(2, True), (1, False)])
def test_an_unchanged_page_is_visited_when_40_percent_of_its_links_changed(
    changed: int, is_visited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_site() as site:
        put_hub(site)
        collection = collection_of(site, tmp_path / "a.evercrawl", policy="paper-selective")
        crawl_on_day(collection, 0, monkeypatch)
        for leaf in LEAVES[:changed]:
            site.put(leaf, edition=2)
        site.requested()
        assert crawl_on_day(collection, DAY, monkeypatch).changed == changed
        assert pages_of(site.requested()) == sorted(["/", "/hub", *LEAVES]), "after one visit all are black boxes"

        crawl_on_day(collection, 2 * DAY, monkeypatch)
        wanted = {*LEAVES[:changed], *(["/hub"] if is_visited else [])}
        assert set(pages_of(site.requested())) == wanted, "changed pages, and those that lead to enough of them"
        share = "48%" if is_visited else "24%"
        assert (
            rule_about(collection, f"{site.base}/hub") == f"unchanged; visited when {share} of its links have changed"
        )


def test_no_page_is_lost_although_nothing_ever_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served_site() as site:
        put_hub(site)
        collection = collection_of(site, tmp_path / "a.evercrawl", policy="paper-selective")
        for day in range(2):
            crawl_on_day(collection, day * DAY, monkeypatch)
        site.requested()
        quiet = 0
        for day in range(2, 12):
            crawl_on_day(collection, day * DAY, monkeypatch)
            if found := pages_of(site.requested()):
                break
            quiet += 1
        assert quiet == 6, "0.4 halves six times before it is below one percent"
        assert set(found) == {"/", "/hub", *LEAVES}


def put_college(site: ServedSite, *, second: bool) -> None:
    """The example site of paper C at its first or its second visit, with both sitemaps."""
    there = [page for page in PAGES if second or page.first_ms is not None]
    shown = [page.path for page in there]
    for page in there:
        edition = 2 if second and page in UPDATED else 1
        site.put(page.path, *(shown if page.path == "/index.html" else ()), edition=edition)


def put_sitemaps(site: ServedSite, dates_us: dict[str, int]) -> None:
    rows = [SitemapPage(site.base + path, from_us(at_us), path) for path, at_us in dates_us.items()]
    site.files["/sitemap.xml?XTND"] = "application/xml", extended_sitemap(rows).decode()
    ordinary = [SitemapPage(row.url) for row in rows]
    site.files["/sitemap.xml"] = "application/xml", list(sitemap_files(ordinary, site.base + "/"))[-1].data.decode()


def name_sitemap(site: ServedSite) -> None:
    site.files["/robots.txt"] = "text/plain", f"User-agent: *\nAllow: /\nSitemap: {site.base}/sitemap.xml\n"


def test_the_second_visit_of_paper_c_asks_for_4_of_14_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dates are moved so that the paper's first visit is now: 15 June 2011, 9:52:10 in India (1308111730000)."""
    with served_site() as site:
        collection = collection_of(site, tmp_path / "c.evercrawl", policy="paper-sitemap", start="/index.html")
        shift_us = _now_us() - FIRST_VISIT_MS * 1000
        put_college(site, second=False)
        oldest = min(page.updated_ms for page in PAGES)
        first = [page for page in PAGES if page.first_ms is not None]
        put_sitemaps(site, {page.path: (oldest * 1000) + shift_us for page in first})
        crawl_on_day(collection, 0, monkeypatch)
        assert len(pages_of(site.requested())) == 13

        put_college(site, second=True)
        put_sitemaps(site, {page.path: page.updated_ms * 1000 + shift_us for page in PAGES})
        done = crawl_on_day(collection, 15.53, monkeypatch)  # 1,341,485 s later, as in the paper
        pages_after = site.log[site.log.index("/sitemap.xml?XTND") :]
        assert len(pages_of(pages_after)) == 4, "the extended sitemap comes before every page"
        asked = site.requested()
        assert pages_of(asked) == sorted(page.path for page in UPDATED)
        assert "/sitemap.xml" not in asked, "the extended sitemap is enough"
        assert (done.new, done.changed) == (1, 3)
        found = collection.why(UPDATED[0].url.replace("http://www.xyz.com", site.base)).forecast
        assert found is not None
        assert found.announcements is not None
        assert found.announcements.changes_announced == found.announcements.changes_found == 3


def test_without_a_sitemap_paper_c_crawls_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served_site() as site:
        put_hub(site)
        collection = collection_of(site, tmp_path / "c.evercrawl", policy="paper-sitemap")
        crawl_on_day(collection, 0, monkeypatch)
        site.requested()
        crawl_on_day(collection, DAY, monkeypatch)
        assert pages_of(site.requested()) == sorted(["/", "/hub", *LEAVES])


# Small sites, and what `why` says about announcements


def test_a_site_of_one_page_gets_one_question_for_its_sitemap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served_site() as site:
        site.put("/")
        collection = collection_of(site, tmp_path / "one.evercrawl", policy="optimal")
        crawl_on_day(collection, 0, monkeypatch)
        assert site.requested() == ["/", "/robots.txt", "/sitemap.xml"]
        crawl_on_day(collection, 29.5, monkeypatch)
        assert "/sitemap.xml" not in site.requested(), "a missing sitemap is not asked for again within a month"
        crawl_on_day(collection, 60.0, monkeypatch)
        assert site.requested() == ["/", "/robots.txt", "/sitemap.xml"]


def test_pages_that_only_the_sitemap_or_a_feed_names_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served_site() as site:
        for path in ("/", "/listed", "/news"):
            site.put(path)
        kind, text = site.files["/"]
        feed = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
        site.files["/"] = kind, text.replace("<main>", f"{feed}<main>")
        item = f"<item><title>News</title><link>{site.base}/news</link></item>"
        site.files["/feed.xml"] = "application/rss+xml", f'<rss version="2.0"><channel>{item}</channel></rss>'
        put_sitemaps(site, {"/listed": _now_us()})
        del site.files["/sitemap.xml?XTND"]
        collection = collection_of(site, tmp_path / "small.evercrawl", policy="optimal")
        crawl_on_day(collection, 0, monkeypatch)
        assert site.requested() == ["/", "/feed.xml", "/listed", "/news", "/robots.txt", "/sitemap.xml"]


def test_a_feed_is_asked_for_once_although_pages_come_in_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_site() as site:
        for path, links in (("/", ()), ("/listed", ("/deep",)), ("/deep", ())):
            site.put(path, *links)
        kind, text = site.files["/"]
        feed = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
        site.files["/"] = kind, text.replace("<main>", f"{feed}<main>")
        site.files["/feed.xml"] = "application/rss+xml", '<rss version="2.0"><channel></channel></rss>'
        site.hold("/feed.xml", until="/deep")
        put_sitemaps(site, {"/listed": _now_us()})
        del site.files["/sitemap.xml?XTND"]
        crawl_on_day(collection_of(site, tmp_path / "once.evercrawl", policy="optimal"), 0, monkeypatch)
        assert site.requested() == ["/", "/deep", "/feed.xml", "/listed", "/robots.txt", "/sitemap.xml"]


def test_a_named_sitemap_is_asked_for_its_extended_form_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served_site() as site:
        site.put("/")
        site.put("/listed")
        name_sitemap(site)
        put_sitemaps(site, {"/listed": _now_us()})
        crawl_on_day(collection_of(site, tmp_path / "x.evercrawl", policy="optimal"), 0, monkeypatch)
        assert site.requested() == ["/", "/listed", "/robots.txt", "/sitemap.xml?XTND"]
        del site.files["/sitemap.xml?XTND"]
        crawl_on_day(collection_of(site, tmp_path / "y.evercrawl", policy="optimal"), 0, monkeypatch)
        assert site.requested() == ["/", "/listed", "/robots.txt", "/sitemap.xml", "/sitemap.xml?XTND"]


def test_why_tells_the_true_share_of_announced_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page changes before five visits and three of these changes are announced; a sixth visit finds nothing."""
    with served_site() as site:
        name_sitemap(site)
        site.put("/", *LEAVES)
        for leaf in LEAVES:
            site.put(leaf)
        start_us = _now_us()
        dates = dict.fromkeys(LEAVES, start_us - 30 * 86_400_000_000)
        put_sitemaps(site, dates)
        collection = collection_of(site, tmp_path / "w.evercrawl", policy="optimal")
        crawl_on_day(collection, 0, monkeypatch)
        for day in range(1, 7):
            for leaf in LEAVES:
                if day <= 5:
                    site.put(leaf, edition=day + 1)
                if day in (1, 3, 5, 6):
                    dates[leaf] = start_us + int((day - 0.3) * 86_400_000_000)
            put_sitemaps(site, dates)
            crawl_on_day(collection, day, monkeypatch, refresh=True)
        forecast = collection.why(site.base + LEAVES[0]).forecast
        assert forecast is not None
        told = forecast.announcements
        assert told is not None
        # On a busy machine a page may be visited before its sitemap is read; that visit checks nothing.
        assert 20 <= told.changes_found <= 25
        assert told.changes_found - told.changes_announced == 10
        assert told.false == 5
        assert 15 <= told.checked <= 20
        assert told.false_share == round(told.false / told.checked, 4)
        assert told.recall is not None
        assert abs(told.recall - 0.6) < 0.3


def _now_us() -> int:
    return to_us(SystemClock().now())
