"""Where a list goes on: the shard, and the place in it, as one word that a URL can carry."""

from __future__ import annotations

import re

from evercrawl.errors import ConfigError

_PLACE = re.compile(r"(\d{1,4})\.([0-9a-f]{0,64})", re.ASCII)


def place_word(shard: int, inside: bytes | int) -> str:
    """The word for a place."""
    return f"{shard}.{inside.hex() if isinstance(inside, bytes) else format(inside, 'x')}"


def place_of(word: str | None) -> tuple[int, str]:
    """Shard and the place in it; None: the beginning. ConfigError where the word is not one of ours."""
    if not word:
        return 0, ""
    found = _PLACE.fullmatch(word)
    if found is None:
        raise ConfigError(f"{word!r} is not where a list can go on; begin without it")
    return int(found[1]), found[2]


def number_in(inside: str) -> int:
    """The place as a number; 0: the beginning."""
    return min(int(inside or "0", 16), 2**63 - 1)


def key_in(inside: str) -> bytes:
    """The place as a key; empty: the beginning."""
    return bytes.fromhex(inside if len(inside) % 2 == 0 else inside[:-1])
