from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.collection.alerts.alert_outbox import AlertOutbox, LogPosition
from evercrawl.collection.alerts.event_reader import LINES_AT_A_TIME, CollectionLogs, EventReader, ShardLog
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.config import create_collection
from evercrawl.core.alerts.matching import PageText
from evercrawl.core.change.text_diff import make_edit
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, EventKind
from evercrawl.model.change import Change, ChangeClass
from evercrawl.model.document import FieldValue
from evercrawl.model.page import Batch, SettledChange
from evercrawl.model.reason import Reason
from evercrawl.model.settings import StoreSettings
from tests.contract.store_values import NOON_US, a_page, a_site, a_version, a_visit

TARGET = Destination(Channel.WEBHOOK, "https://example.org/")


@dataclass
class Log:
    """The log of one shard; it records the requested ranges."""

    lines: int
    stamped: object | None = None
    is_damaged: bool = False
    asked: list[tuple[int, int]] = field(default_factory=list)
    late: list[Event] = field(default_factory=list)

    def shards(self) -> list[int]:
        return [5]

    def stamp(self, shard: int) -> object | None:
        return self.stamped

    @contextmanager
    def open(self, shard: int) -> Iterator[ShardLog]:
        yield self

    def end(self) -> LogPosition:
        return LogPosition(self.lines, len(self.late))

    def late_events(self, after: int, upto: int) -> list[Event]:
        return self.late[after:upto]

    def events(self, after: int, upto: int) -> list[Event]:
        self.asked.append((after, upto))
        return [
            Event(5, line, line, f"https://a/{line}", EventKind.CONTENT, 0.5, line, 2)
            for line in range(after + 1, upto + 1)
            if line % 1000 == 0
        ]

    def page_after(self, event: Event) -> PageText:
        if self.is_damaged:
            raise StoreUnavailable("the text cannot be read")
        return PageText(event.url, "", "the ferry", "en")

    def text_before(self, event: Event) -> str:
        return ""

    def fields(self, event: Event) -> dict[str, FieldValue]:
        return {}


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[AlertOutbox]:
    with closing(AlertOutbox(tmp_path)) as opened:
        yield opened


def put(outbox: AlertOutbox, name: str, *, since_us: int = 0, query: str | None = None) -> int:
    outbox.put(Alert(name, AlertFilter(query=query), TARGET), now_us=since_us, ends={})
    known = outbox.find(name)
    assert known is not None
    return known.id


def test_a_long_log_is_read_in_parts_and_only_once(outbox: AlertOutbox) -> None:
    number = put(outbox, "a")
    log = Log(2 * LINES_AT_A_TIME + 10)
    follower = EventReader(outbox, log)
    assert follower.read(now_us=1) == 10
    assert [upto - after for after, upto in log.asked] == [LINES_AT_A_TIME, LINES_AT_A_TIME, 10]
    assert follower.read(now_us=2) == 0
    assert EventReader(outbox, log).read(now_us=3) == 0
    assert outbox.counts(number).pending == 10


def test_nothing_is_read_without_alerts_or_new_visits(outbox: AlertOutbox) -> None:
    log = Log(10, stamped="same")
    follower = EventReader(outbox, log)
    follower.read(now_us=1)
    assert log.asked == []
    put(outbox, "a")
    follower.read(now_us=1)
    log.lines = 20
    follower.read(now_us=2)
    assert log.asked == [(0, 10)]
    log.stamped = "another"
    follower.read(now_us=3)
    assert log.asked == [(0, 10), (10, 20)]


def test_events_before_an_alert_are_not_reported(outbox: AlertOutbox) -> None:
    old, young = put(outbox, "old"), put(outbox, "young", since_us=2001)
    EventReader(outbox, Log(3000)).read(now_us=1)
    assert (outbox.counts(old).pending, outbox.counts(young).pending) == (3, 1)


def test_a_truncated_log_is_read_from_its_end(outbox: AlertOutbox) -> None:
    number = put(outbox, "a")
    log = Log(3000)
    follower = EventReader(outbox, log)
    follower.read(now_us=1)
    log.lines = 1500
    assert follower.read(now_us=2) == 0
    log.lines = 2000
    follower.read(now_us=3)
    assert outbox.cursors() == {5: (2000, 0)}
    assert outbox.counts(number).pending == 3, "the same visit is not told twice"


def test_an_unreadable_text_delays_nothing(outbox: AlertOutbox) -> None:
    asking, other = put(outbox, "asking", query="ferry"), put(outbox, "other")
    log = Log(1000)
    EventReader(outbox, log).read(now_us=1)
    log.lines, log.is_damaged = 2000, True
    EventReader(outbox, log).read(now_us=2)
    assert (outbox.counts(asking).pending, outbox.counts(other).pending) == (1, 2)


