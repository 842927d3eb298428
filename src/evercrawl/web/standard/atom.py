"""Changes as an Atom feed (RFC 4287)."""

from __future__ import annotations

import re
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from starlette.responses import Response

from evercrawl.browse.news import change_feed
from evercrawl.core.moment import from_us
from evercrawl.core.safe_text import safe_block, safe_line
from evercrawl.model.view import ChangeView
from evercrawl.web.desk import Desk
from evercrawl.web.parameter import Parameter, limit
from evercrawl.web.plain import moment_text
from evercrawl.web.route import Asked

PARAMETERS = (Parameter("site", "Only of this site."), limit(50, 200))
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONGEST_EDIT = 500


def atom(desk: Desk, asked: Asked) -> Response:
    """The newest changes, newest first."""
    origin = desk.own_origin(asked.host)
    views = change_feed(desk.path, desk.settings, site=asked["site"], most=asked["limit"])
    updated = from_us(views[0].at_us) if views else desk.now()
    name = _text(f"Changes of {asked['site'] or desk.path.name}")
    head = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{name}</title>",
        f"<id>{_text(origin)}/changes.atom</id>",
        f'<link rel="self" href={quoteattr(origin + "/changes.atom")}/>',
        f"<updated>{moment_text(updated)}</updated>",
        "<author><name>evercrawl</name></author>",
    ]
    body = "\n".join([*head, *(_entry(view, origin) for view in views), "</feed>\n"])
    return Response(body.encode("utf-8", "replace"), media_type="application/atom+xml")


def _entry(view: ChangeView, origin: str) -> str:
    link = f"{origin}/diff?url={quote(view.url, safe='')}"
    lines = [
        f"{sign} {safe_line(text, longest=LONGEST_EDIT)}"
        for edit in view.change.edits
        for sign, text in (("-", edit.removed), ("+", edit.added))
        if text
    ]
    return (
        f"<entry><title>{_text(safe_line(view.url))}</title><id>{_text(link)}#{view.at_us}</id>"
        f"<link href={quoteattr(link)}/><updated>{moment_text(from_us(view.at_us))}</updated>"
        f"<category term={quoteattr(view.change.kind.value)}/>"
        f'<content type="text">{_text(safe_block(chr(10).join(lines)))}</content></entry>'
    )


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("", text))
