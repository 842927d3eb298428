"""The exceptions of evercrawl. Expected problems of the web are values, not exceptions.
EvercrawlError ├── ConfigError user: invalid setting, flag or file ├── CollectionBusy user: another process has the
collection open ├── StoreUnavailable environment: disk full, file damaged, database unreachable ├── WorkerLost
environment: worker processes keep dying ├── LeaseLost another process owns the shard now; stop this work └── BugFound
our defect: an invariant is broken; stop the shard, keep the evidence"""

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
    """The collection's state or archive cannot be read or written."""

    exit_code = 5


class LeaseLost(EvercrawlError):
    """Another process owns the shard; nothing of this batch was written."""

    exit_code = 5


class WorkerLost(EvercrawlError):
    """Worker processes died too often to restart them again."""


class BugFound(EvercrawlError):
    """An invariant of evercrawl is broken."""
