"""What does a site say about its own pages? Sitemaps of all formats and feeds: read, followed and written."""

from __future__ import annotations

from evercrawl.core.sitemap.address import is_in_scope
from evercrawl.core.sitemap.discovery import (
    News,
    Notice,
    SitemapWalk,
    Source,
    SourceKind,
    extended_url,
    found_kind,
    is_settled,
    news,
    sources_of,
)
from evercrawl.core.sitemap.read import read_sitemap
from evercrawl.core.sitemap.write import SitemapFile, extended_files, extended_sitemap, gzipped, sitemap_files

__all__ = [
    "News",
    "Notice",
    "SitemapFile",
    "SitemapWalk",
    "Source",
    "SourceKind",
    "extended_files",
    "extended_sitemap",
    "extended_url",
    "found_kind",
    "gzipped",
    "is_in_scope",
    "is_settled",
    "news",
    "read_sitemap",
    "sitemap_files",
    "sources_of",
]
