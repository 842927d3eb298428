"""Write a shard's archive: files, flushes and a full disk."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager

import pytest

from evercrawl.adapters.warc import iterate_records, read_record, writer
from evercrawl.adapters.warc.writer import FileOwner
from evercrawl.errors import StoreUnavailable
from evercrawl.model.fetch import Request
from evercrawl.model.page import ArchiveEnd
from evercrawl.testing import SimWeb, run
from evercrawl.testing.site_plan import PageKind
from tests.unit.adapters.warc.exchanges import URL, archive, exchange
from tests.unit.adapters.warc.foreign import payloads_by_warcio, problems


@contextmanager
def file_size_limit(limit: int):
    """Simulate a full disk: no file can grow beyond the limit."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def noise(count: int) -> bytes:
    return os.urandom(count)


def test_no_file_is_created_before_the_first_append(tmp_path):
    warc = archive(tmp_path / "archive")
    assert warc.flush() is None
    warc.close()
    assert not (tmp_path / "archive").exists()


def test_append_returns_the_location_of_the_response(tmp_path):
    warc = archive(tmp_path)
    places = [warc.append(f"{URL}&n={n}", exchange(b"body %d" % n)) for n in range(3)]
    end = warc.flush()
    assert end == ArchiveEnd("s07-000001.warc.gz", (tmp_path / "s07-000001.warc.gz").stat().st_size)
    for n, place in enumerate(places):
        assert read_record(tmp_path, place.file, place.offset, place.length).wire_body == b"body %d" % n
    warc.close()


def test_records_are_written_by_flush_or_when_the_buffer_is_full(tmp_path):
    warc = archive(tmp_path)
    warc.append(URL, exchange())
    assert (tmp_path / "s07-000001.warc.gz").stat().st_size == 0
    warc.append(URL, exchange(noise(writer.BUFFER_BYTES)))
    warc.append(URL, exchange())
    assert (tmp_path / "s07-000001.warc.gz").stat().st_size > writer.BUFFER_BYTES
    warc.close()


def test_a_full_file_is_followed_by_a_new_one(tmp_path):
    warc = archive(tmp_path, roll_bytes=30_000)
    places = [warc.append(URL, exchange(noise(20_000))) for _ in range(5)]
    end = warc.flush()
    warc.close()
    names = [f"s07-00000{n}.warc.gz" for n in (1, 2, 3)]
    assert [place.file for place in places] == [names[0], names[0], names[1], names[1], names[2]]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert end == ArchiveEnd(names[2], (tmp_path / names[2]).stat().st_size)
    assert [next(iterate_records(path)).kind for path in sorted(tmp_path.iterdir())] == ["warcinfo"] * 3
    assert not problems(tmp_path)


def test_shards_use_separate_files(tmp_path):
    one, other = archive(tmp_path, shard=7), archive(tmp_path, shard=107)
    one.append(URL, exchange())
    other.append(URL, exchange())
    one.close()
    other.close()
    archive(tmp_path, shard=7).truncate_to(None)
    assert (tmp_path / "s107-000001.warc.gz").exists()


def test_a_durable_archive_writes_the_same(tmp_path):
    warc = archive(tmp_path, durable=True)
    warc.append(URL, exchange())
    assert warc.flush() == ArchiveEnd("s07-000001.warc.gz", (tmp_path / "s07-000001.warc.gz").stat().st_size)
    warc.close()
    assert not problems(tmp_path)


def test_a_full_disk_leaves_complete_records_and_flush_can_be_repeated(tmp_path):
    warc = archive(tmp_path)
    warc.append(URL, exchange(b"first"))
    end = warc.flush()
    warc.append(URL, exchange(noise(50_000)))
    with file_size_limit(20_000), pytest.raises(StoreUnavailable, match=r"could not write s07-000001\.warc\.gz"):
        warc.flush()
    assert (tmp_path / end.file).stat().st_size == end.size
    assert not problems(tmp_path)
    assert warc.flush().size > end.size + 50_000
    warc.append(URL, exchange(b"last"))
    warc.close()
    assert [len(payload) for payload in payloads_by_warcio(tmp_path / end.file)] == [5, 50_000, 4]
    assert not problems(tmp_path)


def test_a_failed_append_stores_nothing(tmp_path):
    warc = archive(tmp_path)
    warc.append(URL, exchange(noise(writer.BUFFER_BYTES)))
    with file_size_limit(20_000), pytest.raises(StoreUnavailable):
        warc.append(URL, exchange(b"refused"))
    warc.append(URL, exchange(b"taken"))
    warc.close()
    payloads = payloads_by_warcio(tmp_path / "s07-000001.warc.gz")
    assert [len(payloads[0]), *payloads[1:]] == [writer.BUFFER_BYTES, b"taken"]


def test_an_unusable_folder_is_reported(tmp_path):
    (tmp_path / "archive").write_text("a file, no folder")
    with pytest.raises(StoreUnavailable, match="could not begin s07"):
        archive(tmp_path / "archive").append(URL, exchange())


def test_all_responses_of_the_synthetic_web_can_be_archived(tmp_path):
    web = SimWeb(1, sites=10, pages_per_site=20)
    urls = [url for kind in PageKind for url in web.pages(kind)]

    async def fetched():
        return [await web.fetch(Request(url)) for url in urls]

    exchanges = [result.exchange for result in run(fetched()) if result.exchange]
    warc = archive(tmp_path)
    for number, found in enumerate(exchanges):
        warc.append(f"{URL}&n={number}", found)
    warc.close()
    assert payloads_by_warcio(tmp_path / "s07-000001.warc.gz") == [found.wire_body for found in exchanges]
    assert not problems(tmp_path)


def test_numbering_continues_when_a_shard_comes_back(tmp_path):
    """Even if the earlier files were uploaded, their names are taken."""
    first = archive(tmp_path, owner=FileOwner("abc"))
    first.append(URL, exchange(b"one"))
    first.close()
    for path in tmp_path.iterdir():
        path.unlink()
    again = archive(tmp_path, owner=FileOwner("abc", first.next_number))
    again.append(URL, exchange(b"two"))
    again.close()
    assert [path.name for path in tmp_path.iterdir()] == ["s07-abc-000002.warc.gz"]
