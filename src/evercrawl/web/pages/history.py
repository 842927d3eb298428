"""The pages `page`, `diff` and `show`: versions of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from difflib import unified_diff
from itertools import islice, pairwise, takewhile, zip_longest
from typing import Any, Literal, NamedTuple

from evercrawl.collection.change_groups import cut_text, mute_patterns, shorten_edit, text_blocks
from evercrawl.collection.overrides import PlaceSchedule
from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.collection.urls import site_of
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.change import BlockEdit, VersionDiff, Words
from evercrawl.model.history import PageHistory
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import ANONYMOUS, AuthStore
from evercrawl.web.charts import timeline
from evercrawl.web.format import link_to
from evercrawl.web.pages.site_pages import PAGE_END, schedule_part
from evercrawl.web.route import BadRequest, Inputs, Parameter

VISITS_SHOWN = 50
MAX_CHECKING = timedelta(minutes=3)  # How long the page waits for a visit that was asked for.
TEXT_SHOWN = 20_000


def page(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show a page: versions, visits, next visit."""
    url = state.collection.typed_url(inputs["url"])
    explanation = state.collection.why(url)
    try:
        history = state.collection.history(url)
    except ConfigError:
        history = PageHistory(explanation.url, (), explanation.decisions)
    if not explanation.known and not history.versions:
        raise BadRequest(
            f"{explanation.url} is not in the collection: {explanation.detail}", 404, offer=explanation.url
        )
    checked = inputs.values.get("checked")
    finished = next((visit for visit in history.visits if checked is not None and visit.at >= checked), None)
    schedule = schedule_part(state, explanation.url + PAGE_END, explanation.url)
    return {
        "url": explanation.url,
        "checking": checked is not None and finished is None and state.now() - checked < MAX_CHECKING,
        "finished": finished,
        "explanation": explanation,
        "title": next((kept.title for kept in reversed(history.versions) if kept.title), None),
        "has_screenshot": _has_screenshot(state, explanation.url) if history.versions else False,
        "versions": history.versions[::-1],
        "visits": history.visits[:VISITS_SHOWN],
        "visits_total": len(history.visits),
        "schedule": schedule,
        "next_visit": next_visit(explanation.due, schedule["deciding"], now=state.now()),
    }


def next_visit(due: datetime | None, schedule: PlaceSchedule | None, *, now: datetime) -> datetime | None:
    """Return when a page is visited next; a running crawl needs some seconds to apply a new schedule."""
    if due is None or schedule is None or due <= now:
        return due
    return schedule.next_time if " at " in schedule.meaning else min(due, schedule.next_time)


