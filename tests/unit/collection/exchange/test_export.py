"""Exports in every format, checked by independent readers."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import sqlite3
import struct
import subprocess
import sys
import zipfile
from base64 import b32encode
from hashlib import sha1
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from evercrawl.collection.collection import Collection
from evercrawl.collection.exchange.export import EXPORT_FORMATS, export
from evercrawl.collection.exchange.tables import ExportRow, escape_formula, json_line
from evercrawl.errors import ConfigError
from evercrawl.model.listing import VersionSelection
from tests.unit.adapters.warc.foreign import payloads_by_fastwarc, payloads_by_warcio, problems
from tests.unit.collection.exchange.archives import SITE, collection_of, day, html, response, versions_of

ALL = VersionSelection(all_versions=True)
IN_PROCESS = [form for form in EXPORT_FORMATS if form not in ("parquet", "dataset")]
"""DuckDB complains about itself when a test run ends, so it is tested as a command in tests/e2e."""
A, B = html("A", "The first text."), html("B", "The second text.")
FIELDS = ["url", "fetched_at", "status", "content_type", "title", "lang", "text", "digest", "version"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """A page with versions A, B, A; two copies of A; another site in another language."""
    german = A.replace(b"lang=en", b"lang=de-AT")
    return collection_of(
        tmp_path_factory.mktemp("exports"),
        *(response(SITE + "/", day(number), body) for number, body in enumerate((A, B, A))),
        *(response(SITE + path, day(1), A) for path in ("/copy", "/copy/again")),
        response("http://other.test:8080/x?b=2&a=1", day(4), german),
    )


def revisits_in(collection: Collection) -> int:
    files = (collection.path / "archive").glob("*.warc.gz")
    return sum(gzip.decompress(file.read_bytes()).count(b"WARC-Type: revisit") for file in files)


def test_a_warc_export_needs_no_other_file(collection, tmp_path):
    assert revisits_in(collection) == 3
    target = tmp_path / "out.warc.gz"
    report = collection.export("warc", target, selection=ALL)
    assert (report.versions, report.pages, report.damaged) == (6, 4, 0)
    plain = gzip.decompress(target.read_bytes())
    assert b"WARC-Type: revisit" not in plain
    assert b"Refers-To" not in plain
    assert problems(tmp_path) == ""
    found = payloads_by_warcio(target)
    assert sorted(found) == sorted(payloads_by_fastwarc(target))
    assert sum(A in payload or b"The first text." in payload for payload in found) == 5


def test_two_warc_exports_have_the_same_records(collection, tmp_path):
    for name in ("1", "2"):
        collection.export("warc", tmp_path / f"{name}.warc.gz", selection=ALL)
    first, second = (records_without_info(tmp_path / f"{name}.warc.gz") for name in ("1", "2"))
    assert first == second


def records_without_info(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()).split(b"\r\n\r\n\r\n\r\n", 1)[-1].partition(b"WARC-Type: response")[2]


def test_cdxj_leads_an_independent_reader_to_every_page(collection, tmp_path):
    target = tmp_path / "index.cdxj"
    collection.export("cdxj", target, selection=ALL)
    assert_sorted_as_c(target.read_bytes())
    lines = target.read_text().splitlines()
    found = [look_up(collection.path / "archive", line) for line in lines]
    versions = versions_of(collection, tmp_path)
    assert sorted((url, digest) for url, digest, _ in found) == sorted(places(collection))
    assert len(found) == len(versions) == 6
    assert lines[0].startswith("org,example)/ 20260301120000 {")
    assert any(line.startswith("test,other:8080)/x?a=1&b=2 20260305") for line in lines)
    assert sum('"mime":"warc/revisit"' in line for line in lines) == 3


def assert_sorted_as_c(content: bytes) -> None:
    ordered = subprocess.run(
        ["sort"], input=content, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, capture_output=True, check=True
    )
    assert ordered.stdout == content


def look_up(folder: Path, line: str) -> tuple[str, str, str]:
    fields = json.loads(line.split(" ", 2)[2])
    with (folder / fields["filename"]).open("rb") as file:
        file.seek(int(fields["offset"]))
        member = file.read(int(fields["length"]))
    record = next(iter(ArchiveIterator(BytesIO(member))))
    assert record.rec_headers["WARC-Target-URI"] == fields["url"]
    assert record.rec_headers["WARC-Payload-Digest"] == fields["digest"]
    assert record.http_headers.get_statuscode() == fields["status"]
    if record.rec_type == "response":
        payload = record.raw_stream.read()
        assert f"sha1:{b32encode(sha1(payload).digest()).decode()}" == fields["digest"]
    return fields["url"], fields["digest"], record.rec_type


def places(collection: Collection) -> list[tuple[str, str]]:
    rows = []
    for state in (collection.path / "state").glob("s*.sqlite"):
        db = sqlite3.connect(state)
        rows += db.execute("select url, payload_sha1 from version join page on page.id = page_id").fetchall()
        db.close()
    return [(url, f"sha1:{b32encode(digest).decode()}") for url, digest in rows]


def local_and_central_headers(path):
    """Yield the fields that the local header and the central directory of each member must agree on."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as package:
        start, members = package.start_dir, package.infolist()
    for member in members:
        at = member.header_offset
        local = struct.unpack("<4sHHHHHIIIHH", data[at : at + 30])
        central = struct.unpack("<4sHHHHHHIIIHH", data[start : start + 32])
        assert (local[0], central[0]) == (b"PK\x03\x04", b"PK\x01\x02")
        yield member.filename, local[2:], central[3:]
        start += 46 + sum(struct.unpack("<HHH", data[start + 28 : start + 34]))


