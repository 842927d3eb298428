"""Do two texts say nearly the same? MinHash over pairs of neighbouring words, one byte of each minimum kept.

b-bit MinHash (Li and König 2010): the share of equal bytes estimates the Jaccard similarity of the two sets
of pairs, once chance agreement (one in 256) is taken out. Pairs rather than words, so that the order of
words counts. Case and punctuation do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from operator import add, eq
from struct import Struct
from typing import NamedTuple

from rensa import RMinHash

PERMUTATIONS = 64
SEED = 42
"""Part of the stored format: signatures of different seeds cannot be compared."""
SIGNED_CHARS = 8_000
"""More of a text does not make its signature better, only dearer."""
SIGNED_LINKS = 500
RUN_CHARS = 4
"""In scripts without spaces, runs of so many characters stand for pairs of words."""
MIN_UNSPACED_SHARE = 0.3
"""Share of such characters from which on a text counts as written in such a script."""
MIN_SIMILARITY = 0.5
"""Similarity from which on two texts say nearly the same."""
SHORT_CHARS = 400
MIN_SHORT_SIMILARITY = 0.75
"""In a short text, a name or a number is what makes the difference: pages of a catalogue, say."""
MIN_SIZE_SHARE = 0.6
"""A text that is shorter than this share of another is no duplicate of it."""
EMPTY_SIGNATURE = b"\xff" * PERMUTATIONS

_CHANCE = 1 / 256
# Thai to Myanmar, Khmer, kana and the ideographs, also of the supplementary planes.
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_UNSPACED_BYTES = 3
_ASCII_MARKS = bytes(code if code > 127 or chr(code).isalnum() or code == ord("_") else 32 for code in range(256))
_OTHER_MARKS = "’‘“”„«»‹›–—…·•¿¡。、，；：！？（）「」『』【】《》〈〉・．"
"""The punctuation that matters; finding all of it, as the Unicode tables have it, takes twice the time."""


def text_signature(text: str) -> bytes:
    """64 bytes that are alike for texts that are alike; the same in every process."""
    return _signed(_tokens(text[:SIGNED_CHARS]))


def page_signatures(text: str, links: Iterable[str]) -> tuple[bytes, bytes]:
    """The signature of what a page says, and one of that and where it leads; alike only where both are.

    Of a page of links, an index or a list, the main text is hardly more than what all pages of its site have.
    """
    minhash = RMinHash(PERMUTATIONS, SEED)
    tokens = _tokens(text[:SIGNED_CHARS])
    minhash.update(tokens)
    of_text = _bytes_of(minhash) if tokens else EMPTY_SIGNATURE
    named = list(islice(links, SIGNED_LINKS))
    minhash.update(named)
    return of_text, _bytes_of(minhash) if tokens or named else EMPTY_SIGNATURE


def _signed(tokens: list[str]) -> bytes:
    if not tokens:
        return EMPTY_SIGNATURE
    minhash = RMinHash(PERMUTATIONS, SEED)
    minhash.update(tokens)
    return _bytes_of(minhash)


def _bytes_of(minhash: RMinHash) -> bytes:
    return bytes([minimum & 0xFF for minimum in minhash.digest()])


def _tokens(text: str) -> list[str]:
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
    """Estimated share of what the two texts have in common, 0 to 1."""
    if len(one) != PERMUTATIONS or len(other) != PERMUTATIONS:
        return 0.0
    equal: float = sum(map(eq, one, other)) / PERMUTATIONS
    return max(0.0, (equal - _CHANCE) / (1 - _CHANCE))


def is_near_duplicate(one: bytes, other: bytes, *, sizes: tuple[int, int]) -> bool:
    """The texts behind the signatures, of so many characters, say nearly the same.

    A part of a text is not its duplicate, and beyond `SIGNED_CHARS` only the sizes can tell.
    """
    shorter, longer = sorted(sizes)
    enough = MIN_SHORT_SIMILARITY if shorter < SHORT_CHARS else MIN_SIMILARITY
    return shorter >= MIN_SIZE_SHARE * longer and signature_similarity(one, other) >= enough


BAND_BYTES = 4
BANDS = PERMUTATIONS // BAND_BYTES
MAX_BAND_ENTRIES = 64
"""Signatures that agree in one band and are looked at; a band that more agree in says little."""
MAX_CANDIDATES = 64
"""Candidates that are compared in full, those first that agree in the most bands."""

_BANDS = Struct(f"<{BANDS}I")


class SignatureEntry(NamedTuple):
    """What the index knows of a text."""

    page: int
    """Whose text it is; what the number means is up to the owner of the index."""
    signature: bytes
    chars: int


class SignatureMatch(NamedTuple):
    """An indexed text that says nearly the same."""

    page: int
    similarity: float


def is_indexable(signature: bytes) -> bool:
    """The signature of a text that says something; pages without text are not duplicates of each other."""
    return len(signature) == PERMUTATIONS and signature != EMPTY_SIGNATURE


def signature_bands(signature: bytes) -> tuple[int, ...]:
    """One 32-bit number a band: its bytes."""
    return _BANDS.unpack(signature)


def collision_probability(alike: float) -> float:
    """How likely two texts of this similarity agree in at least one band."""
    equal = alike + (1 - alike) / 256
    return float(1 - (1 - equal**BAND_BYTES) ** BANDS)


def top_candidates(numbers: Iterable[int]) -> list[int]:
    """Of the numbers found band by band, those to compare in full: the most frequent ones, up to a limit."""
    return [number for number, _ in Counter(numbers).most_common(MAX_CANDIDATES)]


def best_match(signature: bytes, chars: int, entries: Iterable[SignatureEntry]) -> SignatureMatch | None:
    """The entry that is nearest to a text of so many characters, if it says nearly the same.

    Among equally near ones the lowest page: the one that was there first.
    """
    near = [
        SignatureMatch(entry.page, signature_similarity(signature, entry.signature))
        for entry in entries
        if is_near_duplicate(signature, entry.signature, sizes=(chars, entry.chars))
    ]
    return min(near, key=lambda match: (-match.similarity, match.page), default=None)
