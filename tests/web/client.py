"""A client that speaks to an application without a network."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it asks for another client library than the one we have
    from starlette.testclient import TestClient

__all__ = ["TestClient"]
