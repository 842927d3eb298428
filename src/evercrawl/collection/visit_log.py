"""The visit log, and its lines in the format of Heritrix's crawl.log.
A line has twelve fields separated by spaces: time, status, bytes, URL, discovery path, parent, type, worker, start with
duration, SHA-1, source, annotations. An empty field is `-`; a failure has one of Heritrix's negative codes."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Iterator
from datetime import datetime, timedelta
from heapq import merge
from pathlib import Path

from evercrawl.adapters.sql.listing_reader import each_listing, open_listing
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.sqlite.state_file import shard_path
from evercrawl.adapters.system import modified_ns
from evercrawl.collection.site_list import find_site
from evercrawl.errors import ConfigError
from evercrawl.model.listing import VisitLogRow, VisitRow
from evercrawl.model.reason import Reason
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, to_us

NOTHING = "-"
NO_TYPE = "no-type"
LINK = "L"  # A step of the discovery path; the kind of link is not stored.
MAX_STEPS = 50
WORKER = "#000"
OTHER_FAILURE = -5
CODES: dict[Reason, int] = {
    Reason.DNS: -1,
    Reason.CONNECT: -2,
    Reason.TLS: -2,
    Reason.RESET: -3,
    Reason.EMPTY_REPLY: -404,
    Reason.INCOMPLETE: -3,
    Reason.TIMEOUT: -4,
    Reason.INVALID_URL: -7,
    Reason.UNSUPPORTED_SCHEME: -7,
    Reason.URL_TOO_LONG: -7,
    Reason.BLOCKED_PORT: -7,
    Reason.ROBOTS_UNREACHABLE: -61,
    Reason.TRAP: -4000,
    Reason.TOO_DEEP: -4001,
    Reason.OUT_OF_SCOPE: -5000,
    Reason.EXCLUDED: -5001,
    Reason.NOT_INCLUDED: -5001,
    Reason.FILTERED: -5001,
    Reason.FILE_TYPE: -5001,
    Reason.PRIVATE_ADDRESS: -5001,
    Reason.SITE_PAGE_LIMIT: -5003,
    Reason.ROBOTS: -9998,
}
"""Heritrix's codes for visits without an HTTP status."""
_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,100}", re.ASCII)
_NOT_IN_FIELD = re.compile(r"[^\x21-\x7e]")
_WITHOUT_BODY = frozenset({Reason.NOT_MODIFIED})


def heritrix_line(visit: VisitLogRow, *, with_parent: bool = True) -> str:
    """Return the line of one visit, without a newline; `with_parent` includes the linking page."""
    begin, moment = from_us(visit.at_us), from_us(visit.at_us) + timedelta(milliseconds=visit.took_ms)
    fields = (
        f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z",
        f"{_status(visit):>5}",
        f"{visit.wire_bytes:>10}",
        _field(visit.url),
        LINK * min(visit.depth, MAX_STEPS) or NOTHING,
        _field(visit.parent) if with_parent and visit.parent else NOTHING,
        _type(visit.content_type),
        WORKER,
        f"{begin:%Y%m%d%H%M%S}{begin.microsecond // 1000:03}+{visit.took_ms}",
        _digest(visit),
        NOTHING,
        f"{visit.outcome},{visit.reason}",
    )
    return " ".join(fields)


def _status(visit: VisitLogRow) -> int:
    if visit.status is not None:
        return visit.status
    return CODES.get(Reason(visit.reason), OTHER_FAILURE)


def _field(text: str) -> str:
    """Escape spaces and control characters of a URL."""
    return _NOT_IN_FIELD.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text
    )


def _type(written: str | None) -> str:
    name = (written or "").partition(";")[0].strip().lower()
    return name if _TYPE.fullmatch(name) else NO_TYPE


def _digest(visit: VisitLogRow) -> str:
    if visit.payload_sha1 is None or visit.status is None or visit.reason in _WITHOUT_BODY:
        return NOTHING
    return "sha1:" + b32encode(visit.payload_sha1).decode("ascii")


LINES_AT_A_TIME = 500  # Lines of one shard's log per query.
_LAST_US = 2**62


def iterate_visits(
    collection: Path,
    settings: Settings,
    *,
    site: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[VisitLogRow]:
    """Yield the visits of a time span, oldest first; raise ConfigError for an unknown site."""
    span = (0 if since is None else to_us(since), _LAST_US if until is None else to_us(until))
    if site is None:
        logs = [_shard_visits(collection, shard, None, span) for shard in shards_of(collection)]
        return merge(*logs, key=lambda visit: visit.at_us)
    found = find_site(collection, settings, site)
    if found is None:
        raise ConfigError(f"the collection has no site {site}")
    return _shard_visits(collection, found[0], found[1].id, span)


def _shard_visits(collection: Path, shard: int, site_id: int | None, span: tuple[int, int]) -> Iterator[VisitLogRow]:
    """Yield the visits of one shard; open it only for each query, because the consumer may be slow."""
    line = 0
    with open_listing(collection, shard) as reader:
        last = reader.last_visit_id()
    while line < last:
        upto = min(last, line + LINES_AT_A_TIME)
        with open_listing(collection, shard) as reader:
            visits = reader.logged_visits(line, upto, site_id=site_id, span=span)
        yield from visits
        line = upto


BATCH_SIZE = 500


LogPosition = dict[int, int]


def end_position(collection: Path) -> LogPosition:
    """Return the position of the newest visit of every shard."""
    return {shard: reader.last_visit_id() for shard, reader in each_listing(collection)}


def read_events(collection: Path, lines: LogPosition, mtimes: dict[int, int]) -> list[tuple[int, VisitRow]]:
    """Return the next visits with their shards, in order of time; unchanged files are not opened."""
    found: list[list[tuple[int, int, VisitRow]]] = []
    for shard in shards_of(collection):
        changed = _changed_ns(collection, shard)
        if mtimes.get(shard) == changed:
            continue
        with open_listing(collection, shard) as reader:
            visits = reader.next_visits(lines.get(shard, 0), BATCH_SIZE)
        if len(visits) < BATCH_SIZE:
            mtimes[shard] = changed
        found.append([(visit.at_us, shard, visit) for visit in visits])
    return [(shard, visit) for _, shard, visit in merge(*found, key=lambda row: row[:2])]


def _changed_ns(collection: Path, shard: int) -> int:
    path = shard_path(collection, shard)
    return max(modified_ns(path), modified_ns(f"{path}-wal"))
