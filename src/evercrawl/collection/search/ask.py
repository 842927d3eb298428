"""Questions as the library asks them: the index is brought up first, where that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from evercrawl.adapters.remote_search import ask_remote, without_token
from evercrawl.adapters.tantivy import IndexBusy
from evercrawl.collection.linkgraph.build import build_graph, is_worn
from evercrawl.collection.search.find import Searching
from evercrawl.collection.search.follow import catch_up, lag_of, open_text_index
from evercrawl.collection.search.meta import Ask, ask_all
from evercrawl.config import is_collection, read_settings
from evercrawl.errors import ConfigError
from evercrawl.model.search import Hit, SearchResults
from evercrawl.model.settings import SearchSettings

RENEWED_AT_ONCE = 30_000
"""Visits of a collection up to which a search waits for a link graph that is worn; a larger one keeps the one
that it has until `watch`, `links` or `graph` renews it.
"""


def search(
    collection: Path,
    settings: SearchSettings,
    text: str,
    *,
    limit: int = 10,
    as_of: datetime | None = None,
    now: datetime | None = None,
    with_facets: bool = False,
) -> SearchResults:
    """The best hits of one collection; what a crawl stored a moment ago is among them."""
    is_busy = bring_up(collection, settings)
    searching = Searching(collection, settings)
    try:
        found = searching.find(text, limit=limit, as_of=as_of, now=now, with_facets=with_facets)
    finally:
        searching.close()
    return replace(found, lag=lag_of(collection, open_text_index(collection))) if is_busy else found


def bring_up(collection: Path, settings: SearchSettings) -> bool:
    """Index what is missing; True: another process is at it, so that a little may be missing still."""
    try:
        catch_up(collection, open_text_index(collection), settings)
    except IndexBusy:
        return True
    if is_worn(collection, most=RENEWED_AT_ONCE):
        build_graph(collection)
    return False


def search_several(
    sources: Sequence[str], text: str, *, limit: int, timeout_s: float, as_of: datetime | None = None
) -> SearchResults:
    """One query over collections in folders and over served ones (http:// or https://)."""
    asks: list[tuple[str, Ask]] = [
        (_shown(source), _ask_of(source, text, limit=limit, timeout_s=timeout_s, as_of=as_of))
        for source in dict.fromkeys(sources)
    ]
    return ask_all(asks, limit=limit, timeout_s=timeout_s)


def _is_served(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _shown(source: str) -> str:
    return without_token(source) if _is_served(source) else source


def _ask_of(source: str, text: str, *, limit: int, timeout_s: float, as_of: datetime | None) -> Ask:
    if _is_served(source):
        asked = text if as_of is None else f"{text} as-of:{as_of:%Y-%m-%dT%H:%M:%SZ}"
        return lambda: ask_remote(source, asked, limit=limit, timeout_s=timeout_s)
    return lambda: _ask_folder(Path(source), text, limit=limit, as_of=as_of)


def _ask_folder(folder: Path, text: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
    if not is_collection(folder):
        raise ConfigError(f"{folder} is not a collection")
    return search(folder, read_settings(folder).settings.search, text, limit=limit, as_of=as_of).hits
