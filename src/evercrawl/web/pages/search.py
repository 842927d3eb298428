"""The pages `search` and `links`."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from evercrawl.collection.search import MEDIA_KINDS
from evercrawl.collection.site_list import find_site
from evercrawl.errors import ConfigError
from evercrawl.model.search import Tone
from evercrawl.web.app_state import AppState
from evercrawl.web.format import link_to
from evercrawl.web.route import BadRequest, Inputs, Parameter

LINKS_SHOWN = 200
FACETS = ("site", "lang", "changed", "sentiment", "type")
"""Parameters that narrow a search; each is also an operator of the query."""
SEARCH_PARAMETERS = (
    Parameter("q", "Words, phrases, site:, lang:, changed:, as in `evercrawl search`.", longest=2000),
    Parameter("as_of", "Search the collection as it was then: 2026-05, 30d.", "time"),
    Parameter("site", "Only this host or folder."),
    Parameter("lang", "Only this language, such as de."),
    Parameter("changed", "Only versions first seen then: >7d, 2026-05."),
    Parameter("sentiment", "Only this sentiment.", "choice", choices=tuple(tone.value for tone in Tone)),
    Parameter("type", "Only this content type.", "choice", choices=MEDIA_KINDS),
)
_ONE_WORD = re.compile(r'[^\s"]+')


def query_of(inputs: Inputs) -> str:
    """Return the query with its facets."""
    parts = [(inputs["q"] or "").strip()]
    for name in FACETS:
        value = inputs[name]
        if value and not _ONE_WORD.fullmatch(value):
            raise BadRequest(f"{name} must be one word")
        parts += [f"{name}:{value}"] if value else []
    return " ".join(part for part in parts if part)


def search(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Search the text of every version."""
    query, chosen = query_of(inputs), {name: inputs[name] for name in FACETS}
    shown = {"q": (inputs["q"] or "").strip(), "as_of": inputs["as_of"], "chosen": chosen, "query": query}
    if not query:
        return {**shown, "found": None}
    found = state.search(query, limit=inputs["limit"], as_of=inputs["as_of"], with_facets=True)
    return {**shown, "found": found}


def find_target(state: AppState, text: str) -> str:
    """Return where the box of every page leads: to the page of a URL, to a known site, or to a search."""
    words = text.strip()
    if len(words.split()) == 1:
        if words.lower().startswith(("http://", "https://")):
            return link_to("/page", url=words)
        host, slash, path = words.partition("/")
        with suppress(ConfigError):
            if find_site(state.path, state.settings, host) is not None:
                return link_to("/page", url=words) if slash and path else link_to("/site", name=host)
    return link_to("/search", q=words)


def links(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the links to and from a page."""
    found, is_ready = state.links(state.collection.typed_url(inputs["url"]))
    return {
        "url": found.url,
        "pagerank": found.pagerank,
        "times_average": found.times_average,
        "clicks": found.clicks,
        "credit": found.credit,
        "incoming_count": found.incoming_count,
        "incoming": found.incoming[:LINKS_SHOWN],
        "outgoing": found.outgoing[:LINKS_SHOWN],
        "graph_ready": is_ready,
    }
