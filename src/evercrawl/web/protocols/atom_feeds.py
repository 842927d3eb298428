"""Atom feeds of changes and of searches (RFC 4287)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from html import escape as html_text
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from starlette.responses import Response

from evercrawl.collection.change_groups import change_feed, change_headline, more_edits, more_words
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.model.change import Edit
from evercrawl.model.listing import ChangeRecord
from evercrawl.model.sanitize import safe_block, safe_line
from evercrawl.model.search import Hit
from evercrawl.model.time import from_us
from evercrawl.web.app_state import AppState
from evercrawl.web.format import diff_link, exact_time, link_to
from evercrawl.web.pages.search import FACETS, SEARCH_PARAMETERS, query_of
from evercrawl.web.route import BadRequest, Inputs, Parameter, limit

CHANGES_PARAMETERS = (Parameter("site", "Only changes on this site."), limit(50, 200))
SEARCH_FEED_PARAMETERS = (*SEARCH_PARAMETERS, limit(50, 100))
SPANS = ("7d", "30d", "365d", None)  # A feed prefers new hits: older ones are added only if there are few.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {"-": "del", "+": "ins"}
_STYLES = {
    "del": "background:#ffebe9;color:#82071e;text-decoration:line-through",
    "ins": "background:#dafbe1;color:#044f1e;text-decoration:none",
}


class FeedEntry(NamedTuple):
    """An entry of a feed."""

    title: str
    link: str
    id: str
    updated: datetime
    content: str
    category: str | None = None
    is_html: bool = False


def changes_feed(state: AppState, inputs: Inputs) -> Response:
    """Return the changes, newest first."""
    origin = state.own_origin(inputs.host)
    mutes = ChangeInbox(state.path).mutes()
    records = change_feed(state.path, state.settings, site=inputs["site"], limit=inputs["limit"], mutes=mutes)
    entries = [change_entry(record, origin) for record in records]
    here = origin + link_to("/changes.atom", site=inputs["site"])
    return _feed(f"Changes on {inputs['site'] or state.path.name}", here, entries, now=state.now())


def search_feed(state: AppState, inputs: Inputs) -> Response:
    """Return the hits of a search, newest first."""
    query, origin = query_of(inputs), state.own_origin(inputs.host)
    if not query:
        raise BadRequest("q is missing: enter what to search for")
    hits = _newest_hits(state, query, inputs)
    values = {name: inputs[name] for name in ("q", *FACETS)}
    at = inputs["as_of"] and exact_time(inputs["as_of"])
    here = origin + link_to("/search.atom", **values, as_of=at)
    return _feed(f"Search: {query}", here, [_of_hit(hit, origin) for hit in hits], now=state.now())


def _newest_hits(state: AppState, query: str, inputs: Inputs) -> list[Hit]:
    is_dated = inputs["as_of"] is not None or "changed:" in query or "as-of:" in query
    hits: Sequence[Hit] = ()
    for span in (None,) if is_dated else SPANS:
        text = query if span is None else f"{query} changed:>{span}"
        hits = state.search(text, limit=inputs["limit"], as_of=inputs["as_of"]).hits
        if len(hits) >= inputs["limit"]:
            break
    return sorted(hits, key=lambda hit: hit.fetched_at, reverse=True)


def _feed(title: str, here: str, entries: Sequence[FeedEntry], *, now: datetime) -> Response:
    updated = max((entry.updated for entry in entries), default=now)
    head = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{_text(safe_line(title))}</title>",
        f"<id>{_text(here)}</id>",
        f'<link rel="self" href={quoteattr(here)}/>',
        f"<updated>{exact_time(updated)}</updated>",
        "<author><name>evercrawl</name></author>",
    ]
    body = "\n".join([*head, *map(_entry, entries), "</feed>\n"])
    return Response(body.encode("utf-8", "replace"), media_type="application/atom+xml")


def change_entry(record: ChangeRecord, origin: str) -> FeedEntry:
    """Return a change with its edits and a link to the full difference."""
    link, change = origin + diff_link(record.url, record.at_us), record.change
    number = f"{origin}{link_to('/diff', url=record.url)}#{record.at_us}"
    edits = [html_edit(edit) for edit in change.edits if not edit.is_template]
    if change.omitted:
        edits.append(f"<p>{more_edits(change.omitted)}</p>")
    page = html_text(safe_line(record.url))
    links = f'<p><a href="{html_text(link)}">Full difference</a> · <a href="{page}">{page}</a></p>'
    content = "\n".join([*edits, links])
    return FeedEntry(
        change_headline(record), link, number, from_us(record.at_us), content, change.kind.value, is_html=True
    )


def html_edit(edit: Edit) -> str:
    """Return an edit as a paragraph with removed and added words marked, styled inline as readers drop style sheets."""
    runs: list[str] = []
    for run in edit.words:
        text = html_text(safe_line(run.text))
        if run.sign == " ":
            runs.append(text)
            continue
        space = " " if runs and runs[-1].endswith("</del>") else ""
        element = _ELEMENTS[run.sign]
        runs.append(f'{space}<{element} style="{_STYLES[element]}">{text}</{element}>')
    return f'<p dir="auto">{"".join(runs)}{more_words(edit)}</p>'


def _of_hit(hit: Hit, origin: str) -> FeedEntry:
    link = origin + link_to("/show", url=hit.url, at=f"v{hit.version}")
    return FeedEntry(hit.title or hit.url, link, link, hit.fetched_at, f"{hit.url}\n{hit.snippet_text}")


def _entry(entry: FeedEntry) -> str:
    kind, content = ("html", entry.content) if entry.is_html else ("text", safe_block(entry.content))
    category = "" if entry.category is None else f"<category term={quoteattr(entry.category)}/>"
    return (
        f"<entry><title>{_text(safe_line(entry.title))}</title><id>{_text(entry.id)}</id>"
        f"<link href={quoteattr(entry.link)}/><updated>{exact_time(entry.updated)}</updated>{category}"
        f'<content type="{kind}">{_text(content)}</content></entry>'
    )


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("", text))
