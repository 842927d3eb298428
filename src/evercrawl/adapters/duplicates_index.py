"""The near-duplicate index on disk: sorted, memory-mapped arrays.
`entries` holds page, size and signature of each text in order of arrival. A run holds, for each LSH band, the sorted
(hash, entry number) pairs of a range of entries. The newest entries are in memory; at a limit they become a run, and
runs of similar size are merged. The index derives from the stored versions: a crash loses only unflushed entries, and a
lost index can be rebuilt. Only one process may write it."""

from __future__ import annotations

import mmap
import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from typing import IO

from evercrawl.adapters.system import OpenFiles
from evercrawl.core.duplicates.minhash import (
    BANDS,
    MAX_BAND_ENTRIES,
    PERMUTATIONS,
    SignatureEntry,
    SignatureMatch,
    best_match,
    is_indexable,
    signature_bands,
    top_candidates,
)
from evercrawl.errors import StoreUnavailable

NEW_ENTRIES = 8192  # Entries in memory before they become a run, about 2 KB each, 16 MB in total.
MERGED_RUNS = 4  # Number of runs of similar size to merge; ten million entries need at most 15 runs.
MERGE_CHUNK_PAIRS = 1 << 18  # Pairs of one band that a merge holds in memory, about 10 MB.
MAX_ENTRIES = 1 << 32
_NUMBER_BITS = 32
_NUMBER_MASK = (1 << _NUMBER_BITS) - 1
_PAIR_BYTES = 8
_RECORD = Struct(f"<QI{PERMUTATIONS}s")
_RUN_FILE = "{}-{}.run"
_RUN_NAME = re.compile(r"(\d+)-(\d+)\.run\Z")


