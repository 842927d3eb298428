"""The history of one page: its versions, what differs between them, and how they looked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import takewhile, zip_longest
from typing import Any, Literal, NamedTuple

from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.core.change.classify import MAX_EDIT_CHARS
from evercrawl.core.change.review import mute_pattern
from evercrawl.core.change.text_diff import text_blocks
from evercrawl.core.url import site_of
from evercrawl.errors import ConfigError
from evercrawl.model.change import BlockEdit, Words
from evercrawl.model.history import PageHistory
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import timeline
from evercrawl.web.route import BadRequest, Inputs

VISITS_SHOWN = 50
TEXT_SHOWN = 20_000
PARTS_LOOKED_AT, PARTS_SHOWN = 40, 8


def page_url(text: str) -> str:
    """The URL that was typed; a bare host means https."""
    return text if "://" in text else f"https://{text}"


def page(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """A page: its versions, its visits, why and when it is visited."""
    url = page_url(inputs["url"])
    explanation = state.collection.why(url)
    try:
        history = state.collection.history(url)
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


def diff(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """What differs between two versions of a page."""
    found = state.collection.diff(page_url(inputs["url"]), inputs["a"], inputs["b"])
    history = state.collection.history(found.url)
    newer = state.collection.show(found.url, f"v{found.after.version}").text if found.edits else ""
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


def show(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """One version: its text, headers and links; the archived page itself is shown by replay."""
    found = state.collection.show(canonical_page_url(page_url(inputs["url"])), inputs["at"] or "v0")
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
        "replay": f"{origin}/r/{replay_key(state)}/web/{stamp}/{found.url}",
        "memento": f"{origin}/web/{stamp}/{found.url}",
    }


def replay_key(state: AppState, days_back: int = 0) -> str:
    """What opens replay to whoever was given the link, for today."""
    day = (state.now() - timedelta(days=days_back)).date()
    return state.auth.signature(f"replay {day.isoformat()}")


def is_replay_key(state: AppState, key: str) -> bool:
    """The key is of today or yesterday."""
    return any(state.auth.is_signed(f"replay {(state.now() - timedelta(days=back)).date()}", key) for back in (0, 1))


AROUND = 1
"""Blocks that are shown before and behind an edit."""
MOST_ROWS = 1000


class DiffRow(NamedTuple):
    """One row: an edit, a block that is the same on both sides, or a number of such blocks left out."""

    kind: Literal["edit", "same", "gap"]
    place: int
    before: tuple[Words, ...] = ()
    after: tuple[Words, ...] = ()
    left_out: int = 0


def side_by_side(edits: Sequence[BlockEdit], blocks: Sequence[str]) -> list[DiffRow]:
    """The rows of a difference; `blocks` is the newer text."""
    rows: list[DiffRow] = []
    shown = 0
    for begin, end, group in _groups(edits):
        rows += _unchanged(blocks, shown, begin - 1, is_first=shown == 0)
        rows += group
        shown = end
        if len(rows) > MOST_ROWS:
            return rows[:MOST_ROWS]
    return rows + _unchanged(blocks, shown, len(blocks), is_last=True) if rows else rows


def _groups(edits: Sequence[BlockEdit]) -> Iterator[tuple[int, int, list[DiffRow]]]:
    """Edits in a row: first and last block of the newer text, and rows that pair old with new."""
    at = 0
    while at < len(edits):
        place = edits[at].place
        if edits[at].sign == "~":
            yield place, place, [_row(edits[at])]
            at += 1
            continue
        went = list(takewhile(lambda edit: edit.sign == "-" and edit.place == place, edits[at:]))  # noqa: B023
        came = _that_follow(edits[at + len(went) :], place)
        yield place, place + len(came) - 1, _paired(went, came)
        at += len(went) + len(came)


def _that_follow(edits: Sequence[BlockEdit], place: int) -> list[BlockEdit]:
    """New blocks that stand one behind the other, from `place` on."""
    numbered = takewhile(lambda pair: pair[1].sign == "+" and pair[1].place == place + pair[0], enumerate(edits))
    return [edit for _, edit in numbered]


def _paired(went: Sequence[BlockEdit], came: Sequence[BlockEdit]) -> list[DiffRow]:
    pairs = zip_longest(went, came)
    return [
        DiffRow("edit", (new or old).place, old.words if old else (), new.words if new else ()) for old, new in pairs
    ]


def _row(edit: BlockEdit) -> DiffRow:
    before = tuple(run for run in edit.words if run.sign != "+")
    after = tuple(run for run in edit.words if run.sign != "-")
    return DiffRow("edit", edit.place, before if edit.sign != "+" else (), after if edit.sign != "-" else ())


def _unchanged(
    blocks: Sequence[str], begin: int, end: int, *, is_first: bool = False, is_last: bool = False
) -> list[DiffRow]:
    """Blocks from `begin` to `end`, counted from 0, without those far from any edit."""
    places = range(max(0, begin), min(end, len(blocks)))
    kept = [
        place
        for place in places
        if (not is_first and place < begin + AROUND) or (not is_last and place >= end - AROUND)
    ]
    rows: list[DiffRow] = []
    following = places.start
    for place in kept:
        rows += _gap(following, place)
        words = (Words(" ", blocks[place]),)
        rows.append(DiffRow("same", place + 1, words, words))
        following = place + 1
    return rows + _gap(following, places.stop)


def _gap(begin: int, end: int) -> list[DiffRow]:
    return [DiffRow("gap", begin + 1, left_out=end - begin)] if end > begin else []
