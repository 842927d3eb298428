"""What other programs have becomes pages and versions: ArchiveBox, Heritrix, Scrapy, bookmarks and OPML."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import evercrawl
from evercrawl.collection.collection import Collection
from evercrawl.collection.exchange.program_imports import MAX_MODULE_BYTES, heritrix_seeds, scrapy_seeds
from evercrawl.errors import ConfigError
from tests.unit.collection.exchange.archives import SITE, day, html, packed, response


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return evercrawl.open(tmp_path / "c.evercrawl", create=True)


def snapshot(folder: Path, stamp: str, url: str, outputs: dict[str, bytes], **history: str) -> None:
    """Write a snapshot as ArchiveBox 0.7 does."""
    own = folder / "archive" / stamp
    own.mkdir(parents=True)
    for name, content in outputs.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_bytes(content)
    results: dict[str, Any] = {
        name: [{"output": output, "status": "succeeded", "start_ts": f"2026-03-0{3 + number}T12:00:00+00:00"}]
        for number, (name, output) in enumerate(history.items())
    }
    index = {"url": url, "timestamp": stamp, "title": "x", "history": {"pdf": [], **results}}
    (own / "index.json").write_text(json.dumps(index))


def test_snapshots_of_archivebox_become_versions(collection: Collection, tmp_path: Path):
    box = tmp_path / "box"
    warc = packed(response(SITE + "/a", day(0), html("A", "The first text of the page, from the WARC file.")))
    snapshot(box, "1772366400.1", SITE + "/a", {"warc/1.warc.gz": warc, "output.html": b"not used"}, dom="output.html")
    second = html("A", "The second text of the page, from the single file.")
    outputs = {"singlefile.html": second, "output.html": b"not used"}
    snapshot(box, "1772539200.2", SITE + "/a#2026-03-03", outputs, singlefile="singlefile.html", dom="output.html")
    snapshot(box, "1772539201.2", SITE + "/none", {}, dom="output.html")
    snapshot(box, "1772539202.2", SITE + "/escape", {}, dom="../../../c.evercrawl/collection.toml")
    snapshot(box, "1772539203.2", "ftp://old.example/", {})
    report = collection.import_watches("archivebox", box)
    assert (report.pages, report.snapshots, report.versions) == (3, 4, 2)
    found = [(one.version, one.title, f"{one.seen_at:%Y-%m-%d}") for one in collection.history(SITE + "/a").versions]
    assert found == [(1, "A", "2026-03-01"), (2, "A", "2026-03-03")]
    assert "second text" in collection.show(SITE + "/a").text
    assert set(collection.settings.scope.pages) == {SITE + "/a", SITE + "/none", SITE + "/escape"}
    assert len([note for note in report.notes if "has no saved page" in note]) == 2
    assert any("ftp" in note for note in report.notes)


def test_an_impossible_time_becomes_that_of_the_snapshot(collection: Collection, tmp_path: Path):
    box = tmp_path / "box"
    snapshot(box, "1772539201.2", SITE + "/a", {"output.html": html("A", "The text of the page.")}, dom="output.html")
    index = next(box.rglob("index.json"))
    index.write_text(index.read_text().replace("2026-03-03T12:00:00+00:00", "0001-01-01T00:00:00+23:59"))
    assert collection.import_watches("archivebox", box).versions == 1
    assert f"{collection.history(SITE + '/a').versions[0].seen_at:%Y-%m-%d}" == "2026-03-03"


def test_a_folder_of_something_else_is_refused(collection: Collection, tmp_path: Path):
    with pytest.raises(ConfigError, match="is not an ArchiveBox folder"):
        collection.import_watches("archivebox", tmp_path)
    (tmp_path / "archive").mkdir()
    with pytest.raises(ConfigError, match="no snapshot"):
        collection.import_watches("archivebox", tmp_path)
    with pytest.raises(ConfigError, match="no seeds"):
        collection.import_watches("heritrix", tmp_path)
    with pytest.raises(ConfigError, match="no spider"):
        collection.import_watches("scrapy", tmp_path)


BEANS = """<?xml version="1.0"?><beans><bean id="longerOverrides"><property name="properties"><props>
<prop key="seeds.textSource.value">
# URLS HERE
http://example.org/a?x=1&amp;y=2
example.net/b
+http://(org,example,
</prop></props></property></bean></beans>"""


def test_seeds_of_heritrix_are_read_from_lists_and_jobs(collection: Collection, tmp_path: Path):
    assert heritrix_seeds(BEANS) == ["http://example.org/a?x=1&y=2", "example.net/b"]
    job = tmp_path / "job"
    job.mkdir()
    (job / "crawler-beans.cxml").write_text(BEANS)
    (job / "seeds.txt").write_text("# mine\nhttps://example.com/ F+\n\n-http://no.example/\n")
    report = collection.import_watches("heritrix", job)
    assert report.pages == 4
    assert "http://example.org/a?x=1&y=2" in collection.settings.scope.seeds
    assert "https://example.com/" in collection.settings.scope.seeds


SPIDER = """
import scrapy, os
class Quotes(scrapy.Spider):
    name = "quotes"
    start_urls = ["https://quotes.example/", 'https://quotes.example/page/2/']
