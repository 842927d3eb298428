"""Near-duplicate detection: MinHash signatures over word pairs, and locality-sensitive hashing in bands.
b-bit MinHash (Li and König 2010). LSH (Mining of Massive Datasets, 3.4) with 16 bands of 4 bytes: texts that share 80 %
of their pairs share a band with 99.9 %, 65 % with 95 %, 20 % with 3 % probability."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from operator import add, eq
from struct import Struct
from types import ModuleType
from typing import NamedTuple

from rensa import RMinHash

from evercrawl.core.native import load_native

PERMUTATIONS = 64
SEED = 42  # Part of the stored format: signatures of different seeds cannot be compared.
SIGNED_CHARS = 8_000  # More text does not improve a signature.
SIGNED_LINKS = 500
RUN_CHARS = 4  # Length of the runs that replace word pairs in scripts without spaces.
MIN_UNSPACED_SHARE = 0.3  # From this share of such characters on, a text counts as unspaced.
MIN_SIMILARITY = 0.5  # From this similarity on, two texts are near duplicates.
SHORT_CHARS = 400
MIN_SHORT_SIMILARITY = 0.75  # The same for short texts, in which a name or a number makes the difference.
MIN_SIZE_SHARE = 0.6  # A text shorter than this share of another is not its duplicate.
EMPTY_SIGNATURE = b"\xff" * PERMUTATIONS

_CHANCE = 1 / 256
# Thai to Myanmar, Khmer, kana and the ideographs, also of the supplementary planes.
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_UNSPACED_BYTES = 3
_ASCII_MARKS = bytes(code if code > 127 or chr(code).isalnum() or code == ord("_") else 32 for code in range(256))
_OTHER_MARKS = "’‘“”„«»‹›–—…·•¿¡。、，；：！？（）「」『』【】《》〈〉・．"
"""The common punctuation; finding all of Unicode's takes twice the time."""


def _usable_native() -> ModuleType | None:
    """Return the native functions if their hashes are those of the installed minhash library."""
    native = load_native()
    if native is None:
        return None
    sample = ["a", "word", "another", "a longer sample of words"]
    minhash = RMinHash(PERMUTATIONS, SEED)
    minhash.update(sample)
    try:
        return native if _minimums(native.plain_hashes(sample)) == minhash.digest() else None
    except (AttributeError, TypeError, ValueError):
        return None


def text_signature(text: str) -> bytes:
    """Return 64 bytes that are similar for similar texts; the same in every process."""
    hashes = _token_hashes(text[:SIGNED_CHARS])
    if hashes is not None:
        return _low_bytes(_minimums(hashes)) if hashes else EMPTY_SIGNATURE
    return _sign(text_tokens(text[:SIGNED_CHARS]))


def page_signatures(text: str, links: Iterable[str]) -> tuple[bytes, bytes]:
    """Return the signature of the text, and of the text with the links.
    On an index page the main text is hardly more than what all pages of its site have."""
    link_list = list(islice(links, SIGNED_LINKS))
    hashes = _token_hashes(text[:SIGNED_CHARS])
    if hashes is not None and _NATIVE is not None:
        both = hashes + _NATIVE.plain_hashes(link_list)
        text_part = _low_bytes(_minimums(hashes)) if hashes else EMPTY_SIGNATURE
        return text_part, _low_bytes(_minimums(both)) if both else EMPTY_SIGNATURE
    minhash = RMinHash(PERMUTATIONS, SEED)
    tokens = text_tokens(text[:SIGNED_CHARS])
    minhash.update(tokens)
    text_part = _low_bytes(minhash.digest()) if tokens else EMPTY_SIGNATURE
    minhash.update(link_list)
    return text_part, _low_bytes(minhash.digest()) if tokens or link_list else EMPTY_SIGNATURE


def _sign(tokens: list[str]) -> bytes:
    if not tokens:
        return EMPTY_SIGNATURE
    minhash = RMinHash(PERMUTATIONS, SEED)
    minhash.update(tokens)
    return _low_bytes(minhash.digest())


def _low_bytes(minimums: list[int]) -> bytes:
    return bytes([minimum & 0xFF for minimum in minimums])


