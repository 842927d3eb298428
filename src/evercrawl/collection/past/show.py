"""One version of a page, read back from the archive."""

from __future__ import annotations

from pathlib import Path

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.collection.past.stored import document_of, present, read_back, split_moment, stored_page
from evercrawl.model.report import PageContent
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us


def page_view(collection: Path, settings: Settings, url: str, at: str | None = None) -> PageContent:
    """The version that `at` (or the `@...` behind the URL) names; the newest where neither does."""
    if at is None:
        url, at = split_moment(collection, settings, url)
    stored = stored_page(collection, settings, url)
    kept = stored.chosen(at, now=present())
    back = read_back(collection, settings, stored.shard, kept)
    with StateReader(collection).shard(stored.shard) as state:
        text = state.text(stored.page.id, kept.version.number)
    name = stored.page.url
    document = document_of(name, back.headers, back.body, settings)
    return PageContent(
        url=name,
        status=kept.status or 200,
        fetched_at=from_us(kept.seen_us),
        version=kept.version.number,
        title=document.title,
        author=document.author,
        published=document.published,
        modified=document.modified,
        content_type=kept.version.content_type,
        headers=back.headers,
        text=document.text if text is None else text,
        html=back.body,
        links=document.links,
        raw=back.head + back.wire_body,
        analysis=stored.analyses.get(kept.version.number, {}),
    )
