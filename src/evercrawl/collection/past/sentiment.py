"""How friendly pages and sites are, and how that changed, as it was said when each version was new."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.collection.past.stored import page_name, stored_page
from evercrawl.core.sentiment.sentences import Sentiment, site_sentiment
from evercrawl.core.url import shard_of_site, site_of
from evercrawl.model.history import PageSentiment, SiteSentiment, VersionSentiment
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us

CLEARLY = 0.05
"""A page with a smaller mean is neither positive nor negative: most sentences are plain facts."""


def page_mood(collection: Path, settings: Settings, url: str) -> PageSentiment:
    """The score of each version of a page that has one, oldest first, and the mean of its site."""
    stored = stored_page(collection, settings, url)
    then = [
        VersionSentiment(kept.version.number, from_us(kept.seen_us), said["sentiment"], said["sentiment_sentences"])
        for kept in stored.versions
        if "sentiment" in (said := stored.analyses.get(kept.version.number, {}))
    ]
    return PageSentiment(stored.page.url, tuple(then), site_mood(collection, settings, stored.page.url))


def site_mood(collection: Path, settings: Settings, url: str) -> SiteSentiment:
    """The mean over the newest versions of the pages of a URL's site."""
    site = site_of(page_name(url))
    pages = [
        Sentiment(said["sentiment"], said["sentiment_sentences"], 0, 0)
        for _, said in _said_about(collection, settings, site)
        if "sentiment" in said
    ]
    whole = site_sentiment(pages)
    return SiteSentiment(site, None if whole is None else round(whole.score, 4), len(pages))


def _said_about(collection: Path, settings: Settings, site: str) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = StateReader(collection)
    shard = shard_of_site(site, settings.store.shards)
    if shard in reader.shards():
        with reader.shard(shard) as state:
            yield from state.analyses_of_site(site)


def mood_label(score: float | None) -> str | None:
    """pos, neg or neutral, as a search for `sentiment:neg` means it; None: there is no score."""
    if score is None:
        return None
    return "pos" if score >= CLEARLY else "neg" if score <= -CLEARLY else "neutral"
