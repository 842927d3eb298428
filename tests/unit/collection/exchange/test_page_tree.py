"""The mirror and the Markdown tree: inside the folder, nothing overwritten, every new name listed."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.collection.collection import Collection
from evercrawl.collection.exchange.page_tree import MAPPING, MAX_NAME_CHARS, MAX_PATH_CHARS, mirror_path, unique_name
from evercrawl.core.url import canonical
from evercrawl.errors import ConfigError
from evercrawl.model.listing import VersionSelection
from tests.shared import conformance_rows
from tests.unit.collection.exchange.archives import MOMENT, SITE, collection_of, day, html, response

HOSTILE = [
    "/../../../../etc/passwd",
    "/?f=/etc/passwd",
    "/a./b .html",
    "/-rf",
    "/" + "a" * 300,
    "/" + "d/" * 1500 + "x",
    "/" + "b" * 4000,
    "/a",
    "/a/b",
    "/a/",
    "/abc%E2%80%AEfdp.exe",
    "/.git/config",
    "/x%00y%0Az%1B[2J",
    "/Case.html",
    "/case.html",
    "/CASE.html",
    "/Case.html/below",
    "/file.html/below",
    "/file.html",
    "/a%2Fb",
    "/..%2f..%2fx",
    "/con",
    "/mapping.jsonl",
    "/a:b",
    "/a%3Ab",
]


def mapping_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / MAPPING).read_text().splitlines()]


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {MAPPING}


def hostile_collection(folder: Path) -> Collection:
    return collection_of(folder, *(response(SITE + path, day(0), html(f"Page {n}")) for n, path in enumerate(HOSTILE)))


def test_hostile_names_stay_in_the_folder_and_overwrite_nothing(tmp_path):
    collection = hostile_collection(tmp_path)
    around = set(tmp_path.iterdir())
    for form in ("mirror", "markdown"):
        target = tmp_path / form
        report = collection.export(form, target)
        rows = mapping_of(target)
        paths = [str(row["path"]) for row in rows]
        assert report.versions == len(rows) == len(HOSTILE)
        assert len({path.lower() for path in paths}) == len(paths)
        assert set(paths) == files_in(target)
        assert all(path.resolve().is_relative_to(target.resolve()) for path in target.rglob("*"))
        for row in rows:
            assert f"Page {HOSTILE.index(index_of(str(row['url'])))}" in (target / str(row["path"])).read_text()
        renamed = {row["url"] for row in rows if row["renamed"]}
        assert SITE + "/-rf" in renamed
        assert SITE + "/a" not in renamed
    assert set(tmp_path.iterdir()) == around | {tmp_path / "mirror", tmp_path / "markdown"}


def index_of(url: str) -> str:
    """The path of the list that became this URL."""
    from evercrawl.core.url import canonical

    return next(path for path in HOSTILE if canonical(SITE + path) == url)


def test_a_mirror_is_a_moment_a_domain_and_a_path(tmp_path):
    body = html("A")
    collection = collection_of(tmp_path, response("http://www.myfirstsite.com/d1/d2", MOMENT, body))
    collection.export("mirror", tmp_path / "mirror")
    path = "2026-03-01T12-00-00Z/www.myfirstsite.com/d1/d2/index.html"
    assert files_in(tmp_path / "mirror") == {path}
    assert (tmp_path / "mirror" / path).read_bytes() == body
    assert mapping_of(tmp_path / "mirror") == [
        {
            "url": "http://www.myfirstsite.com/d1/d2",
            "path": path,
            "version": 1,
            "fetched_at": "2026-03-01T12:00:00Z",
            "renamed": False,
        }
    ]


def test_all_versions_lie_in_the_crawls_that_found_them(tmp_path):
    minute = timedelta(minutes=1)
    visits = [(0, "A", 0), (1, "B", 0), (0, "B", 24 * 60), (1, "C", 24 * 60 + 30), (1, "D", 24 * 60 + 40)]
    records = [response(f"{SITE}/{page}", MOMENT + after * minute, html(title)) for page, title, after in visits]
    collection = collection_of(tmp_path, *records)
    collection.export("mirror", tmp_path / "mirror", selection=VersionSelection(all_versions=True))
    found = {path.split("/")[0] + path[-13:-11] for path in files_in(tmp_path / "mirror")}
    assert found == {
        "2026-03-01T12-00-00Z/0",
        "2026-03-01T12-00-00Z/1",
        "2026-03-02T12-00-00Z/0",
        "2026-03-02T12-00-00Z/1",
        "2026-03-02T12-40-00Z/1",
    }


def test_other_media_types_keep_their_ending(tmp_path):
    pdf = {"head": "Content-Type: application/pdf"}
    collection = collection_of(
        tmp_path,
        response(SITE + "/paper.pdf", day(0), b"%PDF-1.4", **pdf),
        response(SITE + "/download?id=7", day(0), b"%PDF-1.5", **pdf),
        response(SITE + "/notes", day(0), b"words", head="Content-Type: text/plain"),
        response(SITE + "/unknown", day(0), b"\0\1", head="Content-Type: application/x-thing"),
    )
    collection.export("mirror", tmp_path / "mirror")
    names = {path.partition("example.org/")[2] for path in files_in(tmp_path / "mirror")}
    assert names == {"paper.pdf", "download@id=7.pdf", "notes/index.txt", "unknown/index"}


MARKUP = b"""<!doctype html><html lang=en><title>Boats &amp; *ropes*</title><body>
<nav><a href="/menu">Menu that nobody wants to read here</a></nav>
<main><h1>Boats &amp; *ropes*</h1>
<p>A <b>strong</b> rope, an <em>old</em> boat and a <a href="/knot?a=(1)">good knot</a> make a sailor happy,
   says <code>rope(7)</code>.<br>The second line follows here, and it is long enough to be a sentence.</p>