def test_local_headers_of_a_wacz_match_its_central_directory(collection, tmp_path):
    # ReplayWeb.page takes the length of the extra field in the directory for that of the local header.
    target = tmp_path / "out.wacz"
    collection.export("wacz", target, selection=ALL)
    headers = list(local_and_central_headers(target))
    assert len(headers) == 6
    for name, local, central in headers:
        assert local == central, name
        assert local[-1] == 0, name


def test_a_large_wacz_has_several_warc_files(collection, tmp_path, monkeypatch):
    monkeypatch.setattr("evercrawl.collection.exchange.web_archives.MAX_WARC_BYTES", 2000)
    target = tmp_path / "out.wacz"
    collection.export("wacz", target, selection=ALL)
    with zipfile.ZipFile(target) as package:
        warcs = {name: package.read(name) for name in package.namelist() if name.startswith("archive/")}
        lines = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
    assert len(warcs) > 1
    for line in lines:
        fields = json.loads(line.split(" ", 2)[2])
        start = int(fields["offset"])
        record = gzip.decompress(warcs[f"archive/{fields['filename']}"][start : start + int(fields["length"])])
        assert f"WARC-Target-URI: {fields['url']}\r\n".encode() in record


def test_wacz_is_what_its_specification_says(collection, tmp_path):
    target = tmp_path / "out.wacz"
    collection.export("wacz", target, selection=ALL)
    with zipfile.ZipFile(target) as package:
        assert package.testzip() is None
        members = {info.filename: info for info in package.infolist()}
        content = {name: package.read(name) for name in members}
    assert set(members) == {
        "archive/data.warc.gz",
        "indexes/index.cdx.gz",
        "indexes/index.idx",
        "pages/pages.jsonl",
        "datapackage.json",
        "datapackage-digest.json",
    }
    for name in ("archive/data.warc.gz", "indexes/index.cdx.gz"):
        assert members[name].compress_type == zipfile.ZIP_STORED
    check_manifest(content)
    check_pages(content["pages/pages.jsonl"])
    check_index(content)


def check_manifest(content: dict[str, bytes]) -> None:
    manifest = json.loads(content["datapackage.json"])
    assert (manifest["profile"], manifest["wacz_version"]) == ("data-package", "1.1.1")
    listed = {resource["path"]: resource for resource in manifest["resources"]}
    assert set(listed) == set(content) - {"datapackage.json", "datapackage-digest.json"}
    for path, resource in listed.items():
        assert resource["hash"] == f"sha256:{hashlib.sha256(content[path]).hexdigest()}"
        assert resource["bytes"] == len(content[path])
        assert resource["name"] == path.rpartition("/")[2]
    own = json.loads(content["datapackage-digest.json"])
    assert own == {
        "path": "datapackage.json",
        "hash": f"sha256:{hashlib.sha256(content['datapackage.json']).hexdigest()}",
    }
    assert manifest["mainPageUrl"].startswith("http")


