"""The history of one page: its versions, what differs between them, and how they looked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.core.change.classify import MAX_EDIT_CHARS
from evercrawl.core.change.review import mute_pattern
from evercrawl.core.change.text_diff import text_blocks
from evercrawl.core.url import site_of
from evercrawl.errors import ConfigError
from evercrawl.model.change import BlockEdit
from evercrawl.model.history import PageHistory
from evercrawl.web.chart import timeline
from evercrawl.web.desk import Desk
from evercrawl.web.pages.side_by_side import side_by_side
from evercrawl.web.parameter import BadRequest
from evercrawl.web.route import Asked

VISITS_SHOWN = 50
TEXT_SHOWN = 20_000
PARTS_LOOKED_AT, PARTS_SHOWN = 40, 8


def full_url(text: str) -> str:
    """The URL that was typed; a bare host means https."""
    return text if "://" in text else f"https://{text}"


def page(desk: Desk, asked: Asked) -> dict[str, Any]:
    """A page: its versions, its visits, why and when it is visited."""
    url = full_url(asked["url"])
    explanation = desk.collection.why(url)
    try:
        history = desk.collection.history(url)
    except ConfigError:
        history = PageHistory(explanation.url, ())
    if not explanation.known and not history.versions:
        raise BadRequest(f"the collection does not know {explanation.url}: {explanation.detail}", 404)
    return {
        "url": explanation.url,
        "explanation": explanation,
        "versions": history.versions[::-1],
        "visits": history.visits[:VISITS_SHOWN],
        "visits_in_all": len(history.visits),
    }


def page_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Versions on a line of time."""
    versions = data["versions"][::-1]
    if len(versions) < 2:
        return {}
    begin, end = versions[0].seen_at, versions[-1].seen_at
    whole = (end - begin).total_seconds() or 1.0
    dots = [
        (
            (kept.seen_at - begin).total_seconds() / whole,
            kept.size if kept.size is not None else 0.3,
            f"v{kept.version}, {kept.seen_at:%Y-%m-%d %H:%M}, {kept.change_class or 'first'}",
        )
        for kept in versions
    ]
    return {"versions": timeline("Versions, larger dots for larger changes", dots)}


def diff(desk: Desk, asked: Asked) -> dict[str, Any]:
    """What differs between two versions of a page."""
    found = desk.collection.diff(full_url(asked["url"]), asked["a"], asked["b"])
    history = desk.collection.history(found.url)
    newer = desk.collection.show(found.url, f"v{found.after.version}").text if found.edits else ""
    return {
        "difference": found,
        "rows": side_by_side(found.edits, text_blocks(newer)),
        "came": found.words_of("+"),
        "went": found.words_of("-"),
        "parts_edited": _parts(found.edits),
        "site": site_of(found.url),
        "numbers": [kept.version for kept in history.versions],
    }


def _parts(edits: Sequence[BlockEdit]) -> list[str]:
    """What stays the same in the parts that were edited: patterns by which each can be muted."""
    found = (mute_pattern(_side(edit, "-"), _side(edit, "+")) for edit in edits[:PARTS_LOOKED_AT])
    return list(dict.fromkeys(form for form in found if form is not None))[:PARTS_SHOWN]


def _side(edit: BlockEdit, sign: str) -> str:
    if edit.sign not in ("~", sign):
        return ""
    return "".join(run.text for run in edit.words if run.sign in (" ", sign))[:MAX_EDIT_CHARS]


def show(desk: Desk, asked: Asked) -> dict[str, Any]:
    """One version: its text, headers and links; the archived page itself is shown by replay."""
    found = desk.collection.show(canonical_page_url(full_url(asked["url"])), asked["at"] or "v0")
    stamp = f"{found.fetched_at:%Y%m%d%H%M%S}"
    origin = desk.replay_origin(asked.host)
    return {
        "url": found.url,
        "version": found.version,
        "fetched_at": found.fetched_at,
        "status": found.status,
        "title": found.title,
        "content_type": found.content_type,
        "headers": [list(pair) for pair in found.headers],
        "text": found.text[:TEXT_SHOWN],
        "links": [link.url for link in found.links[:500]],
        "replay": f"{origin}/r/{replay_key(desk)}/web/{stamp}/{found.url}",
        "memento": f"{origin}/web/{stamp}/{found.url}",
    }


def replay_key(desk: Desk, days_back: int = 0) -> str:
    """What opens replay to whoever was given the link, for today."""
    day = (desk.now() - timedelta(days=days_back)).date()
    return desk.keyring.signature(f"replay {day.isoformat()}")


def is_replay_key(desk: Desk, key: str) -> bool:
    """The key is of today or yesterday."""
    return any(desk.keyring.is_signed(f"replay {(desk.now() - timedelta(days=back)).date()}", key) for back in (0, 1))
