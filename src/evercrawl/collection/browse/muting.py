"""Muting parts of pages: checked words from people, written into the state of the inbox."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from evercrawl.collection.browse.inbox import Inbox
from evercrawl.collection.browse.sites import origin_in
from evercrawl.core.change.review import problem_with
from evercrawl.core.url import canonical
from evercrawl.errors import ConfigError
from evercrawl.model.history import Mute
from evercrawl.model.time import to_us


def mute_part(
    collection: Path, pattern: str, *, site: str | None = None, page: str | None = None, who: str, now: datetime
) -> Mute:
    """Tell nobody any more of edits of this form, on one page or on all of a site; versions are kept."""
    form = " ".join(pattern.split())
    wrong = problem_with(form)
    if wrong is not None:
        raise ConfigError(wrong)
    return Inbox(collection).mute(_place(collection, site, page), form, who=who, now_us=to_us(now))


def _place(collection: Path, site: str | None, page: str | None) -> str:
    if (site is None) == (page is None):
        raise ConfigError("say where the part is: on a site or on a page")
    if site is not None:
        return origin_in(collection, site)
    url = canonical(page or "")
    if url is None:
        raise ConfigError(f"{page!r} is not a URL; write it like https://example.org/news")
    return url
