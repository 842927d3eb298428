"""Requests and answers as bytes in the database.

What is read there builds values of our model and nothing else, so that whoever can write to the database
cannot run code here.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

_VALUES = frozenset({("datetime", name) for name in ("datetime", "timedelta", "timezone")})


class _OnlyValues(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("evercrawl.model.") or (module, name) in _VALUES:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not a value of ours")


def packed(value: object) -> bytes:
    """The value as bytes."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(stored: bytes) -> Any:
    """The value; ValueError where the bytes are none of ours."""
    try:
        return _OnlyValues(io.BytesIO(stored)).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, IndexError) as error:
        raise ValueError(f"not a stored value: {error}") from error
