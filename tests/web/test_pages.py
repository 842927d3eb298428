"""Every page and its twin, and what they say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import timedelta
from pathlib import Path

import pytest
from jinja2 import Environment, PackageLoader

import evercrawl
from evercrawl.collection.runs import publish_progress
from evercrawl.collection.site_list import largest_sites
from evercrawl.model import __version__
from evercrawl.model.run import Progress
from evercrawl.web.access_control import RateLimit
from evercrawl.web.auth import AccessScope
from evercrawl.web.openapi import openapi_document
from evercrawl.web.pages import overview
from evercrawl.web.route import API
from evercrawl.web.serve import ServeOptions
from evercrawl.web.views import ACTIONS, VIEWS
from tests.unit.collection.exchange.archives import SITE, day, html, packed, response
from tests.web.conftest import Interface, closed, opened
from tests.web.hostile import SCRIPT
from tests.web.inputs import HOSTILE, query_of, resource_of, tricky_paths, urls_for


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_page_has_json_and_an_api_path(web: Interface, view):
    page = web.operator.get(view.path + query_of(view))
    assert page.status_code == 200, page.text[:500]
    assert page.headers["content-type"].startswith("text/html")
    twin = web.operator.get(view.json_path + query_of(view)).json()
    assert twin["schema"] == f"evercrawl.{view.name}/1"
    if view.resource:
        assert web.operator.get(resource_of(view)).json().keys() == twin.keys()
    accepted = web.operator.get(view.path + query_of(view), headers={"Accept": "application/json"})
    assert accepted.json()["schema"] == twin["schema"]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_no_page_passes_on_crawled_markup(web: Interface, view):
    for url in urls_for(view):
        _is_harmless(web.operator.get(view.path + query_of(view, url)).text)


def test_hostile_input_is_escaped(web: Interface):
    web.operator.app.rate = RateLimit(burst=1e9, per_s=1e9)
    for path in tricky_paths():
        answer = web.operator.get(path)
        assert answer.status_code < 500, path
        _is_harmless(answer.text)


def _is_harmless(text: str) -> None:
    assert "<script>" not in text
    assert 'onerror="' not in text
    assert SCRIPT not in text
    assert "\u202e" not in text, "directions that trick the reader"
    assert not re.search(r"\s(?:href|src|action)=\"\s*(?:javascript|data):", text, re.IGNORECASE)
    assert "evil.example" not in "".join(re.findall(r"(?:href|src)=\"(https?://[^\"]*)\"", text))


def test_pages_are_valid_html(web: Interface):
    for view in VIEWS:
        text = web.operator.get(view.path + query_of(view)).text
        assert text.count("<main") == 1
        assert text.count("<h1") == 1
        assert 'class="skip"' in text
        for table in re.findall(r"<table.*?</table>", text, re.DOTALL):
            assert "<caption" in table
        assert not re.search(r"\sstyle=\"|<style|\son\w+=\"", text), "nothing inline"


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("ferry office", "/search?q=ferry%20office"),
        (" https://harbour.example/page/0 ", "/page?url=https%3A%2F%2Fharbour.example%2Fpage%2F0"),
        ("harbour.example/page/0", "/page?url=harbour.example%2Fpage%2F0"),
        ("harbour.example", "/site?name=harbour.example"),
        ("site:harbour.example", "/search?q=site%3Aharbour.example"),
        ("unknown.example", "/search?q=unknown.example"),
    ],
)
def test_one_box_searches_and_opens_urls(web: Interface, typed, target):
    answer = web.operator.get("/find", params={"q": typed}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, target)


def test_the_navigation_hides_what_is_not_used(web: Interface):
    menu = web.operator.get("/").text.partition("<nav")[2].partition("</nav>")[0]
    titles = re.findall(r">([^<>]+)</(?:a|summary)>", menu)
    assert titles[:6] == ["Overview", "Changes", "Search", "Sites", "Alerts", "Settings"]
    assert {"Crawl", "Queue", "Advanced", "API"} <= set(titles)
    assert "Cluster" not in titles


def test_the_footer_names_the_version_of_the_program(web: Interface):
    for path in ("/", "/show?url=https://harbour.example/page/0"):
        assert f"<p>evercrawl {__version__}" in web.operator.get(path).text, path


def test_content_security_policies_have_no_ipv6_address(web: Interface):
    """Browsers report such a source as an error on every page."""
    assert "[" not in web.operator.get("/").headers["content-security-policy"]


def test_templates_escape_everything():
    environment = Environment(loader=PackageLoader("evercrawl.web"), autoescape=True)
    for name in environment.list_templates():
        source = environment.loader.get_source(environment, name)[0]  # type: ignore[union-attr]
        assert "|safe" not in source
        assert "autoescape" not in source


def test_changes_and_their_diff(web: Interface):
    groups = web.operator.get("/changes.json?since=30d").json()["groups"]
    assert groups
    edited = next(group for group in groups if "page/0" in " ".join(group["pages"]))
    difference = web.operator.get("/diff.json", params={"url": edited["pages"][0]}).json()
    assert difference["difference"]["edits"]
    page = web.operator.get("/diff", params={"url": edited["pages"][0]}).text
    assert "<ins>" in page
    assert "<del>" in page


def test_a_page_shows_versions_and_its_history(web: Interface):
    found = web.operator.get("/page.json", params={"url": HOSTILE}).json()
    assert len(found["versions"]) >= 2
    assert found["versions"][0]["version"] == len(found["versions"])
    assert found["visits_total"] >= 2


def test_check_now_crawls_just_this_page_and_the_page_waits_for_it(web: Interface, monkeypatch: pytest.MonkeyPatch):
    state, url, started = web.service.state, "https://harbour.example/page/0", list[object]()
    monkeypatch.setattr(state.crawl, "start", lambda urls, **how: started.append((urls, how)))
    answer = web.operator.post("/do/visit-page", data={"url": url, "csrf": web.csrf})
    assert started == [([], {"max_pages": 1})]
    location = answer.headers["location"]
    assert location.startswith("/page?")
    assert "Checking the page now" in web.operator.get(location).text
    visit = state.collection.history(url).visits[0].at
    monkeypatch.setattr(state, "now", lambda: visit + timedelta(minutes=1))
    for seconds, is_checking in ((-1, False), (1, True)):  # Asked before that visit, and after it.
        asked = (visit + timedelta(seconds=seconds)).isoformat()
        page = web.operator.get("/page", params={"url": url, "checked": asked}).text
        assert ("Checking the page now" in page) is is_checking


def test_lists_continue_without_gaps(web: Interface):
    for path, rows, name in (
        ("/sites", "sites", "name"),
        ("/frontier", "pages", "url"),
        ("/skipped", "skipped", "url"),
    ):
        seen: list[str] = []
        after = ""
        while True:
            portion = web.operator.get(f"{path}.json", params={"limit": 2, "after": after}).json()
            seen += [row[name] for row in portion[rows]]
            if portion["next"] is None:
                break
            after = portion["next"]
        whole = [row[name] for row in web.operator.get(f"{path}.json?limit=500").json()[rows]]
        assert seen == whole
        assert len(whole) >= 3


def test_pages_of_a_site_continue_without_gaps(web: Interface):
    seen: list[str] = []
    after = ""
    while True:
        answer = web.operator.get("/site.json", params={"name": "https://harbour.example", "limit": 7, "after": after})
        seen += [row["url"] for row in answer.json()["pages"]]
        after = answer.json()["next"]
        if after is None:
            break
    assert len(seen) == len(set(seen)) == answer.json()["site"]["pages"]


def test_errors_are_explained(web: Interface):
    for path, status in (
        ("/page?url=https://unknown.example/", 404),
        ("/site?name=https://unknown.example", 404),
        ("/diff?url=https://harbour.example/never", 404),
        ("/page", 400),
        ("/sites?limit=0", 400),
        ("/sites?limit=many", 400),
        ("/sites?after=nonsense", 400),
        ("/sites?unknown=1", 400),
        ("/changes?since=whenever", 400),
        ("/run?id=12", 404),
        ("/nowhere", 404),
    ):
        answer = web.operator.get(path)
        assert answer.status_code == status, path
        assert "<h1>" in answer.text
        assert web.operator.get(path, headers={"Accept": "application/json"}).json()["detail"]


def test_a_shared_link_shows_one_difference_to_anybody(web: Interface):
    data = web.operator.get("/diff.json", params={"url": "https://harbour.example/page/0"}).json()
    path = "/shared" + data["share"].partition("/shared")[2]
    page = web.anybody.get(path)
    assert page.status_code == 200
    assert "<ins>" in page.text
    for absent in ("Log out", "Link to share", 'href="/page', 'href="/diff', "Mute a part", "Source"):
        assert absent not in page.text, absent
    for inputs in ("&context=none", "&context=all"):
        assert web.anybody.get(path + inputs).status_code == 200
    newest = int(path.partition("b=v")[2].partition("&")[0])
    for wrong in (path.replace(f"b=v{newest}", f"b=v{newest - 2}"), path.replace("harbour", "council"), f"{path}0"):
        assert web.anybody.get(wrong).status_code == 403, wrong
    assert web.anybody.get(f"{path}&view=source").status_code == 200
    assert "<pre" not in web.anybody.get(f"{path}&view=source").text, "only the text is shared"
    answer = web.operator.get(path, follow_redirects=False)
    assert answer.headers["location"].startswith("/diff?"), "who is logged in gets the whole page"


def test_a_shared_link_tells_nothing_of_later_versions(tmp_path: Path):
    page, warc = f"{SITE}/a", tmp_path / "a.warc.gz"
    titles = ("First title", "Second title", "Third title")
    warc.write_bytes(packed(*(response(page, day(at), html(title, f"Text {at}.")) for at, title in enumerate(titles))))
    collection = evercrawl.open(tmp_path / "c.evercrawl", create=True)
    collection.import_("warc", [warc])
    one = opened(collection.path, ServeOptions(port=0))
    try:
        shared = one.operator.get("/diff.json", params={"url": page, "a": "v1", "b": "v2"}).json()["share"]
        text = one.anybody.get("/shared" + shared.partition("/shared")[2]).text
        assert "Second title" in text
        assert "Third title" not in text
    finally:
        closed(one)


def test_the_owner_of_a_site_sees_its_load_and_nothing_else(web: Interface):
    path = web.operator.get("/load.json?name=https://harbour.example").json()["owner_path"]
    page = web.anybody.get(path)
    assert page.status_code == 200
    assert "harbour.example" in page.text
    assert "Log out" not in page.text
    twin = web.anybody.get(path.replace("?", ".json?", 1)).json()
    assert twin["load"]["site"] == "https://harbour.example"
    assert web.anybody.get(path.replace("?", "0.json?", 1)).status_code == 403
    assert web.anybody.get(path.replace("harbour", "council")).status_code == 403


def test_the_feed_of_changes_is_xml(web: Interface):
    answer = web.operator.get("/changes.atom?limit=200")
    feed = ET.fromstring(answer.content)
    entries = feed.findall("{http://www.w3.org/2005/Atom}entry")
    assert entries
    assert "<script>" not in answer.text


def test_every_route_is_in_the_openapi_document(web: Interface):
    paths = openapi_document()["paths"]
    routes = {route.path.replace(":path}", "}") for route in web.service.apps()[0].app.routes}
    api = {path for path in routes if path.startswith(API)} - {f"{API}/openapi.json"}
    assert api == {path for path in paths if path.startswith(API)}
    assert set(paths) <= routes
    assert all(one["x-scope"] for methods in paths.values() for one in methods.values())
    changes = [method for one in paths.values() for method in one if method != "get"]
    assert len(changes) == len(ACTIONS) + 3  # Hubs, IndexNow, and uploads.
    assert web.operator.get(f"{API}/openapi.json").json()["openapi"].startswith("3.1")


def test_search_marks_only_the_hits(web: Interface):
    found = web.operator.get("/search.json?q=harbour+attack").json()["found"]
    assert found["hits"]
    page = web.operator.get("/search?q=harbour+attack").text
    assert "<mark>" in page
    assert "<script>" not in page
    assert "\u202e" not in page
    before = web.operator.get("/search.json?q=attack&as_of=365d").json()["found"]
    assert before["hits"] == []
    assert web.operator.get("/search", params={"q": 'changed:>nonsense "'}).status_code in (200, 400)


def test_pages_that_are_due_again_count_as_queued(web: Interface, monkeypatch: pytest.MonkeyPatch):
    """The progress of a run counts only pages that it found, and those that were queued when it began."""
    path = web.service.state.path
    sites = [site._replace(pending=59) for site in largest_sites(path, 2)]
    monkeypatch.setattr(overview, "busiest_sites", lambda *_: sites)
    web.service.state.invalidate("live sites")
    with publish_progress(path, None, forever=False) as tell:
        tell(Progress(fetched=3))
        live = web.operator.get("/live.json").json()
        assert live["run"]["progress"]["queued"] == 118
        assert live["share"] < 0.1
        assert "3 pages fetched, 118 queued" in web.operator.get("/").text
    web.service.state.invalidate("live sites")


def test_a_trap_is_excluded_allowed_and_undone(fresh: Interface):
    preview = fresh.operator.get("/traps", params={"preview": "/calendar/*"})
    assert "would affect" in preview.text
    form = {"pattern": "/calendar/*", "csrf": fresh.csrf}
    assert fresh.operator.post("/do/set-trap-rule", data=form | {"action": "exclude"}).status_code == 303
    assert [one["state"] for one in fresh.operator.get("/traps.json").json()["traps"]] == ["excluded"]
    assert fresh.operator.post("/do/set-trap-rule", data=form | {"action": "allow"}).status_code == 303
    assert [one["state"] for one in fresh.operator.get("/traps.json").json()["traps"]] == ["allowed"]
    assert fresh.operator.post("/do/undo-trap", data=form).status_code == 303
    assert fresh.operator.get("/traps.json").json()["traps"] == []
    assert [line.what for line in fresh.service.auth.audit_log()[:3]] == ["undo-trap", "set-trap-rule", "set-trap-rule"]


def test_a_repeated_request_with_an_idempotency_key_is_done_once(fresh: Interface):
    client = fresh.with_token(AccessScope.ADMIN)
    sent = [
        client.post(f"{API}/tokens", json={"name": name}, headers={"Idempotency-Key": key})
        for name, key in (("one", "k1"), ("one", "k1"), ("two", "k1"), ("one", "k2"))
    ]
    assert [answer.status_code for answer in sent] == [201, 201, 422, 201]
    assert sent[0].content == sent[1].content != sent[3].content
    assert len([token for token in client.get(f"{API}/tokens").json()["tokens"] if token["name"] == "one"]) == 2
    location = sent[0].headers["location"]
    assert [client.delete(location).status_code for _ in range(2)] == [204, 404]


def test_errors_are_problem_details(fresh: Interface):
    client = fresh.with_token(AccessScope.ADMIN)
    for answer, status in (
        (client.get(f"{API}/nowhere"), 404),
        (client.delete(f"{API}/sites"), 405),
        (client.get(f"{API}/sites?unknown=1"), 400),
        (client.patch(f"{API}/settings/revisit.budget", json={"value": "many"}), 422),
        (client.post(f"{API}/tokens", content=b"{", headers={"Content-Type": "application/json"}), 400),
        (client.get("/cdx"), 400),
        (client.get("/web/https://nowhere.example/"), 404),
        (client.get("/alert.atom?name=none"), 404),
    ):
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert (problem["status"], problem["type"]) == (status, "about:blank")
        assert problem["title"]
        assert problem["detail"]
    assert set(client.delete(f"{API}/overview").headers["allow"].split(", ")) == {"GET", "HEAD"}
