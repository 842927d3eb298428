"""Search queries and results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Tone(StrEnum):
    """The values of `sentiment:`."""

    POSITIVE = "pos"
    NEGATIVE = "neg"
    NEUTRAL = "neutral"


class QueryField(StrEnum):
    """The field in which a word must occur."""

    ANYWHERE = "anywhere"
    TITLE = "title"
    URL = "url"


class Term(NamedTuple):
    """A word, matched in all its forms, or a phrase, matched literally."""

    text: str
    is_literal: bool = False
    place: QueryField = QueryField.ANYWHERE


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query; of every group, one term must match."""

    groups: tuple[tuple[Term, ...], ...] = ()
    without: tuple[Term, ...] = ()
    sites: tuple[str, ...] = ()  # Hosts, domains or folders; one must match.
    not_sites: tuple[str, ...] = ()
    langs: tuple[str, ...] = ()
    changed_from: datetime | None = None
    changed_until: datetime | None = None
    tone: Tone | None = None
    as_of: datetime | None = None
    kinds: tuple[str, ...] = ()  # Values of `type:`; one must match.
    values: tuple[str, ...] = ()  # Conditions of `field:`; all must be true.


class Span(NamedTuple):
    """A part of a snippet; `is_hit` marks a match."""

    text: str
    is_hit: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching version."""

    rank: int
    url: str
    title: str | None
    snippet: tuple[Span, ...]
    score: float
    version: int
    fetched_at: datetime
    lang: str | None = None
    is_gone: bool = False  # The page was gone at its last visit.
    near_duplicates: int = 0  # Number of near-duplicates that are not listed.
    sentiment: float | None = None  # Only if the query asks for it.
    source: str | None = None  # The collection, in a search over several.

    @property
    def snippet_text(self) -> str:
        """Return the snippet without marks."""
        return "".join(span.text for span in self.snippet)


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value and the number of hits with it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts of the values among the best hits; each value can be used as a filter."""

    sites: tuple[FacetValue, ...] = ()
    langs: tuple[FacetValue, ...] = ()
    changed: tuple[FacetValue, ...] = ()
    kinds: tuple[FacetValue, ...] = ()
    tones: tuple[FacetValue, ...] = ()
    counted: int = 0  # Number of hits counted: all, or the best of many.
    judged: int = 0  # Number of hits whose sentiment was judged.


class SourceError(NamedTuple):
    """A collection that did not answer, and why."""

    source: str
    problem: str


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of a query."""

    hits: tuple[Hit, ...] = ()
    total: int = 0  # Number of matching versions, including near-duplicates.
    took_ms: float = 0.0
    is_partial: bool = False  # No page has all the words; the hits have most of them.
    lag: int = 0  # Visits that are not indexed yet; negative: unknown number.
    source_errors: tuple[SourceError, ...] = ()
    facets: Facets | None = None  # Only if requested.


@dataclass(frozen=True, slots=True)
class IndexState:
    """The size of the index and its lag."""

    documents: int
    versions: int  # Versions in the collection.
    lag: int
    bytes: int