class NearDuplicateIndex:
    """Find texts by signature; `find` reads a few places of each run.
    Invariant: the runs cover the entries from 0 without a gap, and all later entries are in memory."""

    def __init__(self, folder: Path, *, new_entries: int = NEW_ENTRIES, files: OpenFiles | None = None) -> None:
        """`files` limits the indexes that have their files open."""
        self._folder = folder
        self._max_new = new_entries
        self._files = files
        self._is_open = False
        self._ensure_open()

    def _ensure_open(self) -> None:
        if self._files is not None:
            self._files.use(self)
        if not self._is_open:
            with _translate_errors(self._folder):
                self._open()
            self._is_open = True

    def release_files(self) -> None:
        """Close all files until they are needed again; entries in memory are read again then."""
        if self._is_open:
            self._close_files()

    def _open(self) -> None:
        folder = self._folder
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / "entries").open("a+b")
        for unfinished in folder.glob("*.new"):
            unfinished.unlink()
        stored = self._file.seek(0, os.SEEK_END) // _RECORD.size
        self._file.truncate(stored * _RECORD.size)
        self._runs = _open_runs(folder, stored)
        self._count = self._runs[-1].last if self._runs else 0
        self._mapped = _Mapping(self._file, self._count * _RECORD.size)
        self._new: list[SignatureEntry] = []
        self._new_bands: list[dict[int, int]] = [{} for _ in range(BANDS)]
        """For each band, its hash and the newest entry in memory with that hash."""
        for entry in _records(folder / "entries", self._count):
            self._remember(entry)

    def __len__(self) -> int:
        return self._count

    def find(self, signature: bytes, *, chars: int) -> SignatureMatch | None:
        """Return the most similar indexed text, or None."""
        if not is_indexable(signature):
            return None
        self._ensure_open()
        numbers = self._numbers(signature)
        if not numbers:
            return None
        return best_match(signature, chars, map(self._entry, top_candidates(numbers)))

    def add(self, page: int, signature: bytes, *, chars: int) -> None:
        """Add a text. Add only texts that are not duplicates, so that bands stay short."""
        if not is_indexable(signature) or self._count >= MAX_ENTRIES:
            return
        self._ensure_open()
        with _translate_errors(self._folder):
            self._file.write(_RECORD.pack(page, chars, signature))
            self._remember(SignatureEntry(page, signature, chars))

    def flush(self) -> None:
        """Pass all entries to the operating system."""
        if not self._is_open:
            return
        with _translate_errors(self._folder):
            self._file.flush()

    def close(self) -> None:
        """Flush and close all files."""
        if self._files is not None:
            self._files.forget(self)
        if self._is_open:
            self._close_files()

    def _close_files(self) -> None:
        self._is_open = False
        for run in self._runs:
            run.close()
        self._mapped.close()
        self._file.close()

    def __enter__(self) -> NearDuplicateIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _numbers(self, signature: bytes) -> list[int]:
        found: list[int] = []
        for band, value in enumerate(signature_bands(signature)):
            if (number := self._new_bands[band].get(value)) is not None:
                found.append(number)
            for run in self._runs:
                pairs = run.bands[band]
                at = bisect_left(pairs, value << _NUMBER_BITS)
                if at < run.count and pairs[at] >> _NUMBER_BITS == value:
                    found += _numbers_of(pairs[at : at + MAX_BAND_ENTRIES], value)
        return found

    def _entry(self, number: int) -> SignatureEntry:
        first_new = self._count - len(self._new)
        if number >= first_new:
            return self._new[number - first_new]
        return _parse_entry(_RECORD.unpack_from(self._mapped.view, number * _RECORD.size))

    def _remember(self, entry: SignatureEntry) -> None:
        for band, value in zip(self._new_bands, signature_bands(entry.signature), strict=True):
            band[value] = self._count
        self._new.append(entry)
        self._count += 1
        if len(self._new) >= self._max_new:
            self._write_run()

    def _write_run(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        first = self._count - len(self._new)
        columns = zip(*(signature_bands(entry.signature) for entry in self._new), strict=True)
        pairs = (_sorted_pairs(column, first) for column in columns)
        self._runs.append(_write_run(self._folder, (first, self._count), pairs))
        self._new.clear()
        for band in self._new_bands:
            band.clear()
        self._mapped.close()
        self._mapped = _Mapping(self._file, self._count * _RECORD.size)
        self._merge()

    def _merge(self) -> None:
        while _is_merge_due(self._runs):
            old = self._runs[-MERGED_RUNS:]
            del self._runs[-MERGED_RUNS:]
            pairs = (chunk for band in range(BANDS) for chunk in _merge_band(old, band))
            self._runs.append(_write_run(self._folder, (old[0].first, old[-1].last), pairs))
            for run in old:
                run.close()
                run.path.unlink()


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    """Translate disk errors."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"{folder}: the near-duplicate index cannot be read or written ({error.strerror}); free space"
            " or fix the permissions, or delete the folder: it can be rebuilt from the versions"
        ) from error


class _Mapping:
    """The start of a file as read-only memory."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else None
        if self._map is not None:
            # Lookups are random: read-ahead would only waste memory.
            self._map.madvise(mmap.MADV_RANDOM)
        self.view = memoryview(b"" if self._map is None else self._map)

    def release_pages(self) -> None:
        """Free the memory of pages read so far; they are read again if needed."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Close the mapping; all views of it must be released first."""
        self.view.release()
        if self._map is not None:
            self._map.close()


class _Run:
    """Sorted pairs (band hash, entry number) of the entries `first` to `last` - 1, one array per band."""

    def __init__(self, path: Path, first: int, last: int) -> None:
        self.path, self.first, self.last = path, first, last
        self.count = last - first
        with path.open("rb") as file:
            self._mapping = _Mapping(file, self.count * BANDS * _PAIR_BYTES)
        self._words = self._mapping.view.cast("Q")
        self.bands = [self._words[band * self.count : (band + 1) * self.count] for band in range(BANDS)]

    def release_pages(self) -> None:
        """Free the memory of pages read so far."""
        self._mapping.release_pages()

    def close(self) -> None:
        """Close the file."""
        for view in (*self.bands, self._words):
            view.release()
        self._mapping.close()


def _open_runs(folder: Path, stored: int) -> list[_Run]:
    """Open the runs that cover the entries without a gap; delete leftovers of merges and crashes."""
    ranges = sorted(
        ((int(found[1]), int(found[2])) for path in folder.iterdir() if (found := _RUN_NAME.match(path.name))),
        key=lambda run: (run[0], -run[1]),
    )
    chosen: list[tuple[int, int]] = []
    for first, last in ranges:
        path = folder / _RUN_FILE.format(first, last)
        is_whole = path.stat().st_size == (last - first) * BANDS * _PAIR_BYTES
        if is_whole and first == (chosen[-1][1] if chosen else 0) and last <= stored:
            chosen.append((first, last))
        else:
            path.unlink()
    return [_Run(folder / _RUN_FILE.format(*run), *run) for run in chosen]


def _write_run(folder: Path, covered: tuple[int, int], pairs: Iterable[array[int]]) -> _Run:
    path = folder / _RUN_FILE.format(*covered)
    unfinished = path.with_suffix(".new")
    with unfinished.open("wb") as file:
        for chunk in pairs:
            chunk.tofile(file)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    return _Run(path, *covered)


def _sorted_pairs(values: Iterable[int], first: int) -> array[int]:
    return array("Q", sorted(value << _NUMBER_BITS | number for number, value in enumerate(values, first)))


def _numbers_of(pairs: memoryview[int], value: int) -> list[int]:
    return [pair & _NUMBER_MASK for pair in pairs if pair >> _NUMBER_BITS == value]


def _is_merge_due(runs: list[_Run]) -> bool:
    """Check whether the last runs have similar sizes; merging only those keeps the work per entry logarithmic."""
    return len(runs) >= MERGED_RUNS and runs[-MERGED_RUNS].count < 2 * runs[-1].count


def _merge_band(runs: list[_Run], band_number: int) -> Iterator[array[int]]:
    """Return one merged band in chunks. Sorting a few sorted sequences is a merge (timsort)."""
    bands = [run.bands[band_number] for run in runs]
    starts = [0] * len(bands)
    chunks = max(1, sum(map(len, bands)) // MERGE_CHUNK_PAIRS)
    for chunk_number in range(1, chunks + 1):
        boundary = (chunk_number << 2 * _NUMBER_BITS) // chunks
        ends = [bisect_left(band, boundary) if chunk_number < chunks else len(band) for band in bands]
        chunk: list[int] = []
        for band, start, end in zip(bands, starts, ends, strict=True):
            chunk += band[start:end].tolist()
        chunk.sort()
        yield array("Q", chunk)
        starts = ends
    for run in runs:
        run.release_pages()


def _records(path: Path, first: int) -> Iterator[SignatureEntry]:
    with path.open("rb") as file:
        file.seek(first * _RECORD.size)
        while record := file.read(_RECORD.size):
            yield _parse_entry(_RECORD.unpack(record))


def _parse_entry(record: tuple[int, int, bytes]) -> SignatureEntry:
    page, chars, signature = record
    return SignatureEntry(page, signature, chars)
