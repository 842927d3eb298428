"""What other pages call a page, in an index of its own that is made with each generation of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import tantivy

from evercrawl.adapters.tantivy.asking import MUST, words_of
from evercrawl.adapters.tantivy.schema import anchor_schema, open_index
from evercrawl.core.search.tokenizer import searchable
from evercrawl.model.search import Query, QueryField

HEAP_BYTES = 32_000_000
MOST_PAGES = 100
"""Pages that are let into a list of hits for their anchor texts."""


def write_anchors(folder: Path, anchors: Iterable[tuple[int, str]]) -> None:
    """Index the anchor texts of pages, each given once: page number and text."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = open_index(anchor_schema(), str(folder)).writer(HEAP_BYTES, num_threads=1)
    for page, text in anchors:
        document = tantivy.Document()
        document.add_unsigned("page", page)
        document.add_text("anchor", searchable(text))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


class AnchorIndex:
    """The anchor texts of one generation of the graph."""

    def __init__(self, folder: Path) -> None:
        self._schema = anchor_schema()
        self._searcher = open_index(self._schema, str(folder)).searcher()

    def pages_called(self, query: Query) -> dict[int, float]:
        """Pages that others call by all the words of a query, with how well it fits."""
        words = [words_of(group[0].text) for group in query.groups if group[0].place is QueryField.ANYWHERE]
        if len(words) != len(query.groups) or not words or any(len(group) > 1 for group in query.groups):
            return {}
        if any(term.is_literal for group in query.groups for term in group):
            return {}
        called = (word for run in words for word in run)
        terms = [(MUST, tantivy.Query.term_query(self._schema, "anchor", word, "freq")) for word in called]
        if not terms:
            return {}
        hits = self._searcher.search(tantivy.Query.boolean_query(terms), MOST_PAGES, count=False).hits
        pages = self._searcher.fast_field_values("page", [address for _, address in hits])
        return {int(page or 0): score for page, (score, _) in zip(pages, hits, strict=True)}
