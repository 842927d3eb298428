"""What the sites of a shard have taught us: those used last in memory, all of them in the store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from evercrawl.core.change.change_history import SiteChangeHistory
from evercrawl.core.revisit.site_model import SiteModel, site_model_bytes, site_model_of
from evercrawl.core.sitemap.sitemap_discovery import sitemap_state_bytes, sitemap_state_of
from evercrawl.core.traps.trap_state import trap_state_bytes, trap_state_of
from evercrawl.engine.ports import ShardStore

MOST_TEXTS = 200_000
"""Texts of sites that are held in memory over all shards; what is longest unused goes back to the store."""
MOST_OUTLOOKS = 20_000
"""Sites over all shards of which it is held in memory how they change."""

T = TypeVar("T")


@dataclass(slots=True)
class SiteState(Generic[T]):
    """What a site has taught us so far, and whether the store has it."""

    memory: T
    is_saved: bool = True

    def learn(self, memory: T) -> None:
        """The memory after one more lesson."""
        self.memory, self.is_saved = memory, False


@dataclass(frozen=True, slots=True)
class StateKind(Generic[T]):
    """One sort of lessons: its name in the store, and how it is written there."""

    name: str
    read: Callable[[bytes | None], T]
    write: Callable[[T], bytes]
    size: Callable[[T], int]
    """What it counts for among those held in memory."""


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


SIGNALS = StateKind("signals", read=sitemap_state_of, write=sitemap_state_bytes, size=lambda _: 1)
TRAPS = StateKind("traps", read=lambda stored: trap_state_of(stored or b""), write=trap_state_bytes, size=lambda _: 1)


class SiteStates(Generic[T]):
    """The notes of one kind on the sites of one shard."""

    def __init__(self, store: ShardStore, kind: StateKind[T], *, most: int) -> None:
        self._store = store
        self._kind = kind
        self._most = most
        self._notes: OrderedDict[int, SiteState[T]] = OrderedDict()
        self._leaving: dict[int, SiteState[T]] = {}
        """No longer held, not saved yet."""

    async def of(self, site_id: int) -> SiteState[T]:
        """The notes on a site, empty where there are none."""
        if site_id not in self._notes:
            stored = None
            if site_id not in self._leaving:
                stored = await self._store.memory(site_id, self._kind.name)
            self._enter(site_id, stored)
        self._notes.move_to_end(site_id)
        return self._notes[site_id]

    def held(self, site_id: int) -> SiteState[T] | None:
        """The notes on a site, where they are in memory."""
        return self._notes.get(site_id)

    def _enter(self, site_id: int, stored: bytes | None) -> None:
        if site_id in self._notes:
            return
        self._notes[site_id] = self._leaving.pop(site_id, SiteState(self._kind.read(stored)))
        held = sum(self._kind.size(notes.memory) for notes in self._notes.values())
        while held > self._most and len(self._notes) > 1:
            left_id, left = self._notes.popitem(last=False)
            held -= self._kind.size(left.memory)
            if not left.is_saved:
                self._leaving[left_id] = left

    def unsaved(self) -> dict[tuple[int, str], bytes]:
        """What the next commit has to write; it counts as saved from now on."""
        changed = {site_id: notes for site_id, notes in self._notes.items() if not notes.is_saved}
        for notes in changed.values():
            notes.is_saved = True
        changed |= self._leaving
        self._leaving = {}
        name, write = self._kind.name, self._kind.write
        return {(site_id, name): write(notes.memory) for site_id, notes in changed.items()}
