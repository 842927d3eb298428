"""Starting and stopping a crawl, and asking for a page."""

from __future__ import annotations

import asyncio

from evercrawl.adapters.http.connections import FetchFailed
from evercrawl.adapters.http.dns import Resolver
from evercrawl.adapters.plugins import installed_schemes
from evercrawl.cluster.visit_requests import announce
from evercrawl.collection.runs import live_run
from evercrawl.core.scope.scope import Scope
from evercrawl.core.url import canonical, site_of, site_parts
from evercrawl.model.fetch import Fault
from evercrawl.model.settings import Settings
from evercrawl.web.desk import Desk
from evercrawl.web.pages.past import full_url
from evercrawl.web.parameter import BadRequest
from evercrawl.web.route import Asked, Done

MOST_URLS = 100


def start_crawl(desk: Desk, asked: Asked) -> Done:
    """Start a crawl of the collection, with new seeds if URLs are given."""
    if live_run(desk.path, now=desk.now()) is not None:
        raise BadRequest("a crawl of this collection is running already", 409)
    urls = [guarded_url(desk.settings, text) for text in asked["urls"].split()[:MOST_URLS]]
    if not urls and not desk.settings.scope.seeds:
        raise BadRequest("nothing to crawl: the collection has no seeds yet; name a URL")
    pid = desk.crawl.start(urls, forever=asked["forever"], refresh=asked["refresh"])
    return Done("the crawl is starting", "/live", {"pid": pid})


def stop_crawl(desk: Desk, asked: Asked) -> Done:
    """Stop the crawl that was started here; requests in flight may end, and the state is saved."""
    if not desk.crawl.stop():
        raise BadRequest("no crawl was started here; stop it where it was started", 409)
    return Done("the crawl is stopping; requests in flight may end", "/live")


def visit_page(desk: Desk, asked: Asked) -> Done:
    """Ask for a visit of a page as soon as its site allows: by the running crawl, or by the next."""
    url = guarded_url(desk.settings, asked["url"])
    refused = Scope(
        desk.settings.scope, allow_ports=desk.settings.http.allow_ports, schemes=installed_schemes()
    ).verdict(url, depth=1)
    if refused is not None:
        raise BadRequest(f"{url} is not crawled: {refused[1]}")
    announce(desk.path, [url], by=asked.visitor.name)
    return Done("the page will be visited as soon as its site allows", f"/why?url={url}")


def guarded_url(settings: Settings, text: str) -> str:
    """The canonical URL of what was typed; BadRequest where it leads to a machine that only we can reach."""
    url = canonical(full_url(text.strip()))
    if url is None:
        raise BadRequest(f"{text!r} is not a URL that can be crawled; write it like https://example.org/")
    site = site_parts(site_of(url))
    try:
        asyncio.run(_resolved(settings, site.host, site.port))
    except FetchFailed as failure:
        if failure.fault is Fault.PRIVATE_ADDRESS:
            raise BadRequest(f"{url} is refused: {failure.detail}", 403) from failure
    return url


async def _resolved(settings: Settings, host: str, port: int) -> None:
    resolver = Resolver(settings.dns, settings.http)
    try:
        await resolver.addresses(host, port)
    finally:
        await resolver.close()
