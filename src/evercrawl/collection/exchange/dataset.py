"""Pages, links and text as Parquet, one file of each a shard, for programs that work past one machine.

`pages/shard=07/part-0.parquet` and so on: a layout that DuckDB, Spark, Ray and others take for a table with
the column `shard`. `pages` has no text, so that a question about pages reads little; it says where in the
archive each record lies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple

from evercrawl.collection.exchange.output import MAPPING
from evercrawl.collection.exchange.run import ExportRun, PageCopy
from evercrawl.collection.exchange.table import json_line, parquet_from_lines
from evercrawl.core.url import canonical, shard_of_site, site_of
from evercrawl.model.time import from_us

COLUMNS = {
    "pages": {
        "url": "VARCHAR",
        "site": "VARCHAR",
        "version": "INTEGER",
        "fetched_at": "TIMESTAMP",
        "status": "SMALLINT",
        "content_type": "VARCHAR",
        "title": "VARCHAR",
        "lang": "VARCHAR",
        "digest": "VARCHAR",
        "bytes": "BIGINT",
        "links": "INTEGER",
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
"""Tables, their columns and the types of these in DuckDB."""


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
    """A folder for each table, in it a folder for each shard, and a list of all files."""
    shards = run.settings.store.shards

    def shard_of(page: PageCopy) -> int:
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


def _write_page(page: PageCopy, outs: Mapping[str, BinaryIO], counts: dict[str, int]) -> None:
    version, document = page.version, page.document
    site = site_of(version.url)
    rows: dict[str, list[NamedTuple]] = {
        "pages": [
            _Page(
                url=version.url,
                site=site,
                version=version.number,
                fetched_at=from_us(version.seen_us).strftime("%Y-%m-%dT%H:%M:%SZ"),
                status=version.status,
                content_type=version.content_type,
                title=version.title,
                lang=version.lang,
                digest=version.digest.hex(),
                bytes=version.body_bytes,
                links=len(document.links),
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


def _links_of(page: PageCopy, site: str) -> Iterator[_Link]:
    """Links by the names that `pages` has for their targets; what is no address of the web is left out."""
    for link in page.document.links:
        target = canonical(link.url)
        if target is not None:
            version = page.version
            yield _Link(version.url, site, version.number, target, site_of(target), link.text, link.nofollow)
