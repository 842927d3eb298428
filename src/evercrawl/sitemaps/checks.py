"""Check a sitemap as a search engine would, and score it.
Dates are compared with the collection's history of the page, the date in the page, or the server's Last-Modified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import NamedTuple

from evercrawl.core.digest import text_digest
from evercrawl.core.faults import http_date
from evercrawl.core.sitemap.sitemap_values import is_in_scope, parse_date
from evercrawl.core.sitemap.sitemap_writer import MAX_BYTES, MAX_URLS
from evercrawl.core.url import canonical
from evercrawl.model.sitemap import SitemapEntry, SitemapType
from evercrawl.sitemaps.survey import SitemapSurvey, SurveyedPage

MAX_URL_CHARS = 2048
MIN_EQUAL_DATES = 5  # Fewer equal dates may well be correct.
CLOCK_SKEW = timedelta(hours=1)  # Tolerated clock error; a date without a time may be ahead by its day.
DATE_TOLERANCE = timedelta(days=1)  # Dates this close count as equal, because of time zones and delayed publication.
GENERATED_WITHIN = timedelta(minutes=2)
"""A Last-Modified this close to the response is the time of generation, not of a change."""
ONE_DAY = timedelta(days=1)
MAX_CHECKED_DATES = 2000  # Dates to check; reading a page's history takes some milliseconds.
DateCheck = tuple[str, str]  # `true`, `false` or `old`, and the evidence.
MAX_EXAMPLES = 5
FULL_COST_SHARE = 0.25  # Share of bad entries at which an issue costs all its points.
BEST_SCORE = 100


class SitemapIssue(StrEnum):
    """The issues that a check can find; scripts may rely on these names."""

    NO_SITEMAP = "no_sitemap"
    BROKEN = "broken"
    LIMITS = "limits"
    WRONG_HOST = "wrong_host"
    DUPLICATES = "duplicates"
    NO_DATES = "no_dates"
    UNREADABLE_DATES = "unreadable_dates"
    FUTURE_DATES = "future_dates"
    EQUAL_DATES = "equal_dates"
    FALSE_DATES = "false_dates"
    OLD_DATES = "old_dates"
    DEAD = "dead"
    REDIRECTS = "redirects"
    NOINDEX = "noindex"
    CANONICAL = "canonical"
    DISALLOWED = "disallowed"
    UNREACHABLE = "unreachable"
    MISSING = "missing"


class IssueWeight(NamedTuple):
    """Points that an issue can cost, and its description."""

    points: int
    description: str


WEIGHTS = {
    SitemapIssue.NO_SITEMAP: IssueWeight(100, "no readable sitemap"),
    SitemapIssue.BROKEN: IssueWeight(30, "files that are malformed, truncated, or not sitemaps"),
    SitemapIssue.LIMITS: IssueWeight(
        20, "files with more than 50,000 URLs or 50 MiB, or URLs longer than 2,048 characters"
    ),
    SitemapIssue.WRONG_HOST: IssueWeight(
        20, "URLs that this sitemap may not list: on another host, or above its folder"
    ),
    SitemapIssue.DUPLICATES: IssueWeight(5, "URLs listed more than once"),
    SitemapIssue.NO_DATES: IssueWeight(10, "entries without lastmod"),
    SitemapIssue.UNREADABLE_DATES: IssueWeight(15, "dates that are not W3C datetimes"),
    SitemapIssue.FUTURE_DATES: IssueWeight(15, "dates in the future"),
    SitemapIssue.EQUAL_DATES: IssueWeight(20, "all dates are the same, so they say nothing about single pages"),
    SitemapIssue.FALSE_DATES: IssueWeight(35, "dates without a change"),
    SitemapIssue.OLD_DATES: IssueWeight(20, "pages that changed after their date"),
    SitemapIssue.DEAD: IssueWeight(30, "pages that do not exist"),
    SitemapIssue.REDIRECTS: IssueWeight(15, "URLs that redirect"),
    SitemapIssue.NOINDEX: IssueWeight(20, "pages marked noindex"),
    SitemapIssue.CANONICAL: IssueWeight(15, "pages with another canonical URL"),
    SitemapIssue.DISALLOWED: IssueWeight(20, "pages disallowed by robots.txt"),
    SitemapIssue.UNREACHABLE: IssueWeight(10, "pages that could not be fetched: server error or no answer"),
    SitemapIssue.MISSING: IssueWeight(20, "pages that the site links to but the sitemap does not list"),
}


class IssueExample(NamedTuple):
    """One case of an issue."""

    url: str
    detail: str


@dataclass(frozen=True, slots=True)
class SitemapFinding:
    """An issue with the number of affected entries and its cost."""

    issue: SitemapIssue
    count: int
    of: int
    examples: tuple[IssueExample, ...]

    @property
    def cost(self) -> float:
        """Return the points lost; a quarter of bad entries costs the full weight."""
        share = self.count / self.of if self.of else 1.0
        return WEIGHTS[self.issue].points * min(1.0, share / FULL_COST_SHARE)


def findings_for(issue: SitemapIssue, cases: Iterable[IssueExample], *, of: int) -> list[SitemapFinding]:
    """Return the finding for these cases, or none."""
    found = list(cases)
    return [SitemapFinding(issue, len(found), max(of, len(found)), tuple(found[:MAX_EXAMPLES]))] if found else []


def sitemap_score(findings: Iterable[SitemapFinding]) -> int:
    """Return the score from 0 to 100."""
    return max(0, round(BEST_SCORE - sum(one.cost for one in findings)))


class KnownVersion(NamedTuple):
    """A version of a page that a collection has stored."""

    changed_after: datetime | None  # Last visit that found the version before; None for the first version.
    first_seen: datetime
    last_seen: datetime
    text_digest: bytes | None


History = Callable[[str], Sequence[KnownVersion]]  # Return the stored versions of a URL, oldest first.


@dataclass(frozen=True, slots=True)
class SitemapReport:
    """Score, findings (most expensive first) and the size of the evidence."""

    score: int
    findings: tuple[SitemapFinding, ...]
    files: int
    entries: int
    dated: int
    sampled: int
    verified: int  # Dates that could be compared with evidence.
    requests: int


def check_sitemap(survey: SitemapSurvey, history: History | None = None) -> SitemapReport:
    """Check a survey; `history` returns the versions that a collection has stored."""
    entries = [one.entry for one in survey.entries]
    dated = [entry for entry in entries if entry.lastmod is not None]
    verified, false, old = _check_dates(survey, history)
    findings = [
        *_file_findings(survey),
        *_entry_findings(survey),
        *_date_findings(survey, entries, dated),
        *(() if verified >= MIN_EQUAL_DATES and not false and not old else _equal_dates(dated)),
        *findings_for(SitemapIssue.FALSE_DATES, false, of=verified),
        *findings_for(SitemapIssue.OLD_DATES, old, of=verified),
        *_page_findings(survey),
        *_missing_findings(survey),
    ]
    findings.sort(key=lambda one: -one.cost)
    sizes = (len(survey.files), len(entries), len(dated), len(survey.sampled), verified, survey.requests)
    return SitemapReport(sitemap_score(findings), tuple(findings), *sizes)


# Files and entries


def _file_findings(survey: SitemapSurvey) -> Iterator[SitemapFinding]:
    usable = [file for file in survey.files if file.sitemap.type is not SitemapType.UNKNOWN]
    if not usable:
        cases = [IssueExample(file.url, file.sitemap.error or "") for file in survey.files]
        yield from findings_for(SitemapIssue.NO_SITEMAP, cases or [IssueExample(survey.site, "none found")], of=1)
        return
    broken = [IssueExample(file.url, file.sitemap.error) for file in survey.files if file.sitemap.error is not None]
    yield from findings_for(SitemapIssue.BROKEN, broken, of=len(survey.files))
    yield from findings_for(SitemapIssue.LIMITS, _limit_examples(survey), of=len(survey.files))


def _limit_examples(survey: SitemapSurvey) -> Iterator[IssueExample]:
    for file in survey.files:
        if len(file.sitemap.entries) > MAX_URLS:
            yield IssueExample(file.url, f"{len(file.sitemap.entries):,} entries; {MAX_URLS:,} are allowed")
        if file.size > MAX_BYTES:
            yield IssueExample(file.url, f"{file.size:,} bytes; {MAX_BYTES:,} are allowed")
    longest = max(survey.entries, key=lambda one: len(one.entry.url), default=None)
    if longest is not None and len(longest.entry.url) > MAX_URL_CHARS:
        yield IssueExample(longest.source, f"a URL of {len(longest.entry.url):,} characters")


def _entry_findings(survey: SitemapSurvey) -> Iterator[SitemapFinding]:
    total = len(survey.entries)
    elsewhere = (one for one in survey.entries if not is_in_scope(one.source, one.entry.url))
    unauthorized = (IssueExample(one.entry.url, f"in {one.source}") for one in elsewhere)
    yield from findings_for(SitemapIssue.WRONG_HOST, unauthorized, of=total)
    counts = Counter(canonical(one.entry.url) or one.entry.url for one in survey.entries)
    repeated = (IssueExample(url, f"{count} times") for url, count in counts.items() if count > 1)
    yield from findings_for(SitemapIssue.DUPLICATES, repeated, of=total)
    forbidden = (IssueExample(url, "disallowed by robots.txt") for url in survey.forbidden)
    yield from findings_for(SitemapIssue.DISALLOWED, forbidden, of=total)


# Dates


def _date_findings(
    survey: SitemapSurvey, entries: list[SitemapEntry], dated: list[SitemapEntry]
) -> Iterator[SitemapFinding]:
    unreadable = [
        IssueExample(file.url, repr(text)[:100])
        for file in survey.files
        if file.sitemap.type is not SitemapType.INDEX
        for text in file.unreadable
    ]
    yield from findings_for(SitemapIssue.UNREADABLE_DATES, unreadable, of=len(entries))
    undated = len(entries) - len(dated) - len(unreadable)
    if undated > 0:
        undated_examples = [IssueExample(entry.url, "") for entry in entries if entry.lastmod is None][:undated]
        yield from findings_for(SitemapIssue.NO_DATES, undated_examples, of=len(entries))
    future = (IssueExample(one.url, _lastmod_text(one.lastmod)) for one in dated if _is_future(one.lastmod, survey.now))
    yield from findings_for(SitemapIssue.FUTURE_DATES, future, of=len(dated))


def _is_future(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment > now + (ONE_DAY if moment.time() == time.min else CLOCK_SKEW)


def _equal_dates(dated: list[SitemapEntry]) -> Iterator[SitemapFinding]:
    """Report equal dates; called only if no evidence confirms them."""
    moments = Counter(entry.lastmod for entry in dated)
    if len(dated) >= MIN_EQUAL_DATES and len(moments) == 1:
        cases = [IssueExample(entry.url, _lastmod_text(entry.lastmod)) for entry in dated]
        yield from findings_for(SitemapIssue.EQUAL_DATES, cases, of=len(dated))


def _lastmod_text(moment: datetime | None) -> str:
    return "" if moment is None else f"lastmod {_date_text(moment)}"


def _date_text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}" if moment.time() == time.min else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _check_dates(survey: SitemapSurvey, history: History | None) -> tuple[int, list[IssueExample], list[IssueExample]]:
    """Return the number of verified dates, and examples of false and of outdated ones."""
    lastmods = {one.entry.url: one.entry.lastmod for one in survey.entries if one.entry.lastmod is not None}
    sampled = {page.url: page for page in survey.sampled}
    false: list[IssueExample] = []
    old: list[IssueExample] = []
    verified = 0
    for url in [*sampled, *(url for url in lastmods if url not in sampled)][:MAX_CHECKED_DATES]:
        if (lastmod := lastmods.get(url)) is None:
            continue
        versions = history(url) if history is not None else ()
        page = sampled.get(url)
        check = _check_by_history(lastmod, versions, page)
        if check is None and page is not None:
            check = _check_by_page(lastmod, page)
        if check is None:
            continue
        verified += 1
        kind, detail = check
        if kind != "true":
            (false if kind == "false" else old).append(IssueExample(url, f"{_lastmod_text(lastmod)}, but {detail}"))
    return verified, false, old


def _check_by_history(
    lastmod: datetime, versions: Sequence[KnownVersion], page: SurveyedPage | None
) -> DateCheck | None:
    """Compare a date with the stored versions: a change after it, or none around it."""
    if not versions:
        return None
    latest = lastmod + ONE_DAY if lastmod.time() == time.min else lastmod
    newest = versions[-1]
    if newest.changed_after is not None and newest.changed_after > latest:
        when = f"between {_date_text(newest.changed_after)} and {_date_text(newest.first_seen)}"
        return "old", f"the page changed {when}"
    for version in versions:
        last = version.last_seen
        if version is newest and page is not None and page.at is not None and _is_same(version, page):
            last = page.at
        if version.first_seen < lastmod and latest <= last:
            return "false", f"the page was the same from {_date_text(version.first_seen)} to {_date_text(last)}"
    return ("true", "") if any(_matches_change(lastmod, latest, version) for version in versions) else None


def _matches_change(lastmod: datetime, latest: datetime, version: KnownVersion) -> bool:
    """Check whether the date fits an observed change; the first version was not observed to change."""
    return version.changed_after is not None and version.changed_after <= latest and lastmod <= version.first_seen


def _is_same(version: KnownVersion, page: SurveyedPage) -> bool:
    known = version.text_digest
    return known is not None and page.document is not None and text_digest(page.document.text) == known


def _check_by_page(lastmod: datetime, page: SurveyedPage) -> DateCheck | None:
    """Compare a date with the page's own date or its Last-Modified."""
    stated = _stated_change(page)
    if stated is None:
        return None
    name, moment = stated
    latest = lastmod + ONE_DAY if lastmod.time() == time.min else lastmod
    if lastmod > moment + DATE_TOLERANCE:
        return "false", f"{name} says {_date_text(moment)}"
    if latest < moment - DATE_TOLERANCE:
        return "old", f"{name} says {_date_text(moment)}"
    return "true", ""


