"""What the operator says about traps, read again from the settings while a crawl runs."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from evercrawl.config.place import collection_file
from evercrawl.config.read import read_settings
from evercrawl.errors import ConfigError
from evercrawl.model.settings import TrapSettings

log = logging.getLogger("evercrawl")


class RulesInFile:
    """The rules of a collection; its file is read only when it was written since."""

    def __init__(self, collection: Path, settings: TrapSettings) -> None:
        self._collection = collection
        self._settings = settings
        self._written = self._moment()

    def changed(self) -> TrapSettings | None:
        """The settings with the rules that count now; None: they are as before, or cannot be read."""
        moment = self._moment()
        if moment == self._written:
            return None
        self._written = moment
        try:
            found = read_settings(self._collection).settings.traps
        except ConfigError as error:
            log.warning("the rules on traps stay as they were: %s", error)
            return None
        before = self._settings
        self._settings = replace(before, exclude=found.exclude, allow=found.allow, ignore=found.ignore)
        return None if self._settings == before else self._settings

    def _moment(self) -> int | None:
        try:
            return collection_file(self._collection).stat().st_mtime_ns
        except OSError:
            return None
