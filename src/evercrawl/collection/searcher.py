"""Search one collection: match texts in the index, rank by links and importance, and build snippets."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import tantivy

from evercrawl.adapters.graph_files import LinkGraphFiles, current_graph
from evercrawl.adapters.learned import load_sentiment_model
from evercrawl.adapters.sql.log_reader import FoundRow, LogReader, log_reader, open_log
from evercrawl.adapters.sqlite.state_file import database_of
from evercrawl.adapters.tantivy.text_index import FOREVER_US, match_count, page_number, split_page_number
from evercrawl.adapters.tantivy.text_query import (
    AnchorIndex,
    IndexQueryBuilder,
    index_words,
    indexed_languages,
    match_all,
    match_most,
    min_groups,
)
from evercrawl.collection.search_index import open_text_index
from evercrawl.core.document.media_type import media_kind
from evercrawl.core.search.query_parser import parse_query
from evercrawl.core.search.ranking import (
    ANCHOR,
    GONE,
    FacetRow,
    TextFingerprint,
    count_changed,
    count_kinds,
    count_sites,
    group_near_duplicates,
    importance_bonus,
)
from evercrawl.core.search.ranking import count_languages as facet_languages
from evercrawl.core.search.snippet import MAX_TEXT_CHARS, SnippetTerm, make_snippet
from evercrawl.core.search.tokenizer import display_word, is_single_char_word
from evercrawl.core.sentiment.sentences import page_sentiment
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.search import Facets, FacetValue, Hit, Query, SearchResults, Tone
from evercrawl.model.settings import SearchSettings
from evercrawl.model.time import from_us, to_us

MIN_CANDIDATES = 60
CANDIDATES_PER_HIT = 4  # The index returns more than needed, because importance and anchor texts reorder them.
READ_PER_HIT = 3  # Candidates that are read per hit; near-duplicates among them are merged.
MAX_TEXT_BYTES = MAX_TEXT_CHARS + MAX_TEXT_CHARS // 2  # Bytes of a text that are read for a snippet.
MAX_CACHED_FORMS = 5000  # Words whose forms are cached between queries.
MAX_LIMIT = 1000
MAX_JUDGED = 300  # Candidates whose sentiment is judged for one query.
MAX_FACETED = 1000  # Hits that facets count, and that `type:` filters.
MAX_VALUED = 300  # Hits whose fields are read for `field:`.
MAX_FACET_TONES = 30  # Hits whose sentiment is judged for facets.


class RankedVersion(NamedTuple):
    """A matching version with its score."""

    page: int
    number: int
    score: float
    is_gone: bool


Rows = dict[tuple[int, int], FoundRow]  # The stored rows, by page and number of the version.


class Searcher:
    """A collection open for queries; close it after use. Each query sees the current index."""

    def __init__(self, collection: Path, settings: SearchSettings) -> None:
        self._collection = collection
        self._settings = settings
        self._index = open_text_index(collection)
        self._readers: dict[int, LogReader] = {}
        self._is_in_database = database_of(collection) is not None
        self._graph: LinkGraphFiles | None = None
        self._anchors: AnchorIndex | None = None
        self._builder: IndexQueryBuilder | None = None
        self._open_graph()

    def find(
        self,
        text: str,
        *,
        limit: int = 10,
        as_of: datetime | None = None,
        now: datetime | None = None,
        with_facets: bool = False,
    ) -> SearchResults:
        """Return the best hits for a query; raise ConfigError if the query is invalid."""
        began = perf_counter()
        if not 1 <= limit <= MAX_LIMIT:
            raise ConfigError(f"the limit must be from 1 to {MAX_LIMIT}, not {limit}")
        now = now or datetime.now(UTC)
        query = parse_query(text, now=now)
        if as_of is not None:
            query = replace(query, as_of=as_of)
        builder = self._query_builder()
        is_wide = with_facets or bool(query.kinds or query.values)
        candidates, total, is_partial = self._candidates(query, builder, _depth(query, limit, is_wide))
        rows = self._rows(candidates if is_wide else candidates[: _read_count(query, limit)])
        if query.kinds:
            candidates = [one for one in candidates if _kind(rows, one) in query.kinds]
            total = len(candidates)
        if query.values:
            candidates = [one for one in candidates[:MAX_VALUED] if self._has_values(one, rows, query.values)]
            total = len(candidates)
        hits = tuple(self._hits(query, builder, candidates[: _read_count(query, limit)], rows, limit))
        facets = self._facets(query, candidates, rows, query.as_of or now) if with_facets else None
        return SearchResults(hits, total, (perf_counter() - began) * 1000, is_partial, facets=facets)

    def close(self) -> None:
        """Close the files."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    # Candidates

    def _query_builder(self) -> IndexQueryBuilder:
        """Return a query builder for the current index; its cache lives until the index changes."""
        searcher = self._index.searcher()
        before = self._builder
        is_same = before is not None and before.searcher.num_docs == searcher.num_docs
        if before is None or not is_same or len(before.known_forms) > MAX_CACHED_FORMS:
            before = IndexQueryBuilder(searcher, self._index.schema, tuple(indexed_languages(searcher)))
        self._builder = replace(before, searcher=searcher)
        return self._builder

    def _open_graph(self) -> None:
        graph = current_graph(self._collection)
        if graph is not None:
            self._graph, self._anchors = graph, AnchorIndex(graph.anchors_folder)

    def _candidates(
        self, query: Query, builder: IndexQueryBuilder, depth: int
    ) -> tuple[list[RankedVersion], int, bool]:
        """Return matching versions, best first, their number, and whether they lack some of the words."""
        groups = builder.groups(query)
        if query.groups and not groups:
            raise ConfigError("the query has no word that can be searched for")
        filters = builder.filters(query, with_noindex=self._settings.include_noindex)
        anchors = self._anchor_scores(query)
        or_pages = builder.pages(list(anchors)) if anchors else None
        found = builder.searcher.search(match_all(groups, filters, or_pages=or_pages), depth)
        is_partial = not found.hits and min_groups(len(groups)) < len(groups)
        if is_partial:
            found = builder.searcher.search(match_most(groups, filters), depth)
        return self._rank(query, builder.searcher, found, anchors), match_count(found), is_partial

    def _anchor_scores(self, query: Query) -> dict[int, float]:
        """Return the scores of pages by anchor text; a search in the past has none, because links are current."""
        return self._anchors.pages_by_anchor(query) if self._anchors is not None and query.as_of is None else {}

    def _rank(
        self, query: Query, searcher: tantivy.Searcher, found: tantivy.SearchResult, anchors: dict[int, float]
    ) -> list[RankedVersion]:
        addresses = [address for _, address in found.hits]
        pages, numbers, gone = (_column(searcher, name, addresses) for name in ("page", "number", "gone_us"))
        importance = self._importance(pages)
        until_us = FOREVER_US if query.as_of is None else to_us(query.as_of)
        ranked = []
        for (score, _), page, number, gone_us, times in zip(found.hits, pages, numbers, gone, importance, strict=True):
            is_gone = 0 < gone_us <= until_us
            bonus = ANCHOR * anchors.get(page, 0.0) + importance_bonus(times)
            total = (float(score or 0.0) + bonus) * (GONE if is_gone else 1.0)
            ranked.append(RankedVersion(page, number, total, is_gone))
        return sorted(ranked, key=lambda candidate: -candidate.score)

    def _importance(self, pages: list[int]) -> list[float]:
        """Return the importance of each page relative to the mean; reopen the graph if it was rebuilt."""
        if self._graph is None:
            return [0.0] * len(pages)
        try:
            return self._graph.importance(pages)
        except StoreUnavailable:
            self._open_graph()
        return self._graph.importance(pages)

    # Hits

    def _hits(
        self, query: Query, builder: IndexQueryBuilder, candidates: Sequence[RankedVersion], rows: Rows, limit: int
    ) -> Iterator[Hit]:
        terms = _snippet_terms(query, builder)
        known = [candidate for candidate in candidates if (candidate.page, candidate.number) in rows]
        fingerprints = [_fingerprint(rows[candidate.page, candidate.number]) for candidate in known]
        rank = 0
        for group in (
            group_near_duplicates(fingerprints) if query.tone is None else ([place] for place in range(len(known)))
        ):
            if rank >= limit:
                return
            candidate = known[group[0]]
            row = rows[candidate.page, candidate.number]
            tone = self._tone(candidate, rows) if query.tone is not None else None
            if query.tone is not None and (tone is None or tone_of(tone) is not query.tone):
                continue
            rank += 1
            yield Hit(
                rank=rank,
                url=row.url,
                title=row.title,
                snippet=make_snippet(self._text(candidate, most_bytes=MAX_TEXT_BYTES), terms),
                score=round(candidate.score, 4),
                version=row.number,
                fetched_at=from_us(row.seen_us),
                lang=row.lang,
                is_gone=candidate.is_gone,
                near_duplicates=len(group) - 1,
                sentiment=None if tone is None else round(tone, 3),
            )

    def _has_values(self, candidate: RankedVersion, rows: Rows, conditions: Sequence[str]) -> bool:
        """Return whether the fields of a version fulfil all conditions."""
        from evercrawl.collection.field_values import has_values

        row = rows.get((candidate.page, candidate.number))
        return row is not None and has_values(self._collection, row.url, row.number, conditions)

    def _text(self, candidate: RankedVersion, *, most_bytes: int | None = None) -> str:
        shard, page_id = split_page_number(candidate.page)
        with self._reader(shard) as reader:
            return reader.text(page_id, candidate.number, most_bytes=most_bytes) or ""

    def _facets(self, query: Query, candidates: Sequence[RankedVersion], rows: Rows, now: datetime) -> Facets:
        known = [one for one in candidates if (one.page, one.number) in rows]
        listed = [_facet_row(rows[one.page, one.number]) for one in known]
        tones = [tone for one in known[:MAX_FACET_TONES] if (tone := self._tone(one, rows)) is not None]
        counted = Counter(tone_of(tone) for tone in tones)
        return Facets(
            sites=count_sites(listed),
            langs=facet_languages(listed),
            changed=count_changed(listed, now=now),
            kinds=count_kinds(listed),
            tones=tuple(FacetValue(tone.value, counted[tone]) for tone in Tone if counted[tone]),
            counted=len(listed),
            judged=len(tones),
        )

    def _tone(self, candidate: RankedVersion, rows: Rows) -> float | None:
        row = rows[candidate.page, candidate.number]
        if row.lang not in (None, "en"):
            return None
        return sentiment_of(self._text(candidate), row.lang, digest=row.text_digest)

    def _rows(self, candidates: Sequence[RankedVersion]) -> Rows:
        """Return the stored rows of the candidates, except for versions that were pruned."""
        by_shard: dict[int, list[tuple[int, int]]] = {}
        for candidate in candidates:
            shard, page_id = split_page_number(candidate.page)
            by_shard.setdefault(shard, []).append((page_id, candidate.number))
        rows: Rows = {}
        for shard, places in by_shard.items():
            with self._reader(shard) as reader:
                found = reader.found_rows(places)
            rows |= {(page_number(shard, page_id), number): row for (page_id, number), row in found.items()}
        return rows

    @contextmanager
    def _reader(self, shard: int) -> Iterator[LogReader]:
        """Open the log of one shard; files stay open, database connections are released."""
        if self._is_in_database:
            with log_reader(self._collection, shard) as reader:
                yield reader
            return
        if shard not in self._readers:
            self._readers[shard] = open_log(self._collection, shard)
        yield self._readers[shard]


