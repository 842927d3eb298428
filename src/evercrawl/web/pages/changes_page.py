"""The changes page: unread, read and muted changes."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from evercrawl.collection.change_groups import MAX_PAGES_NAMED, describe_pages, filter_by_state, recent_changes
from evercrawl.collection.change_inbox import MAX_KEYS, ChangeInbox
from evercrawl.collection.overrides import noise_since
from evercrawl.collection.urls import site_of
from evercrawl.model.change import Edit, PartVerdict
from evercrawl.model.history import ReadMark
from evercrawl.model.listing import RecentChangeGroup, RecentChanges
from evercrawl.model.time import from_us, to_us
from evercrawl.web.app_state import AppState
from evercrawl.web.format import diff_link, link_to
from evercrawl.web.pages.site_pages import known_site
from evercrawl.web.route import ActionResult, BadRequest, Inputs, resource_path
from evercrawl.web.table_page import stored_table, table_data

WAIT_S = 5.0  # How long the page waits for the changes to be grouped.
READ_MARKS_SHOWN = 5
DAYS_SHOWN = 7  # Unless another time is given.
TOP_GROUPS = 5  # On the overview.
READ_MARKS_LISTED = 100
MAX_SITES = 5
LABEL_CHARS = 200
STATES = ("unread", "read", "muted", "all")
_KEY_MASK = 2**64 - 1  # Keys are signed 64-bit numbers.


def _news(
    state: AppState, since: datetime, which: str, site: str | None, *, noise: bool, wait_s: float
) -> RecentChanges | None:
    """Return grouped changes, cached; None while they are being grouped."""
    inbox = ChangeInbox(state.path)
    return state.cached(
        f"changes {since:%Y%m%d%H%M} {site} {noise} {which} {inbox.stamp()}",
        lambda: recent_changes(
            state.path, state.settings, since=since, site=site, noise=noise, choose=filter_by_state(inbox, which)
        ),
        wait_s=wait_s,
    )


def _week_ago(state: AppState) -> datetime:
    """Return the default start; it stays the same for an hour, so that grouped changes are kept as long."""
    return state.now().replace(minute=0, second=0, microsecond=0) - timedelta(days=DAYS_SHOWN)


def top_changes(state: AppState, *, wait_s: float) -> dict[str, Any] | None:
    """Return the most significant unread changes of the last week; None while they are being grouped."""
    news = _news(state, _week_ago(state), "unread", None, noise=False, wait_s=wait_s)
    if news is None:
        return None
    kinds = [event.kind for event in news.events]
    return {
        "groups": [_group(one) for one in news.groups[:TOP_GROUPS]],
        "groups_total": news.total_groups,
        "changes": news.changes,
        "new": kinds.count("new"),
        "gone": kinds.count("gone"),
    }


def changes(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List changes in groups, the most significant first."""
    since, inbox = inputs["since"] or _week_ago(state), ChangeInbox(state.path)
    news = _news(state, since, inputs["state"], inputs["site"], noise=inputs["noise"], wait_s=WAIT_S)
    if news is None:
        raise BadRequest("grouping the changes; they will appear in a moment", 503, retry_after_s=1)
    groups = news.groups[: inputs["limit"]]
    return {
        "since": news.since,
        "complete": news.complete,
        "read_until": news.until,
        "changes": news.changes,
        "site": inputs["site"],
        "noise": inputs["noise"],
        "state": inputs["state"],
        "groups_total": news.total_groups,
        "groups": [_group(one) for one in groups],
        "until": news.newest_us,
        "events": {kind: [event for event in news.events if event.kind == kind] for kind in ("gone", "back", "new")},
        "read_marks": inbox.reviews(READ_MARKS_SHOWN),
        "mutes": inbox.mutes(),
        "exceptions": inbox.mutes(PartVerdict.CONTENT),
        "noise_groups": _noise(state, inputs, since) if inputs["noise"] else [],
    }


