"""After a crash, acknowledged records stay, others are removed, and writing continues."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evercrawl.adapters.warc import WarcDamage, iterate_records, read_record
from evercrawl.adapters.warc.shard_archive import intact_length
from evercrawl.errors import BugFound, StoreUnavailable
from evercrawl.model.page import ArchiveEnd
from tests.unit.adapters.warc.exchanges import URL, archive, exchange
from tests.unit.adapters.warc.foreign import payloads_by_warcio, problems

FIRST = "s07-000001.warc.gz"


def test_the_unacknowledged_tail_is_truncated(tmp_path):
    warc = archive(tmp_path)
    warc.append(URL, exchange(b"acknowledged"))
    end = warc.flush()
    warc.acknowledge(end)
    warc.append(URL, exchange(b"not acknowledged"))
    warc.flush()
    os.truncate(tmp_path / FIRST, (tmp_path / FIRST).stat().st_size - 5)

    again = archive(tmp_path)
    assert again.truncate_to(end) == 0
    place = again.append(URL, exchange(b"after the crash"))
    assert (place.file, place.offset) == (end.file, end.size)
    again.close()
    assert payloads_by_warcio(tmp_path / FIRST) == [b"acknowledged", b"after the crash"]
    assert not problems(tmp_path)


def test_files_after_the_acknowledged_one_are_deleted(tmp_path):
    warc = archive(tmp_path, roll_bytes=1)
    warc.append(URL, exchange(b"one"))
    end = warc.flush()
    warc.acknowledge(end)
    warc.append(URL, exchange(b"two"))
    warc.append(URL, exchange(b"three"))
    warc.close()
    again = archive(tmp_path, roll_bytes=1)
    assert again.truncate_to(end) == 0
    assert [path.name for path in tmp_path.glob("*.warc.gz*")] == [FIRST]
    assert again.append(URL, exchange()).file == "s07-000002.warc.gz"
    again.close()


def test_what_a_newer_state_acknowledged_is_set_aside(tmp_path):
    warc = archive(tmp_path, roll_bytes=2000)
    warc.append(URL, exchange(b"known to the backup"))
    backup = warc.flush()
    for number in range(8):
        warc.append(URL, exchange(b"newer %d" % number * 50))
        warc.acknowledge(warc.flush())
    warc.close()
    before = [body for path in sorted(tmp_path.glob("*.warc.gz")) for body in payloads_by_warcio(path)]

    restored = archive(tmp_path, roll_bytes=2000)
    assert restored.truncate_to(backup) == 0
    restored.append(URL, exchange(b"after the restore"))
    restored.acknowledge(restored.flush())
    restored.close()
    aside = sorted(tmp_path.glob("*.unacknowledged*"))
    kept = [body for path in [tmp_path / FIRST, *aside] for body in payloads_by_warcio(path)]
    assert sorted(kept) == sorted([*before, b"after the restore"])
    assert archive(tmp_path).truncate_to(ArchiveEnd(*restored_end(tmp_path))) == 0
    assert sorted(tmp_path.glob("*.unacknowledged*")) == aside


def restored_end(folder: Path) -> tuple[str, int]:
    last = max(folder.glob("s07-*.warc.gz"))
    return last.name, last.stat().st_size


def test_without_a_mark_nothing_is_deleted(tmp_path):
    warc = archive(tmp_path)
    warc.append(URL, exchange(b"one"))
    end = warc.flush()
    warc.append(URL, exchange(b"two"))
    warc.close()
    assert archive(tmp_path).truncate_to(end) == 0
    assert payloads_by_warcio(tmp_path / (FIRST + ".unacknowledged")) == [b"two"]


def test_zeros_in_the_acknowledged_tail_are_noticed(tmp_path, caplog):
    warc = archive(tmp_path)
    kept = warc.append(URL, exchange(b"kept"))
    warc.flush()
    warc.append(URL, exchange(b"lost in a power cut"))
    end = warc.flush()
    warc.acknowledge(end)
    warc.close()
    with (tmp_path / FIRST).open("r+b") as file:
        file.seek(kept.offset + kept.length + 200)
        file.write(bytes(end.size - file.tell()))

    again = archive(tmp_path)
    assert again.truncate_to(end) > 0
    assert "lacks" in caplog.text
    assert again.append(URL, exchange(b"later")).file == "s07-000002.warc.gz"
    again.close()


def test_unacknowledged_files_are_quarantined_not_deleted(tmp_path):
    for attempt in range(2):
        warc = archive(tmp_path)
        warc.truncate_to(None)
        assert warc.append(URL, exchange(b"%d" % attempt)).file == f"s07-00000{attempt + 1}.warc.gz"
        warc.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [FIRST + ".unacknowledged", "s07-000002.warc.gz"]


def test_quarantine_never_overwrites(tmp_path):
    for body in (b"a", b"b"):
        (tmp_path / FIRST).write_bytes(body)
        archive(tmp_path).truncate_to(None)
    assert (tmp_path / (FIRST + ".unacknowledged")).read_bytes() == b"a"
    assert (tmp_path / (FIRST + ".unacknowledged-2")).read_bytes() == b"b"


def test_a_short_file_keeps_its_complete_records_and_is_not_appended_to(tmp_path):
    warc = archive(tmp_path)
    kept = warc.append(URL, exchange(b"kept"))
    before = warc.flush()
    lost = warc.append(URL, exchange(b"lost"))
    end = warc.flush()
    warc.close()
    os.truncate(tmp_path / FIRST, end.size - 3)

    again = archive(tmp_path)
    # The response record of the lost exchange is whole; only its request record was cut.
    assert again.truncate_to(end) == end.size - (lost.offset + lost.length)
    assert again.append(URL, exchange(b"new")).file == "s07-000002.warc.gz"
    again.close()
    assert before.size == lost.offset
    assert read_record(tmp_path, kept.file, kept.offset, kept.length).wire_body == b"kept"
    assert not problems(tmp_path)


def test_a_deleted_file_counts_as_missing(tmp_path):
    warc = archive(tmp_path)
    assert warc.truncate_to(ArchiveEnd("s07-000004.warc.gz", 1234)) == 1234
    assert warc.append(URL, exchange()).file == "s07-000005.warc.gz"
    warc.close()


def test_an_end_in_another_shards_file_is_a_bug(tmp_path):
    with pytest.raises(BugFound, match="another shard"):
        archive(tmp_path).truncate_to(ArchiveEnd("s08-000001.warc.gz", 1))


def test_a_read_only_folder_is_reported(tmp_path):
    (tmp_path / FIRST).mkdir()
    with pytest.raises(StoreUnavailable, match="could not be truncated"):
        archive(tmp_path).truncate_to(ArchiveEnd(FIRST, 10))


def test_intact_length_stops_at_the_first_damaged_member(tmp_path):
    warc = archive(tmp_path)
    places = [warc.append(URL, exchange(b"%d" % n)) for n in range(3)]
    size = warc.flush().size
    warc.close()
    path = tmp_path / FIRST
    assert intact_length(path) == size
    data = bytearray(path.read_bytes())
    data[places[1].offset + 40] ^= 0xFF
    path.write_bytes(data)
    assert intact_length(path) == places[1].offset
    path.write_bytes(b"")
    assert intact_length(path) == 0


steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.binary(max_size=3000)),
        st.tuples(st.just("flush"), st.just(b"")),
        st.tuples(st.just("crash"), st.integers(0, 400)),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps, roll_bytes=st.sampled_from([1, 2000, 10**9]))
def test_any_history_leaves_intact_files_with_all_acknowledged_records(tmp_path_factory, steps, roll_bytes):
    folder = tmp_path_factory.mktemp("history")
    warc, end = archive(folder, roll_bytes=roll_bytes), None
    acknowledged, waiting = [], []
    for step, what in steps:
        if step == "append":
            waiting.append((warc.append(URL, exchange(what)), what))
        elif step == "flush":
            end = warc.flush()
            acknowledged, waiting = acknowledged + waiting, []
        else:
            warc = _crashed(folder, warc, end, torn=what, roll_bytes=roll_bytes)
            waiting = []
    warc.close()
    for place, body in acknowledged + waiting:
        assert read_record(folder, place.file, place.offset, place.length).wire_body == body
    assert not any(
        isinstance(found, WarcDamage) for path in folder.glob("*.warc.gz") for found in iterate_records(path)
    )
    assert not problems(folder)


def _crashed(folder: Path, warc, end, *, torn: int, roll_bytes: int):
    """Simulate a crash during a write: part of the unacknowledged bytes is on disk."""
    warc.close()
    newest = max(folder.glob("*.warc.gz"), default=None)
    if newest is not None:
        floor = end.size if end and end.file == newest.name else 0
        os.truncate(newest, max(floor, newest.stat().st_size - torn))
    again = archive(folder, roll_bytes=roll_bytes)
    assert again.truncate_to(end) == 0
    return again