def _column(searcher: tantivy.Searcher, name: str, addresses: Sequence[tantivy.DocAddress]) -> list[int]:
    return [int(value or 0) for value in searcher.fast_field_values(name, [*addresses])] if addresses else []


def _depth(query: Query, limit: int, is_wide: bool) -> int:
    """Return how many candidates to request from the index."""
    if is_wide:
        return MAX_FACETED
    return MAX_JUDGED if query.tone is not None else max(MIN_CANDIDATES, CANDIDATES_PER_HIT * limit)


def _read_count(query: Query, limit: int) -> int:
    """Return how many candidates to read."""
    return MAX_JUDGED if query.tone is not None else READ_PER_HIT * limit


def _kind(rows: Rows, candidate: RankedVersion) -> str | None:
    row = rows.get((candidate.page, candidate.number))
    return None if row is None else media_kind(row.content_type)


def _facet_row(row: FoundRow) -> FacetRow:
    return FacetRow(row.url, row.lang, row.seen_us, row.content_type)


def _fingerprint(row: FoundRow) -> TextFingerprint:
    return TextFingerprint(row.text_digest, row.signature, row.words)


def _snippet_terms(query: Query, builder: IndexQueryBuilder) -> list[SnippetTerm]:
    """Return the terms to highlight in snippets."""
    terms = []
    for group in query.groups:
        for term in group:
            words = index_words(term.text)
            if len(words) == 1 and not term.is_literal and not is_single_char_word(display_word(words[0])):
                forms = builder.all_forms(words[0], query.langs or builder.languages)
                terms.append(SnippetTerm(words[0], is_word=True, forms=frozenset(forms)))
            elif len(words) == 1 and not is_single_char_word(display_word(words[0])):
                terms.append(SnippetTerm(words[0], is_word=True))
            elif words:
                terms.append(SnippetTerm(" ".join(map(display_word, words)), is_word=False))
    return terms


JUDGED_CHARS = 6000
MIN_CLEAR_SCORE = 0.05  # Pages with a smaller absolute score are neutral.
MAX_CACHED_SCORES = 20_000

_scores: OrderedDict[bytes, float | None] = OrderedDict()
_scores_lock = threading.Lock()


def sentiment_of(text: str, lang: str | None, *, digest: bytes | None = None) -> float | None:
    """Return the sentiment of a text, -1 to 1; None: it cannot be judged. `digest` is the cache key."""
    with _scores_lock:
        if digest is not None and digest in _scores:
            return _scores[digest]
    judged = page_sentiment(text[:JUDGED_CHARS], load_sentiment_model().score, lang=lang)
    score = None if judged is None else judged.score
    if digest is not None:
        with _scores_lock:
            _scores[digest] = score
            while len(_scores) > MAX_CACHED_SCORES:
                _scores.popitem(last=False)
    return score


def tone_of(tone: float) -> Tone:
    """Return the name of a score in `sentiment:` queries."""
    if abs(tone) < MIN_CLEAR_SCORE:
        return Tone.NEUTRAL
    return Tone.POSITIVE if tone > 0 else Tone.NEGATIVE
