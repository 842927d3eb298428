"""The sites of a collection, and the pages of one."""

from __future__ import annotations

from heapq import nlargest
from pathlib import Path

from evercrawl.adapters.sqlite.browse import browsing, browsing_all, shards_of
from evercrawl.collection.browse.place import key_in, number_in, place_of, place_word
from evercrawl.config import read_settings
from evercrawl.core.url import canonical, shard_of_site, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.listing import PageRow, Portion, SiteRow
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site


def sites_listed(collection: Path, *, after: str | None = None, most: int = 50) -> Portion[SiteRow]:
    """The next sites, shard by shard in the order in which they were met."""
    first, inside = place_of(after)
    rows: list[SiteRow] = []
    for shard in shards_of(collection):
        if shard < first:
            continue
        with browsing(collection, shard) as reader:
            behind = number_in(inside) if shard == first else 0
            rows += (found := reader.site_portion(behind, most - len(rows) + 1))
        if len(rows) > most:
            return Portion(tuple(rows[:most]), place_word(shard, found[-2].id if len(found) > 1 else behind))
    return Portion(tuple(rows), None)


def largest_sites(collection: Path, most: int) -> list[SiteRow]:
    """The sites with most pages."""
    found = (site for _, reader in browsing_all(collection) for site in reader.largest_sites(most))
    return nlargest(most, found, key=lambda site: site.pages)


def busiest_sites(collection: Path, most: int) -> list[SiteRow]:
    """The sites with most pages in the queue."""
    found = (site for _, reader in browsing_all(collection) for site in reader.busiest_sites(most))
    return nlargest(most, found, key=lambda site: site.pending)


def site_record(collection: Path, settings: Settings, name: str) -> tuple[int, Site] | None:
    """Shard and record of a site, by origin or host; None: the collection does not know it."""
    for origin in _origins(name):
        shard = shard_of_site(origin, settings.store.shards)
        if shard in shards_of(collection):
            with browsing(collection, shard) as reader:
                site = reader.site_named(origin)
            if site is not None:
                return shard, site
    return None


def origin_in(collection: Path, name: str) -> str:
    """The origin that a text names: of a bare host the one that the collection knows, otherwise https."""
    known = site_record(collection, read_settings(collection).settings, name)
    return _origins(name)[0] if known is None else known[1].name


def _origins(name: str) -> list[str]:
    """What a text may mean, the likeliest first; ConfigError where it names no site."""
    texts = [name] if "://" in name else [f"https://{name}", f"http://{name}"]
    pages = [page for text in texts if (page := canonical(text)) is not None]
    if not pages:
        raise ConfigError(f"{name!r} names no site; write it like https://example.org")
    return [site_of(page) for page in pages]


def pages_of_site(
    collection: Path, shard: int, site: Site, *, after: str | None = None, most: int = 50
) -> Portion[PageRow]:
    """The next pages of a site; pages of one folder stand together."""
    _, inside = place_of(after)
    with browsing(collection, shard) as reader:
        rows = reader.site_pages(site.name, site.id, after=key_in(inside), most=most + 1)
    more = place_word(shard, rows[most - 1].key) if len(rows) > most else None
    return Portion(tuple(rows[:most]), more)
