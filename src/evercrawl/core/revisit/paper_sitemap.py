"""Paper C, sections 4 and 7 (C3, C6): which pages does an extended sitemap tell us to download?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class SitemapRow(NamedTuple):
    """One row of the extended sitemap."""

    anchor_text: str
    url: str
    last_updated_ms: int


def to_download(rows: Iterable[SitemapRow], last_visited_ms: Mapping[str, int]) -> list[str]:
    """URLs never visited, or updated after their last visit, in the sitemap's order."""
    return [row.url for row in rows if row.url not in last_visited_ms or row.last_updated_ms > last_visited_ms[row.url]]
