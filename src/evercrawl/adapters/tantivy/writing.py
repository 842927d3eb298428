"""Versions into the index, all of a portion with its cursor or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import tantivy

from evercrawl.adapters.tantivy.schema import FOREVER_US
from evercrawl.core.search.tokenizer import searchable, url_words

MOST_FOLDERS = 6
"""Folders of an address that `site:` can name."""
PAGE_BITS = 44
"""Pages of one shard; the bits above are the shard's."""


class IndexedVersion(NamedTuple):
    """What is indexed of one version."""

    shard: int
    page_id: int
    number: int
    url: str
    from_us: int
    to_us: int | None
    """When the next version was seen; None: this is the newest."""
    gone_us: int | None
    lang: str | None
    title: str
    text: str
    headings: tuple[str, ...] = ()
    noindex: bool = False


def page_number(shard: int, page_id: int) -> int:
    """One number for a page of a collection."""
    return (shard << PAGE_BITS) | page_id


def place_of(page: int) -> tuple[int, int]:
    """Shard and page of such a number."""
    return page >> PAGE_BITS, page & ((1 << PAGE_BITS) - 1)


def version_key(shard: int, page_id: int, number: int) -> str:
    """The term by which a version is replaced."""
    return f"{shard}/{page_id}/{number}"


class IndexWriting:
    """Changes of the index; nothing is seen before `commit`, and after a crash nothing but what it wrote."""

    def __init__(self, writer: tantivy.IndexWriter) -> None:
        self._writer = writer

    def add(self, version: IndexedVersion, *, replaces: bool) -> None:
        """Index one version; with `replaces` instead of what was indexed of it before."""
        if replaces:
            key = version_key(version.shard, version.page_id, version.number)
            self._writer.delete_documents_by_term("key", key)
        self._writer.add_document(_document(version))

    def forget_shard(self, shard: int) -> None:
        """Everything of a shard goes, its cursor too."""
        self._writer.delete_documents_by_term("site", shard_term(shard))
        self._writer.delete_documents_by_term("key", cursor_key(shard))

    def set_cursor(self, shard: int, note: Mapping[str, Any]) -> None:
        """How far the index follows a shard, in the same commit as what it has indexed."""
        self._writer.delete_documents_by_term("key", cursor_key(shard))
        document = tantivy.Document()
        document.add_text("key", cursor_key(shard))
        document.add_bytes("note", json.dumps(dict(note)).encode())
        self._writer.add_document(document)

    def commit(self) -> None:
        """Make the changes visible and durable."""
        self._writer.commit()

    def close(self) -> None:
        """Let running merges end, and let go of the writer's lock."""
        self._writer.wait_merging_threads()


def cursor_key(shard: int) -> str:
    """The term of a shard's cursor."""
    return f"cursor/{shard}"


def shard_term(shard: int) -> str:
    """A term that all versions of a shard have; no site can be named so."""
    return f"//{shard}"


def _document(version: IndexedVersion) -> tantivy.Document:
    document = tantivy.Document()
    is_current = version.to_us is None
    document.add_text("key", version_key(version.shard, version.page_id, version.number))
    document.add_text("state", "current" if is_current else "past")
    if version.noindex:
        document.add_text("state", "noindex")
    document.add_text("lang", version.lang or "")
    for term in site_terms(version.url):
        document.add_text("site", term)
    document.add_text("site", shard_term(version.shard))
    title = searchable(version.title)
    document.add_text("title", title)
    # The main text does not repeat the title, and a phrase may be in either.
    document.add_text("text", f"{title}\n{searchable(version.text)}")
    if version.headings:
        document.add_text("headings", searchable("\n".join(version.headings)))
    document.add_text("url", searchable(url_words(version.url)))
    document.add_unsigned("page", page_number(version.shard, version.page_id))
    document.add_unsigned("number", version.number)
    document.add_unsigned("from_us", version.from_us)
    document.add_unsigned("to_us", FOREVER_US if version.to_us is None else version.to_us)
    document.add_unsigned("gone_us", version.gone_us or 0)
    return document


def site_terms(url: str) -> tuple[str, ...]:
    """Host, domains above it, host with port, and its folders, as `site:` may name them."""
    path_end = url.find("?")
    end = url.rfind("/", 0, len(url) if path_end < 0 else path_end)
    return _folder_terms(url[:end].lower())


@lru_cache(maxsize=4096)
def _folder_terms(folder_url: str) -> tuple[str, ...]:
    authority, _, path = folder_url.partition("://")[2].partition("/")
    authority = authority.rpartition("@")[2]
    host = authority.rpartition(":")[0] if authority.rpartition(":")[2].isdigit() else authority
    labels = host.split(".")
    is_address = host.startswith("[") or all(label.isdigit() for label in labels)
    terms = [host] if is_address else [".".join(labels[at:]) for at in range(len(labels))]
    roots = [host] if authority == host else [host, authority]
    terms += roots[1:]
    names = path.split("/")[:MOST_FOLDERS] if path else []
    for depth in range(1, len(names) + 1):
        terms += [f"{root}/{'/'.join(names[:depth])}" for root in roots]
    return tuple(terms)
