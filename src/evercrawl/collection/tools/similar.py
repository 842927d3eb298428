"""`tool similar`: do two texts say nearly the same?"""

from __future__ import annotations

from typing import Any

from evercrawl.core.duplicates.minhash import is_near_duplicate, signature, similarity


def similar(row: dict[str, Any]) -> dict[str, Any]:
    """Whether the plain texts `a` and `b` are near duplicates, and their estimated similarity."""
    one, other = row["a"], row["b"]
    first, second = signature(one), signature(other)
    return {
        "near_duplicate": is_near_duplicate(first, second, sizes=(len(one), len(other))),
        "similarity": round(similarity(first, second), 4),
    }
