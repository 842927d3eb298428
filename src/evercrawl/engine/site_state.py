"""The learned state of a shard's sites: recently used sites in memory, all of them in the store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from evercrawl.core.change.change_history import SiteChangeHistory
from evercrawl.core.revisit.visit_schedule import SiteModel, site_model_bytes, site_model_of
from evercrawl.core.sitemap.sitemap_discovery import sitemap_state_bytes, sitemap_state_of
from evercrawl.core.traps.trap_state import trap_state_bytes, trap_state_of
from evercrawl.engine.ports import SiteStore

MAX_TEXTS = 200_000
"""Texts of sites in memory, over all shards; the least recently used ones are evicted."""
MAX_OUTLOOKS = 20_000  # Site models in memory, over all shards.

T = TypeVar("T")


@dataclass(slots=True)
class SiteState(Generic[T]):
    """The learned state of a site, and whether the store has it."""

    value: T
    is_saved: bool = True

    def update(self, value: T) -> None:
        """Replace the value; it has to be saved."""
        self.value, self.is_saved = value, False


@dataclass(frozen=True, slots=True)
class StateKind(Generic[T]):
    """One kind of state: its name in the store, and how it is stored."""

    name: str
    read: Callable[[bytes | None], T]
    write: Callable[[T], bytes]
    size: Callable[[T], int]  # What it counts towards the memory limit.


CHANGE = StateKind(
    "change",
    read=lambda stored: SiteChangeHistory() if stored is None else SiteChangeHistory.from_bytes(stored),
    write=SiteChangeHistory.to_bytes,
    size=lambda memory: len(memory.texts),
)
FRESHNESS = StateKind(
    "freshness",
    read=lambda stored: SiteModel() if stored is None else site_model_of(stored),
    write=site_model_bytes,
    size=lambda _: 1,
)


SITEMAPS = StateKind("signals", read=sitemap_state_of, write=sitemap_state_bytes, size=lambda _: 1)
TRAPS = StateKind("traps", read=lambda stored: trap_state_of(stored or b""), write=trap_state_bytes, size=lambda _: 1)


class SiteStates(Generic[T]):
    """One kind of state of a shard's sites."""

    def __init__(self, store: SiteStore, kind: StateKind[T], *, most: int) -> None:
        self._store = store
        self._kind = kind
        self._most = most
        self._states: OrderedDict[int, SiteState[T]] = OrderedDict()
        self._evicted: dict[int, SiteState[T]] = {}
        """No longer in memory, and not saved yet."""
        self._urgent: set[int] = set()

    async def of(self, site_id: int) -> SiteState[T]:
        """Return the state of a site, empty if there is none."""
        if site_id not in self._states:
            stored = None
            if site_id not in self._evicted:
                stored = await self._store.site_state(site_id, self._kind.name)
            self._enter(site_id, stored)
        self._states.move_to_end(site_id)
        return self._states[site_id]

    def cached(self, site_id: int) -> SiteState[T] | None:
        """Return the state of a site, if it is in memory."""
        return self._states.get(site_id)

    def in_memory(self) -> list[tuple[int, SiteState[T]]]:
        """Return the states that are in memory, with the numbers of their sites."""
        return list(self._states.items())

    def update(self, site_id: int, value: T) -> None:
        """Replace the state of a site."""
        state = self._states.get(site_id) or self._evicted.get(site_id)
        if state is None:
            state = self._states[site_id] = SiteState(value)
        state.update(value)

    def _enter(self, site_id: int, stored: bytes | None) -> None:
        if site_id in self._states:
            return
        self._states[site_id] = self._evicted.pop(site_id, SiteState(self._kind.read(stored)))
        size = self._kind.size
        held = sum(size(state.value) for state in self._states.values())
        while held > self._most and len(self._states) > 1:
            left_id, left = self._states.popitem(last=False)
            held -= size(left.value)
            if not left.is_saved:
                self._evicted[left_id] = left

    def save_soon(self, site_id: int) -> None:
        """Save the state of a site with the next commit."""
        self._urgent.add(site_id)

    def urgent(self) -> dict[tuple[int, str], bytes]:
        """Return the states that the next commit has to write."""
        states = self._evicted | self._states
        found = {site_id: states[site_id] for site_id in self._urgent if site_id in states}
        self._urgent.clear()
        return self._written(found)

    def unsaved(self) -> dict[tuple[int, str], bytes]:
        """Return every state that changed since it was saved; it counts as saved from now on."""
        changed = {site_id: state for site_id, state in self._states.items() if not state.is_saved}
        for state in changed.values():
            state.is_saved = True
        changed |= self._evicted
        self._evicted = {}
        return self._written(changed)

    def _written(self, states: dict[int, SiteState[T]]) -> dict[tuple[int, str], bytes]:
        return {(site_id, self._kind.name): self._kind.write(state.value) for site_id, state in states.items()}
