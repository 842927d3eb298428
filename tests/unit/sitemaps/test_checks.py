"""The judgement of sitemaps whose faults are known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evercrawl.collection.stored_pages import StoredPage
from evercrawl.core.digest import text_digest
from evercrawl.model.document import Directives, Document
from evercrawl.model.listing import VersionRecord, VisitRecord
from evercrawl.model.page import Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapType
from evercrawl.model.time import to_us
from evercrawl.sitemaps.checks import SitemapIssue, SitemapReport, check_sitemap
from evercrawl.sitemaps.survey import ListedEntry, SampledPage, SitemapSurvey, SurveyedFile, choose_sample

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SITE = "https://example.org"
SITEMAP = SITE + "/sitemap.xml"
DAY = timedelta(days=1)


def survey_of(*entries: SitemapEntry, error: str | None = None, unreadable: tuple[str, ...] = ()) -> SitemapSurvey:
    file = SurveyedFile(SITEMAP, Sitemap(SitemapType.URLSET, entries, error), 1000, unreadable)
    return SitemapSurvey(SITE, NOW, [file], [ListedEntry(entry, SITEMAP) for entry in entries])


def pages(count: int = 10) -> list[SitemapEntry]:
    return [SitemapEntry(f"{SITE}/{number}", NOW - (number + 1) * DAY) for number in range(count)]


def ok(url: str, **said: Any) -> SampledPage:
    document = Document("utf-8", url, **said)
    return SampledPage(url, "ok", at=NOW, document=document, date="Sun, 15 Nov 2026 12:00:00 GMT")


def faults(judgement: SitemapReport) -> set[SitemapIssue]:
    return {one.fault for one in judgement.findings}


def test_a_true_sitemap_is_perfect() -> None:
    survey = survey_of(*pages())
    survey.sampled = [ok(entry.url) for entry in pages()]
    assert check_sitemap(survey).score == 100


def test_no_sitemap_is_nothing() -> None:
    survey = SitemapSurvey(SITE, NOW, [SurveyedFile(SITEMAP, Sitemap(SitemapType.UNKNOWN, error="404"), failure="404")])
    judgement = check_sitemap(survey)
    assert (judgement.score, faults(judgement)) == (0, {SitemapIssue.NO_SITEMAP})


@pytest.mark.parametrize(
    ("survey", "fault"),
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
def test_what_the_file_alone_shows(survey: SitemapSurvey, fault: SitemapIssue) -> None:
    judgement = check_sitemap(survey)
    assert faults(judgement) == {fault}
    assert judgement.score < 100
    assert judgement.findings[0].examples


def test_today_written_as_a_date_is_not_ahead() -> None:
    midnight = (NOW + DAY).replace(hour=0)
    survey = survey_of(*pages(), SitemapEntry(SITE + "/x", midnight))
    assert check_sitemap(survey).score == 100


def test_what_the_pages_show() -> None:
    survey = survey_of(*pages())
    survey.sampled = [
        SampledPage(SITE + "/0", "dead", "status 404"),
        SampledPage(SITE + "/1", "moved", "301 to /x"),
        ok(SITE + "/2", robots=Directives(noindex=True)),
        ok(SITE + "/3", canonical=SITE + "/other"),
        SampledPage(SITE + "/4", "failed", "timeout"),
        ok(SITE + "/5"),
    ]
    survey.forbidden = [SITE + "/9"]
    found = faults(check_sitemap(survey))
    assert found == {
        SitemapIssue.DEAD, SitemapIssue.REDIRECTS, SitemapIssue.NOINDEX, SitemapIssue.CANONICAL, SitemapIssue.UNREACHABLE, SitemapIssue.DISALLOWED,
    }  # fmt: skip


def test_pages_that_are_linked_and_there_are_missing() -> None:
    survey = survey_of(*pages())
    for name in ("a", "b", "c", "d"):
        survey.candidates[f"{SITE}/{name}"] = 3
    survey.probed = [
        ok(SITE + "/a"),
        SampledPage(SITE + "/b", "dead"),
        ok(SITE + "/c", robots=Directives(noindex=True)),
        SampledPage(SITE + "/d", "moved"),
    ]
    (missing,) = check_sitemap(survey).findings
    assert (missing.fault, missing.count, missing.of) == (SitemapIssue.MISSING, 1, 11)
    assert [example.url for example in missing.examples] == [SITE + "/a"]
    survey.known = [SITE + "/0", SITE + "/e"]
    (missing,) = check_sitemap(survey).findings
    assert [example.url for example in missing.examples] == [SITE + "/a", SITE + "/e"]


@pytest.mark.parametrize(
    ("last_modified", "modified", "fault"),
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
def test_dates_against_the_pages_own_word(
    last_modified: str | None, modified: str | None, fault: SitemapIssue | None
) -> None:
    entry = SitemapEntry(SITE + "/a", NOW - 5 * DAY)
    survey = survey_of(entry)
    survey.sampled = [ok(entry.url, modified=modified)._replace(last_modified=last_modified)]
    assert faults(check_sitemap(survey)) == ({fault} if fault else set())


def version(number: int, sampled: datetime, after: datetime | None, text: str = "words") -> VersionRecord:
    blank = Version(
        number, b"", b"", text_digest(text), None, None, None, None, None, 0, 0, None, None, "", 0, 0, b"", None
    )
    return VersionRecord(to_us(sampled), None if after is None else to_us(after), 200, blank)


def stored(versions: list[VersionRecord], visits: list[tuple[datetime, int]]) -> StoredPage:
    lines = tuple(
        VisitRecord(to_us(at), Outcome.UNCHANGED, Reason.SAME_CONTENT, 200, 1, 1, number) for at, number in visits
    )
    return StoredPage(0, None, tuple(versions), lines)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("days_ago", "fault"),
    [(20, SitemapIssue.OLD_DATES), (9, None), (3, SitemapIssue.FALSE_DATES), (40, SitemapIssue.OLD_DATES)],
)
def test_dates_against_what_the_collection_saw(days_ago: int, fault: SitemapIssue | None) -> None:
    """Seen 30 and 10 days ago as it was, changed when it was sampled 8 days ago, the same 1 day ago."""
    history = stored(
        [version(1, NOW - 30 * DAY, None), version(2, NOW - 8 * DAY, NOW - 10 * DAY)],
        [(NOW - DAY, 2), (NOW - 8 * DAY, 2), (NOW - 10 * DAY, 1), (NOW - 30 * DAY, 1)],
    )
    entry = SitemapEntry(SITE + "/a", NOW - days_ago * DAY)
    judgement = check_sitemap(survey_of(entry), lambda url: history)
    assert faults(judgement) == ({fault} if fault else set())
    assert judgement.verified == 1


def test_the_present_page_is_a_witness_too() -> None:
    history = stored([version(1, NOW - 30 * DAY, None, "the same words")], [(NOW - 30 * DAY, 1)])
    entry = SitemapEntry(SITE + "/a", NOW - 3 * DAY)
    survey = survey_of(entry)
    survey.sampled = [ok(entry.url, text="the same words")]
    assert faults(check_sitemap(survey, lambda url: history)) == {SitemapIssue.FALSE_DATES}
    survey.sampled = [ok(entry.url, text="other words")]
    assert faults(check_sitemap(survey, lambda url: history)) == set()


def test_equal_dates_that_are_confirmed_are_no_fault() -> None:
    entries = [entry._replace(lastmod=NOW - 5 * DAY) for entry in pages()]
    survey = survey_of(*entries)
    survey.sampled = [ok(entry.url, modified="2026-11-10") for entry in entries]
    assert check_sitemap(survey).score == 100


def test_the_sample_is_the_same_every_time_and_has_the_newest() -> None:
    chosen = choose_sample(pages(100), 10)
    assert chosen == choose_sample(pages(100), 10)
    assert chosen[:5] == pages(5)
    assert len({entry.url for entry in chosen}) == 10
    assert len(choose_sample(pages(3), 10)) == 3
