"""Bands of signatures."""

from __future__ import annotations

from random import Random

import pytest

from evercrawl.core.duplicates.minhash import (
    BANDS,
    EMPTY_SIGNATURE,
    MAX_CANDIDATES,
    SignatureEntry,
    SignatureMatch,
    best_match,
    collision_probability,
    is_indexable,
    signature_bands,
    text_signature,
    top_candidates,
)

WORDS = [f"word{number}" for number in range(400)]
TEXT = " ".join(WORDS)


def test_one_number_a_band_that_is_its_bytes() -> None:
    numbers = signature_bands(bytes(range(64)))
    assert len(numbers) == BANDS == 16
    assert numbers[1].to_bytes(4, "little") == bytes([4, 5, 6, 7])


def test_texts_that_are_alike_meet() -> None:
    changed = " ".join(WORDS[:200] + ["new"] * 5 + WORDS[205:])
    assert set(signature_bands(text_signature(TEXT))) & set(signature_bands(text_signature(changed)))


@pytest.mark.parametrize(("alike", "least", "most"), [(0.8, 0.999, 1), (0.65, 0.95, 1), (0.2, 0, 0.03), (0, 0, 1e-8)])
def test_chances_are_as_the_docstring_has_them(alike: float, least: float, most: float) -> None:
    assert least <= collision_probability(alike) <= most


def test_the_chance_is_what_is_observed() -> None:
    random = Random(1)
    met = 0
    for _ in range(2000):
        one = random.randbytes(64)
        other = bytes(byte if random.random() < 0.6 else random.randrange(256) for byte in one)
        met += any(a == b for a, b in zip(signature_bands(one), signature_bands(other), strict=True))
    assert met / 2000 == pytest.approx(collision_probability(0.6), abs=0.03)


def test_pages_without_text_are_not_indexed() -> None:
    assert not is_indexable(EMPTY_SIGNATURE)
    assert not is_indexable(b"")
    assert is_indexable(text_signature("one"))


def test_what_agrees_in_most_bands_comes_first_and_not_too_much_of_it() -> None:
    assert top_candidates([5, 7, 7, 5, 7, 1])[:2] == [7, 5]
    assert len(top_candidates(range(10_000))) == MAX_CANDIDATES


def test_the_nearest_and_then_the_first_is_found() -> None:
    mine = text_signature(TEXT)
    near = text_signature(" ".join(WORDS[:350]))
    entries = [
        SignatureEntry(9, mine, len(TEXT)),
        SignatureEntry(4, mine, len(TEXT)),
        SignatureEntry(1, near, len(TEXT) * 7 // 8),
    ]
    assert best_match(mine, len(TEXT), entries) == SignatureMatch(4, 1.0)
    assert best_match(mine, len(TEXT), entries[2:]) is not None
    assert best_match(mine, len(TEXT) * 3, entries) is None
    assert best_match(mine, len(TEXT), []) is None
