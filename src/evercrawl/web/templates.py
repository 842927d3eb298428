"""Templates to pages; everything is escaped unless it was made here."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request

from evercrawl.model import __version__
from evercrawl.model.reason import REASON_TEXT
from evercrawl.model.sanitize import safe_line
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope

LONGEST_WORD = 500


@lru_cache(maxsize=1)
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("evercrawl.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        size=words.format_size,
        number=words.format_number,
        span=words.format_duration,
        when=words.time_element,
        crawled=words.crawled,
        line=words.plain_line,
        block=words.crawled_block,
        short=words.short_url,
    )
    found.globals.update(
        link=words.link_to,
        counted=words.plural,
        ago=words.relative_time,
        reason_text={reason.value: text for reason, text in REASON_TEXT.items()},
        version=__version__,
    )
    return found


def render(name: str, data: dict[str, Any], *, request: Request, state: AppState) -> str:
    """The page of that name."""
    from evercrawl.web.views import VIEWS

    user = getattr(request.state, "user", None)
    done, proof = request.query_params.get("done", ""), request.query_params.get("proof", "")
    if done and not state.auth.is_signed(f"done {done}", proof):
        done = ""
    around = {
        "views": [view for view in VIEWS if view.title and user and user.scope >= view.scope],
        "here": request.url.path,
        "collection_name": state.path.name.removesuffix(".evercrawl"),
        "user": user,
        "csrf": user.csrf if user and user.csrf else "",
        "may_operate": bool(user and user.scope >= AccessScope.OPERATE and not state.read_only),
        "may_administer": bool(user and user.scope >= AccessScope.ADMIN and not state.read_only),
        "word": safe_line(done, longest=LONGEST_WORD),
        "now": state.now(),
        "twin": None,
    }
    return _environment().get_template(f"{name}.html").render({**around, **data})