def check_pages(content: bytes) -> None:
    header, *pages = [json.loads(line) for line in content.splitlines()]
    assert header == {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
    assert len(pages) == 6
    assert all({"id", "url", "ts", "title"} <= set(page) for page in pages)
    assert len({page["id"] for page in pages}) == 6
    assert {page["ts"] for page in pages if page["url"].startswith("http://other")} == {"2026-03-05T12:00:00Z"}


def check_index(content: dict[str, bytes]) -> None:
    packed = content["indexes/index.cdx.gz"]
    lines = gzip.decompress(packed).decode().splitlines()
    assert_sorted_as_c(gzip.decompress(packed))
    assert len(lines) == 6
    header, *blocks = content["indexes/index.idx"].decode().splitlines()
    assert header == '!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}'
    where = json.loads(blocks[0].split(" ", 2)[2])
    assert (where["offset"], where["length"]) == (0, len(packed))
    assert lines[0].startswith(" ".join(blocks[0].split(" ")[:2]))
    for line in lines:
        fields = json.loads(line.split(" ", 2)[2])
        start = int(fields["offset"])
        member = content["archive/data.warc.gz"][start : start + int(fields["length"])]
        record = next(iter(ArchiveIterator(BytesIO(member))))
        assert (record.rec_type, record.rec_headers["WARC-Target-URI"]) == ("response", fields["url"])
        assert f"sha1:{b32encode(sha1(record.raw_stream.read()).digest()).decode()}" == fields["digest"]


def test_jsonl_has_the_fields_that_scripts_rely_on(collection, tmp_path):
    rows = versions_of(collection, tmp_path)
    assert [list(row) for row in rows] == [FIELDS] * 6
    first = next(row for row in rows if row["url"] == SITE + "/" and row["version"] == 2)
    assert first | {"digest": ""} == {
        "url": SITE + "/",
        "fetched_at": "2026-03-02T12:00:00Z",
        "status": 200,
        "content_type": "text/html",
        "title": "B",
        "lang": "en",
        "text": "B\nThe second text.",
        "digest": "",
        "version": 2,
    }
    by_number = {row["version"]: row["digest"] for row in rows if row["url"] == SITE + "/"}
    assert by_number[1] == by_number[3] != by_number[2]


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (VersionSelection(), 4),
        (ALL, 6),
        (VersionSelection(site="example.org"), 3),
        (VersionSelection(site="https://example.org/"), 3),
        (VersionSelection(site="other.test"), 1),
        (VersionSelection(site="other.test:8080"), 1),
        (VersionSelection(site="http://other.test:8080"), 1),
        (VersionSelection(site="https://other.test:8080"), 0),
        (VersionSelection(site="ther.test"), 0),
        (VersionSelection(site="%"), 0),
        (VersionSelection(lang="de"), 1),
        (VersionSelection(lang="EN"), 3),
        (VersionSelection(lang="e"), 0),
        (VersionSelection(since=day(3)), 1),
        (VersionSelection(since=day(1), all_versions=True), 5),
        (VersionSelection(since=day(1), until=day(1), all_versions=True), 3),
    ],
)
def test_a_selection_exports_matching_versions(collection, tmp_path, selection, count):
    assert collection.export("jsonl", tmp_path / "x.jsonl", selection=selection).versions == count


def test_latest_until_a_moment_is_what_was_newest_then(collection, tmp_path):
    target = tmp_path / "x.jsonl"
    collection.export("jsonl", target, selection=VersionSelection(site="example.org", until=day(1)))
    rows = {row["url"]: row["title"] for row in map(json.loads, target.read_text().splitlines())}
    assert rows[SITE + "/"] == "B"


