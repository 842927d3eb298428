"""Every line of the mission is shown by a command of the docs, and its output is what `research/mission.md` says.

A row of the table names a page, commands and words of their output. The commands must stand on the page; they run
against the example web on loopback, each world made once. Output that the page itself shows is compared too."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.command_server import run_command, start_command
from tests.e2e.outposts import free_port
from tests.worlds.demo_web import serving
from tests.worlds.example_web import DOWN, HOSTS, ExampleWeb, write_examples, write_public_folder

REPOSITORY = Path(__file__).resolve().parents[2]
TABLE = REPOSITORY / "research" / "mission.md"
COLLECTION = "example.org.evercrawl"
DEADLINE_S = 300
_PYTHON = re.compile(r"Python example (\d+)")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MODULE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d[:-]\d\d(?:[:-]\d\d)?Z?)?")
_PIPE = re.compile(r"echo '(?P<text>[^']*)' \| (?P<command>evercrawl .*)")
NAMES = [
    *(f"A{number}" for number in range(1, 14)),
    *(f"B{number}" for number in range(1, 14)),
    *(f"C{number}" for number in range(1, 7)),
    *(f"D{number}" for number in range(1, 12)),
    *(f"E{number}" for number in range(1, 17)),
]
ALSO = {
    "A": ("dynamic pages", "descending the tree", "level of a page", "proportion"),
    "B": ("F = 0 and F = -1", "links of the same server", "domain to crawler", "other figures"),
    "C": ("difference", "date"),
    "D": ("cache figures", "ties", "font size and capitals", "barrels", "two nodes", "engines by choice"),
    "E": ("frequently accessed pages", "how deep", "hosts never asked", "searchengine"),
}
"""The last section of the mission."""


class Row(NamedTuple):
    """A row of the table."""

    line: str
    pages: tuple[Path, ...]
    world: str
    commands: tuple[str, ...]
    outputs: tuple[str, ...]


def _rows() -> list[Row]:
    found = []
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 6 or cells[0] in ("Line", "---"):
            continue
        name, _, pages, world, commands, outputs = cells
        found.append(
            Row(
                name,
                tuple((TABLE.parent / target).resolve() for target in re.findall(r"\]\(([^)#]+)", pages)),
                world,
                tuple(re.findall(r"``? ?(.+?) ?``?(?:<br>|$)", commands)),
                tuple(part.strip() for part in outputs.split(" … ")),
            )
        )
    return found


ROWS = _rows()


class Place:
    """A folder in which commands run, and the addresses that stand for those of the docs."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.also: dict[str, str] = {}
        hosts = [f"{host}:{port}:127.0.0.1" for host in HOSTS] + [f"{DOWN}:{port}:127.0.0.2"]
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        self.env = keep | {
            "EVERCRAWL_CONTACT": "docs@example.org",
            "EVERCRAWL_COLLECTION": COLLECTION,
            "EVERCRAWL_PACE__MODE": "unlimited",
            "EVERCRAWL_PACE__UNLIMITED_CONCURRENCY": "1",
            "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
            "EVERCRAWL_HTTP__RESOLVE": ", ".join(hosts),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_STATE_HOME": str(folder / "state"),
            "COLUMNS": "120",
        }

    def run(self, command: str) -> str:
        """Run a command of the docs and return what it prints, with the addresses of the docs."""
        local = self._localised(command)
        piped = _PIPE.fullmatch(local)
        if piped is None and not local.startswith("evercrawl "):
            done = self._shell(local)
        else:
            done = self._evercrawl(*(piped["command"], piped["text"]) if piped else (local, ""))
        assert "Traceback" not in done.stderr, done.stderr
        assert "this is a bug" not in done.stderr, done.stderr
        return self._as_in_docs(done.stdout + done.stderr)

    def _as_in_docs(self, printed: str) -> str:
        named = re.sub(rf"http://([\w.]*example\.org):{self.port}", r"https://\1", printed)
        return named.replace(f":{self.port}", "").replace(f"_{self.port}", "")

    def _localised(self, text: str) -> str:
        for shown, actual in self.also.items():
            text = text.replace(shown, actual)
        return re.sub(r"https://([\w.]*example\.org)", rf"http://\1:{self.port}", text)

    def _evercrawl(self, command: str, text: str) -> subprocess.CompletedProcess[str]:
        given = self.folder / "stdin.txt"
        given.write_text(text)
        arguments = shlex.split(command)[1:]
        with given.open() as stdin:
            return run_command(*arguments, cwd=self.folder, env=self.env, stdin=stdin, timeout=DEADLINE_S)

    def _shell(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=DEADLINE_S
        )

    def write_modules(self, pages: list[str]) -> None:
        """Write the examples that are files into the folder."""
        for page in pages:
            for name, text in _MODULE.findall(page):
                (self.folder / name).write_text(text)

    def python(self, script: str) -> str:
        """Run an example in Python and return what it prints."""
        command = [sys.executable, "-c", self._localised(script)]
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return self._as_in_docs(done.stdout)


