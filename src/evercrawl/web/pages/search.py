"""Full text search over every version, and the links of a page."""

from __future__ import annotations

from typing import Any

from evercrawl.web.desk import Desk
from evercrawl.web.pages.past import full_url
from evercrawl.web.route import Asked

LINKS_SHOWN = 200


def search(desk: Desk, asked: Asked) -> dict[str, Any]:
    """The best hits; with `as_of` what would have been found then."""
    query = (asked["q"] or "").strip()
    if not query:
        return {"q": "", "as_of": None, "found": None}
    found = desk.collection.search(query, limit=asked["limit"], as_of=asked["as_of"])
    return {"q": query, "as_of": asked["as_of"], "found": found}


def links(desk: Desk, asked: Asked) -> dict[str, Any]:
    """What links to a page, what it links to, and how important it is."""
    found = desk.collection.links(full_url(asked["url"]))
    return {
        "url": found.url,
        "pagerank": found.pagerank,
        "times_average": found.times_average,
        "clicks": found.clicks,
        "credit": found.credit,
        "incoming_count": found.incoming_count,
        "incoming": found.incoming[:LINKS_SHOWN],
        "outgoing": found.outgoing[:LINKS_SHOWN],
    }
