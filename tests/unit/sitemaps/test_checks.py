"""Check sitemaps with known issues."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evercrawl.core.digest import text_digest
from evercrawl.model.document import Directives, Document
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapType
from evercrawl.sitemaps.checks import KnownVersion, SitemapIssue, SitemapReport, check_sitemap
from evercrawl.sitemaps.survey import ListedEntry, SitemapSurvey, SurveyedFile, SurveyedPage, choose_sample

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SITE = "https://example.org"
SITEMAP = SITE + "/sitemap.xml"
DAY = timedelta(days=1)


def survey_of(*entries: SitemapEntry, error: str | None = None, unreadable: tuple[str, ...] = ()) -> SitemapSurvey:
    file = SurveyedFile(SITEMAP, Sitemap(SitemapType.URLSET, entries, error), 1000, unreadable)
    return SitemapSurvey(SITE, NOW, [file], [ListedEntry(entry, SITEMAP) for entry in entries])


def pages(count: int = 10) -> list[SitemapEntry]:
    return [SitemapEntry(f"{SITE}/{number}", NOW - (number + 1) * DAY) for number in range(count)]


def ok(url: str, **said: Any) -> SurveyedPage:
    document = Document("utf-8", url, **said)
    return SurveyedPage(url, "ok", at=NOW, document=document, date="Sun, 15 Nov 2026 12:00:00 GMT")


def issues(report: SitemapReport) -> set[SitemapIssue]:
    return {one.issue for one in report.findings}


def test_a_correct_sitemap_has_the_best_score() -> None:
    survey = survey_of(*pages())
    survey.sampled = [ok(entry.url) for entry in pages()]
    assert check_sitemap(survey).score == 100


def test_a_missing_sitemap_scores_zero() -> None:
    survey = SitemapSurvey(SITE, NOW, [SurveyedFile(SITEMAP, Sitemap(SitemapType.UNKNOWN, error="404"), failure="404")])
    report = check_sitemap(survey)
    assert (report.score, issues(report)) == (0, {SitemapIssue.NO_SITEMAP})


@pytest.mark.parametrize(
    ("survey", "issue"),
    [
        (survey_of(*pages(), error="not well-formed"), SitemapIssue.BROKEN),
        (survey_of(*pages(), SitemapEntry("https://other.example/", NOW - DAY)), SitemapIssue.WRONG_HOST),
        (survey_of(*pages(), pages()[0]), SitemapIssue.DUPLICATES),
        (survey_of(*pages(), SitemapEntry(SITE + "/x")), SitemapIssue.NO_DATES),
        (survey_of(*pages(), SitemapEntry(SITE + "/x"), unreadable=("06/05/2024",)), SitemapIssue.UNREADABLE_DATES),
        (survey_of(*pages(), SitemapEntry(SITE + "/x", NOW + 3 * DAY)), SitemapIssue.FUTURE_DATES),
        (survey_of(*(entry._replace(lastmod=NOW - DAY) for entry in pages())), SitemapIssue.EQUAL_DATES),
        (survey_of(SitemapEntry(SITE + "/" + "x" * 3000, NOW - DAY)), SitemapIssue.LIMITS),
        (survey_of(*pages(50_001)), SitemapIssue.LIMITS),
    ],
)
def test_issues_of_files(survey: SitemapSurvey, issue: SitemapIssue) -> None:
    report = check_sitemap(survey)
    assert issues(report) == {issue}
    assert report.score < 100
    assert report.findings[0].examples


def test_todays_date_is_not_in_the_future() -> None:
    midnight = (NOW + DAY).replace(hour=0)
    survey = survey_of(*pages(), SitemapEntry(SITE + "/x", midnight))
    assert check_sitemap(survey).score == 100


def test_issues_of_pages() -> None:
    survey = survey_of(*pages())
    survey.sampled = [
        SurveyedPage(SITE + "/0", "dead", "status 404"),
        SurveyedPage(SITE + "/1", "moved", "301 to /x"),
        ok(SITE + "/2", robots=Directives(noindex=True)),
        ok(SITE + "/3", canonical=SITE + "/other"),
        SurveyedPage(SITE + "/4", "failed", "timeout"),
        ok(SITE + "/5"),
    ]
    survey.forbidden = [SITE + "/9"]
    found = issues(check_sitemap(survey))
    assert found == {
        SitemapIssue.DEAD,
        SitemapIssue.REDIRECTS,
        SitemapIssue.NOINDEX,
        SitemapIssue.CANONICAL,
        SitemapIssue.UNREACHABLE,
        SitemapIssue.DISALLOWED,
    }


def test_linked_pages_that_exist_are_missing() -> None:
    survey = survey_of(*pages())
    for name in ("a", "b", "c", "d"):
        survey.candidates[f"{SITE}/{name}"] = 3
    survey.probed = [
        ok(SITE + "/a"),
        SurveyedPage(SITE + "/b", "dead"),
        ok(SITE + "/c", robots=Directives(noindex=True)),
        SurveyedPage(SITE + "/d", "moved"),
    ]
    (missing,) = check_sitemap(survey).findings
    assert (missing.issue, missing.count, missing.of) == (SitemapIssue.MISSING, 1, 11)
    assert [example.url for example in missing.examples] == [SITE + "/a"]
    survey.known = [SITE + "/0", SITE + "/e"]
    (missing,) = check_sitemap(survey).findings
    assert [example.url for example in missing.examples] == [SITE + "/a", SITE + "/e"]


@pytest.mark.parametrize(
    ("last_modified", "modified", "issue"),
    [
        ("Mon, 01 Jan 2024 00:00:00 GMT", None, SitemapIssue.FALSE_DATES),
        ("Sun, 15 Nov 2026 11:59:59 GMT", None, None),
        ("Sat, 14 Nov 2026 12:00:00 GMT", None, SitemapIssue.OLD_DATES),
        ("Tue, 10 Nov 2026 12:00:00 GMT", None, None),
        ("Mon, 01 Jan 2024 00:00:00 GMT", "2026-11-10", None),
        (None, "2025-01-01", SitemapIssue.FALSE_DATES),
        (None, None, None),
    ],
)
def test_dates_against_the_pages_own_dates(
    last_modified: str | None, modified: str | None, issue: SitemapIssue | None
) -> None:
    entry = SitemapEntry(SITE + "/a", NOW - 5 * DAY)
    survey = survey_of(entry)
    survey.sampled = [ok(entry.url, modified=modified)._replace(last_modified=last_modified)]
    assert issues(check_sitemap(survey)) == ({issue} if issue else set())


def version(first_seen: datetime, last_seen: datetime, after: datetime | None, text: str = "words") -> KnownVersion:
    return KnownVersion(after, first_seen, last_seen, text_digest(text))


@pytest.mark.parametrize(
    ("days_ago", "issue"),
    [(20, SitemapIssue.OLD_DATES), (9, None), (3, SitemapIssue.FALSE_DATES), (40, SitemapIssue.OLD_DATES)],
)
def test_dates_against_the_collections_history(days_ago: int, issue: SitemapIssue | None) -> None:
    """The collection saw one version 30 and 10 days ago, and another one 8 days and 1 day ago."""
    history = [version(NOW - 30 * DAY, NOW - 10 * DAY, None), version(NOW - 8 * DAY, NOW - DAY, NOW - 10 * DAY)]
    entry = SitemapEntry(SITE + "/a", NOW - days_ago * DAY)
    report = check_sitemap(survey_of(entry), lambda url: history)
    assert issues(report) == ({issue} if issue else set())
    assert report.verified == 1


def test_the_current_page_is_evidence_too() -> None:
    history = [version(NOW - 30 * DAY, NOW - 30 * DAY, None, "the same words")]
    entry = SitemapEntry(SITE + "/a", NOW - 3 * DAY)
    survey = survey_of(entry)
    survey.sampled = [ok(entry.url, text="the same words")]
    assert issues(check_sitemap(survey, lambda url: history)) == {SitemapIssue.FALSE_DATES}
    survey.sampled = [ok(entry.url, text="other words")]
    assert issues(check_sitemap(survey, lambda url: history)) == set()


def test_confirmed_equal_dates_are_no_issue() -> None:
    entries = [entry._replace(lastmod=NOW - 5 * DAY) for entry in pages()]
    survey = survey_of(*entries)
    survey.sampled = [ok(entry.url, modified="2026-11-10") for entry in entries]
    assert check_sitemap(survey).score == 100


def test_the_sample_is_stable_and_includes_the_newest_pages() -> None:
    chosen = choose_sample(pages(100), 10)
    assert chosen == choose_sample(pages(100), 10)
    assert chosen[:5] == pages(5)
    assert len({entry.url for entry in chosen}) == 10
    assert len(choose_sample(pages(3), 10)) == 3
