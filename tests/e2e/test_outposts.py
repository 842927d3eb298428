"""A coordinator, three outposts and their sites as real processes."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from evercrawl.outpost.agent_state import AgentState
from tests.e2e.outposts import GAP_S, LEASE_S, SLACK_S, Field, Proxy, outdoors

PAGES = 7
MOST_RSS_KB = 64 * 1024


def _expected(field: Field, pages: int = PAGES) -> set[str]:
    paths = ["/", *(f"/p/{number}.html" for number in range(1, pages))]
    return {origin + path for origin in field.origins for path in paths}


def _peak_kb(process: subprocess.Popen[str]) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def _pages_asked(field: Field) -> Counter[str]:
    return Counter(one.origin + one.path for one in field.log() if one.path != "/robots.txt")


def test_three_outposts_deliver_everything_and_send_only_changes(tmp_path: Path) -> None:
    """Two of the three clocks are two hours wrong, and nobody notices."""
    with outdoors(tmp_path, pages=PAGES) as field:
        offsets = ("7200", "-7200", "0")
        codes = [field.code(number) for number in range(3)]
        crawl = field.start(*field.crawl_arguments())
        for number, code in enumerate(codes):
            field.start_outpost(number, "--code", code, "--clock-offset", offsets[number])
        assert crawl.wait(40) == 0, crawl.communicate()[0]
        first = field.status()
        assert field.versions() == dict.fromkeys(_expected(field), 1)

        field.edit(p3=1, p5=1)
        asked_before = len(field.log())
        again = field.start(*field.crawl_arguments("--refresh"))
        assert again.wait(40) == 0, again.communicate()[0]
        second = field.status()

        changed = {f"{origin}/p/{number}.html" for origin in field.origins for number in (3, 5)}
        versions = field.versions()
        assert {url for url, count in versions.items() if count == 2} == changed
        assert set(versions.values()) <= {1, 2}
        later = field.log()[asked_before:]
        assert {one.agent for one in later} == {"outposta", "outpostb", "outpostc"}
        field.assert_pace()
        for name, state in second.items():
            assert state.counts["changed"] == 2, name
            assert state.counts["same"] == PAGES - 2, name
            sent = state.bytes_sent - first[name].bytes_sent
            plain = state.bytes_plain - first[name].bytes_plain
            assert sent < plain * 0.12, (name, sent, plain)
        assert field.is_sound()
        _assert_dates_are_true(field)
        events = (field.collection / "outposts" / "events.jsonl").read_text().splitlines()
        assert {json.loads(line)["event"] for line in events} >= {"outpost.connected", "outpost.intake"}


def _assert_dates_are_true(field: Field) -> None:
    for row in field.rows():
        fetched = datetime.fromisoformat(row["fetched_at"])
        assert abs((datetime.now(UTC) - fetched).total_seconds()) < 120


def test_killing_outpost_and_coordinator_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    with outdoors(tmp_path, pages=9, sites=2) as field:
        codes = [field.code(number) for number in range(2)]
        home = field.start(*field.crawl_arguments())
        outposts = [field.start_outpost(number, "--code", code) for number, code in enumerate(codes)]
        field.wait_for(lambda: len(field.log()) >= 5)
        outposts[0].send_signal(signal.SIGKILL)
        outposts[0] = field.start_outpost(0)
        field.wait_for(lambda: len(field.log()) >= 9)
        home.send_signal(signal.SIGKILL)
        home.wait()
        home = field.start(*field.crawl_arguments())
        asked = len(field.log())
        field.wait_for(lambda: len(field.log()) >= asked + 3)
        outposts[1].send_signal(signal.SIGKILL)
        home.send_signal(signal.SIGKILL)
        home.wait()
        outposts[1] = field.start_outpost(1)
        home = field.start(*field.crawl_arguments())
        assert home.wait(40) == 0, home.communicate()[0]
        assert field.versions() == dict.fromkeys(_expected(field, 9), 1)
        assert field.is_sound()
        field.assert_pace()
        # What was in flight at one of the four kills may have to be asked for again; nothing else.
        assert sum(count - 1 for count in _pages_asked(field).values()) <= 6
        with sqlite3.connect(tmp_path / "outpost0" / "outpost.db") as state:
            field.wait_for(lambda: state.execute("select count(*) from outbox").fetchone() == (0,))
        state.close()


def test_the_crawler_takes_over_the_pages_of_a_lost_outpost(tmp_path: Path) -> None:
    """First it leaves politely, then it is killed: either way nobody asks within the gap."""
    with outdoors(tmp_path, pages=9, sites=2) as field:
        codes = [field.code(number) for number in range(2)]
        home = field.start(*field.crawl_arguments())
        polite = field.start_outpost(0, "--code", codes[0])
        killed = field.start_outpost(1, "--code", codes[1])
        field.wait_for(lambda: sum(one.agent == "outpostb" for one in field.log()) >= 3)
        killed.send_signal(signal.SIGKILL)
        polite.send_signal(signal.SIGTERM)
        assert polite.wait(15) == 0
        assert home.wait(40) == 0, home.communicate()[0]
        assert field.versions() == dict.fromkeys(_expected(field, 9), 1)
        field.assert_pace()
        handovers = [
            (gap, before, after)
            for gap, before, after in field.gaps()
            if before.agent == "outpostb" and after.agent == "evercrawl"
        ]
        assert len(handovers) == 1
        assert handovers[0][0] >= LEASE_S / 2, "the lease had not run out"


def test_a_slow_stalling_and_breaking_network(tmp_path: Path) -> None:
    with outdoors(tmp_path, pages=16, sites=1) as field:
        proxy = Proxy(field.home_port)
        try:
            code = field.code(0)
            home = field.start(*field.crawl_arguments())
            field.start_outpost(0, "--code", code, port=proxy.port)
            field.wait_for(lambda: sum(one.agent == "outposta" for one in field.log()) >= 3)
            proxy.is_stalled = True
            field.wait_for(lambda: field.log()[-1].agent == "evercrawl")
            proxy.heal()
            field.wait_for(lambda: field.log()[-1].agent == "outposta")
            proxy.cut()
            time.sleep(0.5)
            proxy.heal()
            proxy.bytes_a_second = 6000.0
            assert home.wait(50) == 0, home.communicate()[0]
        finally:
            proxy.close()
        assert field.versions() == dict.fromkeys(_expected(field, 16), 1)
        field.assert_pace()
        assert field.is_sound()


def test_an_outpost_with_100_000_pages_needs_little_memory(tmp_path: Path) -> None:
    """Also while it fetches pages of 1 MB from three sites at a time."""
    with outdoors(tmp_path, pages=3) as field:
        file = tmp_path / "outpost0" / "outpost.db"
        state = AgentState(file.parent, max_bytes=64_000_000)
        rows = [(f"{field.origins[0]}/list/{number}.html", number.to_bytes(16, "big")) for number in range(100_000)]
        state.db.execute("begin")
        state.db.executemany("insert into page (url, digest) values (?, ?)", rows)
        state.db.execute("commit")
        state.close()
        code = field.code_for_all()
        big = [f"{origin}/big/{number}.html" for origin in field.origins for number in range(1)]
        home = field.start(*field.crawl_arguments(*big))
        allow = [part for origin in field.origins for part in ("--allow", origin.removeprefix("http://"))]
        outpost = field.start_outpost(0, "--code", code, "--max-disk", "64MB", *allow)
        assert home.wait(40) == 0, home.communicate()[0]
        peak_kb = _peak_kb(outpost)
        print(f"an outpost with 100,000 pages took {peak_kb / 1024:.1f} MB at limit")
        assert peak_kb <= MOST_RSS_KB
        field.assert_pace()
        assert set(field.versions()) == _expected(field, 3) | set(big)
        assert file.stat().st_size <= 64_000_000


def test_local_files_of_a_site_need_no_request(tmp_path: Path) -> None:
    with outdoors(tmp_path, pages=1, sites=1) as field:
        files = tmp_path / "htdocs"
        (files / "p").mkdir(parents=True)
        (files / "robots.txt").write_text("User-agent: *\nDisallow: /secret/\n")
        links = '<a href="/p/1.html">1</a> <a href="/secret/x.html">2</a> <a href="/dynamic?q=1">3</a>'
        (files / "index.html").write_text(f"<title>Own files</title><p>Read from disk. {links}")
        (files / "p" / "1.html").write_text("<title>One</title><p>The first page.")
        (tmp_path / "outside.html").write_text("not for anybody")
        (files / "p" / "link.html").symlink_to(tmp_path / "outside.html")
        field.start_outpost(0, "--code", field.code(0), "--read", str(files))
        home = field.start(*field.crawl_arguments())
        assert home.wait(30) == 0, home.communicate()[0]
        origin = field.origins[0]
        assert set(field.versions()) == {f"{origin}/", f"{origin}/p/1.html"}
        # Only what is no file was asked of the site, by the crawler itself.
        assert [(one.path, one.agent) for one in field.log()] == [("/dynamic?q=1", "evercrawl")]


def test_the_politeness_check_finds_violations(tmp_path: Path) -> None:
    log = "1.0 http://a / x/1\n1.1 http://a /p x/1\n"
    (tmp_path / "web.log").write_text(log)
    field = Field(tmp_path, [], 0)
    assert [round(gap, 3) for gap, _, _ in field.gaps()] == [0.1]
    assert GAP_S - SLACK_S > 0.1
