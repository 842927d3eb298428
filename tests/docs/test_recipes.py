"""Every recipe of the docs runs as it is written, against the demo's web on loopback.
A section is one recipe: its commands run one after the other in an empty folder."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import asyncpg
import pytest

from tests.command_server import run_command
from tests.e2e.proxies import proxy_server
from tests.postgres_server import PostgresServer, running_server
from tests.worlds.demo_web import HOSTS, SHIPS, DemoWeb, Reply, serving

RECIPES = Path(__file__).resolve().parents[2] / "docs" / "recipes"
DEADLINE_S = 120
_SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ evercrawl (.+)$", re.MULTILINE)
WANTED = (
    "five pages", "mail", "ReplayWeb.page", "login", "scripts", "part of a site", "proxy", "fixed times",
    "search engine or an agent", "dataset", "service", "back up and restore", "remove a page", "PostgreSQL",
    "wget", "HTTrack", "Scrapy", "Heritrix", "changedetection.io", "ArchiveBox", "wrong",
)  # fmt: skip
COOKIES = "# Netscape HTTP Cookie File\n{host}\tFALSE\t/\tFALSE\t4102444800\tsession\tabc\n"


def _recipes() -> dict[str, list[str]]:
    """Return the commands of each recipe by its heading."""
    return {
        title: [command for block in _BLOCK.findall(body) for command in _COMMAND.findall(block)]
        for page in sorted(RECIPES.glob("*.md"))
        for title, body in _SECTION.findall(page.read_text(encoding="utf-8"))
    }


RUNNABLE = {title: commands for title, commands in _recipes().items() if commands}


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    """The demo's web with the pages that the recipes name, and a start page that links to them."""
    web = DemoWeb()
    links = ""
    for path in ("/ferry/", "/ships/", "/news/", "/tide/today"):
        web.replies.setdefault((HOSTS[0], path), Reply(200, f"<title>{path}</title><h1>{path}</h1><p>Of the harbour."))
        links += f'<a href="{path}">{path}</a> '
    home, ships = web.replies[HOSTS[0], "/"], web.replies[HOSTS[0], "/ships/"]
    web.replies[HOSTS[0], "/"] = home._replace(body=f"{home.body}<p>{links}")
    listed = "".join(f'<a href="/ships/{name.lower()}">{name}</a> ' for name in SHIPS)
    web.replies[HOSTS[0], "/ships/"] = ships._replace(body=f"{ships.body}<p>{listed}")
    return web


@pytest.fixture(scope="module")
def port(web: DemoWeb) -> Iterator[int]:
    with serving(web) as port:
        yield port


class Outcome(NamedTuple):
    """What a recipe brings about: a command that shows it (none: the recipe's own last one), and what it prints."""

    command: str
    pattern: str


