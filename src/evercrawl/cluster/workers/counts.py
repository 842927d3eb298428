"""What the workers of a run have spent, in memory that they share: limits hold for all together."""

from __future__ import annotations

import mmap
import os
from struct import Struct

_SLOT = Struct("<QQ")


class SharedCounts:
    """A slot for each worker with its visits and bytes. Each writes its own slot and reads all."""

    def __init__(self, descriptor: int, *, workers: int, number: int = 0) -> None:
        self._memory = mmap.mmap(descriptor, _SLOT.size * workers)
        self._at = _SLOT.size * number
        self._before = _SLOT.unpack_from(self._memory, self._at)

    def spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        """Note what this process has spent; what all have spent, those included that this one replaces."""
        _SLOT.pack_into(self._memory, self._at, visits + self._before[0], wire_bytes + self._before[1])
        slots = list(_SLOT.iter_unpack(self._memory))
        return sum(slot[0] for slot in slots), sum(slot[1] for slot in slots)


def shared_memory(workers: int) -> int:
    """A descriptor of memory for so many workers, all zero."""
    descriptor = os.memfd_create("evercrawl-counts")
    os.ftruncate(descriptor, _SLOT.size * workers)
    return descriptor
