"""Watch the price on the ten living pages of tests/worlds/values with changedetection.io and with evercrawl.

    python -m research.field_watch changedetection PROGRAM --days 30     # PROGRAM: the installed changedetection.io
    python -m research.field_watch evercrawl --days 30

Both get the same selectors on the same pages, one check per page and day, and a notification for every change.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.e2e.moved_clock import HTML, ServedSite, served_site
from tests.worlds.values.served import true_events, watch_served
from tests.worlds.values.templates import TEMPLATES
from tests.worlds.values.watch import PageDay, page_days

WAIT_S = 60.0  # For the checks of one day.
SETTLE_S = 2.0  # For the notifications after them.


class Notifications:
    """Receives notifications as JSON; the path names the page."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        received = self.paths

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                received.append(self.path.strip("/"))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class ChangedetectionApi:
    """The API of a running changedetection.io."""

    def __init__(self, port: int, key: str) -> None:
        self.base = f"http://127.0.0.1:{port}/api/v1"
        self.key = key

    def call(self, method: str, path: str, data: object = None) -> Any:
        body = None if data is None else json.dumps(data).encode()
        headers = {"x-api-key": self.key, "Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")


def start(program: str, folder: Path, port: int) -> tuple[subprocess.Popen[bytes], ChangedetectionApi]:
    """Start changedetection.io, and wait until it answers."""
    environment = {**os.environ, "ALLOW_IANA_RESTRICTED_ADDRESSES": "true", "DISABLE_VERSION_CHECK": "true"}
    log = (folder / "log").open("wb")
    command = [program, "-C", "-d", str(folder / "data"), "-h", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    for _ in range(120):
        time.sleep(1)
        files = list((folder / "data").glob("*.json"))
        text = "".join(path.read_text() for path in files)
        found = text.partition('"api_access_token": "')[2].partition('"')[0]
        if found:
            api = ChangedetectionApi(port, found)
            try:
                api.call("GET", "/systeminfo")
            except OSError:
                continue
            return process, api
    process.kill()
    raise SystemExit("changedetection.io did not start")


def check_all(api: ChangedetectionApi, watches: dict[str, str]) -> None:
    """Check every page once, and wait until all are done."""
    before = {name: api.call("GET", f"/watch/{number}")["last_checked"] for name, number in watches.items()}
    time.sleep(1.1)  # Times of checks are whole seconds.
    for number in watches.values():
        api.call("GET", f"/watch/{number}?recheck=1")
    end = time.monotonic() + WAIT_S
    waiting = set(watches)
    while waiting and time.monotonic() < end:
        time.sleep(0.3)
        waiting = {n for n in waiting if api.call("GET", f"/watch/{watches[n]}")["last_checked"] == before[n]}
    time.sleep(SETTLE_S)


def watch_with_changedetection(program: str, *, seed: int, days: int) -> None:
    """Watch the prices with changedetection.io, and print how its notifications compare with the truth."""
    plans = {one.name: page_days(one, seed=seed, days=days) for one in TEMPLATES}
    told = Notifications()
    with served_site() as site, TemporaryDirectory() as folder:
        free = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
        port = free.server_port
        free.server_close()
        process, api = start(program, Path(folder), port)
        try:
            watches = _add_watches(api, site, plans, told.server.server_port)
            truth = {event for one in TEMPLATES for event in true_events(one, plans[one.name]) if event[1] == "price"}
            reported: list[tuple[str, str, int]] = []
            check_all(api, watches)
            told.paths.clear()
            for day in range(1, days):
                _serve(site, plans, day)
                check_all(api, watches)
                reported += [(name, "price", day) for name in told.paths]
                told.paths.clear()
                print(f"day {day}: {len(reported)} notifications", flush=True)
        finally:
            process.terminate()
            process.wait(30)
        _print_figures("changedetection.io", truth, reported, len(site.log))


def _serve(site: ServedSite, plans: dict[str, list[PageDay]], day: int) -> None:
    for name, plan in plans.items():
        site.files[f"/{name}"] = HTML, plan[day].markup


def _add_watches(
    api: ChangedetectionApi, site: ServedSite, plans: dict[str, list[PageDay]], port: int
) -> dict[str, str]:
    _serve(site, plans, 0)
    watches = {}
    for template in TEMPLATES:
        select = next(select for name, select, _ in template.selectors if name == "price")
        watch = {
            "url": f"{site.base}/{template.name}",
            "include_filters": [select.removeprefix("css:")],
            "notification_urls": [f"json://127.0.0.1:{port}/{template.name}"],
            "notification_body": "changed",
            "notification_title": "changed",
            "filter_failure_notification_send": True,
        }
        watches[template.name] = api.call("POST", "/watch", watch)["uuid"]
    return watches


def _print_figures(
    program: str, truth: set[tuple[str, str, int]], reported: list[tuple[str, str, int]], requests: int
) -> None:
    found = set(reported)
    twice = len(reported) - len(found)
    counts = Counter(right=len(truth & found), missed=len(truth - found), false=len(found - truth) + twice)
    print(f"{program}: {dict(counts)}; requests: {requests}")


def main() -> None:
    """Run one of the programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("watcher", choices=("changedetection", "evercrawl"))
    parser.add_argument("program", nargs="?")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.watcher == "changedetection":
        watch_with_changedetection(given.program, seed=given.seed, days=given.days)
        return
    with TemporaryDirectory() as folder:
        found = watch_served(Path(folder) / "c.evercrawl", seed=given.seed, days=given.days, only="price")
    print(f"evercrawl: {dict(found.alerts)}; requests: {found.requests}")


if __name__ == "__main__":
    main()
