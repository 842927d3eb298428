"""Versions as one WARC file that needs no other: what was stored as a revisit is written as a response."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from evercrawl.adapters.warc.member import pack
from evercrawl.adapters.warc.parse import Record
from evercrawl.adapters.warc.record import warcinfo_record
from evercrawl.adapters.warc.resolve import request_for, resolved_id, resolved_response
from evercrawl.collection.exchange.run import Answer, ExportRun
from evercrawl.collection.exchange.stored import request_of
from evercrawl.model import __version__


class Out(Protocol):
    """Something that bytes can be written to."""

    def write(self, data: bytes, /) -> int:
        """Take the bytes."""


class Place(NamedTuple):
    """Where a record lies in the file."""

    offset: int
    length: int


class WarcFile:
    """A WARC file that grows. Invariant: no record in it needs one that is elsewhere."""

    def __init__(self, out: Out, name: str, *, archive: Path, level: int) -> None:
        self._out = out
        self._archive = archive
        self._level = level
        self.size = 0
        about = {"description": "Versions taken out of an evercrawl collection"}
        now = datetime.now(UTC)
        self._write(pack(warcinfo_record(name, software=f"evercrawl/{__version__}", about=about, now=now), level))

    def add(self, answer: Answer) -> Place:
        """Write an answer and, if it was kept, its request; gives the place of the answer."""
        request = request_of(self._archive, answer.version, answer.stored)
        if not answer.stored.is_revisit:
            place = self._write(answer.stored.packed)
            if request is not None:
                self._write(request[0])
            return place
        return self._add_resolved(answer, request[1] if request is not None else None)

    def _add_resolved(self, answer: Answer, request: Record | None) -> Place:
        version, stored = answer
        record_id = resolved_id(version.record_id)
        concurrent = request.headers.get("warc-record-id") if request is not None else None
        response = resolved_response(
            stored.record, record_id, head=stored.http.head, body=stored.http.body, concurrent=concurrent
        )
        place = self._write(pack(response, self._level))
        if request is not None:
            self._write(pack(request_for(request, record_id), self._level))
        return place

    def _write(self, member: bytes) -> Place:
        place = Place(self.size, len(member))
        self._out.write(member)
        self.size += len(member)
        return place


def write_warc(run: ExportRun, out: Out, name: str) -> None:
    """Every selected version."""
    file = WarcFile(out, name, archive=run.archive, level=run.settings.archive.level)
    for answer in run.answers():
        file.add(answer)
