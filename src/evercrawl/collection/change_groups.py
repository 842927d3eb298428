"""Groups of changes since a time, for `changes`, the inbox and feeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from heapq import nlargest
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.sql.listing_reader import each_listing, open_listing
from evercrawl.adapters.sql.log_reader import events_between, text_after, visit_before
from evercrawl.adapters.sql.state_reader import ShardReader, StateReader
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.collection.site_list import find_site
from evercrawl.core.alerts.headline import event_headline
from evercrawl.core.change.grouping import CausePage, EditGroup, group_changes
from evercrawl.core.change.review import edit_patterns, filter_read, muted_part, read_marks, unmuted_part
from evercrawl.core.change.text_diff import cut_text as cut_text
from evercrawl.core.change.text_diff import edit_line as edit_line
from evercrawl.core.change.text_diff import is_visible
from evercrawl.core.change.text_diff import mark_words as mark_words
from evercrawl.core.change.text_diff import more_edits as more_edits
from evercrawl.core.change.text_diff import more_words as more_words
from evercrawl.core.change.text_diff import shorten_edit as shorten_edit
from evercrawl.core.change.text_diff import text_blocks as text_blocks
from evercrawl.core.url import site_of
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import CHANGES, Event, EventKind
from evercrawl.model.change import BlockEdit, Change, ChangeClass, Edit, Mute
from evercrawl.model.history import ChangeGroup, PageEvent
from evercrawl.model.listing import ChangeRecord, RecentChangeGroup, RecentChanges
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, to_us

MAX_VISITS = 10_000_000  # Visits of all shards that are read, the newest of each.
VISITS_AT_A_TIME = 5000
MAX_TEXTS = 400  # Pages whose texts are compared with the entries of lists, the newest of each shard.
SLOW_VISIT_US = 3_600_000_000  # A visit that began this long ago may be committed now.


class Window(NamedTuple):
    """What happened to pages since a time."""

    causes: list[CausePage]  # Pages from which changes of lists may follow, with the texts of the newest.
    events: tuple[PageEvent, ...]  # Pages that are new, gone or back, the newest first; of each page the last event.


def read_window(
    collection: Path, since: datetime, *, site: str | None = None, with_texts: bool = True, most: int = MAX_VISITS
) -> Window:
    """Return what happened to the pages of one site or all since a time, as far as the newest `most` visits tell."""
    causes: list[CausePage] = []
    last: list[PageEvent] = []
    reader = StateReader(collection)
    shards = reader.shards()
    for shard in shards:
        with reader.shard(shard) as state:
            events = {
                event.url: event for event in _shard_events(state, shard, to_us(since), site, most // len(shards))
            }
            texts = MAX_TEXTS // len(shards) if with_texts else 0
            newest = {event.url for event in nlargest(texts, events.values(), key=lambda event: event.at_us)}
            for url, event in events.items():
                causes.append(_cause(event, _text(state, event) if url in newest else ""))
                if event.kind not in CHANGES:
                    last.append(PageEvent(event.kind.value, url, from_us(event.at_us), event.title))
    return Window(causes, tuple(sorted(last, key=lambda event: event.at, reverse=True)))


def _cause(event: Event, text: str) -> CausePage:
    is_gone, is_new = event.kind is EventKind.GONE, event.kind is EventKind.NEW
    return CausePage(event.url, event.title or "", text, not (is_gone or is_new), is_gone)


def _shard_events(state: ShardReader, shard: int, since_us: int, site: str | None, most: int) -> Iterator[Event]:
    end, new = state.last_visit_id(), set[str]()
    after = max(visit_before(state, since_us - SLOW_VISIT_US, end), end - most)
    while after < end:
        upto = min(end, after + VISITS_AT_A_TIME)
        for event in events_between(state, shard, after, upto):
            # A page that was added and edited since is new; one that is gone or back is no longer.
            is_known_new = event.kind in CHANGES and event.url in new
            if event.at_us > since_us and not is_known_new and (site is None or is_on_site(event.url, site)):
                (new.add if event.kind is EventKind.NEW else new.discard)(event.url)
                yield event
        after = upto


def is_on_site(url: str, site: str) -> bool:
    """Return whether the URL is on this host or origin."""
    origin = site_of(url)
    return site.rstrip("/") in (origin, origin.partition("://")[2])


def _text(state: ShardReader, event: Event) -> str:
    with suppress(StoreUnavailable):
        return text_after(state, event).text
    return ""


TEMPLATE_CLASS = "template"  # The class of an edit of the site's template, shown as one group.


def changes_since(
    collection: Path, since: datetime, *, site: str | None = None, noise: bool = False, mutes: Sequence[Mute] = ()
) -> list[ChangeGroup]:
    """Return groups of changes since a time, most significant first.
    An edit of the template is one group for all its pages. Noise (adverts, counters) is included only with `noise`,
    changes in muted parts never."""
    reader = StateReader(collection)
    seen: list[tuple[str, Change]] = []
    for shard in reader.shards():
        with reader.shard(shard) as state:
            seen.extend(_read_changes(state, to_us(since), site))
    if mutes:
        seen = [(url, left) for url, change in seen if (left := unmuted_part(change, url, mutes)) is not None]
    causes = read_window(collection, since, site=site).causes if seen else []
    return [describe_group(group) for group in group_changes(seen, causes=causes, with_noise=noise)]


def _read_changes(state: ShardReader, since_us: int, site: str | None) -> Iterator[tuple[str, Change]]:
    portion = state.changes_since(since_us)
    while portion:
        for record in portion:
            if site is None or is_on_site(record.url, site):
                yield record.url, record.change
        portion = state.changes_since(portion[-1].at_us, portion[-1].page_id)


def describe_group(group: EditGroup) -> ChangeGroup:
    """Return a group with its edits in a plain form."""
    edits = tuple(edit for edit in group.edits if is_visible(edit))
    more = [more_edits(group.omitted)] if group.omitted else []
    is_template = group.is_template and len(group.pages) > 1
    patterns = (form for edit in edits for form in edit_patterns(edit.removed, edit.added))
    return ChangeGroup(
        change_class=TEMPLATE_CLASS if is_template else group.kind.value,
        size=round(group.size, 4),
        pages=group.pages,
        example="\n".join([*map(edit_line, edits), *more]),
        edits=edits,
        omitted=group.omitted,
        listings=group.listings,
        parts=tuple(islice(patterns, MAX_MUTE_PATTERNS)) if is_template or group.kind is ChangeClass.NOISE else (),
    )


def describe_pages(group: ChangeGroup) -> str:
    """Return how many pages have the edit of a group, and on how many only lists have changed."""
    lists, edited = len(group.listings), len(group.pages) - len(group.listings)
    if not edited:
        return f"list entries on {lists:,} page{'s' * (lists > 1)}"
    pages = f"same edit on {edited:,} pages" if edited > 1 else "edit on 1 page"
    return f"{pages}, lists on {lists:,} more" if lists else pages


MAX_CHANGES = 2000  # Changes that are read at once.
MAX_CAUSE_VISITS = 40_000  # Visits in which their causes are looked for, the newest.
MAX_PAGES_NAMED = 25
MAX_GROUPS = 200
MAX_MUTE_PATTERNS = 4  # Edits of a group that can be muted one by one.
FEED_READS = 4  # Changes that are read per feed entry, because many are noise.
_END = (2**63 - 1, 2**63 - 1)


Choose = Callable[[Sequence[ChangeRecord]], Sequence[ChangeRecord]]  # Selects changes.


def recent_changes(
    collection: Path, settings: Settings, *, since: datetime, site: str | None = None, noise: bool = False,
    choose: Choose = lambda records: records, limit: int = MAX_GROUPS,
) -> RecentChanges:  # fmt: skip
    """Return the most significant groups of changes since a time."""
    seen = _newest_records(collection, settings, site, to_us(since))
    newest = nlargest(MAX_CHANGES, seen, key=lambda record: record.at_us)
    complete = len(seen) < MAX_CHANGES
    chosen = choose(newest)
    # What is older than the oldest change that was read neither explains one nor is shown.
    until = since if complete or not newest else from_us(newest[-1].at_us)
    window = read_window(collection, until, site=site, with_texts=bool(chosen), most=MAX_CAUSE_VISITS)
    seen_changes = ((record.url, record.change) for record in chosen)
    groups = group_changes(seen_changes, causes=window.causes, with_noise=noise)
    moments, titles = _newest_of_edits(chosen), {record.url: record.title for record in chosen}
    # Only shown groups are described, because comparing texts is slow.
    return RecentChanges(
        since=since,
        until=until,
        complete=complete,
        changes=len(chosen),
        groups=tuple(_describe_recent(group, moments, titles) for group in groups[:limit]),
        total_groups=len(groups),
        newest_us=max((record.at_us for record in chosen), default=0),
        events=window.events,
    )


def _newest_of_edits(records: Sequence[ChangeRecord]) -> dict[int, int]:
    """Return when each edit was last seen, by its key."""
    found: dict[int, int] = {}
    for record in records:
        for edit in record.change.edits:
            found[edit.key] = max(record.at_us, found.get(edit.key, 0))
    return found


def _describe_recent(
    group: EditGroup, moments: Mapping[int, int], titles: Mapping[str, str | None]
) -> RecentChangeGroup:
    keys = tuple(dict.fromkeys((*(edit.key for edit in group.edits), *group.keys)))
    forms = (form for edit in group.edits for form in edit_patterns(edit.removed, edit.added))
    parts = tuple(dict.fromkeys(islice(forms, MAX_MUTE_PATTERNS)))
    described = describe_group(group)
    newest_us = max(moments[key] for key in keys)
    return RecentChangeGroup(described, keys, newest_us, parts, titles.get(described.pages[0]))


def without_muted(records: Sequence[ChangeRecord], mutes: Sequence[Mute]) -> Sequence[ChangeRecord]:
    """Return the changes outside muted parts."""
    if not mutes:
        return records
    left = ((record, unmuted_part(record.change, record.url, mutes)) for record in records)
    return [record._replace(change=change) for record, change in left if change is not None]


def change_headline(record: ChangeRecord) -> str:
    """Return what changed on a page in one line."""
    change = record.change
    edits = tuple(edit for edit in change.edits if not edit.is_template)
    event = Event(0, 0, record.page_id, record.url, EventKind(change.kind.value), change.size, record.at_us, 2)
    return event_headline(event._replace(edits=edits, omitted=change.omitted))


def change_feed(
    collection: Path, settings: Settings, *, site: str | None, limit: int, mutes: Sequence[Mute] = ()
) -> list[ChangeRecord]:
    """Return the newest changes without noise and muted parts, newest first."""
    records = without_muted(_newest_records(collection, settings, site, 0, limit=limit * FEED_READS), mutes)
    return nlargest(limit, (record for record in records if record.change.changed), key=lambda record: record.at_us)


def _newest_records(
    collection: Path, settings: Settings, site: str | None, since_us: int, *, limit: int = MAX_CHANGES
) -> list[ChangeRecord]:
    if site is not None:
        found = find_site(collection, settings, site)
        if found is None:
            return []
        shard, site_record = found
        with open_listing(collection, shard) as reader:
            return reader.changes_before(_END, since_us=since_us, site_id=site_record.id, most=limit)
    since_us = _start_of_newest(collection, since_us, limit)
    records: list[ChangeRecord] = []
    for _, reader in each_listing(collection):
        records += reader.changes_before(_END, since_us=since_us, site_id=None, most=limit)
    return records


def _start_of_newest(collection: Path, since_us: int, limit: int) -> int:
    """Return the time after which there are about `limit` changes."""
    lists = [reader.change_moments(since_us, limit) for _, reader in each_listing(collection)]
    newest = nlargest(limit, chain.from_iterable(lists))
    return newest[-1] - 1 if len(newest) == limit else since_us


def filter_by_state(inbox: ChangeInbox, state: str) -> Choose:
    """Return a filter for unread, read, muted or all changes."""
    mutes = inbox.mutes()
    if state == "all":
        return lambda records: records
    if state == "muted":
        return lambda records: _only_muted(records, mutes)
    was_seen = state == "read"
    return lambda records: filter_read(without_muted(records, mutes), read_marks(inbox.marks()), read=was_seen)


def _only_muted(records: Sequence[ChangeRecord], mutes: Sequence[Mute]) -> list[ChangeRecord]:
    found = ((record, muted_part(record.change, record.url, mutes)) for record in records)
    return [record._replace(change=change) for record, change in found if change is not None]


EDITS_CHECKED = 40
MAX_PATTERNS = 8


def mute_patterns(edits: Sequence[BlockEdit]) -> list[str]:
    """Return patterns that mute the edited parts: the text that stays the same in each."""
    shown = (Edit(0, False, shorten_edit(edit).words) for edit in edits[:EDITS_CHECKED])
    found = (form for edit in shown for form in edit_patterns(edit.removed, edit.added))
    return list(dict.fromkeys(found))[:MAX_PATTERNS]
