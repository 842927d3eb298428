"""Who may come in, from where, and how often."""

from __future__ import annotations

import asyncio
import socket
import stat
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from evercrawl.config import collection_file, create_collection, write_setting
from evercrawl.errors import ConfigError
from evercrawl.web.access_control import COOKIE, RateLimit
from evercrawl.web.auth import AccessScope, AuthStore
from evercrawl.web.login import OneTimeLink, local_path
from evercrawl.web.route import API
from evercrawl.web.serve import ServeOptions, WebService, is_loopback, open_sockets
from evercrawl.web.views import ACTIONS, VIEWS
from tests.web.client import TestClient
from tests.web.conftest import Interface, closed, opened
from tests.web.hostile import PAGES
from tests.web.inputs import query_of, resource_of

PUBLIC = {
    "/login",
    "/static/{name}",
    "/favicon.ico",
    "/healthz",
    "/readyz",
    "/indexnow",
    "/websub/{token}",
    "/first",
    "/logout",
    "/owner/{signature}",
    "/owner/{signature}/crawl.log",
    "/shared/{signature}",
    "/unsubscribe/{number:int}/{signature}",
    "/mute/{number:int}/{signature}",
}
SECRETS = ("coast", "harbour", "council", "ops@example.org")


def _paths(web: Interface) -> list[tuple[str, str]]:
    found = []
    for route in web.service.apps()[0].app.routes:
        path = route.path.replace("{url:path}", next(iter(PAGES)))
        found += [(method, path) for method in sorted(route.methods - {"HEAD"}) if route.path not in PUBLIC]
    return found


def test_anonymous_users_get_nothing(web: Interface):
    paths = _paths(web)
    assert len(paths) > 60
    for method, path in paths:
        answer = web.anybody.request(method, path)
        assert answer.status_code in (303, 401), (method, path, answer.status_code)
        assert not any(secret in answer.text for secret in SECRETS), path
    assert not any(secret in web.anybody.get("/login").text for secret in SECRETS)
    assert web.anybody.get("/").headers["location"] == "/login?next=%2F"


@pytest.mark.parametrize("bearer", ["Bearer wrong", "Bearer ", "Basic b3A6b3A=", "Bearer ec_\u00e9"])
def test_a_wrong_token_is_refused(web: Interface, bearer: str):
    answer = web.client().get(f"{API}/overview", headers={"Authorization": bearer.encode()})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_scopes_are_enforced(web: Interface):
    reader, steward = web.with_token(AccessScope.READ), web.with_token(AccessScope.OPERATE)
    for view in VIEWS:
        for client, scope in ((reader, AccessScope.READ), (steward, AccessScope.OPERATE)):
            expected = 200 if view.scope <= scope else 403
            path = resource_of(view) if view.resource else view.json_path + query_of(view)
            assert client.get(path).status_code == expected, view.name
    for action in ACTIONS:
        path = resource_of(action)
        assert reader.request(action.method, path).status_code == 403
        if action.scope is AccessScope.ADMIN:
            assert steward.request(action.method, path).status_code == 403


def test_a_revoked_token_is_refused(fresh: Interface):
    secret = fresh.service.auth.add_token("short", AccessScope.READ)
    client = fresh.client({"Authorization": f"Bearer {secret}"})
    assert client.get(f"{API}/overview").status_code == 200
    number = fresh.service.auth.tokens()[0].id
    fresh.operator.post("/do/revoke-token", data={"id": number, "csrf": fresh.csrf})
    assert client.get(f"{API}/overview").status_code == 401
    assert secret.encode() not in (fresh.service.state.path / "web.sqlite").read_bytes()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8787", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil.example"]
)
def test_unknown_hosts_are_refused(web: Interface, host: str):
    for client in (web.operator, web.anybody, web.replay):
        assert client.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_requests_from_another_site_are_refused(fresh: Interface, headers: dict[str, str]):
    form = {"key": "revisit.budget", "value": "12", "csrf": fresh.csrf}
    assert fresh.operator.post("/do/set-setting", data=form, headers=headers).status_code == 403
    assert fresh.operator.post("/login", data={"password": "x"}, headers=headers).status_code == 403
    assert fresh.service.state.settings.revisit.budget is None


def test_archived_pages_cannot_call_the_interface(fresh: Interface):
    origin = fresh.service.replay_origin(f"127.0.0.1:{fresh.service.ports[0]}")
    form = {"key": "revisit.budget", "value": "12", "csrf": fresh.csrf}
    assert fresh.operator.post("/do/set-setting", data=form, headers={"Origin": origin}).status_code == 403


