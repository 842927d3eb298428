"""Read records from intact and from damaged files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.adapters.warc import WarcDamage, WarcRecord, iterate_records, read_record
from evercrawl.adapters.warc import reader as parse
from evercrawl.adapters.warc.gzip_members import MAX_RECORD_BYTES, compress_record, decompress_member
from evercrawl.errors import StoreUnavailable
from tests.shared import conformance_rows, shared_path
from tests.unit.adapters.warc.exchanges import BEGAN, BODY, URL, archive, every_kind_of_record, exchange, original_of
from tests.unit.adapters.warc.foreign import problems

FILE = "s07-000001.warc.gz"


def test_a_response_survives_a_round_trip(tmp_path):
    place = every_kind_of_record(tmp_path)["response"]
    found = read_record(tmp_path, place.file, place.offset, place.length)
    assert (found.url, found.date, found.status, found.ip) == (URL, BEGAN, 200, "192.0.2.7")
    assert found.headers == (("Content-Type", "text/html"), ("Content-Length", str(len(BODY))))
    assert found.head == exchange().response_head
    assert (found.wire_body, found.truncated, found.refers_to) == (BODY, None, None)


def test_a_revisit_refers_to_its_original(tmp_path):
    stored = every_kind_of_record(tmp_path)
    origin, place = stored["response"], stored["identical"]
    found = read_record(tmp_path, place.file, place.offset, place.length)
    assert (found.url, found.wire_body) == ("https://example.org/copy", b"")
    assert found.refers_to.replace("-", "") == f"<urn:uuid:{origin.record_id.hex()}>"
    assert found.date == datetime(2026, 3, 2, tzinfo=UTC)


def test_a_truncated_body_is_marked(tmp_path):
    place = every_kind_of_record(tmp_path)["cut"]
    assert read_record(tmp_path, place.file, place.offset, place.length).truncated == "length"


@pytest.mark.parametrize(
    ("file", "move", "shorten"),
    [("s07-000009.warc.gz", 0, 0), (FILE, 1, 0), (FILE, 0, 3), (FILE, 10**9, 0), (FILE, 0, 10**6)],
    ids=["no file", "wrong place", "cut off", "behind the end", "no length"],
)
def test_damage_raises_store_unavailable(tmp_path, file, move, shorten):
    place = every_kind_of_record(tmp_path)["response"]
    with pytest.raises(StoreUnavailable, match=r"s07-00000[19]\.warc\.gz at \d+"):
        read_record(tmp_path, file, place.offset + move, max(place.length - shorten, 0))


def test_a_request_record_is_not_a_response(tmp_path):
    place = every_kind_of_record(tmp_path)["response"]
    with pytest.raises(StoreUnavailable, match="status line"):
        read_record(tmp_path, place.file, place.offset + place.length, 1000)


def test_an_oversized_member_is_rejected():
    with pytest.raises(ValueError, match="decompresses to more"):
        decompress_member(compress_record(bytes(MAX_RECORD_BYTES + 1), 1))


def test_iteration_returns_every_record_with_its_offset(tmp_path):
    stored = every_kind_of_record(tmp_path)
    found = list(iterate_records(tmp_path / FILE))
    kinds = [record.kind for record in found if isinstance(record, WarcRecord)]
    assert kinds == ["warcinfo", *["response", "request"], *["revisit", "request"] * 2, *["response", "request"] * 9]
    assert [record.offset for record in found[1::2]] == [place.offset for place in stored.values()]


def test_iteration_continues_after_a_damaged_member(tmp_path):
    stored = every_kind_of_record(tmp_path)
    data = bytearray((tmp_path / FILE).read_bytes())
    data[stored["response"].offset + 60] ^= 0xFF
    (tmp_path / FILE).write_bytes(data)
    found = list(iterate_records(tmp_path / FILE))
    assert [item.offset for item in found if isinstance(item, WarcDamage)] == [stored["response"].offset]
    assert sum(isinstance(item, WarcRecord) for item in found) == 24


def test_an_empty_file_has_no_records(tmp_path):
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    assert list(iterate_records(tmp_path / "empty.warc.gz")) == []


def _is_warc(row) -> bool:
    return ".arc" not in row["file"]


def test_conformance_valid_files_are_read_completely():
    rows = [row for row in conformance_rows("warc/cases.jsonl") if row["class"] == "valid" and _is_warc(row)]
    assert rows
    for row in rows:
        found = list(iterate_records(shared_path("conformance/warc") / row["file"]))
        expected = [known for known in row["reference"]["records"] if known["type"]]
        assert not [item for item in found if isinstance(item, WarcDamage)], row["file"]
        if expected:
            assert [item.kind for item in found] == [known["type"].strip() for known in expected], row["file"]
            uris = [known["uri"] for known in expected]
            assert [item.headers.get("warc-target-uri") for item in found] == uris, row["file"]


def test_conformance_damaged_files_give_their_intact_records():
    for row in conformance_rows("warc/cases.jsonl"):
        found = list(iterate_records(shared_path("conformance/warc") / row["file"]))
        sound = [item for item in found if isinstance(item, WarcRecord)]
        expected = [known for known in row["reference"]["records"] if known["date"] and known["type"]]
        if row["key"] != "length-too-big.warc" and _is_warc(row):
            assert len(sound) >= len(expected), row["file"]
        assert all(isinstance(item, (WarcRecord, WarcDamage)) for item in found)


@settings(deadline=None, max_examples=100)
@given(data=st.binary(max_size=400), packed=st.booleans())
def test_random_bytes_never_raise(tmp_path_factory, data, packed):
    path = tmp_path_factory.mktemp("junk") / "junk.warc.gz"
    path.write_bytes(compress_record(b"WARC/1.1\r\n" + data, 1) + data if packed else b"WARC/1.0\r\n" + data)
    assert all(isinstance(item, (WarcRecord, WarcDamage)) for item in iterate_records(path))


line = st.text(st.characters(max_codepoint=127), max_size=30).map(str.encode)


@settings(deadline=None, max_examples=150)
@given(lines=st.lists(line, max_size=6), end=st.sampled_from([b"\r\n\r\n", b"\n\n", b"\r\n", b""]), body=line)
def test_the_body_survives_any_head(tmp_path_factory, lines, end, body):
    folder = tmp_path_factory.mktemp("heads")
    warc = archive(folder)
    head = b"\r\n".join([b"HTTP/1.1 200 OK", *lines]) + end
    place = warc.append(URL, exchange(body, head=head, request=b"GET / HTTP/1.1\r\n" + end))
    warc.append(URL, exchange(body, head=head), revisit=original_of(place, body=body))
    warc.close()
    assert read_record(folder, place.file, place.offset, place.length).wire_body == body
    assert not problems(folder)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00.5Z", datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-03-01T12:00:00.123456789Z", datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
    ],
)
def test_dates_of_any_precision_are_parsed(text, moment):
    assert parse.parse_warc_date(text) == moment


def test_folded_http_fields_are_joined():
    parts = parse.parse_http_block(b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nodd line\r\n\r\nbody")
    assert parts == (200, (("A", "b c"),), b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nodd line\r\n\r\n", b"body")
