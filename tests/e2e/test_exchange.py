"""Export and import with real commands and independent readers."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.command_server import run_command
from tests.unit.adapters.warc.foreign import payloads_by_fastwarc, payloads_by_warcio, problems
from tests.worlds.demo_web import HOSTS, DemoWeb, serving

DEADLINE_S = 60
FIELDS = ["url", "fetched_at", "status", "content_type", "title", "lang", "text", "digest", "version"]


class Desk:
    """A folder with the collection `web.evercrawl`, and the command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        keep = {name: value for name, value in os.environ.items() if not name.startswith("EVERCRAWL_")}
        home = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        self.env = keep | home | {"EVERCRAWL_CONTACT": "test@example.org"}

    def call(self, *arguments: str, collection: str = "web.evercrawl", code: int = 0) -> str:
        done = run_command("-C", collection, *arguments, cwd=self.folder, env=self.env, timeout=DEADLINE_S)
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout

    def rows(self, *arguments: str, collection: str = "web.evercrawl") -> list[dict[str, Any]]:
        out = self.call("export", "jsonl", *arguments, collection=collection)
        return sorted(map(json.loads, out.splitlines()), key=lambda row: (row["url"], row["version"]))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Three sites, crawled three times: some pages went there and back again, some are copies of others."""
    desk = Desk(tmp_path_factory.mktemp("exchange"))
    web = DemoWeb()
    with serving(web) as port:
        flags = ["--pace", "own", "--allow-private"]
        flags += [flag for host in HOSTS for flag in ("--resolve", f"{host}:{port}:127.0.0.1")]
        desk.call("crawl", *(f"http://{host}:{port}/" for host in HOSTS), *flags)
        before = dict(web.replies)
        web.change()
        desk.call("crawl", "--refresh", *flags)
        web.replies = before
        desk.call("crawl", "--refresh", *flags)
    return desk


def test_jsonl_goes_to_standard_output(desk: Desk) -> None:
    rows = desk.rows("--all-versions")
    assert all(list(row) == FIELDS for row in rows)
    assert len(desk.rows()) == len({row["url"] for row in rows})
    there_and_back = [row for row in rows if row["url"].endswith("/news/3")]
    assert [row["version"] for row in there_and_back] == [1, 2, 3]
    assert there_and_back[0]["digest"] == there_and_back[2]["digest"] != there_and_back[1]["digest"]
    assert desk.rows("--site", HOSTS[1]) != desk.rows()
    assert desk.rows("--since", "1h", "--lang", "en") == desk.rows()
    assert desk.rows("--until", "yesterday") == []


def test_every_export_format_is_written_once(desk: Desk) -> None:
    count = len(desk.rows("--all-versions"))
    for form, name in (
        ("warc", "x.warc.gz"),
        ("wacz", "x.wacz"),
        ("cdxj", "x.cdxj"),
        ("parquet", "x.parquet"),
        ("jsonl", "x.jsonl"),
        ("csv", "x.csv"),
        ("markdown", "x-md"),
        ("mirror", "x-mirror"),
        ("sqlite", "x.sqlite"),
    ):
        arguments = ("export", form, "-o", name, "--all-versions")
        report = json.loads(desk.call(*arguments, "--json"))
        assert (report["versions"], report["damaged"], report["path"]) == (count, 0, name)
        if form in ("csv", "mirror"):
            desk.call(*arguments, code=2)
            desk.call(*arguments, "--force")
    assert not [path.name for path in desk.folder.iterdir() if "partial" in path.name]
    db = sqlite3.connect(desk.folder / "x.sqlite")
    assert db.execute("select count(*) from versions").fetchone() == (count,)
    db.close()


READ_PARQUET = """
import duckdb, json, sys
with duckdb.connect(":memory:") as db:
    db.execute("set timezone = 'America/New_York'")
    names = [row[:2] for row in db.execute("describe select * from read_parquet(?)", sys.argv[1:]).fetchall()]
    time = "strftime(fetched_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%SZ')"
    query = f"select url, version, text, {time} from read_parquet(?)"
    print(json.dumps([names, sorted(db.execute(query, sys.argv[1:]).fetchall())]))