def test_csv_cells_cannot_become_formulas(tmp_path):
    title = "=HYPERLINK(&quot;http://evil.test&quot;)"
    text = "+1 is a start,\nand &quot;quotes&quot; and commas are kept."
    page = f"<html><title>{title}</title><main><p>{text}</p></main>".encode()
    collection = collection_of(tmp_path, response(SITE + "/", day(0), page))
    target = tmp_path / "x.csv"
    collection.export("csv", target)
    with target.open(newline="", encoding="utf-8") as file:
        names, row = csv.reader(file)
    assert names == [*FIELDS, "usage"]
    assert row[4] == '\'=HYPERLINK("http://evil.test")'
    assert row[6].startswith("'+1 is a start")
    assert [escape_formula(cell) for cell in ("@x", "-1", "\tx", "a=b", 5, None)] == [
        "'@x",
        "'-1",
        "'\tx",
        "a=b",
        5,
        None,
    ]


def test_parquet_without_duckdb_says_what_to_install(collection, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ConfigError, match=r"evercrawl\[parquet\]"):
        collection.export("parquet", tmp_path / "x.parquet")
    assert list(tmp_path.iterdir()) == []


def test_sqlite_opens_in_sqlite(collection, tmp_path):
    target = tmp_path / "x.sqlite"
    collection.export("sqlite", target, selection=ALL)
    db = sqlite3.connect(target)
    assert db.execute("pragma integrity_check").fetchone() == ("ok",)
    assert db.execute("select count(*), sum(versions) from pages").fetchone() == (4, 6)
    rows = db.execute("select p.url, v.version, v.text from versions v join pages p on p.id = v.page_id").fetchall()
    assert sorted(rows) == [(row["url"], row["version"], row["text"]) for row in versions_of(collection, tmp_path)]
    assert db.execute("select title from latest where url = ?", (SITE + "/",)).fetchall() == [("A",)]
    db.close()


def test_redirects_are_in_tables_and_beside_the_files_of_a_mirror(tmp_path):
    moved = response(SITE + "/old", day(1), b"", status="301 Moved Permanently", head="Location: /new")
    collection = collection_of(tmp_path, moved, response(SITE + "/new", day(1), A))
    collection.export("sqlite", tmp_path / "x.sqlite")
    db = sqlite3.connect(tmp_path / "x.sqlite")
    expected = (SITE + "/old", SITE + "/new", 301, "2026-03-02T12:00:00Z")
    assert db.execute("select * from redirects").fetchall() == [expected]
    db.close()
    collection.export("mirror", tmp_path / "files")
    rows = [json.loads(line) for line in (tmp_path / "files" / "mapping.jsonl").read_text().splitlines()]
    assert {"url": SITE + "/old", "moved_to": SITE + "/new", "fetched_at": "2026-03-02T12:00:00Z"} in rows


def test_a_line_for_a_terminal_has_no_control_characters():
    row = ExportRow(SITE, "", 200, None, "\x1b[2J\u202e", None, "\x9b1m\x7f", "", 1)
    line = json_line(row, is_terminal=True)
    assert line.isascii()
    assert line.rstrip(b"\n").decode().isprintable()
    assert json.loads(line)["title"] == row.title
    assert json.loads(json_line(row._replace(text="\ud800")))["text"] == "\ud800"


def test_damaged_versions_are_left_out_and_named(tmp_path):
    collection = collection_of(tmp_path, *(response(f"{SITE}/{n}", day(0), html(str(n))) for n in range(3)))
    file = next((collection.path / "archive").glob("*.warc.gz"))
    content = bytearray(file.read_bytes())
    second = content.find(b"\x1f\x8b\x08", content.find(b"\x1f\x8b\x08", 10) + 10)
    content[second + 40 : second + 80] = bytes(40)
    file.write_bytes(content)
    for form in IN_PROCESS:
        report = export(collection.path, collection.settings, form, to=tmp_path / f"out-{form}")
        assert (report.versions, report.damaged) == (2, 1), form
        assert f"{file.name} at {second}" in report.damage[0]


def test_an_empty_collection_gives_empty_exports(tmp_path):
    import evercrawl

    collection = evercrawl.open(tmp_path / "empty.evercrawl", create=True)
    for form in IN_PROCESS:
        assert export(collection.path, collection.settings, form, to=tmp_path / f"out-{form}").versions == 0
        assert (tmp_path / f"out-{form}").exists()
