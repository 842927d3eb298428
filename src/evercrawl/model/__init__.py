"""Frozen values that the layers pass to each other."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T", bound=tuple[Any, ...])

__version__ = "0.2.0"


def wide(kind: type[T]) -> type[T]:
    """Give a named tuple with many fields a `_replace` that copies them in half the time."""
    places = {name: place for place, name in enumerate(kind._fields)}  # type: ignore[attr-defined]

    def replaced(self: T, /, **changes: Any) -> T:
        values = list(self)
        for name, value in changes.items():
            values[places[name]] = value
        return tuple.__new__(kind, values)

    kind._replace = replaced  # type: ignore[attr-defined]
    return kind
