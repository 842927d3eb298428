"""Which links should be corrected? Dead ones, and those to pages that have moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.sqlite.log import GONE, log_reader, shards_of
from evercrawl.collection.linkgraph.build import HASH_BYTES, url_hash
from evercrawl.core.url import canonical_of_href, site_of
from evercrawl.model.document import Link
from evercrawl.model.links import BadLink, LinkTrouble
from evercrawl.model.reason import Reason

MOST_HOPS = 10
DEAD = GONE | {
    Reason.DNS.value, Reason.CONNECT.value, Reason.TLS.value, Reason.TIMEOUT.value, Reason.RESET.value,
    Reason.EMPTY_REPLY.value, Reason.BAD_HTTP.value, Reason.HTTP_ERROR.value, Reason.SERVER_ERROR.value,
    Reason.BAD_REDIRECT.value,
}  # fmt: skip
"""Ends of a visit after which a reader who follows the link finds nothing."""


class _Target(NamedTuple):
    """What became of a page that links lead to, where that is worth a word."""

    reason: str
    status: int | None
    moved_to: str | None


def bad_links(collection: Path, site: str | None = None) -> Iterator[BadLink]:
    """Every link of the newest pages that leads nowhere or elsewhere, page by page."""
    troubled = _troubled(collection)
    if not troubled:
        return
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            for page_id, outline in reader.outlines():
                bad = [found for link in outline.links if (found := _judged(link, troubled)) is not None]
                url = reader.urls([page_id]).get(page_id, "") if bad else ""
                if bad and (site is None or site.rstrip("/") in (site_of(url), site_of(url).partition("://")[2])):
                    yield from (_placed(found, url) for found in bad)


def _troubled(collection: Path) -> dict[int, _Target]:
    """Pages that failed or moved, by the hash of their URL; few, compared with all."""
    troubled: dict[int, _Target] = {}
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            for page in reader.graph_pages():
                reason = page.reason or ""
                if reason in DEAD or page.moved_to or reason == Reason.REDIRECT_LOOP.value:
                    key = int.from_bytes(page.key[-HASH_BYTES:], "big")
                    troubled[key] = _Target(reason, page.status, page.moved_to)
    return troubled


def _judged(link: Link, troubled: dict[int, _Target]) -> BadLink | None:
    """The trouble with a link, without the page that it stands on; None: it is good, or was not visited."""
    name = canonical_of_href(link.url)
    target = troubled.get(url_hash(name)) if name is not None else None
    if name is None or target is None:
        return None
    chain, end = _followed(name, target, troubled)
    trouble = _trouble(chain, end, name)
    return BadLink("", link.url, link.text, trouble, end.status, end.reason, chain)


def _followed(name: str, target: _Target, troubled: dict[int, _Target]) -> tuple[tuple[str, ...], _Target]:
    chain: list[str] = []
    while target.moved_to is not None and len(chain) < MOST_HOPS:
        chain.append(target.moved_to)
        after = troubled.get(url_hash(target.moved_to))
        if after is None or target.moved_to == name:
            break
        target = after
    return tuple(chain), target


def _trouble(chain: tuple[str, ...], end: _Target, name: str) -> LinkTrouble:
    is_loop = end.reason == Reason.REDIRECT_LOOP.value or name in chain or len(set(chain)) < len(chain)
    if is_loop or len(chain) >= MOST_HOPS:
        return LinkTrouble.LOOP
    if end.reason in DEAD:
        return LinkTrouble.DEAD
    return LinkTrouble.CHAIN if len(chain) > 1 else LinkTrouble.REDIRECT


def _placed(found: BadLink, url: str) -> BadLink:
    return BadLink(url, found.target, found.text, found.trouble, found.status, found.reason, found.chain)
