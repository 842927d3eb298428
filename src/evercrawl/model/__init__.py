"""Frozen values that the layers pass to each other."""

from __future__ import annotations

__version__ = "0.2.0"
