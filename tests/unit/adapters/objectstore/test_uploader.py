"""Upload archive files: confirmed files are deleted locally, others stay."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from evercrawl.adapters.objectstore.bucket import Bucket, address_problem
from evercrawl.adapters.objectstore.guarded_proxy import GuardedProxy
from evercrawl.adapters.objectstore.uploader import (
    JOURNAL_FILE,
    pending_files,
    record_upload,
    set_archive_address,
    upload_pending,
    uploaded_files,
)
from evercrawl.adapters.warc import WarcArchive, read_record
from evercrawl.adapters.warc.warc_records import WarcInfo
from evercrawl.adapters.warc.writer import FileOwner
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.settings import ArchiveSettings
from tests.small_s3 import SmallS3, small_s3
from tests.unit.adapters.warc.exchanges import BEGAN, URL, FixedClock, exchange

OWNER = "0123456789ab"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    return Bucket((tmp_path / "bucket").as_uri())


def written(folder: Path, *, bodies: int = 2, finished: list[int] | None = None) -> WarcArchive:
    finished = finished if finished is not None else []
    warc = WarcArchive(
        folder,
        7,
        settings=ArchiveSettings(),
        clock=FixedClock(),
        info=WarcInfo("test"),
        owner=FileOwner(OWNER),
        on_finished=lambda: finished.append(1),
    )
    for number in range(bodies):
        warc.append(f"{URL}&n={number}", exchange(b"body %d" % number))
    warc.flush()
    return warc


def test_a_file_is_deleted_only_after_its_upload_is_recorded(folder: Path, bucket: Bucket) -> None:
    written(folder).close()
    (path,) = pending_files(folder)
    data = path.read_bytes()
    assert upload_pending(folder, bucket, keep_local=True).files == 1
    assert path.exists()
    assert (uploaded_files(folder), pending_files(folder)) == ({path.name: len(data)}, [])
    assert bucket.read(path.name, 0, len(data)) == data
    (folder / JOURNAL_FILE).unlink()
    assert upload_pending(folder, bucket, keep_local=False).files == 1
    assert not path.exists()


def test_an_unfinished_file_is_not_uploaded(folder: Path, bucket: Bucket) -> None:
    finished: list[int] = []
    warc = written(folder, finished=finished)
    assert (upload_pending(folder, bucket, keep_local=False).busy, finished) == (1, [])
    warc.close()
    assert finished == [1]
    assert upload_pending(folder, bucket, keep_local=False).files == 1


def test_a_partial_record_of_a_dead_worker_is_removed_before_the_upload(folder: Path, bucket: Bucket) -> None:
    written(folder).close()
    (path,) = pending_files(folder)
    whole = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"\x1f\x8b\x08 torn")
    upload_pending(folder, bucket, keep_local=True)
    assert bucket.size(path.name) == whole == path.stat().st_size


def test_a_failed_upload_keeps_the_file_and_is_repeated(folder: Path, tmp_path: Path) -> None:
    written(folder).close()
    place = tmp_path / "bucket"
    bucket = Bucket(place.as_uri())
    (path,) = pending_files(folder)
    (place / path.name).mkdir()
    with pytest.raises(StoreUnavailable):
        upload_pending(folder, bucket, keep_local=False)
    assert pending_files(folder) == [path]
    (place / path.name).rmdir()
    assert upload_pending(folder, bucket, keep_local=False).files == 1


def test_records_of_uploaded_files_are_read_from_the_bucket(folder: Path, bucket: Bucket) -> None:
    warc = written(folder, bodies=0)
    places = [warc.append(f"{URL}&n={number}", exchange(b"body %d" % number)) for number in range(3)]
    warc.close()
    upload_pending(folder, bucket, keep_local=False)
    assert not list(folder.glob("*.warc.gz"))
    place = places[1]
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        read_record(folder, place.file, place.offset, place.length)
    set_archive_address(folder, bucket.address)
    for number, place in enumerate(places):
        record = read_record(folder, place.file, place.offset, place.length)
        assert record.wire_body == b"body %d" % number
    with pytest.raises(StoreUnavailable, match="s07-none"):
        read_record(folder, "s07-none-000001.warc.gz", 0, 10)


def test_a_truncated_line_of_the_journal_is_ignored(folder: Path) -> None:
    folder.mkdir()
    (folder / JOURNAL_FILE).write_text("\na.warc.gz 10\n\nb.warc")
    record_upload(folder / "c.warc.gz", 30)
    assert uploaded_files(folder) == {"a.warc.gz": 10, "c.warc.gz": 30}


@pytest.mark.parametrize(
    ("address", "is_good"),
    [
        ("s3://bucket/prefix?endpoint=http://127.0.0.1:9000&region=eu-central-1", True),
        ("s3://bucket", True),
        ("file:///srv/archive", True),
        ("file://host/srv", False),
        ("s3://key:secret@bucket/prefix", False),
        ("s3://bucket?secret=1", False),
        ("s3://bucket?endpoint=http://objects.internal&private=yes", True),
        ("s3://bucket?endpoint=http://objects.internal&private=maybe", False),
        ("s3://bucket?endpoint=https://me:secret@objects.example", False),
        ("https://bucket.example.org", False),
    ],
)
def test_addresses(address: str, is_good: bool) -> None:
    assert (address_problem(address) is None) is is_good
    if not is_good:
        with pytest.raises(ConfigError):
            Bucket(address)


# On something that speaks S3


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with small_s3() as server:
        yield server


def test_over_s3_in_parts_and_by_range(s3: SmallS3, tmp_path: Path) -> None:
    bucket = Bucket(f"s3://crawls/news?endpoint={s3.endpoint}")
    large = tmp_path / "large.warc.gz"
    large.write_bytes(os.urandom(17 * 1024 * 1024))
    bucket.put(large, large.name)
    assert s3.objects["crawls/news/large.warc.gz"] == large.read_bytes()
    assert any(request.startswith("POST") for request in s3.requests)
    assert bucket.read(large.name, 10_000_000, 1000) == large.read_bytes()[10_000_000:10_001_000]
    assert bucket.size("none") is None
    with pytest.raises(FileNotFoundError):
        bucket.read("none", 0, 10)
    assert s3.signed


@pytest.mark.parametrize("private", ["127.0.0.1", "::ffff:127.0.0.1", "fe80::1%lo", "10.0.0.7"])
def test_a_name_that_leads_inside_needs_consent(s3: SmallS3, monkeypatch: pytest.MonkeyPatch, private: str) -> None:
    look_ups: list[str] = []

    def getaddrinfo(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        look_ups.append(host)
        return [(2, 1, 6, "", (private, 0))]

    monkeypatch.setattr("socket.getaddrinfo", getaddrinfo)
    monkeypatch.setattr("evercrawl.adapters.objectstore.bucket.RETRY_TIMEOUT", timedelta(0))
    bucket = Bucket(f"s3://crawls?endpoint=http://objects.example:{s3.port}")
    with pytest.raises(StoreUnavailable, match=r"is not allowed: .*; if you mean it, add &private=yes"):
        bucket.size("x")
    assert look_ups[0] == "objects.example"
    assert s3.requests == []


def test_a_redirect_of_the_storage_does_not_lead_inside(s3: SmallS3) -> None:
    with pytest.raises(ConfigError, match="loopback"):
        GuardedProxy("objects.example").connect("127.0.0.1", s3.port)
    with pytest.raises(ConfigError, match="loopback"):
        GuardedProxy("127.0.0.2").connect("127.0.0.1", s3.port)
    with pytest.raises(ConfigError, match="metadata"):
        GuardedProxy("objects.example").connect("169.254.169.254", 80)
    GuardedProxy("127.0.0.1").connect("127.0.0.1", s3.port).close()


def test_an_s3_error_is_retried(s3: SmallS3, folder: Path) -> None:
    bucket = Bucket(f"s3://crawls?endpoint={s3.endpoint}")
    written(folder).close()
    s3.failures = 1
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        upload_pending(folder, bucket, keep_local=False)
    (path,) = pending_files(folder)
    assert upload_pending(folder, bucket, keep_local=False).files == 1
    assert (path.exists(), list(s3.objects)) == (False, [f"crawls/{path.name}"])


class MovingClock(FixedClock):
    """A clock that the test advances."""

    later = timedelta()

    def now(self) -> datetime:
        return BEGAN + self.later


def test_files_are_limited_by_age_and_size(folder: Path) -> None:
    clock, finished = MovingClock(), []
    settings = ArchiveSettings(max_upload_bytes=100_000, upload_interval=timedelta(seconds=30))
    warc = WarcArchive(
        folder,
        7,
        settings=settings,
        clock=clock,
        info=WarcInfo("test"),
        owner=FileOwner(OWNER),
        on_finished=lambda: finished.append(1),
    )
    first = warc.append(URL, exchange())
    assert warc.flush().file == first.file
    clock.later = timedelta(seconds=31)
    assert (warc.flush().file, finished) == (first.file, [1])
    assert warc.flush() is None
    second = warc.append(URL, exchange(os.urandom(200_000)))
    third = warc.append(URL, exchange())
    assert len({first.file, second.file, third.file}) == 3
    warc.close()
    assert len(finished) == 3