class Map(scrapy.spiders.SitemapSpider):
    sitemap_urls: list[str] = ("https://map.example/sitemap.xml",)
class Other(scrapy.Spider):
    start_urls = [os.system("touch ran") or "https://x.example/"]
"""


def test_seeds_of_scrapy_are_read_without_running_it(collection: Collection, tmp_path: Path):
    found = scrapy_seeds(SPIDER)
    assert found.urls == [
        "https://quotes.example/",
        "https://quotes.example/page/2/",
        "https://map.example/sitemap.xml",
    ]
    assert found.computed == ["start_urls in line 9"]
    assert scrapy_seeds("def broken(:") == ([], [])
    project = tmp_path / "project" / "spiders"
    project.mkdir(parents=True)
    (project / "quotes.py").write_text(SPIDER)
    report = collection.import_watches("scrapy", tmp_path / "project")
    assert report.pages == 3
    assert report.notes == ["quotes.py: not taken: start_urls in line 9 is computed when the spider runs"]


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("archivebox", "archive/1772366400.1/index.json"),
        ("archivebox", "archive/1772366400.2/warc/1.warc.gz"),
        ("heritrix", "seeds.txt"),
        ("scrapy", "spiders/quotes.py"),
    ],
)
@pytest.mark.parametrize("kind", ["link out", "pipe", "device"])
def test_only_files_of_the_folder_are_read(
    collection: Collection, tmp_path: Path, program: str, name: str, kind: str
) -> None:
    """A pipe or a device would never end; a link could name any file of the user."""
    folder, path = tmp_path / "theirs", tmp_path / "theirs" / name
    outside = tmp_path / "outside"
    outside.write_text('start_urls = ["https://outside.example/"]')
    if name.endswith("warc.gz"):
        snapshot(folder, path.parts[-3], SITE + "/a", {})
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero" if kind == "device" else outside)
    try:
        notes = collection.import_watches(program, folder).notes
    except ConfigError:
        notes = []
    assert program != "archivebox" or "warc" not in name or any("no file in this folder" in note for note in notes)
    assert "outside" not in str(collection.settings.scope.seeds)


def test_long_modules_are_left_out(collection: Collection, tmp_path: Path) -> None:
    """The syntax tree of 4 MB took 2 GB."""
    (tmp_path / "a.py").write_text(SPIDER)
    (tmp_path / "b.py").write_text("x = [" + "0," * (MAX_MODULE_BYTES // 2) + "]")
    report = collection.import_watches("scrapy", tmp_path)
    assert report.pages == 3
    assert any("b.py: not taken: it has more than" in note for note in report.notes)


def test_bookmarks_and_feeds_are_lists_of_pages(collection: Collection, tmp_path: Path):
    bookmarks = tmp_path / "bookmarks.html"
    bookmarks.write_text(
        '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n<DT><A HREF="https://a.example/?q=1&amp;r=2"'
        ' ADD_DATE="1">A</A>\n<DT><A HREF="javascript:alert(1)">Tool</A>\n<DT><A HREF="place:sort=8">Recent</A>\n</DL>'
    )
    opml = tmp_path / "feeds.opml"
    opml.write_text(
        '<?xml version="1.0"?><opml version="2.0"><body><outline text="News"><outline type="rss" text="N"'
        ' xmlUrl="https://n.example/feed.xml" htmlUrl="https://n.example/"/></outline></body></opml>'
    )
    assert collection.import_watches("urls", bookmarks).pages == 1
    assert collection.import_watches("urls", opml).pages == 1
    assert collection.settings.scope.seeds == ("https://a.example/?q=1&r=2", "https://n.example/feed.xml")
