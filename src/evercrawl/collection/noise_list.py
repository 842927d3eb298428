"""What the last visits called noise, grouped by the part of the page, so that a user can correct it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.core.change.review import edit_patterns, is_muted
from evercrawl.core.change.text_diff import edit_line, is_visible
from evercrawl.core.url import site_of
from evercrawl.model.change import ChangeClass, Edit
from evercrawl.model.history import ChangeGroup, Mute
from evercrawl.model.time import to_us

_Part = tuple[str, tuple[str, ...] | int]  # Site, and the patterns of the part; if there are none, the key of the edit.
EXAMPLES = 3  # Edits of a part that are shown.


def noise_since(
    collection: Path, since: datetime, *, site: str | None = None, mutes: Sequence[Mute] = ()
) -> list[ChangeGroup]:
    """Return what the last visit to each page called noise, if it was since a time; the most frequent part first."""
    pages: dict[_Part, dict[str, None]] = defaultdict(dict)
    edits: dict[_Part, list[Edit]] = defaultdict(list)
    for url, edit in _noise(collection, to_us(since), site):
        if is_muted(mutes, url, edit.removed, edit.added):
            continue
        part = site_of(url), tuple(edit_patterns(edit.removed, edit.added)) or edit.key
        pages[part][url] = None
        edits[part].append(edit)
    ordered = sorted(pages, key=lambda part: len(pages[part]), reverse=True)
    return [_group(part[1], tuple(pages[part]), edits[part]) for part in ordered]


def add_noise(groups: Sequence[ChangeGroup], noise: Sequence[ChangeGroup]) -> list[ChangeGroup]:
    """Return both lists; a part that the noise names is listed once."""
    named = {_named_part(group) for group in noise if group.parts}
    return [group for group in groups if _named_part(group) not in named] + list(noise)


def _named_part(group: ChangeGroup) -> tuple[str, str, tuple[str, ...]]:
    return group.change_class, site_of(group.pages[0]), group.parts


def _noise(collection: Path, since_us: int, site: str | None) -> Iterator[tuple[str, Edit]]:
    reader = StateReader(collection)
    for shard in reader.shards():
        with reader.shard(shard) as state:
            for record in state.noise_since(since_us):
                origin = site_of(record.url)
                if site is None or site.rstrip("/") in (origin, origin.partition("://")[2]):
                    yield from ((record.url, edit) for edit in record.change.edits if is_visible(edit))


def _group(patterns: tuple[str, ...] | int, pages: tuple[str, ...], edits: Sequence[Edit]) -> ChangeGroup:
    shown = tuple({edit.key: edit for edit in edits}.values())[:EXAMPLES]
    return ChangeGroup(
        change_class=ChangeClass.NOISE.value,
        size=0.0,
        pages=pages,
        example="\n".join(map(edit_line, shown)),
        edits=shown,
        parts=() if isinstance(patterns, int) else patterns,
    )
