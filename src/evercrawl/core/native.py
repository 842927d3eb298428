"""The optional package `evercrawl-native`: hot functions in native code, with the same results as the reference."""

from __future__ import annotations

import os
from types import ModuleType

PURE_VARIABLE = "EVERCRAWL_PURE"  # Set in the environment: do without native functions.


def load_native() -> ModuleType | None:
    """Return the package; None: it is not installed, or not wanted."""
    if os.environ.get(PURE_VARIABLE):
        return None
    try:
        import evercrawl_native
    except ImportError:
        return None
    return evercrawl_native  # type: ignore[no-any-return]
