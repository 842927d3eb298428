"""Tables: sort, filter, columns, paging both ways, CSV and JSON of what is shown."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from typing import Any

import pytest

from evercrawl.web.access_control import RateLimit
from evercrawl.web.views import VIEWS
from tests.web.conftest import Interface
from tests.web.hostile import SITE

TABLES = [view for view in VIEWS if view.table]


def _get(web: Interface, path: str, **params: str) -> Any:
    name = {"name": SITE} if path == "/site" and "name" not in params else {}
    answer = web.operator.get(f"{path}.json", params=params | name)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("view", TABLES, ids=lambda view: view.name)
def test_every_column_sorts_and_pages_in_both_directions(web: Interface, view):
    web.operator.app.rate = RateLimit(burst=1e9, per_s=1e9)
    for column in [one for one in view.columns if one.is_sortable]:
        for sort in (column.name, f"-{column.name}"):
            whole = _get(web, view.path, sort=sort, limit="1000", columns=column.name)[view.table]
            values = [row[column.name] for row in whole]
            known = [one for one in values if one is not None]
            if view.name != "skipped":  # Their reasons are those of today.
                assert known == sorted(known, reverse=sort.startswith("-")), column.name
            read, after, before = [], None, None
            for _ in range(3):
                part = _get(
                    web, view.path, sort=sort, limit="2", columns=column.name, **({"after": after} if after else {})
                )
                read.append(part[view.table])
                before, after = part["previous"], part["next"]
                if after is None:
                    break
            assert [row for part in read for row in part] == whole[: sum(map(len, read))]
            if len(read) > 1:
                back = _get(web, view.path, sort=sort, limit="2", columns=column.name, before=before)
                assert back[view.table] == read[-2]


def test_filters_narrow_and_stay_in_the_url(web: Interface):
    everything = _get(web, "/pages", limit="1000")["pages"]
    good = _get(web, "/pages", status="200", limit="1000")["pages"]
    assert 0 < len(good) <= len(everything)
    assert all(row["status"] == 200 for row in good)
    others = _get(web, "/pages", status="!=200", limit="1000")["pages"]
    assert len(good) + len(others) == len(everything)
    both = _get(web, "/pages", status=">=200 & !=404", url="/page/ & !/page/1", limit="1000")["pages"]
    assert both
    assert all(row["status"] != 404 and "/page/" in row["url"] and "/page/1" not in row["url"] for row in both)
    some = _get(web, "/pages", url="HARBOUR.example/page/", visits=">1", sort="-visits", limit="3")
    assert some["pages"]
    assert all("harbour.example/page/" in row["url"] for row in some["pages"])
    page = unescape(web.operator.get("/pages", params={"status": "200", "sort": "-visits", "limit": "1"}).text)
    following = re.search(r'rel="next" href="([^"]+)"', page)
    assert following is not None
    for part in ("status=200", "sort=-visits", "limit=1", "after="):
        assert part in following[1]
    one_site = _get(web, "/pages", site="=https://harbour.example", limit="1000", columns="url,site")["pages"]
    assert {row["site"] for row in one_site} == {"https://harbour.example"}


@pytest.mark.parametrize("text", ["%", "_", "\\", "'", '"; drop table page; --', "{}", ":shard", "%(x)s", "é"])
def test_filters_take_every_character_literally(web: Interface, text: str):
    for view in TABLES:
        asked = {one.name for one in view.parameters}
        kinds = ("text", "page", "site", "pattern")
        texts = [one.name for one in view.columns if one.name in asked and one.is_filterable and one.kind in kinds]
        for name in texts:
            rows = _get(web, view.path, **{name: f"~{text}"}, columns=name)[view.table]
            assert all(text.lower() in (row[name] or "").lower() for row in rows), (view.name, name)


def test_csv_and_json_have_exactly_what_is_shown(web: Interface):
    params = {"columns": "url,status,last_visit", "sort": "-last_visit", "limit": "5", "status": "200"}
    answer = web.operator.get("/pages.csv", params=params)
    assert answer.headers["content-type"].startswith("text/csv")
    lines = list(csv.reader(io.StringIO(answer.text)))
    rows = _get(web, "/pages", **params)["pages"]
    assert lines[0] == ["url", "status", "last_visit"]
    assert lines[1:] == [[row["url"], str(row["status"]), row["last_visit"]] for row in rows]
    page = unescape(web.operator.get("/pages", params=params).text)
    assert all(row["url"].partition("://")[2][:60] in page for row in rows)
    assert "/pages.csv?" in page


@pytest.mark.parametrize(
    "query",
    [
        "sort=nothing", "sort=title", "columns=url,nothing", "status=many", "last_visit=whenever", "after=nonsense",
        "after=W251bGwsMCwxXQ&sort=visits", "before=e30", "limit=5000", "visits=1..x",
    ],
)  # fmt: skip
def test_bad_queries_are_refused_with_a_reason(web: Interface, query: str):
    answer = web.operator.get(f"/pages.json?{query}")
    assert answer.status_code == 400, answer.text
    assert answer.json()["detail"]
