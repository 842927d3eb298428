"""Versions as rows: JSON lines, CSV, Parquet, SQLite."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

import orjson

from evercrawl.collection.exchange.run import ExportRun, PageCopy
from evercrawl.core.url import site_of
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.time import from_us

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that begins so for a formula; a page could make it do things."""
LARGEST_LINE = 32 * 1024 * 1024
PARQUET_MEMORY = "512MB"
ROW_GROUP = "row_group_size 20480, row_group_size_bytes '32MB'"
"""What DuckDB holds in memory before it writes; pages may have long texts."""
ROWS_PER_TRANSACTION = 1000

_COLUMN_TYPES = {
    "url": "VARCHAR",
    "fetched_at": "TIMESTAMP",
    "status": "SMALLINT",
    "content_type": "VARCHAR",
    "title": "VARCHAR",
    "lang": "VARCHAR",
    "text": "VARCHAR",
    "digest": "VARCHAR",
    "version": "INTEGER",
}

_SQLITE_SCHEMA = """
create table pages (
  id integer primary key,
  url text not null unique,
  site text not null,
  versions integer not null
);
create table versions (
  page_id integer not null references pages (id),
  version integer not null,
  fetched_at text not null,
  status integer,
  content_type text,
  title text,
  lang text,
  text text not null,
  digest text not null,
  bytes integer not null,
  primary key (page_id, version)
);
create view latest as
select p.url, p.site, v.* from pages p join versions v on v.page_id = p.id
 where v.version = (select max(w.version) from versions w where w.page_id = p.id);
"""


class Row(NamedTuple):
    """One version as scripts know it."""

    url: str
    fetched_at: str
    status: int | None
    content_type: str | None
    title: str | None
    lang: str | None
    text: str
    digest: str
    version: int


def row_of(page: PageCopy) -> Row:
    """The version as a row; `digest` stands for the decoded body."""
    version = page.version
    return Row(
        url=version.url,
        fetched_at=from_us(version.seen_us).strftime("%Y-%m-%dT%H:%M:%SZ"),
        status=version.status,
        content_type=version.content_type,
        title=version.title,
        lang=version.lang,
        text=page.document.text,
        digest=version.digest.hex(),
        version=version.number,
    )


def write_jsonl(run: ExportRun, out: BinaryIO, *, is_terminal: bool = False) -> None:
    """One JSON object a version, with what analysers said about it where they said something."""
    for page in run.pages():
        out.write(json_line(row_of(page), analysis=page.analysis, is_terminal=is_terminal))


def json_line(row: NamedTuple, *, analysis: Mapping[str, Any] | None = None, is_terminal: bool = False) -> bytes:
    """The row as a line; what a terminal could obey is escaped, and so is what is no Unicode."""
    fields = row._asdict() | ({"analysis": dict(analysis)} if analysis else {})
    if not is_terminal:
        try:
            return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError:
            pass
    return json.dumps(fields).replace("\x7f", "\\u007f").encode() + b"\n"


def write_csv(run: ExportRun, out: BinaryIO) -> None:
    """One line a version, with a line of names first (RFC 4180, UTF-8)."""
    text = io.TextIOWrapper(out, encoding="utf-8", errors="replace", newline="", write_through=True)
    try:
        lines = csv.writer(text)
        lines.writerow(Row._fields)
        lines.writerows([harmless(cell) for cell in row_of(page)] for page in run.pages())
    finally:
        text.detach()


def harmless(cell: object) -> object:
    """The cell, with a quote before it where a spreadsheet would run it."""
    if not isinstance(cell, str):
        return cell
    plain = cell.replace("\0", "")
    return f"'{plain}" if plain.startswith(FORMULA_STARTS) else plain


def write_parquet(run: ExportRun, target: Path) -> None:
    """One row a version, written by DuckDB from a file of JSON lines, so that memory stays bounded."""
    with TemporaryDirectory(prefix=".evercrawl-", dir=target.parent) as folder:
        lines = Path(folder) / "versions.jsonl"
        with lines.open("xb") as out:
            write_jsonl(run, out)
        parquet_from_lines(lines, target, _COLUMN_TYPES)


def parquet_from_lines(lines: Path, target: Path, columns: Mapping[str, str]) -> None:
    """A Parquet file with a row for each JSON line; what DuckDB puts aside lies beside the lines."""
    duckdb = require_duckdb()
    with duckdb.connect(":memory:") as db:
        db.execute(f"set memory_limit = '{PARQUET_MEMORY}'")
        db.execute("set threads = 1")
        db.execute("set preserve_insertion_order = false")
        db.execute("set autoinstall_known_extensions = false")
        db.execute("set temp_directory = ?", [str(lines.parent)])
        types = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
        try:
            db.execute(
                f"copy (select * from read_json({_quoted(lines)}, format = 'newline_delimited',"
                f" maximum_object_size = {LARGEST_LINE}, columns = {{{types}}}))"
                f" to {_quoted(target)} (format parquet, compression zstd, {ROW_GROUP})"
            )
        except duckdb.Error as error:
            raise StoreUnavailable(f"DuckDB could not write the Parquet file: {error}") from error


def require_duckdb() -> Any:
    """The module; ConfigError says how to get it."""
    try:
        import duckdb
    except ImportError as error:
        raise ConfigError(
            "Parquet needs DuckDB, which is not installed; install it with: pip install 'evercrawl[parquet]'"
        ) from error
    return duckdb


def _quoted(path: Path) -> str:
    return "'" + str(path.absolute()).replace("'", "''") + "'"


def write_sqlite(run: ExportRun, target: Path) -> None:
    """One file with the tables `pages` and `versions`, and `latest` as a view of both."""
    db = sqlite3.connect(target, isolation_level=None)
    try:
        db.execute("pragma journal_mode = off")
        db.execute("pragma synchronous = off")
        db.executescript(_SQLITE_SCHEMA)
        _fill(db, run.pages())
        db.execute("create index versions_by_time on versions (fetched_at)")
        db.execute("pragma user_version = 1")
    except sqlite3.Error as error:
        raise StoreUnavailable(f"the SQLite file {target} cannot be written: {error}") from error
    finally:
        db.close()


def _fill(db: sqlite3.Connection, pages: Iterator[PageCopy]) -> None:
    db.execute("begin")
    page_id, url = 0, ""
    for count, page in enumerate(pages, start=1):
        row = row_of(page)
        if row.url != url:
            page_id, url = page_id + 1, row.url
            db.execute("insert into pages values (?, ?, ?, 0)", (page_id, url, site_of(url)))
        db.execute("update pages set versions = versions + 1 where id = ?", (page_id,))
        text = row.text.encode("utf-8", "replace").decode()
        db.execute(
            "insert into versions values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (page_id, row.version, *row[1:6], text, row.digest, page.version.body_bytes),
        )
        if count % ROWS_PER_TRANSACTION == 0:
            db.execute("commit")
            db.execute("begin")
    db.execute("commit")
