"""The command as a user runs it: real processes, a real web on loopback, real signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evercrawl.cli.progress import SUMMARY_FIELDS
from evercrawl.config.load import read_settings
from evercrawl.model.settings import Settings
from tests.command_server import run_command, start_command
from tests.worlds.demo_web import HOSTS, NEWS, SHIPS, DemoWeb, Reply, serving

HOST = HOSTS[0]
HOSTILE_TITLE = "\x1b[2Jevil \u202eeltit"
HARBOUR_PAGES = 1 + len(SHIPS) + NEWS + 1
"""The front page, ships, news and the logbook: what a complete crawl of the first site stores."""
DEADLINE_S = 60


class Place:
    """A folder, a web, and the command that crawls the one from the other."""

    def __init__(self, folder: Path, web: DemoWeb, port: int) -> None:
        self.folder = folder
        self.web = web
        self.port = port
        self.site = f"http://{HOST}:{port}"
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        home = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        self.env = keep | home | {"EVERCRAWL_CONTACT": "test@example.org"}
        self.flags = ["--pace", "own", "--allow-private", "--resolve", f"{HOST}:{port}:127.0.0.1"]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return start_command(
            *("-C", "site.evercrawl", *arguments),
            cwd=self.folder,
            env=self.env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def call(self, *arguments: str, code: int = 0) -> str:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == code, f"{arguments}: {process.returncode}\n{out}\n{err}"
        assert "Traceback" not in err
        return out

    def crawl(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        out = self.call("crawl", *arguments, *self.flags, "--json", code=code)
        found: dict[str, Any] = json.loads(out.splitlines()[-1])
        return found

    def settings(self) -> Settings:
        """What the flags of `crawl` and the collection's file say, for the library."""
        kept = read_settings(self.folder / "site.evercrawl").settings
        return replace(
            kept,
            identity=replace(kept.identity, contact="test@example.org"),
            pace=replace(kept.pace, mode="unlimited"),
            http=replace(kept.http, allow_private=True, resolve=(f"{HOST}:{self.port}:127.0.0.1",)),
        )

    def why(self, path: str, code: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.call("why", self.site + path, "--json", code=code))
        return found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    web = DemoWeb()
    with serving(web) as port:
        yield Place(tmp_path, web, port)


def test_crawl_update_and_every_reading_command(place: Place) -> None:
    first = place.crawl(place.site + "/")
    assert set(SUMMARY_FIELDS) <= set(first)
    assert first["new"] == HARBOUR_PAGES
    assert first["errors"] == 1
    assert list((place.folder / "site.evercrawl").rglob("*.warc.gz"))

    refused = place.why("/private/ledger")
    assert (refused["outcome"], refused["reason"], refused["visits"]) == ("rejected", "robots", 0)
    assert "line 2" in refused["detail"]
    assert place.why("/lost")["reason"] == "not_found"
    assert place.why("/ships/old-name")["reason"] == "redirect"
    assert place.why("/never-heard-of", code=1)["known"] is False

    bare = place.site.removeprefix("http://")
    assert place.call("show", bare + "/") == place.call("show", place.site + "/")
    assert json.loads(place.call("why", bare + "/", "--json"))["url"] == place.site + "/"

    skipped = [json.loads(line) for line in place.call("skipped", "--json").splitlines()]
    reasons = {row["url"]: row["reason"] for row in skipped}
    assert reasons[place.site + "/private/ledger"] == "robots"
    assert reasons["https://elsewhere.example/"] == "out_of_scope"
    assert reasons[place.site + "/pier.jpg"] == "file_type"
    assert all({"url", "reason", "detail", "parent"} <= set(row) for row in skipped)

    status = json.loads(place.call("status", "--json"))
    assert status["schema"] == "evercrawl.status/1"
    assert status["requests"] == first["requests"]
    assert status["by_reason"]["new"] == first["new"]
    assert "reason" in place.call("status")

    again = place.crawl()
    assert again["requests"] == 0
    assert again["not_needed"] >= first["new"]

    place.web.change()
    update = place.crawl("--refresh")
    assert (update["changed"], update["new"]) == (3, 1)
    assert update["not_modified"] >= 15
    assert place.why("/news/2")["reason"] == "gone"


def test_crawled_text_is_escaped_in_output(place: Place) -> None:
    body = f"<title>{HOSTILE_TITLE}</title><main><p>{HOSTILE_TITLE}</p></main><a href='/x'>{HOSTILE_TITLE}</a>"
    place.web.replies[HOST, "/"] = Reply(200, body)
    place.crawl(place.site + "/", "--scope", "list")
    for form in ("text", "links", "headers"):
        shown = place.call("show", place.site + "/", form)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert json.loads(place.call("show", place.site + "/", "--json"))["title"].startswith("evil") is False
    assert place.call("show", place.site + "/", "html") == body


def test_exit_codes(place: Place, tmp_path: Path) -> None:
    assert place.crawl(place.site + "/", "--max-pages", "3", code=7)["fetched"] <= 5
    assert place.crawl("--max-pages", "none")["new"] > 10


