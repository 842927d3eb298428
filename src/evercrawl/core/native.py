"""The optional package `evercrawl-native`: hot functions in native code, with the same results as the reference."""

from __future__ import annotations

from types import ModuleType


def load_native() -> ModuleType | None:
    """Return the package; None: it is not installed, or EVERCRAWL_PURE in the environment keeps it from loading."""
    try:
        import evercrawl_native
    except ImportError:
        return None
    return evercrawl_native  # type: ignore[no-any-return]
