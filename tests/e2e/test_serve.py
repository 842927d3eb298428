"""`evercrawl serve`: errors, shutdown, a crawl beside it, and visit requests."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import evercrawl
from evercrawl.cluster.run_requests import pending_requests, request_visits
from evercrawl.config import create_collection, read_settings
from evercrawl.core.change.held_changes import HOLD_SECONDS
from tests.command_server import run_command, start_command
from tests.worlds.demo_web import HOSTS, DemoWeb, serving

TOKEN = "a token for the test of serve"


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command(*arguments)


@contextmanager
def _serve(
    collection: Path, *flags: str, env: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = start_command(
        *("-C", str(collection), "serve", "--port", "0", "--json", "--no-open", "--token", TOKEN, *flags),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | (env or {}),
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())["address"]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(30)
        process.stdout.close()


def _asked(address: str, path: str) -> dict[str, object]:
    request = urllib.request.Request(address + path, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: dict[str, object] = json.load(answer)
        return found


def _environment(port: int) -> dict[str, str]:
    return {
        "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
        "EVERCRAWL_HTTP__RESOLVE": f"{HOSTS[0]}:{port}:127.0.0.1",
        "EVERCRAWL_PACE__MODE": "unlimited",
    }


def test_errors_are_clear_and_have_exit_codes(tmp_path: Path):
    collection = tmp_path / "c.evercrawl"
    create_collection(collection)
    for flags, word in (
        (("--bind", "0.0.0.0"), "nobody could log in"),
        (("--bind", "not-an-address"), "is not an IP address"),
        (("--token", "short"), "at least 16 characters"),
        (("--port", "70000"), "70000"),
    ):
        ended = _run("-C", str(collection), "serve", *flags)
        assert ended.returncode == 2, ended.stderr
        assert word in ended.stderr
        assert "Traceback" not in ended.stderr
    ended = _run("-C", str(tmp_path / "nothing"), "serve")
    assert ended.returncode == 2


def test_a_used_port_is_a_clear_error(tmp_path: Path):
    create_collection(tmp_path / "c.evercrawl")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = _run("-C", str(tmp_path / "c.evercrawl"), "serve", "--port", str(taken.getsockname()[1]))
    assert ended.returncode == 2
    assert "choose other ports with --port and --replay-port" in ended.stderr


def test_serve_without_a_collection_creates_one_and_leaves_nothing_unused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    process = start_command(
        *("serve", "--port", "0", "--json", "--no-open"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    assert "first_link" in json.loads(process.stdout.readline())
    assert [path.name for path in tmp_path.iterdir()] == ["sites.evercrawl"]
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
def test_serve_stops_on_signals(tmp_path: Path, number: signal.Signals, code: int):
    create_collection(tmp_path / "c.evercrawl")
    with _serve(tmp_path / "c.evercrawl") as (process, address):
        assert _asked(address, "/api/v1/sites")["sites"] == []
        process.send_signal(number)
        assert process.wait(20) == code


def test_open_streams_end_with_the_server(tmp_path: Path):
    create_collection(tmp_path / "c.evercrawl")
    with _serve(tmp_path / "c.evercrawl") as (process, address):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        for path in ("/live/stream", "/api/v1/events?follow=true"):
            stream = urllib.request.Request(address + path, headers=headers)
            opened = urllib.request.urlopen(stream, timeout=30)
            if path == "/live/stream":
                assert opened.readline() == b"event: live\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143
        opened.close()
    log = (tmp_path / "c.evercrawl" / "evercrawl.log").read_text()
    assert "Traceback" not in log
    assert "Cancel" not in log


def test_one_process_crawls_and_serves(tmp_path: Path):
    with serving(DemoWeb()) as port:
        create_collection(tmp_path / "c.evercrawl", {"scope.seeds": (f"http://{HOSTS[0]}:{port}/",)})
        with _serve(tmp_path / "c.evercrawl", "--crawl", env=_environment(port)) as (process, address):
            until = time.monotonic() + 30
            pages = 0
            while time.monotonic() < until and pages < 10:
                time.sleep(0.2)
                live = _asked(address, "/api/v1/runs/current")
                pages = len(live["visits"])  # type: ignore[arg-type]
            assert pages >= 10
            assert live["run"] is not None
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 143
    runs = (tmp_path / "c.evercrawl" / "runs.jsonl").read_text().splitlines()
    assert json.loads(runs[0])["summary"]["stopped"] == "interrupted"


def test_watch_serves_too(tmp_path: Path):
    with serving(DemoWeb()) as port:
        site = f"http://{HOSTS[0]}:{port}/"
        process = start_command(
            *("-C", str(tmp_path / "c.evercrawl"), "watch", site, "--serve", "0", "--json", "--gap", "0.05"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | _environment(port),
        )
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        with urllib.request.urlopen(f"{address}/healthz", timeout=30) as answer:
            assert answer.read() == b"ok\n"
        until = time.monotonic() + 30
        while time.monotonic() < until and not (tmp_path / "c.evercrawl" / "archive").is_dir():
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
        process.stdout.close()
    assert (tmp_path / "c.evercrawl" / "runs.jsonl").exists()


def test_a_collection_can_be_served_during_a_crawl(tmp_path: Path):
    collection = tmp_path / "c.evercrawl"
    with serving(DemoWeb()) as port:
        create_collection(collection, {"scope.seeds": (f"http://{HOSTS[0]}:{port}/",)})
        env = os.environ | _environment(port)
        crawl = start_command("-C", str(collection), "watch", "-q", env=env)
        try:
            with _serve(collection, env=_environment(port)) as (_, address):
                until = time.monotonic() + 30
                while time.monotonic() < until and not _asked(address, "/api/v1/runs/current")["run"]:
                    time.sleep(0.2)
                run = _asked(address, "/api/v1/runs/current")["run"]
                assert isinstance(run, dict)
                assert run["pid"] == crawl.pid
        finally:
            crawl.terminate()
            crawl.wait(30)


def test_requested_pages_are_visited_before_they_are_due(tmp_path: Path):
    collection = tmp_path / "c.evercrawl"
    with serving(web := DemoWeb()) as port:
        site = f"http://{HOSTS[0]}:{port}"
        create_collection(collection, {"scope.seeds": (f"{site}/",)})
        flags = {
            "http.allow_private": True,
            "http.resolve": (f"{HOSTS[0]}:{port}:127.0.0.1",),
            "pace.mode": "unlimited",
        }
        opened = evercrawl.open(collection, settings=read_settings(collection, flags=flags).settings)
        opened.crawl_blocking()
        web.change()
        request_visits(collection, [f"{site}/news/3", f"{site}/news/today", "https://other.example/"], by="test")
        summary = opened.crawl_blocking()
        assert (summary.changed, summary.new) == (1, 1)
        assert pending_requests(collection) == []
        assert opened.why(f"{site}/news/today").visits == 1
        refused = [one.url for one in opened.skipped() if one.parent == "an announcement"]
        assert refused == ["https://other.example/"]
        asyncio.run(_while_it_runs(opened, f"{site}/news/4"))


def test_several_workers_handle_visit_requests(tmp_path: Path):
    collection = tmp_path / "c.evercrawl"
    with serving(web := DemoWeb()) as port:
        sites = [f"http://{host}:{port}" for host in HOSTS]
        create_collection(collection, {"scope.seeds": tuple(f"{site}/" for site in sites)})
        flags = {
            "http.allow_private": True,
            "http.resolve": tuple(f"{host}:{port}:127.0.0.1" for host in HOSTS),
            "pace.mode": "unlimited",
            "crawl.workers": 2,
        }
        opened = evercrawl.open(collection, settings=read_settings(collection, flags=flags).settings)
        opened.crawl_blocking()
        web.change()
        request_visits(collection, [f"{sites[0]}/news/3", f"{sites[1]}/", f"{sites[2]}/"], by="test")
        opened.crawl_blocking()
        assert [opened.why(f"{site}/").visits for site in sites] == [1, 2, 2]
        assert opened.why(f"{sites[0]}/news/3").visits == 2
        assert list((collection / "visit-requests").iterdir()) == []


async def _while_it_runs(opened: evercrawl.Collection, url: str) -> None:
    """A run that waits for what comes due takes up what is announced meanwhile."""
    before = opened.why(url).visits
    run = asyncio.create_task(opened.crawl(forever=True))
    await asyncio.sleep(0.5)
    request_visits(opened.path, [url], by="test")
    for _ in range(100):
        await asyncio.sleep(0.1)
        if opened.why(url).visits > before:
            break
    opened.stop()
    await run
    assert opened.why(url).visits == before + 1


def test_an_idle_watch_judges_held_changes_at_once(tmp_path: Path):
    """A verdict waits for other pages of the site only while some are due; otherwise alerts would be late."""
    collection, web = tmp_path / "c.evercrawl", DemoWeb()
    with serving(web) as port:
        env = os.environ | _environment(port)
        assert run_command("-C", str(collection), "crawl", f"http://{HOSTS[0]}:{port}/", env=env).returncode == 0
        web.change()
        watching = start_command(
            "-C", str(collection), "watch", "--refresh", env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            url, end = f"http://{HOSTS[0]}:{port}/news/4", time.monotonic() + HOLD_SECONDS / 2
            while time.monotonic() < end:
                newest = evercrawl.open(collection).history(url).versions[-1]
                if newest.version == 2 and newest.change_class is not None:
                    break
                time.sleep(0.5)
            assert (newest.version, newest.change_class) == (2, "content")
        finally:
            watching.send_signal(signal.SIGINT)
            watching.wait(30)
