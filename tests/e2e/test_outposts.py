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

import pytest

from evercrawl.outpost.agent_state import AgentState
from tests.e2e.outposts import GAP_S, LEASE_S, SLACK_S, OutpostSetup, Proxy, running_sites

PAGES = 7
MAX_RSS_KB = 64 * 1024


def _expected(setup: OutpostSetup, pages: int = PAGES) -> set[str]:
    paths = ["/", *(f"/p/{number}.html" for number in range(1, pages))]
    return {origin + path for origin in setup.origins for path in paths}


def _peak_kb(process: subprocess.Popen[str]) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def _requests_per_page(setup: OutpostSetup) -> Counter[str]:
    return Counter(one.origin + one.path for one in setup.log() if one.path != "/robots.txt")


def test_three_outposts_deliver_everything_and_send_only_changes(tmp_path: Path) -> None:
    """Two of the three clocks are two hours wrong, without any effect."""
    with running_sites(tmp_path, pages=PAGES) as setup:
        offsets = ("7200", "-7200", "0")
        codes = [setup.code(number) for number in range(3)]
        crawl = setup.start(*setup.crawl_arguments())
        for number, code in enumerate(codes):
            setup.start_outpost(number, "--code", code, "--clock-offset", offsets[number])
        assert crawl.wait(40) == 0, crawl.communicate()[0]
        first = setup.status()
        assert setup.versions() == dict.fromkeys(_expected(setup), 1)

        setup.edit(p3=1, p5=1)
        requests_before = len(setup.log())
        again = setup.start(*setup.crawl_arguments("--refresh"))
        assert again.wait(40) == 0, again.communicate()[0]
        second = setup.status()

        changed = {f"{origin}/p/{number}.html" for origin in setup.origins for number in (3, 5)}
        versions = setup.versions()
        assert {url for url, count in versions.items() if count == 2} == changed
        assert set(versions.values()) <= {1, 2}
        later = setup.log()[requests_before:]
        assert {one.agent for one in later} == {"outposta", "outpostb", "outpostc"}
        setup.assert_pace()
        for name, state in second.items():
            assert state.counts["changed"] == 2, name
            assert state.counts["same"] == PAGES - 2, name
            sent = state.bytes_sent - first[name].bytes_sent
            plain = state.bytes_plain - first[name].bytes_plain
            assert sent < plain * 0.12, (name, sent, plain)
        assert setup.is_sound()
        _assert_dates_are_true(setup)
        events = (setup.collection / "outposts" / "events.jsonl").read_text().splitlines()
        assert {json.loads(line)["event"] for line in events} >= {"outpost.connected", "outpost.batch_stored"}


def _assert_dates_are_true(setup: OutpostSetup) -> None:
    for row in setup.rows():
        fetched = datetime.fromisoformat(row["fetched_at"])
        assert abs((datetime.now(UTC) - fetched).total_seconds()) < 120


def test_killing_outpost_and_coordinator_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    with running_sites(tmp_path, pages=9, sites=2) as setup:
        codes = [setup.code(number) for number in range(2)]
        crawl = setup.start(*setup.crawl_arguments())
        outposts = [setup.start_outpost(number, "--code", code) for number, code in enumerate(codes)]
        setup.wait_for(lambda: len(setup.log()) >= 5)
        outposts[0].send_signal(signal.SIGKILL)
        outposts[0] = setup.start_outpost(0)
        setup.wait_for(lambda: len(setup.log()) >= 9)
        crawl.send_signal(signal.SIGKILL)
        crawl.wait()
        crawl = setup.start(*setup.crawl_arguments())
        asked = len(setup.log())
        setup.wait_for(lambda: len(setup.log()) >= asked + 3)
        outposts[1].send_signal(signal.SIGKILL)
        crawl.send_signal(signal.SIGKILL)
        crawl.wait()
        outposts[1] = setup.start_outpost(1)
        crawl = setup.start(*setup.crawl_arguments())
        assert crawl.wait(40) == 0, crawl.communicate()[0]
        assert setup.versions() == dict.fromkeys(_expected(setup, 9), 1)
        assert setup.is_sound()
        setup.assert_pace()
        # Only requests in flight at one of the four kills may be repeated.
        assert sum(count - 1 for count in _requests_per_page(setup).values()) <= 6
        with sqlite3.connect(tmp_path / "outpost0" / "outpost.db") as state:
            setup.wait_for(lambda: state.execute("select count(*) from outbox").fetchone() == (0,))
        state.close()


