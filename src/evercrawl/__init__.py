"""A crawler that keeps a living copy of web sites.

    import evercrawl

    with evercrawl.open("example.org.evercrawl", create=True) as collection:
        summary = collection.crawl_blocking(urls=["https://example.org/"])
        print(summary.fetched, collection.why("https://example.org/private").detail)

Names are loaded on first use, so that `evercrawl --version` starts fast.
"""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # `python -m evercrawl`: import nothing from the current folder, which may be somebody else's collection.
    del sys.path[0]

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evercrawl.model import __version__

if TYPE_CHECKING:
    from evercrawl.collection.collection import Collection, open
    from evercrawl.errors import (
        BugFound,
        CollectionBusy,
        ConfigError,
        EvercrawlError,
        LeaseLost,
        StoreUnavailable,
        WorkerLost,
    )
    from evercrawl.model.settings import Settings

__all__ = [
    "BugFound",
    "Collection",
    "CollectionBusy",
    "ConfigError",
    "EvercrawlError",
    "LeaseLost",
    "Settings",
    "StoreUnavailable",
    "WorkerLost",
    "__version__",
    "open",
]

_MODULES = {
    "Collection": "evercrawl.collection.collection",
    "Settings": "evercrawl.model.settings",
    "open": "evercrawl.collection.collection",
}
"""Where each name comes from; the others are errors."""


def __getattr__(name: str) -> Any:
    if name == "lab":
        return import_module("evercrawl.lab")
    if name in __all__:
        return getattr(import_module(_MODULES.get(name, "evercrawl.errors")), name)
    raise AttributeError(f"module 'evercrawl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
