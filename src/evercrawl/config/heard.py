"""What the operator may say while a crawl runs, read again from the settings: traps and slower sites."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from evercrawl.config.place import collection_file
from evercrawl.config.read import read_settings
from evercrawl.errors import ConfigError
from evercrawl.model.settings import Settings, TrapSettings

log = logging.getLogger("evercrawl")
T = TypeVar("T")


class InFile(Generic[T]):
    """A part of a collection's settings; its file is read only when it was written since."""

    def __init__(self, collection: Path, known: T, *, name: str, read: Callable[[T, Settings], T]) -> None:
        """`read`: what was known and the settings as they are now -> what counts now."""
        self._collection = collection
        self._known = known
        self._name = name
        self._read = read
        self._written = self._moment()

    def changed(self) -> T | None:
        """What counts now; None: it is as before, or cannot be read."""
        moment = self._moment()
        if moment == self._written:
            return None
        self._written = moment
        try:
            found = self._read(self._known, read_settings(self._collection).settings)
        except ConfigError as error:
            log.warning("the rules on %s stay as they were: %s", self._name, error)
            return None
        before, self._known = self._known, found
        return None if found == before else found

    def _moment(self) -> int | None:
        try:
            return collection_file(self._collection).stat().st_mtime_ns
        except OSError:
            return None


def trap_rules_in(collection: Path, settings: TrapSettings) -> InFile[TrapSettings]:
    """The rules on traps; other settings on traps count from the next start on."""

    def read(known: TrapSettings, found: Settings) -> TrapSettings:
        traps = found.traps
        return replace(known, exclude=traps.exclude, allow=traps.allow, ignore=traps.ignore)

    return InFile(collection, settings, name="traps", read=read)


def slower_sites_in(collection: Path, rules: tuple[str, ...]) -> InFile[tuple[str, ...]]:
    """The rules on sites that are asked more slowly."""
    return InFile(collection, rules, name="slower sites", read=lambda _, found: found.pace.slower)
