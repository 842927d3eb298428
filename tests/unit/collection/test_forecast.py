"""Forecasts from the files of a collection: whole, sampled, and of one page."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.collection import explain
from evercrawl.collection.explain import page_forecast
from evercrawl.collection.forecast import collection_freshness, plan_revisits, revisit_status, take_sample
from evercrawl.collection.runs import savings
from evercrawl.core.revisit.rate_estimate import SiteEstimate
from evercrawl.core.revisit.visit_schedule import SiteModel, hub_of, named_schedule, site_model_bytes
from evercrawl.model.page import Batch, CompletedVisit, NewPage
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.report import PageForecast
from evercrawl.model.settings import RevisitSettings, StoreSettings
from evercrawl.model.time import DAY_US, from_us
from tests.contract.store_values import NOON_US, a_page, a_site, a_version, a_visit

PAGES = 40
VISITS = 12
STEP_DAYS = 5
SETTINGS = RevisitSettings()
NOW_US = NOON_US + VISITS * STEP_DAYS * DAY_US
NOW = from_us(NOW_US)
FAST, GONE, MOVED, NEW = 1, 38, 39, 40
"""Pages by number: always changing, gone, redirecting, never visited."""


def visits_of(page: NewPage, policy: str) -> list[CompletedVisit]:
    schedule, outlook = named_schedule(policy), SiteModel()
    state, version, made = None, 0, []
    for turn in range(VISITS):
        at_us = NOON_US + turn * STEP_DAYS * DAY_US
        changed = turn > 0 and page.id == FAST
        state, _ = schedule.after_visit(state, outlook, hub=hub_of(page.url), now=at_us / DAY_US, changed=changed)
        visit = a_visit(page, at_us=at_us, due_us=at_us + 9 * DAY_US, seq=0 if turn else page.seq, rate_estimate=state)
        if changed or not turn:
            version += 1
            body = f"{page.id}/{version}".encode()
            visit = visit._replace(version=a_version(version, body=body), wire_bytes=345)
        else:
            visit = visit._replace(outcome=Outcome.UNCHANGED, reason=Reason.NOT_MODIFIED, status=304, wire_bytes=0)
        made.append(visit)
    return made


def ended(visit: CompletedVisit) -> CompletedVisit:
    if visit.page_id == GONE:
        return visit._replace(outcome=Outcome.ERROR, reason=Reason.GONE, status=410, due_us=None)
    if visit.page_id == MOVED:
        return visit._replace(outcome=Outcome.FETCHED, reason=Reason.REDIRECT, status=301)
    return visit


async def fill(folder: Path, policy: str) -> None:
    store = SqliteStore(folder, StoreSettings(shards=8))
    shard = await store.open_shard(0)
    epoch = (await shard.claim()).epoch
    pages = [a_page(number) for number in range(1, PAGES + 1)]
    await shard.commit(epoch, Batch(sites={1: a_site()}, new_pages=pages))
    logs = [visits_of(page, policy) for page in pages if page.id != NEW]
    for turn in range(VISITS):
        made = [log[turn] for log in logs]
        await shard.commit(epoch, Batch(visited=[ended(v) for v in made] if turn == VISITS - 1 else made))
    counted = SiteEstimate(changes_found=8, changes_announced=6, announcements_checked=8, announcements_false=2)
    estimate = counted._replace(recall=0.9, polled=NOW_US / DAY_US - 1.0, has_signal=True)
    outlook = SiteModel(estimate, false_validators=1)
    memories = {(1, "freshness"): site_model_bytes(outlook), (0, "budget"): b"[3.5,1.0,1.0]"}
    await shard.commit(epoch, Batch(site_states=memories if policy == "optimal" else {}))


@pytest.fixture(params=["optimal", "stormcrawler", "uniform"])
def policy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def reader(tmp_path: Path, policy: str) -> StateReader:
    asyncio.run(fill(tmp_path, policy))
    return StateReader(tmp_path)


def settings_for(policy: str, budget: float | None = None) -> RevisitSettings:
    return replace(SETTINGS, policy=policy, budget=budget)


def habits(reader: StateReader, policy: str, number: int) -> PageForecast | None:
    with reader.shard(0) as state:
        page = state.page(a_page(number).key)
        assert page is not None
        return page_forecast(reader, state, page, settings_for(policy), now=NOW)


def test_without_a_budget_other_shards_are_not_counted(
    reader: StateReader, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(explain, "_count_pages")
    assert habits(reader, policy, FAST) is not None


def test_freshness_excludes_gone_pages_and_counts_missing_ones(reader: StateReader, policy: str) -> None:
    found = collection_freshness(reader, settings_for(policy), now=NOW)
    assert (found.pages, found.without_copy, found.sampled) == (PAGES - 2, 1, PAGES - 2)
    assert 0.5 < found.freshness < found.of_copies < 1.0
    assert 0.0 < found.uncertainty < 0.2
    assert [site.site for site in found.sites] == ["https://s1.example"]


def test_a_sample_is_scaled_to_the_collection(reader: StateReader, policy: str) -> None:
    some = take_sample(reader, now_us=NOW_US, policy=policy, limit=10)
    assert some.share == pytest.approx(0.25)
    assert len(some.pages) <= 10
    assert take_sample(reader, now_us=NOW_US, policy=policy, limit=PAGES).share == 1.0


def test_savings_are_counted_from_the_log(reader: StateReader) -> None:
    saved = savings(reader, now_us=NOW_US)
    answers = (PAGES - 2) * (VISITS - 1) - 2
    assert saved.not_modified == answers
    assert saved.not_modified_bytes == answers * 345
    assert saved.not_due == PAGES - 2


def test_a_plan_keeps_its_budget(reader: StateReader, policy: str) -> None:
    plan = plan_revisits(reader, settings_for(policy), budget=3.0, now=NOW)
    assert plan.policy == policy
    assert plan.budget_per_day == 3.0
    assert 0.0 < plan.requests_per_day <= 3.0
    assert 0.3 < plan.expected_freshness < 1.0
    assert plan.without_copy == 1
    assert plan.first[0].url == a_page(NEW).url
    assert plan.first[0].value_days is None
    assert 1 <= plan.pages_due <= PAGES
    more = plan_revisits(reader, settings_for(policy), budget=30.0, now=NOW)
    assert more.expected_freshness >= plan.expected_freshness


def test_without_a_budget_the_settings_apply(reader: StateReader, policy: str) -> None:
    assert plan_revisits(reader, settings_for(policy, 3.0), budget=None, now=NOW).budget_per_day == 3.0
    free = plan_revisits(reader, settings_for(policy), budget=None, now=NOW)
    assert free.budget_per_day is None
    assert free.requests_per_day > 0.0


def test_the_forecast_of_a_page_is_explained(reader: StateReader, policy: str) -> None:
    fast, slow = habits(reader, policy, FAST), habits(reader, policy, 2)
    assert fast is not None
    assert slow is not None
    assert fast.rate_text.startswith("changes about every ")
    assert fast.rate_text.endswith("; 11 changes seen in 12 visits")
    assert slow.rate_text.startswith("no change seen in 12 visits; assumed to change about every ")
    assert fast.changes_per_day > 3 * slow.changes_per_day
    assert fast.probability_current < slow.probability_current
    assert slow.next_visit is not None
    assert slow.next_visit - NOW == timedelta(days=4)
    assert f"before {slow.next_visit:%Y-%m-%d}" in slow.next_visit_text
    assert habits(reader, policy, NEW) is None
    moved = habits(reader, policy, MOVED)
    assert moved is not None


@pytest.mark.parametrize("policy", ["optimal"])
def test_announcements_and_false_validators_are_reported(reader: StateReader, policy: str) -> None:
    found = habits(reader, policy, 2)
    assert found is not None
    assert found.false_validators == 1
    told = found.announcements
    assert told is not None
    assert (told.trusted, told.recall, told.pending, told.last_announced) == (True, 0.75, 0, None)
    assert (told.false_share, told.changes_found, told.changes_announced) == (0.25, 8, 6)
    assert told.last_poll == NOW - timedelta(days=1)


@pytest.mark.parametrize("policy", ["optimal"])
def test_the_threshold_of_the_last_run_is_used(reader: StateReader, policy: str) -> None:
    assert revisit_status(reader, settings_for(policy, 50.0), pages=PAGES).threshold_days == 3.5
    assert revisit_status(reader, settings_for(policy), pages=PAGES).threshold_days == 0.25


def test_an_empty_collection_has_a_forecast_too(tmp_path: Path) -> None:
    empty = StateReader(tmp_path)
    assert collection_freshness(empty, SETTINGS, now=NOW).pages == 0
    assert plan_revisits(empty, SETTINGS, budget=10.0, now=NOW).requests_per_day == 0.0
    assert savings(empty, now_us=NOW_US).not_modified == 0
