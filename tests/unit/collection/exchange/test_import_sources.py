"""Packages and archives that are made to fill disks or to escape their folder."""

from __future__ import annotations

import gzip
import shutil
import time
import zipfile
from pathlib import Path

import pytest

from evercrawl.adapters.warc.reader import WarcDamage, read_archive_bytes
from evercrawl.collection.exchange import import_sources
from evercrawl.collection.exchange.import_sources import locate_records, warc_files
from evercrawl.errors import ConfigError, StoreUnavailable

RECORD = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"


def wacz(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in members.items():
            package.writestr(name, data)
    return path


def extract(file: Path, tmp_path: Path) -> list[Path]:
    folder = tmp_path / "work"
    folder.mkdir()
    return warc_files([file], "wacz", folder)


def test_a_bomb_is_refused_before_it_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_sources, "MIN_EXPANDED_BYTES", 1 << 20)
    file = wacz(tmp_path / "bomb.wacz", {f"archive/{number}.warc": bytes(4 << 20) for number in range(4)})
    with pytest.raises(ConfigError, match="more than 100 times its size"):
        extract(file, tmp_path)
    written = sum(path.stat().st_size for path in (tmp_path / "work").iterdir())
    assert written <= max(1 << 20, 100 * file.stat().st_size)


def test_declared_sizes_are_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_sources, "MIN_EXPANDED_BYTES", 1 << 20)
    file = wacz(tmp_path / "liar.wacz", {"archive/a.warc": bytes(8 << 20)})
    true_size = (8 << 20).to_bytes(4, "little")
    file.write_bytes(file.read_bytes().replace(true_size, (10).to_bytes(4, "little")))
    with pytest.raises(ConfigError):
        extract(file, tmp_path)
    assert sum(path.stat().st_size for path in (tmp_path / "work").iterdir()) <= 1 << 20


def test_a_package_needs_free_disk_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=import_sources.RESERVED_BYTES + 1000)
    monkeypatch.setattr(import_sources.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(StoreUnavailable, match="not enough disk space"):
        extract(wacz(tmp_path / "big.wacz", {"archive/a.warc": bytes(2000)}), tmp_path)


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_sources, "MAX_PACKED_FILES", 3)
    with pytest.raises(ConfigError, match="4 WARC files"):
        extract(wacz(tmp_path / "many.wacz", {f"archive/{number}.warc": b"" for number in range(4)}), tmp_path)


def test_names_in_a_package_cannot_leave_the_folder(tmp_path: Path) -> None:
    names = ("archive/../../escaped.warc", "archive//etc/escaped.warc", "archive/C:\\escaped.warc")
    found = extract(wacz(tmp_path / "names.wacz", dict.fromkeys(names, b"x")), tmp_path)
    assert [path.name for path in found] == ["000000.warc", "000001.warc", "000002.warc"]
    assert not list(tmp_path.rglob("*escaped*"))


def test_an_archive_that_expands_too_far_is_left_out_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_sources, "MIN_EXPANDED_BYTES", 1 << 16)
    path = tmp_path / "bomb.warc.gz"
    one = gzip.compress(RECORD % (1 << 20, bytes(1 << 20)))
    path.write_bytes(one * 100)
    found = list(locate_records(path, 0))
    assert isinstance(found[-1], WarcDamage)
    assert "more than 200 times" in found[-1].message
    assert len(found) < 100


@pytest.mark.parametrize(
    "record",
    [
        RECORD.replace(b"%d", b"99999999") % b"short",
        RECORD.replace(b"%d", b"-5") % b"negative",
        RECORD.replace(b"%d", b"9" * 5000) % b"endless",
        b"WARC/1.0\r\nWARC-Type: response\r\n" + b"X: y\r\n" * 100_000 + b"Content-Length: 1\r\n\r\nx\r\n\r\n",
        b"WARC/1.0\r\n" * 5000,
    ],
    ids=["too long", "negative", "endless number", "huge header", "only marks"],
)
def test_lying_lengths_and_huge_headers_are_damage(tmp_path: Path, record: bytes) -> None:
    path = tmp_path / "lies.warc"
    path.write_bytes(record + RECORD % (4, b"good"))
    found = list(locate_records(path, 0))
    intact = [one for one in found if not isinstance(one, WarcDamage)]
    assert [one[1].block for one in intact][-1:] == [b"good"]
    assert any(isinstance(one, WarcDamage) for one in found)


@pytest.mark.parametrize(
    "part",
    [b"WARC/1.0\r\n" * 26_000 + b"\r\n", b"WARC/1.0\r\n" * 60_000 + b"\n", RECORD.replace(b"%d", b"60000000") % b""],
    ids=["marks in headers", "marks without headers", "long claims"],
)
def test_damage_is_read_in_linear_time(tmp_path: Path, part: bytes) -> None:
    path = tmp_path / "slow.warc"
    path.write_bytes(part * (2_000_000 // len(part)))
    before = time.process_time()
    assert all(isinstance(found, WarcDamage) for found in locate_records(path, 0))
    assert time.process_time() - before < 2


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "..", "", "a/b", "a\0b"])
def test_the_state_cannot_name_files_outside_of_the_archive(tmp_path: Path, name: str) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    with pytest.raises(StoreUnavailable):
        read_archive_bytes(tmp_path / "archive", name, 0, 100)


def test_a_place_in_an_archive_is_not_negative(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"secret")
    with pytest.raises(StoreUnavailable):
        read_archive_bytes(tmp_path, "a", 0, -1)
