"""A topic given by example pages alone or by a few words. It is learned while crawling, by `FeedbackFrontier`."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from evercrawl.core.focus.classifier import FeatureShares
from evercrawl.core.focus.page_features import Blocks, page_blocks, words_of
from evercrawl.model.document import Document

HEADER = b"sketch 1\n"
MAX_PAGES = 200  # Examples that are used.
QUERY_BLOCKS = ("text", "title", "url", "inlinks")


class SketchPage(NamedTuple):
    """The features of an example page, or of a page made of a query's words (without a URL)."""

    url: str
    blocks: Blocks


@dataclass(frozen=True, slots=True)
class TopicSketch:
    """What is known of a topic before the crawl; at least one page."""

    pages: tuple[SketchPage, ...]
    background: FeatureShares  # The share of pages in general that have each feature, by block.

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        return HEADER + zlib.compress(json.dumps([self.pages, self.background], separators=(",", ":")).encode())

    @classmethod
    def from_bytes(cls, stored: bytes) -> TopicSketch:
        """Read the stored form; raises ValueError for anything else."""
        try:
            pages, background = json.loads(zlib.decompress(stored.removeprefix(HEADER)))
            found = [
                SketchPage(url, {name: Counter(counts) for name, counts in blocks.items()}) for url, blocks in pages
            ]
            return cls(tuple(found), background)
        except (zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a stored focus") from error


def is_sketch(stored: bytes) -> bool:
    """Check whether the stored form is of a sketch, and not of a topic that was learned beforehand."""
    return stored.startswith(HEADER)


def sketch_from_words(query: str, *, background: FeatureShares) -> TopicSketch:
    """Return the topic of a query; raises ValueError if it has no words."""
    words = Counter(words_of(query))
    if not words:
        raise ValueError("a query needs at least one word")
    return TopicSketch((SketchPage("", dict.fromkeys(QUERY_BLOCKS, words)),), background)


def sketch_from_pages(pages: Iterable[tuple[str, Document]], *, background: FeatureShares) -> TopicSketch:
    """Return the topic of example pages; raises ValueError if none has words."""
    found = [SketchPage(url, page_blocks(url, document)) for url, document in islice(pages, MAX_PAGES)]
    found = [page for page in found if page.blocks["text"] or page.blocks["title"]]
    if not found:
        raise ValueError("the example has no text")
    return TopicSketch(tuple(found), background)
