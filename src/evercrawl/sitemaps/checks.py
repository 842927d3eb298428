"""Does a sitemap deserve to be believed? The judgement of a survey, as a search engine would make it.

Dates are urls against three witnesses, the best that is existing: the collection's own history of the page, the
date of change that the page itself states, and the server's Last-Modified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import NamedTuple

from evercrawl.collection.stored_pages import StoredPage, seen_until
from evercrawl.core.digest import text_digest
from evercrawl.core.faults import http_date
from evercrawl.core.sitemap.sitemap_values import is_in_scope, parse_date
from evercrawl.core.sitemap.sitemap_writer import MOST_BYTES, MOST_URLS
from evercrawl.core.url import canonical
from evercrawl.model.sitemap import SitemapEntry, SitemapType
from evercrawl.model.time import from_us
from evercrawl.sitemaps.survey import ListedEntry, SampledPage, SitemapSurvey

MAX_URL_CHARS = 2048
MIN_EQUAL_DATES = 5
"""Fewer dates that are all the same may well be true."""
CLOCK_SKEW = timedelta(hours=1)
"""A clock may be wrong by so much; a date alone may be ahead by its day."""
DATE_TOLERANCE = timedelta(days=1)
"""Two dates this near say the same: zones, and the time between a change and its publication."""
GENERATED_WITHIN = timedelta(minutes=2)
"""A Last-Modified this near to the answer says when the answer was made, not when the page changed."""
ONE_DAY = timedelta(days=1)
MAX_CHECKED_DATES = 2000
"""Dates that are urls against a witness; a collection's history of a page costs some milliseconds."""

History = Callable[[str], StoredPage | None]
"""URL -> what a collection knows of the page."""


DateCheck = tuple[str, str]
"""`true`, `false` or `old`, and the evidence."""
MAX_EXAMPLES = 5
FULL_COST_SHARE = 0.25
"""The share of bad entries at which a fault costs all its points."""
BEST_SCORE = 100


class SitemapIssue(StrEnum):
    """The faults that a check knows; scripts may rely on these names."""

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
    """Points that a fault may cost, and what it means."""

    points: int
    description: str


WEIGHTS = {
    SitemapIssue.NO_SITEMAP: IssueWeight(100, "no sitemap can be read"),
    SitemapIssue.BROKEN: IssueWeight(30, "files that are not well-formed, cut off, or no sitemap at all"),
    SitemapIssue.LIMITS: IssueWeight(20, "files beyond 50,000 URLs or 50 MiB, or URLs beyond 2,048 characters"),
    SitemapIssue.WRONG_HOST: IssueWeight(
        20, "URLs for which this sitemap may not speak: another host, or above its folder"
    ),
    SitemapIssue.DUPLICATES: IssueWeight(5, "URLs that are listed more than once"),
    SitemapIssue.NO_DATES: IssueWeight(10, "entries without lastmod"),
    SitemapIssue.UNREADABLE_DATES: IssueWeight(15, "dates that are no W3C datetime"),
    SitemapIssue.FUTURE_DATES: IssueWeight(15, "dates that lie ahead"),
    SitemapIssue.EQUAL_DATES: IssueWeight(20, "all dates are the same: they say nothing about single pages"),
    SitemapIssue.FALSE_DATES: IssueWeight(35, "dates of changes that were none"),
    SitemapIssue.OLD_DATES: IssueWeight(20, "pages that changed after their date"),
    SitemapIssue.DEAD: IssueWeight(30, "pages that are not existing"),
    SitemapIssue.REDIRECTS: IssueWeight(15, "URLs that only lead elsewhere"),
    SitemapIssue.NOINDEX: IssueWeight(20, "pages that ask not to be indexed"),
    SitemapIssue.CANONICAL: IssueWeight(15, "pages that name another URL as their canonical one"),
    SitemapIssue.DISALLOWED: IssueWeight(20, "pages that robots.txt forbids"),
    SitemapIssue.UNREACHABLE: IssueWeight(10, "pages that could not be had: a server error, or no answer"),
    SitemapIssue.MISSING: IssueWeight(20, "pages that the site links and the sitemap does not list"),
}


