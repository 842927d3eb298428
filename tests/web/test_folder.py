"""A folder of collections: all of them on one page, each as if it were served alone, and none reachable by others."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from evercrawl.config import create_collection, read_settings, write_setting
from evercrawl.config.trust import distrust_collection, trust_collection
from evercrawl.web.auth import AccessScope, AuthStore
from evercrawl.web.folder_service import FolderService, trust_folder
from evercrawl.web.serve import ServeOptions
from evercrawl.web.views import VIEWS
from tests.web.client import TestClient
from tests.web.conftest import Interface
from tests.web.hostile import PAGES, SITE
from tests.web.inputs import query_of, tricky_paths, urls_for

COAST, TOWN = "/c/coast", "/c/My%20town"
PAGE = next(iter(PAGES))
_LINK = re.compile(r'\b(?:href|action|src|formaction|data-live)="([^"]*)"')
SHARED = ("/static/", "/login", "/logout", "/collections", "/c/")


def opened(folder: Path, options: ServeOptions) -> Interface:
    service = FolderService(folder, options)
    interface, replay = service.apps()
    address = f"http://127.0.0.1:{service.ports[0]}"
    anybody, operator = (TestClient(interface, base_url=address, follow_redirects=False) for _ in range(2))
    assert operator.get(service.first_link.removeprefix(service.address)).headers["location"] == "/"
    door = TestClient(replay, base_url=f"http://localhost:{service.ports[1]}", follow_redirects=False)
    return Interface(service, anybody, operator, door)


def closed(interface: Interface) -> None:
    for one in interface.service.sockets:
        one.close()
    for client in (interface.anybody, interface.operator, interface.replay):
        client.close()
    interface.service.state.crawls.close()
    interface.service.auth.close()


def _csrf(web: Interface) -> str:
    text = web.operator.get("/collections").text
    return text.split('name="csrf" value="', 1)[1].split('"', 1)[0]


@pytest.fixture(scope="module")
def folder(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("folder")
    shutil.copytree(story, found / "coast.evercrawl", ignore=shutil.ignore_patterns("web.sqlite*"))
    trust_collection(found / "coast.evercrawl", os.environ)
    create_collection(found / "My town.evercrawl", {"scope.seeds": ("https://town.example/",), "web.tags": ("town",)})
    (found / "notes").mkdir()
    (found / "link.evercrawl").symlink_to(found / "coast.evercrawl")
    return found


@pytest.fixture(scope="module")
def web(folder: Path) -> Iterator[Interface]:
    interface = opened(folder, ServeOptions(port=0))
    yield interface
    closed(interface)


def _rows(web: Interface, query: str = "") -> dict[str, dict[str, object]]:
    for _ in range(50):
        found = web.operator.get(f"/collections.json{query}").json()
        if not found["uncounted"]:
            break
    return {row["name"]: row for row in found["collections"]}


def test_scripts_are_led_below_the_collection(web: Interface):
    assert f'data-upload="{COAST}/api/v1/backup-files"' in web.operator.get(f"{COAST}/backups").text


def test_the_home_page_lists_all_collections(web: Interface):
    rows = _rows(web)
    assert set(rows) == {"coast", "My town"}, "links and other folders are left out"
    assert rows["coast"]["pages"] > 20
    assert rows["coast"]["last_change"]
    assert (
        rows["My town"] | {"health": "new", "detail": "not crawled yet", "tags": "town", "pages": 0} == rows["My town"]
    )
    assert set(_rows(web, "?tags=town")) == {"My town"}
    page = web.operator.get("/collections").text
    assert f'href="{COAST}/"' in page
    assert f'href="{TOWN}/"' in page
    assert web.operator.get("/").headers["location"] == "/collections"
    assert web.operator.get("/collections.csv").text.startswith("name,")


def _paths() -> list[str]:
    own = [view.path + query_of(view, url) for view in VIEWS for url in urls_for(view)[:3]]
    return own + [path for path in tricky_paths() if not path.startswith("/login")][:60]


def test_every_link_of_a_collection_stays_in_it(web: Interface):
    """Whatever a page shows, its links lead below the path of the collection, or to what all share."""
    for path in _paths():
        answer = web.operator.get(COAST + path)
        assert answer.status_code in (200, 303, 400, 403, 404, 503), path
        if answer.status_code == 303:
            assert answer.headers["location"].startswith(f"{COAST}/"), path
        outside = [
            link for link in _LINK.findall(answer.text)
            if link.startswith("/") and not link.startswith((*SHARED, f"{COAST}/"))
        ]  # fmt: skip
        assert outside == [], path
        assert f'data-base="{COAST}/"' in answer.text or not answer.text


def test_actions_lead_back_into_the_collection(web: Interface):
    answer = web.operator.post(f"{COAST}/do/slow-site", data={"csrf": _csrf(web), "name": SITE, "gap": "30"})
    assert answer.headers["location"].startswith(f"{COAST}/site?")
    assert "At most one request every 30 s" in web.operator.get(answer.headers["location"]).text
    program = web.with_token(AccessScope.OPERATE)
    muted = program.post(f"{COAST}/api/v1/mutes", json={"pattern": "Visitors: *", "site": SITE})
    assert muted.headers["location"].startswith(f"{COAST}/api/v1/mutes/")


def test_strangers_learn_nothing(web: Interface):
    for path in ("/collections", "/search?q=x", f"{COAST}/", f"{COAST}/pages", "/c/nowhere/", "/c/nowhere/pages"):
        answer = web.anybody.get(path)
        assert answer.headers["location"] == f"/login?next={quote(path, safe='')}", path
    for path in ("/api/v1/collections", f"{COAST}/api/v1/sites", "/c/nowhere/api/v1/sites", "/metrics"):
        assert web.anybody.get(path).status_code == 401, path
    assert web.operator.get("/c/nowhere/").status_code == 404
    assert web.operator.get("/c/coast").headers["location"] == "/c/coast/"
    for name in ("..", "%2e%2e", "..%2fcoast.evercrawl", "link", "notes", "coast%00"):
        assert web.operator.get(f"/c/{name}/").status_code in (303, 404), name


def test_a_password_is_asked_for_in_one_place(web: Interface):
    assert web.operator.get(f"{COAST}/login").status_code == 404, "or attempts would count per collection"
    assert web.anybody.get(f"{COAST}/login").headers["location"].startswith("/login?")


def test_archived_pages_open_with_the_key_of_their_collection(web: Interface):
    shown = web.operator.get(f"{COAST}/show.json?url={quote(PAGE, safe='')}").json()
    archived = next(text for text in map(str, shown.values()) if f"{COAST}/r/" in text)
    path = urlsplit(archived).path
    answer = web.replay.get(path)
    assert answer.status_code == 200
    assert "sandbox" in answer.headers["content-security-policy"]
    assert web.replay.get(path.replace(COAST, TOWN)).status_code == 403, "the key opens no other collection"
    assert web.replay.get(f"{COAST}/web/2026/{PAGE}").status_code == 401


def test_a_link_for_an_owner_opens_one_collection(web: Interface):
    path = web.operator.get(f"{COAST}/load.json?name={SITE}").json()["owner_path"]
    assert path.startswith(f"{COAST}/owner/")
    assert web.anybody.get(path).status_code == 200
    assert web.anybody.get(path.replace(COAST, TOWN)).headers["location"].startswith("/login?")


def test_feeds_and_shared_links_name_the_collection(web: Interface):
    address = web.service.address
    assert f"{address}{COAST}/diff?" in web.operator.get(f"{COAST}/changes.atom").text
    assert web.operator.get(f"{COAST}/api/v1/openapi.json").json()["servers"] == [{"url": COAST}]
    paths = web.operator.get("/api/v1/openapi.json").json()["paths"]
    assert set(paths["/api/v1/collections"]) == {"get", "post"}
    assert set(paths["/api/v1/collections/{name}"]) == {"get", "patch", "delete"}


def test_a_shared_difference_opens_without_a_login(web: Interface):
    page = web.operator.get(f"{COAST}/change-list.json?limit=1").json()["changes"][0]["url"]
    share = urlsplit(web.operator.get(f"{COAST}/diff.json?url={quote(page, safe='')}").json()["share"])
    answer = web.anybody.get(f"{share.path}?{share.query}")
    assert share.path.startswith(f"{COAST}/shared/")
    assert answer.status_code == 200
    assert "Link to share" not in answer.text
    assert "<ins>" in answer.text


def test_search_finds_pages_of_all_collections(web: Interface):
    found = web.operator.get("/search.json?q=harbour").json()
    assert found["errors"] == []
    assert {name for hit in found["hits"] for name in hit["collections"]} == {"coast"}
    assert f'href="{COAST}/show?url=' in web.operator.get("/search?q=harbour").text
    assert web.operator.get("/search.json?q=harbour&tag=town").json()["hits"] == []
    assert web.operator.get("/find?q=ferry").headers["location"] == "/search?q=ferry"


def test_metrics_count_each_collection(web: Interface):
    _rows(web)
    text = web.operator.get("/metrics").text
    assert "evercrawl_collections 2" in text
    assert 'evercrawl_collection_pages{collection="My town"} 0' in text
    assert web.anybody.get("/healthz").text == "ok\n"
    assert "evercrawl_pages" in web.operator.get(f"{COAST}/metrics").text


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Interface]:
    for name in ("one", "two", "three"):
        create_collection(tmp_path / f"{name}.evercrawl", {"scope.seeds": (f"https://{name}.example/",)})
    interface = opened(tmp_path, ServeOptions(port=0))
    yield interface
    closed(interface)


def test_tags_and_removal(own: Interface, tmp_path: Path):
    program, admin = own.with_token(AccessScope.OPERATE), own.with_token(AccessScope.ADMIN)
    changed = program.patch("/api/v1/collections/one", json={"tags": "News, press,news"})
    assert changed.json()["tags"] == ["news", "press"]
    assert read_settings(tmp_path / "one.evercrawl").settings.web.tags == ("news", "press")
    assert _rows(own, "?tags=press")["one"]["tags"] == "news, press"
    assert program.patch("/api/v1/collections/one", json={"tags": "x" * 41}).status_code == 422
    assert program.delete("/api/v1/collections/one?confirm=one").status_code == 403
    assert admin.delete("/api/v1/collections/one?confirm=two").status_code == 422
    assert own.operator.get("/c/one/").status_code == 200
    done = own.operator.post("/do/remove-collection", data={"csrf": _csrf(own), "name": "one", "confirm": "one"})
    assert done.headers["location"].startswith("/collections?")
    assert not (tmp_path / "one.evercrawl").exists()
    assert not list(tmp_path.glob(".removed-*"))
    assert own.operator.get("/c/one/").status_code == 404
    assert set(_rows(own)) == {"two", "three"}
    assert "Remove collection" in own.operator.get("/access").text


def test_a_collection_with_pages_elsewhere_is_not_removed(own: Interface, tmp_path: Path):
    (tmp_path / "two.evercrawl" / "archive").mkdir()
    (tmp_path / "two.evercrawl" / "archive" / "objects").write_text("s3://bucket")
    answer = own.with_token(AccessScope.ADMIN).delete("/api/v1/collections/two?confirm=two")
    assert answer.status_code == 422
    assert "object store" in answer.json()["detail"]
    assert (tmp_path / "two.evercrawl").exists()


def test_at_most_so_many_collections_are_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVERCRAWL_WEB__MAX_OPEN_COLLECTIONS", "2")
    for number in range(5):
        create_collection(tmp_path / f"c{number}.evercrawl", {"scope.seeds": (f"https://c{number}.example/",)})
    web = opened(tmp_path, ServeOptions(port=0))
    for number in (0, 1, 2, 3, 4, 0):
        assert web.operator.get(f"/c/c{number}/settings").status_code == 200
        assert len(web.service.state.collections) <= 2
    with web.service.state.collections.use("c1"), web.service.state.collections.use("c2"):
        assert web.operator.get("/c/c3/").status_code == 503, "all that may be open are in use"
    assert web.operator.get("/c/c3/").status_code == 200
    closed(web)


def test_read_only(folder: Path):
    web = opened(folder, ServeOptions(port=0, read_only=True))
    csrf = _csrf(web)
    for path, fields in (
        ("/do/add-sites", {"urls": "https://new.example/"}),
        ("/do/remove-collection", {"name": "coast", "confirm": "coast"}),
        ("/do/update-collection", {"name": "coast", "tags": "x"}),
        (f"{COAST}/do/start-crawl", {}),
    ):
        assert web.operator.post(path, data=fields | {"csrf": csrf}).status_code == 403, path
    assert "Add a collection" not in web.operator.get("/collections").text
    closed(web)


def test_a_collection_that_is_not_trusted_or_not_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EVERCRAWL_TRUST", raising=False)
    for name in ("one", "two", "three"):
        create_collection(tmp_path / f"{name}.evercrawl", {"scope.seeds": (f"https://{name}.example/",)})
    own = opened(tmp_path, ServeOptions(port=0))
    write_setting(tmp_path / "one.evercrawl" / "collection.toml", "http.allow_private", True)
    distrust_collection(tmp_path / "one.evercrawl", os.environ)
    (tmp_path / "two.evercrawl" / "collection.toml").write_text("[nonsense]\n")
    rows = _rows(own)
    assert rows["one"]["health"] == "attention"
    assert "not trusted" in rows["one"]["detail"]
    assert rows["two"]["health"] == "unreadable"
    assert own.operator.get("/c/two/").status_code == 503
    with own.service.state.collections.use("one") as found:
        assert not found.state.settings.http.allow_private
    assert own.operator.get("/c/three/").status_code == 200
    closed(own)


def test_tokens_in_a_folder_of_somebody_else_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EVERCRAWL_TRUST", raising=False)
    create_collection(tmp_path / "one.evercrawl")
    theirs = AuthStore(tmp_path)
    secret = theirs.add_token("planted", AccessScope.ADMIN)
    theirs.close()
    assert not trust_folder(tmp_path)
    web = opened(tmp_path, ServeOptions(port=0))
    client = web.client(headers={"Authorization": f"Bearer {secret}"})
    assert client.get("/api/v1/collections").status_code == 401
    closed(web)
    trust_collection(tmp_path, os.environ)
    web = opened(tmp_path, ServeOptions(port=0))
    client = web.client(headers={"Authorization": f"Bearer {secret}"})
    assert client.get("/api/v1/collections").status_code == 200
    assert client.get("/c/one/api/v1/sites").status_code == 200
    closed(web)


def test_alerts_link_to_their_collection(tmp_path: Path):
    create_collection(tmp_path / "one.evercrawl", {"scope.seeds": ("https://one.example/",)})
    web = opened(tmp_path, ServeOptions(port=0, public_url="https://crawl.example.org"))
    with web.service.state.collections.use("one") as found:
        assert found.state.settings.web.public_url == "https://crawl.example.org/c/one"
        assert found.state.is_reachable
    assert web.service._settings_of("one", tmp_path / "one.evercrawl").web.public_url.endswith("/c/one")
    closed(web)


def test_a_new_collection_from_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    started: list[object] = []
    monkeypatch.setattr(
        "evercrawl.web.open_collections.FolderCrawl.start",
        lambda self, urls, **how: started.append((self.collection.name, urls, how)) or 1,
    )
    web = opened(tmp_path, ServeOptions(port=0))
    assert "What do you want to watch?" in web.operator.get("/collections").text
    program = web.with_token(AccessScope.OPERATE)
    sent = {"urls": "https://news.example/", "watch": True, "notify": "atom", "tags": "press"}
    first = program.post("/api/v1/collections", json=sent)
    assert (first.status_code, first.headers["location"]) == (202, "/api/v1/collections/news.example")
    assert program.post("/api/v1/collections", json=sent).json()["url"] == "/c/news.example-2/"
    settings = read_settings(tmp_path / "news.example.evercrawl").settings
    assert (settings.scope.seeds, settings.web.tags) == (("https://news.example/",), ("press",))
    assert settings.web.keep_watching
    assert settings.is_trusted
    assert started[0] == ("news.example.evercrawl", [], {"forever": True})
    for fields in ({"urls": "not a url"}, {"urls": "https://a.example/", "name": "../x"}, sent | {"name": ".hidden"},
                   sent | {"notify": "mail"}, sent | {"name": "news.example"}):  # fmt: skip
        assert program.post("/api/v1/collections", json=fields).status_code == 422, fields
    assert sorted(path.name for path in tmp_path.glob("*.evercrawl")) == [
        "news.example-2.evercrawl",
        "news.example.evercrawl",
    ]
    form = sent | {"csrf": _csrf(web), "name": "My press", "watch": "true"}
    location = web.operator.post("/do/add-sites", data=form).headers["location"]
    assert location.startswith("/c/My%20press/live?done=")
    assert "Crawl started" in web.operator.get(location).text
    closed(web)


def test_strangers_learn_nothing_about_names(web: Interface):
    for path in ("/", "/healthz", "/readyz", "/metrics", "/api/v1/status", "/nothing", "/search?q=a", "/websub/x"):
        for headers in ({}, {"accept": "application/json"}):
            known, unknown = (web.anybody.get(base + path, headers=headers) for base in (COAST, "/c/coasx"))
            assert known.status_code == unknown.status_code, path
            assert known.text.replace("coast", "coasx") == unknown.text, path
    assert web.operator.get(f"{COAST}/healthz").status_code == 200
    assert web.anybody.get("/healthz").status_code == 200
