"""Render pages from templates; everything is escaped, except markup that we generate."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request

from evercrawl.collection.runs import closed_text
from evercrawl.model import __version__
from evercrawl.model.document import usage_text
from evercrawl.model.reason import REASON_TEXT
from evercrawl.model.sanitize import safe_line
from evercrawl.model.table import NUMBERS
from evercrawl.web import format as formats
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope, User
from evercrawl.web.table_page import filter_hint

MESSAGE_CHARS = 500
GROUPS = ("", "Crawl", "Reports", "Data", "Advanced")  # Of the navigation, in this order.


class MenuEntry(NamedTuple):
    """A page in the navigation."""

    title: str
    path: str


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evercrawl.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        size=formats.format_size,
        number=formats.format_number,
        duration=formats.format_duration,
        when=formats.time_element,
        moment=datetime.fromisoformat,
        crawled=formats.crawled,
        usage=usage_text,
        line=formats.plain_line,
        block=formats.crawled_block,
        short=formats.short_url,
        sentence=formats.sentence,
        cause=closed_text,
        spans=formats.code_spans,
    )
    environment.globals.update(
        link=formats.link_to,
        collection_link=formats.collection_link,
        plural=formats.plural,
        time_zones=formats.time_zones,
        relative=formats.relative_time,
        filter_hint=filter_hint,
        diff_link=formats.diff_link,
        numeric_kinds=NUMBERS - {"time"},
        reason_text={reason.value: text for reason, text in REASON_TEXT.items()},
        program_version=__version__,
    )
    return environment


def menu_of(state: AppState, user: User | None) -> dict[str, list[MenuEntry]]:
    """Return the navigation by group: what this user may open, without what the collection does not use."""
    from evercrawl.web.views import VIEWS

    groups: dict[str, list[MenuEntry]] = {name: [] for name in GROUPS}
    for view in state.own_views or VIEWS:
        is_hidden = view.is_used is not None and not view.is_used(state)
        if view.title and user and user.scope >= view.scope and not is_hidden:
            groups[view.group].append(MenuEntry(view.title, view.path))
    groups["Advanced"].append(MenuEntry("API", "/api"))
    return {name: entries for name, entries in groups.items() if entries}


def render(name: str, data: dict[str, Any], *, request: Request, state: AppState) -> str:
    """Return the page of that name."""
    user = getattr(request.state, "user", None)
    message, proof = request.query_params.get("done", ""), request.query_params.get("proof", "")
    if message and not state.auth.is_signed(f"done {message}", proof):
        message = ""
    common = {
        "menu": menu_of(state, user),
        "here": request.url.path,
        "collection_name": state.path.resolve().name.removesuffix(".evercrawl"),
        "in_folder": bool(state.base),
        "is_home": bool(state.own_views),
        "user": user,
        "csrf": user.csrf if user and user.csrf else "",
        "may_operate": bool(user and user.scope >= AccessScope.OPERATE and not state.read_only),
        "may_administer": bool(user and user.scope >= AccessScope.ADMIN and not state.read_only),
        "notice": safe_line(message, longest=MESSAGE_CHARS),
        "now": state.now(),
        "asked": request.query_params,
        "json_url": None,
    }
    return place_links(_environment().get_template(f"{name}.html").render({**common, **data}), state.base)


_OWN_LINK = re.compile(
    r'\b(href|action|src|formaction|data-(?:live|base|target|upload))="/(?!/|c/|static/|login\b|logout\b|collections\b)'
)


def place_links(html: str, base: str) -> str:
    """Return a page whose links lead below `base`, except to what all collections of a folder share.
    Only our own markup can match: a quotation mark of crawled text is escaped."""
    return _OWN_LINK.sub(rf'\1="{base}/', html) if base else html
