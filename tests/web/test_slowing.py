"""A site is slowed down from its page, by everybody who may, and nobody else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from evercrawl.config import read_settings
from evercrawl.web.auth import AccessScope
from evercrawl.web.route import API
from evercrawl.web.serve import ServeOptions
from tests.web.conftest import Interface, closed, opened

SITE = "https://harbour.example"


@pytest.fixture
def own(story: Path, tmp_path: Path) -> Iterator[Interface]:
    """A copy of the collection, for tests that change something."""
    shutil.copytree(story, tmp_path / "own.evercrawl", ignore=shutil.ignore_patterns("web.sqlite*"))
    interface = opened(tmp_path / "own.evercrawl", ServeOptions(port=0))
    yield interface
    closed(interface)


def _rules(web: Interface) -> tuple[str, ...]:
    return read_settings(web.service.state.path).settings.pace.overrides


def test_a_site_is_slowed_down_and_reset(own: Interface) -> None:
    page = own.operator.get("/site", params={"name": SITE}).text
    assert 'type="range"' in page
    assert 'min="2"' in page, "never faster than the Crawl-delay"
    assert "Reset to usual pace" not in page
    form = {"name": SITE, "gap": "45", "csrf": own.csrf}
    answer = own.operator.post("/do/slow-site", data=form)
    assert answer.status_code == 303
    assert _rules(own) == (f"{SITE} 45s",)
    page = own.operator.get(answer.headers["location"]).text
    assert "at least 45 s between" in page
    assert "At most one request every 45 s" in page
    assert own.operator.get("/site.json", params={"name": SITE}).json()["slowdown"]["gap_s"] == 45
    why = own.operator.get("/why", params={"url": f"{SITE}/page/1"}).text
    assert "Slowed down by you" in why
    own.operator.post("/do/undo-slow-site", data={"name": SITE, "csrf": own.csrf})
    assert _rules(own) == ()
    actions = [line.what for line in own.service.auth.audit_log()]
    assert {"slow-site", "undo-slow-site"} <= set(actions)


def test_programs_need_a_token_that_may_operate(own: Interface) -> None:
    wish, path = {"gap": 60}, f"{API}/sites/{quote(SITE, safe='')}/delay"
    assert own.anybody.put(path, json=wish).status_code == 401
    assert own.with_token(AccessScope.READ).put(path, json=wish).status_code == 403
    assert own.operator.post("/do/slow-site", data={"name": SITE, "gap": "60"}).status_code == 403, "no form of ours"
    assert _rules(own) == ()
    answer = own.with_token(AccessScope.OPERATE).put(path, json=wish)
    assert (answer.status_code, answer.json()["delay_s"]) == (200, 60)


@pytest.mark.parametrize(
    ("name", "gap", "status"),
    [(SITE, "0", 422), (SITE, "86401", 422), (SITE, "-5", 422), ("https://unknown.example", "5", 404)],
)
def test_invalid_delays_are_refused(own: Interface, name: str, gap: str, status: int) -> None:
    form = {"name": name, "gap": gap, "csrf": own.csrf}
    assert own.operator.post("/do/slow-site", data=form).status_code == status
    assert _rules(own) == ()
