"""What is under way, in the order in which it began."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any


class UnderWay:
    """A set of tasks or of awaited answers. One of Python's own goes by memory addresses: what is broken off
    first would then differ from run to run, and no simulation could be repeated.
    """

    def __init__(self) -> None:
        self._all: dict[asyncio.Future[Any], None] = {}

    def add(self, one: asyncio.Future[Any]) -> None:
        """It has begun."""
        self._all[one] = None

    def discard(self, one: asyncio.Future[Any]) -> None:
        """It is over."""
        self._all.pop(one, None)

    def __iter__(self) -> Iterator[asyncio.Future[Any]]:
        return iter(tuple(self._all))

    def __len__(self) -> int:
        return len(self._all)
