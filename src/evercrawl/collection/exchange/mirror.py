"""Export versions as a mirror (time / domain / path) with their assets. Links lead to the copies, so that it opens from
disk; what is not in it keeps its absolute URL."""

from __future__ import annotations

import os
import posixpath
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote

from evercrawl.collection.exchange.export_run import ExportRun, SelectedResponse
from evercrawl.collection.exchange.page_tree import PageTree, Snapshots, file_ending, page_tree
from evercrawl.collection.stored_pages import decode_stored_body
from evercrawl.core.document.encoding import decode_body, detect_text_charset
from evercrawl.core.document.html import STYLE_TYPE, Place, rewrite_css
from evercrawl.core.document.link_rewriting import rewrite_html
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.document.reference import ReferenceResolver
from evercrawl.core.url import canonical_of_href, without_user
from evercrawl.errors import StoreUnavailable
from evercrawl.model.fetch import Headers, header

MAX_REDIRECTS = 10  # Redirects in a row that a link follows.
CACHED_TARGETS = 50_000
BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"  # Names the encoding, which otherwise only a header may have done.


class Copy(NamedTuple):
    """A file with references."""

    url: str
    folder: str  # The folder of its crawl.
    path: str
    kind: str
    encoding: str
    base: str


class MirrorIndex:
    """The copies and redirects of a mirror, by URL and folder."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute("pragma synchronous = off")
        self._db.execute(
            "create table copy (url text, folder text, path text, moved_to text, kind text, encoding text, base text,"
            " primary key (url, folder)) without rowid"
        )
        self._db.execute("begin")
        self.find = lru_cache(CACHED_TARGETS)(self._find)
        self.close = self._db.close

    def add(self, copy: Copy) -> None:
        """Add a file."""
        url, folder, path, *rest = copy
        self._db.execute("insert or ignore into copy values (?, ?, ?, null, ?, ?, ?)", (url, folder, path, *rest))

    def add_redirect(self, url: str, folder: str, moved_to: str) -> None:
        """Add a redirect; it counts only if there is no file for the URL."""
        self._db.execute("insert or ignore into copy values (?, ?, null, ?, '', '', '')", (url, folder, moved_to))

    def copies(self) -> Iterator[Copy]:
        """Yield the pages and style sheets."""
        fields = ", ".join(Copy._fields)
        yield from map(Copy._make, self._db.execute(f"select {fields} from copy where kind <> ''"))

    def _find(self, url: str, folder: str) -> str | None:
        """Return the file that a link leads to: from the same crawl, else from the last one before, else the first."""
        for _ in range(MAX_REDIRECTS):
            row = self._db.execute(
                "select path, moved_to from copy where url = ?1 order by folder > ?2, case when folder > ?2 then folder"
                " end, folder desc limit 1",
                (url, folder),
            ).fetchone()
            if row is None or row[0] is not None:
                return row[0] if row is not None else None
            url = row[1]
        return None


def write_mirror(run: ExportRun, folder: Path) -> None:
    """Write the decoded bodies as sent, then let the links of pages and style sheets lead to each other."""
    with TemporaryDirectory(prefix="evercrawl-") as place, closing(MirrorIndex(Path(place) / "copies.sqlite")) as index:
        with page_tree(folder) as tree:
            _write_bodies(run, tree, index)
        for copy in index.copies() if not run.as_sent else ():
            _rewrite(folder / copy.path, copy, index)


def _write_bodies(run: ExportRun, tree: PageTree, index: MirrorIndex) -> None:
    snapshots = Snapshots(run)
    for page in run.pages():
        kind = sniff_media_type(page.stored.http.headers, page.body)
        below = snapshots.folder_of(page.version)
        path = tree.add(page.version, page.body, ending=file_ending(kind), below=(below,))
        run.report.first_page = run.report.first_page or path
        rewritten = kind if kind in HTML_TYPES or kind == STYLE_TYPE else ""
        index.add(Copy(page.version.url, below, path, rewritten, page.document.encoding, page.document.base_url))
    for answer in run.resources():
        try:
            _write_resource(answer, snapshots.folder_of(answer.version), tree, index)
        except StoreUnavailable as error:
            run.add_damage(answer.version, error)


def _write_resource(answer: SelectedResponse, below: str, tree: PageTree, index: MirrorIndex) -> None:
    """Write an asset that was found; note where a redirect leads."""
    version, stored, resource = answer.version, answer.stored, answer.resource
    if resource is not None and resource.moved_to is not None:
        index.add_redirect(version.url, below, resource.moved_to)
        tree.add_redirect(version, resource.moved_to)
    elif version.status is not None and version.status < 400:
        body = decode_stored_body(version, stored.http)
        kind = sniff_media_type(stored.http.headers, body)
        path = tree.add(version, body, ending=file_ending(kind), below=(below,))
        encoding = _encoding(stored.http.headers, body) if kind == STYLE_TYPE else ""
        index.add(Copy(version.url, below, path, kind if kind == STYLE_TYPE else "", encoding, version.url))


def _encoding(headers: Headers, body: bytes) -> str:
    return detect_text_charset(body, header(headers, "content-type")).encoding


def _rewrite(path: Path, copy: Copy, index: MirrorIndex) -> None:
    """Rewrite a file. It becomes UTF-8 with a mark that says so."""
    text = decode_body(path.read_bytes(), copy.encoding).removeprefix(BOM)
    resolver = ReferenceResolver(copy.url, copy.base, copy.encoding)
    place = _link_of(copy, resolver, index)
    new = rewrite_css(text, place) if copy.kind == STYLE_TYPE else rewrite_html(text, place)
    resolver.close()
    if new == text and text.isascii():
        return
    at = path.stat().st_mtime_ns
    path.write_bytes((new if new.isascii() else BOM + new).encode("utf-8", "replace"))
    os.utime(path, ns=(at, at))


def _link_of(copy: Copy, resolver: ReferenceResolver, index: MirrorIndex) -> Place:
    folder = posixpath.dirname(copy.path)

    def place(written: str) -> str | None:
        reference = written.strip("\t\n\f\r ")
        url = resolver.resolve(reference) if reference else None
        if url is None:
            return None
        name = canonical_of_href(without_user(url))
        target = index.find(name, copy.folder) if name is not None else None
        local = quote(posixpath.relpath(target, folder), safe="/~@=+,") if target is not None else url
        return local + "".join(reference.partition("#")[1:])

    return place
