"""What else could be asked: how the hits of a query are spread over sites, languages, times and types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.core.moment import to_us
from evercrawl.model.search import FacetValue

MOST_VALUES = 10
"""Of one facet; the most frequent."""
SPANS = ("1d", "7d", "30d", "365d")
"""Of `changed:>`; each holds those before it."""
KINDS = ("html", "pdf", "feed", "text", "image", "other")
_KIND_OF = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/feed+json": "feed",
}


class FacetRow(NamedTuple):
    """What is counted of one hit."""

    url: str
    lang: str | None
    seen_us: int
    content_type: str | None


def kind_of(content_type: str | None) -> str:
    """The word that `type:` has for a media type; a page that names none is HTML."""
    name = (content_type or "text/html").partition(";")[0].strip().lower()
    if name in _KIND_OF:
        return _KIND_OF[name]
    main = name.partition("/")[0]
    return main if main in ("text", "image") else "other"


def host_of(url: str) -> str:
    """The host, as `site:` names it."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()


def sites_in(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Hosts, the most frequent first."""
    return _most_frequent(host_of(row.url) for row in rows)


def languages_in(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Languages, the most frequent first."""
    return _most_frequent(row.lang for row in rows if row.lang)


def kinds_in(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Types, the most frequent first."""
    return _most_frequent(kind_of(row.content_type) for row in rows)


def changed_in(rows: Sequence[FacetRow], *, now: datetime) -> tuple[FacetValue, ...]:
    """How many were first seen within each span before a moment; spans that hold nothing are left out."""
    counted = []
    for span in SPANS:
        since_us = to_us(now - timedelta(days=int(span[:-1])))
        count = sum(row.seen_us >= since_us for row in rows)
        if count:
            counted.append(FacetValue(span, count))
    return tuple(counted)


def _most_frequent(values: Iterable[str]) -> tuple[FacetValue, ...]:
    counted = sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(FacetValue(*pair) for pair in counted[:MOST_VALUES])