OUTCOMES = {
    "five pages": [
        Outcome("-C prices.evercrawl status", r"pages +5 known, 0 in the queue, 5 versions"),
        Outcome("", r"prices .*you@example\.org"),
    ],
    "fixed times": [Outcome("", r"/news/ +weekdays at 09:00, 17:30.*Europe/Berlin")],
    "what changed": [
        Outcome("-C site.evercrawl changes --since 7d", r"(?s)harbour\.test.*sails at noon"),
        Outcome("-C site.evercrawl history https://example.org/ --json", r'(?s)"version": ?1\b.*"version": ?2\b'),
    ],
    "ReplayWeb.page": [
        Outcome("-C read.evercrawl import wacz site.wacz", ""),
        Outcome("-C read.evercrawl verify", "readable"),
    ],
    "part of a site": [
        Outcome("-C ships.evercrawl status", r"pages +\d+ known, 0 in the queue, 11 versions"),
        Outcome("-C ships.evercrawl search url:news --json", r"\A\Z"),
    ],
    "login": [Outcome("", r"harbour\.test:\d+ +1 cookie$")],
    "scripts": [Outcome("-C app.evercrawl show https://example.org/", "Harbour|harbour")],
    "wget": [Outcome("-C site.evercrawl verify", "all readable")],
    "HTTrack": [Outcome("-C site.evercrawl why https://example.org/private/ledger", "private")],
    "Scrapy": [Outcome("", r"title: /ships/")],
    "Heritrix": [Outcome("", r"pages +1 known, 0 in the queue, 1 version")],
    "changedetection.io": [Outcome("", r"every 3 hours")],
    "ArchiveBox": [Outcome("-C box.evercrawl status", r"pages +2 known, 0 in the queue, 4 versions")],
    "service": [Outcome("-C site.evercrawl status", r"0 in the queue, 2\d versions")],
    "back up and restore": [Outcome("", "all readable")],
    "remove a page": [
        Outcome("", "was removed on request"),
        Outcome("-C site.evercrawl search url:ships/albatross --json", r"\A\Z"),
    ],
    "wrong": [Outcome("-C site.evercrawl why https://example.org/private/ledger", "robots.txt forbids it")],
    "search engine or an agent": [Outcome("-C site.evercrawl search noon", "sails at noon")],
    "dataset": [Outcome("-C site.evercrawl status", r"0 in the queue, 2\d versions")],
}
"""For words of the heading of each recipe. A recipe without an outcome fails."""


