"""Handlers of media types beside HTML and text: packages offer them by entry point `evercrawl.handlers`."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from evercrawl.engine.ports import DocumentHandler

log = logging.getLogger("evercrawl")

GROUP = "evercrawl.handlers"


def load_handlers(points: Iterable[EntryPoint] | None = None) -> tuple[dict[str, DocumentHandler], list[str]]:
    """Media type -> handler, and a sentence for each handler that cannot be used; the first for a type
    wins.
    """
    handlers: dict[str, DocumentHandler] = {}
    warnings: list[str] = []
    for point in sorted(entry_points(group=GROUP) if points is None else points, key=lambda point: point.name):
        try:
            found: Any = point.load()
            media_types = tuple(str(kind).lower() for kind in found.media_types)
            if not callable(found.parse):
                raise TypeError("its `parse` cannot be called")
        except Exception as error:
            # Somebody else's code, or an extra that is not installed: the crawl goes on without it.
            warnings.append(f"handler {point.name} ({point.value}) is not used: {type(error).__name__}: {error}")
            continue
        for kind in media_types:
            handlers.setdefault(kind, found)
    return handlers, warnings


class InstalledHandlers:
    """The handlers of this installation, loaded when the first is asked for: most crawls need none."""

    def __init__(self) -> None:
        self._found: dict[str, DocumentHandler] | None = None

    def get(self, media_type: str) -> DocumentHandler | None:
        """Who can read this media type; None: nobody. Handlers that cannot be loaded are named in the log."""
        if self._found is None:
            self._found, warnings = load_handlers()
            for warning in warnings:
                log.warning("%s", warning)
        return self._found.get(media_type)
