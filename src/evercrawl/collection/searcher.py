"""One collection asked: text by the index, then what the link graph says, then what is worth showing."""

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

FEWEST_CANDIDATES = 60
CANDIDATES_PER_HIT = 4
"""The index gives more than is asked for: importance and anchor texts may still reorder them."""
LOOKED_AT_PER_HIT = 3
"""Of these, those that say nearly the same are folded into one."""
MOST_TEXT_BYTES = MAX_TEXT_CHARS + MAX_TEXT_CHARS // 2
"""Of a text that are read for a snippet; nearly all characters of most languages that are looked at."""
MOST_KNOWN_FORMS = 5000
"""Words whose forms are remembered between questions."""
MOST_LIMIT = 1000
MOST_TONED = 300
"""Candidates whose sentiment is looked at for one query."""
MOST_FACETED = 1000
"""Hits that facets count, and that `type:` chooses from."""
MOST_FACET_TONES = 30
"""... and those whose sentiment is judged for them."""


class RankedVersion(NamedTuple):
    """A version that matches, before anything of it was read."""

    page: int
    number: int
    score: float
    is_gone: bool


Rows = dict[tuple[int, int], FoundRow]
"""Page and number of a version -> what is stored of it."""


class Searcher:
    """A collection open for questions; `close` it. Each question sees what is indexed at its moment."""

    def __init__(self, collection: Path, settings: SearchSettings) -> None:
        self._collection = collection
        self._settings = settings
        self._index = open_text_index(collection)
        self._readers: dict[int, LogReader] = {}
        self._is_in_database = database_of(collection) is not None
        self._graph: LinkGraphFiles | None = None
        self._anchors: AnchorIndex | None = None
        self._asked: IndexQueryBuilder | None = None
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
        """The best hits for a query; ConfigError where it cannot be read."""
        began = perf_counter()
        if not 1 <= limit <= MOST_LIMIT:
            raise ConfigError(f"the limit must be from 1 to {MOST_LIMIT}, not {limit}")
        now = now or datetime.now(UTC)
        query = parse_query(text, now=now)
        if as_of is not None:
            query = replace(query, as_of=as_of)
        asking = self._asking()
        is_wide = with_facets or bool(query.kinds)
        candidates, total, is_partial = self._candidates(query, asking, _depth(query, limit, is_wide))
        rows = self._rows(candidates if is_wide else candidates[: _looked_at(query, limit)])
        if query.kinds:
            candidates = [one for one in candidates if _kind(rows, one) in query.kinds]
            total = len(candidates)
        hits = tuple(self._hits(query, asking, candidates[: _looked_at(query, limit)], rows, limit))
        facets = self._facets(query, candidates, rows, query.as_of or now) if with_facets else None
        return SearchResults(hits, total, (perf_counter() - began) * 1000, is_partial, facets=facets)

    def close(self) -> None:
        """Close the files."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    # Candidates

    def _asking(self) -> IndexQueryBuilder:
        """The index as it is now; what was looked up in it is kept until it changes."""
        searcher = self._index.searcher()
        before = self._asked
        is_same = before is not None and before.searcher.num_docs == searcher.num_docs
        if before is None or not is_same or len(before.known_forms) > MOST_KNOWN_FORMS:
            before = IndexQueryBuilder(searcher, self._index.schema, tuple(indexed_languages(searcher)))
        self._asked = replace(before, searcher=searcher)
        return self._asked

    def _open_graph(self) -> None:
        graph = current_graph(self._collection)
        if graph is not None:
            self._graph, self._anchors = graph, AnchorIndex(graph.anchors_folder)

    def _candidates(self, query: Query, asking: IndexQueryBuilder, depth: int) -> tuple[list[RankedVersion], int, bool]:
        """Matching versions, best first; their number; and whether only most of the words are there."""
        groups = asking.groups(query)
        if query.groups and not groups:
            raise ConfigError("there is no word in the query that a page could have")
        filters = asking.filters(query, with_noindex=self._settings.include_noindex)
        called = self._called(query)
        or_pages = asking.pages(list(called)) if called else None
        found = asking.searcher.search(match_all(groups, filters, or_pages=or_pages), depth)
        is_partial = not found.hits and min_groups(len(groups)) < len(groups)
        if is_partial:
            found = asking.searcher.search(match_most(groups, filters), depth)
        return self._ranked(query, asking.searcher, found, called), match_count(found), is_partial

    def _called(self, query: Query) -> dict[int, float]:
        """What is known of links is of today: the past is searched without."""
        return self._anchors.pages_by_anchor(query) if self._anchors is not None and query.as_of is None else {}

    def _ranked(
        self, query: Query, searcher: tantivy.Searcher, found: tantivy.SearchResult, called: dict[int, float]
    ) -> list[RankedVersion]:
        addresses = [address for _, address in found.hits]
        pages, numbers, gone = (_column(searcher, name, addresses) for name in ("page", "number", "gone_us"))
        importance = self._importance(pages)
        until_us = FOREVER_US if query.as_of is None else to_us(query.as_of)
        ranked = []
        for (score, _), page, number, gone_us, times in zip(found.hits, pages, numbers, gone, importance, strict=True):
            is_gone = 0 < gone_us <= until_us
            bonus = ANCHOR * called.get(page, 0.0) + importance_bonus(times)
            worth = (float(score or 0.0) + bonus) * (GONE if is_gone else 1.0)
            ranked.append(RankedVersion(page, number, worth, is_gone))
        return sorted(ranked, key=lambda candidate: -candidate.score)

    def _importance(self, pages: list[int]) -> list[float]:
        """How many times as important as the mean each page is; a graph that was made anew takes over."""
        if self._graph is None:
            return [0.0] * len(pages)
        try:
            return self._graph.importance(pages)
        except StoreUnavailable:
            self._open_graph()
        return self._graph.importance(pages)

    # Hits

    def _hits(
        self, query: Query, asking: IndexQueryBuilder, candidates: Sequence[RankedVersion], rows: Rows, limit: int
    ) -> Iterator[Hit]:
        sought = _sought(query, asking)
        known = [candidate for candidate in candidates if (candidate.page, candidate.number) in rows]
        said = [_said(rows[candidate.page, candidate.number]) for candidate in known]
        rank = 0
        for group in group_near_duplicates(said) if query.tone is None else ([place] for place in range(len(known))):
            if rank >= limit:
                return
            candidate = known[group[0]]
            row = rows[candidate.page, candidate.number]
            tone = self._tone(candidate, rows) if query.tone is not None else None
            if query.tone is not None and (tone is None or tone_named(tone) is not query.tone):
                continue
            rank += 1
            yield Hit(
                rank=rank,
                url=row.url,
                title=row.title,
                snippet=make_snippet(self._text(candidate, most_bytes=MOST_TEXT_BYTES), sought),
                score=round(candidate.score, 4),
                version=row.number,
                fetched_at=from_us(row.seen_us),
                lang=row.lang,
                is_gone=candidate.is_gone,
                near_duplicates=len(group) - 1,
                sentiment=None if tone is None else round(tone, 3),
            )

    def _text(self, candidate: RankedVersion, *, most_bytes: int | None = None) -> str:
        shard, page_id = split_page_number(candidate.page)
        with self._reading(shard) as reader:
            return reader.text(page_id, candidate.number, most_bytes=most_bytes) or ""

    def _facets(self, query: Query, candidates: Sequence[RankedVersion], rows: Rows, now: datetime) -> Facets:
        known = [one for one in candidates if (one.page, one.number) in rows]
        listed = [_facet_row(rows[one.page, one.number]) for one in known]
        tones = [tone for one in known[:MOST_FACET_TONES] if (tone := self._tone(one, rows)) is not None]
        counted = Counter(tone_named(tone) for tone in tones)
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
        """What is stored of the candidates; one that was pruned since is missing."""
        of_shard: dict[int, list[tuple[int, int]]] = {}
        for candidate in candidates:
            shard, page_id = split_page_number(candidate.page)
            of_shard.setdefault(shard, []).append((page_id, candidate.number))
        rows: Rows = {}
        for shard, places in of_shard.items():
            with self._reading(shard) as reader:
                found = reader.found_rows(places)
            rows |= {(page_number(shard, page_id), number): row for (page_id, number), row in found.items()}
        return rows

    @contextmanager
    def _reading(self, shard: int) -> Iterator[LogReader]:
        """One shard; a file is kept open, a connection to a database is given back."""
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
    """How many candidates the index gives."""
    if is_wide:
        return MOST_FACETED
    return MOST_TONED if query.tone is not None else max(FEWEST_CANDIDATES, CANDIDATES_PER_HIT * limit)


def _looked_at(query: Query, limit: int) -> int:
    """Of how many candidates the texts may be looked at."""
    return MOST_TONED if query.tone is not None else LOOKED_AT_PER_HIT * limit


def _kind(rows: Rows, candidate: RankedVersion) -> str | None:
    row = rows.get((candidate.page, candidate.number))
    return None if row is None else media_kind(row.content_type)


def _facet_row(row: FoundRow) -> FacetRow:
    return FacetRow(row.url, row.lang, row.seen_us, row.content_type)


def _said(row: FoundRow) -> TextFingerprint:
    return TextFingerprint(row.text_digest, row.signature, row.words)


def _sought(query: Query, asking: IndexQueryBuilder) -> list[SnippetTerm]:
    """What to mark in the texts."""
    sought = []
    for group in query.groups:
        for term in group:
            words = index_words(term.text)
            if len(words) == 1 and not term.is_literal and not is_single_char_word(display_word(words[0])):
                forms = asking.all_forms(words[0], query.langs or asking.languages)
                sought.append(SnippetTerm(words[0], is_word=True, forms=frozenset(forms)))
            elif len(words) == 1 and not is_single_char_word(display_word(words[0])):
                sought.append(SnippetTerm(words[0], is_word=True))
            elif words:
                sought.append(SnippetTerm(" ".join(map(display_word, words)), is_word=False))
    return sought


TONED_CHARS = 6000
CLEAR_TONE = 0.05
"""Mean score of a page from which on it is positive."""
MOST_KEPT = 20_000

_kept: OrderedDict[bytes, float | None] = OrderedDict()
_turn = threading.Lock()


def sentiment_of(text: str, lang: str | None, *, digest: bytes | None = None) -> float | None:
    """The score of a text, -1 to 1; None: it cannot be judged. `digest` names the text."""
    with _turn:
        if digest is not None and digest in _kept:
            return _kept[digest]
    judged = page_sentiment(text[:TONED_CHARS], load_sentiment_model().score, lang=lang)
    score = None if judged is None else judged.score
    if digest is not None:
        with _turn:
            _kept[digest] = score
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return score


def tone_named(tone: float) -> Tone:
    """What `sentiment:` calls a score."""
    if abs(tone) < CLEAR_TONE:
        return Tone.NEUTRAL
    return Tone.POSITIVE if tone > 0 else Tone.NEGATIVE