class Kitchen:
    """A folder in which recipes are tried, and where their addresses are on this machine."""

    def __init__(self, folder: Path, port: int, database: str) -> None:
        self.folder = folder
        host = HOSTS[0]
        self._names = {
            "https://example.org": f"http://{host}:{port}",
            "postgresql://crawler@db.example.org/crawls": database,
        }
        kept = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        self.env = kept | {
            "EVERCRAWL_CONTACT": "docs@example.org",
            "EVERCRAWL_PACE__MODE": "unlimited",
            "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
            "EVERCRAWL_HTTP__RESOLVE": f"{host}:{port}:127.0.0.1",
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        self.origin = self._names["https://example.org"]

    def run(self, command: str, *, codes: tuple[int, ...] = (0,)) -> str:
        """Run a command of a recipe; 7: it reached the limit that the recipe sets."""
        for name, here in self._names.items():
            command = command.replace(name, here)
        done = run_command(*shlex.split(command), cwd=self.folder, env=self.env, timeout=DEADLINE_S)
        assert done.returncode in codes, f"evercrawl {command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def check_files(self, commands: list[str]) -> None:
        """Check that each file that a recipe exports can be read and is not empty."""
        for name in re.findall(r" -o (\S+)", "\n".join(commands)):
            path = self.folder / name
            if path.suffix == ".wacz":
                with zipfile.ZipFile(path) as package:
                    assert {"datapackage.json", "pages/pages.jsonl"} <= set(package.namelist())
            elif path.suffix == ".jsonl":
                assert [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            elif name == "dataset":
                assert list(path.rglob("*.parquet"))
            elif path.is_dir():
                assert "Albatross" in next(path.rglob("albatross/index.html")).read_text("utf-8")

    def prepare(self, commands: list[str]) -> None:
        """Make the files that a recipe takes from another tool."""
        text = "\n".join(commands)
        if "cookies.txt" in text:
            (self.folder / "cookies.txt").write_text(COOKIES.format(host=HOSTS[0]))
        if "urls.txt" in text:
            (self.folder / "urls.txt").write_text(f"{self.origin}/\n{self.origin}/ships/\n")
        if "job.warc.gz" in text:
            self.run("-C job crawl --scope list https://example.org/")
            self.run("-C job export warc -o job.warc.gz")
        if "changedetection-backup.zip" in text:
            (self.folder / "changedetection-backup.zip").write_bytes(_backup(f"{self.origin}/"))
        if "import archivebox" in text:
            _save_archivebox(self.folder / "archivebox", [f"{self.origin}/", f"{self.origin}/ships/"])


def _save_archivebox(folder: Path, urls: list[str]) -> None:
    """Write a folder as ArchiveBox does, with one snapshot of each page."""
    for stamp, url in enumerate(urls, start=1_772_366_400):
        own = folder / "archive" / f"{stamp}.1"
        own.mkdir(parents=True)
        (own / "output.html").write_text(f"<title>Saved</title><p>The page {url} as it was saved.")
        saved = [{"output": "output.html", "status": "succeeded", "start_ts": "2026-03-01T12:00:00+00:00"}]
        index = {"url": url, "timestamp": f"{stamp}.1", "title": "Saved", "history": {"dom": saved}}
        (own / "index.json").write_text(json.dumps(index))


def _backup(url: str) -> bytes:
    watch = {"url": url, "time_between_check": {"hours": 3}, "include_filters": ["h1"], "uuid": "1"}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        out.writestr("url-watches.json", json.dumps({"watching": {"1": watch}, "settings": {}}))
    return packed.getvalue()


def test_the_recipes_that_people_look_for_are_there() -> None:
    titles = "\n".join(_recipes())
    assert [words for words in WANTED if words not in titles] == []


@pytest.mark.parametrize(
    "title", [title for title, commands in RUNNABLE.items() if not re.search("postgresql|proxy", f"{title}{commands}")]
)
def test_a_recipe_brings_its_outcome(title: str, web: DemoWeb, port: int, tmp_path: Path) -> None:
    (outcomes,) = [outcomes for words, outcomes in OUTCOMES.items() if words in title]
    kitchen = Kitchen(tmp_path, port, "")
    kitchen.prepare(RUNNABLE[title])
    printed = ""
    home = web.replies[HOSTS[0], "/"]
    for command in RUNNABLE[title]:
        if "--refresh" in command:
            web.replies[HOSTS[0], "/"] = home._replace(body=f"{home.body}<p>From today, the new ferry sails at noon.")
        printed = kitchen.run(command, codes=(0, 7) if "--max-" in command else (0,))
    web.replies[HOSTS[0], "/"] = home
    for command, pattern in outcomes:
        shown = kitchen.run(command) if command else printed
        assert re.search(pattern, shown, re.MULTILINE), f"{command or RUNNABLE[title][-1]}: {pattern}\n{shown}"
    kitchen.check_files(RUNNABLE[title])


def test_the_recipe_for_a_proxy_runs(port: int, tmp_path: Path) -> None:
    (title,) = [title for title in RUNNABLE if "proxy" in title]
    (written,) = re.findall(r'^```toml\n(\["\*"\]\n.*?)^```$', (RECIPES / "crawl.md").read_text("utf-8"), re.M | re.S)
    kitchen = Kitchen(tmp_path, port, "")
    with proxy_server("socks5") as proxy:
        file = tmp_path / "config" / "evercrawl" / "credentials.toml"
        file.parent.mkdir(parents=True)
        file.touch(mode=0o600)
        file.write_text(written.replace("socks5://user:password@proxy.example.org:1080", proxy.url()))
        for command in RUNNABLE[title]:
            kitchen.run(command)
    assert (set(proxy.asked), proxy.refused) == ({f"127.0.0.1:{port}"}, 0)


@pytest.mark.slow
def test_the_recipe_for_postgresql_runs(port: int, tmp_path: Path) -> None:
    (title,) = [title for title in RUNNABLE if "PostgreSQL" in title]
    page = (RECIPES / "operate.md").read_text(encoding="utf-8")
    (statements,) = re.findall(r"^```sql\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    with running_server() as server:
        asyncio.run(_execute(server, statements))
        address = f"postgresql://crawler@127.0.0.1:{server.port}/crawls"
        kitchen = Kitchen(tmp_path, port, address)
        for command in RUNNABLE[title]:
            kitchen.run(command)


async def _execute(server: PostgresServer, statements: str) -> None:
    connection = await asyncpg.connect(server.dsn)
    try:
        for statement in filter(str.strip, statements.split(";")):
            await connection.execute(statement)
    finally:
        await connection.close()
