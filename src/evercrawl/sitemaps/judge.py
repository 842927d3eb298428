"""Does a sitemap deserve to be believed? The judgement of a survey, as a search engine would make it.

Dates are held against three witnesses, the best that is there: the collection's own history of the page, the
date of change that the page itself states, and the server's Last-Modified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from evercrawl.collection.stored_pages import StoredPage, seen_until
from evercrawl.core.digest import text_digest
from evercrawl.core.faults import http_date
from evercrawl.core.sitemap.address import is_in_scope
from evercrawl.core.sitemap.date import moment_of
from evercrawl.core.sitemap.write import MOST_BYTES, MOST_URLS
from evercrawl.core.url import canonical
from evercrawl.model.sitemap import SitemapEntry, SitemapType
from evercrawl.model.time import from_us
from evercrawl.sitemaps.finding import MOST_EXAMPLES, Example, Fault, Finding, finding, score_of
from evercrawl.sitemaps.survey import Listed, PageSeen, Survey

LONGEST_URL = 2048
LEAST_EQUAL = 5
"""Fewer dates that are all the same may well be true."""
AHEAD = timedelta(hours=1)
"""A clock may be wrong by so much; a date alone may be ahead by its day."""
SLACK = timedelta(days=1)
"""Two dates this near say the same: zones, and the time between a change and its publication."""
JUST_MADE = timedelta(minutes=2)
"""A Last-Modified this near to the answer says when the answer was made, not when the page changed."""
A_DAY = timedelta(days=1)
MOST_HELD = 2000
"""Dates that are held against a witness; a collection's history of a page costs some milliseconds."""

History = Callable[[str], StoredPage | None]
"""URL -> what a collection knows of the page."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Score, findings (the costliest first) and what they rest on."""

    score: int
    findings: tuple[Finding, ...]
    files: int
    entries: int
    dated: int
    sampled: int
    witnessed: int
    """Dates that could be held against something."""
    requests: int


def judge(survey: Survey, history: History | None = None) -> Judgement:
    """The judgement of a survey; `history` gives what a collection knows."""
    entries = [one.entry for one in survey.entries]
    dated = [entry for entry in entries if entry.lastmod is not None]
    witnessed, false, old = _dates_held(survey, history)
    findings = [
        *_of_files(survey),
        *_of_entries(survey),
        *_of_dates(survey, entries, dated),
        *(() if witnessed >= LEAST_EQUAL and not false and not old else _equal(dated)),
        *finding(Fault.FALSE_DATES, false, of=witnessed),
        *finding(Fault.OLD_DATES, old, of=witnessed),
        *_of_pages(survey),
        *_missing(survey),
    ]
    findings.sort(key=lambda one: -one.cost)
    return Judgement(
        score_of(findings),
        tuple(findings),
        len(survey.files),
        len(entries),
        len(dated),
        len(survey.seen),
        witnessed,
        survey.requests,
    )


# Files and entries


def _of_files(survey: Survey) -> Iterator[Finding]:
    usable = [file for file in survey.files if file.sitemap.type is not SitemapType.UNKNOWN]
    if not usable:
        cases = [Example(file.url, file.sitemap.error or "") for file in survey.files]
        yield from finding(Fault.NO_SITEMAP, cases or [Example(survey.site, "none was found")], of=1)
        return
    broken = [Example(file.url, file.sitemap.error) for file in survey.files if file.sitemap.error is not None]
    yield from finding(Fault.BROKEN, broken, of=len(survey.files))
    yield from finding(Fault.LIMITS, _beyond(survey), of=len(survey.files))


def _beyond(survey: Survey) -> Iterator[Example]:
    for file in survey.files:
        if len(file.sitemap.entries) > MOST_URLS:
            yield Example(file.url, f"{len(file.sitemap.entries):,} entries; {MOST_URLS:,} are allowed")
        if file.size > MOST_BYTES:
            yield Example(file.url, f"{file.size:,} bytes; {MOST_BYTES:,} are allowed")
    longest = max(survey.entries, key=lambda one: len(one.entry.url), default=None)
    if longest is not None and len(longest.entry.url) > LONGEST_URL:
        yield Example(longest.source, f"a URL of {len(longest.entry.url):,} characters")


