"""The exceptions of evercrawl; everything expected on the web is a value instead.

EvercrawlError
├── ConfigError        the operator's: a setting, flag or file that cannot be used
├── CollectionBusy     the operator's: another process has the collection open
├── StoreUnavailable   the environment's: disk full, file damaged, database away
├── WorkerLost         the environment's: worker processes die again and again
├── LeaseLost          somebody else owns the shard now; stop this work
└── BugFound           ours: an invariant broke; stop the shard, keep the evidence
"""

from __future__ import annotations


class EvercrawlError(Exception):
    """Something that ends a command; `exit_code` is what the command line returns."""

    exit_code = 1


class ConfigError(EvercrawlError):
    """A setting, flag or file that cannot be used; says which, why and the remedy."""

    exit_code = 2


class CollectionBusy(EvercrawlError):
    """Another process has the collection open."""

    exit_code = 5


class StoreUnavailable(EvercrawlError):
    """The collection's state or archive cannot be read or written."""

    exit_code = 5


class LeaseLost(EvercrawlError):
    """The shard has a newer owner; nothing of this batch was written."""

    exit_code = 5


class WorkerLost(EvercrawlError):
    """Processes of the run were killed, more often than it makes sense to start them anew."""


class BugFound(EvercrawlError):
    """An invariant of our own broke."""
