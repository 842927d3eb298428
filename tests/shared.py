"""Test vectors that live outside the repository; a test that needs them skips with a clear word where they
are absent.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("EVERCRAWL_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared_path(name: str) -> Path:
    """A file or folder below the shared data; skips the test where it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not below EVERCRAWL_SHARED={SHARED}")
    return path


def conformance_rows(name: str) -> list[dict[str, Any]]:
    """The rows of one conformance file, such as `robots/rules.jsonl`."""
    path = shared_path(f"conformance/{name}")
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
