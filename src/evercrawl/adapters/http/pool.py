"""Connections that wait for the next request to their site."""

from __future__ import annotations

import asyncio

from evercrawl.adapters.http.connection import Connection
from evercrawl.core.url import SiteName


class Pool:
    """Idle connections in the order of becoming idle: at most `most`, none for longer than `keep_s`."""

    def __init__(self, *, most: int, keep_s: float) -> None:
        self._most = most
        self._keep_s = keep_s
        self._idle: dict[Connection, float] = {}
        self._by_site: dict[SiteName, list[Connection]] = {}
        self._sweeper: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, site: SiteName) -> Connection | None:
        """The connection to a site that was used last; None where none is open."""
        waiting = self._by_site.get(site)
        if not waiting:
            return None
        connection = waiting[-1]
        self.forget(connection)
        return connection if connection.is_open else None

    def put(self, connection: Connection) -> None:
        """Keep a connection whose exchange is over."""
        if not connection.is_open or self._keep_s <= 0:
            connection.close()
            return
        now = asyncio.get_running_loop().time()
        self._idle[connection] = now
        self._by_site.setdefault(connection.site, []).append(connection)
        if len(self._idle) > self._most:
            self._drop(next(iter(self._idle)))
        if self._sweeper is None:
            self._sweep_at(now + self._keep_s)

    def forget(self, connection: Connection) -> None:
        """The connection is not idle any more: taken, or lost."""
        if self._idle.pop(connection, None) is None:
            return
        waiting = self._by_site[connection.site]
        waiting.remove(connection)
        if not waiting:
            del self._by_site[connection.site]

    def close(self) -> None:
        """Close every idle connection."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in list(self._idle):
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self.forget(connection)
        connection.close()

    def _sweep_at(self, moment: float) -> None:
        self._sweeper = asyncio.get_running_loop().call_at(moment, self._sweep)

    def _sweep(self) -> None:
        """Close what has been idle for too long; the oldest that remains sets the next time."""
        self._sweeper = None
        now = asyncio.get_running_loop().time()
        for connection, since in list(self._idle.items()):
            if since + self._keep_s > now:
                self._sweep_at(since + self._keep_s)
                return
            self._drop(connection)
