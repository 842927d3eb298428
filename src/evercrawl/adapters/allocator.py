"""What the C library and Python do with memory that was given back, where they can be told.

Every page's tree is made of blocks of many kilobytes that are given back a moment later. By default glibc
returns them to the system and asks for the same again with the next page, and the system fills each with
zeros. Kept instead, they serve the next page as they are.
"""

from __future__ import annotations

import ctypes
import gc

KEPT_BYTES = 32 * 1024 * 1024
"""So much free memory at the end of the heap is kept; what goes beyond returns to the system."""
LARGEST_KEPT = 4 * 1024 * 1024
"""Larger blocks are asked for one by one and returned at once."""
OBJECTS_UNTIL_COLLECTED = 20_000
"""Python looks for cycles after so many new objects (its own default: 700)."""

# The numbers of malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_PAD_BYTES = 4 * 1024 * 1024


def collect_rarely() -> None:
    """Have Python look for cycles of dead objects less often.

    A page makes thousands of objects and hardly a cycle. For processes of our own only: a library does not
    decide this for its user.
    """
    gc.set_threshold(OBJECTS_UNTIL_COLLECTED)


def keep_freed_memory() -> bool:
    """Have memory that was given back kept for later; False: this C library does not listen."""
    try:
        tell = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    wishes = ((_MMAP_THRESHOLD, LARGEST_KEPT), (_TRIM_THRESHOLD, KEPT_BYTES), (_TOP_PAD, _PAD_BYTES))
    return all(tell(what, amount) == 1 for what, amount in wishes)
