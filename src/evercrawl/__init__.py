"""A crawler that keeps a living copy of web sites.

    import evercrawl

    with evercrawl.open("example.org.evercrawl", create=True) as collection:
        summary = collection.crawl_blocking(urls=["https://example.org/"])

The names below are loaded on first use, so that `evercrawl --version` does not pay for the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evercrawl.model import __version__

if TYPE_CHECKING:
    from evercrawl.collection.collection import Collection, StopSignal, open
    from evercrawl.model.settings import Settings

__all__ = ["Collection", "Settings", "StopSignal", "__version__", "open"]

_HOMES = {
    "Collection": "evercrawl.collection.collection",
    "Settings": "evercrawl.model.settings",
    "StopSignal": "evercrawl.collection.collection",
    "open": "evercrawl.collection.collection",
}


_PARTS = frozenset({"lab"})
"""Modules that are public as they are."""


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f"evercrawl.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'evercrawl' has no attribute {name!r}")
