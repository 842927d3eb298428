"""Export versions as rows: JSON lines, CSV, Parquet, SQLite, and a dataset of Parquet tables."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

import orjson

from evercrawl.collection.exchange.export_run import MAPPING, ExportedPage, ExportRun
from evercrawl.core.url import canonical, shard_of_site, site_of, without_user
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.time import iso_time

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet runs a cell with such a start as a formula, which a page could abuse."""
MAX_LINE_BYTES = 32 * 1024 * 1024
PARQUET_MEMORY = "512MB"
ROW_GROUP = "row_group_size 20480, row_group_size_bytes '32MB'"
"""Limits the memory of DuckDB, because pages may have long texts."""
ROWS_PER_TRANSACTION = 1000

_COLUMN_TYPES = {
    "url": "VARCHAR",
    "fetched_at": "TIMESTAMPTZ",
    "status": "SMALLINT",
    "content_type": "VARCHAR",
    "title": "VARCHAR",
    "lang": "VARCHAR",
    "text": "VARCHAR",
    "digest": "VARCHAR",
    "version": "INTEGER",
    "usage": "VARCHAR",
}

_SQLITE_SCHEMA = files("evercrawl.collection.exchange").joinpath("dataset.sql").read_text("utf-8")


class ExportRow(NamedTuple):
    """One version as a row."""

    url: str
    fetched_at: str
    status: int | None
    content_type: str | None
    title: str | None
    lang: str | None
    text: str
    digest: str
    version: int


def export_row(page: ExportedPage) -> ExportRow:
    """Return the row of a version; `digest` is that of the decoded body."""
    version = page.version
    return ExportRow(
        url=version.url,
        fetched_at=iso_time(version.seen_us),
        status=version.status,
        content_type=version.content_type,
        title=version.title,
        lang=version.lang,
        text=page.document.text,
        digest=version.digest.hex(),
        version=version.number,
    )


def write_jsonl(run: ExportRun, out: BinaryIO, *, is_terminal: bool = False) -> None:
    """Write one JSON object per version, with the results of analysers and the terms of use if there are any."""
    for page in run.pages():
        more = {"analysis": page.analysis, "usage": page.usage.summary()}
        out.write(json_line(export_row(page), more=more, is_terminal=is_terminal))


def json_line(row: NamedTuple, *, more: Mapping[str, Any] | None = None, is_terminal: bool = False) -> bytes:
    """Return the row as a line, with more fields if they are not empty; escape lone surrogates, and for a terminal
    also control characters."""
    fields = row._asdict() | {name: value for name, value in (more or {}).items() if value}
    if not is_terminal:
        try:
            return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError:
            pass
    return json.dumps(fields).replace("\x7f", "\\u007f").encode() + b"\n"


def write_csv(run: ExportRun, out: BinaryIO) -> None:
    """Write a header line, then one line per version (RFC 4180, UTF-8)."""
    text = io.TextIOWrapper(out, encoding="utf-8", errors="replace", newline="", write_through=True)
    try:
        lines = csv.writer(text)
        lines.writerow((*ExportRow._fields, "usage"))
        lines.writerows(
            [escape_formula(cell) for cell in (*export_row(page), usage_json(page))] for page in run.pages()
        )
    finally:
        text.detach()


def usage_json(page: ExportedPage) -> str | None:
    """Return the terms of use of a version as JSON in one cell; None: there are none."""
    return orjson.dumps(page.usage.summary()).decode() if page.usage else None


def escape_formula(cell: object) -> object:
    """Put a quote before a cell that a spreadsheet would run as a formula."""
    if not isinstance(cell, str):
        return cell
    plain = cell.replace("\0", "")
    return f"'{plain}" if plain.startswith(FORMULA_STARTS) else plain


def write_parquet(run: ExportRun, target: Path) -> None:
    """Write one row per version, by DuckDB from a file of JSON lines, so that memory is limited."""
    with TemporaryDirectory(prefix=".evercrawl-", dir=target.parent) as folder:
        lines = Path(folder) / "versions.jsonl"
        with lines.open("xb") as out:
            write_jsonl(run, out)
        parquet_from_lines(lines, target, _COLUMN_TYPES)


def parquet_from_lines(lines: Path, target: Path, columns: Mapping[str, str]) -> None:
    """Write a Parquet file with a row per JSON line; temporary files are in the folder of the lines."""
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
                f"copy (select * from read_json({_sql_string(lines)}, format = 'newline_delimited',"
                f" maximum_object_size = {MAX_LINE_BYTES}, columns = {{{types}}}))"
                f" to {_sql_string(target)} (format parquet, compression zstd, {ROW_GROUP})"
            )
        except duckdb.Error as error:
            raise StoreUnavailable(f"DuckDB could not write the Parquet file: {error}") from error


def require_duckdb() -> Any:
    """Return the module duckdb; raise ConfigError if it is not installed."""
    try:
        import duckdb
    except ImportError as error:
        raise ConfigError("DuckDB is not installed; install it with: pip install 'evercrawl[parquet]'") from error
    return duckdb


def _sql_string(path: Path) -> str:
    return "'" + str(path.absolute()).replace("'", "''") + "'"


