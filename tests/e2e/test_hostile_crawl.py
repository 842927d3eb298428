"""Every server of the shared catalogue that concerns fetching, in whole crawls.

Most rows are sites of one single crawl, because no site may harm the others. Checked are `why`, the sites' logs, the
WARC files, and the memory of the crawling process.
"""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

import evercrawl
from evercrawl.cli.main import run as cli
from evercrawl.core.faults import FAULT_RULES, site_pause
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Fault
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.report import Explanation
from tests.e2e.certificates import Authority
from tests.programs import find_program
from tests.shared import conformance_rows
from tests.worlds.hostile.cast import Cast, as_described
from tests.worlds.hostile.command import Command, CommandResult
from tests.worlds.hostile.expected import OTHERWISE, OWN, REASONS, TRUNCATED_IN_WARC
from tests.worlds.hostile.servers import answer_of
from tests.worlds.hostile.sites import NO_ROBOTS, SiteRequest, Web, bytes_for, html, web

QUICK = {
    "http.connect_timeout": "10",
    "http.first_byte_timeout": "10",
    "http.idle_timeout": "10",
    "http.total_timeout": "14",
    "crawl.idle_timeout": "4",
    "crawl.retry_timeout": "0",
    "dns.timeout": "90",
    "robots.max_crawl_delay": "3600",
}
"""Limits that make a test short, time for the name server, which shares its thread with hundreds of sites, and a
Crawl-delay that does not end before the test on a busy machine."""
AT_ONCE = ("--pace", "own", "--gap", "0.05")
MOST_MEMORY = 600 * 1024 * 1024
"""For some hundred hostile sites at the same time."""
MOST_SECONDS = 300
"""A silent site is asked twice, and all sites share a busy machine; endless sites would take hours."""
REQUEST_FIELDS = {"Host", "User-Agent", "Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since"}

NOT_HERE = {
    "200-for-everything": "tests/e2e/test_soft_404.py",
    "soft-404-redirect-home": "tests/e2e/test_soft_404.py",
    "soft-404-custom": "tests/e2e/test_soft_404.py",
    "mirror-path-dotdot": "no part of a crawl, whose pages live in WARC files: a matter of `export`",
    "mirror-path-absolute-in-query": "a matter of `export`",
    "mirror-path-trailing-dot-space": "a matter of `export`",
    "mirror-path-leading-dash": "a matter of `export`",
    "mirror-path-long-segment": "a matter of `export`",
    "mirror-path-file-and-dir": "a matter of `export`",
    "mirror-path-rtl-override": "a matter of `export`",
    "mirror-path-symlink-name": "a matter of `export`",
    "mirror-path-host-dotdot": "a matter of `export`",
    "ui-csrf": "tests/web/test_doors.py",
    "ui-dns-rebinding": "tests/web/test_doors.py",
    "kill-9-midway": "tests/e2e/test_crash.py",
    "one-host-many-ips": "tests/e2e/test_politeness_log.py",
}
"""Rows of the catalogue that are not proved in this file, and why or where else."""
SITE_OF_ITS_OWN = {
    "304-with-body", "etag-always-new", "last-modified-now", "last-modified-future", "crlf-in-etag",
    "disk-full", "db-locked", "ssrf-via-robots-redirect",
}  # fmt: skip
"""Rows that need a second visit, another process or another network: each has a test by name below."""


def catalogue() -> list[dict[str, Any]]:
    """Every row of the catalogue; none where it is absent."""
    try:
        return conformance_rows("http_hostile/catalogue.jsonl")
    except pytest.skip.Exception:
        return []


def is_for_the_private_net(row: dict[str, Any]) -> bool:
    return row["name"] == "ssrf-via-robots-redirect" or bool({"link_or_redirect", "dns"} & set(row["server"]))


CATALOGUE = catalogue()
PLAYED = [
    row for row in CATALOGUE
    if row["name"] not in NOT_HERE | dict.fromkeys(SITE_OF_ITS_OWN) and not is_for_the_private_net(row)
]  # fmt: skip
IN_ONE_CRAWL = [*PLAYED, *OWN]
ASKING_TO_WAIT = [row for row in IN_ONE_CRAWL if "Retry-After" in str(row)]


