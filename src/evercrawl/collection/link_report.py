"""Links of a page, broken links, orphans, top pages and figures of the link graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.graph_files import (
    HASH_BYTES,
    LinkGraphFiles,
    current_graph,
    has_graph_support,
    load_numpy,
    url_hash,
)
from evercrawl.adapters.sql.log_reader import log_reader
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.tantivy.text_index import page_number, split_page_number
from evercrawl.core.credit.ledger import MICROS, CreditLedger
from evercrawl.core.url import canonical, canonical_of_href, key_of, shard_of_site, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.document import Link
from evercrawl.model.listing import (
    BadLink,
    CreditReport,
    GraphSummary,
    LinkEnd,
    LinkProblem,
    PageBalance,
    PageLinks,
    RankedPage,
)
from evercrawl.model.reason import GONE_REASONS, Reason
from evercrawl.model.settings import Settings

UNREACHED = -1  # As in `core/linkgraph`, which needs an extra.
MAX_INCOMING = 1000  # Incoming links listed; all are counted.


def page_links(collection: Path, settings: Settings, url: str, *, rebuild: bool = True) -> PageLinks:
    """Return the links to and from a page and its importance; `rebuild` updates an outdated graph first."""
    page, name = page_at(collection, settings, url)
    graph = fresh_graph(collection) if rebuild and has_graph_support() else current_graph(collection)
    shard, page_id = split_page_number(page)
    with log_reader(collection, shard) as reader:
        outline, held = reader.outline(page_id), reader.credit(key_of(name))
    outgoing = tuple(map(_end, outline.links)) if outline is not None else ()
    credit = None if held is None else round(held.credit, 3)
    node = graph.node_of(page) if graph is not None else None
    if graph is None or node is None:
        return PageLinks(name, outgoing=outgoing, credit=credit)
    sources = _sources(graph, node)
    depth = int(graph.array("depths")[node])
    return PageLinks(
        url=name,
        incoming=tuple(_incoming(collection, graph, sources[:MAX_INCOMING], name)),
        outgoing=outgoing,
        pagerank=float(graph.ranks[node]),
        times_average=float(graph.ranks[node]) * len(graph.pages),
        hub=float(graph.array("hubs")[node]),
        authority=float(graph.array("authorities")[node]),
        clicks=None if depth == UNREACHED else depth,
        credit=credit,
        incoming_count=len(sources),
    )


def credit_report(collection: Path, settings: Settings, *, limit: int = 20) -> CreditReport:
    """Return the credit of the collection, Lambda's included, and the pages with the most."""
    ledgers: list[CreditLedger] = []
    richest: list[PageBalance] = []
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            ledgers.append(reader.credit_ledger())
            richest += reader.richest_pages(limit)
    pages = sum(ledger.pages for ledger in ledgers)
    paid = sum(ledger.dividend * ledger.pages for ledger in ledgers)
    return CreditReport(
        settings.credit.order,
        sum(ledger.minted for ledger in ledgers) / MICROS,
        sum(ledger.lambda_page for ledger in ledgers) / MICROS,
        sum(ledger.held for ledger in ledgers) / MICROS,
        sum(ledger.sent - ledger.received for ledger in ledgers) / MICROS,
        pages,
        paid / pages / MICROS if pages else 0.0,
        max((ledger.generation for ledger in ledgers), default=0),
        tuple(sorted(richest, key=lambda page: -page.credit)[:limit]),
    )


def page_balance(collection: Path, settings: Settings, url: str) -> PageBalance:
    """Return the credit of a page; raise ConfigError if it is unknown."""
    page, name = page_at(collection, settings, url)
    with log_reader(collection, split_page_number(page)[0]) as reader:
        held, known = reader.credit(key_of(name)), reader.page(key_of(name))
    assert held is not None
    assert known is not None
    return PageBalance(name, *held, known.visits, known.is_queued)


def _end(link: Link) -> LinkEnd:
    return LinkEnd(link.url, link.text, link.nofollow)


