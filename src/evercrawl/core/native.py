"""The optional package `evercrawl-native`: hot functions in native code, with the same results as the reference."""

from __future__ import annotations

from types import ModuleType

from evercrawl.model import __version__


def load_native() -> ModuleType | None:
    """Return the package; None: it is missing, of another version, or kept from loading by EVERCRAWL_PURE."""
    try:
        import evercrawl_native
    except ImportError:
        return None
    return evercrawl_native if getattr(evercrawl_native, "__version__", None) == __version__ else None
