"""A crawl of many sites by a process that may open only a few files at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.worlds.hostile.command import Command
from tests.worlds.hostile.sites import SiteRequest, bytes_for, html, web

SITES = 30
LIMIT = 64


def _page(asked: SiteRequest) -> bytes:
    host = asked.field("host")
    return html(f"<title>{host}</title><p>{host} {asked.path}</p><a href='/1'>1</a><a href='/2'>2</a>")


def test_few_descriptors_mean_fewer_open_files_and_no_errors(tmp_path: Path) -> None:
    with web() as sites:
        seeds = [sites.add(f"s{number}", bytes_for(_page)).url() for number in range(SITES)]
        command = Command(tmp_path, {"dns.servers": sites.name_server})
        crawl = [sys.executable, "-m", "evercrawl", "-C", str(command.collection), "crawl", *seeds]
        flags = ["--pace", "own", "--allow-private", "--json"]
        limited = ["sh", "-c", f'ulimit -n {LIMIT} && exec "$@"', "sh"]
        for again in ([], ["--refresh"]):
            ran = subprocess.run(
                [*limited, *crawl, *flags, *again], cwd=tmp_path, env=command.env, capture_output=True, timeout=90
            )
            assert ran.returncode == 0, ran.stderr.decode()
            summary = json.loads(ran.stdout.splitlines()[-1])
            assert summary["errors"] == 0
            assert summary["fetched"] == 3 * SITES
