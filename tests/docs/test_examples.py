"""The examples of the docs do what the text around them says; they run against the demo's web on loopback."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple

import pytest

from evercrawl.adapters.analysers import load_analysers
from evercrawl.adapters.plugins import load_filter, load_handlers, load_schemes
from evercrawl.adapters.sqlite.state_file import SCHEMA
from evercrawl.core.scope.url_filter import parse_filter
from evercrawl.core.sentiment.field_analysers import analyse_fields
from evercrawl.model.document import Document, Link
from evercrawl.model.settings import Settings
from evercrawl.testing import SimClock
from tests.worlds.demo_web import HOSTS, DemoWeb, serving

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
LIBRARY = DOCS / "guides" / "use-the-library.md"
HANDLER = DOCS / "guides" / "write-a-handler.md"
FILTER = DOCS / "guides" / "write-a-filter.md"
ANALYSER = DOCS / "guides" / "write-an-analyser.md"
FORMATS = DOCS / "formats" / "collection.md"
COLLECTION = "example.org.evercrawl"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"# (\w+\.py)\n")


def blocks(page: Path, language: str) -> list[str]:
    """The examples of a page in one language, in their order."""
    return [text for found, text in _BLOCK.findall(page.read_text()) if found == language]


class Site(NamedTuple):
    """A folder, and where example.org is for those who work in it."""

    folder: Path
    origin: str
    env: dict[str, str]

    def localised(self, text: str) -> str:
        return text.replace("https://example.org", self.origin)

    def run(self, script: str) -> str:
        """What an example prints; it runs as a program of its own."""
        done = subprocess.run(
            [sys.executable, "-c", self.localised(script)],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, host = tmp_path_factory.mktemp("examples"), HOSTS[0]
    keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
    with serving(DemoWeb()) as port:
        yield Site(
            folder,
            f"http://{host}:{port}",
            keep
            | {
                "EVERCRAWL_CONTACT": "docs@example.org",
                "EVERCRAWL_PACE__MODE": "unlimited",
                "EVERCRAWL_HTTP__ALLOW_PRIVATE": "true",
                "EVERCRAWL_HTTP__RESOLVE": f"{host}:{port}:127.0.0.1",
                "XDG_CONFIG_HOME": str(folder / "config"),
            },
        )


@pytest.fixture(scope="module")
def printed(site: Site) -> list[str]:
    """What the examples of the library's page print, one after the other in one folder."""
    return [site.run(script) for script in blocks(LIBRARY, "python")]


def test_the_library_page_works_from_top_to_bottom(site: Site, printed: list[str]) -> None:
    crawl, loop, look, rows, settings, errors = printed
    assert "20 new pages, 1 errors, it ended because: done" in crawl
    assert "of 22 pages" in loop
    assert "0 changed, 20 not modified" in loop
    assert "0 in the queue" in look
    assert "rejected robots line 2: Disallow: /private/" in look
    assert "file_type " + site.origin + "/pier.jpg" in look
    assert "Harbour" in look
    assert site.origin + "/ Heading(text='" in rows
    assert settings.startswith("limit ")
    assert "a folder that cannot be used: nowhere.evercrawl is not a collection" in errors


def test_seeds_that_the_library_was_given_belong_to_the_collection(site: Site, printed: list[str]) -> None:
    assert f'seeds = ["{site.origin}/"]' in (site.folder / COLLECTION / "collection.toml").read_text()


def test_the_readme_shows_the_library_as_it_is(site: Site, tmp_path: Path) -> None:
    (script,) = blocks(REPOSITORY / "README.md", "python")
    here = site._replace(folder=tmp_path)
    assert re.match(r"2\d ", here.run(script))


def test_the_questions_to_the_state_have_answers(site: Site, printed: list[str]) -> None:
    questions = [site.localised(text) for text in blocks(FORMATS, "sql")]
    assert len(questions) == 3
    (state,) = (site.folder / COLLECTION / "state").glob("*.sqlite")
    db = sqlite3.connect(f"file:{state}?mode=ro", uri=True)
    try:
        pages, versions, sites = (db.execute(question).fetchall() for question in questions)
    finally:
        db.close()
    assert sum(row[2] for row in pages) == 22
    assert [row[0] for row in versions] == [1]
    assert versions[0][2] == "Harbour"
    assert [row[0] for row in sites] == [site.origin]


