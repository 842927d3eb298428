"""Questions as the library asks them: the index is brought up first, where that is possible."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import monotonic, perf_counter

from evercrawl.adapters.remote_search import search_remote, without_token
from evercrawl.adapters.tantivy import IndexBusy
from evercrawl.collection.graph_builder import build_graph, is_outdated
from evercrawl.collection.search_index import catch_up, index_lag, open_text_index
from evercrawl.collection.searcher import Searcher
from evercrawl.config import is_collection, read_settings
from evercrawl.core.search.ranking import fuse_rankings
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.search import Hit, SearchResults, SourceError
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
    is_busy = update_index(collection, settings)
    searching = Searcher(collection, settings)
    try:
        found = searching.find(text, limit=limit, as_of=as_of, now=now, with_facets=with_facets)
    finally:
        searching.close()
    return replace(found, lag=index_lag(collection, open_text_index(collection))) if is_busy else found


def update_index(collection: Path, settings: SearchSettings) -> bool:
    """Index what is missing; True: another process is at it, so that a little may be missing still."""
    try:
        catch_up(collection, open_text_index(collection), settings)
    except IndexBusy:
        return True
    if is_outdated(collection, most=RENEWED_AT_ONCE):
        build_graph(collection)
    return False


def search_collections(
    sources: Sequence[str], text: str, *, limit: int, timeout_s: float, as_of: datetime | None = None
) -> SearchResults:
    """One query over collections in folders and over served ones (http:// or https://)."""
    asks: list[tuple[str, Ask]] = [
        (_shown(source), _ask_of(source, text, limit=limit, timeout_s=timeout_s, as_of=as_of))
        for source in dict.fromkeys(sources)
    ]
    return query_sources(asks, limit=limit, timeout_s=timeout_s)


def _is_served(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _shown(source: str) -> str:
    return without_token(source) if _is_served(source) else source


def _ask_of(source: str, text: str, *, limit: int, timeout_s: float, as_of: datetime | None) -> Ask:
    if _is_served(source):
        asked = text if as_of is None else f"{text} as-of:{as_of:%Y-%m-%dT%H:%M:%SZ}"
        return lambda: search_remote(source, asked, limit=limit, timeout_s=timeout_s)
    return lambda: _ask_folder(Path(source), text, limit=limit, as_of=as_of)


def _ask_folder(folder: Path, text: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
    if not is_collection(folder):
        raise ConfigError(f"{folder} is not a collection")
    return search(folder, read_settings(folder).settings.search, text, limit=limit, as_of=as_of).hits


Ask = Callable[[], Sequence[Hit]]
"""Asks one source; may raise an EvercrawlError."""
_Answer = tuple[int, Sequence[Hit] | str]


def query_sources(sources: Sequence[tuple[str, Ask]], *, limit: int, timeout_s: float) -> SearchResults:
    """The merged answer of all sources (name, how to ask) that answer in time."""
    began = perf_counter()
    answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
    for place, (name, ask) in enumerate(sources):
        # Daemons: one that hangs does not keep the program from ending.
        threading.Thread(target=_ask, args=(answers, place, ask), name=f"ask {name}", daemon=True).start()
    given, troubles = _collect(answers, [name for name, _ in sources], timeout_s)
    hits = merge_hits([(sources[place][0], given[place]) for place in sorted(given)])
    took_ms = (perf_counter() - began) * 1000
    return SearchResults(tuple(hits[:limit]), len(hits), took_ms, source_errors=tuple(troubles))


def _ask(answers: queue.SimpleQueue[_Answer], place: int, ask: Ask) -> None:
    try:
        answers.put((place, ask()))
    except EvercrawlError as error:
        answers.put((place, str(error)))
    except Exception as defect:
        answers.put((place, f"{type(defect).__name__}: {defect}"))


def _collect(
    answers: queue.SimpleQueue[_Answer], names: Sequence[str], timeout_s: float
) -> tuple[dict[int, Sequence[Hit]], list[SourceError]]:
    given: dict[int, Sequence[Hit]] = {}
    problems: dict[int, str] = {}
    ends = monotonic() + timeout_s
    while len(given) + len(problems) < len(names):
        try:
            place, answer = answers.get(timeout=max(0.0, ends - monotonic()))
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
    """The hits of several sources as one list; a page that several have is listed once, with all of them."""
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
