"""Crawls of sites behind a login, HTTP Basic and proxies: complete, without leaving the session, and without leaks."""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import evercrawl
from evercrawl.collection.site_logins import cookies_from_browser
from evercrawl.model.credentials import Cookie
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import Settings
from tests.command_server import start_command
from tests.e2e.proxies import PASSWORD as PROXY_PASSWORD
from tests.e2e.proxies import proxy_server
from tests.postgres_server import PostgresServer
from tests.worlds.hostile.command import Command, CommandResult
from tests.worlds.login_site import PAGES, PASSWORD, USER, LoginSite, serve

FLAGS = ("--pace", "own", "--wait", "1")
FORMS = ("warc", "wacz", "jsonl", "csv", "cdxj", "markdown", "mirror", "sqlite", "parquet")
TOKEN = "a token for the test of secrets"


def _recipe(site: LoginSite, more: str = "", *, password: str = PASSWORD) -> str:
    login = f'login = {{ url = "/login", user = "{USER}", password = "{password}" }}'
    return f'["{site.origin}"]\n{login}\n{more}\n'


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path, {})


def _crawl(command: Command, site: LoginSite, credentials: str | None = None, *more: str) -> CommandResult:
    if credentials is not None:
        command.env["EVERCRAWL_CREDENTIALS"] = credentials
    return command.crawl(f"{site.origin}/", *FLAGS, *more)


def _texts(command: Command) -> dict[str, str]:
    rows = map(json.loads, command.call("export", "jsonl").out.splitlines())
    return {row["url"]: row["text"] for row in rows}


def _assert_complete(command: Command, site: LoginSite) -> None:
    texts = _texts(command)
    for number in range(PAGES):
        assert f"private words of /p/{number} " in texts[f"{site.origin}/p/{number}"]
    assert not any("Register" in text or "See you" in text for text in texts.values())


def test_a_site_behind_a_form_is_crawled_and_its_logout_link_is_not_followed(command: Command) -> None:
    with serve(LoginSite()) as site:
        summary = _crawl(command, site, _recipe(site)).summary()
        assert site.logins == 1
        assert not any(path.startswith("/logout") for path in site.paths())
        extra = [path for path in site.paths() if path == "/" or path.startswith("/login")]
        assert len(extra) <= 9, extra
    _assert_complete(command, site)
    assert summary["stopped"] == "done"
    rows = [json.loads(line) for line in command.call("skipped", "--json").out.splitlines()]
    assert {row["reason"] for row in rows if "/logout" in row["url"]} <= {"logout", "trap"}
    found = command.why(f"{site.origin}/forbidden")
    assert (found.outcome, found.status) == (Outcome.ERROR, 403)
    assert command.why(f"{site.origin}/password").outcome is Outcome.FETCHED