class IssueExample(NamedTuple):
    """One case of a fault."""

    url: str
    detail: str


@dataclass(frozen=True, slots=True)
class SitemapFinding:
    """A fault that was found: in how many of how many, and what it costs."""

    issue: SitemapIssue
    count: int
    of: int
    examples: tuple[IssueExample, ...]

    @property
    def cost(self) -> float:
        """Points off; a quarter of bad entries costs all that the fault may cost."""
        share = self.count / self.of if self.of else 1.0
        return WEIGHTS[self.issue].points * min(1.0, share / FULL_COST_SHARE)


def findings_for(issue: SitemapIssue, cases: Iterable[IssueExample], *, of: int) -> list[SitemapFinding]:
    """The finding for these cases, none where existing are none."""
    found = list(cases)
    return [SitemapFinding(issue, len(found), max(of, len(found)), tuple(found[:MAX_EXAMPLES]))] if found else []


def sitemap_score(findings: Iterable[SitemapFinding]) -> int:
    """From 0 to 100; 100: nothing was found."""
    return max(0, round(BEST_SCORE - sum(one.cost for one in findings)))


@dataclass(frozen=True, slots=True)
class SitemapReport:
    """Score, findings (the costliest first) and what they rest on."""

    score: int
    findings: tuple[SitemapFinding, ...]
    files: int
    entries: int
    dated: int
    sampled: int
    verified: int
    """Dates that could be urls against something."""
    requests: int


def check_sitemap(survey: SitemapSurvey, history: History | None = None) -> SitemapReport:
    """The judgement of a survey; `history` gives what a collection knows."""
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
    return SitemapReport(
        sitemap_score(findings),
        tuple(findings),
        len(survey.files),
        len(entries),
        len(dated),
        len(survey.sampled),
        verified,
        survey.requests,
    )


# Files and entries


def _file_findings(survey: SitemapSurvey) -> Iterator[SitemapFinding]:
    usable = [file for file in survey.files if file.sitemap.type is not SitemapType.UNKNOWN]
    if not usable:
        cases = [IssueExample(file.url, file.sitemap.error or "") for file in survey.files]
        yield from findings_for(SitemapIssue.NO_SITEMAP, cases or [IssueExample(survey.site, "none was found")], of=1)
        return
    broken = [IssueExample(file.url, file.sitemap.error) for file in survey.files if file.sitemap.error is not None]
    yield from findings_for(SitemapIssue.BROKEN, broken, of=len(survey.files))
    yield from findings_for(SitemapIssue.LIMITS, _limit_examples(survey), of=len(survey.files))


def _limit_examples(survey: SitemapSurvey) -> Iterator[IssueExample]:
    for file in survey.files:
        if len(file.sitemap.entries) > MOST_URLS:
            yield IssueExample(file.url, f"{len(file.sitemap.entries):,} entries; {MOST_URLS:,} are allowed")
        if file.size > MOST_BYTES:
            yield IssueExample(file.url, f"{file.size:,} bytes; {MOST_BYTES:,} are allowed")
    longest = max(survey.entries, key=lambda one: len(one.entry.url), default=None)
    if longest is not None and len(longest.entry.url) > MAX_URL_CHARS:
        yield IssueExample(longest.source, f"a URL of {len(longest.entry.url):,} characters")


def _entry_findings(survey: SitemapSurvey) -> Iterator[SitemapFinding]:
    total = len(survey.entries)
    unauthorized = (IssueExample(one.entry.url, f"in {one.source}") for one in survey.entries if not _is_authorized(one))
    yield from findings_for(SitemapIssue.WRONG_HOST, unauthorized, of=total)
    counts = Counter(canonical(one.entry.url) or one.entry.url for one in survey.entries)
    repeated = (IssueExample(url, f"{count} times") for url, count in counts.items() if count > 1)
    yield from findings_for(SitemapIssue.DUPLICATES, repeated, of=total)
    forbidden = (IssueExample(url, "robots.txt forbids it") for url in survey.forbidden)
    yield from findings_for(SitemapIssue.DISALLOWED, forbidden, of=total)