def fresh_graph(collection: Path) -> LinkGraphFiles:
    """Return the current graph; build it if it is missing or outdated. It needs the extra `graph`."""
    load_numpy()
    from evercrawl.collection.graph_builder import up_to_date_graph

    return up_to_date_graph(collection)


def _sources(graph: LinkGraphFiles, node: int) -> list[int]:
    """Return the nodes that link to a node, most important first."""
    np = load_numpy()
    places = np.flatnonzero(graph.array("targets") == node)
    sources = np.searchsorted(graph.array("starts"), places, side="right") - 1
    ordered: list[int] = sources[np.argsort(-graph.ranks[sources], kind="stable")].tolist()
    return ordered


def _incoming(collection: Path, graph: LinkGraphFiles, sources: list[int], name: str) -> list[LinkEnd]:
    pages = [int(graph.pages[source]) for source in sources]
    urls = urls_of(collection, pages)
    texts: dict[int, Link] = {}
    for shard in sorted({split_page_number(page)[0] for page in pages}):
        with log_reader(collection, shard) as reader:
            for page in pages:
                if (
                    split_page_number(page)[0] == shard
                    and (outline := reader.outline(split_page_number(page)[1])) is not None
                ):
                    link = next((one for one in outline.links if canonical_of_href(one.url) == name), None)
                    texts |= {} if link is None else {page: link}
    ends = []
    for page in pages:
        named = texts.get(page)
        ends.append(LinkEnd(urls.get(page, ""), named.text if named else "", bool(named and named.nofollow)))
    return ends


def graph_summary(collection: Path) -> GraphSummary:
    """Return the figures of the link graph."""
    graph, np = fresh_graph(collection), load_numpy()
    depths = np.asarray(graph.array("depths"))
    linked = np.bincount(np.asarray(graph.array("targets")), minlength=len(graph.pages)) > 0
    is_seed = np.zeros(len(graph.pages), dtype=bool)
    is_seed[list(graph.notes.get("seeds", []))] = True
    reached = depths[depths != UNREACHED]
    return GraphSummary(
        pages=len(graph.pages),
        links=graph.graph.links,
        orphans=int((~linked & ~is_seed).sum()),
        unreached=int((depths == UNREACHED).sum()),
        deepest=int(reached.max()) if len(reached) else 0,
        by_depth=tuple(np.bincount(reached).tolist()) if len(reached) else (),
    )


def orphans(collection: Path, limit: int | None = None) -> list[str]:
    """Return known pages that no page links to, without seeds; with a limit, some of them."""
    graph, np = fresh_graph(collection), load_numpy()
    linked = np.bincount(np.asarray(graph.array("targets")), minlength=len(graph.pages)) > 0
    linked[list(graph.notes.get("seeds", []))] = True
    return sorted(urls_of(collection, graph.pages[~linked][:limit].tolist()).values())


MAX_HOPS = 10
DEAD = GONE_REASONS | {
    Reason.DNS.value, Reason.CONNECT.value, Reason.TLS.value, Reason.TIMEOUT.value, Reason.RESET.value,
    Reason.EMPTY_REPLY.value, Reason.INVALID_HTTP.value, Reason.HTTP_ERROR.value, Reason.SERVER_ERROR.value,
    Reason.BAD_REDIRECT.value,
}  # fmt: skip
"""Reasons for which a link to the page is dead."""


class _Target(NamedTuple):
    """A page with a problem, as the target of links."""

    reason: str
    status: int | None
    moved_to: str | None


def bad_links(collection: Path, site: str | None = None) -> Iterator[BadLink]:
    """Yield every link of the newest versions that is dead or redirects, page by page."""
    bad_targets = _bad_targets(collection)
    if not bad_targets:
        return
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            for page_id, outline in reader.outlines():
                bad = [found for link in outline.links if (found := _check_link(link, bad_targets)) is not None]
                url = reader.urls([page_id]).get(page_id, "") if bad else ""
                if bad and (site is None or site.rstrip("/") in (site_of(url), site_of(url).partition("://")[2])):
                    yield from (_with_page(found, url) for found in bad)


