"""Search one collection, after updating its index, or several collections at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import monotonic, perf_counter

from evercrawl.adapters.graph_files import has_graph_support
from evercrawl.adapters.http.dialer import GuardedDialer
from evercrawl.adapters.remote_search import search_remote, without_token
from evercrawl.adapters.system import is_writable
from evercrawl.adapters.tantivy import IndexBusy
from evercrawl.collection.search_index import catch_up, index_lag, open_text_index
from evercrawl.collection.searcher import Searcher
from evercrawl.config import is_collection, read_settings
from evercrawl.core.document.media_type import MEDIA_KINDS as MEDIA_KINDS
from evercrawl.core.search.ranking import fuse_rankings
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.search import Hit, SearchResults, SourceError
from evercrawl.model.settings import HttpSettings, SearchSettings

MAX_VISITS_FOR_REBUILD = 30_000
"""Up to this many visits, a search rebuilds an outdated link graph. In a larger collection `watch`, `links` or `graph`
rebuild it."""


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
    """Update the index of a collection and return the best hits."""
    is_busy = update_index(collection, settings)
    searcher = Searcher(collection, settings)
    try:
        found = searcher.find(text, limit=limit, as_of=as_of, now=now, with_facets=with_facets)
    finally:
        searcher.close()
    return replace(found, lag=index_lag(collection, open_text_index(collection))) if is_busy else found


def update_index(collection: Path, settings: SearchSettings) -> bool:
    """Index new versions; return True if some may still be missing: another process is indexing them, or they are
    many in a collection that cannot be written."""
    index = open_text_index(collection)
    if not is_writable(collection) and index_lag(collection, index) > MAX_VISITS_FOR_REBUILD:
        return True  # The result would be lost with this process.
    try:
        catch_up(collection, index, settings)
    except IndexBusy:
        return True
    if has_graph_support():
        from evercrawl.collection.graph_builder import build_graph, is_outdated

        if is_outdated(collection, max_visits=MAX_VISITS_FOR_REBUILD):
            build_graph(collection)
    return False


def search_collections(
    sources: Sequence[str],
    text: str,
    *,
    limit: int,
    timeout_s: float,
    as_of: datetime | None = None,
    http: HttpSettings | None = None,
) -> SearchResults:
    """Search collections in folders and served ones (http:// or https://) together."""
    dialer = GuardedDialer(http or HttpSettings(), is_named=True)
    queries: list[tuple[str, SourceQuery]] = [
        (_source_name(source), _query_for(source, text, dialer, limit=limit, timeout_s=timeout_s, as_of=as_of))
        for source in dict.fromkeys(sources)
    ]
    return query_sources(queries, limit=limit, timeout_s=timeout_s)


def _is_served(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _source_name(source: str) -> str:
    return without_token(source) if _is_served(source) else source


def _query_for(
    source: str, text: str, dialer: GuardedDialer, *, limit: int, timeout_s: float, as_of: datetime | None
) -> SourceQuery:
    if _is_served(source):
        full_text = text if as_of is None else f"{text} as-of:{as_of:%Y-%m-%dT%H:%M:%SZ}"
        return lambda: search_remote(source, full_text, limit=limit, timeout_s=timeout_s, dialer=dialer)
    return lambda: _search_folder(Path(source), text, limit=limit, as_of=as_of)


def _search_folder(folder: Path, text: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
    if not is_collection(folder):
        raise ConfigError(f"{folder} is not a collection")
    return search(folder, read_settings(folder).settings.search, text, limit=limit, as_of=as_of).hits


SourceQuery = Callable[[], Sequence[Hit]]  # Searches one source; may raise an EvercrawlError.
_SourceResult = tuple[int, Sequence[Hit] | str]


def query_sources(sources: Sequence[tuple[str, SourceQuery]], *, limit: int, timeout_s: float) -> SearchResults:
    """Query all sources, given by name, and merge the results of those that answer in time."""
    began = perf_counter()
    results: queue.SimpleQueue[_SourceResult] = queue.SimpleQueue()
    for place, (name, query) in enumerate(sources):
        # Daemon threads, so that a hanging source does not keep the program running.
        threading.Thread(target=_run_query, args=(results, place, query), name=f"query {name}", daemon=True).start()
    given, errors = _collect(results, [name for name, _ in sources], timeout_s)
    hits = merge_hits([(sources[place][0], given[place]) for place in sorted(given)])
    took_ms = (perf_counter() - began) * 1000
    return SearchResults(tuple(hits[:limit]), len(hits), took_ms, source_errors=tuple(errors))


def _run_query(results: queue.SimpleQueue[_SourceResult], place: int, query: SourceQuery) -> None:
    try:
        results.put((place, query()))
    except EvercrawlError as error:
        results.put((place, str(error)))
    except Exception as error:
        results.put((place, f"{type(error).__name__}: {error}"))


def _collect(
    results: queue.SimpleQueue[_SourceResult], names: Sequence[str], timeout_s: float
) -> tuple[dict[int, Sequence[Hit]], list[SourceError]]:
    given: dict[int, Sequence[Hit]] = {}
    problems: dict[int, str] = {}
    ends = monotonic() + timeout_s
    while len(given) + len(problems) < len(names):
        try:
            place, answer = results.get(timeout=max(0.0, ends - monotonic()))
        except queue.Empty:
            break
        if isinstance(answer, str):
            problems[place] = answer
        else:
            given[place] = answer
    late = f"no answer within {timeout_s:g} s"
    silent = [(place, name) for place, name in enumerate(names) if place not in given]
    return given, [SourceError(name, problems.get(place, late)) for place, name in silent]


def merge_hits(answers: Sequence[tuple[str, Sequence[Hit]]]) -> list[Hit]:
    """Merge the hits of several sources; a page that several have is listed once with all their names."""
    best: dict[str, Hit] = {}
    named: dict[str, list[str]] = {}
    for name, hits in answers:
        for hit in hits:
            kept = best.get(hit.url)
            if kept is None or hit.fetched_at > kept.fetched_at:
                best[hit.url] = hit
            named.setdefault(hit.url, []).append(name)
    ranking = fuse_rankings([[hit.url for hit in hits] for _, hits in answers])
    return [
        replace(best[url], rank=rank, score=round(score, 6), source=", ".join(dict.fromkeys(named[url])))
        for rank, (url, score) in enumerate(ranking, start=1)
    ]