def _is_authorized(listed: ListedEntry) -> bool:
    return is_in_scope(listed.source, listed.entry.url)


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
        without = [IssueExample(entry.url, "") for entry in entries if entry.lastmod is None][:undated]
        yield from findings_for(SitemapIssue.NO_DATES, without, of=len(entries))
    ahead = (IssueExample(one.url, _lastmod_text(one.lastmod)) for one in dated if _is_future(one.lastmod, survey.now))
    yield from findings_for(SitemapIssue.FUTURE_DATES, ahead, of=len(dated))


def _is_future(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment > now + (ONE_DAY if moment.time() == time.min else CLOCK_SKEW)


def _equal_dates(dated: list[SitemapEntry]) -> Iterator[SitemapFinding]:
    """Equal dates; probed only where no witnesses confirm them."""
    moments = Counter(entry.lastmod for entry in dated)
    if len(dated) >= MIN_EQUAL_DATES and len(moments) == 1:
        cases = [IssueExample(entry.url, _lastmod_text(entry.lastmod)) for entry in dated]
        yield from findings_for(SitemapIssue.EQUAL_DATES, cases, of=len(dated))


def _lastmod_text(moment: datetime | None) -> str:
    return "" if moment is None else f"lastmod {_date_text(moment)}"


def _date_text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}" if moment.time() == time.min else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _check_dates(survey: SitemapSurvey, history: History | None) -> tuple[int, list[IssueExample], list[IssueExample]]:
    """How many dates could be urls against a witness, and those that are false and too old."""
    lastmods = {one.entry.url: one.entry.lastmod for one in survey.entries if one.entry.lastmod is not None}
    sampled = {page.url: page for page in survey.sampled}
    false: list[IssueExample] = []
    old: list[IssueExample] = []
    verified = 0
    urls = [*sampled, *(url for url in lastmods if url not in sampled)][:MAX_CHECKED_DATES]
    for url in urls:
        if (lastmod := lastmods.get(url)) is None:
            continue
        stored = history(url) if history is not None else None
        page = sampled.get(url)
        verdict = _check_by_history(lastmod, stored, page)
        if verdict is None and page is not None:
            verdict = _check_by_page(lastmod, page)
        if verdict is None:
            continue
        verified += 1
        kind, detail = verdict
        if kind != "true":
            (false if kind == "false" else old).append(IssueExample(url, f"{_lastmod_text(lastmod)}, but {detail}"))
    return verified, false, old


def _check_by_history(lastmod: datetime, stored: StoredPage | None, page: SampledPage | None) -> DateCheck | None:
    """What the versions that we hold say: a change that we slept through, or one that never was."""
    if stored is None or not stored.versions:
        return None
    latest = lastmod + ONE_DAY if lastmod.time() == time.min else lastmod
    until = seen_until(stored.versions, stored.visits)
    newest = stored.versions[-1]
    if newest.changed_after_us is not None and from_us(newest.changed_after_us) > latest:
        when = f"between {_date_text(from_us(newest.changed_after_us))} and {_date_text(from_us(newest.seen_us))}"
        return "old", f"the page changed {when}"
    for kept in stored.versions:
        first, last = from_us(kept.seen_us), from_us(until[kept.version.number])
        if kept is newest and page is not None and page.at is not None and _is_same(stored, page):
            last = page.at
        if first < lastmod and latest <= last:
            return "false", f"the page was the same from {_date_text(first)} to {_date_text(last)}"
    return _matches_change(lastmod, latest, stored)


