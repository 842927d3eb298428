"""A living site on a real server, crawled day after day: versions are the edits of its authors.

`tests/simulation/test_living_site.py` checks more sites for longer, without a server.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import evercrawl
from evercrawl.testing.site_plan import uniform
from tests.e2e.test_cli import Place
from tests.worlds.demo_web import HOSTS, DemoWeb, Reply, serving
from tests.worlds.living.content import SECONDS_A_DAY
from tests.worlds.living.site import LivingResponse, LivingSite

DAYS = 40
PAGES = 20
SEED = 78
MOST_FALSE_ALARMS, MOST_MISSED = 0.01, 0.03


def _answers(site: LivingSite, day: int) -> list[LivingResponse]:
    moments = [(day + 0.9 * uniform("moment", url, day)) * SECONDS_A_DAY for url in site.urls]
    return [site.answer(url, at_s) for url, at_s in zip(site.urls, moments, strict=True)]


def _show(web: DemoWeb, answers: list[LivingResponse]) -> None:
    for page, answer in enumerate(answers):
        web.replies[HOSTS[0], f"/p/{page}"] = Reply(200, answer.html.decode())


@pytest.mark.regression_pin
def test_versions_are_the_edits_of_the_authors(tmp_path: Path) -> None:
    site, web = LivingSite(SEED, pages=PAGES), DemoWeb()
    pages = "".join(f'<li><a href="/p/{page}">{page}</a>' for page in range(PAGES))
    web.replies[HOSTS[0], "/all"] = Reply(200, f"<title>All</title><main><ul>{pages}</ul></main>")
    edits, began = 0, datetime.now(UTC)
    with serving(web) as port:
        place = Place(tmp_path, web, port)
        answers = _answers(site, 0)
        _show(web, answers)
        place.crawl(f"{place.site}/all", "--include", "/p/", "--include", "/all")
        with evercrawl.open(tmp_path / "site.evercrawl", settings=place.settings()) as collection:
            for day in range(1, DAYS):
                before, answers = answers, _answers(site, day)
                _show(web, answers)
                collection.crawl_blocking(refresh=True)
                edits += sum(before[page].content != answers[page].content for page in range(PAGES))
            urls = [f"{place.site}/p/{page}" for page in range(PAGES)]
            kinds = [version.change_class for url in urls for version in collection.history(url).versions[1:]]
            versions = sum(kind != "noise" for kind in kinds)
            groups = collection.change_groups(began)
    quiet = PAGES * (DAYS - 1) - edits
    assert edits > 20
    assert versions <= edits + MOST_FALSE_ALARMS * quiet
    assert versions >= edits - MOST_MISSED * edits
    everywhere = [group for group in groups if len(group.pages) > PAGES / 2]
    edited = [edit for edit in site.template_edits if edit.at_s < (DAYS - 2) * SECONDS_A_DAY]
    assert edited
    assert len(everywhere) == len(edited)
