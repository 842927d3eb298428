"""A preview reads only the shards of the sites that its filter names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evercrawl.collection.alerts.event_reader import LogPosition, ShardLog
from evercrawl.collection.alerts.registry import preview_alert
from evercrawl.core.url import shard_of_site
from evercrawl.model.alerts import AlertFilter, Event

SHARDS = 64
HARBOUR, MUSEUM = "https://harbour.example", "https://museum.example:8443"


class EmptyLog:
    def end(self) -> LogPosition:
        return LogPosition(0, 0)

    def events(self, after: int, upto: int) -> list[Event]:
        return []


class OpenedLogs:
    """Logs of every shard that note which were opened, and have no events."""

    def __init__(self) -> None:
        self.opened: list[int] = []

    def shards(self) -> list[int]:
        return list(range(SHARDS))

    @contextmanager
    def open(self, shard: int) -> Iterator[ShardLog]:
        self.opened.append(shard)
        yield EmptyLog()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("pages", "patterns", "sites"),
    [
        ((f"{HARBOUR}/ferry",), (), [HARBOUR]),
        ((), (f"{HARBOUR}/*", f"{MUSEUM}/*.pdf"), [HARBOUR, MUSEUM]),
        ((f"{MUSEUM}/",), (f"{HARBOUR}/news/*",), [HARBOUR, MUSEUM]),
        ((), (f"{HARBOUR}*",), None),
        ((), ("https://*.example/",), None),
        ((f"{HARBOUR}/",), ("*.pdf",), None),
        ((), (), None),
    ],
)
def test_only_the_shards_of_named_sites_are_read(
    pages: tuple[str, ...], patterns: tuple[str, ...], sites: list[str] | None
) -> None:
    logs = OpenedLogs()
    wanted = range(SHARDS) if sites is None else sorted({shard_of_site(site, SHARDS) for site in sites})
    preview_alert(AlertFilter(pages=pages, patterns=patterns), logs, shard_count=SHARDS)  # type: ignore[arg-type]
    assert logs.opened == list(wanted)
