"""What changed on which pages since some moment, grouped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from evercrawl.adapters.sqlite.reader import ShardReader, StateReader
from evercrawl.core.change.review import Group, groups_of, heard
from evercrawl.core.change.text_diff import marked, shortened, text_difference
from evercrawl.core.url import site_of
from evercrawl.model.change import BlockEdit, Change, Edit
from evercrawl.model.history import ChangeGroup, Mute
from evercrawl.model.time import to_us

EXAMPLE_LINES = 5


def changes_since(
    collection: Path, since: datetime, *, site: str | None = None, noise: bool = False, mutes: Sequence[Mute] = ()
) -> list[ChangeGroup]:
    """Groups of changes that were seen after `since`, the most significant first.

    An edit of the template is one group for all its pages; what single pages show by themselves (adverts,
    counters) is among them only with `noise`; what lies in muted parts is not.
    """
    reader = StateReader(collection)
    seen: list[tuple[str, Change]] = []
    for shard in reader.shards():
        with reader.shard(shard) as state:
            seen.extend(_seen(state, to_us(since), site))
    if mutes:
        seen = [(url, left) for url, change in seen if (left := heard(change, url, mutes)) is not None]
    return [told(group) for group in groups_of(seen, with_noise=noise)]


def _seen(state: ShardReader, since_us: int, site: str | None) -> Iterator[tuple[str, Change]]:
    portion = state.changes_since(since_us)
    while portion:
        for view in portion:
            if site is None or _is_of(view.url, site):
                yield view.url, view.change
        portion = state.changes_since(portion[-1].at_us, portion[-1].page_id)


def _is_of(url: str, site: str) -> bool:
    """The URL is of this host or origin."""
    origin = site_of(url)
    return site.rstrip("/") in (origin, origin.partition("://")[2])


def told(group: Group) -> ChangeGroup:
    """A group as it is shown."""
    lines = [line for edit in group.edits for line in _lines(edit)]
    more = [f"and {len(lines) - EXAMPLE_LINES} more"] if len(lines) > EXAMPLE_LINES else []
    return ChangeGroup(
        change_class=group.kind.value,
        size=round(group.size, 4),
        pages=group.pages,
        example="\n".join(lines[:EXAMPLE_LINES] + more),
    )


def _lines(edit: Edit) -> list[str]:
    """What went and came; where a text was edited, with a few words around."""
    found = text_difference(edit.removed, edit.added)
    return [_line(part) for part in found.edits]


def _line(edit: BlockEdit) -> str:
    words = "".join(marked(run) if edit.sign == "~" else run.text for run in shortened(edit).words)
    return f"{edit.sign} {words}"
