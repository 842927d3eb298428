"""The exceptions of evercrawl. Expected problems of the web are values, not exceptions."""

from __future__ import annotations


class EvercrawlError(Exception):
    """An error that ends a command with `exit_code`."""

    exit_code = 1


class ConfigError(EvercrawlError):
    """A setting, flag or file is invalid; the message says which, why and what to do."""

    exit_code = 2


class CollectionBusy(EvercrawlError):
    """Another process has the collection open."""

    exit_code = 5


class StoreUnavailable(EvercrawlError):
    """The state or archive cannot be read or written: disk full, file damaged, database unreachable."""

    exit_code = 5


class LeaseLost(EvercrawlError):
    """Another process owns the shard; nothing of this batch was written."""

    exit_code = 5


class WorkerLost(EvercrawlError):
    """Worker processes died too often to restart them again."""


class BugFound(EvercrawlError):
    """A bug in evercrawl: an invariant is broken, so the shard stops."""
