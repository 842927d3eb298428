"""The pages `page`, `diff` and `show`: versions of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import takewhile, zip_longest
from typing import Any, Literal, NamedTuple

from evercrawl.collection.change_groups import cut_text, mute_patterns, shorten_edit, text_blocks
from evercrawl.collection.stored_pages import canonical_page_url
from evercrawl.collection.urls import site_of, with_scheme
from evercrawl.errors import ConfigError
from evercrawl.model.change import BlockEdit, Words
from evercrawl.model.history import PageHistory
from evercrawl.web.app_state import AppState
from evercrawl.web.charts import timeline
from evercrawl.web.route import BadRequest, Inputs

VISITS_SHOWN = 50
TEXT_SHOWN = 20_000


def page(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Return a page: versions, visits, and why and when it is visited."""
    url = with_scheme(inputs["url"])
    explanation = state.collection.why(url)
    try:
        history = state.collection.history(url)
    except ConfigError:
        history = PageHistory(explanation.url, ())
    if not explanation.known and not history.versions:
        raise BadRequest(f"the collection does not have {explanation.url}: {explanation.detail}", 404)
    return {
        "url": explanation.url,
        "explanation": explanation,
        "versions": history.versions[::-1],
        "visits": history.visits[:VISITS_SHOWN],
        "visits_total": len(history.visits),
    }


def page_charts(data: dict[str, Any], today: date) -> dict[str, Any]:
    """Return the versions on a time line."""
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
    return {"versions": timeline("Versions over time; larger dots are larger changes", dots)}


def diff(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Return the differences between two versions of a page."""
    found = state.collection.diff(with_scheme(inputs["url"]), inputs["a"], inputs["b"])
    history = state.collection.history(found.url)
    newer = state.collection.show(found.url, f"v{found.after.version}").text if found.edits else ""
    return {
        "difference": found,
        "rows": side_by_side(found.edits, text_blocks(newer)),
        "words_added": found.words_of("+"),
        "words_removed": found.words_of("-"),
        "parts_edited": mute_patterns(found.edits),
        "site": site_of(found.url),
        "versions": [kept.version for kept in history.versions],
    }


def show(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Return a version: text, headers and links, and the URL of the archived page."""
    found = state.collection.show(canonical_page_url(with_scheme(inputs["url"])), inputs["at"] or "v0")
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
    """Return the key that opens archived pages today."""
    day = (state.now() - timedelta(days=days_back)).date()
    return state.auth.signature(f"replay {day.isoformat()}")


def is_replay_key(state: AppState, key: str) -> bool:
    """Return whether the key is of today or yesterday."""
    return any(state.auth.is_signed(f"replay {(state.now() - timedelta(days=back)).date()}", key) for back in (0, 1))


AROUND = 1  # Blocks shown before and after an edit.
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


def side_by_side(edits: Sequence[BlockEdit], blocks: Sequence[str]) -> list[DiffRow]:
    """Return the rows of a difference; `blocks` is the newer text."""
    rows: list[DiffRow] = []
    shown = 0
    for begin, end, group in _groups(edits):
        rows += _unchanged_rows(blocks, shown, begin - 1, is_first=shown == 0)
        rows += group
        shown = end
        if len(rows) > MAX_ROWS:
            return rows[:MAX_ROWS]
    return rows + _unchanged_rows(blocks, shown, len(blocks), is_last=True) if rows else rows


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
    blocks: Sequence[str], begin: int, end: int, *, is_first: bool = False, is_last: bool = False
) -> list[DiffRow]:
    """Return rows for the blocks from `begin` to `end`, with blocks far from edits hidden."""
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
        words = (Words(" ", cut_text(blocks[place], MAX_UNCHANGED_CHARS)),)
        rows.append(DiffRow("same", place + 1, words, words, words))
        following = place + 1
    return rows + _gap(following, places.stop)


def _gap(begin: int, end: int) -> list[DiffRow]:
    return [DiffRow("gap", begin + 1, hidden=end - begin)] if end > begin else []
