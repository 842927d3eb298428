"""Near-duplicate signatures and digests."""

from __future__ import annotations

import random
import subprocess
import sys

from evercrawl.core.digest import content_digest, payload_sha1, text_digest
from evercrawl.core.signature import EMPTY_SIGNATURE, PERMUTATIONS, signature, similarity

WORDS = [f"word{number}" for number in range(600)]


def test_the_same_in_every_process() -> None:
    code = "from evercrawl.core.signature import signature; print(signature('the cat sat on the mat').hex())"
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert signature("the cat sat on the mat").hex() == other


def test_alike_texts_are_alike() -> None:
    text = " ".join(WORDS)
    changed = " ".join(WORDS[:280] + ["new"] * 5 + WORDS[285:])
    assert similarity(signature(text), signature(text)) == 1.0
    assert similarity(signature(text), signature(changed)) > 0.85
    assert similarity(signature(text), signature(text.replace(" ", " \n "))) == 1.0


def test_other_texts_and_other_orders_are_not() -> None:
    shuffled = random.Random(1).sample(WORDS, len(WORDS))
    assert similarity(signature(" ".join(WORDS)), signature(" ".join(shuffled))) < 0.2
    assert similarity(signature(" ".join(WORDS)), signature(" ".join(f"x{word}" for word in WORDS))) < 0.1


def test_half_the_pairs_give_about_a_third() -> None:
    one, other = " ".join(WORDS[:400]), " ".join(WORDS[200:])
    assert 0.15 < similarity(signature(one), signature(other)) < 0.55


def test_scripts_without_spaces() -> None:
    text = "".join(chr(0x4E00 + number * 7 % 3000) for number in range(800))
    assert similarity(signature(text), signature(text[:400] + "新" + text[400:])) > 0.85


def test_empty_and_short_texts() -> None:
    assert signature("") == signature(" \n") == EMPTY_SIGNATURE
    assert len(signature("one")) == PERMUTATIONS
    assert similarity(signature("one"), signature("two")) < 0.2
    assert similarity(b"", signature("one")) == 0.0


def test_digests() -> None:
    assert len(content_digest(b"x")) == 16
    assert content_digest(b"x") != content_digest(b"y")
    assert text_digest("a b") != text_digest("ab")
    assert payload_sha1(b"").hex() == "da39a3ee5e6b4b0d3255bfef95601890afd80709"