def _of_entries(survey: Survey) -> Iterator[Finding]:
    total = len(survey.entries)
    stray = (Example(one.entry.url, f"in {one.source}") for one in survey.entries if not _may_speak(one))
    yield from finding(Fault.WRONG_HOST, stray, of=total)
    counts = Counter(canonical(one.entry.url) or one.entry.url for one in survey.entries)
    twice = (Example(url, f"{count} times") for url, count in counts.items() if count > 1)
    yield from finding(Fault.DUPLICATES, twice, of=total)
    forbidden = (Example(url, "robots.txt forbids it") for url in survey.forbidden)
    yield from finding(Fault.DISALLOWED, forbidden, of=total)


def _may_speak(listed: Listed) -> bool:
    return is_in_scope(listed.source, listed.entry.url)


# Dates


def _of_dates(survey: Survey, entries: list[SitemapEntry], dated: list[SitemapEntry]) -> Iterator[Finding]:
    unreadable = [
        Example(file.url, repr(text)[:100])
        for file in survey.files
        if file.sitemap.type is not SitemapType.INDEX
        for text in file.unreadable
    ]
    yield from finding(Fault.UNREADABLE_DATES, unreadable, of=len(entries))
    undated = len(entries) - len(dated) - len(unreadable)
    if undated > 0:
        without = [Example(entry.url, "") for entry in entries if entry.lastmod is None][:undated]
        yield from finding(Fault.NO_DATES, without, of=len(entries))
    ahead = (Example(one.url, _said(one.lastmod)) for one in dated if _is_ahead(one.lastmod, survey.now))
    yield from finding(Fault.FUTURE_DATES, ahead, of=len(dated))


def _is_ahead(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment > now + (A_DAY if moment.time() == time.min else AHEAD)


def _equal(dated: list[SitemapEntry]) -> Iterator[Finding]:
    """Equal dates; asked only where no witnesses confirm them."""
    moments = Counter(entry.lastmod for entry in dated)
    if len(dated) >= LEAST_EQUAL and len(moments) == 1:
        cases = [Example(entry.url, _said(entry.lastmod)) for entry in dated]
        yield from finding(Fault.EQUAL_DATES, cases, of=len(dated))


def _said(moment: datetime | None) -> str:
    return "" if moment is None else f"lastmod {_shown(moment)}"


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}" if moment.time() == time.min else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _dates_held(survey: Survey, history: History | None) -> tuple[int, list[Example], list[Example]]:
    """How many dates could be held against a witness, and those that are false and too old."""
    said = {one.entry.url: one.entry.lastmod for one in survey.entries if one.entry.lastmod is not None}
    seen = {page.url: page for page in survey.seen}
    false: list[Example] = []
    old: list[Example] = []
    witnessed = 0
    held = [*seen, *(url for url in said if url not in seen)][:MOST_HELD]
    for url in held:
        if (lastmod := said.get(url)) is None:
            continue
        stored = history(url) if history is not None else None
        page = seen.get(url)
        verdict = _by_history(lastmod, stored, page)
        if verdict is None and page is not None:
            verdict = _by_word(lastmod, page)
        if verdict is None:
            continue
        witnessed += 1
        kind, detail = verdict
        if kind != "true":
            (false if kind == "false" else old).append(Example(url, f"{_said(lastmod)}, but {detail}"))
    return witnessed, false, old


Verdict = tuple[str, str]
"""`true`, `false` or `old`, and the evidence."""


def _by_history(lastmod: datetime, stored: StoredPage | None, page: PageSeen | None) -> Verdict | None:
    """What the versions that we hold say: a change that we slept through, or one that never was."""
    if stored is None or not stored.versions:
        return None
    latest = lastmod + A_DAY if lastmod.time() == time.min else lastmod
    until = seen_until(stored.versions, stored.visits)
    newest = stored.versions[-1]
    if newest.changed_after_us is not None and from_us(newest.changed_after_us) > latest:
        when = f"between {_shown(from_us(newest.changed_after_us))} and {_shown(from_us(newest.seen_us))}"
        return "old", f"the page changed {when}"
    for kept in stored.versions:
        first, last = from_us(kept.seen_us), from_us(until[kept.version.number])
        if kept is newest and page is not None and page.at is not None and _is_same(stored, page):
            last = page.at
        if first < lastmod and latest <= last:
            return "false", f"the page was the same from {_shown(first)} to {_shown(last)}"
    return _seen_to_come(lastmod, latest, stored)


