"""From what the user names to a focus: a file of examples, the URL of an example, or words."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from evercrawl.adapters.focus_file import focus_of_file, focus_of_page, save_focus
from evercrawl.cluster.build import build_crawl, pace_for
from evercrawl.collection.past.show import page_view
from evercrawl.core.focus.focus import Focus
from evercrawl.core.focus.query import focus_of_query
from evercrawl.errors import ConfigError
from evercrawl.model.settings import Settings

NONE = "none"
"""The word that takes the focus away."""


async def set_focus(collection: Path, settings: Settings, named: str) -> None:
    """Give the collection the focus that is named; ConfigError where it cannot be learned."""
    if named == NONE:
        save_focus(collection, None)
    elif named.startswith(("http://", "https://")):
        save_focus(collection, focus_of_page(named, await _fetched(named, settings)))
    elif Path(named).is_file():
        save_focus(collection, focus_of_file(Path(named)))
    else:
        save_focus(collection, _of_words(named))


def _of_words(named: str) -> Focus:
    if "/" in named or named.endswith((".jsonl", ".json")):
        raise ConfigError(f"--focus {named!r}: there is no such file; it may also be a URL or words")
    try:
        return focus_of_query(named)
    except ValueError as error:
        raise ConfigError(f"--focus {named!r}: {error}") from error


async def _fetched(url: str, settings: Settings) -> str:
    """The page, asked for by the same polite means as every other: robots.txt first, then the gap."""
    only_this = replace(
        settings,
        scope=replace(settings.scope, seeds=(url,), kind="list", depth=0),
        crawl=replace(settings.crawl, max_pages=None, workers=1),
        signals=replace(settings.signals, enabled=False),
    )
    with TemporaryDirectory(prefix="evercrawl-focus-") as folder:
        crawl = build_crawl(Path(folder), only_this)
        async with crawl:
            await crawl.begin()
            await crawl.run()
        try:
            page = page_view(Path(folder), only_this, url)
        except ConfigError as error:
            cause = crawl.tally.first_error or "robots.txt or the server refused it"
            raise ConfigError(f"--focus {url}: the example could not be fetched: {cause}") from error
    # The crawl that follows does not know that its site was asked just now.
    await asyncio.sleep(pace_for(settings).floor.total_seconds())
    return page.html.decode("utf-8", "replace")
