"""Which elements of a document belong to one entry?

The root element tells the format, and with it which elements are records. Of every record the elements
inside are kept in order; what they mean is decided elsewhere. Names are in lower case, without prefix where
they are of the root's own vocabulary, and begin with a colon where they are of another: `loc`, `:loc`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.sitemap.address import absolute
from evercrawl.core.sitemap.date import moment_of
from evercrawl.core.sitemap.xml import Refused
from evercrawl.model.sitemap import SitemapEntry, SitemapLimits, SitemapType

LONGEST_FIELD = 16 * 1024
"""Characters kept of one element's text."""
NAMES_REMEMBERED = 1024

_TYPES = {
    "urlset": SitemapType.URLSET,
    "sitemapindex": SitemapType.INDEX,
    "rss": SitemapType.RSS,
    "rdf": SitemapType.RSS,
    "feed": SitemapType.ATOM,
}
_RECORDS = {
    SitemapType.URLSET: frozenset({"url"}),
    SitemapType.INDEX: frozenset({"sitemap"}),
    SitemapType.RSS: frozenset({"item"}),
    SitemapType.ATOM: frozenset({"entry"}),
}
_FEED_DATES = {
    SitemapType.RSS: frozenset({"pubdate", "lastbuilddate", ":date"}),
    SitemapType.ATOM: frozenset({"updated", "modified"}),
}
_NONE: frozenset[str] = frozenset()


class Field(NamedTuple):
    """An element inside a record; the record's own children have the parent ""."""

    parent: str
    name: str
    attributes: dict[str, str]
    text: str


class Record(NamedTuple):
    """One entry as it stands in the document; the base is what its relative URLs are relative to."""

    base: str
    attributes: dict[str, str]
    fields: list[Field]
    text: str


Meaning = Callable[[Record], list[SitemapEntry]]


class _Open:
    """An element that has not ended yet."""

    __slots__ = ("attributes", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.text = ""


class Collector:
    """Takes a document's tags and gives its entries; never more, deeper or longer than the limits."""

    def __init__(self, url: str, meanings: dict[SitemapType, Meaning], *, limits: SitemapLimits) -> None:
        self.type = SitemapType.UNKNOWN
        self.root = ""
        self.entries: list[SitemapEntry] = []
        self.feed_lastmod: datetime | None = None
        self._base = url
        self._limits = limits
        self._meanings = meanings
        self._meaning: Meaning = meanings[SitemapType.EXTENDED]
        self._records = self._feed_dates = _NONE
        self._prefix = ""
        self._depth = 0
        self._room = limits.most_elements
        self._open: list[_Open] = []
        self._fields: list[Field] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._room -= 1
        if self._depth > self._limits.most_depth:
            raise Refused(f"elements are nested more than {self._limits.most_depth} deep")
        if self._room < 0:
            raise Refused(f"more than {self._limits.most_elements} elements")
        if not self.root:
            self._begin(name, attributes)
            return
        local = _local(name, self._prefix)
        if self._open or self._is_record(local):
            self._open.append(_Open(local, attributes))

    def _is_record(self, local: str) -> bool:
        if self._records:
            return local in self._records or local in self._feed_dates
        return self._depth == 2

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self.root = name
        self._prefix, _, local = name.rpartition(":")
        self.type = _TYPES.get(local.lower(), SitemapType.UNKNOWN)
        self._records = _RECORDS.get(self.type, _NONE)
        self._feed_dates = _FEED_DATES.get(self.type, _NONE)
        self._meaning = self._meanings.get(self.type, self._meaning)
        if local.lower() == "rdf":
            # Its items are of RSS, not of RDF, and have no prefix.
            self._prefix = ""
        self._base = _base_of(attributes, self._base)
        if local.lower() == "html":
            raise Refused("a web page, not a sitemap")

    def text(self, data: str) -> None:
        """Characters inside the innermost open element."""
        if self._open:
            element = self._open[-1]
            if len(element.text) < LONGEST_FIELD:
                element.text += data

    def end(self, _name: str) -> None:
        """The innermost open element ends."""
        self._depth -= 1
        if not self._open:
            return
        element = self._open.pop()
        if not self._open:
            self._end_record(element)
            return
        if len(self._fields) >= self._limits.most_fields:
            raise Refused(f"more than {self._limits.most_fields} elements in one entry")
        parent = self._open[-1].name if len(self._open) > 1 else ""
        self._fields.append(Field(parent, element.name, element.attributes, element.text))

    def _end_record(self, element: _Open) -> None:
        fields, self._fields = self._fields, []
        if element.name in self._feed_dates:
            self._see_feed_date(element.text)
            return
        record = Record(_base_of(element.attributes, self._base), element.attributes, fields, element.text)
        for entry in self._meaning(record):
            if len(self.entries) >= self._limits.most_entries:
                raise Refused(f"more than {self._limits.most_entries} entries; the rest was not read")
            self.entries.append(entry)

    def _see_feed_date(self, text: str) -> None:
        moment = moment_of(text)
        if moment is not None and (self.feed_lastmod is None or moment > self.feed_lastmod):
            self.feed_lastmod = moment

    def finish(self) -> str | None:
        """The document stops here: of a record that was cut, the elements that ended count. Gives back the
        limit that it went beyond.
        """
        if not self._open or self._open[0].name in self._feed_dates:
            return None
        record = self._open[0]
        self._open = []
        # Its own text may have been cut in the middle of a URL.
        record.text = ""
        try:
            self._end_record(record)
        except Refused as limit:
            return str(limit)
        return None


@lru_cache(maxsize=NAMES_REMEMBERED)
def _local(name: str, own_prefix: str) -> str:
    prefix, colon, local = name.rpartition(":")
    return local.lower() if not colon or prefix == own_prefix else ":" + local.lower()


def _base_of(attributes: dict[str, str], base: str) -> str:
    written = attributes.get("xml:base")
    return base if not written else absolute(written, base) or base
