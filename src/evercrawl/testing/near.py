"""Signatures of main texts in memory, for simulations."""

from __future__ import annotations

from evercrawl.core.duplicates.banding import Entry, Match, bands_of, best_match, is_indexed, most_promising


class MemoryNear:
    """Implements `NearTexts`."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._bands: dict[tuple[int, int], list[int]] = {}

    def find(self, signature: bytes, *, chars: int) -> Match | None:
        """The nearest text that says nearly the same as one of this signature and size."""
        if not is_indexed(signature):
            return None
        found = [n for place in enumerate(bands_of(signature)) for n in self._bands.get(place, ())]
        return best_match(signature, chars, (self._entries[number] for number in most_promising(found)))

    def add(self, page: int, signature: bytes, *, chars: int) -> None:
        """Enter the text of a page."""
        if is_indexed(signature):
            for place in enumerate(bands_of(signature)):
                self._bands.setdefault(place, []).append(len(self._entries))
            self._entries.append(Entry(page, signature, chars))

    def flush(self) -> None:
        """Nothing is on its way."""

    def close(self) -> None:
        """Nothing to let go of."""
