"""What the sites of a shard have taught us: those used last in memory, all of them in the store."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from evercrawl.core.change.memory import SiteMemory
from evercrawl.engine.ports import ShardStore

MOST_TEXTS = 200_000
"""Texts of sites that are held in memory over all shards; what is longest unused goes back to the store."""
KIND = "change"
"""Under this name the store keeps a site's memory."""


@dataclass(slots=True)
class SiteNotes:
    """What a site has taught us so far, and whether the store has it."""

    memory: SiteMemory
    is_saved: bool = True

    def learn(self, memory: SiteMemory) -> None:
        """The memory after one more visit."""
        self.memory, self.is_saved = memory, False


class Memories:
    """The notes on the sites of one shard: those used last in memory, all of them in the store."""

    def __init__(self, store: ShardStore, *, most_texts: int) -> None:
        self._store = store
        self._most_texts = most_texts
        self._notes: OrderedDict[int, SiteNotes] = OrderedDict()
        self._leaving: dict[int, SiteNotes] = {}
        """No longer held, not saved yet."""

    async def of(self, site_id: int) -> SiteNotes:
        """The notes on a site, empty where there are none."""
        if site_id not in self._notes:
            stored = None
            if site_id not in self._leaving:
                stored = await self._store.memory(site_id, KIND)
            self._enter(site_id, stored)
        self._notes.move_to_end(site_id)
        return self._notes[site_id]

    def _enter(self, site_id: int, stored: bytes | None) -> None:
        if site_id in self._notes:
            return
        memory = SiteMemory() if stored is None else SiteMemory.from_bytes(stored)
        self._notes[site_id] = self._leaving.pop(site_id, SiteNotes(memory))
        held = sum(len(notes.memory.texts) for notes in self._notes.values())
        while held > self._most_texts and len(self._notes) > 1:
            left_id, left = self._notes.popitem(last=False)
            held -= len(left.memory.texts)
            if not left.is_saved:
                self._leaving[left_id] = left

    def unsaved(self) -> dict[tuple[int, str], bytes]:
        """What the next commit has to write; it counts as saved from now on."""
        changed = {site_id: notes for site_id, notes in self._notes.items() if not notes.is_saved}
        for notes in changed.values():
            notes.is_saved = True
        changed |= self._leaving
        self._leaving = {}
        return {(site_id, KIND): notes.memory.to_bytes() for site_id, notes in changed.items()}
