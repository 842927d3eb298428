"""Memento, CDX, IndexNow, streams and metrics, as other programs use them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from evercrawl.cluster.run_requests import pending_requests
from evercrawl.config import create_collection
from evercrawl.web.auth import AccessScope
from evercrawl.web.protocols.streams import METRICS
from evercrawl.web.route import API
from evercrawl.web.serve import ServeOptions
from tests.web.conftest import Interface, closed, opened
from tests.web.history_fixture import create_history
from tests.web.hostile import PAGES

PAGE = "https://harbour.example/page/0"
HOSTILE = next(iter(PAGES))


def _links(header: str) -> dict[str, list[tuple[str, str | None]]]:
    """Relation -> targets with their datetime."""
    found: dict[str, list[tuple[str, str | None]]] = {}
    for target, rest in re.findall(r"<([^>]*)>((?:;\s*\w+=\"[^\"]*\")*)", header):
        values = dict(re.findall(r"(\w+)=\"([^\"]*)\"", rest))
        for relation in values["rel"].split():
            found.setdefault(relation, []).append((target, values.get("datetime")))
    return found


def test_the_timegate_redirects_to_the_nearest_version(web: Interface):
    reader = web.with_token(AccessScope.READ)
    mapped = reader.get(f"/web/timemap/link/{PAGE}")
    assert mapped.headers["content-type"].startswith("application/link-format")
    mementos = _links(mapped.text)["memento"]
    assert len(mementos) >= 2
    for target, moment in mementos:
        answer = reader.get(f"/web/{PAGE}", headers={"Accept-Datetime": moment or ""})
        assert answer.status_code == 302
        assert answer.headers["location"] == target
        assert answer.headers["vary"] == "accept-datetime"
        links = _links(answer.headers["link"])
        assert links["original"][0][0] == PAGE
        assert {"timegate", "timemap", "first", "last"} <= set(links)
    newest = reader.get(f"/web/{PAGE}").headers["location"]
    assert newest == mementos[-1][0]


def test_a_memento_has_its_datetime(web: Interface):
    secret = web.service.auth.add_token("replay", AccessScope.READ)
    target, moment = _links(web.operator.get(f"/web/timemap/link/{PAGE}").text)["memento"][0]
    path = target.partition(f":{web.service.ports[1]}")[2]
    assert web.replay.get(path).status_code == 401
    answer = web.replay.get(path, headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    assert answer.headers["memento-datetime"] == moment
    assert _links(answer.headers["link"])["original"][0][0] == PAGE
    assert "Tide tables" in answer.text


def test_time_maps_as_json_and_errors(web: Interface):
    told = web.operator.get(f"/web/timemap/json/{PAGE}").json()
    assert told["mementos"]["list"][0] == told["mementos"]["first"]
    assert web.operator.get("/web/https://unknown.example/").status_code == 404
    for moment in ("yesterday", "Fri, 31 Dec 9999 23:59:59 -2359"):
        assert web.operator.get(f"/web/{PAGE}", headers={"Accept-Datetime": moment}).status_code == 400, moment


def test_archived_pages_are_inert(web: Interface):
    shown = web.operator.get("/show.json", params={"url": HOSTILE}).json()
    path = shown["replay"].partition(f":{web.service.ports[1]}")[2]
    answer = web.replay.get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox;")
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert "set-cookie" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    text = answer.text
    assert "<script" not in text
    assert not re.search(r"<[^>]*\son\w+=", text)
    assert not re.search(r"(?:href|src|action|data|ping|srcset|poster)=\"?\s*(?:javascript|https?):", text)
    assert "http-equiv" not in text
    assert "<iframe" not in text
    inside = f"{path.rpartition('/https://')[0]}/https://harbour.example/page/2"
    assert inside in text
    assert web.replay.get(inside).status_code in (200, 302)


def test_archived_pages_need_a_key(web: Interface):
    shown = web.operator.get("/show.json", params={"url": HOSTILE}).json()
    path = shown["replay"].partition(f":{web.service.ports[1]}")[2]
    assert web.replay.get(path.replace("/r/", "/r/0")).status_code == 403
    assert web.replay.post(path).status_code == 405
    assert (
        web.operator.get(f"/web/20260101000000/{HOSTILE}")
        .headers["location"]
        .startswith(web.service.replay_origin("127.0.0.1:1"))
    )


def test_the_two_origins_share_neither_host_nor_port(web: Interface):
    for host, other in (("127.0.0.1", "localhost"), ("localhost", "127.0.0.1")):
        origin = web.service.replay_origin(f"{host}:{web.service.ports[0]}")
        assert origin == f"http://{other}:{web.service.ports[1]}"


def test_cdx_lines(web: Interface):
    reader = web.with_token(AccessScope.READ)
    exact = reader.get("/cdx", params={"url": PAGE}).text.splitlines()
    assert exact == sorted(exact)
    key, stamp, rest = exact[0].split(" ", 2)
    assert key == "example,harbour)/page/0"
    assert re.fullmatch(r"\d{14}", stamp)
    fields = json.loads(rest)
    assert fields["url"] == PAGE
    assert {"mime", "status", "digest", "length", "offset", "filename"} <= set(fields)
    whole = reader.get("/cdx", params={"url": "harbour.example/*", "output": "json"}).text.splitlines()
    host = reader.get(
        "/cdx", params={"url": "harbour.example", "matchType": "host", "output": "json"}
    ).text.splitlines()
    assert whole == host
    assert len(whole) > len(exact)
    page = reader.get("/cdx", params={"url": "https://harbour.example/page/*", "output": "json"}).text.splitlines()
    assert all("/page/" in json.loads(line)["url"] for line in page)
    assert 0 < len(page) < len(whole)


def test_cdx_parameters(web: Interface):
    def lines(**more: str) -> list[dict[str, str]]:
        answer = web.operator.get("/cdx", params={"url": PAGE, "output": "json", **more})
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    everything = lines()
    assert len(everything) >= 2
    assert lines(limit="1") == everything[:1]
    assert lines(sort="reverse") == everything[::-1]
    assert lines(**{"from": everything[1]["timestamp"]}) == everything[1:]
    assert lines(to=everything[0]["timestamp"]) == everything[:1]
    assert lines(fl="timestamp,url")[0].keys() == {"timestamp", "url"}
    assert lines(filter="=status:200") == everything
    assert lines(filter="!=status:200") == []
    assert web.operator.get("/cdx", params={"url": PAGE, "from": "May"}).status_code == 400


def test_cdx_like_pywb_and_the_wayback_machine(web: Interface):
    def lines(**more: Any) -> list[dict[str, str]]:
        answer = web.operator.get("/cdx", params={"url": "harbour.example/*", "output": "json", **more})
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    everything = lines(nonsense="1")
    both = lines(filter=["mime:text/html", "url:/page/0"])
    assert both == [line for line in everything if line["mime"] == "text/html" and "/page/0" in line["url"]] != []
    assert len(lines(collapse="urlkey")) == len({line["urlkey"] for line in everything})
    stamps = [line["timestamp"] for line in lines(url=PAGE)]
    assert lines(url=PAGE, sort="closest", closest=stamps[-1], limit="1")[0]["timestamp"] == stamps[-1]
    refused = web.operator.get("/cdx", params={"url": PAGE, "matchType": "near"})
    assert (refused.status_code, refused.json()["message"]) == (400, refused.json()["detail"])
    assert web.operator.get("/cdx", params={}).json()["message"].startswith("url is missing")


def test_a_list_of_the_wayback_machine_can_be_continued(web: Interface):
    def lines(**more: Any) -> list[str]:
        answer = web.operator.get("/cdx/search/cdx", params={"url": "harbour.example/*", **more})
        assert answer.status_code == 200, answer.text
        return answer.text.splitlines()

    everything = lines(fastLatest="true")
    fields = everything[0].split(" ")
    assert len(fields) == 7
    assert re.fullmatch(r"[A-Z2-7]{32}", fields[5])
    found: list[str] = []
    key = {}
    while True:
        part = lines(limit="7", showResumeKey="true", **key)
        found += part[:7]
        if len(part) < 8 or part[7]:
            break
        key = {"resumeKey": part[8]}
    assert found == everything
    assert lines(limit="-2") == everything[-2:]
    assert lines(offset="3", limit="2") == everything[3:5]
    assert lines(filter="!statuscode:200") == [line for line in everything if line.split(" ")[4] != "200"]
    rows = web.operator.get("/cdx/search/cdx", params={"url": PAGE, "output": "json", "fl": "timestamp"}).json()
    assert rows[0] == ["timestamp"]
    assert len(rows) == 1 + len(lines(url=PAGE))
    assert web.operator.get("/cdx/search/cdx", params={"url": PAGE, "showNumPages": "true"}).text == "1\n"
    assert web.operator.get("/cdx/search/cdx", params={"url": PAGE, "resumeKey": "x"}).status_code == 400


def test_a_cdx_line_points_to_its_record(web: Interface):
    from warcio.archiveiterator import ArchiveIterator

    line = json.loads(web.operator.get("/cdx", params={"url": PAGE, "output": "json"}).text.splitlines()[-1])
    with (web.service.state.path / "archive" / line["filename"]).open("rb") as file:
        file.seek(int(line["offset"]))
        record = next(iter(ArchiveIterator(file)))
        assert record.rec_headers["WARC-Target-URI"] == PAGE
        assert record.rec_headers["WARC-Payload-Digest"] == line["digest"]


def test_a_public_archive_is_open_and_the_rest_is_not(story: Path):
    web = opened(story, ServeOptions(port=0, public_archive=True))
    try:
        assert web.anybody.get("/cdx", params={"url": PAGE}).status_code == 200
        target = _links(web.anybody.get(f"/web/timemap/link/{PAGE}").text)["memento"][0][0]
        assert web.replay.get(target.partition(f":{web.service.ports[1]}")[2]).status_code == 200
        assert web.anybody.get(f"{API}/sites").status_code == 401
    finally:
        closed(web)


def test_a_public_archive_obeys_noarchive(tmp_path: Path):
    url = "https://harbour.example/private-copy"
    text = "<title>x</title><meta name=robots content=noarchive><p>Not to be shown from an archive.</p>"
    story = create_history(tmp_path / "c.evercrawl", days=1, extra={url: lambda day: text})
    web = opened(story, ServeOptions(port=0, public_archive=True))
    try:
        target = _links(web.anybody.get(f"/web/timemap/link/{url}").text)["memento"][0][0]
        path = target.partition(f":{web.service.ports[1]}")[2]
        assert web.replay.get(path).status_code == 403
        secret = web.service.auth.add_token("own", AccessScope.READ)
        assert web.replay.get(path, headers={"Authorization": f"Bearer {secret}"}).status_code == 200
    finally:
        closed(web)


def test_an_event_stream_can_be_resumed(web: Interface):
    reader = web.with_token(AccessScope.READ)
    whole = [json.loads(line) for line in reader.get(f"{API}/events?limit=400").text.splitlines()]
    assert len(whole) > 50
    first = [json.loads(line) for line in reader.get(f"{API}/events?limit=20").text.splitlines()]
    assert len(first) == 20
    rest = [
        json.loads(line)
        for line in reader.get(f"{API}/events", params={"after": first[-1]["position"]}).text.splitlines()
    ]
    assert {(one["url"], one["at"], one["line"]) for one in first + rest} >= {
        (one["url"], one["at"], one["line"]) for one in whole
    }
    assert len(first) + len(rest) == len({(one["url"], one["line"]) for one in first + rest})
    assert reader.get(f"{API}/events?after=nonsense").status_code == 400
    assert reader.get(f"{API}/events?after=now").text == ""


def test_events_as_server_sent_events(web: Interface):
    reader = web.with_token(AccessScope.READ)
    answer = reader.get(f"{API}/events?limit=3", headers={"Accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.count("event: visit\nid: ") == 3


def test_metrics(web: Interface):
    text = web.operator.get("/metrics").text
    names = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    assert {"evercrawl_pages", "evercrawl_requests_total", "evercrawl_run_up"} <= names <= set(METRICS)
    for line in text.splitlines():
        assert line.startswith("# ") or re.fullmatch(r"\w+(?:\{reason=\"\w+\"\})? [0-9.]+", line), line
    assert web.anybody.get("/healthz").text == "ok\n"
    assert web.anybody.get("/readyz").status_code == 200


@contextmanager
def _site_with_key(key: str) -> Iterator[int]:
    class Answering(BaseHTTPRequestHandler):
        asked = 0

        def do_GET(self) -> None:
            body = key.encode() if self.path == f"/{key}.txt" else b"something else"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_indexnow_accepts_the_owner_of_the_key(tmp_path: Path):
    key = "0123456789abcdef"
    with _site_with_key(key) as port:
        site = f"http://owner.test:{port}"
        create_collection(tmp_path / "c.evercrawl", {"scope.seeds": (f"{site}/",)})
        flags: dict[str, object] = {"http.allow_private": True, "http.resolve": (f"owner.test:{port}:127.0.0.1",)}
        web = opened(tmp_path / "c.evercrawl", ServeOptions(port=0), flags)
        try:
            ask = web.anybody
            answer = ask.get("/indexnow", params={"url": f"{site}/new", "key": key})
            assert answer.status_code == 202, answer.text
            body = {"host": f"owner.test:{port}", "key": key, "urlList": [f"{site}/a", f"{site}/b"]}
            assert ask.post("/indexnow", json=body).status_code == 202
            assert [len(json.loads(file.read_text())["urls"]) for file in pending_requests(web.service.state.path)] == [
                1,
                2,
            ]
            assert ask.get("/indexnow", params={"url": f"{site}/new", "key": "fedcba9876543210"}).status_code == 403
            assert ask.get("/indexnow", params={"url": "https://stranger.example/", "key": key}).status_code == 422
            assert ask.get("/indexnow", params={"url": f"{site}/new", "key": "short"}).status_code == 400
            outside = {"url": f"{site}/new", "key": key, "keyLocation": "https://elsewhere.example/k.txt"}
            assert ask.get("/indexnow", params=outside).status_code == 422
            folder = {"url": f"{site}/new", "key": key, "keyLocation": f"{site}/deep/k.txt"}
            assert ask.get("/indexnow", params=folder).status_code == 422
            assert ask.post("/indexnow", json={**body, "urlList": ["https://other.example/"]}).status_code == 422
            assert ask.post("/indexnow", content=b"[").status_code == 400
        finally:
            closed(web)


@contextmanager
def _owned_site(folder: Path, key: str, **options: bool) -> Iterator[tuple[Interface, str]]:
    """Open the interface of a collection with one site, which has a key file and names two pages."""
    with _site_with_key(key) as port:
        site = f"http://owner.test:{port}"
        create_collection(folder, {"scope.seeds": (f"{site}/",)})
        flags: dict[str, object] = {
            "http.allow_private": True,
            "http.resolve": (f"owner.test:{port}:127.0.0.1",),
            "web.announced_urls_per_day": 2,
        }
        web = opened(folder, ServeOptions(port=0, **options), flags)  # type: ignore[arg-type]
        try:
            yield web, site
        finally:
            closed(web)


def _announced(web: Interface) -> list[str]:
    return [url for file in pending_requests(web.service.state.path) for url in json.loads(file.read_text())["urls"]]


def test_a_proof_counts_for_its_key_only(tmp_path: Path):
    key, location = "0123456789abcdef", "/0123456789abcdef.txt"
    with _owned_site(tmp_path / "c.evercrawl", key) as (web, site):
        said = {"url": f"{site}/new", "keyLocation": f"{site}{location}"}
        assert web.anybody.get("/indexnow", params={**said, "key": "a-wrong-key"}).status_code == 403
        assert web.anybody.get("/indexnow", params={**said, "key": key}).status_code == 202
        assert web.anybody.get("/indexnow", params={**said, "key": "a-wrong-key"}).status_code == 403
        assert len(_announced(web)) == 1


def test_an_owner_can_announce_few_pages_that_nothing_links_to(tmp_path: Path):
    key = "0123456789abcdef"
    with _owned_site(tmp_path / "c.evercrawl", key) as (web, site):
        urls = [f"{site}/{number}" for number in range(50)]
        body = {"host": site.removeprefix("http://"), "key": key, "urlList": [f"{site}/", *urls]}
        for _ in range(2):
            assert web.anybody.post("/indexnow", json=body).status_code == 202
        assert _announced(web) == [f"{site}/", *urls[:2], f"{site}/"]


def test_a_read_only_interface_takes_no_announcements(tmp_path: Path):
    key = "0123456789abcdef"
    with _owned_site(tmp_path / "c.evercrawl", key, read_only=True) as (web, site):
        assert web.anybody.get("/indexnow", params={"url": f"{site}/", "key": key}).status_code == 503
        assert web.anybody.post("/websub/token", content=b"").status_code == 503
        assert _announced(web) == []


def test_indexnow_does_not_fetch_private_addresses(tmp_path: Path):
    with _site_with_key("0123456789abcdef") as port:
        site = f"http://127.0.0.1:{port}"
        create_collection(tmp_path / "c.evercrawl", {"scope.seeds": (f"{site}/",)})
        web = opened(tmp_path / "c.evercrawl", ServeOptions(port=0))
        try:
            answer = web.anybody.get("/indexnow", params={"url": f"{site}/new", "key": "0123456789abcdef"})
            assert answer.status_code == 403
            assert pending_requests(web.service.state.path) == []
        finally:
            closed(web)


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/app.py", "/static/..%2fapp.py"]
)
def test_only_static_files_are_served(web: Interface, path: str):
    assert web.anybody.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/cdx", "/cdx/search/cdx"])
def test_cdx_answers_as_the_api_description_says(web: Interface, path: str) -> None:
    described = web.operator.get("/api/v1/openapi.json").json()["paths"][path]["get"]
    parameters = {one["name"]: one["schema"] for one in described["parameters"]}
    outputs = [{"output": name} for name in parameters["output"]["enum"]]
    for more in [{}, {"showNumPages": "true"}, {"limit": str(parameters["limit"]["maximum"])}, *outputs]:
        answer = web.operator.get(path, params={"url": PAGE, **more})
        assert answer.headers["content-type"].partition(";")[0] in described["responses"]["200"]["content"], more
    refused = web.operator.get(path, params={"url": PAGE, "limit": str(parameters["limit"]["maximum"] + 1)})
    assert str(refused.status_code) in described["responses"]
