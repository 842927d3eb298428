"""How is the outline of a page kept in little room? Two lines of JSON in one zstd frame."""

from __future__ import annotations

from typing import Any

import orjson
import zstandard

from evercrawl.model.document import Document, Link, Outline

LEVEL = 1
"""Made for every page of a first crawl: there speed counts."""
MOST_OUTLINE_BYTES = 64 * 1024 * 1024
"""More than this in one frame is taken for damage."""

_COMPRESSOR = zstandard.ZstdCompressor(level=LEVEL)


def outline_of(document: Document) -> Outline:
    """The outline of a parsed page."""
    return Outline(document.headings, document.links, document.robots.noindex)


def pack_outline(outline: Outline) -> bytes:
    """The outline as it is stored; links of one site share their beginnings, so little is left of them."""
    links = [[link.url, link.text, 1] if link.nofollow else [link.url, link.text] for link in outline.links]
    head = _json([int(outline.noindex), list(outline.headings)])
    return _COMPRESSOR.compress(head + b"\n" + _json(links))


def unpack_outline(
    frame: bytes, *, with_links: bool = True, opener: zstandard.ZstdDecompressor | None = None
) -> Outline:
    """The outline of a stored frame; ValueError where it is damaged. Without links it is read much faster,
    and so are many in one thread with the same `opener`.
    """
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= MOST_OUTLINE_BYTES:
            raise ValueError(f"a stored outline claims {size} bytes")
        head, _, links = (opener or zstandard.ZstdDecompressor()).decompress(frame).partition(b"\n")
        noindex, headings = orjson.loads(head)
        found = tuple(map(_link, orjson.loads(links))) if with_links else ()
    except (zstandard.ZstdError, orjson.JSONDecodeError) as error:
        raise ValueError(f"a stored outline is damaged: {error}") from error
    return Outline(tuple(headings), found, bool(noindex))


def _link(stored: list[Any]) -> Link:
    return Link(stored[0], stored[1], len(stored) > 2)


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # A lone surrogate, which UTF-8 cannot say: it stands for nothing that can be read.
        return orjson.dumps(_without_surrogates(value))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_without_surrogates(part) for part in value] if isinstance(value, list) else value
