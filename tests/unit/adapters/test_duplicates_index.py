"""The near-duplicate index on disk."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from evercrawl.adapters.duplicates_index import NearDuplicateIndex
from evercrawl.core.duplicates.minhash import EMPTY_SIGNATURE, SignatureMatch
from evercrawl.errors import StoreUnavailable

CHARS = 3000


def signatures(count: int, seed: int = 1) -> list[bytes]:
    random = Random(seed)
    return [random.randbytes(64) for _ in range(count)]


def near(signature: bytes, seed: int = 2) -> bytes:
    """Return a signature that agrees in four of five bytes."""
    random = Random(seed)
    return bytes(byte if random.random() < 0.8 else random.randrange(256) for byte in signature)


def fill(index: NearDuplicateIndex, all_signatures: list[bytes], first_page: int = 0) -> None:
    for page, signature in enumerate(all_signatures, first_page):
        index.add(page, signature, chars=CHARS)


def found_pages(index: NearDuplicateIndex, all_signatures: list[bytes]) -> list[int | None]:
    matches = [index.find(near(signature), chars=CHARS) for signature in all_signatures]
    return [match.page if match is not None else None for match in matches]


def test_similar_signatures_are_found_in_memory_and_in_runs(tmp_path: Path) -> None:
    known = signatures(500)
    with NearDuplicateIndex(tmp_path, new_entries=16) as index:
        fill(index, known)
        assert len(index) == 500
        assert found_pages(index, known) == list(range(500))
        assert found_pages(index, signatures(200, seed=3)) == [None] * 200
        assert index.find(known[7], chars=CHARS) == SignatureMatch(7, 1.0)
    assert len(list(tmp_path.glob("*.run"))) <= 9


def test_texts_of_other_sizes_do_not_match(tmp_path: Path) -> None:
    with NearDuplicateIndex(tmp_path) as index:
        index.add(1, signatures(1)[0], chars=CHARS)
        assert index.find(signatures(1)[0], chars=CHARS * 3) is None


def test_all_entries_survive_reopening(tmp_path: Path) -> None:
    known = signatures(150)
    for part in range(3):
        with NearDuplicateIndex(tmp_path, new_entries=32) as index:
            fill(index, known[part * 50 : part * 50 + 50], part * 50)
    with NearDuplicateIndex(tmp_path, new_entries=32) as index:
        assert len(index) == 150
        assert found_pages(index, known) == list(range(150))


def test_pages_without_text_are_not_indexed(tmp_path: Path) -> None:
    with NearDuplicateIndex(tmp_path) as index:
        index.add(1, EMPTY_SIGNATURE, chars=0)
        assert len(index) == 0
        assert index.find(EMPTY_SIGNATURE, chars=0) is None


def test_a_partial_record_is_dropped(tmp_path: Path) -> None:
    with NearDuplicateIndex(tmp_path) as index:
        fill(index, signatures(10))
    with (tmp_path / "entries").open("ab") as file:
        file.write(b"half a record")
    with NearDuplicateIndex(tmp_path) as index:
        assert len(index) == 10
        index.add(10, signatures(11)[10], chars=CHARS)
    with NearDuplicateIndex(tmp_path) as index:
        assert found_pages(index, signatures(11)) == list(range(11))


def test_leftovers_of_an_interrupted_merge_are_deleted(tmp_path: Path) -> None:
    known = signatures(64)
    with NearDuplicateIndex(tmp_path, new_entries=16) as index:
        fill(index, known[:48])
    small = {path: path.read_bytes() for path in tmp_path.glob("*.run")}
    with NearDuplicateIndex(tmp_path, new_entries=16) as index:
        fill(index, known[48:], 48)
    assert [path.name for path in tmp_path.glob("*.run")] == ["0-64.run"]
    for path, content in small.items():
        path.write_bytes(content)
    (tmp_path / "64-80.run").write_bytes(bytes(16 * 16 * 8))
    (tmp_path / "0-64.new").write_bytes(b"unfinished")
    with NearDuplicateIndex(tmp_path, new_entries=16) as index:
        assert found_pages(index, known) == list(range(64))
    assert [path.name for path in tmp_path.glob("*.run")] == ["0-64.run"]
    assert not list(tmp_path.glob("*.new"))


def test_runs_after_a_gap_are_rebuilt(tmp_path: Path) -> None:
    known = signatures(48)
    with NearDuplicateIndex(tmp_path, new_entries=16) as index:
        fill(index, known)
    (tmp_path / "16-32.run").unlink()
    with NearDuplicateIndex(tmp_path, new_entries=16) as index:
        assert found_pages(index, known) == list(range(48))


def test_a_truncated_run_is_rebuilt(tmp_path: Path) -> None:
    known = signatures(16)
    with NearDuplicateIndex(tmp_path, new_entries=16) as index:
        fill(index, known)
    (tmp_path / "0-16.run").write_bytes(b"short")
    with NearDuplicateIndex(tmp_path, new_entries=16) as index:
        assert found_pages(index, known) == list(range(16))


def test_an_unusable_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="near-duplicate index cannot be read or written"):
        NearDuplicateIndex(tmp_path / "file")


def test_a_crowded_band_is_read_only_up_to_its_limit(tmp_path: Path) -> None:
    random = Random(5)
    with NearDuplicateIndex(tmp_path, new_entries=64) as index:
        for page in range(1000):
            index.add(page, b"same" + random.randbytes(60), chars=CHARS)
        target = b"same" + random.randbytes(60)
        index.add(1000, target, chars=CHARS)
        assert found_pages(index, [target]) == [1000]
