"""What a browser made of a page: the document after its scripts ran, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum


class RenderEnd(StrEnum):
    """Why waiting for a page ended."""

    QUIET = "quiet"  # No request open, no change of the document for `render.quiet`.
    BUDGET = "budget"  # The page's own clock reached `render.page_time` and the page still worked.
    TIMEOUT = "timeout"  # `render.max_time` was over; the document is what there was by then.


class RenderFault(StrEnum):
    """Why a page could not be rendered."""

    NO_BROWSER = "no_browser"  # There is no browser, or it does not start.
    NO_WALL = "no_wall"  # The network of the browser cannot be cut off, so it is not started.
    CRASHED = "crashed"  # The page ended the browser, twice.
    HUNG = "hung"  # The page did not let the browser answer, and was ended.
    MEMORY = "memory"  # The page needed more than `render.max_memory`.
    NOT_SHOWN = "not_shown"  # The browser does not show this kind of page.
    TOO_LARGE = "too_large"  # The document is larger than `render.max_dom_bytes`.


@dataclass(frozen=True, slots=True)
class RenderedRequest:
    """A request that the page made, and what became of it."""

    url: str
    method: str
    kind: str  # In lower case as DevTools says it: script, stylesheet, xhr, fetch, image, document, ...
    status: int | None  # None: it was refused or failed.
    refused: str = ""  # Why it was not sent, in words; empty: it was.


@dataclass(frozen=True, slots=True)
class Rendered:
    """The document after the scripts ran."""

    url: str  # The address the page shows: scripts may have changed it.
    dom: bytes = field(repr=False)  # The document as HTML, in UTF-8.
    links: tuple[str, ...]  # Absolute URLs that scripts put into the history, or opened windows with.
    requests: tuple[RenderedRequest, ...]
    took: timedelta
    ended: RenderEnd
    behaviours: tuple[str, ...] = ()  # What was done to see more, such as `scroll 3` or `load_more 2`.
    screenshot: bytes | None = field(default=None, repr=False)  # WebP.


@dataclass(frozen=True, slots=True)
class RenderFailed:
    """No rendered document; the page as fetched is all there is."""

    fault: RenderFault
    detail: str
    requests: tuple[RenderedRequest, ...] = ()
    took: timedelta = timedelta(0)


RenderResult = Rendered | RenderFailed
