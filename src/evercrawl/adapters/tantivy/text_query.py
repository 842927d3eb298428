"""Translate search queries for the index: word forms, fields and filters; and search anchor texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

import tantivy

from evercrawl.adapters.tantivy.text_index import STEMMERS, anchor_schema, open_index, stem_analyser, word_analyser
from evercrawl.core.search.ranking import HEADINGS, TEXT, TITLE, URL, WordForm, form_weights
from evercrawl.core.search.tokenizer import normalize_for_index
from evercrawl.model.search import Query, QueryField, Term
from evercrawl.model.time import to_us

MAX_FORMS = 12  # Forms per word and language, most frequent first.
MAX_SIMILAR_WORDS = 4000  # Indexed words to check for forms of one word.
MAX_SUFFIX = 8  # Longer endings do not belong to a form of a word.
MIN_STEMMED = 3
MIN_MATCHED_SHARE = 0.7  # Share of the words of a long query that must match.
MAX_LATIN_LANGUAGES = 4  # Languages with Latin letters to search in, most frequent first.
SCRIPTS = {
    "ar": ("\u0600", "\u06ff"),
    "el": ("\u0370", "\u03ff"),
    "ru": ("\u0400", "\u04ff"),
    "ta": ("\u0b80", "\u0bff"),
}
"""Languages identified by their script."""
LONG_STEM = 5  # From this length on, the last letter may differ between forms: journal, journaux.

IndexQuery = tantivy.Query
Clause = tuple[tantivy.Occur, IndexQuery]
MUST, SHOULD, NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


ANCHOR_HEAP_BYTES = 32_000_000
MAX_ANCHOR_PAGES = 100  # Pages that may be added to the hits because of their anchor texts.


def index_words(text: str) -> list[str]:
    """Split a text into words as the index does."""
    return word_analyser().analyze(normalize_for_index(text))


def stem_words(words: Sequence[str], language: str) -> list[str]:
    """Return the stem of each word."""
    if language not in STEMMERS:
        return list(words)
    stems = stem_analyser(language).analyze(" ".join(words))
    return stems if len(stems) == len(words) else list(words)


def indexed_languages(searcher: tantivy.Searcher) -> list[str]:
    """Return the languages to search in, most frequent first."""
    counted = sorted(searcher.terms_with_prefix("lang", ""), key=lambda pair: -pair[1])
    latin = [lang for lang, _ in counted if lang in STEMMERS and lang not in SCRIPTS]
    return latin[:MAX_LATIN_LANGUAGES] + [lang for lang, _ in counted if lang in SCRIPTS]


def languages_for(languages: Sequence[str], word: str) -> list[str]:
    """Return the languages with the word's script; English if none is known."""
    own = [lang for lang, (first, last) in SCRIPTS.items() if first <= word[0] <= last]
    if own:
        return own
    return [lang for lang in languages if lang not in SCRIPTS] or ["en"]