"""


def test_parquet_opens_in_duckdb(desk: Desk) -> None:
    # In a process of its own, which ends: DuckDB reports there what is left over.
    program = [str(Path(sys.executable).with_name("evercrawl")), "-C", "web.evercrawl"]
    written = subprocess.run(
        [*program, "export", "parquet", "-o", "it's.parquet", "--all-versions"],
        cwd=desk.folder, env=desk.env, capture_output=True, text=True, timeout=DEADLINE_S,
    )  # fmt: skip
    assert (written.returncode, written.stderr.count("\n")) == (0, 1), written.stderr
    read = subprocess.run(
        [sys.executable, "-c", READ_PARQUET, str(desk.folder / "it's.parquet")],
        capture_output=True,
        check=True,
        timeout=DEADLINE_S,
    )
    columns, found = json.loads(read.stdout)
    assert [name for name, _ in columns] == [*FIELDS, "usage"]
    assert dict(columns)["fetched_at"] == "TIMESTAMP WITH TIME ZONE"
    rows = desk.rows("--all-versions")
    assert found == [[row["url"], row["version"], row["text"], row["fetched_at"]] for row in rows]


def test_exported_archives_are_valid_and_without_revisit_records(desk: Desk) -> None:
    exports = desk.folder / "warcs"
    exports.mkdir()
    for name, flags in (("latest", []), ("all", ["--all-versions"]), ("site", ["--site", HOSTS[2]])):
        desk.call("export", "warc", "-o", f"warcs/{name}.warc.gz", *flags)
        path = exports / f"{name}.warc.gz"
        assert b"revisit" not in gzip.decompress(path.read_bytes())
        assert payloads_by_fastwarc(path) == payloads_by_warcio(path)
    assert problems(exports) == ""
    desk.call("export", "wacz", "-o", "warcs/all.wacz", "--all-versions")
    with zipfile.ZipFile(exports / "all.wacz") as package:
        assert package.testzip() is None


def test_round_trip(desk: Desk) -> None:
    versions = desk.rows("--all-versions")
    desk.call("export", "warc", "-o", "trip.warc.gz", "--all-versions")
    for _ in range(2):
        desk.call("import", "warc", "trip.warc.gz", collection="trip.evercrawl")
        assert desk.rows("--all-versions", collection="trip.evercrawl") == versions
    desk.call("export", "wacz", "-o", "trip.wacz", "--all-versions", collection="trip.evercrawl")
    desk.call("import", "wacz", "trip.wacz", collection="back.evercrawl")
    assert desk.rows("--all-versions", collection="back.evercrawl") == versions
    desk.call("verify", collection="back.evercrawl")


def test_importing_our_own_archive_restores_the_history(desk: Desk) -> None:
    files = sorted(str(path) for path in (desk.folder / "web.evercrawl" / "archive").glob("*.warc.gz"))
    report = json.loads(desk.call("import", "warc", *files, "--json", collection="own.evercrawl"))
    assert report["damaged"] == report["unresolved"] == 0
    assert report["unchanged"] > 0
    pages = [row for row in desk.rows("--all-versions", collection="own.evercrawl") if "robots.txt" not in row["url"]]
    assert pages == desk.rows("--all-versions")


def test_verify_and_store(desk: Desk) -> None:
    lines = [json.loads(line) for line in desk.call("verify", "--json").splitlines()]
    assert lines[-1]["sound"] is True
    assert lines[-1]["versions"] == len(desk.rows("--all-versions")) == sum(line["versions"] for line in lines[:-1])
    parts = {part["name"]: part for part in json.loads(desk.call("store", "stats", "--json"))["parts"]}
    assert parts["archive"]["bytes"] > 0
    desk.call("export", "warc", "-o", "hurt.warc.gz")
    desk.call("import", "warc", "hurt.warc.gz", collection="hurt.evercrawl")
    file = next((desk.folder / "hurt.evercrawl" / "archive").glob("*.warc.gz"))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert "damaged" in desk.call("verify", collection="hurt.evercrawl", code=5)
    desk.call("export", "csv", collection="hurt.evercrawl", code=5)
    desk.call("store", "vacuum", collection="hurt.evercrawl")


def test_csv_is_a_table(desk: Desk) -> None:
    csv.field_size_limit(10_000_000)
    table = list(csv.reader(io.StringIO(desk.call("export", "csv"), newline="")))
    assert table[0] == [*FIELDS, "usage"]
    assert len(table) == len(desk.rows()) + 1


ARC = b"filedesc://old.arc 0.0.0.0 20040101000000 text/plain 76\n1 0 Alexa\n"


NO_WARCS = (ARC, gzip.compress(ARC), b"", b"WARC/1.0\r\nbroken", gzip.compress(b"WARC/1.1\r\n")[:-9])


@pytest.mark.parametrize("data", NO_WARCS)
def test_what_cannot_be_imported_is_an_error_and_leaves_nothing(desk: Desk, data: bytes) -> None:
    (desk.folder / "old.warc.gz").write_bytes(data)
    desk.call("import", "warc", "old.warc.gz", collection="old.evercrawl", code=2)
    assert not (desk.folder / "old.evercrawl").exists()


def test_a_damaged_archive_is_imported_as_far_as_it_can_be_read(desk: Desk) -> None:
    desk.call("export", "warc", "-o", "cut.warc.gz")
    whole = (desk.folder / "cut.warc.gz").read_bytes()
    (desk.folder / "cut.warc.gz").write_bytes(whole[:-20])
    report = json.loads(desk.call("import", "warc", "cut.warc.gz", "--json", collection="cut.evercrawl", code=5))
    assert (report["damaged"], report["versions"] > 5) == (1, True)