def test_every_table_of_the_state_is_explained() -> None:
    described = set(re.findall(r"^\| `(\w+)` \|", FORMATS.read_text(), re.MULTILINE))
    tables = set(re.findall(r"^create table (\w+)", SCHEMA, re.MULTILINE))
    assert tables <= described, "docs/formats/collection.md"
    views = set(re.findall(r"^create view (\w+)", SCHEMA, re.MULTILINE))
    assert all(f"`{view}`" in FORMATS.read_text() for view in views)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The examples that are files, where Python finds them."""
    for page in (HANDLER, FILTER, ANALYSER):
        for text in blocks(page, "python"):
            name = _FILE_NAME.match(text)
            assert name is not None
            (tmp_path / name[1]).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_the_handler_reads_its_media_type(modules: Path) -> None:
    point = EntryPoint("markdown", "my_handlers:handler", "evercrawl.handlers")
    handlers, warnings = load_handlers([point])
    assert warnings == []
    body = b"# Tides\nSee [knots](../knots#top) and [knots](/knots), [nowhere](http://[).\xff"
    document = handlers["text/markdown"].parse("https://example.org/book/tides", (), body)
    assert document.title == "Tides"
    assert [link.url for link in document.links] == ["https://example.org/knots"]


def test_the_fetcher_of_a_scheme_can_be_loaded(modules: Path) -> None:
    point = EntryPoint("gopher", "my_fetchers:GopherFetcher", "evercrawl.schemes")
    assert set(load_schemes(Settings(), SimClock(), "evercrawl/1", points=[point])) == {"gopher"}


def test_the_filters_of_the_guide_say_what_they_promise(modules: Path) -> None:
    mine = load_filter("mine:ShortPaths")
    assert mine.accepts("https://example.org/a/b/")
    assert not mine.accepts("https://example.org/a/b/c/d")
    kinds = re.findall(r"^\| `(\w+\(.*\))` \|", FILTER.read_text(), re.MULTILINE)
    accepted = [
        "https://www.example.org/x",
        "https://example.org/docs/x",
        "https://any.example/",
        "http://a.example/b.html",
    ]
    assert len(kinds) == len(accepted)
    assert all(parse_filter(kind).accepts(url) for kind, url in zip(kinds, accepted, strict=True))
    assert not any(parse_filter(kind).accepts("ftp://else.example/") for kind in kinds)


def test_the_analysers_of_the_guide_say_what_they_promise(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = "it was the best of times and it was the worst of times for us"
    (modules / "ours.txt").write_text(ours)
    monkeypatch.chdir(modules)
    names = ["alarm:KeywordAlarm", "copies:CopyrightMatch", "malware:MalwarePattern", "language"]
    analysers = load_analysers(names)
    quiet = Document("utf-8", "https://example.org/", text="Nothing to see.", lang="en")
    assert analyse_fields(quiet, analysers) == {"language": "en"}
    loud = Document(
        "utf-8",
        "https://example.org/",
        text=f"An outage, then a Recall, then an outage. They write: {ours.title()}!",
        links=(Link("http://192.0.2.7/setup.EXE", "free", nofollow=False),),
        embeds=("https://cdn.evil.example/x.js", "https://example.org/y.js"),
        lang="en",
    )
    assert analyse_fields(loud, analysers) == {
        "alarm": "outage, recall",
        "alarm_count": 3,
        "copied": 1.0,
        "malware": "http://192.0.2.7/setup.EXE",
        "malware_count": 2,
        "language": "en",
    }


def test_an_analyser_of_a_package_is_found_by_name(modules: Path) -> None:
    point = EntryPoint("alarm", "alarm:KeywordAlarm", "evercrawl.analysers")
    (analyser,) = load_analysers(["alarm"], [point])
    assert analyser.name == "alarm"
