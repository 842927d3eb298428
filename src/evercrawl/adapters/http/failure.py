"""How a fetch goes wrong inside this adapter; `client.py` turns it into a value."""

from __future__ import annotations

from evercrawl.model.fetch import Fault


class FetchFailed(Exception):
    """The request cannot be answered; says whom to blame and why, in words."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


class StaleConnection(Exception):
    """A kept connection was closed before it could carry this request; another may be opened for it."""


def seconds_text(seconds: float) -> str:
    """A limit as it stands in a message: `20 s`, `0.5 s`."""
    return f"{seconds:g} s"