def test_no_row_of_the_catalogue_is_forgotten() -> None:
    if not CATALOGUE:
        pytest.skip("the catalogue is absent")
    names = {row["name"] for row in CATALOGUE}
    played = {row["name"] for row in PLAYED}
    private = {row["name"] for row in CATALOGUE if is_for_the_private_net(row)}
    assert names == played | private | (SITE_OF_ITS_OWN & names) | (set(NOT_HERE) & names)
    assert set(NOT_HERE) <= names
    assert names >= SITE_OF_ITS_OWN


class Crawled(NamedTuple):
    """One crawl of all rows, and a second call right behind it."""

    command: Command
    cast: Cast
    ran: CommandResult
    again: CommandResult
    epoch: datetime
    """When the clock of the request logs was 0."""
    looked: float
    """When `why` had been asked about every site, on that clock."""
    asked_first: dict[str, int]
    """Requests to each site when the first call had ended."""
    found: dict[str, Explanation]
    paused: dict[str, Explanation]
    """What `why` said about `/second` of sites that asked us to wait."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Crawled]:
    with web() as sites:
        cast = Cast(sites, authority)
        for row in IN_ONE_CRAWL:
            cast.put(row)
        settings = QUICK | {"dns.servers": sites.name_server, "http.ca_file": str(authority.ca_file)}
        command = Command(tmp_path_factory.mktemp("crawl"), settings)
        ran = command.crawl(*cast.seeds(), *AT_ONCE)
        epoch = datetime.now(UTC) - timedelta(seconds=time.monotonic())
        paused = {row["name"]: command.why(cast.cases[row["name"]].site.url("/second")) for row in ASKING_TO_WAIT}
        found = {name: command.why(case.look) for name, case in cast.cases.items()}
        looked = time.monotonic()
        asked = {name: len(case.site.asked) for name, case in cast.cases.items()}
        again = command.crawl(*AT_ONCE)
        yield Crawled(command, cast, ran, again, epoch, looked, asked, found, paused)


@pytest.mark.parametrize("row", IN_ONE_CRAWL, ids=lambda row: row["name"])
def test_a_hostile_site_has_the_expected_outcome(row: dict[str, Any], crawled: Crawled) -> None:
    name = row["name"]
    found = crawled.found[name]
    outcome, reason, _ = OTHERWISE.get(name, (row["outcome"], REASONS.get(name, Reason.NEW), ""))
    assert (found.outcome, found.reason) == (outcome, reason), found
    assert found.known
    assert found.detail


@pytest.mark.parametrize("row", IN_ONE_CRAWL, ids=lambda row: row["name"])
def test_every_request_is_plain_and_polite(row: dict[str, Any], crawled: Crawled) -> None:
    site = crawled.cast.cases[row["name"]].site
    assert site.most_at_once <= 1
    for host in {asked.field("host") for asked in site.asked}:
        assert next(asked for asked in site.asked if asked.field("host") == host).path == "/robots.txt"
    for asked in site.asked:
        assert len(asked.head) < 16 * 1024
        assert asked.head.startswith(b"GET /")
        assert "#" not in asked.path
        lines = asked.head.decode("latin-1").split("\r\n")[1:-2]
        assert {line.partition(":")[0] for line in lines} <= REQUEST_FIELDS


def test_the_crawl_finishes(crawled: Crawled) -> None:
    assert crawled.ran.code == 8, crawled.ran.err
    assert crawled.ran.seconds < MOST_SECONDS
    assert crawled.ran.peak_bytes < MOST_MEMORY
    assert "internal" not in evercrawl.open(crawled.command.collection).status().by_reason
    assert crawled.cast.outside.connections == crawled.cast.evil.connections == 0


def test_the_archive_is_valid_and_marks_truncated_records(crawled: Crawled) -> None:
    cut: dict[str, str | None] = {}
    for path in crawled.command.collection.rglob("*.warc.gz"):
        checker = Checker(SimpleNamespace(inputs=[str(path)], verbose=False))
        checker.process_all()
        assert checker.exit_value == 0, path
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response":
                    headers = record.rec_headers
                    cut[headers.get_header("WARC-Target-URI")] = headers.get_header("WARC-Truncated")
    for name, case in crawled.cast.cases.items():
        if case.look in cut:
            wanted = TRUNCATED_IN_WARC.get(crawled.found[name].reason or Reason.NEW)
            assert cut[case.look] == wanted, name


def test_a_broken_response_is_no_version(crawled: Crawled) -> None:
    collection = evercrawl.open(crawled.command.collection)
    for name, case in crawled.cast.cases.items():
        if crawled.found[name].outcome is Outcome.ERROR:
            with pytest.raises(ConfigError, match="no version"):
                collection.show(case.look)


def test_what_is_stored_is_clean(crawled: Crawled) -> None:
    for path in crawled.command.collection.rglob("*.sqlite"):
        db = sqlite3.connect(path)
        texts = db.execute("select url, detail, moved_to from page union all select url, detail, parent from refusal")
        assert not [row for row in texts if "\0" in str(row) or "\n" in str(row)]
        encodings = {row[0] for row in db.execute("select encoding from version")}
        assert "utf-7" not in {str(encoding).lower() for encoding in encodings}
        titles = db.execute("select title from version where title is not null").fetchall()
        assert all(len(title) <= 1000 for (title,) in titles)
        db.close()


@pytest.mark.parametrize("row", ASKING_TO_WAIT, ids=lambda row: row["name"])
def test_retry_after_is_respected(row: dict[str, Any], crawled: Crawled) -> None:
    """The whole site rests after each such answer, in this run and in the next."""
    site, asked = crawled.cast.cases[row["name"]].site, row["server"]["headers"]["Retry-After"]
    seconds = float("".join(letter for letter in asked if letter in "0123456789."))
    least = seconds - 1 if "date" in asked else seconds  # A date has whole seconds.
    answers = [each for each in site.asked if each.path != "/robots.txt"]
    assert answers
    for answer, after in pairwise(answers):
        assert after.began - answer.began >= least, (answer.path, after.path)
    if max(answer.ended for answer in answers if answer.ended < crawled.looked) + least < crawled.looked:
        return  # The pause ended while the crawl was still running.
    for each in (crawled.found[row["name"]], crawled.paused[row["name"]]):
        assert each.outcome is Outcome.DEFERRED
        assert each.known
        if each.due is None:  # A page that waits in the queue has no date of its own.
            continue
        assert each.due >= crawled.epoch + timedelta(seconds=answers[0].ended + least) - CLOCK_STEP


CLOCK_STEP = timedelta(milliseconds=50)  # The wall clock may be corrected while the crawl runs.


def test_nothing_is_requested_again_before_it_is_due(crawled: Crawled) -> None:
    assert crawled.again.seconds < MOST_SECONDS
    answered = {name for name, found in crawled.found.items() if found.outcome in ("fetched", "duplicate", "truncated")}
    again = {}
    for name in answered:
        first = crawled.asked_first[name]
        hosts = [(asked.field("host"), asked.path) for asked in crawled.cast.cases[name].site.asked]
        polled = {asked for asked in hosts[first:] if asked[1] == "/sitemap.xml"}  # Each run polls a sitemap once.
        assert all(hosts[first:].count(asked) == 1 for asked in polled)
        again[name] = set(hosts[:first]) & set(hosts[first:]) - polled
    assert not any(again.values()), "what answered is not due; only sites that failed are tried again"


def test_details_of_single_rows(crawled: Crawled) -> None:
    cases, why = crawled.cast.cases, crawled.command.why
    assert len(cases["own-refresh-chain"].site.paths()) == 11
    assert why(cases["own-refresh-chain"].site.url("/11")).reason is Reason.TOO_MANY_REDIRECTS
    assert cases["own-robots-500"].site.paths() == []
    assert crawled.found["own-not-found"].due is not None
    if not CATALOGUE:
        return
    assert len(cases["redirect-chain-1000"].site.paths()) <= 20
    assert cases["meta-refresh-loop"].site.paths() == ["/", "/same"]
    assert cases["redirect-300-no-choice"].site.paths() == ["/"]
    assert "/private" not in cases["redirect-robots-blocked"].site.paths()
    assert cases["416"].site.paths() == ["/"]
    assert cases["robots-never-answers"].site.paths() == []
    assert cases["robots-crawl-delay-huge"].site.paths() == []
    most_tries = FAULT_RULES[Fault.EMPTY_REPLY].most_tries
    assert len(cases["empty-reply"].site.paths()) <= most_tries + 1, "and once more for the connection of robots.txt"
    assert crawled.found["410"].due is None, "dropped sooner than a 404"
    assert crawled.found["status-999"].status == 999
    denied = [asked for asked in cases["status-999"].site.asked if asked.path != "/robots.txt"]
    pause = site_pause(Fault.DENIED, failures=1, asked=None)
    assert pause is not None
    assert all(timedelta(seconds=after.began - asked.began) >= pause for asked, after in pairwise(denied))
    due = crawled.found["status-999"].due
    assert due is not None
    assert due >= crawled.epoch + timedelta(seconds=denied[0].began) + FAULT_RULES[Fault.DENIED].wait - CLOCK_STEP
    assert why(crawled.cast.evil.url("/x")).reason is Reason.OUT_OF_SCOPE
    assert cases["link-to-huge-file"].site.paths() == ["/"]
    continued = cases["100-continue-then-200"].site  # It closes the connection behind every answer but robots.txt.
    assert continued.paths() == ["/"]
    assert continued.connections == len(continued.asked) - 1


@pytest.mark.skipif(not CATALOGUE, reason="the catalogue is absent")
def test_international_names_are_requested_in_ascii(crawled: Crawled) -> None:
    german, twin = crawled.cast.cases["idn-host"].site, crawled.cast.cases["idn-homograph"].site
    hosts = {(asked.field("host"), asked.path) for asked in german.asked}
    assert {(f"xn--bcher-kva.test:{german.port}", path) for path in ("/robots.txt", "/")} <= hosts
    roots = {asked.field("host") for asked in twin.asked if asked.path == "/start"}
    assert roots == {f"apple.test:{twin.port}", f"xn--pple-43d.test:{twin.port}"}


@pytest.mark.skipif(not CATALOGUE, reason="the catalogue is absent")
def test_no_crawled_character_controls_the_terminal(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    cases = {name: case for name, case in crawled.cast.cases.items() if name.startswith("ui-")}
    calls = [["why", case.look] for case in cases.values()] + [["skipped"], ["skipped", "--json"], ["status"]]
    for name, case in cases.items():
        forms = ("text", "links", "headers", "--json") if name != "ui-error-message" else ()
        calls += [["show", case.look, form] for form in forms]
    for call in calls:
        assert cli(["-C", str(crawled.command.collection), *call]) == 0, call
        assert_harmless(capsys.readouterr().out)
    assert_harmless(crawled.command.call("show", cases["ui-terminal-escape"].look).out)
    assert_harmless(crawled.ran.out + crawled.ran.err)


def assert_harmless(text: str) -> None:
    bad = {letter for letter in text if (ord(letter) < 32 or 127 <= ord(letter) < 160) and letter not in "\n\t"}
    assert not bad, ascii(text[:500])


# Rows that need more than one visit


class Visits(NamedTuple):
    """Three crawls of the same sites, the later ones with --refresh."""

    command: Command
    sites: Web
    after: list[dict[str, Explanation]]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visits]:
    with web() as sites:
        run = 0
        for name, answer in AGAIN.items():
            sites.add(name, bytes_for(_in_runs(answer, lambda: run)))
        command = Command(tmp_path_factory.mktemp("again"), QUICK | {"dns.servers": sites.name_server})
        after = []
        for number in range(1, 4):
            run = number
            command.crawl(*(site.url() for site in sites.sites.values()), *AT_ONCE, "--refresh")
            after.append({name: command.why(site.url()) for name, site in sites.sites.items()})
            time.sleep(0.1)
        yield Visits(command, sites, after)


def _in_runs(answer: Any, run: Callable[[], int]) -> Callable[[SiteRequest], bytes]:
    """Hand the number of the run, from 1 on, to a function of it and the request; there is no sitemap."""
    return lambda asked: NO_ROBOTS if asked.path == "/sitemap.xml" else bytes(answer(run(), asked))


def _body_after_304(run: int, asked: SiteRequest) -> bytes:
    if asked.field("if-none-match"):
        return b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello"
    return html("kept", headers={"ETag": '"v1"'})


def _future(run: int, asked: SiteRequest) -> bytes:
    """A server that believes its own date, as most do: the page has changed, and it says that it has not."""
    if asked.field("if-modified-since"):
        return answer_of({"status": 304})
    return html(f"version {run}", headers={"Last-Modified": "Fri, 01 Jan 2100 00:00:00 GMT"})


def _torn(run: int, asked: SiteRequest) -> bytes:
    """Every answer of the second run breaks off; by its ETag a later try would be told that nothing has changed."""
    if asked.field("if-none-match") == '"2"':
        return answer_of({"status": 304})
    whole = html(f"version {run} " + "x" * 100, headers={"ETag": f'"{run}"', "Connection": "close"})
    return whole[:-50] if run == 2 else whole


AGAIN: dict[str, Any] = {
    "304-with-body": _body_after_304,
    "etag-always-new": lambda run, asked: html("same", headers={"ETag": f'"{run}"'}),
    "last-modified-now": lambda run, asked: html("same!", headers={"Last-Modified": "<now>"}),
    "last-modified-future": _future,
    "crlf-in-etag": lambda run, asked: html("etag", headers_raw={"ETag": '"a\\r\\nX: y"'}),
    "own-obs-fold-etag": lambda run, asked: html("fold", headers_raw={"ETag": '"a\\r\\n y"'}),
    "own-torn": _torn,
}


def test_304_with_a_body_is_not_modified(visits: Visits) -> None:
    found = visits.after[2]["304-with-body"]
    assert (found.outcome, found.reason, found.visits) == (Outcome.UNCHANGED, Reason.NOT_MODIFIED, 3)
    assert evercrawl.open(visits.command.collection).show(found.url).html == b"kept"


@pytest.mark.parametrize("name", ["etag-always-new", "last-modified-now"])
def test_change_is_judged_by_content(name: str, visits: Visits) -> None:
    reasons = [after[name].reason for after in visits.after]
    assert reasons == [Reason.NEW, Reason.SAME_CONTENT, Reason.SAME_CONTENT]
    asked = [each for each in visits.sites.sites[name].asked if each.path == "/"]
    conditions = {each.field("if-none-match") or each.field("if-modified-since") for each in asked[1:]}
    assert len(asked) == 3
    assert None not in conditions, "we did ask conditionally"


def test_a_date_in_the_future_is_not_trusted(visits: Visits) -> None:
    reasons = [after["last-modified-future"].reason for after in visits.after]
    assert reasons == [Reason.NEW, Reason.CHANGED, Reason.CHANGED]


@pytest.mark.parametrize("name", ["crlf-in-etag", "own-obs-fold-etag"])
def test_an_etag_cannot_inject_a_request_header(name: str, visits: Visits) -> None:
    asked = visits.sites.sites[name].asked
    assert visits.sites.sites[name].paths() == ["/"] * 3
    for each in asked:
        lines = each.head.split(b"\r\n")[1:-2]
        assert {line.partition(b":")[0].decode() for line in lines} <= REQUEST_FIELDS
        assert b"\n" not in b"".join(lines)


def test_a_truncated_response_does_not_confirm_the_copy(visits: Visits) -> None:
    reasons = [after["own-torn"].reason for after in visits.after]
    assert reasons == [Reason.NEW, Reason.INCOMPLETE, Reason.CHANGED]
    conditions = {asked.field("if-none-match") for asked in visits.sites.sites["own-torn"].asked}
    assert '"2"' not in conditions, "not even in the next try of the same run"


# Addresses that only we can reach

PUBLIC = "9.9.9.5"
OWN_LINKS = ["http://127.0.0.1:8000/", "http://10.0.0.1/x", "http://169.254.169.254/latest/meta-data/", "http://[::1]/"]


def private_plan(allow_private: bool) -> dict[str, Any]:
    """Sites at a public address with links and redirects to every private one, all of them in scope."""
    rows = [row for row in CATALOGUE if is_for_the_private_net(row)]
    links = [row["server"]["link_or_redirect"].split()[0] for row in rows if "link_or_redirect" in row["server"]]
    links = list(dict.fromkeys([*OWN_LINKS, *links]))
    origins = {"/".join(link.replace("public.test@", "").split("/")[:3]) for link in links}
    inside = [f"{origin}/seed" for origin in sorted(origins)]
    outside = ["http://public.test/", "http://robots.test/page", "http://rebinding.test/", "http://mixed.test/"]
    return {
        "names": {
            "public.test": [[PUBLIC]],
            "robots.test": [[PUBLIC]],
            "rebinding.test": [[PUBLIC], ["127.0.0.1"]],
            "mixed.test": [[PUBLIC, "10.0.0.1"]],
            "127.0.0.1.nip.test": [["127.0.0.1"]],
        },
        "seeds": [*outside, *inside],
        "links": links,
        "robots": {"robots.test": [302, "http://169.254.169.254/latest/meta-data/"]},
        "allow_private": allow_private,
    }


def in_a_private_net(folder: Path, plan: dict[str, Any]) -> dict[str, Any]:
    """Crawl in a network namespace; skip the test if the kernel does not allow one."""
    namespace = [find_program("unshare", package="util-linux"), "--user", "--map-root-user", "--net"]
    ip = find_program("ip", package="iproute2")
    probe = subprocess.run([*namespace, ip, "link", "set", "lo", "up"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"the kernel does not allow a network namespace: {probe.stderr.strip()}")
    command = [*namespace, sys.executable, "-m", "tests.worlds.hostile.private_net", str(folder)]
    ran = subprocess.run(command, input=json.dumps(plan), capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_no_private_address_is_ever_connected_to(tmp_path: Path) -> None:
    plan = private_plan(allow_private=False)
    seen = in_a_private_net(tmp_path, plan)
    assert {address for address, _ in seen["connections"]} == {PUBLIC}
    for url in [*plan["links"], *(seed for seed in plan["seeds"] if seed.endswith("/seed"))]:
        assert seen["found"][url][:2] == ["rejected", "private_address"], url
    assert seen["found"]["http://public.test/"][0] == "fetched"
    assert seen["found"]["http://mixed.test/"][0] == "fetched", "by its public address alone"
    assert seen["found"]["http://rebinding.test/"][:2] == ["rejected", "private_address"], "looked up again"
    assert seen["found"]["http://robots.test/page"][:2] == ["rejected", "private_address"]
    redirects = {path for _, path in seen["connections"] if path.startswith("/r/")}
    assert len(redirects) == len(plan["links"]), "every redirect was met"


def test_private_addresses_are_connected_to_if_allowed(tmp_path: Path) -> None:
    seen = in_a_private_net(tmp_path, private_plan(allow_private=True))
    addresses = {address for address, _ in seen["connections"]}
    assert {PUBLIC, "127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"} <= addresses


# Trouble at home


def test_a_second_process_is_rejected_with_a_clear_message(tmp_path: Path) -> None:
    with web() as sites:
        slow = sites.add("slow", as_described("slow", {"steps": [{"hang": True}]}))
        command = Command(tmp_path, QUICK | {"dns.servers": sites.name_server})
        first = command.start("crawl", slow.url(), *AT_ONCE, "--allow-private")
        try:
            while not slow.paths():
                time.sleep(0.02)
            other = Command(tmp_path / "other", {})
            other.folder.mkdir()
            other.collection = command.collection
            second = other.call("crawl", "--allow-private")
            looking = other.call("status")
        finally:
            first.kill()
            first.wait()
    assert second.code == 5
    assert f"in use by process {first.pid}" in second.err
    assert len(slow.paths()) == 1
    assert looking.code == 0, "looking needs no lock"


def test_a_full_disk_stops_the_crawl_cleanly_and_it_resumes(tmp_path: Path) -> None:
    noise = random.Random(1)
    pages = {f"/{number}": noise.randbytes(60_000).hex() for number in range(60)}
    links = "".join(f"<a href='{path}'>x</a>" for path in pages)
    with web() as sites:
        site = sites.add("large", bytes_for(lambda asked: html(pages.get(asked.path, links))))
        settings = QUICK | {"dns.servers": sites.name_server, "sitemaps.enabled": "false"}
        evidence = on_a_small_disk(tmp_path, site.url(), settings)
    assert evidence["first"]["code"] == 5
    assert "full" in evidence["first"]["err"] or "No space left" in evidence["first"]["err"]
    assert "Traceback" not in evidence["first"]["err"]
    assert "defect" not in evidence["first"]["err"]
    assert evidence["first"]["bad_warcs"] == []
    assert 0 < evidence["first"]["records"] < len(pages)
    assert evidence["second"]["code"] == 0, evidence["second"]["err"]
    assert evidence["second"]["bad_warcs"] == []
    assert evidence["second"]["records"] == len(pages) + 2
    assert len(site.paths()) <= len(pages) + 1 + LOST_BY_A_FULL_DISK


LOST_BY_A_FULL_DISK = 30
"""Pages that were fetched and could not be kept are fetched again."""


def on_a_small_disk(folder: Path, seed: str, settings: dict[str, str]) -> dict[str, Any]:
    """Crawl on a file system of a few megabytes, then enlarge it; skip the test if the kernel allows no mount."""
    namespace = [find_program("unshare", package="util-linux"), "--user", "--map-root-user", "--mount"]
    mount = [find_program("mount", package="mount"), "-t", "tmpfs", "x", str(folder)]
    probe = subprocess.run([*namespace, *mount], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"the kernel does not allow a mount: {probe.stderr.strip()}")
    command = [*namespace, sys.executable, "-m", "tests.worlds.hostile.full_disk", str(folder), seed]
    plan = json.dumps(settings)
    ran = subprocess.run(command, input=plan, capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found
