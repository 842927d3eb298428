"""What exactly was edited? The same edit has the same key, on whatever page it was made."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.core.change.difference import Hunk
from evercrawl.core.change.noise import plain

MOST_REMEMBERED = 2048
"""Each edit is asked for several times while a page is judged."""


class Part(NamedTuple):
    """An edit inside a difference; one of both texts may be empty."""

    key: int
    removed: str
    added: str

    @property
    def text(self) -> str:
        """What came, or else what went."""
        return self.added or self.removed


def parts_of(hunk: Hunk) -> list[Part]:
    """The edits in a difference: one, or two where a text was dropped for another that has nothing of it.

    Two, because what went and what came need not belong together: in a place where adverts take turns,
    a notice may have come on all pages at once.
    """
    if hunk.removed and hunk.added and not hunk.is_variation and not hunk.is_metadata:
        return [_part(hunk.removed, ""), _part("", hunk.added)]
    return [_part(hunk.removed, hunk.added)]


def joined_key(keys: set[int]) -> int | None:
    """One key for several edits that were made together; None where there is none."""
    return xxh64_intdigest(repr(sorted(keys)).encode()) if keys else None


@lru_cache(maxsize=MOST_REMEMBERED)
def _part(removed: str, added: str) -> Part:
    """The edit with a key that is made of the words that differ and one more on each side."""
    old, new = plain(removed).split(), plain(added).split()
    if old and new:
        old, new = _trimmed(old, new)
    words = "\x1f".join((" ".join(old), " ".join(new)))
    return Part(xxh64_intdigest(words.encode("utf-8", "surrogatepass")), removed, added)


def _trimmed(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Both without the words at their ends that they have in common, but for the nearest ones."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    head, tail = max(0, head - 1), max(0, tail - 1)
    return old[head : len(old) - tail], new[head : len(new) - tail]
