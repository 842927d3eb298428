"""An unfinished crawl says so: exit code, summary, `status` and `why`; a later run continues at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.worlds.hostile.command import Command
from tests.worlds.hostile.sites import Respond, SiteRequest, html, web

PAGES = 30
UNFINISHED, THROTTLED = 9, 8


class Switch:
    """What a site does at the moment: answer, drop connections, or ask to wait."""

    def __init__(self, mode: str, after: int) -> None:
        self.mode = mode
        self.after = after  # Good answers before the mode counts.

    def respond(self) -> Respond:
        async def respond(asked: SiteRequest, writer: asyncio.StreamWriter) -> bool:
            if self.after > 0 or self.mode == "well":
                self.after -= 1
                links = "".join(f"<a href='/{number}'>{number}</a>" for number in range(1, PAGES))
                body = links if asked.path == "/" else f"page {asked.path} " * 20
                writer.write(html(f"<title>{asked.path}</title><main>{body}</main>"))
            elif self.mode == "throttled":
                writer.write(b"HTTP/1.1 429 Slow down\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n")
            else:
                return False
            await writer.drain()
            return True

        return respond


def make_command(folder: Path, name_server: str) -> Command:
    settings = {
        "dns.servers": name_server,
        "crawl.idle_timeout": "5",
        "crawl.retry_timeout": "0.1",
        "pace.mode": "unlimited",
        "http.allow_private": "true",
        "traps.enabled": "false",
        "sitemaps.enabled": "false",
    }
    return Command(folder, settings)


def status_of(command: Command) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command.call("status", "--json").out.splitlines()[-1])
    return found


def test_a_site_that_stops_answering(tmp_path: Path) -> None:
    with web() as sites:
        switch = Switch("silent", after=8)
        site = sites.add("down", switch.respond())
        command = make_command(tmp_path, sites.name_server)
        first = command.crawl(site.url())
        assert first.code == UNFINISHED, first.err
        summary = first.summary()
        assert summary["stopped"] == "closed"
        assert summary["remaining"] > 0
        assert "unfinished: the remaining sites are paused or do not answer" in first.err
        assert "run it again to continue" in first.err
        (closed,) = status_of(command)["closed_sites"]
        assert closed["site"] == site.origin
        assert "times in a row" in closed["reason"]
        waiting = [path for path in (f"/{number}" for number in range(1, PAGES)) if path not in site.paths()]
        why = command.why(site.url(waiting[-1]))
        assert (why.outcome, why.reason) == ("deferred", "site_down")
        assert why.due is not None
        switch.mode = "well"
        second = command.crawl()
        assert second.code == 0, second.err
        assert second.summary()["remaining"] == 0
        assert status_of(command)["closed_sites"] == []


def test_a_site_that_asks_to_wait(tmp_path: Path) -> None:
    with web() as sites:
        switch = Switch("throttled", after=8)
        site = sites.add("busy", switch.respond())
        command = make_command(tmp_path, sites.name_server)
        first = command.crawl(site.url())
        assert first.code == THROTTLED, first.err
        (closed,) = status_of(command)["closed_sites"]
        assert "Retry-After is 600 s" in closed["reason"]
        switch.mode = "well"
        count = len(site.asked)
        assert command.crawl("--refresh").code == THROTTLED
        assert len(site.asked) == count, "nobody comes back before the time that the site named"