@dataclass(frozen=True, slots=True)
class IndexQueryBuilder:
    """Builds queries for one searcher."""

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    languages: tuple[str, ...]
    known_forms: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    """Cached forms by word and language."""
    last_similar_words: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """Cached words of the last prefix."""

    # Terms

    def forms(self, word: str, language: str) -> dict[str, float]:
        """Return the indexed forms of a word in a language, with their weights."""
        known = self.known_forms.get((word, language))
        if known is None:
            known = self.known_forms[word, language] = self._find_forms(word, language)
        return known

    def _find_forms(self, word: str, language: str) -> dict[str, float]:
        if language not in STEMMERS or len(word) < MIN_STEMMED or word.isdigit():
            return {word: 1.0}
        stem = stem_words([word], language)[0]
        shared = _common_prefix(word, stem)
        longest = len(word) + MAX_SUFFIX
        similar = [pair for pair in self._similar_words(shared) if len(pair[0]) <= longest]
        stems = stem_words([text for text, _ in similar], language) if similar else []
        forms = [WordForm(*pair) for pair, own in zip(similar, stems, strict=True) if own == stem or pair[0] == word]
        forms.sort(key=lambda form: (form.text != word, -form.documents))
        return form_weights(word, forms[:MAX_FORMS], documents=max(1, self.searcher.num_docs))

    def _similar_words(self, shared: str) -> list[tuple[str, int]]:
        """Return the most frequent words with a prefix. Consecutive languages usually share the prefix."""
        if shared not in self.last_similar_words:
            self.last_similar_words.clear()
            similar = self.searcher.terms_with_prefix("text", shared, limit=MAX_SIMILAR_WORDS)
            self.last_similar_words[shared] = similar
        return self.last_similar_words[shared]

    def all_forms(self, word: str, languages: Sequence[str]) -> dict[str, float]:
        """Return the forms over several languages, each with its best weight."""
        merged: dict[str, float] = {word: 1.0}
        for language in languages_for(languages, word):
            for form, weight in self.forms(word, language).items():
                merged[form] = max(weight, merged.get(form, 0.0))
        return merged

    def term(self, term: Term, languages: Sequence[str]) -> IndexQuery | None:
        """Return the query of a term, or None if it contains no word."""
        words = index_words(term.text)
        if not words:
            return None
        if len(words) == 1 and not term.is_literal:
            return self._any_form(self.all_forms(words[0], languages), term.place)
        return self._phrase(words, term.place)

    def _any_form(self, forms: dict[str, float], place: QueryField) -> IndexQuery:
        fields = {
            QueryField.ANYWHERE: (("text", TEXT), ("title", TITLE), ("headings", HEADINGS), ("url", URL)),
            QueryField.TITLE: (("title", TITLE),),
            QueryField.URL: (("url", URL),),
        }[place]
        return _any_of([self._in_field(field, forms, boost) for field, boost in fields])

    def _in_field(self, field: str, forms: dict[str, float], boost: float) -> IndexQuery:
        term, boosted = tantivy.Query.term_query, tantivy.Query.boost_query
        terms = [boosted(term(self.schema, field, form, "freq"), boost * weight) for form, weight in forms.items()]
        return terms[0] if len(terms) == 1 else tantivy.Query.disjunction_max_query(terms, 0.1)

    def _phrase(self, words: list[str], place: QueryField) -> IndexQuery:
        if place is QueryField.URL:
            exact = [tantivy.Query.term_query(self.schema, "url", word, "freq") for word in words]
            return tantivy.Query.boolean_query([(MUST, term) for term in exact])
        fields = (("title", TITLE),) if place is QueryField.TITLE else (("text", TEXT), ("title", TITLE))
        return _any_of([tantivy.Query.boost_query(self._exact_phrase(field, words), boost) for field, boost in fields])

    def _exact_phrase(self, field: str, words: list[str]) -> IndexQuery:
        if len(words) == 1:
            return tantivy.Query.term_query(self.schema, field, words[0], "freq")
        return tantivy.Query.phrase_query(self.schema, field, [*words])

    # Query

    def groups(self, query: Query) -> list[IndexQuery]:
        """Return one query per group."""
        languages = query.langs or self.languages
        groups = []
        for group in query.groups:
            terms = [query_part for term in group if (query_part := self.term(term, languages)) is not None]
            if terms:
                groups.append(_any_of(terms))
        return groups

    def filters(self, query: Query, *, with_noindex: bool) -> list[Clause]:
        """Return the conditions beside the words; they do not affect the score."""
        clauses: list[Clause] = [(MUST, self._time_filter(query))]
        if query.sites:
            clauses.append((MUST, self._any_term("site", query.sites)))
        if query.langs:
            clauses.append((MUST, self._any_term("lang", query.langs)))
        if query.changed_from is not None or query.changed_until is not None:
            first = None if query.changed_from is None else to_us(query.changed_from)
            last = None if query.changed_until is None else to_us(query.changed_until)
            clauses.append((MUST, self._range("from_us", first, last)))
        clauses += [(NOT, self._exact("site", site)) for site in query.not_sites]
        for term in query.without:
            if (query_part := self.term(term._replace(is_literal=True), ())) is not None:
                clauses.append((NOT, query_part))
        if not with_noindex:
            clauses.append((NOT, self._exact("state", "noindex")))
        return clauses

    def _time_filter(self, query: Query) -> IndexQuery:
        """Match the versions that were the newest at `as_of`, or those that are the newest now."""
        if query.as_of is None:
            return _unscored(self._exact("state", "current"))
        at_us = to_us(query.as_of)
        return tantivy.Query.boolean_query(
            [(MUST, self._range("from_us", None, at_us)), (MUST, self._range("to_us", at_us + 1, None))]
        )

    def _range(self, field: str, first: int | None, last: int | None) -> IndexQuery:
        return _unscored(tantivy.Query.range_query(self.schema, field, tantivy.FieldType.Unsigned, first, last))

    def _any_term(self, field: str, values: Sequence[str]) -> IndexQuery:
        return _unscored(_any_of([self._exact(field, value) for value in values]))

    def _exact(self, field: str, value: str) -> IndexQuery:
        return tantivy.Query.term_query(self.schema, field, value, "basic")

    def pages(self, pages: Sequence[int]) -> IndexQuery:
        """Match these pages, whatever their text."""
        return _unscored(tantivy.Query.term_set_query(self.schema, "page", list(pages)))


