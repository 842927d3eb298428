"""The web interface on a collection in PostgreSQL: every screen, and the workers of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evercrawl.web.auth import AccessScope
from evercrawl.web.route import API
from evercrawl.web.serve import ServeOptions
from evercrawl.web.views import VIEWS
from tests.e2e.test_cli import Place
from tests.e2e.test_websub import wait_for
from tests.postgres_server import PostgresServer
from tests.web.conftest import Interface, closed, opened
from tests.worlds.demo_web import DemoWeb, serving

NOT_THERE = {"run", "alert"}
"""Views of something that this collection does not have."""


@pytest.fixture
def crawled(tmp_path: Path, postgres: PostgresServer) -> Iterator[tuple[Place, Interface]]:
    web = DemoWeb()
    with serving(web) as port:
        place = Place(tmp_path, web, port)
        dsn = f"{postgres.dsn}?namespace={postgres.new_namespace()}"
        place.crawl(f"{place.site}/", "--store", dsn)
        interface = opened(tmp_path / "site.evercrawl", ServeOptions(port=0))
        yield place, interface
        closed(interface)


def test_every_screen_works_with_postgres(crawled: tuple[Place, Interface]):
    place, web = crawled
    values = {"url": f"{place.site}/", "name": place.site}
    for view in VIEWS:
        if view.name in NOT_THERE:
            continue
        params = {one.name: values[one.name] for one in view.parameters if one.required}
        answer = web.operator.get(view.path, params=params)
        assert answer.status_code == 200, (view.name, answer.text[:400])
    found = web.operator.get("/search.json?q=albatross").json()["found"]
    assert found["total"] == sum(one["count"] for one in found["facets"]["kinds"])
    assert web.operator.get("/cluster.json").json()["workers"] == []
    log = web.operator.get("/crawl.log", params={"site": place.site}).text
    assert f" {place.site}/ " in log
    assert log == web.operator.get("/crawl.log").text


def test_a_worker_is_listed_and_stopped(crawled: tuple[Place, Interface]):
    place, web = crawled
    process = place.start("watch", *place.flags)
    try:
        wait_for(lambda: web.operator.get("/cluster.json").json()["workers"])
        (worker,) = web.operator.get("/cluster.json").json()["workers"]
        assert worker["draining"] is False
        wait_for(lambda: web.operator.get("/cluster.json").json()["owned"] > 0)
        assert worker["id"][:8] in web.operator.get("/cluster").text
        reader = web.with_token(AccessScope.READ)
        assert reader.delete(f"{API}/workers/all").status_code == 403
        form = {"worker": "0000-nobody", "csrf": web.csrf}
        assert web.operator.post("/do/drain-worker", data=form).status_code == 404
        form = {"worker": worker["id"], "csrf": web.csrf}
        assert web.operator.post("/do/drain-worker", data=form).status_code == 303
        process.communicate(timeout=60)
        assert web.operator.get("/cluster.json").json()["workers"] == []
    finally:
        process.kill()
        process.communicate()
