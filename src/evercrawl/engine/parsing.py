"""Parse a body by its media type. A parse process loads this part of the engine only, so that it starts fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evercrawl.core.document.bounds import HARMLESS_BYTES
from evercrawl.core.document.html import parse_document
from evercrawl.engine.ports import DocumentHandler, ParseTask
from evercrawl.model.document import Document

BUILT_IN_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain"))
CODE_TYPES = frozenset(("text/css", "text/javascript", "text/ecmascript", "text/xml", "text/xsl"))  # Not to be read.


def parse_task(task: ParseTask, handler_of: Callable[[str], DocumentHandler | None]) -> Document | None:
    """Parse a body with the parser of its media type; None: there is none."""
    if task.kind in BUILT_IN_TYPES:
        return parse_document(
            task.url,
            task.headers,
            task.body,
            agent=task.agent,
            limits=task.limits,
            all_details=task.all_details,
            wants_snapshot=task.wants_snapshot,
            wants_outline=task.wants_outline,
        )
    handler = handler_of(task.kind)
    if handler is None:
        from evercrawl.core.sitemap.sitemap_reader import feed_document  # most bodies are pages

        if task.kind.startswith("text/") and task.kind not in CODE_TYPES:
            return parse_document(task.url, task.headers, task.body, agent=task.agent, limits=task.limits)
        return feed_document(task.url, task.headers, task.body)
    return handler.parse(task.url, task.headers, task.body)


def parse_beginning(task: ParseTask) -> Document:
    """Return what can be told about a body without much work: the beginning of a page, nothing of other types."""
    if task.kind not in BUILT_IN_TYPES:
        return Document("utf-8", task.url)
    beginning = task._replace(body=task.body[:HARMLESS_BYTES])
    document = parse_task(beginning, lambda _: None)
    assert document is not None, "the type is a built-in one"
    return replace(document, unread=len(task.body) - len(beginning.body))