class Worlds:
    """The places of the table, each made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.printed: dict[tuple[str, tuple[str, ...]], str] = {}
        """What the commands of a row printed, for rows with the same commands."""
        self._fresh = 0
        self._processes: list[subprocess.Popen[str]] = []
        self._servers = ExitStack()

    def place(self, name: str) -> Place:
        if name in ("new", "small", "polite"):
            self._fresh += 1
            folder = f"{name}-{self._fresh}"
            place = self._at(folder, self._port) if name == "new" else self._with_one_page(folder)
            write_examples(place.folder / "examples.jsonl")
            if name == "polite":
                del place.env["EVERCRAWL_PACE__MODE"]
            return place
        found: Place = getattr(self, name)
        return found

    @cached_property
    def _web(self) -> ExampleWeb:
        return ExampleWeb()

    @cached_property
    def _port(self) -> int:
        return self._serve(self._web)

    @cached_property
    def site(self) -> Place:
        """A collection of example.org that was crawled, changed and crawled again."""
        web = ExampleWeb()
        place = self._at("site", self._serve(web))
        place.run("evercrawl crawl https://example.org")
        web.change()
        place.run("evercrawl crawl --refresh")
        for name in ("coast", "islands"):
            shutil.copytree(place.folder / COLLECTION, place.folder / f"{name}.evercrawl")
        return place

    @cached_property
    def trace(self) -> Place:
        """A folder with a recorded history of 30 pages over 60 days."""
        place = self._at("trace", self._port)
        write_trace(place.folder / "history.jsonl")
        return place

    @cached_property
    def served(self) -> Place:
        """The folder of a site, served with its sitemap on port 8000."""
        place = self._at("served", self._port)
        write_public_folder(place.folder / "public")
        place.run("evercrawl sitemap build public/ --base-url https://example.org/")
        port = free_port()
        place.also = {"127.0.0.1:8000": f"127.0.0.1:{port}"}
        command = ("sitemap", "serve", "public/", "--port", str(port))
        self._processes.append(start_command(*command, cwd=place.folder, env=place.env))
        wait_for_port(port)
        return place

    def _with_one_page(self, name: str) -> Place:
        place = self._at(name, self._port)
        place.run("evercrawl crawl https://example.org --max-pages 1")
        (place.folder / "access.log").write_text("/cgi-bin/hits.cgi 900\n/about 1\n/prices 1\n")
        return place

    @cached_property
    def shop(self) -> Place:
        """A collection of a site without an end."""
        place = self._at("shop", self._port)
        place.run("evercrawl crawl https://shop.example.org/")
        return place

    @cached_property
    def down(self) -> Place:
        """A collection of a site that cannot be reached."""
        place = self._at("down", self._port)
        place.run("evercrawl crawl https://down.example.org/ --max-time 3")
        return place

    @cached_property
    def outposts(self) -> Place:
        """A collection whose site was fetched by an outpost, while the web changed between two runs."""
        web = ExampleWeb()
        place = self._at("outposts", self._serve(web))
        home = f"127.0.0.1:{free_port()}"
        place.run("evercrawl crawl https://example.org --max-pages 1")
        code = place.run(f"evercrawl outpost pair --for example.org --name office --home {home}").split()[0]
        agent = f"outpost run --home {home} --code {code} --allow example.org --state agent --allow-private"
        outpost = start_command(*shlex.split(agent), cwd=place.folder, env=place.env)
        try:
            place.run(f"evercrawl crawl --outposts {home}")
            web.change()
            place.run(f"evercrawl crawl --outposts {home} --refresh")
        finally:
            outpost.terminate()
            outpost.wait()
        return place

    @cached_property
    def owner(self) -> Place:
        """The folder of a site, with its files in `public`."""
        place = self._at("owner", self._port)
        del place.env["EVERCRAWL_COLLECTION"]
        write_public_folder(place.folder / "public")
        return place

    def close(self) -> None:
        for process in self._processes:
            process.terminate()
            process.wait()
        self._servers.close()

    def _serve(self, web: ExampleWeb) -> int:
        return self._servers.enter_context(serving(web))

    def _at(self, name: str, port: int) -> Place:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        return Place(folder, port)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    made = Worlds(tmp_path_factory.mktemp("mission"))
    yield made
    made.close()


def write_trace(file: Path) -> None:
    """Write the history of 30 pages over 60 days: a third changes daily, a third weekly, a third hardly."""
    day_s = 86_400.0
    lines: list[dict[str, object]] = [{"site": "example.org", "start": 0, "end": 60 * day_s}]
    for number in range(30):
        step = (1.0, 7.0, 40.0)[number % 3]
        first = step * (number + 1) / 31
        deltas = [first * day_s] + [step * day_s] * int((60 - first) / step)
        lines.append({"hub": str(number % 5), "birth": 0.0, "death": None, "changes_delta": deltas})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def wait_for_port(port: int) -> None:
    """Wait until something listens."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nothing listens")


