"""Compare change detection on a living site with the truth over weeks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.core.change.change_history import PageChangeHistory, SiteChangeHistory
from evercrawl.core.change.grouping import EditGroup, group_changes
from evercrawl.core.change.held_changes import add_held, has_to_wait, settle_held
from evercrawl.core.change.learning import classify_visit, learn_page
from evercrawl.core.change.snapshot import Snapshot, snapshot_html
from evercrawl.model.change import NO_CHANGE, Change
from evercrawl.model.time import to_us
from evercrawl.testing.site_plan import uniform
from evercrawl.testing.virtual_time import EPOCH
from tests.worlds.living.content import SECONDS_A_DAY
from tests.worlds.living.site import LivingResponse, LivingSite

VISITING_HOURS_S = 80_000.0
"""Each page is visited once a day, at one of these times."""
DAYS_OF_A_GROUP = 2
"""An edit of the template is visible on all pages within this many days."""


class Seen(NamedTuple):
    """A visit: the verdict and the truth."""

    url: str
    day: int
    change: Change
    has_content_changed: bool
    has_template_changed: bool


@dataclass(slots=True)
class DetectionReport:
    """Results of watching a site."""

    seen: list[Seen] = field(default_factory=list)
    site_bytes: int = 0
    page_bytes: int = 0

    @property
    def quiet(self) -> int:
        """Visits without a change of content."""
        return sum(not visit.has_content_changed for visit in self.seen)

    @property
    def false_alarms(self) -> int:
        """Visits without a change of content that were judged as one."""
        return sum(visit.change.changed and not visit.has_content_changed for visit in self.seen)

    @property
    def later_false_alarms(self) -> int:
        """False alarms from the third visit to each page on."""
        later = [visit for visit in self.seen if visit.day > 1]
        return sum(visit.change.changed and not visit.has_content_changed for visit in later)

    @property
    def edits(self) -> int:
        """Visits that found a change of content."""
        return sum(visit.has_content_changed for visit in self.seen)

    @property
    def missed(self) -> int:
        """Changes of content that were missed."""
        return sum(visit.has_content_changed and not visit.change.changed for visit in self.seen)

    def groups_at(self, day: int) -> list[EditGroup]:
        """Return the groups of changes within two days that contain most pages with the template change."""
        days = range(day, day + DAYS_OF_A_GROUP)
        visits = [visit for visit in self.seen if visit.day in days]
        edited = {visit.url for visit in visits if visit.has_template_changed}
        groups = group_changes((visit.url, visit.change) for visit in visits)
        return [group for group in groups if 2 * len(edited & set(group.pages)) > len(edited)]


def run_detector(site: LivingSite, *, days: int) -> DetectionReport:
    """Visit every page once a day, judge each visit as a crawl does, and compare it with the truth."""
    report, memory = DetectionReport(), SiteChangeHistory()
    pages: dict[str, PageChangeHistory] = {}
    last: dict[str, tuple[LivingResponse, Snapshot]] = {}
    for day, url, at_s in _visits(site, days):
        memory = _settle(report, memory, EPOCH + timedelta(seconds=at_s))
        answer = site.answer(url, at_s)
        snapshot = snapshot_html(answer.html)
        if url not in last:
            memory, pages[url] = learn_page(snapshot, memory, page_url=url), PageChangeHistory()
        else:
            before, snapshot_before = last[url]
            change = NO_CHANGE
            if before.html == answer.html:
                memory = memory.after_unchanged(pages[url])
            else:
                change, pages[url], memory, held = classify_visit(
                    snapshot_before,
                    snapshot,
                    pages[url],
                    memory,
                    now=EPOCH + timedelta(seconds=at_s),
                    page_url=url,
                    visit=day + 1,
                )
                if has_to_wait(change, held, memory):
                    held = held._replace(page_id=len(report.seen), at_us=to_us(EPOCH + timedelta(seconds=at_s)))
                    memory = add_held(memory, held)
            truth = before.content != answer.content, before.edition != answer.edition
            report.seen.append(Seen(url, day, change, *truth))
        last[url] = answer, snapshot
    memory = _settle(report, memory, EPOCH + timedelta(days=days), everything=True)
    report.site_bytes = len(memory.to_bytes())
    report.page_bytes = max(len(page.to_bytes()) for page in pages.values())
    return report


def _settle(
    report: DetectionReport, memory: SiteChangeHistory, now: datetime, *, everything: bool = False
) -> SiteChangeHistory:
    """Replace the verdicts that waited for other pages."""
    memory, settled = settle_held(memory, now=now, everything=everything)
    for verdict in settled:
        report.seen[verdict.page_id] = report.seen[verdict.page_id]._replace(change=verdict.change)
    return memory


def _visits(site: LivingSite, days: int) -> Iterator[tuple[int, str, float]]:
    """Yield day, page and moment of every visit, in a different order each day."""
    for day in range(days):
        moments = {url: uniform(site.key, url, day) for url in site.urls}
        for url in sorted(moments, key=moments.__getitem__):
            yield day, url, day * SECONDS_A_DAY + moments[url] * VISITING_HOURS_S