def test_a_form_needs_a_csrf_token(fresh: Interface):
    for form in ({}, {"csrf": ""}, {"csrf": "guess"}):
        answer = fresh.operator.post("/do/set-setting", data={"key": "revisit.budget", "value": "12"} | form)
        assert answer.status_code == 403
    assert fresh.operator.patch(f"{API}/settings/revisit.budget", json={"value": "12"}).status_code == 403
    form = {"key": "revisit.budget", "value": "12", "csrf": fresh.csrf}
    own = {"Origin": f"http://127.0.0.1:{fresh.service.ports[0]}", "Sec-Fetch-Site": "same-origin"}
    assert fresh.operator.post("/do/set-setting", data=form, headers=own).status_code == 303
    assert fresh.service.state.settings.revisit.budget == 12


def test_the_one_time_link_works_once(fresh: Interface):
    path = fresh.service.first_link.removeprefix(fresh.service.address)
    assert fresh.client().get(path).status_code == 403
    assert fresh.client().get("/first?key=guess").status_code == 403
    assert fresh.client().get("/first").status_code == 403


def test_password_login_and_logout(fresh: Interface):
    assert fresh.operator.post("/do/set-password", data={"password": "short", "csrf": fresh.csrf}).status_code == 422
    form = {"password": "a long enough one", "csrf": fresh.csrf}
    assert fresh.operator.post("/do/set-password", data=form).status_code == 303
    assert fresh.operator.get("/").status_code == 303, "every session has ended"
    client = fresh.client()
    assert client.post("/login", data={"password": "wrong"}).status_code == 403
    answer = client.post("/login", data={"password": "a long enough one", "next": "/sites"})
    assert answer.headers["location"] == "/sites"
    cookie = answer.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", COOKIE))
    text = client.get("/sites").text
    csrf = text.split('name="csrf" value="', 1)[1].split('"', 1)[0]
    client.post("/logout", data={"csrf": csrf})
    assert client.get("/sites").status_code == 303
    assert b"long enough" not in (fresh.service.state.path / "web.sqlite").read_bytes()


def test_guessing_a_password_is_slow(fresh: Interface):
    fresh.service.auth.set_password("a long enough one")
    client = fresh.client()
    answers = [client.post("/login", data={"password": f"guess {n}"}).status_code for n in range(12)]
    assert answers == [403] * 10 + [429] * 2


def test_too_many_requests_are_refused(fresh: Interface):
    fresh.anybody.app.rate = RateLimit(burst=5, per_s=0.001)
    answers = [fresh.anybody.get("/healthz") for _ in range(8)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
    assert int(answers[-1].headers["retry-after"]) > 1


def test_changes_are_in_the_audit_log(fresh: Interface):
    fresh.operator.post("/do/set-setting", data={"key": "revisit.budget", "value": "50", "csrf": fresh.csrf})
    fresh.operator.post("/do/set-password", data={"password": "a long enough one", "csrf": fresh.csrf})
    lines = fresh.service.auth.audit_log()
    assert [line.what for line in lines[:3]] == ["set-password", "set-setting", "log in"]
    assert "revisit.budget" in lines[1].detail
    assert "enough" not in lines[0].detail


def test_unsafe_settings_cannot_be_changed(fresh: Interface):
    for key in ("http.allow_private", "http.verify_tls", "scope.plugins", "store.shards", "nonsense.key"):
        form = {"key": key, "value": "true", "csrf": fresh.csrf}
        assert fresh.operator.post("/do/set-setting", data=form).status_code == 403
    form = {"key": "revisit.budget", "value": "-3", "csrf": fresh.csrf}
    assert fresh.operator.post("/do/set-setting", data=form).status_code == 422
    form = {"key": "scope.exclude", "value": '["/calendar/", "a\\\\d+"]', "csrf": fresh.csrf}
    assert fresh.operator.post("/do/set-setting", data=form).status_code == 303
    assert fresh.service.state.settings.scope.exclude == ("/calendar/", "a\\d+")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8787/",
        "http://[::1]/",
        "http://169.254.169.254/latest",
        "http://10.0.0.1/",
    ],
)
def test_actions_cannot_reach_private_machines(fresh: Interface, url: str):
    for name, field in (("start-crawl", "urls"), ("visit-page", "url")):
        answer = fresh.operator.post(f"/do/{name}", data={field: url, "csrf": fresh.csrf})
        assert answer.status_code == 403, answer.text
        assert not fresh.service.state.crawl.is_running


def test_messages_in_urls_must_be_signed(fresh: Interface):
    assert "Call this number" not in fresh.operator.get("/?done=Call%20this%20number&proof=0").text
    form = {"key": "revisit.budget", "value": "50", "csrf": fresh.csrf}
    answer = fresh.operator.post("/do/set-setting", data=form)
    assert "revisit.budget set to 50" in fresh.operator.get(answer.headers["location"]).text


def test_a_bug_is_reported_without_details(fresh: Interface):
    def broken() -> datetime:
        raise ZeroDivisionError("a secret of ours")

    fresh.service.state.now = broken  # type: ignore[method-assign]
    answer = fresh.client({"Accept": "application/json"}).get("/readyz")
    assert answer.status_code == 500
    assert "bug" in answer.json()["detail"]
    assert "secret" not in answer.text


