"""From nodes of the graph to pages of the store and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from evercrawl.adapters.graph_files import GraphFiles
from evercrawl.adapters.sqlite.log import log_reader, shards_of
from evercrawl.adapters.tantivy.writing import page_number, place_of
from evercrawl.core.url import canonical, key_of, shard_of_site, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.links import RankedPage
from evercrawl.model.settings import Settings

URLS_AT_A_TIME = 1000


def urls_of(collection: Path, pages: Iterable[int]) -> dict[int, str]:
    """The URLs of pages by their numbers."""
    of_shard: dict[int, list[int]] = {}
    for page in pages:
        shard, page_id = place_of(int(page))
        of_shard.setdefault(shard, []).append(page_id)
    found: dict[int, str] = {}
    for shard, ids in of_shard.items():
        with log_reader(collection, shard) as reader:
            for portion in _portions(ids):
                found |= {page_number(shard, key): url for key, url in reader.urls(portion).items()}
    return found


def _portions(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(ids), URLS_AT_A_TIME):
        yield ids[at : at + URLS_AT_A_TIME]


def page_at(collection: Path, settings: Settings, url: str) -> tuple[int, str]:
    """Number and canonical URL of a known page; ConfigError where it is not known."""
    name = canonical(url)
    if name is None:
        raise ConfigError(f"{url!r} is not a URL that can name a page; write it like https://example.org/")
    shard = shard_of_site(site_of(name), settings.store.shards)
    if shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            page = reader.page(key_of(name))
            if page is not None:
                return page_number(shard, page.id), name
    raise ConfigError(f"{name} is not a page of this collection; ask why with: evercrawl why {name}")


def best_pages(collection: Path, graph: GraphFiles, scores: str, most: int) -> list[RankedPage]:
    """The pages with the highest scores of one array."""
    values = graph.array(scores)
    places = np.argsort(-values, kind="stable")[:most]
    urls = urls_of(collection, graph.pages[places].tolist())
    return [
        RankedPage(urls[int(graph.pages[place])], float(values[place]))
        for place in places.tolist()
        if int(graph.pages[place]) in urls
    ]
