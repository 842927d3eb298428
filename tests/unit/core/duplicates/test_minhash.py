"""Near-duplicate signatures, bands and digests."""

from __future__ import annotations

import random
import subprocess
import sys
from random import Random

import pytest

from evercrawl.core.digest import content_digest, payload_sha1, text_digest
from evercrawl.core.duplicates.minhash import (
    BAND_BYTES,
    BANDS,
    EMPTY_SIGNATURE,
    MAX_CANDIDATES,
    PERMUTATIONS,
    SignatureEntry,
    SignatureMatch,
    best_match,
    is_indexable,
    is_near_duplicate,
    signature_bands,
    signature_similarity,
    text_signature,
    top_candidates,
)

WORDS = [f"word{number}" for number in range(600)]


def test_signatures_are_the_same_in_every_process() -> None:
    code = (
        "from evercrawl.core.duplicates import minhash; print(minhash.text_signature('the cat sat on the mat').hex())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert text_signature("the cat sat on the mat").hex() == other


def test_similar_texts_have_similar_signatures() -> None:
    text = " ".join(WORDS)
    changed = " ".join(WORDS[:280] + ["new"] * 5 + WORDS[285:])
    assert signature_similarity(text_signature(text), text_signature(text)) == 1.0
    assert signature_similarity(text_signature(text), text_signature(changed)) > 0.85
    assert signature_similarity(text_signature(text), text_signature(text.replace(" ", " \n "))) == 1.0


def test_other_texts_and_word_orders_do_not() -> None:
    shuffled = random.Random(1).sample(WORDS, len(WORDS))
    assert signature_similarity(text_signature(" ".join(WORDS)), text_signature(" ".join(shuffled))) < 0.2
    assert (
        signature_similarity(text_signature(" ".join(WORDS)), text_signature(" ".join(f"x{word}" for word in WORDS)))
        < 0.1
    )


def test_half_of_the_pairs_is_a_similarity_of_a_third() -> None:
    one, other = " ".join(WORDS[:400]), " ".join(WORDS[200:])
    assert 0.15 < signature_similarity(text_signature(one), text_signature(other)) < 0.55


def test_scripts_without_spaces() -> None:
    text = "".join(chr(0x4E00 + number * 7 % 3000) for number in range(800))
    assert signature_similarity(text_signature(text), text_signature(text[:400] + "新" + text[400:])) > 0.85


def are_near(one: str, other: str) -> bool:
    return is_near_duplicate(text_signature(one), text_signature(other), sizes=(len(one), len(other)))


def test_case_and_punctuation_do_not_count() -> None:
    text = "“Don’t panic,” she said – twice. The Größe of the (old) ship; its weight: 5 tons!"
    assert text_signature(text) == text_signature(text.upper())
    assert text_signature(text) == text_signature(
        '"Don\'t panic" she said, twice: the Größe of the old ship its weight 5 tons'
    )
    assert text_signature("天气很好，我们去公园。") == text_signature("天气很好 我们去公园")


def test_ideographs_among_latin_words_become_runs() -> None:
    text = "Debian 是一个自由的操作系统，由许多志愿者维护 apt 软件包管理系统让安装变得简单" * 4
    changed = text.replace("志愿者", "开发者", 1)
    assert signature_similarity(text_signature(text), text_signature(changed)) > 0.75


def test_spaced_scripts_of_three_bytes_have_words() -> None:
    words = [f"शब्द{number}" for number in range(200)]
    assert signature_similarity(text_signature(" ".join(words)), text_signature(" ".join(reversed(words)))) < 0.2


def test_a_part_is_not_a_duplicate() -> None:
    text = " ".join(WORDS)
    assert are_near(text, " ".join(WORDS[:560]))
    assert not are_near(text, " ".join(WORDS[:200]))


def test_short_texts_must_be_more_similar() -> None:
    product = "Bolt {} in steel, with nut and washer, packed in boxes of {} pieces, delivered within three days"
    assert not are_near(product.format("M8", 100), product.format("M12 hexagon", 25))
    assert are_near(product.format("M8", 100), product.format("M8", 100) + ".")


def test_empty_and_short_texts() -> None:
    assert text_signature("") == text_signature(" \n") == text_signature(" ... ?") == EMPTY_SIGNATURE
    assert len(text_signature("one")) == PERMUTATIONS
    assert signature_similarity(text_signature("one"), text_signature("two")) < 0.2
    assert signature_similarity(b"", text_signature("one")) == 0.0


def test_digests() -> None:
    assert len(content_digest(b"x")) == 16
    assert content_digest(b"x") != content_digest(b"y")
    assert text_digest("a b") != text_digest("ab")
    assert payload_sha1(b"").hex() == "da39a3ee5e6b4b0d3255bfef95601890afd80709"


MANY_WORDS = [f"word{number}" for number in range(400)]
TEXT = " ".join(MANY_WORDS)


def test_each_band_is_a_number() -> None:
    numbers = signature_bands(bytes(range(64)))
    assert len(numbers) == BANDS == 16
    assert numbers[1].to_bytes(4, "little") == bytes([4, 5, 6, 7])


def test_similar_texts_share_a_band() -> None:
    changed = " ".join(MANY_WORDS[:200] + ["new"] * 5 + MANY_WORDS[205:])
    assert set(signature_bands(text_signature(TEXT))) & set(signature_bands(text_signature(changed)))


def collision_probability(similarity: float) -> float:
    """Return how likely two texts of this similarity share a band."""
    equal = similarity + (1 - similarity) / 256
    return 1 - (1 - equal**BAND_BYTES) ** BANDS


@pytest.mark.parametrize(("alike", "least", "most"), [(0.8, 0.999, 1), (0.65, 0.95, 1), (0.2, 0, 0.03), (0, 0, 1e-8)])
def test_collision_probabilities_of_the_docstring(alike: float, least: float, most: float) -> None:
    assert least <= collision_probability(alike) <= most


def test_collision_probability_is_observed() -> None:
    random = Random(1)
    shared = 0
    for _ in range(2000):
        one = random.randbytes(64)
        other = bytes(byte if random.random() < 0.6 else random.randrange(256) for byte in one)
        shared += any(a == b for a, b in zip(signature_bands(one), signature_bands(other), strict=True))
    assert shared / 2000 == pytest.approx(collision_probability(0.6), abs=0.03)


def test_empty_texts_are_not_indexed() -> None:
    assert not is_indexable(EMPTY_SIGNATURE)
    assert not is_indexable(b"")
    assert is_indexable(text_signature("one"))


def test_candidates_with_most_bands_come_first_up_to_a_limit() -> None:
    assert top_candidates([5, 7, 7, 5, 7, 1])[:2] == [7, 5]
    assert len(top_candidates(range(10_000))) == MAX_CANDIDATES


def test_the_most_similar_then_the_first_match_wins() -> None:
    mine = text_signature(TEXT)
    near = text_signature(" ".join(MANY_WORDS[:350]))
    entries = [
        SignatureEntry(9, mine, len(TEXT)),
        SignatureEntry(4, mine, len(TEXT)),
        SignatureEntry(1, near, len(TEXT) * 7 // 8),
    ]
    assert best_match(mine, len(TEXT), entries) == SignatureMatch(4, 1.0)
    assert best_match(mine, len(TEXT), entries[2:]) is not None
    assert best_match(mine, len(TEXT) * 3, entries) is None
    assert best_match(mine, len(TEXT), []) is None
