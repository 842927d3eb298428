"""What changed on which pages since some moment, grouped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.sqlite.reader import ShardReader, StateReader
from evercrawl.core.change_groups import ChangeItem, PageChange, change_groups, strongest
from evercrawl.core.diff import edit_key, text_difference
from evercrawl.core.edit_line import edit_line
from evercrawl.core.moment import to_us
from evercrawl.core.url import key_of, site_of
from evercrawl.model.difference import FieldChange, TextDifference
from evercrawl.model.past import ChangeGroup
from evercrawl.model.settings import Settings
from evercrawl.model.view import VersionView
from evercrawl.past.difference import difference_between
from evercrawl.past.stored import StoredPage

LONGEST_LINE = 300
TURNED_BACK = "changed, and changed back since"


class _Moved(NamedTuple):
    """A page that has new versions, with the one that it had before them."""

    page_id: int
    url: str
    versions: tuple[VersionView, ...]
    """From the one before the moment (of a page that is new since: from its first) to the newest."""


def changes_since(
    collection: Path, settings: Settings, since: datetime, *, site: str | None = None, noise: bool = False
) -> list[ChangeGroup]:
    """Groups of changes that were seen after `since`, the most significant first."""
    reader = StateReader(collection)
    changes: list[PageChange] = []
    for shard in reader.shards():
        with reader.shard(shard) as state:
            for moved in _moved_pages(state, to_us(since), site):
                change = _change_of(collection, settings, shard, state, moved)
                if noise or strongest(item.change_class for item in change.items) != "noise":
                    changes.append(change)
    return change_groups(changes)


def _moved_pages(state: ShardReader, since_us: int, site: str | None) -> Iterator[_Moved]:
    after = (0, 0)
    last_page = 0
    while portion := state.versions_since(since_us, after):
        for page_id, _, url in portion:
            if page_id != last_page and (site is None or _is_of(url, site)):
                versions = state.versions(page_id)
                first_new = next(place for place, kept in enumerate(versions) if kept.seen_us > since_us)
                spanned = tuple(versions[max(0, first_new - 1) :])
                if len(spanned) > 1:
                    yield _Moved(page_id, url, spanned)
            last_page = page_id
        after = portion[-1][:2]


def _is_of(url: str, site: str) -> bool:
    """The URL is of this host or origin."""
    origin = site_of(url)
    return site.rstrip("/") in (origin, origin.partition("://")[2])


def _change_of(
    collection: Path, settings: Settings, shard: int, state: ShardReader, moved: _Moved
) -> PageChange:
    """Text and title from the store; where those are equal, the archive is asked for links and the rest."""
    before, after = moved.versions[0], moved.versions[-1]
    texts = [state.text(moved.page_id, kept.version.number) or "" for kept in (before, after)]
    text = text_difference(texts[0], texts[1])
    titles = before.version.title, after.version.title
    fields = [FieldChange("title", *titles)] if titles[0] != titles[1] else []
    items = [*_text_items(text), *_field_items(fields)]
    judged = strongest(kept.version.change_class or "none" for kept in moved.versions[1:])
    if not items and before.version.digest == after.version.digest:
        items = [ChangeItem(TURNED_BACK, judged if judged != "none" else "content", 0, TURNED_BACK)]
    elif not items:
        page = state.page(key_of(moved.url))
        assert page is not None
        stored = StoredPage(shard, page, moved.versions, ())
        items = _hidden_items(collection, settings, stored)
    return PageChange(moved.url, text.size, tuple(items))


def _text_items(text: TextDifference) -> list[ChangeItem]:
    items = []
    for edit in text.edits:
        key = edit_key(edit)
        weight = sum(len(words.text) for words in key)
        items.append(ChangeItem(key, "content", weight, edit_line(edit)[:LONGEST_LINE]))
    return items


def _field_items(fields: list[FieldChange]) -> list[ChangeItem]:
    return [
        ChangeItem(field, "metadata", 0, f"{field.name}: {field.before or '-'} → {field.after or '-'}")
        for field in fields
    ]


def _hidden_items(collection: Path, settings: Settings, stored: StoredPage) -> list[ChangeItem]:
    """Links and metadata that differ although text and title do not."""
    found = difference_between(collection, settings, stored, stored.versions[0], stored.versions[-1])
    items = _field_items(list(found.fields))
    items += [ChangeItem(("+", link), "metadata", 0, f"+ link {link}") for link in found.links_added]
    items += [ChangeItem(("-", link), "metadata", 0, f"- link {link}") for link in found.links_removed]
    return items or [ChangeItem("bytes", "noise", 0, "only what readers do not see")]
