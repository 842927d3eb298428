"""What is asked of a collection's texts, and what is found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Tone(StrEnum):
    """What `sentiment:` may ask for."""

    POSITIVE = "pos"
    NEGATIVE = "neg"
    NEUTRAL = "neutral"


class QueryField(StrEnum):
    """Where a word must stand."""

    ANYWHERE = "anywhere"
    TITLE = "title"
    URL = "url"


class Term(NamedTuple):
    """A word, found in all its forms, or a phrase, found as it is written."""

    text: str
    is_literal: bool = False
    place: QueryField = QueryField.ANYWHERE


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query; every group must be met, by any of its terms."""

    groups: tuple[tuple[Term, ...], ...] = ()
    without: tuple[Term, ...] = ()
    sites: tuple[str, ...] = ()
    """Hosts, domains or folders of them; one of these."""
    not_sites: tuple[str, ...] = ()
    langs: tuple[str, ...] = ()
    changed_from: datetime | None = None
    changed_until: datetime | None = None
    tone: Tone | None = None
    as_of: datetime | None = None
    kinds: tuple[str, ...] = ()
    """Types as `type:` names them; one of these."""


class Span(NamedTuple):
    """A piece of a snippet; `is_hit`: it is what was asked for."""

    text: str
    is_hit: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A version that was found."""

    rank: int
    url: str
    title: str | None
    snippet: tuple[Span, ...]
    score: float
    version: int
    fetched_at: datetime
    lang: str | None = None
    is_gone: bool = False
    """The page was not there any more at its last visit."""
    near_duplicates: int = 0
    """Near-duplicates of it that are not listed."""
    sentiment: float | None = None
    """Only where the query asks for it."""
    source: str | None = None
    """The collection, in a search over several."""

    @property
    def snippet_text(self) -> str:
        """The snippet without marks."""
        return "".join(span.text for span in self.snippet)


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value that hits have, and how many of them."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Facets:
    """How the best hits are spread; each value can be asked for."""

    sites: tuple[FacetValue, ...] = ()
    langs: tuple[FacetValue, ...] = ()
    changed: tuple[FacetValue, ...] = ()
    kinds: tuple[FacetValue, ...] = ()
    tones: tuple[FacetValue, ...] = ()
    counted: int = 0
    """Hits that were counted: all, or the best of very many."""
    judged: int = 0
    """Hits whose sentiment was counted."""


class SourceError(NamedTuple):
    """A collection that gave no answer, and why."""

    source: str
    problem: str


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The answer to a query."""

    hits: tuple[Hit, ...] = ()
    total: int = 0
    """Versions that match, near-duplicates included."""
    took_ms: float = 0.0
    is_partial: bool = False
    """No page has all the words; these have most of them."""
    lag: int = 0
    """Visits that are stored and not indexed yet; negative: some, but nobody knows how many."""
    source_errors: tuple[SourceError, ...] = ()
    facets: Facets | None = None
    """Only where they were asked for."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """How the index stands to the collection."""

    documents: int
    versions: int
    """That the collection holds."""
    lag: int
    bytes: int