def change_list(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List single changes, newest first."""
    return table_data(stored_table(state, inputs, "change-list", "/change-list"), "changes")


def changes_on(day: date, site: str | None = None) -> str:
    """Return the link to the changes of a day."""
    return link_to("/change-list", at=day.isoformat(), site=None if site is None else f"={site}")


def _noise(state: AppState, inputs: Inputs, since: datetime) -> list[dict[str, Any]]:
    """Return what the last visits called noise, by the part of the page."""
    key = f"noise {since:%Y%m%d%H%M} {inputs['site']}"
    found = state.cached(key, lambda: noise_since(state.path, since, site=inputs["site"]), wait_s=WAIT_S) or []
    return [
        {
            "count": len(group.pages),
            "pages": group.pages[:MAX_PAGES_NAMED],
            "edits": [_edit(edit) for edit in group.edits],
            "parts": group.parts,
            "site": site_of(group.pages[0]),
        }
        for group in found[: inputs["limit"]]
    ]


def _edit(edit: Edit) -> dict[str, Any]:
    return {"sign": edit.sign, "words": edit.words, "omitted": edit.omitted}


def _group(one: RecentChangeGroup) -> dict[str, Any]:
    group = one.group
    return {
        "class": group.change_class,
        "size": group.size,
        "count": len(group.pages),
        "heading": describe_pages(group),
        "listings": len(group.listings),
        "pages": group.pages[:MAX_PAGES_NAMED],
        "title": one.title,
        "example": group.example,
        "edits": [_edit(edit) for edit in group.edits],
        "omitted": group.omitted,
        "diff": diff_link(group.pages[0], one.newest_us),
        "newest": from_us(one.newest_us),
        "keys": " ".join(f"{key & _KEY_MASK:x}" for key in one.keys[:MAX_KEYS]),
        "until": one.newest_us,
        "parts": one.parts,
        "sites": sorted({site_of(page) for page in group.pages})[:MAX_SITES],
    }


def read_marks(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List what was marked as read."""
    return {"read_marks": ChangeInbox(state.path).reviews(READ_MARKS_LISTED)}


def mutes(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List muted parts and parts that are always reported."""
    inbox = ChangeInbox(state.path)
    return {"mutes": inbox.mutes(), "reported_parts": inbox.mutes(PartVerdict.CONTENT)}


def mark_read(state: AppState, inputs: Inputs) -> ActionResult:
    """Mark changes as read: those with these edits, or all up to a time."""
    until_us = inputs["until"]
    if inputs["keys"]:
        marks = [ReadMark(key, None, until_us) for key in _keys(inputs["keys"])]
        label = inputs["label"] or "an edit"
    elif inputs["site"]:
        marks = [ReadMark(None, known_site(state, inputs["site"])[1].name, until_us)]
        label = f"all changes on {inputs['site']}"
    else:
        marks = [ReadMark(None, None, until_us)]
        label = "all changes"
    number = ChangeInbox(state.path).review(
        marks, who=inputs.user.name, text=label[:LABEL_CHARS], now_us=to_us(state.now())
    )
    message = f"Marked as read: {label[:LABEL_CHARS]}"
    resource = resource_path("/read-marks/{id}", id=number)
    return ActionResult(message, link_to("/changes", site=inputs["site"]), {"id": number}, resource)


def _keys(written: str) -> list[int]:
    try:
        keys = [int(word, 16) for word in written.split()[:MAX_KEYS]]
    except ValueError:
        raise BadRequest("keys must be those of a group") from None
    if any(not 0 <= key <= _KEY_MASK for key in keys):
        raise BadRequest("keys must be those of a group")
    return [key - (1 << 64) if key >> 63 else key for key in keys]


def mute_part(state: AppState, inputs: Inputs) -> ActionResult:
    """Ignore changes in a part of a page or site."""
    name = inputs.user.name
    done = state.collection.mute(inputs["pattern"], site=inputs["site"], page=inputs["page"], who=name)
    resource = resource_path("/mutes/{id}", id=done.id)
    return ActionResult(f"Muted on {done.place}: {done.pattern}", "/changes", {"mute": done}, resource)


def report_part(state: AppState, inputs: Inputs) -> ActionResult:
    """Report changes in a part of a page or site even if they look like noise."""
    name, verdict = inputs.user.name, PartVerdict.CONTENT
    done = state.collection.mute(inputs["pattern"], site=inputs["site"], page=inputs["page"], who=name, verdict=verdict)
    message = f"Reported from the next visit on, on {done.place}: {done.pattern}"
    resource = resource_path("/mutes/{id}", id=done.id)
    return ActionResult(message, link_to("/changes", noise="true"), {"mute": done}, resource)


def undo_mute(state: AppState, inputs: Inputs) -> ActionResult:
    """Stop ignoring, or always reporting, changes in a part."""
    done = state.collection.unmute(inputs["id"])
    if done is None:
        raise BadRequest("there is no such mute", 404)
    word = "Unmuted" if done.verdict is PartVerdict.NOISE else "No longer always reported"
    return ActionResult(f"{word} on {done.place}: {done.pattern}", "/changes")


def undo_mark_read(state: AppState, inputs: Inputs) -> ActionResult:
    """Mark changes as unread again."""
    if not ChangeInbox(state.path).undo(inputs["id"]):
        raise BadRequest("there is no such read mark", 404)
    return ActionResult("Marked as unread.", "/changes")