def _bad_targets(collection: Path) -> dict[int, _Target]:
    """Return pages that failed or redirect, by the hash of their URL."""
    bad_targets: dict[int, _Target] = {}
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            for page in reader.graph_pages(with_problems=True):
                reason = page.reason or ""
                if reason in DEAD or page.moved_to or reason == Reason.REDIRECT_LOOP.value:
                    key = int.from_bytes(page.key[-HASH_BYTES:], "big")
                    bad_targets[key] = _Target(reason, page.status, page.moved_to)
    return bad_targets


def _check_link(link: Link, bad_targets: dict[int, _Target]) -> BadLink | None:
    """Return the problem of a link, without its page; None: it is fine, or was not visited."""
    name = canonical_of_href(link.url)
    target = bad_targets.get(url_hash(name)) if name is not None else None
    if name is None or target is None:
        return None
    chain, end = _follow_redirects(name, target, bad_targets)
    trouble = _problem(chain, end, name)
    return BadLink("", link.url, link.text, trouble, end.status, end.reason, chain)


def _follow_redirects(name: str, target: _Target, bad_targets: dict[int, _Target]) -> tuple[tuple[str, ...], _Target]:
    chain: list[str] = []
    while target.moved_to is not None and len(chain) < MAX_HOPS:
        chain.append(target.moved_to)
        after = bad_targets.get(url_hash(target.moved_to))
        if after is None or target.moved_to == name:
            break
        target = after
    return tuple(chain), target


def _problem(chain: tuple[str, ...], end: _Target, name: str) -> LinkProblem:
    is_loop = end.reason == Reason.REDIRECT_LOOP.value or name in chain or len(set(chain)) < len(chain)
    if is_loop or len(chain) >= MAX_HOPS:
        return LinkProblem.LOOP
    if end.reason in DEAD:
        return LinkProblem.DEAD
    return LinkProblem.CHAIN if len(chain) > 1 else LinkProblem.REDIRECT


def _with_page(found: BadLink, url: str) -> BadLink:
    return BadLink(url, found.target, found.text, found.problem, found.status, found.reason, found.chain)


URLS_AT_A_TIME = 1000


def urls_of(collection: Path, pages: Iterable[int]) -> dict[int, str]:
    """Return the URLs of pages, by their number."""
    of_shard: dict[int, list[int]] = {}
    for page in pages:
        shard, page_id = split_page_number(int(page))
        of_shard.setdefault(shard, []).append(page_id)
    found: dict[int, str] = {}
    for shard, ids in of_shard.items():
        with log_reader(collection, shard) as reader:
            for portion in _chunks(ids):
                found |= {page_number(shard, key): url for key, url in reader.urls(portion).items()}
    return found


def _chunks(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(ids), URLS_AT_A_TIME):
        yield ids[at : at + URLS_AT_A_TIME]


def page_at(collection: Path, settings: Settings, url: str) -> tuple[int, str]:
    """Return number and canonical URL of a known page; raise ConfigError if it is unknown."""
    name = canonical(url)
    if name is None:
        raise ConfigError(f"{url!r} is not a valid page URL; write it like https://example.org/")
    shard = shard_of_site(site_of(name), settings.store.shards)
    if shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            page = reader.page(key_of(name))
            if page is not None:
                return page_number(shard, page.id), name
    raise ConfigError(f"{name} is not in this collection; see why with: evercrawl why {name}")


def top_pages(collection: Path, graph: LinkGraphFiles, scores: str, limit: int) -> list[RankedPage]:
    """Return the pages with the highest scores."""
    values = graph.array(scores)
    places = load_numpy().argsort(-values, kind="stable")[:limit]
    urls = urls_of(collection, graph.pages[places].tolist())
    return [
        RankedPage(urls[int(graph.pages[place])], float(values[place]))
        for place in places.tolist()
        if int(graph.pages[place]) in urls
    ]