def test_the_crawler_takes_over_the_pages_of_a_lost_outpost(tmp_path: Path) -> None:
    """One outpost stops, the other is killed; in both cases the crawl delay is kept."""
    with running_sites(tmp_path, pages=9, sites=2) as setup:
        codes = [setup.code(number) for number in range(2)]
        crawl = setup.start(*setup.crawl_arguments())
        polite = setup.start_outpost(0, "--code", codes[0])
        killed = setup.start_outpost(1, "--code", codes[1])
        setup.wait_for(lambda: sum(one.agent == "outpostb" for one in setup.log()) >= 3)
        killed.send_signal(signal.SIGKILL)
        polite.send_signal(signal.SIGTERM)
        assert polite.wait(15) == 0
        assert crawl.wait(40) == 0, crawl.communicate()[0]
        assert setup.versions() == dict.fromkeys(_expected(setup, 9), 1)
        setup.assert_pace()
        handovers = [
            (gap, before, after)
            for gap, before, after in setup.gaps()
            if before.agent == "outpostb" and after.agent == "evercrawl"
        ]
        assert len(handovers) == 1
        assert handovers[0][0] >= LEASE_S / 2, "the lease had not expired"


def test_a_slow_stalling_and_breaking_network(tmp_path: Path) -> None:
    with running_sites(tmp_path, pages=16, sites=1) as setup:
        proxy = Proxy(setup.home_port)
        try:
            code = setup.code(0)
            crawl = setup.start(*setup.crawl_arguments())
            setup.start_outpost(0, "--code", code, port=proxy.port)
            setup.wait_for(lambda: sum(one.agent == "outposta" for one in setup.log()) >= 3)
            proxy.is_stalled = True
            setup.wait_for(lambda: setup.log()[-1].agent == "evercrawl")
            proxy.heal()
            setup.wait_for(lambda: setup.log()[-1].agent == "outposta")
            proxy.cut()
            time.sleep(0.5)
            proxy.heal()
            proxy.bytes_per_second = 6000.0
            assert crawl.wait(50) == 0, crawl.communicate()[0]
        finally:
            proxy.close()
        assert setup.versions() == dict.fromkeys(_expected(setup, 16), 1)
        setup.assert_pace()
        assert setup.is_sound()


def test_an_outpost_with_100_000_pages_needs_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays low while it fetches pages of 1 MB from three sites concurrently."""
    with running_sites(tmp_path, pages=3) as setup:
        file = tmp_path / "outpost0" / "outpost.db"
        state = AgentState(file.parent, max_bytes=64_000_000)
        rows = [(f"{setup.origins[0]}/list/{number}.html", number.to_bytes(16, "big")) for number in range(100_000)]
        state.db.execute("begin")
        state.db.executemany("insert into page (url, digest) values (?, ?)", rows)
        state.db.execute("commit")
        state.close()
        code = setup.code_for_all()
        big = [f"{origin}/big/{number}.html" for origin in setup.origins for number in range(1)]
        crawl = setup.start(*setup.crawl_arguments(*big))
        allow = [part for origin in setup.origins for part in ("--allow", origin.removeprefix("http://"))]
        monkeypatch.setenv("EVERCRAWL_TEST_FORK", "0")  # a forked command has all modules in memory
        outpost = setup.start_outpost(0, "--code", code, "--max-disk", "64MB", *allow)
        assert crawl.wait(40) == 0, crawl.communicate()[0]
        peak_kb = _peak_kb(outpost)
        print(f"an outpost with 100,000 pages used {peak_kb / 1024:.1f} MB at most")
        assert peak_kb <= MAX_RSS_KB
        setup.assert_pace()
        assert set(setup.versions()) == _expected(setup, 3) | set(big)
        assert file.stat().st_size <= 64_000_000


def test_local_files_of_a_site_need_no_request(tmp_path: Path) -> None:
    with running_sites(tmp_path, pages=1, sites=1) as setup:
        files = tmp_path / "htdocs"
        (files / "p").mkdir(parents=True)
        (files / "robots.txt").write_text("User-agent: *\nDisallow: /secret/\n")
        links = '<a href="/p/1.html">1</a> <a href="/secret/x.html">2</a> <a href="/dynamic?q=1">3</a>'
        (files / "index.html").write_text(f"<title>Own files</title><p>Read from disk. {links}")
        (files / "p" / "1.html").write_text("<title>One</title><p>The first page.")
        (tmp_path / "outside.html").write_text("not for anybody")
        (files / "p" / "link.html").symlink_to(tmp_path / "outside.html")
        setup.start_outpost(0, "--code", setup.code(0), "--read", str(files))
        crawl = setup.start(*setup.crawl_arguments())
        assert crawl.wait(30) == 0, crawl.communicate()[0]
        origin = setup.origins[0]
        assert set(setup.versions()) == {f"{origin}/", f"{origin}/p/1.html"}
        # The crawler itself requested only what is not a file.
        assert [(one.path, one.agent) for one in setup.log()] == [("/dynamic?q=1", "evercrawl")]


def test_the_politeness_check_finds_violations(tmp_path: Path) -> None:
    log = "1.0 http://a / x/1\n1.1 http://a /p x/1\n"
    (tmp_path / "web.log").write_text(log)
    setup = OutpostSetup(tmp_path, [], 0)
    assert [round(gap, 3) for gap, _, _ in setup.gaps()] == [0.1]
    assert GAP_S - SLACK_S > 0.1
