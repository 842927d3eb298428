"""Read and write llms.txt (llmstxt.org): a Markdown file that names the pages of a site that matter to readers who are
language models. To a crawl it is a short sitemap: its links are near, but they go nowhere that the scope does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evercrawl.core.sitemap.sitemap_values import absolute_url
from evercrawl.core.url import site_of
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapLimits, SitemapPage, SitemapType

LLMS_PATH = "/llms.txt"
MAX_TITLE_CHARS = 200
MAX_LISTED = 500  # Links of a written file. Readers have little room; the sitemap has the rest.
MAX_SECTIONS = 30
_LINK = re.compile(r"\[([^\[\]\n]{0,300})\]\([ \t]{0,9}<?([^\s()<>]{1,2048})")
_BARE = re.compile(r"[ \t]{0,9}[-*+][ \t]{1,9}<?(https?://[^\s<>()]{1,2048})")
_MARKUP = re.compile(r"[\[\]<>\\`*_]")


def is_llms_txt(url: str) -> bool:
    """Return whether a URL names an llms.txt."""
    return url.partition("#")[0].partition("?")[0].endswith(LLMS_PATH)


def read_llms_txt(document: bytes, url: str, *, limits: SitemapLimits) -> Sitemap:
    """Read the links of a file in UTF-8, each once, with their texts."""
    found: dict[str, str] = {}
    for line in document.decode("utf-8", "replace").splitlines():
        links = _LINK.findall(line) or [("", target) for target in _BARE.findall(line)]
        for text, target in links:
            page = absolute_url(target, url)
            if page is not None and len(found) < limits.max_entries:
                found.setdefault(page, " ".join(text.split())[:MAX_TITLE_CHARS])
    entries = tuple(SitemapEntry(page, text=text or None) for page, text in found.items())
    return Sitemap(SitemapType.TEXT, entries, None if entries else "no links")


def write_llms_txt(pages: Sequence[SitemapPage], base_url: str) -> bytes:
    """Return the file for the pages of a site: a section per folder, the pages nearest to the root first."""
    nearest = sorted(pages, key=lambda page: (_below(page.url, base_url).count("/"), page.url))[:MAX_LISTED]
    title = next((page.anchor_text for page in pages if page.url == base_url and page.anchor_text), "")
    sections: dict[str, list[str]] = {}
    for page in nearest:
        folder, slash, _ = _below(page.url, base_url).partition("/")
        name = _plain(folder) if slash and (folder in sections or len(sections) < MAX_SECTIONS) else ""
        sections.setdefault(name or "Pages", []).append(_line(page.url, page.anchor_text))
    lines = [f"# {_plain(title) or site_of(base_url).partition('//')[2]}", ""]
    for name, entries in sections.items():
        lines += [f"## {name}", "", *entries, ""]
    if len(nearest) < len(pages):
        lines += ["## Optional", "", _line(f"{base_url}sitemap.xml", f"Sitemap of all {len(pages):,} pages"), ""]
    return "\n".join(lines).encode()


def _below(url: str, base_url: str) -> str:
    return url.removeprefix(base_url).partition("?")[0]


def _line(url: str, title: str) -> str:
    return f"- [{_plain(title) or url}]({_escaped(url)})"


def _plain(text: str) -> str:
    """Return a title without characters that Markdown gives a meaning."""
    return " ".join(_MARKUP.sub(" ", text).split())[:MAX_TITLE_CHARS]


def _escaped(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29")


def named_in(urls: Iterable[str]) -> list[str]:
    """Return those of some URLs that name an llms.txt."""
    return [url for url in urls if url.endswith(LLMS_PATH)]
