"""Test vectors: those that may be published are in `tests/data/conformance`; all are in the folder that the variable
EVERCRAWL_SHARED names.

Without the folder, tests over data that may not be published are skipped and the summary says so. With the variable,
missing data is a failure.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

VENDORED = Path(__file__).resolve().parent / "data"
SHARED = Path(os.environ.get("EVERCRAWL_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared_path(name: str) -> Path:
    """Return a file or folder of the shared data; skip or fail the test if it is missing."""
    path = SHARED / name
    if not path.exists() and (VENDORED / name).exists() and "EVERCRAWL_SHARED" not in os.environ:
        return VENDORED / name
    if not path.exists():
        message = f"data that may not be published is needed: set EVERCRAWL_SHARED to the folder that contains {name}"
        if "EVERCRAWL_SHARED" in os.environ:
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    return path


def conformance_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of one conformance file, such as `robots/rules.jsonl`."""
    packed = name if name.endswith(".gz") else f"{name}.gz"
    is_there = (SHARED / "conformance" / name).exists() or not (VENDORED / "conformance" / packed).exists()
    path = shared_path(f"conformance/{name if is_there else packed}")
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