def _common_prefix(word: str, stem: str) -> str:
    """Return the prefix that all forms of a word share, judging by its stem."""
    same = 0
    while same < min(len(word), len(stem)) and word[same] == stem[same]:
        same += 1
    is_open = same >= LONG_STEM or word[same - 1 : same] == "i"
    return word[: max(2, same - is_open)]


def _any_of(queries: list[IndexQuery]) -> IndexQuery:
    return queries[0] if len(queries) == 1 else tantivy.Query.boolean_query([(SHOULD, one) for one in queries])


def _unscored(query: IndexQuery) -> IndexQuery:
    """Return the query without its score."""
    return tantivy.Query.const_score_query(query, 0.0)


def match_all(groups: list[IndexQuery], filters: list[Clause], *, or_pages: IndexQuery | None = None) -> IndexQuery:
    """Match all groups and filters; `or_pages` may match without the words."""
    words = tantivy.Query.boolean_query([(MUST, group) for group in groups]) if groups else tantivy.Query.all_query()
    if or_pages is not None and groups:
        words = _any_of([words, or_pages])
    return tantivy.Query.boolean_query([(MUST, words if groups else _unscored(words)), *filters])


def min_groups(groups: int) -> int:
    """Return how many groups of a long query must match if no page matches all."""
    return ceil(MIN_MATCHED_SHARE * groups)


def match_most(groups: list[IndexQuery], filters: list[Clause]) -> IndexQuery:
    """Match about three quarters of the groups."""
    least = min_groups(len(groups))
    words = tantivy.Query.boolean_query([(SHOULD, group) for group in groups], minimum_number_should_match=least)
    return tantivy.Query.boolean_query([(MUST, words), *filters])


def write_anchor_index(folder: Path, anchors: Iterable[tuple[int, str]]) -> None:
    """Index the anchor texts of pages, given as page number and text."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = open_index(anchor_schema(), str(folder)).writer(ANCHOR_HEAP_BYTES, num_threads=1)
    for page, text in anchors:
        document = tantivy.Document()
        document.add_unsigned("page", page)
        document.add_text("anchor", normalize_for_index(text))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


class AnchorIndex:
    """The anchor texts of one generation of the link graph."""

    def __init__(self, folder: Path) -> None:
        self._schema = anchor_schema()
        self._searcher = open_index(self._schema, str(folder)).searcher()

    def pages_by_anchor(self, query: Query) -> dict[int, float]:
        """Return pages whose anchor texts contain all words of a query, with their scores."""
        words = [index_words(group[0].text) for group in query.groups if group[0].place is QueryField.ANYWHERE]
        if len(words) != len(query.groups) or not words or any(len(group) > 1 for group in query.groups):
            return {}
        if any(term.is_literal for group in query.groups for term in group):
            return {}
        called = (word for run in words for word in run)
        terms = [(MUST, tantivy.Query.term_query(self._schema, "anchor", word, "freq")) for word in called]
        if not terms:
            return {}
        hits = self._searcher.search(tantivy.Query.boolean_query(terms), MAX_ANCHOR_PAGES, count=False).hits
        pages = self._searcher.fast_field_values("page", [address for _, address in hits])
        return {int(page or 0): score for page, (score, _) in zip(pages, hits, strict=True)}