def _seen_to_come(lastmod: datetime, latest: datetime, stored: StoredPage) -> Verdict | None:
    """A change that we saw come, and whose date fits; the first version came before we looked."""
    for kept in stored.versions:
        after = kept.changed_after_us
        if after is not None and from_us(after) <= latest and lastmod <= from_us(kept.seen_us):
            return "true", ""
    return None


def _is_same(stored: StoredPage, page: PageSeen) -> bool:
    known = stored.versions[-1].version.text_digest
    return known is not None and page.document is not None and text_digest(page.document.text) == known


def _by_word(lastmod: datetime, page: PageSeen) -> Verdict | None:
    """What the page or its server says itself."""
    witness = _witness(page)
    if witness is None:
        return None
    name, moment = witness
    latest = lastmod + A_DAY if lastmod.time() == time.min else lastmod
    if lastmod > moment + SLACK:
        return "false", f"{name} says {_shown(moment)}"
    if latest < moment - SLACK:
        return "old", f"{name} says {_shown(moment)}"
    return "true", ""


def _witness(page: PageSeen) -> tuple[str, datetime] | None:
    """The page's own date of change, else Last-Modified where that is not merely the time of the answer."""
    if page.document is not None and (stated := moment_of(page.document.modified)) is not None:
        return "the page", stated
    sent = http_date(page.date) if page.date else page.at
    said = http_date(page.last_modified) if page.last_modified else None
    if said is None or sent is None or sent - said < JUST_MADE:
        return None
    return "Last-Modified", said


# Pages


_KINDS = {"dead": Fault.DEAD, "moved": Fault.REDIRECTS, "failed": Fault.UNREACHABLE}


def _of_pages(survey: Survey) -> Iterator[Finding]:
    seen = [page for page in survey.seen if page.kind not in ("closed", "forbidden")]
    for kind, fault in _KINDS.items():
        cases = (Example(page.url, page.detail) for page in seen if page.kind == kind)
        yield from finding(fault, cases, of=len(seen))
    hidden = [page for page in seen if page.document is not None and page.document.robots.noindex]
    yield from finding(Fault.NOINDEX, (Example(page.url, "noindex") for page in hidden), of=len(seen))
    elsewhere = (Example(page.url, f"canonical {other}") for page in seen if (other := _elsewhere(page)))
    yield from finding(Fault.CANONICAL, elsewhere, of=len(seen))


def _elsewhere(page: PageSeen) -> str | None:
    """The other URL that a page calls its own."""
    if page.document is None or page.document.canonical is None:
        return None
    wanted = canonical(page.document.canonical)
    return wanted if wanted is not None and wanted != canonical(page.url) else None


def _missing(survey: Survey) -> Iterator[Finding]:
    """Pages that were asked for and are there, indexable and under their own name."""
    there = [
        page
        for page in survey.probed
        if page.document is not None and not page.document.robots.noindex and _elsewhere(page) is None
    ]
    cases = [Example(page.url, f"linked from {survey.candidates[page.url]} pages") for page in there]
    listed = {canonical(one.entry.url) for one in survey.entries}
    asked = {page.url for page in survey.probed}
    seen = [url for url in survey.known if url not in listed and url not in asked]
    cases += [Example(url, "the collection has it") for url in seen]
    # What was asked for stands for all that is linked, not listed and not known otherwise.
    unsure = [url for url in survey.candidates if url not in asked and url not in survey.known]
    share = len(there) / len(survey.probed) if survey.probed else 0.0
    count = len(cases) + round(share * len(unsure))
    if cases:
        yield Finding(Fault.MISSING, count, len(listed) + count, tuple(cases[:MOST_EXAMPLES]))