def test_every_line_of_the_mission_has_a_row() -> None:
    named = [name for row in ROWS for name in row.line.split(", ")]
    assert [name for name in NAMES if name not in named] == []
    firsts = {line.split("|")[1].strip() for line in TABLE.read_text().splitlines() if line.startswith("|")}
    assert [f"{paper}: {name}" for paper in ALSO for name in ALSO[paper] if f"{paper}: {name}" not in firsts] == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("guides/read-history.md", ["1 None", "Prices", "30 euros", "content"]),
        ("guides/take-data-out.md", ["15 0"]),
        ("guides/search.md", ["1 https://example.org/prices"]),
        ("concepts/freshness.md", []),
    ],
)
def test_the_examples_in_python_work(page: str, words: list[str], worlds: Worlds) -> None:
    blocks = [
        text for language, text in _BLOCK.findall((REPOSITORY / "docs" / page).read_text()) if language == "python"
    ]
    assert blocks
    place = worlds.place("site")
    printed = "".join(place.python(block) for block in blocks)
    (place.folder / "site.wacz").unlink(missing_ok=True)
    assert [word for word in words if word not in printed] == [], printed


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.line.replace(" ", ""))
def test_the_docs_show_it(row: Row, worlds: Worlds) -> None:
    texts = [page.read_text() for page in row.pages]
    assert row.commands
    if row.world == "test":
        assert all(any(command in text for text in texts) for command in row.commands)
        return
    if (row.world, row.commands) in worlds.printed:
        _assert_parts(row, worlds.printed[row.world, row.commands])
        return
    place = worlds.place(row.world)
    place.write_modules(texts)
    printed = ""
    for command in row.commands:
        example = _PYTHON.fullmatch(command)
        if example is not None:
            printed += place.python(_python_blocks(texts[0])[int(example[1]) - 1])
            continue
        assert any(command in text for text in texts), f"no page of {row.line} shows: {command}"
        output = place.run(command)
        printed += output
        for text in texts:
            for shown in _shown_output(text, command):
                assert _pattern(shown).search(_normal(output)), f"the page shows:\n{shown}\nit prints:\n{output}"
    worlds.printed[row.world, row.commands] = printed
    _assert_parts(row, printed)


def _python_blocks(page: str) -> list[str]:
    return [text for language, text in _BLOCK.findall(page) if language == "python"]


def _assert_parts(row: Row, printed: str) -> None:
    """Check that the output has the parts of the row, in their order."""
    position, normal = 0, " ".join(printed.split())
    for part in row.outputs:
        found = normal.find(" ".join(part.split()), position)
        assert found >= 0, f"{part!r} is not in:\n{printed}"
        position = found


def _shown_output(page: str, command: str) -> Iterator[str]:
    """Yield the output that a page shows below a command."""
    for _, block in _BLOCK.findall(page):
        lines = block.splitlines()
        for number, line in enumerate(lines):
            if line.split("   #")[0].rstrip() != f"$ {command}":
                continue
            rest = lines[number + 1 :]
            end = next((at for at, other in enumerate(rest) if other.startswith("$ ")), len(rest))
            if rest[:end]:
                yield "\n".join(rest[:end])


def _pattern(shown: str) -> re.Pattern[str]:
    """Return a pattern in which `…` stands for anything."""
    return re.compile(".*?".join(re.escape(part.strip()) for part in _normal(shown).split("…")))


def _normal(text: str) -> str:
    """Return a text with one space between words and without the differences between two runs."""
    return " ".join(_TIME.sub("TIME", text).split())