def _stated_change(page: SurveyedPage) -> tuple[str, datetime] | None:
    """Return the page's own modification date, or Last-Modified unless it is the time of the response."""
    if page.document is not None and (stated := parse_date(page.document.modified)) is not None:
        return "the page", stated
    sent = http_date(page.date) if page.date else page.at
    modified = http_date(page.last_modified) if page.last_modified else None
    if modified is None or sent is None or sent - modified < GENERATED_WITHIN:
        return None
    return "Last-Modified", modified


# Pages


_KINDS = {"dead": SitemapIssue.DEAD, "moved": SitemapIssue.REDIRECTS, "failed": SitemapIssue.UNREACHABLE}


def _page_findings(survey: SitemapSurvey) -> Iterator[SitemapFinding]:
    sampled = [page for page in survey.sampled if page.kind not in ("unavailable", "forbidden")]
    for kind, issue in _KINDS.items():
        cases = (IssueExample(page.url, page.detail) for page in sampled if page.kind == kind)
        yield from findings_for(issue, cases, of=len(sampled))
    parsed = [(page, page.document) for page in sampled if page.document is not None]
    noindex = (IssueExample(page.url, "noindex") for page, document in parsed if document.robots.noindex)
    yield from findings_for(SitemapIssue.NOINDEX, noindex, of=len(sampled))
    others = ((page.url, _other_canonical(page)) for page in sampled)
    moved = (IssueExample(url, f"canonical {other}") for url, other in others if other)
    yield from findings_for(SitemapIssue.CANONICAL, moved, of=len(sampled))