<h2>What you need</h2>
<ul><li>One rope of at least ten metres length</li>
<li>Two hands<ol><li>The left one is the nearer one</li></ol></li></ul>
<blockquote><p>Never tie what you cannot untie, said the old sailor.</p></blockquote>
<pre>bow  = tie(rope)
# not a heading</pre>
<table><tr><th>Knot</th><th>Use</th></tr><tr><td>Bowline</td><td>mooring a boat at the pier</td></tr></table>
<p># A paragraph that begins like a heading but is none at all.</p>
<p><a href="javascript:alert(1)">A link that runs a script</a> is only text in the end, and that
is a sentence.</p>
<script>alert("x")</script></main><footer>Imprint and other duties</footer>"""


def test_markdown_has_title_source_and_the_main_text(tmp_path):
    collection = collection_of(tmp_path, response(SITE + "/boats", day(0), MARKUP))
    collection.export("markdown", tmp_path / "md")
    text = (tmp_path / "md" / "example.org" / "boats" / "index.md").read_text()
    assert text.startswith(
        "# Boats & \\*ropes\\*\n\nSource: <https://example.org/boats>  \nFetched: 2026-03-01T12:00:00Z\n\n"
    )
    assert text.count("# Boats") == 1
    assert "A **strong** rope, an *old* boat and a [good knot](https://example.org/knot?a=%281%29) make" in text
    assert "`rope(7)`.  \nThe second line" in text
    assert "\n## What you need\n" in text
    assert "\n- One rope of at least" in text
    assert "\n  1. The left one" in text
    assert "\n> Never tie what" in text
    assert "```\nbow  = tie(rope)\n# not a heading\n```" in text
    assert "| Bowline | mooring a boat at the pier |" in text
    assert "\n\\# A paragraph that begins" in text
    assert "javascript:" not in text
    assert "alert" not in text
    assert "Menu" not in text
    assert "Imprint" not in text


def test_markdown_of_depth_and_of_plain_text(tmp_path):
    deep = b"<title>Deep</title>" + b"<div>" * 1500 + b"<p>" + b"Words at the bottom of it all. " * 20
    collection = collection_of(
        tmp_path,
        response(SITE + "/deep", day(0), deep),
        response(SITE + "/plain", day(0), b"one *line*\n\nanother", head="Content-Type: text/plain"),
    )
    collection.export("markdown", tmp_path / "md")
    folder = tmp_path / "md" / "example.org"
    assert "Words at the bottom of it all." in (folder / "deep" / "index.md").read_text()
    assert "one \\*line\\*\n\nanother" in (folder / "plain" / "index.md").read_text()


SAFE_NAME = re.compile(r"[A-Za-z0-9_~%=+,@][A-Za-z0-9._~%=+,@-]*(?<!\.)")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|\Z)", re.IGNORECASE)


def assert_safe(parts: tuple[str, ...]) -> None:
    assert len(parts) >= 2
    for name in parts:
        assert SAFE_NAME.fullmatch(name), name
        assert not RESERVED.match(name), name
        assert len(name) <= MAX_NAME_CHARS
    assert len("/".join(parts)) <= MAX_PATH_CHARS


@pytest.mark.parametrize(
    ("url", "path", "is_renamed"),
    [
        ("http://www.myfirstsite.com/d1/d2", "www.myfirstsite.com/d1/d2/index.html", False),
        ("http://a.test/", "a.test/index.html", False),
        ("http://a.test/x.html", "a.test/x.html", False),
        ("http://a.test/x.HTM", "a.test/x.HTM", False),
        ("http://a.test/x.php", "a.test/x.php.html", False),
        ("http://a.test:8080/x/", "a.test_8080/x/index.html", False),
        ("http://a.test/s?q=1", "a.test/s@q=1.html", False),
        ("http://a.test/?f=/etc/passwd", "a.test/index@f=%2Fetc%2Fpasswd.html", True),
        ("http://a.test/-rf", "a.test/%2Drf/index.html", True),
        ("http://a.test/.git/config", "a.test/%2Egit/config/index.html", True),
        ("http://a.test/a./b .html", "a.test/a%2E/b%20.html", True),
        ("http://a.test/con/NUL.txt", "a.test/_con/_NUL.txt.html", True),
        ("http://a.test//x", "a.test/x/index.html", True),
        ("http://a.test/a:b*c", "a.test/a%3Ab%2Ac/index.html", True),
        ("http://[::1]/x", "%3A%3A1/x/index.html", True),
    ],
)
def test_a_path_says_where_the_page_was(url: str, path: str, is_renamed: bool) -> None:
    name = canonical(url)
    assert name is not None
    found = mirror_path(name, ending=".html")
    assert "/".join(found.parts) == path
    assert found.is_renamed == is_renamed
    assert_safe(found.parts)


def test_every_hostile_link_of_the_catalogue_gets_a_harmless_path() -> None:
    rows = [row for row in conformance_rows("http_hostile/catalogue.jsonl") if row["name"].startswith("mirror-path-")]
    assert len(rows) >= 9
    for row in rows:
        for link in row["server"]["link"].split(" and "):
            name = canonical(link)
            if name is None:
                assert row["outcome"] == "rejected"
                continue
            assert_safe(mirror_path(name, ending=".html").parts)


@pytest.mark.parametrize("tail", ["a" * 4096, "/".join(["dir"] * 1300), "x/" + "%E2%80%AE" * 400, "?q=" + "b" * 4000])
def test_long_paths_are_cut_and_still_tell_apart(tail: str) -> None:
    one, other = (mirror_path(f"http://a.test/{tail}{end}", ending=".html") for end in "12")
    assert_safe(one.parts)
    assert one.is_renamed
    assert one.parts != other.parts


def test_another_name_keeps_the_ending_and_is_always_the_same() -> None:
    first = unique_name("index.html", "http://a.test/A")
    assert first.startswith("index~")
    assert first.endswith(".html")
    assert first == unique_name("index.html", "http://a.test/A") != unique_name("index.html", "http://a.test/a")
    assert_safe(("a", unique_name("a" * MAX_NAME_CHARS, "http://a.test/A", 12)))


@given(st.text(max_size=200), st.sampled_from([".html", ".pdf", "", ".md"]))
def test_no_url_gives_a_name_that_is_more_than_a_name(tail: str, ending: str) -> None:
    name = canonical("http://a.test/" + tail)
    if name is not None:
        assert_safe(mirror_path(name, ending=ending).parts)


def links_in(folder: Path, page: str) -> list[str]:
    return re.findall(r'(?:href|src)="?([^">]+)', (folder / page).read_text("utf-8-sig"))


def test_links_of_a_mirror_lead_to_the_copies(tmp_path):
    page = b"""<meta charset=latin1><p>\xe9t\xe9</p><a href=/a>a</a><a href='b?id=1#part'>b</a><a href="a/c%20d.html">c
        </a><a href=/old>old</a><a href=/none#x>none</a><a href=#here>here</a><img src=/i.png>
        <a href=mailto:x@y.z>m</a>"""
    collection = collection_of(
        tmp_path,
        response(SITE + "/", day(0), page),
        response(SITE + "/a", day(0), html("A")),
        response(SITE + "/b?id=1", day(0), html("B")),
        response(SITE + "/a/c%20d.html", day(0), html("C")),
    )
    collection.export("mirror", tmp_path / "mirror")
    site = tmp_path / "mirror" / "2026-03-01T12-00-00Z" / "example.org"
    found = links_in(site, "index.html")
    assert found[:3] == ["a/index.html", "b@id=1.html#part", "a/c%2520d.html"]
    assert found[3:] == [SITE + "/old", SITE + "/none#x", "#here", SITE + "/i.png", "mailto:x@y.z"]
    assert (site / "index.html").read_bytes().startswith(b"\xef\xbb\xbf<meta")
    assert "<p>été</p>" in (site / "index.html").read_text("utf-8-sig")
    report = collection.export("mirror", tmp_path / "sent", as_sent=True)
    assert report.first_page == "2026-03-01T12-00-00Z/example.org/index.html"
    assert (tmp_path / "sent" / report.first_page).read_bytes() == page
    with pytest.raises(ConfigError, match="for mirrors"):
        collection.export("wacz", tmp_path / "x.wacz", as_sent=True)


def test_links_between_crawls_lead_to_what_was_there_then(tmp_path):
    def page(title: str) -> bytes:
        return html(title) + b"<a href=/1>1</a><a href=/2>2</a>"

    visits = [("/1", "A", 0), ("/2", "B", 1), ("/1", "C", 2)]
    records = [response(SITE + path, day(after), page(title)) for path, title, after in visits]
    collection = collection_of(tmp_path, *records)
    collection.export("mirror", tmp_path / "mirror", selection=VersionSelection(all_versions=True))
    first, second, third = (f"2026-03-0{n}T12-00-00Z/example.org" for n in (1, 2, 3))
    assert links_in(tmp_path / "mirror" / first, "1/index.html") == ["index.html", f"../../../{second}/2/index.html"]
    assert links_in(tmp_path / "mirror" / second, "2/index.html") == [f"../../../{first}/1/index.html", "index.html"]
    assert links_in(tmp_path / "mirror" / third, "1/index.html") == ["index.html", f"../../../{second}/2/index.html"]
