"""crawl.log of a collection, of a site, and for a site's owner, who sees no page of others."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest

from evercrawl.cli.main import run
from evercrawl.web.auth import AccessScope
from tests.web.conftest import Interface

SITE = "https://harbour.example"


def _log(web: Interface, **asked: str) -> list[list[str]]:
    answer = web.operator.get("/crawl.log", params=asked)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == 'attachment; filename="crawl.log"'
    return [line.split() for line in answer.text.splitlines()]


def test_every_visit_is_a_line_in_time_order(web: Interface) -> None:
    lines = _log(web)
    assert {len(line) for line in lines} == {12}
    moments = [line[8] for line in lines]
    assert moments == sorted(moments)
    events = web.operator.get("/api/v1/events").text.splitlines()
    assert len(lines) == len(events)


def test_the_log_of_a_site_continues_where_a_portion_ended(web: Interface) -> None:
    lines = _log(web, site=SITE)
    assert lines
    assert all(line[3].startswith(f"{SITE}/") for line in lines)
    assert lines == [line for line in _log(web) if line[3].startswith(f"{SITE}/")]
    first = _log(web, site=SITE, limit="7")
    begin = re.sub(r"(....)(..)(..)(..)(..)(..).*", r"\1-\2-\3T\4:\5:\6Z", first[-1][8])
    rest = _log(web, site=SITE, since=begin)
    assert {tuple(line) for line in first + rest} == {tuple(line) for line in lines}
    assert _log(web, site=SITE, until="2001-01-01") == []


def test_the_log_needs_read_access(web: Interface) -> None:
    assert web.anybody.get("/crawl.log").status_code in (303, 401)
    assert web.with_token(AccessScope.READ).get("/crawl.log", params={"limit": 1}).status_code == 200
    assert web.operator.get("/crawl.log", params={"site": "https://unknown.example"}).status_code == 404
    assert web.operator.get("/crawl.log", params={"since": "never"}).status_code == 400


def test_an_owner_sees_only_the_log_of_the_site(web: Interface) -> None:
    path = web.operator.get("/load.json", params={"name": SITE}).json()["owner_path"]
    page = web.anybody.get(path).text
    link = re.search(r'href="(/owner/[^"]+/crawl\.log[^"]*)"', page)
    assert link is not None
    answer = web.anybody.get(link[1].replace("&amp;", "&"))
    assert answer.status_code == 200
    lines = [line.split() for line in answer.text.splitlines()]
    assert len(lines) == len(_log(web, site=SITE))
    assert all(line[3].startswith(f"{SITE}/") for line in lines)
    assert all(line[5] == "-" or line[5].startswith(f"{SITE}/") for line in lines)
    other = link[1].partition("?")[0] + f"?name={quote('https://council.example', safe='')}"
    assert web.anybody.get(other).status_code == 403
    both = f"{link[1]}&site={quote('https://council.example', safe='')}".replace("&amp;", "&")
    assert web.anybody.get(both).status_code == 400


@pytest.mark.parametrize("path", [f"/site?name={SITE}", f"/load?name={SITE}", "/run?id=0"])
def test_pages_link_to_the_log(web: Interface, path: str) -> None:
    assert "/crawl.log?" in web.operator.get(path).text


def test_the_command_prints_the_same_log(web: Interface, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["-C", str(web.service.state.path), "log", SITE]
    assert run(where) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == _log(web, site=SITE)
    assert run([*where, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["url"] for row in rows[:3]] == [line[3] for line in _log(web, site=SITE, limit="3")]
    assert run([*where[:3], "https://unknown.example"]) == 2