def _other_canonical(page: SurveyedPage) -> str | None:
    """Return the canonical URL of a page if it is another URL."""
    if page.document is None or page.document.canonical is None:
        return None
    wanted = canonical(page.document.canonical)
    return wanted if wanted is not None and wanted != canonical(page.url) else None


def _missing_findings(survey: SitemapSurvey) -> Iterator[SitemapFinding]:
    """Report pages that exist, are indexable and canonical, but are not listed."""
    existing = [
        page
        for page in survey.probed
        if page.document is not None and not page.document.robots.noindex and _other_canonical(page) is None
    ]
    cases = [IssueExample(page.url, f"linked from {survey.candidates[page.url]} pages") for page in existing]
    listed = {canonical(one.entry.url) for one in survey.entries}
    probed = {page.url for page in survey.probed}
    stored = [url for url in survey.known if url not in listed and url not in probed]
    cases += [IssueExample(url, "stored in the collection") for url in stored]
    # Extrapolate the share of probed pages that exist to all other linked pages.
    unprobed = [url for url in survey.candidates if url not in probed and url not in survey.known]
    share = len(existing) / len(survey.probed) if survey.probed else 0.0
    count = len(cases) + round(share * len(unprobed))
    if cases:
        yield SitemapFinding(SitemapIssue.MISSING, count, len(listed) + count, tuple(cases[:MAX_EXAMPLES]))