def test_a_verdict_that_comes_after_its_line_was_read_is_reported_once(outbox: AlertOutbox) -> None:
    number = put(outbox, "a")
    log = Log(3000)
    reader = EventReader(outbox, log)
    assert reader.read(now_us=1) == 3
    event = Event(5, 1500, 1500, "https://a/1500", EventKind.CONTENT, 0.5, 1500, 2)
    log.late = [event, event._replace(visit=2000, at_us=2000)]
    reader.read(now_us=2)
    EventReader(outbox, log).read(now_us=3)
    assert outbox.cursors() == {5: (3000, 2)}
    known = outbox.find("a")
    assert known is not None
    message = outbox.compose(known._replace(alert=replace(known.alert, max_changes=9)), upto_us=9, now_us=9)
    assert message is not None
    lines = [one.event.visit for one in outbox.message_events(message.id)]
    assert lines == [1000, 2000, 3000, 1500], "line 2000 was reported already"
    assert outbox.counts(number).pending == 4


def test_a_new_page_is_reported_with_the_start_of_its_text(outbox: AlertOutbox) -> None:
    outbox.put(Alert("n", AlertFilter(kinds=frozenset({EventKind.NEW})), TARGET), now_us=0, ends={})
    log = Log(0)
    log.late = [Event(5, 1, 1, "https://a/1", EventKind.NEW, 1.0, 1, 1)]
    assert EventReader(outbox, log).read(now_us=1) == 1
    (known,) = outbox.alerts()
    message = outbox.compose(known, upto_us=9, now_us=9)
    assert message is not None
    (told,) = outbox.message_events(message.id)
    assert told.event.excerpt == "the ferry"


def test_a_paused_alert_is_told_nothing(outbox: AlertOutbox) -> None:
    number = put(outbox, "a")
    log = Log(1000)
    reader = EventReader(outbox, log)
    reader.read(now_us=1)
    outbox.pause(number)
    assert outbox.busy_alerts() == set()
    log.lines = 2000
    assert reader.read(now_us=2) == 0
    outbox.resume(number, now_us=2500)
    log.lines = 4000
    assert reader.read(now_us=3) == 2
    assert outbox.counts(number).pending == 2


def test_a_late_verdict_in_a_real_collection_becomes_an_event(tmp_path: Path) -> None:
    change = Change(ChangeClass.CONTENT, 0.2, (make_edit(1, "12 €", "15 €", is_template=False),))
    page = a_page(1)
    first = Batch(sites={1: a_site()}, new_pages=[page], visited=[a_visit(page, version=a_version(1))])
    doubtful = a_version(2, body=b"second")._replace(change_class="noise")
    second = Batch(visited=[a_visit(page, at_us=NOON_US + 5, version=doubtful, reason=Reason.CHANGED)])
    third = Batch(settled=[SettledChange(1, NOON_US + 5, change)])
    create_collection(tmp_path / "c.evercrawl", {})
    with closing(AlertOutbox(tmp_path / "c.evercrawl")) as outbox:
        put(outbox, "a")
        told: list[int] = []
        for batch in (first, second, third, Batch()):
            asyncio.run(commit(tmp_path / "c.evercrawl", batch))
            told.append(EventReader(outbox, CollectionLogs(tmp_path / "c.evercrawl")).read(now_us=9))
        assert told == [0, 0, 1, 0]
        (known,) = outbox.alerts()
        message = outbox.compose(known, upto_us=9, now_us=9)
        assert message is not None
        ((_, _, event),) = outbox.message_events(message.id)
    assert (event.kind, event.size, event.edits, event.version) == (EventKind.CONTENT, 0.2, change.edits, 2)


def test_edits_in_muted_parts_are_left_out(tmp_path: Path) -> None:
    counter = make_edit(1, "Visitors today: 12", "Visitors today: 15", is_template=False)
    price = make_edit(2, "Adults 12 €", "Adults 15 €", is_template=False)
    page = a_page(1)
    version = a_version(2, body=b"second")._replace(change_class="content")
    visits = [
        a_visit(page, version=a_version(1)),
        a_visit(page, at_us=NOON_US + 5, version=version, change=Change(ChangeClass.CONTENT, 0.2, (counter, price))),
        a_visit(page, at_us=NOON_US + 9, change=Change(ChangeClass.CONTENT, 0.1, (counter,))),
        a_visit(page, at_us=NOON_US + 10, change=Change(ChangeClass.CONTENT, 0.1, (counter,), omitted=1)),
    ]
    create_collection(tmp_path / "c.evercrawl", {})
    asyncio.run(commit(tmp_path / "c.evercrawl", Batch(sites={1: a_site()}, new_pages=[page], visited=visits)))
    ChangeInbox(tmp_path / "c.evercrawl").mute(page.url, "Visitors today: *", who="me", now_us=1)
    with CollectionLogs(tmp_path / "c.evercrawl").open(0) as shard_log:
        events = [event for event in shard_log.events(0, 9) if event.kind is EventKind.CONTENT]
    assert [event.edits for event in events] == [(price,), (counter,)], "what is not stored may matter"


async def commit(collection: Path, batch: Batch) -> None:
    store = SqliteStore(collection, StoreSettings())
    shard = await store.open_shard(0)
    await shard.commit((await shard.claim()).epoch, batch)
    await store.close()
