"""The yield of one site as one compact blob, and back; versioned.

A byte for the version, then zlib over: the length of the JSON part, the JSON part, the two bitmaps of what
was said, and the remembered URLs of `parameter.py` as rows of numbers numbers.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode, b64encode
from typing import Any

import orjson

from evercrawl.core.traps.harvest import SiteYield
from evercrawl.core.traps.link_sum import Offered
from evercrawl.core.traps.novelty import MEMORY_BYTES, Said
from evercrawl.core.traps.parameter import Parameters, Rest, Tally
from evercrawl.core.traps.pattern import Breadth
from evercrawl.core.traps.record import Record, State, Tried
from evercrawl.core.traps.soft404 import SameForAll

VERSION = 3
LEVEL = 6
DIGITS = 4
"""Of the averages as many are kept."""

_LENGTH = struct.Struct("<I")
_ROW = struct.Struct("<IIIIIQ")


def pack(site: SiteYield) -> bytes:
    """The blob; averages are rounded."""
    said = site.said
    head = orjson.dumps({
        "requests": [site.requests, site.wasted, site.repeats],
        "records": [[name, *_rounded(record)] for name, record in site.records.items()],
        "said": [said.count, bool(said.young), bool(said.old)],
        "soft_404": _signs(site.soft_404),
        "absent": _signs(site.absent),
        "homes": site.homes,
        "invented": site.invented,
        "apologies": site.apologies,
        "tallies": [[name, *tally] for name, tally in site.parameters.tallies.items()],
        "probes": site.parameters.probes,
    })  # fmt: skip
    rows = b"".join(
        _ROW.pack(key, rest.value, rest.content, *rest.offered) for key, rest in site.parameters.rests.items()
    )
    plain = _LENGTH.pack(len(head)) + head + said.young + said.old + rows
    return bytes([VERSION]) + zlib.compress(plain, LEVEL)


def _signs(known: tuple[SameForAll, ...]) -> list[tuple[str, int]]:
    return [(b64encode(one.signature).decode(), one.chars) for one in known]


def _same(stored: list[list[Any]]) -> tuple[SameForAll, ...]:
    return tuple(SameForAll(b64decode(sign), chars) for sign, chars in stored)


def _rounded(record: Record) -> list[Any]:
    return [round(value, DIGITS) if isinstance(value, float) else value for value in record]


def unpack(blob: bytes) -> SiteYield:
    """The yield in a blob; an empty one or one of another version gives a fresh start."""
    if not blob or blob[0] != VERSION:
        return SiteYield()
    plain = zlib.decompress(blob[1:])
    (length,) = _LENGTH.unpack_from(plain)
    at = _LENGTH.size + length
    head = orjson.loads(plain[_LENGTH.size : at])
    requests, wasted, repeats = head["requests"]
    count, has_young, has_old = head["said"]
    young, at = plain[at : at + MEMORY_BYTES * has_young], at + MEMORY_BYTES * has_young
    old, at = plain[at : at + MEMORY_BYTES * has_old], at + MEMORY_BYTES * has_old
    rests = {
        key: Rest(value, content, Offered(*offered)) for key, value, content, *offered in _ROW.iter_unpack(plain[at:])
    }
    tallies = {name: Tally(*counts) for name, *counts in head["tallies"]}
    return SiteYield(
        requests,
        wasted,
        {row[0]: _record(row[1:]) for row in head["records"]},
        Said(young, old, count),
        Parameters(tallies, rests, head["probes"]),
        _same(head["soft_404"]),
        _same(head["absent"]),
        tuple(head["homes"]),
        tuple(head["invented"]),
        tuple(head["apologies"]),
        repeats,
    )


def _record(row: list[Any]) -> Record:
    fields = dict(zip(Record._fields, row, strict=False))
    fields |= {"breadth": Breadth(fields["breadth"]), "state": State(fields["state"]), "tried": Tried(fields["tried"])}
    return Record(**fields)