@pytest.mark.parametrize("is_database", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_credentials_reach_worker_processes(
    command: Command, request: pytest.FixtureRequest, is_database: bool
) -> None:
    more: tuple[str, ...] = ()
    if is_database:
        server: PostgresServer = request.getfixturevalue("postgres")
        more = ("--store", f"{server.dsn}?namespace={server.new_namespace()}")
    with serve(LoginSite()) as site:
        _crawl(command, site, _recipe(site), "--workers", "2", *more)
        assert 1 <= site.logins <= 2
        assert not any(path.startswith("/logout") for path in site.paths())
    _assert_complete(command, site)


def test_a_session_that_expires_is_opened_again(command: Command) -> None:
    with serve(LoginSite(session_requests=9)) as site:
        _crawl(command, site, _recipe(site))
        assert 2 <= site.logins <= 5
    _assert_complete(command, site)


def test_pages_that_end_the_session_are_not_fetched_again(command: Command) -> None:
    with serve(LoginSite(links="<a href='/bye'>b</a> <a href='/x/7'>seven</a>")) as site:
        _crawl(command, site, _recipe(site))
        _assert_complete(command, site)
        assert command.why(f"{site.origin}/bye").reason is Reason.LOGOUT
        for _ in range(3):  # A page that was asked while the session had ended is judged in the next run.
            _crawl(command, site, None, "--refresh")
            if command.why(f"{site.origin}/x/7").reason is not Reason.SIGNED_OUT:
                break
        assert command.why(f"{site.origin}/x/7").reason is Reason.LOGOUT
        before = len(site.requests)
        _crawl(command, site, None, "--refresh")
        assert not {"/bye", "/x/7"} & set(site.paths()[before:])
        _assert_complete(command, site)


def test_an_ended_session_without_a_recipe_is_reported_and_a_new_one_continues(command: Command) -> None:
    with serve(LoginSite(session_requests=7)) as site:
        cookies = _cookie_file(command, site)
        signed_in = command.call("login", f"{site.origin}/", "--cookies", str(cookies), "--allow-private")
        assert signed_in.code == 0, signed_in.err
        crawled = _crawl(command, site)
        assert crawled.summary()["stopped"] == "closed"
        assert "the session has ended" in crawled.err
        assert f"evercrawl login {site.origin}" in crawled.err
        assert not any("Register" in text for text in _texts(command).values())
        closed = json.loads(command.call("status", "--json").out)["closed_sites"]
        assert "the session has ended" in closed[0]["reason"]
        site.session_requests = None
        command.call("login", f"{site.origin}/", "--cookies", str(_cookie_file(command, site)), "--allow-private")
        assert _crawl(command, site).summary()["stopped"] == "done"
    _assert_complete(command, site)


def _cookie_file(command: Command, site: LoginSite) -> Path:
    """Return a cookie file with a session that the site knows."""
    session = f"imported{len(site.issued)}0123456789"
    site.sessions[session] = 0
    site.issued.append(session)
    path = command.folder / "cookies.txt"
    path.write_text(f"# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t{session}\n")
    return path


def test_a_wrong_password_is_tried_once_and_reported(command: Command) -> None:
    with serve(LoginSite()) as site:
        crawled = _crawl(command, site, _recipe(site, password="wrong-s3cret"))
        assert sum(method == "POST" for method, _, _ in site.requests) == 1
    assert "signing in failed" in crawled.err
    assert "wrong-s3cret" not in crawled.err + crawled.out
    assert crawled.summary()["fetched"] == 0


def test_a_basic_site_is_crawled_and_refused_credentials_are_reported(command: Command) -> None:
    with serve(LoginSite(basic="ann:basic-s3cret")) as site:
        _crawl(command, site, f'["{site.origin}"]\nbasic = "ann:basic-s3cret"')
        _assert_complete(command, site)
        crawled = _crawl(command, site, f'["{site.origin}"]\nbasic = "ann:other"', "--refresh")
        assert "the credentials are refused" in crawled.err


def test_credentials_go_to_their_site_only(command: Command) -> None:
    with serve(LoginSite()) as other:
        other.basic = "nobody:nothing"
        away = f"<a href='{other.origin}/x'>x</a><a href='{other.origin}/robots.txt'>r</a>"
        with serve(LoginSite(links=away)) as site:
            more = 'bearer = "bearer-s3cret"\nheaders = { X-Key = "key-s3cret" }'
            _crawl(command, site, _recipe(site, more), f"{other.origin}/")
            assert other.paths()
            assert any(headers.get("x-key") == "key-s3cret" for headers in site.headers)
            for headers in other.headers:
                assert not {"authorization", "cookie", "x-key"} & headers.keys()


@pytest.mark.parametrize("kind", ["http", "socks5", "socks5h"])
def test_a_site_is_crawled_through_a_proxy(command: Command, kind: str) -> None:
    with serve(LoginSite(basic="ann:basic-s3cret")) as site, proxy_server(kind) as proxy:
        origin = f"http://site.test:{site.port}"
        command.env["EVERCRAWL_CREDENTIALS"] = (
            f'["{origin}"]\nbasic = "ann:basic-s3cret"\n["*"]\nproxy = "{proxy.url()}"'
        )
        resolve = () if kind == "socks5h" else ("--resolve", f"site.test:{site.port}:127.0.0.1")
        command.crawl(f"{origin}/", *FLAGS, *resolve)
        assert len(_texts(command)) >= PAGES
        assert proxy.asked
        host = "site.test" if kind == "socks5h" else "127.0.0.1"
        assert all(f"{host}:{site.port}" in asked for asked in proxy.asked)
        forms = FORMS if kind == "http" else FORMS[:1]  # Exports know nothing about the kind of a proxy.
        _assert_no_leaks(command, ["basic-s3cret", PROXY_PASSWORD], forms)
        command.env["EVERCRAWL_CREDENTIALS"] = f'["*"]\nproxy = "{proxy.url(password="wrong-s3cret")}"'
        crawled = command.crawl("--refresh", *FLAGS, *resolve)
        assert proxy.refused
        status = command.call("status", "--json").out
        assert "the proxy" in status
        assert "wrong-s3cret" not in crawled.err + crawled.out + status


@pytest.mark.parametrize("kind", ["http", "socks5", "socks5h"])
def test_private_addresses_stay_forbidden_behind_a_proxy(command: Command, kind: str) -> None:
    with serve(LoginSite()) as site, proxy_server(kind) as proxy:
        command.env["EVERCRAWL_CREDENTIALS"] = f'["*"]\nproxy = "{proxy.url()}"'
        command.call("crawl", f"http://127.0.0.1:{site.port}/", f"http://localhost:{site.port}/", *FLAGS, "--json")
        assert not proxy.asked
        assert command.why(f"http://127.0.0.1:{site.port}/").reason is Reason.PRIVATE_ADDRESS


def test_cookies_of_other_sites_are_kept_on_request_only(command: Command) -> None:
    with serve(LoginSite()) as site:
        command.crawl(f"{site.origin}/login", *FLAGS)
        assert not any("cookie" in headers for headers in site.headers)
        command.env["EVERCRAWL_HTTP__KEEP_COOKIES"] = "all"
        command.crawl("--refresh", *FLAGS)
        command.crawl("--refresh", *FLAGS)
        assert any(headers.get("cookie", "").startswith("pre=") for headers in site.headers)


def test_the_login_command_fills_in_a_form_and_lists_no_secrets(command: Command) -> None:
    with serve(LoginSite()) as site:
        typed = subprocess.run(
            [*_python(), "-C", str(command.collection), "login", f"{site.origin}/", "--form", "--allow-private"],
            input=f"{USER}\n{PASSWORD}\n", env=command.env, text=True, capture_output=True, check=False,
        )  # fmt: skip
        assert typed.returncode == 0, typed.stderr
        assert site.logins == 1
        file = command.collection / "credentials.toml"
        assert file.stat().st_mode & 0o777 == 0o600
        listed = command.call("login").out
        assert "login form" in listed
        assert PASSWORD not in listed + typed.stderr + typed.stdout
        _crawl(command, site)
        _assert_complete(command, site)
        assert site.logins == 1  # The session of the command is used.
        assert command.call("login", f"{site.origin}/", "--remove").code == 0
        assert not command.call("login").out


def _python() -> list[str]:
    import sys

    return [sys.executable, "-m", "evercrawl"]


def test_without_a_display_the_login_command_names_other_ways(command: Command) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        command.env.pop(name, None)
    called = command.call("login", "https://example.org/")
    assert called.code == 2
    assert "--cookies" in called.err
    assert "--form" in called.err


# Leaks


def test_no_secret_is_in_any_file_export_log_answer_or_screen(command: Command) -> None:
    with serve(LoginSite(session_requests=20, links="<a href='/bye'>b</a>")) as site:
        more = 'headers = { X-Key = "key-s3cret-value" }'
        printed = _crawl(command, site, _recipe(site, more), "-v")
        printed2 = _crawl(command, site, None, "--refresh")
        assert len(site.issued) >= 2
        secrets = [PASSWORD, "key-s3cret-value", *site.issued]
        _assert_no_leaks(command, secrets)
        for result in (printed, printed2, *(command.call(*words) for words in _WORDS)):
            _assert_absent(result.out + result.err, secrets)
        with _serving(command) as address:
            for path in _PATHS:
                for body in _answers(address + path.format(site=site.origin)):
                    _assert_absent(body, secrets)


_WORDS = (("status", "--json"), ("log",), ("skipped",), ("config", "show"), ("login",), ("doctor",), ("export", "csv"))
_PATHS = (
    "/", "/sites", "/changes", "/runs", "/administration", "/api/v1/status", "/api/v1/pages", "/api/v1/sites",
    "/pages?url={site}/", "/api/v1/overview", "/cdx?url={site}/*", "/metrics", "/openapi.json",
    "/web/{site}/", "/timemap/link/{site}/",
)  # fmt: skip


@contextmanager
def _serving(command: Command) -> Iterator[str]:
    process = start_command(
        *("-C", str(command.collection), "serve", "--port", "0", "--json", "--no-open", "--token", TOKEN),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=command.env,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()


def _answers(url: str) -> Iterator[str]:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            yield str(answer.headers) + answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        yield str(error.headers) + error.read().decode("utf-8", "replace")


def _assert_absent(text: str, secrets: list[str]) -> None:
    for secret in secrets:
        assert secret not in text
        assert base64.b64encode(secret.encode()).decode().rstrip("=") not in text


def _assert_no_leaks(command: Command, secrets: list[str], exported: tuple[str, ...] = FORMS) -> None:
    """Search every file of the collection, and every export, raw and unpacked."""
    exports = command.folder / "exports"
    exports.mkdir()
    for form in exported:
        command.call("export", form, "-o", str(exports / f"export.{form}"))
    assert list(exports.iterdir())
    forms = [secret.encode() for secret in secrets]
    forms += [base64.b64encode(secret).rstrip(b"=") for secret in forms]
    forms += [base64.b64encode(b"ann:" + secret).rstrip(b"=") for secret in forms]
    heads = 0
    for path in (*command.collection.rglob("*"), *exports.rglob("*")):
        if not path.is_file():
            continue
        for data in _unpacked(path.read_bytes()):
            found = [form for form in forms if form in data]
            assert not found, f"{path} has {found}"
            if path.name.endswith(".warc.gz"):
                heads += data.count(b"HTTP/1.1")
                assert not re.search(rb"(?im)^(set-cookie|proxy-authorization):", data), path
                assert all(value == b"***" for value in re.findall(rb"(?im)^(?:cookie|authorization): (.*?)\r", data))
    assert heads > PAGES
    assert evercrawl.open(command.collection).status().pages > PAGES


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Yield data as it is, and what is compressed in it: gzip members, ZIP entries and zlib streams of rows."""
    yield data
    if data[:2] == b"\x1f\x8b":
        yield gzip.decompress(data)
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for name in packed.namelist():
                yield from _unpacked(packed.read(name))
    for match in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data) if data[:6] == b"SQLite" else ():
        try:
            yield zlib.decompressobj().decompress(data[match.start() :], 1_000_000)
        except zlib.error:
            continue


def test_the_credentials_file_is_refused_if_others_can_read_it(command: Command) -> None:
    with serve(LoginSite()) as site:
        command.crawl(f"{site.origin}/login", *FLAGS)
        file = command.collection / "credentials.toml"
        file.write_text(_recipe(site))
        os.chmod(file, 0o644)
        called = command.crawl("--refresh", *FLAGS)
    assert called.code == 2
    assert "chmod 600" in called.err


def test_cookies_are_taken_from_a_browser() -> None:
    async def sign_in(site: LoginSite) -> tuple[Cookie, ...]:
        async def until_asked() -> None:
            while "/login" not in site.paths():  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            await asyncio.sleep(2)  # The browser still has to read the answer.

        flags = ("--headless=new",)
        return await cookies_from_browser(f"{site.origin}/login", Settings(), is_done=until_asked(), more_flags=flags)

    with serve(LoginSite()) as site:
        cookies = asyncio.run(sign_in(site))
        assert [(cookie.name, cookie.domain, cookie.is_host_only) for cookie in cookies] == [("pre", "127.0.0.1", True)]
        assert cookies[0].value in site.tokens