@pytest.mark.parametrize("words", [["--help"], ["tool", "--help"], ["completion", "bash"]])
def test_a_reader_that_ends_first_is_no_error_but_shows_in_the_exit_code(tmp_path: Path, words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = start_command(*words, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    with process:
        assert process.communicate(timeout=DEADLINE_S)[1] == ""
    assert process.returncode == 141


def test_doctor_works_in_a_folder_that_cannot_be_read_or_is_no_collection(tmp_path: Path) -> None:
    (tmp_path / "web.evercrawl").mkdir()
    for folder in (tmp_path, tmp_path / "web.evercrawl", Path("/")):
        done = run_command("doctor", "--json", cwd=folder, timeout=DEADLINE_S)
        assert done.returncode in (0, 1), done.stderr
        assert "extra graph" in {check["name"] for check in json.loads(done.stdout)["checks"]}


def test_doctor_reads_robots_like_a_crawl(place: Place) -> None:
    place.crawl(place.site + "/", "--scope", "list")
    flags = [*place.flags[2:], "--json"]
    place.web.replies[HOST, "/robots.txt"] = Reply(
        200, "User-agent: *\nCrawl-delay: 2\nDisallow: /private/\nSitemap: /map.xml\n", "text/plain"
    )
    checks = json.loads(place.call("doctor", place.site + "/private/x", *flags, code=1))["checks"]
    found = {check["name"]: check for check in checks}
    assert (found["url"]["verdict"], found["url"]["detail"]) == ("fail", "forbidden by line 3")
    assert "2 s" in found["delay"]["detail"]
    assert found["sitemap"]["detail"] == place.site + "/map.xml"
    place.call("doctor", place.site + "/", *flags)
    place.web.replies[HOST, "/robots.txt"] = Reply(503, "", "text/plain")
    assert "no page may be fetched" in place.call("doctor", place.site + "/", *flags, code=1)


def test_a_site_disallowed_by_robots_has_its_own_exit_code(place: Place) -> None:
    place.web.replies[HOST, "/robots.txt"] = Reply(200, "User-agent: *\nDisallow: /\n", "text/plain")
    assert place.crawl(place.site + "/", code=6)["fetched"] == 0


def test_an_unreachable_site_has_its_own_exit_code_and_leaves_no_unnamed_folder(place: Place) -> None:
    place.env["EVERCRAWL_CRAWL__IDLE_TIMEOUT"] = "0"
    flags = ["--allow-private", "--resolve", f"{HOST}:1081:127.0.0.1", "--json"]
    place.call("crawl", f"http://{HOST}:1081/", *flags, code=4)
    assert (place.folder / "site.evercrawl" / "collection.toml").exists()  # It was named, so it is kept.
    (place.folder / "empty").mkdir()
    unnamed = start_command("crawl", f"http://{HOST}:1081/", *flags, cwd=place.folder / "empty", env=place.env)
    assert unnamed.wait(DEADLINE_S) == 4
    assert not list((place.folder / "empty").iterdir())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_safely_and_the_next_call_resumes(place: Place, number: int, code: int) -> None:
    process = place.start("crawl", place.site + "/", *place.flags, "--gap", "0.5", "--json")
    _wait_for(place.folder / "site.evercrawl" / "archive")
    process.send_signal(signal.SIGUSR1)
    with_other = place.start("crawl", *place.flags)
    assert "in use by process" in with_other.communicate(timeout=DEADLINE_S)[1]
    assert with_other.returncode == 5
    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == code, err
    assert "pages · " in err
    assert "stopping" in err
    assert "resume" in err
    before = json.loads(out)["new"]
    assert before < HARBOUR_PAGES
    assert place.crawl()["new"] + before == HARBOUR_PAGES


def _wait_for(path: Path) -> None:
    for _ in range(DEADLINE_S * 20):
        if path.is_dir() and any(path.iterdir()):
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


def test_a_bare_host_name_matches_the_collected_site(place: Place) -> None:
    place.crawl(f"{place.site}/", "--max-pages", "1", code=7)
    bare = place.site.removeprefix("http://")
    assert json.loads(place.call("pace", "slow", bare, "30s", "--json"))["site"] == place.site
    assert json.loads(place.call("mute", "add", "Visitors: *", "--site", bare, "--json"))["place"] == place.site
    assert place.call("pace", "slow", "unknown.example", "30s").startswith("https://unknown.example: ")
    place.call("pace", "undo", bare)
    assert place.site not in place.call("pace", "list")


def test_others_can_read_nothing_of_a_collection(place: Place) -> None:
    before = os.umask(0)
    try:
        place.crawl(place.site + "/", "--max-pages", "3", code=7)
    finally:
        os.umask(before)
    collection = place.folder / "site.evercrawl"
    assert collection.stat().st_mode & 0o077 == 0
    collection.chmod(0o755)  # Even then:
    found = [collection / "collection.toml", collection / "evercrawl.log", *(collection / "archive").rglob("*")]
    assert [path for path in found if path.stat().st_mode & 0o007] == []
    assert any(path.name.endswith(".warc.gz") for path in found)
    assert not (collection / "state").stat().st_mode & 0o007
