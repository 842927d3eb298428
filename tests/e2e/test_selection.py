"""Crawls that keep only some pages: by type, size, language, date and keywords, and what `why` says afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evercrawl.model.reason import Outcome, Reason
from tests.worlds.hostile.command import Command
from tests.worlds.hostile.servers import answer_of
from tests.worlds.hostile.sites import Site, SiteRequest, bytes_for, html, web

FLAGS = ("--pace", "own", "--allow-private", "--json")
BIG = "x" * 3_000_000
ENGLISH = "This is a page about the house and the garden, and it is written for all the people of the town."
FRENCH = "Ceci est une page sur la maison et le jardin, et elle est écrite pour tous les gens de la ville."


def _answer(kind: str, body: str, **headers: str) -> bytes:
    fields = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return answer_of({"body": body, "headers": fields})


NAMES: list[str] = []
PAGES = {
    "/": html("".join(f"<a href='/{name}'>x</a>" for name in ("photo", "paper", "fr", "solar", "old", "list?p=1"))),
    "/photo": _answer("image/png", BIG),
    "/paper": _answer("application/pdf", BIG),
    "/fr": html(f"<p>{FRENCH}</p><a href='/child'>child</a>"),
    "/child": html(f"<title>Child</title><p>{ENGLISH} solar</p>"),
    "/solar": html(f"<title>Solar power</title><p>{ENGLISH}</p>"),
    "/old": html(f"<meta property='article:published_time' content='2001-02-03'><p>{ENGLISH} solar, but long ago</p>"),
    "/list?p=1": html(f"<p>{ENGLISH} solar list</p>"),
    "/coded": _answer("text/html", "<a href='/behind-the-code'>x</a>", Content_Encoding="x-secret"),
}


def _respond(asked: SiteRequest) -> bytes:
    return PAGES.get(asked.path, answer_of({"status": 404}))


@pytest.fixture
def site() -> Iterator[Site]:
    with web() as sites:
        made = sites.add("site", bytes_for(_respond))
        NAMES.append(sites.name_server)
        yield made


@pytest.fixture
def command(site: Site, tmp_path: Path) -> Command:
    return Command(tmp_path, {"dns.servers": NAMES[-1]})


def _skipped(command: Command, site: Site) -> dict[str, str]:
    rows = map(json.loads, command.call("skipped", "--json").out.splitlines())
    return {row["url"].removeprefix(site.url("")): row["reason"] for row in rows}


def test_files_are_cut_off_after_the_header_and_not_fetched_again(command: Command, site: Site) -> None:
    summary = command.crawl(site.url(), *FLAGS).summary()
    assert summary["bytes"] < 100_000
    assert _skipped(command, site) == {"/photo": "media_type", "/paper": "media_type"}
    found = command.why(site.url("/photo"))
    assert (found.outcome, found.reason, found.status) == (Outcome.REJECTED, Reason.MEDIA_TYPE, 200)
    assert "image/png" in found.detail
    asked = site.paths().count("/photo")
    command.crawl(*FLAGS)
    assert site.paths().count("/photo") == asked == 1


def test_conditions_select_pages_and_links_are_still_followed(command: Command, site: Site) -> None:
    conditions = ("--language", "en", "--keyword", "solar", "--newer-than", "2020-01-01", "--no-dynamic")
    command.crawl(site.url(), *conditions, *FLAGS)
    assert _skipped(command, site) == {
        "/": "keywords",
        "/photo": "media_type",
        "/paper": "media_type",
        "/fr": "language",
        "/old": "date",
        "/list?p=1": "dynamic",
    }
    assert command.why(site.url("/child")).outcome is Outcome.FETCHED
    assert command.call("status", "--json").summary()["versions"] == 2


def test_links_of_rejected_pages_can_be_left_alone(command: Command, site: Site) -> None:
    command.env["EVERCRAWL_SCOPE__FOLLOW_REJECTED"] = "no"
    command.crawl(site.url(), "--keyword", "nowhere", *FLAGS)
    assert [path for path in site.paths() if path != "/robots.txt"][:1] == ["/"]
    assert not {"/fr", "/solar", "/child"} & set(site.paths())


def test_a_change_of_the_settings_gives_todays_reason_and_is_carried_out(command: Command, site: Site) -> None:
    command.crawl(site.url(), *FLAGS)
    command.call("config", "set", "scope.exclude", "solar")
    assert command.why(site.url("/solar")).reason is Reason.EXCLUDED
    assert _skipped(command, site)["/solar"] == "excluded"
    command.call("config", "set", "scope.exclude", "[]")
    command.call("config", "set", "scope.media_types", "text/html,application/pdf")
    assert command.why(site.url("/solar")).outcome is Outcome.FETCHED
    assert command.why(site.url("/paper")).reason is Reason.WAITING
    assert "allowed now" in command.why(site.url("/paper")).detail
    assert _skipped(command, site) == {"/photo": "media_type"}
    command.crawl(*FLAGS)
    assert command.why(site.url("/paper")).outcome is Outcome.FETCHED
    assert site.paths().count("/photo") == 1
    command.call("config", "set", "scope.max_bytes", "1MB")
    command.crawl("--refresh", *FLAGS)
    assert command.why(site.url("/paper")).reason is Reason.SIZE


def test_settings_of_a_site_and_hosts_that_are_never_asked(command: Command, site: Site, tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text(f"# never these\n0.0.0.0 {site.host}\n")
    host = site.origin.partition("://")[2]
    command.crawl(site.url(), "--max-pages", "1", *FLAGS)
    command.call("config", "set", f"site.{host}/fr.languages", "en")
    command.crawl(*FLAGS)
    assert command.why(site.url("/fr")).reason is Reason.LANGUAGE
    before = len(site.paths())
    command.call("config", "set", "scope.exclude_hosts_file", str(tmp_path / "hosts.txt"))
    command.crawl("--refresh", *FLAGS)
    assert len(site.paths()) == before
    assert command.why(site.url("/solar")).reason is Reason.EXCLUDED_HOST


def test_a_body_with_an_unknown_coding_is_kept_as_bytes(command: Command, site: Site) -> None:
    command.crawl(site.url("/coded"), *FLAGS)
    found = command.why(site.url("/coded"))
    assert found.outcome is Outcome.FETCHED
    assert "x-secret" in found.detail
    assert "/behind-the-code" not in site.paths()


def test_a_refused_redirect_is_judged_by_its_target(
    command: Command, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        PAGES, "/", html("<a href='/moved'>x</a><a href='/ftp'>x</a><a href='/" + "y" * 3000 + "'>x</a>")
    )
    monkeypatch.setitem(PAGES, "/moved", answer_of({"status": 302, "headers": {"Location": "/solar"}}))
    monkeypatch.setitem(PAGES, "/ftp", answer_of({"status": 302, "headers": {"Location": "ftp://files.test/"}}))
    command.crawl(site.url(), "--exclude", "solar", *FLAGS)
    command.crawl(*FLAGS)
    assert site.paths().count("/moved") == site.paths().count("/ftp") == 1
    found = command.why(site.url("/moved"))
    assert (found.outcome, found.reason) == (Outcome.REJECTED, Reason.EXCLUDED)
    assert f"redirects to {site.url('/solar')}" in found.detail
    assert command.why(site.url("/ftp")).reason is Reason.UNSUPPORTED_SCHEME
    assert command.why(site.url("/" + "y" * 3000)).reason is Reason.URL_TOO_LONG
    command.call("config", "set", "scope.exclude", "[]")
    assert command.why(site.url("/moved")).reason is Reason.WAITING
    command.crawl(*FLAGS)
    assert command.why(site.url("/moved")).reason is Reason.REDIRECT
    assert command.why(site.url("/solar")).outcome is Outcome.FETCHED
    assert site.paths().count("/ftp") == 1
