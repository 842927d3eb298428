"""Rows of SQLite to values and back, where the two are not simply the same tuple."""

from __future__ import annotations

from typing import Any

from evercrawl.core.document.compression import unpack_text, unpack_text_start
from evercrawl.errors import StoreUnavailable
from evercrawl.model.page import Refusal
from evercrawl.model.reason import Reason
from evercrawl.model.site import RobotsRecord, Site

_SITE_COLUMNS = 13


def refusal_from(row: tuple[Any, ...]) -> Refusal:
    """The refusal of a row of that table."""
    refusal = Refusal._make(row)
    return refusal._replace(reason=Reason(refusal.reason))


def site_from(row: tuple[Any, ...]) -> Site:
    """The site of a row of `site_row`; a site without a robots record has nulls there."""
    robots = row[_SITE_COLUMNS:]
    record = None if robots[0] is None else RobotsRecord._make(robots)
    return Site._make((*row[:_SITE_COLUMNS], record))


def site_row(site: Site) -> tuple[Any, ...]:
    """What `write_site` takes: all that the engine decides about a site."""
    return (
        site.id,
        site.name,
        site.domain,
        site.open_us,
        site.gap_ms,
        site.strain,
        site.failures,
        site.closed_reason,
        site.requests,
        site.wire_bytes,
    )


def text_of(
    chain: list[tuple[bytes, int | None]], page_id: int, number: int, *, most_bytes: int | None = None
) -> str | None:
    """The text at the end of the rows of `text_chain`, or about so much of it; None: there is none."""
    if not chain:
        return None
    try:
        if chain[0][1] is not None:
            raise ValueError(f"the frame of version {chain[0][1]} is missing")
        frames = [frame for frame, _ in chain]
        return unpack_text(frames) if most_bytes is None else unpack_text_start(frames, most_bytes)
    except ValueError as error:
        raise StoreUnavailable(f"the text of version {number} of page {page_id} cannot be read: {error}") from error
