"""Alerts in virtual time, with receivers that are down for an hour and crashes at any moment."""

from __future__ import annotations

import asyncio
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from evercrawl.collection.alerts.alert_outbox import AlertOutbox, LogPosition
from evercrawl.collection.alerts.event_reader import ShardLog
from evercrawl.collection.alerts.notifier import Notifier
from evercrawl.collection.alerts.sender import OutgoingMessage
from evercrawl.core.alerts.delivery import DeliveryAttempt, MessageState, retry_message
from evercrawl.core.alerts.matching import PageText
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, EventKind, Frequency
from evercrawl.model.document import FieldValue
from evercrawl.model.settings import AlertSettings, Settings
from evercrawl.model.time import from_us, to_us
from evercrawl.testing.virtual_time import EPOCH, SimClock, run

HOUR = timedelta(hours=1)
SHARDS = 3


@dataclass
class Fate:
    """Kills the process at moments that chance chooses: around every work on the disk, and around the moment
    at which a receiver takes a message.
    """

    draw: random.Random
    chance: float
    died: asyncio.Event | None = None
    deaths: int = 0

    async def spin(self) -> None:
        """Continue, or raise and stay dead."""
        if self.draw.random() < self.chance:
            assert self.died is not None
            self.died.set()
        if self.died is not None and self.died.is_set():
            await asyncio.get_running_loop().create_future()

    async def off_loop(self, work: Callable[[], object]) -> object:
        await self.spin()
        done = work()
        await self.spin()
        return done


def no_death() -> Fate:
    return Fate(random.Random(0), 0.0)


@dataclass
class Pages:
    """A collection whose pages change at known moments."""

    clock: SimClock
    lines: dict[int, list[Event]] = field(default_factory=dict)

    def change(self, shard: int, at: datetime) -> None:
        events = self.lines.setdefault(shard, [])
        line = len(events) + 1
        url = f"https://{shard}.example/{line}"
        events.append(Event(shard, line, line, url, EventKind.CONTENT, 0.5, to_us(at), 2))

    def shards(self) -> Sequence[int]:
        return sorted(self.lines)

    def stamp(self, shard: int) -> None:
        return None

    @contextmanager
    def open(self, shard: int) -> Iterator[ShardLog]:
        lines = self.lines[shard]
        yield _Log(lines[: bisect_right(lines, to_us(self.clock.now()), key=lambda event: event.at_us)])


@dataclass
class _Log:
    seen: list[Event]

    def end(self) -> LogPosition:
        return LogPosition(len(self.seen))

    def late_events(self, after: int, upto: int) -> list[Event]:
        return []

    def events(self, after: int, upto: int) -> list[Event]:
        return self.seen[after:upto]

    def page_after(self, event: Event) -> PageText:
        return PageText(event.url, "", "", None)

    def text_before(self, event: Event) -> str:
        return ""

    def fields(self, event: Event) -> dict[str, FieldValue]:
        return {}


@dataclass
class Receivers:
    """Receivers by alert; each accepts an id once, as the idempotency key requires."""

    clock: SimClock
    is_up: Callable[[str, datetime], bool]
    takes: Callable[[str], timedelta] = lambda _: timedelta(milliseconds=50)
    accepted: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    moments: dict[str, list[datetime]] = field(default_factory=dict)
    doubles: int = 0
    attempts: int = 0
    fate: Fate = field(default_factory=no_death)

    async def send(self, outgoing: OutgoingMessage, *, now: datetime) -> DeliveryAttempt:
        name = outgoing.alert.name
        self.attempts += 1
        await self.fate.spin()
        await asyncio.sleep(self.takes(name).total_seconds())
        if not self.is_up(name, self.clock.now()):
            return DeliveryAttempt(False, "cannot connect")
        known = self.accepted.setdefault(name, {})
        self.doubles += outgoing.message.id in known
        if outgoing.message.id not in known:
            known[outgoing.message.id] = [pending.event.url for pending in outgoing.events]
            self.moments.setdefault(name, []).append(self.clock.now())
        await self.fate.spin()
        return DeliveryAttempt(True, "HTTP 200")

    async def close(self) -> None:
        pass

    def told(self, name: str) -> list[str]:
        return [url for urls in self.accepted.get(name, {}).values() for url in urls]


def alert(name: str, **more: object) -> Alert:
    return replace(Alert(name, AlertFilter(), Destination(Channel.WEBHOOK, "https://receiver.example/")), **more)  # type: ignore[arg-type]


EVERY = timedelta(seconds=30)


async def live(folder: Path, pages: Pages, receivers: Receivers, end: datetime, every: timedelta = EVERY) -> datetime:
    """Run the process until the end or its crash; return the moment."""
    clock, fate = receivers.clock, receivers.fate
    fate.died = died = asyncio.Event()
    outbox = AlertOutbox(folder)
    settings = Settings(alerts=AlertSettings(check_interval=every))
    teller = Notifier(outbox, settings, logs=pages, sender=receivers, clock=clock, off_loop=fate.off_loop)
    running = asyncio.create_task(teller.run(asyncio.Event()))
    try:
        async with asyncio.timeout((end - clock.now()).total_seconds()):
            await died.wait()
        fate.deaths += 1
    except TimeoutError:
        pass
    died.set()
    outbox.close()  # a dead process writes nothing
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    assert running.cancelled()
    return clock.now()


def lives(folder: Path, pages: Pages, receivers: Receivers, end: datetime, every: timedelta = EVERY) -> None:
    """Restart the process until the end."""
    began = EPOCH
    while began < end:
        pages.clock = receivers.clock = SimClock(began)
        began = run(live(folder, pages, receivers, end, every))


