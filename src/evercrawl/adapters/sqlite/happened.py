"""What happened to the pages of a shard, in the order in which it was committed.

Moments would not do as a place in the log: a slow visit that began first is committed last. Lines of the log
of visits are numbered by the only process that may write the shard, so that nothing comes in behind a line
that was read.
"""

from __future__ import annotations

import json
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from evercrawl.adapters.sql.state_reader import ShardReader
from evercrawl.adapters.sqlite.statements import statements_in
from evercrawl.core.alerts.matching import PageText
from evercrawl.model.alerts import Event, EventKind
from evercrawl.model.reason import Reason

_FILE = files(__package__).joinpath("happened.sql")
HAPPENED = MappingProxyType(statements_in(_FILE.read_text(encoding="utf-8")))
GONE = frozenset({Reason.GONE.value, Reason.NOT_FOUND.value})
_CHANGED = frozenset({EventKind.CONTENT.value, EventKind.METADATA.value})
MOST_EDITS = 5


def last_visit_id(state: ShardReader) -> int:
    """The number of the newest line of the log; 0: there is none."""
    number: int = state.rows_of(HAPPENED["newest_line"])[0][0]
    return number


def events_between(state: ShardReader, shard: int, after: int, upto: int) -> list[Event]:
    """What the visits behind line `after` met, up to line `upto`, in their order."""
    rows = state.rows_of(HAPPENED["happened"], after, upto)
    return [event for row in rows if (event := _event(shard, row)) is not None]


def text_after(state: ShardReader, event: Event) -> PageText:
    """What the version says that the event left."""
    about = state.rows_of(HAPPENED["version_about"], event.page_id, event.version)
    title, lang = about[0] if about else (event.title, None)
    return PageText(event.url, title or "", state.text(event.page_id, event.version) or "", lang)


def text_before(state: ShardReader, event: Event) -> str:
    """The main text of the version before; empty: there is none any more."""
    number = state.rows_of(HAPPENED["version_before"], event.page_id, event.version)[0][0]
    return "" if number is None else state.text(event.page_id, number) or ""


def _event(shard: int, row: Any) -> Event | None:
    (line, page_id, at_us, url, reason, version, number, title, stored, stored_size, kind, size, edits, before) = row
    event = Event(shard, line, page_id, url, EventKind.CONTENT, 1.0, at_us, version, title)
    if reason in GONE:
        is_news = version > 0 and before not in GONE
        return event._replace(kind=EventKind.GONE) if is_news else None
    if number == 1:
        return event._replace(kind=EventKind.NEW)
    known = kind if kind in _CHANGED else stored
    if known not in _CHANGED:
        return None
    measure = size if kind in _CHANGED else stored_size
    return event._replace(kind=EventKind(known), size=measure or 0.0, edits=_edits(edits))


def _edits(written: str | None) -> tuple[tuple[str, str], ...]:
    """What went and came in the page's own part."""
    listed = json.loads(written) if written else []
    return tuple((gone, came) for _, is_template, gone, came in listed if not is_template)[:MOST_EDITS]