def page_versions(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the versions of a page."""
    found = page(state, inputs)
    return {"url": found["url"], "versions": found["versions"]}


def _has_screenshot(state: AppState, url: str) -> bool:
    try:
        return bool(state.collection.screenshot(url))
    except (ConfigError, StoreUnavailable):
        return False


def page_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return the versions on a time line."""
    versions = data["versions"][::-1]
    if len(versions) < 2:
        return {}
    begin, end = versions[0].seen_at, versions[-1].seen_at
    whole = (end - begin).total_seconds() or 1.0
    url = data["url"]
    links = [link_to("/show", url=url, at=f"v{versions[0].version}")]
    links += [link_to("/diff", url=url, a=f"v{a.version}", b=f"v{b.version}") for a, b in pairwise(versions)]
    dots = [
        (
            (kept.seen_at - begin).total_seconds() / whole,
            kept.size if kept.size is not None else 0.3,
            f"v{kept.version}, {kept.seen_at:%Y-%m-%d %H:%M} UTC, {kept.change_class or 'first'}",
            link,
        )
        for kept, link in zip(versions, links, strict=True)
    ]
    form = "%Y-%m-%d %H:%M:%S UTC" if begin.date() == end.date() else "%Y-%m-%d"
    ends = (format(begin, form), format(end, form))
    return {"versions": timeline("Versions over time; larger dots are larger changes", dots, ends)}


AROUND = {"none": 0, "near": 1, "all": 10**9}
"""Blocks shown before and after an edit."""
DIFF_VIEWS = ("text", "source", "rendered", "screenshot")
DIFF_PARAMETERS = (
    Parameter("a", "Older version: v3, -1, or a time. Default: the one before the newest."),
    Parameter("b", "Newer version. Default: the newest."),
    Parameter("view", "What to compare.", "choice", default="text", choices=DIFF_VIEWS),
    Parameter("context", "How much unchanged text to show.", "choice", default="near", choices=tuple(AROUND)),
)
_TAGS = re.compile(r"(?<=>)\s*(?=<)")  # Where source without line ends is divided.
MAX_SOURCE_LINES = 5000
MAX_SOURCE_CHARS = 400  # Shown of one line.


def diff(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Compare two versions of a page."""
    found = state.collection.diff(state.collection.typed_url(inputs["url"]), inputs["a"], inputs["b"])
    history = state.collection.history(found.url)
    numbers = [kept.version for kept in history.versions]
    titles = [kept.title for kept in history.versions if kept.title]
    newer = state.collection.show(found.url, f"v{found.after.version}").text if found.edits else ""
    first, second = sorted((found.before.version, found.after.version))
    return {
        "difference": found,
        "title": titles[-1] if titles else None,
        "rows": side_by_side(found.edits, text_blocks(newer), around=AROUND[inputs["context"]]),
        "words_added": found.words_of("+"),
        "words_removed": found.words_of("-"),
        "parts_edited": mute_patterns(found.edits),
        "site": site_of(found.url),
        "versions": numbers,
        "view": inputs["view"],
        "context": inputs["context"],
        "previous": max((number for number in numbers if number < first), default=None),
        "following": min((number for number in numbers if number > second), default=None),
        "share": state.own_origin(inputs.host) + shared_path(state, found),
        "source": source_lines(state, found) if inputs["view"] == "source" else [],
        "screenshots": screenshots(state, found) if inputs["view"] == "screenshot" else None,
        "replays": [_replay(state, inputs.host, found.url, one.seen_at) for one in (found.before, found.after)],
    }


def shared_path(state: AppState, found: VersionDiff) -> str:
    """Return the path below the collection that opens this difference without a login, and nothing else."""
    pair = {"url": found.url, "a": f"v{found.before.version}", "b": f"v{found.after.version}"}
    seen = f"{found.before.seen_at:%Y%m%d%H%M%S}-{found.after.seen_at:%Y%m%d%H%M%S}"
    pair["seen"] = seen  # A page that was removed and came back has other versions with the same numbers.
    return link_to(f"/shared/{state.auth.signature(' '.join(('diff', *pair.values())))}", **pair)


def shared_diff(state: AppState, values: Mapping[str, Any], signature: str) -> dict[str, Any]:
    """Return the difference that a link was signed for."""
    signed = " ".join(("diff", *(str(values[name]) for name in ("url", "a", "b", "seen"))))
    if not state.auth.is_signed(signed, signature):
        raise BadRequest("this link is not valid", 403)
    found = diff(state, Inputs({**values, "view": "text"}, ANONYMOUS, ""))
    if not found["share"].endswith(f"seen={values['seen']}"):
        raise BadRequest("these versions were removed", 404)
    title = state.collection.show(found["difference"].url, values["b"]).title  # Not that of a later version.
    return {**found, "title": title, "previous": None, "following": None}


def source_lines(state: AppState, found: VersionDiff) -> list[dict[str, str]]:
    """Return the lines of the source that differ, with those around them."""
    older, newer = (
        _TAGS.sub(
            "\n", state.collection.show(found.url, f"v{one.version}").html.decode("utf-8", "replace")
        ).splitlines()
        for one in (found.before, found.after)
    )
    changed = unified_diff(older[:MAX_SOURCE_LINES], newer[:MAX_SOURCE_LINES], lineterm="")
    lines = islice(changed, 2, MAX_SOURCE_LINES)
    return [{"sign": line[0], "text": line[1 : MAX_SOURCE_CHARS + 1]} for line in lines]


def screenshots(state: AppState, found: VersionDiff) -> dict[str, Any]:
    """Return the pictures of both versions with the regions that differ, or why there are none."""
    marks = [f"v{one.version}" for one in (found.before, found.after)]
    pictures = [link_to("/screenshot", url=f"{found.url}@{mark}") for mark in marks]
    try:
        regions = state.collection.diff_screenshots(found.url, *marks)
    except (ConfigError, StoreUnavailable) as error:
        shown = all(_has_screenshot(state, f"{found.url}@{mark}") for mark in marks)
        return {"problem": str(error), "pictures": pictures if shown else [], "regions": None}
    return {"problem": None, "pictures": pictures, "regions": regions}


def _replay(state: AppState, host: str, url: str, at: datetime) -> str:
    return f"{state.replay_origin(host)}/r/{replay_key(state)}/web/{at:%Y%m%d%H%M%S}/{url}"


def show(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show a version: text, headers, links, and the archived page."""
    found = state.collection.show(canonical_page_url(state.collection.typed_url(inputs["url"])), inputs["at"] or "v0")
    stamp = f"{found.fetched_at:%Y%m%d%H%M%S}"
    origin = state.replay_origin(inputs.host)
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
        "usage": dict(found.usage),
        "replay": _replay(state, inputs.host, found.url, found.fetched_at),
        "memento": f"{origin}/web/{stamp}/{found.url}",
    }


def replay_key(state: AppState, days_back: int = 0) -> str:
    """Return the key that opens archived pages today."""
    day = (state.now() - timedelta(days=days_back)).date()
    return state.auth.signature(f"replay {day.isoformat()}")


def is_replay_key(auth: AuthStore, key: str, *, now: datetime) -> bool:
    """Return whether the key is of today or yesterday."""
    return any(auth.is_signed(f"replay {(now - timedelta(days=back)).date()}", key) for back in (0, 1))


MAX_ROWS = 1000
CONTEXT_CHARS = 200  # Unchanged text shown on each side of a difference.
MAX_UNCHANGED_CHARS = 300  # Text shown of an unchanged block.


class DiffRow(NamedTuple):
    """An edit, a moved block, an unchanged one, or a number of hidden unchanged blocks."""

    kind: Literal["edit", "moved", "same", "gap"]
    place: int
    before: tuple[Words, ...] = ()
    after: tuple[Words, ...] = ()
    words: tuple[Words, ...] = ()  # Both together, for narrow screens.
    hidden: int = 0


def side_by_side(edits: Sequence[BlockEdit], blocks: Sequence[str], *, around: int = 1) -> list[DiffRow]:
    """Return the rows of a difference; `blocks` is the newer text, `around` how much of it is shown beside edits."""
    rows: list[DiffRow] = []
    shown = 0
    for begin, end, group in _groups(edits):
        rows += _unchanged_rows(blocks, shown, begin - 1, around, is_first=shown == 0)
        rows += group
        shown = end
        if len(rows) > MAX_ROWS:
            return rows[:MAX_ROWS]
    return rows + _unchanged_rows(blocks, shown, len(blocks), around, is_last=True) if rows else rows


def _groups(edits: Sequence[BlockEdit]) -> Iterator[tuple[int, int, list[DiffRow]]]:
    """Yield adjacent edits: first and last block in the newer text, and rows that pair old with new."""
    at = 0
    while at < len(edits):
        place = edits[at].place
        if edits[at].sign in "~>":
            yield place, place, [_row(edits[at])]
            at += 1
            continue
        removed = list(takewhile(lambda edit: edit.sign == "-" and edit.place == place, edits[at:]))  # noqa: B023
        added = _added_from(edits[at + len(removed) :], place)
        yield place, place + len(added) - 1, _pair_blocks(removed, added)
        at += len(removed) + len(added)


def _added_from(edits: Sequence[BlockEdit], place: int) -> list[BlockEdit]:
    """Return the added blocks that follow each other from `place` on."""
    numbered = takewhile(lambda pair: pair[1].sign == "+" and pair[1].place == place + pair[0], enumerate(edits))
    return [edit for _, edit in numbered]


def _pair_blocks(removed: Sequence[BlockEdit], added: Sequence[BlockEdit]) -> list[DiffRow]:
    pairs = zip_longest(removed, added)
    return [
        DiffRow("edit", (new or old).place, old.words if old else (), new.words if new else (), _both(old, new))
        for old, new in pairs
    ]


def _both(old: BlockEdit | None, new: BlockEdit | None) -> tuple[Words, ...]:
    """Return a removed block and the added one on two lines."""
    if old is None or new is None:
        return (old or new or BlockEdit(0, ())).words
    return (*old.words, Words(" ", "\n"), *new.words)


def _row(whole: BlockEdit) -> DiffRow:
    if whole.sign == ">":
        words = (Words(" ", cut_text(whole.words[0].text, MAX_UNCHANGED_CHARS)),)
        return DiffRow("moved", whole.place, (), words, words)
    edit = shorten_edit(whole, CONTEXT_CHARS)
    before = tuple(run for run in edit.words if run.sign != "+")
    after = tuple(run for run in edit.words if run.sign != "-")
    return DiffRow(
        "edit", edit.place, before if edit.sign != "+" else (), after if edit.sign != "-" else (), edit.words
    )


def _unchanged_rows(
    blocks: Sequence[str], begin: int, end: int, around: int, *, is_first: bool = False, is_last: bool = False
) -> list[DiffRow]:
    """Return rows for the blocks from `begin` to `end`, with blocks far from edits hidden."""
    places = range(max(0, begin), min(end, len(blocks)))
    kept = [
        place
        for place in places
        if (not is_first and place < begin + around) or (not is_last and place >= end - around) or around >= len(blocks)
    ]
    rows: list[DiffRow] = []
    following = places.start
    for place in kept:
        rows += _gap(following, place)
        words = (Words(" ", cut_text(blocks[place], MAX_UNCHANGED_CHARS)),)
        rows.append(DiffRow("same", place + 1, words, words, words))
        following = place + 1
    return rows + _gap(following, places.stop)


def _gap(begin: int, end: int) -> list[DiffRow]:
    return [DiffRow("gap", begin + 1, hidden=end - begin)] if end > begin else []
