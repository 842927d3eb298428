"""Schedules and settings of sites and pages, set from their pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from evercrawl.collection.overrides import PlaceSchedule
from evercrawl.config import read_settings
from evercrawl.core.revisit.user_schedule import describe_schedule
from evercrawl.web.auth import AccessScope
from evercrawl.web.pages.history import next_visit
from evercrawl.web.route import API
from tests.web.conftest import Interface
from tests.web.test_slowing import SITE
from tests.web.test_slowing import own as own

PAGE = f"{SITE}/page/1"


def _schedules(web: Interface) -> dict[str, str | None]:
    return {site.pattern: site.schedule for site in read_settings(web.service.state.path).settings.sites}


def _post(web: Interface, action: str, **fields: str) -> str:
    answer = web.operator.post(f"/do/{action}", data=fields | {"csrf": web.csrf})
    assert answer.status_code == 303, answer.text
    return web.operator.get(answer.headers["location"]).text


def test_a_page_and_its_site_get_schedules(own: Interface) -> None:
    assert "Visits follow what was learned" in own.operator.get("/page", params={"url": PAGE}).text
    page = _post(own, "schedule-page", url=PAGE, schedule="weekdays at 9", zone="Europe/Berlin")
    assert "Your schedule decides: <bdi>weekdays at 09:00 Europe/Berlin</bdi>" in page
    assert "<option selected>Europe/Berlin</option>" in page
    assert 'value="weekdays at 9"' in page
    assert "Keep watching" in page, "nothing crawls now"
    site = _post(own, "schedule-site", name=SITE, schedule="every 10 minutes", zone="Europe/Berlin")
    assert "every 10 minutes" in site
    assert _schedules(own) == {f"{PAGE}$": "weekdays at 9 Europe/Berlin", SITE: "every 10 minutes"}
    why = own.operator.get("/why.json", params={"url": PAGE}).json()["explanation"]
    assert why["schedule"] == f"weekdays at 09:00 Europe/Berlin, set for {PAGE}$"
    other = own.operator.get("/page", params={"url": f"{SITE}/page/2"}).text
    assert "every 10 minutes" in other
    assert f"It is set for <bdi>{SITE}</bdi>" in other
    assert "Your schedule decides" in own.operator.get("/why", params={"url": PAGE}).text
    assert "Visits follow what was learned." in _post(own, "schedule-page", url=PAGE, schedule="", zone="UTC")
    assert _schedules(own) == {f"{PAGE}$": None, SITE: "every 10 minutes"}


def test_programs_set_and_remove_schedules(own: Interface) -> None:
    path = f"{API}/pages/{quote(PAGE, safe='')}/schedule"
    wish = {"schedule": "daily at 6:30"}
    assert own.with_token(AccessScope.READ).put(path, json=wish).status_code == 403
    program = own.with_token(AccessScope.OPERATE)
    assert program.put(path, json=wish).json()["meaning"] == "daily at 06:30 UTC"
    assert [one["place"] for one in program.get(f"{API}/schedules").json()["schedules"]] == [f"{PAGE}$"]
    assert program.delete(path).status_code == 204
    assert program.delete(path).status_code == 404
    for wrong in ({"schedule": "now and then"}, {"schedule": "daily at 9", "zone": "Mars/Base"}):
        assert program.put(path, json=wrong).status_code == 422
    assert _schedules(own) == {f"{PAGE}$": None}


@pytest.mark.parametrize(
    ("key", "value", "shown"), [("priority", "3", 3), ("render", "never", "never"), ("languages", "en, de", None)]
)
def test_other_settings_of_a_site(own: Interface, key: str, value: str, shown: object) -> None:
    program, admin = own.with_token(AccessScope.OPERATE), own.with_token(AccessScope.ADMIN)
    path = f"{API}/sites/{quote(SITE, safe='')}/settings"
    assert program.patch(path, json={"key": key, "value": value}).status_code == 403
    answer = admin.patch(path, json={"key": key, "value": value})
    sites = read_settings(own.service.state.path).settings.sites
    if shown is None:
        assert answer.status_code == 422, "a list has one entry per line"
        return
    assert answer.status_code == 200, answer.text
    assert getattr(sites[0], key) == shown
    assert f'value="{value}' in own.operator.get("/site", params={"name": SITE}).text.replace("&#34;", "")
    assert admin.patch(path, json={"key": key, "value": ""}).status_code == 200
    assert getattr(read_settings(own.service.state.path).settings.sites[0], key) is None
    assert admin.patch(path, json={"key": "nonsense", "value": "1"}).status_code == 422


@pytest.mark.parametrize(
    ("schedule", "learned_hours", "shown_hours"),
    [(None, 30, 30), ("weekdays at 9", 1, 12), ("weekdays at 9", 30, 12), ("weekdays at 9", -1, -1), ("hourly", 30, 1)],
)
def test_the_next_visit_follows_a_new_schedule_at_once(
    schedule: str | None, learned_hours: int, shown_hours: int
) -> None:
    now = datetime(2026, 11, 18, 21, tzinfo=UTC)
    first = now + timedelta(hours=1 if schedule == "hourly" else 12)
    known = None if schedule is None else PlaceSchedule(PAGE, schedule, describe_schedule(schedule), first)
    found = next_visit(now + timedelta(hours=learned_hours), known, now=now)
    assert found == now + timedelta(hours=shown_hours)
