"""The inbox of changes: grouped, the most significant first, and what somebody has looked at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from evercrawl.collection.change_groups import MOST_PAGES_NAMED, Choose, recent_changes, without_muted
from evercrawl.collection.change_inbox import MOST_KEYS, ChangeInbox
from evercrawl.core.change.review import filter_read, muted_part, read_marks
from evercrawl.core.url import site_of
from evercrawl.model.history import Mark, Mute
from evercrawl.model.listing import ChangeRecord, RecentChangeGroup
from evercrawl.model.time import from_us, to_us
from evercrawl.web.app_state import AppState
from evercrawl.web.format import link_to
from evercrawl.web.pages.site_pages import known_site
from evercrawl.web.route import ActionResult, BadRequest, Inputs

WAIT_S = 5.0
"""How long the page waits for changes to be grouped."""
REVIEWS_SHOWN = 5
MOST_SITES = 5
LONGEST_WORDS = 200
STATES = ("new", "reviewed", "muted", "all")
_KEY_MASK = 2**64 - 1
"""Keys are numbers of 64 bits with a sign."""


def changes(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """The newest changes, grouped, the most significant first: those that nobody has looked at yet."""
    since, inbox = inputs["since"] or state.now() - timedelta(days=7), ChangeInbox(state.path)
    key = f"changes {since:%Y%m%d%H%M} {inputs['site']} {inputs['noise']} {inputs['state']} {inbox.stamp()}"
    news = state.cached(
        key,
        lambda: recent_changes(
            state.path,
            state.settings,
            since=since,
            site=inputs["site"],
            noise=inputs["noise"],
            choose=_in_state(inbox, inputs["state"]),
        ),
        wait_s=WAIT_S,
    )
    if news is None:
        raise BadRequest("the changes are still being grouped; this page shows them in a moment", 503, retry_after_s=1)
    groups = news.groups[: inputs["limit"]]
    return {
        "since": news.since,
        "complete": news.complete,
        "read_until": news.until,
        "changes": news.changes,
        "site": inputs["site"],
        "noise": inputs["noise"],
        "state": inputs["state"],
        "groups_in_all": news.groups_in_all,
        "groups": [_group(one) for one in groups],
        "until": str(news.newest_us),
        "reviews": inbox.reviews(REVIEWS_SHOWN),
        "mutes": inbox.mutes(),
    }


def _in_state(inbox: ChangeInbox, state: str) -> Choose:
    """What nobody has looked at or muted; what somebody has looked at; what is muted; or all there is."""
    mutes = inbox.mutes()
    if state == "all":
        return lambda views: views
    if state == "muted":
        return lambda views: _muted(views, mutes)
    was_seen = state == "reviewed"
    return lambda views: filter_read(without_muted(views, mutes), read_marks(inbox.marks()), was_seen=was_seen)


def _muted(views: Sequence[ChangeRecord], mutes: Sequence[Mute]) -> list[ChangeRecord]:
    found = ((view, muted_part(view.change, view.url, mutes)) for view in views)
    return [view._replace(change=change) for view, change in found if change is not None]


def _group(one: RecentChangeGroup) -> dict[str, Any]:
    group = one.group
    return {
        "class": group.change_class,
        "size": group.size,
        "count": len(group.pages),
        "pages": group.pages[:MOST_PAGES_NAMED],
        "example": group.example,
        "newest": from_us(one.newest_us),
        "keys": " ".join(f"{key & _KEY_MASK:x}" for key in one.keys[:MOST_KEYS]),
        "until": str(one.newest_us),
        "parts": one.parts,
        "sites": sorted({site_of(page) for page in group.pages})[:MOST_SITES],
    }


def review_changes(state: AppState, inputs: Inputs) -> ActionResult:
    """Changes were looked at: those with these edits, or all up to a moment; they are news no more."""
    until_us = inputs["until"]
    if inputs["keys"]:
        marks = [Mark(key, None, until_us) for key in _keys(inputs["keys"])]
        words = inputs["words"] or "an edit"
    elif inputs["site"]:
        marks = [Mark(None, known_site(state, inputs["site"])[1].name, until_us)]
        words = f"everything of {inputs['site']}"
    else:
        marks = [Mark(None, None, until_us)]
        words = "everything"
    number = ChangeInbox(state.path).review(
        marks, who=inputs.user.name, words=words[:LONGEST_WORDS], now_us=to_us(state.now())
    )
    return ActionResult(
        f"looked at: {words[:LONGEST_WORDS]}", link_to("/changes", site=inputs["site"]), {"review": number}
    )


def _keys(written: str) -> list[int]:
    try:
        keys = [int(word, 16) for word in written.split()[:MOST_KEYS]]
    except ValueError:
        raise BadRequest("keys are those of a group, as the list has them") from None
    if any(not 0 <= key <= _KEY_MASK for key in keys):
        raise BadRequest("keys are those of a group, as the list has them")
    return [key - (1 << 64) if key >> 63 else key for key in keys]


def mute_part_of(state: AppState, inputs: Inputs) -> ActionResult:
    """Changes in a part of a page or a site are told no more; they are kept as before."""
    name = inputs.user.name
    done = state.collection.mute(inputs["pattern"], site=inputs["site"], page=inputs["page"], who=name)
    return ActionResult(f"muted on {done.place}: {done.pattern}", "/changes", {"mute": done})


def undo_mute(state: AppState, inputs: Inputs) -> ActionResult:
    """Changes in that part are told again."""
    done = state.collection.unmute(inputs["id"])
    if done is None:
        raise BadRequest("there is no such mute", 404)
    return ActionResult(f"muted no more on {done.place}: {done.pattern}", "/changes")


def undo_review(state: AppState, inputs: Inputs) -> ActionResult:
    """Take a review back: its changes are news again."""
    if not ChangeInbox(state.path).undo(inputs["id"]):
        raise BadRequest("there is no such review", 404)
    return ActionResult("taken back", "/changes")
