"""What does a sitemap without markup say? One URL a line, or paper C's three fields as a table."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import islice

from evercrawl.core.sitemap.address import absolute, is_absolute
from evercrawl.core.sitemap.entry import EXTENDED_FIELDS, extended_entry
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapLimits, SitemapType

LEAST_SHARE_OF_URLS = 0.5
"""Of the lines; below it, a text is prose that names a few addresses."""
LONGEST_HEADING = 1000
LONGEST_ROW = 100_000
SEPARATORS = "\t|;,"

_LINE = re.compile(rb"[^\r\n]+")


def read_plain(document: bytes, url: str, *, limits: SitemapLimits) -> Sitemap:
    """The pages that a text in UTF-8 lists."""
    lines = list(islice(_lines(document), limits.most_entries + 1))
    error = None
    if len(lines) > limits.most_entries:
        error = f"more than {limits.most_entries} lines; the rest was not read"
        lines.pop()
    separator = _separator_of(lines[0]) if lines else None
    if separator is not None:
        return _table(lines, separator, url, error)
    return _list(lines, url, error)


def _lines(document: bytes) -> Iterator[str]:
    for found in _LINE.finditer(document):
        line = found[0].decode("utf-8", "replace").strip()
        if line and not line.startswith("#"):
            yield line


def _list(lines: list[str], url: str, error: str | None) -> Sitemap:
    written = [line.split(None, 1)[0] for line in lines if is_absolute(line)]
    if not written or len(written) < LEAST_SHARE_OF_URLS * len(lines):
        return Sitemap(SitemapType.UNKNOWN, error="neither markup nor a list of URLs")
    found = (absolute(line, url) for line in written)
    return Sitemap(SitemapType.TEXT, tuple(SitemapEntry(page) for page in found if page is not None), error)


def _separator_of(heading: str) -> str | None:
    """What separates the fields, where the first line names those of an extended sitemap."""
    if len(heading) > LONGEST_HEADING:
        return None
    for separator in SEPARATORS:
        names = set(_names(heading, separator))
        if "url" in names and names & EXTENDED_FIELDS:
            return separator
    return None


def _names(heading: str, separator: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in heading.split(separator)]


def _table(lines: list[str], separator: str, url: str, error: str | None) -> Sitemap:
    names, entries = _names(lines[0], separator), []
    sound = [line for line in lines[1:] if len(line) <= LONGEST_ROW]
    if len(sound) < len(lines) - 1:
        error = f"the table is damaged: a row is longer than {LONGEST_ROW} characters"
    rows = csv.reader(sound, delimiter=separator, skipinitialspace=True)
    try:
        for row in rows:
            entry = extended_entry(dict(zip(names, row, strict=False)), url)
            if entry is not None:
                entries.append(entry)
    except csv.Error as damage:
        error = f"the table is damaged: {damage}"
    return Sitemap(SitemapType.EXTENDED, tuple(entries), error)