def write_sqlite(run: ExportRun, target: Path) -> None:
    """Write a SQLite file with the tables `pages`, `versions` and `redirects` and the view `latest`."""
    db = sqlite3.connect(target, isolation_level=None)
    try:
        db.execute("pragma journal_mode = off")
        db.execute("pragma synchronous = off")
        db.executescript(_SQLITE_SCHEMA)
        _fill(db, run.pages())
        rows = ((one.url, one.moved_to, one.status, iso_time(one.seen_us)) for one in run.redirects())
        db.executemany("insert into redirects values (?, ?, ?, ?)", rows)
        db.execute("create index versions_by_time on versions (fetched_at)")
        db.execute("pragma user_version = 1")
    except sqlite3.Error as error:
        raise StoreUnavailable(f"the SQLite file {target} cannot be written: {error}") from error
    finally:
        db.close()


def _fill(db: sqlite3.Connection, pages: Iterator[ExportedPage]) -> None:
    db.execute("begin")
    page_id, url = 0, ""
    for count, page in enumerate(pages, start=1):
        row = export_row(page)
        if row.url != url:
            page_id, url = page_id + 1, row.url
            db.execute("insert into pages values (?, ?, ?, 0)", (page_id, url, site_of(url)))
        db.execute("update pages set versions = versions + 1 where id = ?", (page_id,))
        text = row.text.encode("utf-8", "replace").decode()
        db.execute(
            "insert into versions values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (page_id, row.version, *row[1:6], text, row.digest, page.version.body_bytes, usage_json(page)),
        )
        if count % ROWS_PER_TRANSACTION == 0:
            db.execute("commit")
            db.execute("begin")
    db.execute("commit")


COLUMNS = {
    "pages": {
        "url": "VARCHAR",
        "site": "VARCHAR",
        "version": "INTEGER",
        "fetched_at": "TIMESTAMPTZ",
        "status": "SMALLINT",
        "content_type": "VARCHAR",
        "title": "VARCHAR",
        "lang": "VARCHAR",
        "digest": "VARCHAR",
        "bytes": "BIGINT",
        "links": "INTEGER",
        "usage": "VARCHAR",
        "warc_file": "VARCHAR",
        "warc_offset": "BIGINT",
        "warc_length": "BIGINT",
    },
    "links": {
        "source": "VARCHAR",
        "source_site": "VARCHAR",
        "version": "INTEGER",
        "target": "VARCHAR",
        "target_site": "VARCHAR",
        "anchor": "VARCHAR",
        "nofollow": "BOOLEAN",
    },
    "text": {"url": "VARCHAR", "version": "INTEGER", "text": "VARCHAR"},
}
"""Tables with their columns and DuckDB types."""


class _Page(NamedTuple):
    url: str
    site: str
    version: int
    fetched_at: str
    status: int | None
    content_type: str | None
    title: str | None
    lang: str | None
    digest: str
    bytes: int
    links: int
    usage: str | None
    warc_file: str
    warc_offset: int
    warc_length: int


class _Link(NamedTuple):
    source: str
    source_site: str
    version: int
    target: str
    target_site: str
    anchor: str
    nofollow: bool


class _Text(NamedTuple):
    url: str
    version: int
    text: str


def write_dataset(run: ExportRun, folder: Path) -> None:
    """Write a folder per table, in it a folder per shard, and a list of all files."""
    shards = run.settings.store.shards

    def shard_of(page: ExportedPage) -> int:
        return shard_of_site(site_of(page.version.url), shards)

    with (folder / MAPPING).open("x", encoding="utf-8") as mapping:
        for shard, pages in groupby(run.pages(), key=shard_of):
            with TemporaryDirectory(prefix=".lines-", dir=folder) as temporary:
                lines = {table: Path(temporary) / f"{table}.jsonl" for table in COLUMNS}
                counts = dict.fromkeys(COLUMNS, 0)
                with ExitStack() as opened:
                    outs = {table: opened.enter_context(path.open("xb")) for table, path in lines.items()}
                    for page in pages:
                        _write_page(page, outs, counts)
                for table, path in lines.items():
                    target = folder / table / f"shard={shard:02d}" / "part-0.parquet"
                    target.parent.mkdir(parents=True)
                    parquet_from_lines(path, target, COLUMNS[table])
                    entry = {"file": str(target.relative_to(folder)), "table": table, "rows": counts[table]}
                    mapping.write(json.dumps(entry) + "\n")


def _write_page(page: ExportedPage, outs: Mapping[str, BinaryIO], counts: dict[str, int]) -> None:
    version, document = page.version, page.document
    site = site_of(version.url)
    rows: dict[str, list[NamedTuple]] = {
        "pages": [
            _Page(
                url=version.url,
                site=site,
                version=version.number,
                fetched_at=iso_time(version.seen_us),
                status=version.status,
                content_type=version.content_type,
                title=version.title,
                lang=version.lang,
                digest=version.digest.hex(),
                bytes=version.body_bytes,
                links=len(document.links),
                usage=usage_json(page),
                warc_file=version.file,
                warc_offset=version.offset,
                warc_length=version.length,
            )
        ],
        "links": list(_links_of(page, site)),
        "text": [_Text(version.url, version.number, document.text)],
    }
    for table, found in rows.items():
        counts[table] += len(found)
        outs[table].writelines(json_line(row) for row in found)


def _links_of(page: ExportedPage, site: str) -> Iterator[_Link]:
    """Yield the links of a page with canonical targets; other URLs are skipped."""
    for link in page.document.links:
        target = canonical(without_user(link.url))
        if target is not None:
            version = page.version
            yield _Link(version.url, site, version.number, target, site_of(target), link.text, link.nofollow)
