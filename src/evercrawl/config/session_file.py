"""Sessions between runs: one file per collection in the user's state folder, which only its owner can read.
It is outside of the collection, so that a copy of the collection has no cookies in it."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evercrawl.adapters.http.signed_in import SessionState
from evercrawl.config.trust import collection_id, replace_private, state_folder
from evercrawl.core.sign_in.cookies import cookie_fields, cookie_of_fields

log = logging.getLogger("evercrawl")

MAX_SITES = 2000  # Sites in one file; those that were saved first go first.


class SessionFile:
    """Implements `SessionStore`. Several worker processes may share a file: each writes its own sites only."""

    def __init__(self, collection: Path, env: Mapping[str, str] | None = None) -> None:
        env = os.environ if env is None else env
        self.path = state_folder(env) / "sessions" / f"{collection_id(collection)}.json"

    def load(self, site: str) -> SessionState:
        """Return what is kept of a site."""
        found = self._read().get(site)
        if not isinstance(found, dict):
            return SessionState()
        cookies = [cookie for row in found.get("cookies", ()) if (cookie := cookie_of_fields(row)) is not None]
        logout_urls, suspects = (tuple(map(str, found.get(key, ()))) for key in ("logout_urls", "suspects"))
        return SessionState(tuple(cookies), logout_urls, suspects, str(found.get("basis", "")))

    def save(self, site: str, state: SessionState) -> None:
        """Keep a session; a file that cannot be written costs only a login in the next run."""
        fields = state._asdict() | {"cookies": [cookie_fields(cookie) for cookie in state.cookies]}
        try:
            with self._lock():
                sites = {name: kept for name, kept in self._read().items() if name != site} | {site: fields}
                replace_private(self.path, json.dumps(dict(list(sites.items())[-MAX_SITES:]), indent=1))
        except OSError as error:
            log.warning("the session of %s is not kept: %s: %s", site, self.path, error.strerror)

    def forget(self, site: str) -> None:
        """Remove a site."""
        if site in self._read():
            with self._lock():
                replace_private(self.path, json.dumps({k: v for k, v in self._read().items() if k != site}, indent=1))

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    @contextmanager
    def _lock(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


class NoSessions:
    """Implements `SessionStore` for sessions that end with the run."""

    def load(self, site: str) -> SessionState:
        return SessionState()

    def save(self, site: str, state: SessionState) -> None:
        pass