def _token_hashes(text: str) -> bytes | None:
    """Return the hashes of the tokens by native code; None: there is none, or it leaves this text to the reference."""
    if _NATIVE is None:
        return None
    try:
        hashes: bytes | None = _NATIVE.token_hashes(text.casefold(), _OTHER_MARKS, MIN_UNSPACED_SHARE)
    except UnicodeEncodeError:
        return None
    return hashes


def _minimums(hashes: bytes) -> list[int]:
    rows = RMinHash.digest_matrix_from_flat_token_hashes(
        memoryview(hashes).cast("Q"), [0, len(hashes) // 8], PERMUTATIONS, SEED
    )
    minimums: list[int] = rows.to_rows()[0]
    return minimums


_NATIVE = _usable_native()


def text_tokens(text: str) -> list[str]:
    """Return the word pairs of a text, or its runs of characters in a script without spaces."""
    text = text.casefold()
    if not text.isascii():
        for mark in _OTHER_MARKS:
            text = text.replace(mark, " ")
    raw = text.encode(errors="replace").translate(_ASCII_MARKS)
    words = raw.decode().split()
    if not words:
        return []
    if _is_unspaced(text, len(raw)):
        joined = "".join(words)
        return [joined[at : at + RUN_CHARS] for at in range(max(1, len(joined) - RUN_CHARS + 1))]
    return list(map(add, words, words[1:])) or words


def _is_unspaced(text: str, utf8_bytes: int) -> bool:
    least = MIN_UNSPACED_SHARE * len(text)
    return utf8_bytes - len(text) >= least * (_UNSPACED_BYTES - 1) and len(_UNSPACED.findall(text)) >= least


def signature_similarity(one: bytes, other: bytes) -> float:
    """Return the estimated Jaccard similarity of two texts, 0 to 1."""
    if len(one) != PERMUTATIONS or len(other) != PERMUTATIONS:
        return 0.0
    equal: float = sum(map(eq, one, other)) / PERMUTATIONS
    return max(0.0, (equal - _CHANCE) / (1 - _CHANCE))


def is_near_duplicate(one: bytes, other: bytes, *, sizes: tuple[int, int]) -> bool:
    """Return whether texts with these signatures and sizes are near duplicates.
    A part of a text is not its duplicate, and beyond `SIGNED_CHARS` only the sizes can tell."""
    shorter, longer = sorted(sizes)
    enough = MIN_SHORT_SIMILARITY if shorter < SHORT_CHARS else MIN_SIMILARITY
    return shorter >= MIN_SIZE_SHARE * longer and signature_similarity(one, other) >= enough


BAND_BYTES = 4
BANDS = PERMUTATIONS // BAND_BYTES
MAX_BAND_ENTRIES = 64  # Signatures read per band; a band with more says little.
MAX_CANDIDATES = 64  # Candidates compared in full, those with the most common bands first.

_BANDS = Struct(f"<{BANDS}I")


class SignatureEntry(NamedTuple):
    """An indexed text."""

    page: int  # Number of the page; its meaning is up to the owner of the index.
    signature: bytes
    chars: int


class SignatureMatch(NamedTuple):
    """An indexed near duplicate."""

    page: int
    similarity: float


def is_indexable(signature: bytes) -> bool:
    """Return whether the text is not empty; empty pages are not duplicates of each other."""
    return len(signature) == PERMUTATIONS and signature != EMPTY_SIGNATURE


def signature_bands(signature: bytes) -> tuple[int, ...]:
    """Return the bytes of each band as a 32-bit number."""
    return _BANDS.unpack(signature)


def top_candidates(numbers: Iterable[int]) -> list[int]:
    """Return the most frequent numbers found band by band, up to a limit."""
    return [number for number, _ in Counter(numbers).most_common(MAX_CANDIDATES)]


def best_match(signature: bytes, chars: int, entries: Iterable[SignatureEntry]) -> SignatureMatch | None:
    """Return the most similar near duplicate; of equals the lowest page, which was there first."""
    matches = [
        SignatureMatch(entry.page, signature_similarity(signature, entry.signature))
        for entry in entries
        if is_near_duplicate(signature, entry.signature, sizes=(chars, entry.chars))
    ]
    return min(matches, key=lambda match: (-match.similarity, match.page), default=None)