def put(folder: Path, *alerts: Alert) -> None:
    outbox = AlertOutbox(folder)
    for one in alerts:
        outbox.put(one, now_us=to_us(EPOCH), ends={})
    outbox.close()


def by_commit(pages: Pages) -> dict[int, list[str]]:
    return {shard: [event.url for event in events] for shard, events in pages.lines.items()}


def assert_once_in_order(told: list[str], pages: Pages) -> None:
    """Check that each change arrived once, in the order of its shard's log."""
    assert sorted(told) == sorted(url for urls in by_commit(pages).values() for url in urls)
    for shard, urls in by_commit(pages).items():
        assert [url for url in told if url.startswith(f"https://{shard}.")] == urls


@pytest.mark.parametrize("seed", range(8))
def test_each_change_arrives_once_and_in_order_despite_crashes(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    clock = SimClock()
    pages = changing(draw, clock, changes=120, within=3 * HOUR)
    fate = Fate(draw, chance=0.004)
    receivers = Receivers(clock, is_up=lambda _, now: not EPOCH + HOUR <= now < EPOCH + 2 * HOUR, fate=fate)
    put(tmp_path, alert("all"))
    lives(tmp_path, pages, receivers, EPOCH + 6 * HOUR)
    assert fate.deaths > 3
    assert_once_in_order(receivers.told("all"), pages)
    assert receivers.doubles <= fate.deaths
    assert not [at for at in receivers.moments["all"] if EPOCH + HOUR <= at < EPOCH + 2 * HOUR]


def changing(draw: random.Random, clock: SimClock, *, changes: int, within: timedelta) -> Pages:
    pages = Pages(clock)
    for at in sorted(EPOCH + draw.random() * within for _ in range(changes)):
        pages.change(draw.randrange(SHARDS), at)
    return pages


def test_without_a_crash_nothing_is_sent_twice(tmp_path: Path) -> None:
    clock = SimClock()
    pages = changing(random.Random(1), clock, changes=200, within=3 * HOUR)
    receivers = Receivers(clock, is_up=lambda _, now: not EPOCH + HOUR <= now < EPOCH + 2 * HOUR)
    put(tmp_path, alert("all"))
    lives(tmp_path, pages, receivers, EPOCH + 5 * HOUR)
    assert_once_in_order(receivers.told("all"), pages)
    assert receivers.doubles == 0
    assert receivers.attempts < 200 + 20, "while it is away the receiver is asked seldom"
    late = [
        at - from_us(event.at_us)
        for at, event in zip(
            sorted(receivers.moments["all"]),
            sorted((event for events in pages.lines.values() for event in events), key=lambda e: e.at_us),
            strict=True,
        )
        if from_us(event.at_us) < EPOCH + 0.9 * HOUR
    ]
    assert max(late) < EVERY + timedelta(seconds=3)


def test_slow_and_dead_receivers_delay_no_other(tmp_path: Path) -> None:
    clock = SimClock()
    pages = changing(random.Random(2), clock, changes=60, within=HOUR)
    slow = timedelta(minutes=20)
    receivers = Receivers(
        clock,
        is_up=lambda name, _: name != "dead",
        takes=lambda name: slow if name == "slow" else timedelta(milliseconds=20),
    )
    put(tmp_path, alert("dead"), alert("quick"), alert("slow"))
    lives(tmp_path, pages, receivers, EPOCH + 2 * HOUR)
    assert_once_in_order(receivers.told("quick"), pages)
    assert max(receivers.moments["quick"]) < EPOCH + HOUR + timedelta(minutes=1)
    assert 0 < len(receivers.told("slow")) < 60
    assert not receivers.told("dead")


def test_digests_are_sent_at_their_hour_and_not_in_quiet_hours(tmp_path: Path) -> None:
    clock = SimClock()
    pages = changing(random.Random(3), clock, changes=300, within=48 * HOUR)
    receivers = Receivers(clock, is_up=lambda *_: True)
    put(
        tmp_path,
        alert("daily", frequency=Frequency.DAILY, max_changes=500),
        alert("hourly", frequency=Frequency.HOURLY, max_changes=500),
        alert("night", quiet_hours=("22:00-06:00",), max_changes=500),
    )
    lives(tmp_path, pages, receivers, EPOCH + 80 * HOUR, every=timedelta(minutes=10))
    for name in ("daily", "hourly", "night"):
        assert_once_in_order(receivers.told(name), pages)
    assert [at.hour for at in receivers.moments["daily"]] == [7, 7, 7]
    assert all(at.minute == 0 for at in receivers.moments["hourly"])
    assert len(receivers.moments["hourly"]) > 40
    assert all(6 <= at.hour < 22 for at in receivers.moments["night"])


def test_an_undeliverable_message_fails_and_can_be_retried(tmp_path: Path) -> None:
    clock = SimClock()
    pages = Pages(clock)
    pages.change(0, EPOCH + HOUR)
    receivers = Receivers(clock, is_up=lambda _, now: now > EPOCH + 10 * 24 * HOUR)
    put(tmp_path, alert("all"))
    lives(tmp_path, pages, receivers, EPOCH + 9 * 24 * HOUR, every=HOUR)
    outbox = AlertOutbox(tmp_path)
    ((message, changes, _),) = outbox.messages(limit=5)
    assert (message.state, changes) == (MessageState.FAILED, 1)
    assert 150 < message.tries < 200, "about once an hour for a week"
    outbox.update_message(retry_message(message, now=EPOCH + 10 * 24 * HOUR))
    outbox.close()
    pages.clock = receivers.clock = SimClock(EPOCH + 11 * 24 * HOUR)
    run(live(tmp_path, pages, receivers, EPOCH + 11 * 24 * HOUR + HOUR))
    assert receivers.told("all") == ["https://0.example/1"]