def test_a_large_body_is_refused(web: Interface):
    assert web.operator.post("/login", content=b"x" * 1_100_000).status_code == 413


def test_read_only_changes_nothing(story: Path):
    service = WebService(story, ServeOptions(port=0, read_only=True, token="a token of the command line"))
    from tests.web.client import TestClient

    client = TestClient(
        service.apps()[0], base_url=service.address, headers={"Authorization": "Bearer a token of the command line"}
    )
    assert client.get(f"{API}/sites").status_code == 200
    assert client.delete(f"{API}/runs/current").status_code == 403
    for one in service.sockets:
        one.close()
    service.auth.close()


@pytest.mark.parametrize("bind", ["127.0.0.1", "::1"])
def test_answers_are_sent_at_once(bind: str):
    """An answer is written in two parts; without TCP_NODELAY the second waits 40 ms for the client's confirmation."""

    async def no_delay(listener: socket.socket) -> bool:
        accepted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def look(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted.set_result(
                bool(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            )
            writer.close()

        async with await asyncio.start_server(look, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
            writer.close()
            return await accepted

    for listener in open_sockets(ServeOptions(bind=bind, port=0)):
        assert asyncio.run(no_delay(listener))


def test_remote_access_needs_a_login(tmp_path: Path):
    keyring = AuthStore(tmp_path)
    keyring.close()
    with pytest.raises(ConfigError, match="nobody could log in"):
        WebService(tmp_path, ServeOptions(bind="0.0.0.0", port=0))
    with pytest.raises(ConfigError, match="--public-url"):
        WebService(tmp_path, ServeOptions(bind="0.0.0.0", port=0, token="x" * 20))
    with pytest.raises(ConfigError, match="not a"):
        WebService(tmp_path, ServeOptions(bind="0.0.0.0", port=0, token="x" * 20, public_url="crawl.example.org"))
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert stat.S_IMODE((tmp_path / "web.sqlite").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb", ""]
)
def test_login_redirects_nowhere_else(target: str):
    assert local_path(target) == "/"


def test_login_redirects_back():
    assert local_path("/diff?url=https%3A%2F%2Fa.example") == "/diff?url=https%3A%2F%2Fa.example"


def test_a_password_in_a_setting_is_shown_to_nobody(fresh: Interface) -> None:
    path = fresh.service.state.path
    write_setting(collection_file(path), "store.url", "postgresql://me:s3cret@db.example/crawls?password=s3cret")
    for client in (fresh.with_token(AccessScope.READ), fresh.operator):
        for page in ("/settings", "/api/v1/settings"):
            text = client.get(page).text
            assert "s3cret" not in text
            assert "me:***@db.example/crawls" in text


def test_seeds_with_a_password_are_refused(fresh: Interface) -> None:
    url = "https://me:s3cret@harbour.example/"
    for path, body in (("/runs", {"urls": url}), (f"/pages/{quote(url, safe='')}/visits", {})):
        answer = fresh.with_token(AccessScope.OPERATE).post(API + path, json=body)
        assert answer.status_code == 422, (path, answer.text)
        assert "s3cret" not in answer.text
        assert "without them" in answer.text


def test_a_browser_that_comes_from_a_file_continues_on_a_page_of_ours(fresh: Interface) -> None:
    """Its redirect would count as the file's, and the strict cookie would not be sent."""
    link = fresh.service.link = OneTimeLink()
    app = fresh.service.apps()[0]
    client = TestClient(app, base_url=str(fresh.anybody.base_url), follow_redirects=False)
    answer = client.get(f"/first?key={link.secret}", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200
    assert 'http-equiv="refresh" content="0; url=/"' in answer.text
    assert link.secret not in answer.text
    assert client.get("/").status_code == 200
    client.close()


def test_strangers_cannot_lock_out_the_owner(tmp_path: Path):
    create_collection(tmp_path / "c.evercrawl")
    web = opened(tmp_path / "c.evercrawl", ServeOptions(port=0), {"web.password_attempts_per_address": 3})
    try:
        web.service.auth.set_password("a long password")
        owner = web.client()
        assert owner.post("/login", data={"password": "a long password"}).status_code == 303
        guesses = [web.anybody.post("/login", data={"password": f"guess {n}"}).status_code for n in range(5)]
        assert guesses == [403, 403, 429, 429, 429]
        assert web.anybody.post("/login", data={"password": "a long password"}).status_code == 429
        owner.cookies.delete(f"{COOKIE}_{web.service.ports[0]}")
        assert owner.post("/login", data={"password": "a long password"}).status_code == 303
        forged = web.client(headers={"Cookie": f"{COOKIE}_{web.service.ports[0]}_device=me.{'0' * 40}"})
        assert forged.post("/login", data={"password": "a long password"}).status_code == 429
    finally:
        closed(web)