def _matches_change(lastmod: datetime, latest: datetime, stored: StoredPage) -> DateCheck | None:
    """A change that we saw come, and whose date fits; the first version came before we looked."""
    for kept in stored.versions:
        after = kept.changed_after_us
        if after is not None and from_us(after) <= latest and lastmod <= from_us(kept.seen_us):
            return "true", ""
    return None


def _is_same(stored: StoredPage, page: SampledPage) -> bool:
    known = stored.versions[-1].version.text_digest
    return known is not None and page.document is not None and text_digest(page.document.text) == known


def _check_by_page(lastmod: datetime, page: SampledPage) -> DateCheck | None:
    """What the page or its server says itself."""
    witness = _stated_change(page)
    if witness is None:
        return None
    name, moment = witness
    latest = lastmod + ONE_DAY if lastmod.time() == time.min else lastmod
    if lastmod > moment + DATE_TOLERANCE:
        return "false", f"{name} says {_date_text(moment)}"
    if latest < moment - DATE_TOLERANCE:
        return "old", f"{name} says {_date_text(moment)}"
    return "true", ""


def _stated_change(page: SampledPage) -> tuple[str, datetime] | None:
    """The page's own date of change, else Last-Modified where that is not merely the time of the answer."""
    if page.document is not None and (stated := parse_date(page.document.modified)) is not None:
        return "the page", stated
    sent = http_date(page.date) if page.date else page.at
    lastmods = http_date(page.last_modified) if page.last_modified else None
    if lastmods is None or sent is None or sent - lastmods < GENERATED_WITHIN:
        return None
    return "Last-Modified", lastmods


# Pages


_KINDS = {"dead": SitemapIssue.DEAD, "moved": SitemapIssue.REDIRECTS, "failed": SitemapIssue.UNREACHABLE}


def _page_findings(survey: SitemapSurvey) -> Iterator[SitemapFinding]:
    sampled = [page for page in survey.sampled if page.kind not in ("unavailable", "forbidden")]
    for kind, issue in _KINDS.items():
        cases = (IssueExample(page.url, page.detail) for page in sampled if page.kind == kind)
        yield from findings_for(issue, cases, of=len(sampled))
    hidden = [page for page in sampled if page.document is not None and page.document.robots.noindex]
    yield from findings_for(SitemapIssue.NOINDEX, (IssueExample(page.url, "noindex") for page in hidden), of=len(sampled))
    elsewhere = (IssueExample(page.url, f"canonical {other}") for page in sampled if (other := _other_canonical(page)))
    yield from findings_for(SitemapIssue.CANONICAL, elsewhere, of=len(sampled))


def _other_canonical(page: SampledPage) -> str | None:
    """The other URL that a page calls its own."""
    if page.document is None or page.document.canonical is None:
        return None
    wanted = canonical(page.document.canonical)
    return wanted if wanted is not None and wanted != canonical(page.url) else None


def _missing_findings(survey: SitemapSurvey) -> Iterator[SitemapFinding]:
    """Pages that were probed for and are existing, indexable and under their own name."""
    existing = [
        page
        for page in survey.probed
        if page.document is not None and not page.document.robots.noindex and _other_canonical(page) is None
    ]
    cases = [IssueExample(page.url, f"linked from {survey.candidates[page.url]} pages") for page in existing]
    listed = {canonical(one.entry.url) for one in survey.entries}
    probed = {page.url for page in survey.probed}
    sampled = [url for url in survey.known if url not in listed and url not in probed]
    cases += [IssueExample(url, "the collection has it") for url in sampled]
    # What was probed for stands for all that is linked, not listed and not known otherwise.
    unprobed = [url for url in survey.candidates if url not in probed and url not in survey.known]
    share = len(existing) / len(survey.probed) if survey.probed else 0.0
    count = len(cases) + round(share * len(unprobed))
    if cases:
        yield SitemapFinding(SitemapIssue.MISSING, count, len(listed) + count, tuple(cases[:MAX_EXAMPLES]))
