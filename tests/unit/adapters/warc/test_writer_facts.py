"""Check each fact of `warc/writer_facts.jsonl` with independent readers."""

from __future__ import annotations

import gzip
import re
from base64 import b32encode
from datetime import datetime
from hashlib import sha1
from pathlib import Path

import pytest
from isal import isal_zlib

from tests.shared import conformance_rows
from tests.unit.adapters.warc.exchanges import BEGAN, BODY, URL, archive, every_kind_of_record, exchange, original_of
from tests.unit.adapters.warc.foreign import (
    block_digests_hold,
    payloads_by_fastwarc,
    payloads_by_warcio,
    problems,
    records,
)

FILE = "s07-000001.warc.gz"
PROFILE = "http://netpreserve.org/warc/1.1/revisit/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("archive")
    every_kind_of_record(path)
    return path


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return every_kind_of_record(tmp_path_factory.mktemp("stored"))


def answers(folder: Path) -> dict[str, tuple[dict[str, str], bytes]]:
    """Return the response and revisit records of `every_kind_of_record` by name."""
    again = [found for found in records(folder / FILE) if found[0]["WARC-Type"] in ("response", "revisit")]
    names = list(every_kind_of_record(folder.parent / f"{folder.name}-names"))
    return dict(zip(names, again, strict=True))


def members(path: Path) -> list[bytes]:
    data, found = path.read_bytes(), []
    while data:
        member = isal_zlib.decompressobj(31)
        found.append(member.decompress(data))
        data = member.unused_data
    return found


def test_every_fact_is_tested():
    names = {row["name"].replace("-", "_") for row in conformance_rows("warc/writer_facts.jsonl")}
    assert names == {name.removeprefix("test_fact_") for name in globals() if name.startswith("test_fact_")}


def test_fact_record_id_unique(folder):
    ids = [fields["WARC-Record-ID"] for fields, _ in records(folder / FILE)]
    assert len(set(ids)) == len(ids) == 25
    version_4 = r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>"
    assert all(re.fullmatch(version_4, record_id) for record_id in ids)


def test_fact_date_utc(folder):
    dates = [fields["WARC-Date"] for fields, _ in records(folder / FILE)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", date) for date in dates)
    assert dates[1] == "2026-03-01T12:00:00.123456Z"


def test_dates_of_other_zones_are_written_in_utc(tmp_path):
    warc = archive(tmp_path)
    warc.append(URL, exchange(began=datetime.fromisoformat("2026-03-01T14:00:00.000001+02:00")))
    warc.close()
    assert records(tmp_path / FILE)[1][0]["WARC-Date"] == "2026-03-01T12:00:00.000001Z"


def test_fact_crlf(folder):
    for member in members(folder / FILE):
        head, _, rest = member.partition(b"\r\n\r\n")
        assert b"\n" not in head.replace(b"\r\n", b"")
        assert head.startswith(b"WARC/1.1\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head)[1])
        assert rest[length:] == b"\r\n\r\n"


def test_fact_response_type(folder):
    fields, block = answers(folder)["response"]
    assert fields["Content-Type"] == "application/http; msgtype=response"
    assert block == exchange().response_head + BODY


def test_fact_concurrent_to(folder):
    _, *rest = [fields for fields, _ in records(folder / FILE)]
    for answer, request in zip(rest[::2], rest[1::2], strict=True):
        assert request["WARC-Type"] == "request"
        assert answer["WARC-Concurrent-To"] == request["WARC-Record-ID"]
        assert request["WARC-Concurrent-To"] == answer["WARC-Record-ID"]
        assert request["WARC-Target-URI"] == answer["WARC-Target-URI"]


def test_fact_payload_digest(folder):
    kept = gzip.compress(BODY)
    expected = "sha1:" + b32encode(sha1(BODY).digest()).decode()
    found = answers(folder)
    assert found["response"][0]["WARC-Payload-Digest"] == expected
    assert found["chunked"][0]["WARC-Payload-Digest"] == expected
    assert sha1(kept).digest() != sha1(BODY).digest()


def test_payload_digest_covers_the_coded_bytes(tmp_path):
    coded = gzip.compress(BODY)
    warc = archive(tmp_path)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    warc.append(URL, exchange(coded, head=head))
    warc.append(URL, exchange(coded, head=head), payload_sha1=sha1(coded).digest())
    warc.close()
    expected = "sha1:" + b32encode(sha1(coded).digest()).decode()
    digests = [fields.get("WARC-Payload-Digest") for fields, _ in records(tmp_path / FILE)]
    assert digests == [None, expected, None, expected, None]


def test_fact_block_digest(folder):
    for fields, block in records(folder / FILE):
        assert fields["WARC-Block-Digest"] == "sha1:" + b32encode(sha1(block).digest()).decode()


def test_fact_revisit_profile(folder):
    found = answers(folder)
    origin = found["response"][0]
    for name in ("identical", "not-modified"):
        fields = found[name][0]
        assert fields["WARC-Type"] == "revisit"
        assert fields["WARC-Profile"].startswith(PROFILE)
        assert fields["WARC-Refers-To"] == origin["WARC-Record-ID"]
        assert fields["WARC-Refers-To-Target-URI"] == origin["WARC-Target-URI"]
        assert fields["WARC-Refers-To-Date"] == origin["WARC-Date"]
        assert fields["WARC-Payload-Digest"] == origin["WARC-Payload-Digest"]


def test_fact_revisit_304(folder):
    fields, block = answers(folder)["not-modified"]
    assert fields["WARC-Profile"] == PROFILE + "server-not-modified"
    assert block.startswith(b"HTTP/1.1 304 Not Modified\r\nETag")


def test_a_304_without_an_original_is_a_response(folder):
    fields, block = answers(folder)["304-unknown"]
    assert fields["WARC-Type"] == "response"
    assert block.startswith(b"HTTP/1.1 304")


def test_fact_revisit_identical(folder):
    fields, block = answers(folder)["identical"]
    assert fields["WARC-Profile"] == PROFILE + "identical-payload-digest"
    assert fields["WARC-Target-URI"] == "https://example.org/copy"
    assert block == exchange().response_head


def test_equal_content_in_other_wire_bytes_is_not_a_revisit(tmp_path, stored):
    warc = archive(tmp_path)
    warc.append(URL, exchange(gzip.compress(BODY)), revisit=original_of(stored["response"]))
    warc.close()
    assert records(tmp_path / FILE)[1][0]["WARC-Type"] == "response"


def test_fact_truncated(folder):
    found = answers(folder)
    assert found["cut"][0]["WARC-Truncated"] == "length"
    assert all("WARC-Truncated" not in fields for name, (fields, _) in found.items() if name != "cut")


@pytest.mark.parametrize(
    ("given", "written"),
    [("time", "time"), ("disconnect", "disconnect"), ("unspecified", "unspecified"), ("odd\r\nX: y", "unspecified")],
)
def test_truncated_has_only_standard_values(tmp_path, given, written):
    warc = archive(tmp_path)
    warc.append(URL, exchange(), truncated=given)
    warc.close()
    assert records(tmp_path / FILE)[1][0]["WARC-Truncated"] == written


def test_fact_ip(folder):
    for fields, _ in records(folder / FILE)[1:]:
        assert fields["WARC-IP-Address"] == "192.0.2.7"


@pytest.mark.parametrize(
    ("ip", "written"), [("2001:db8::1", "2001:db8::1"), (None, None), ("1.2.3.4\r\nX: y", None), ("", None)]
)
def test_only_valid_addresses_are_written(tmp_path, ip, written):
    warc = archive(tmp_path)
    warc.append(URL, exchange(ip=ip))
    warc.close()
    assert records(tmp_path / FILE)[1][0].get("WARC-IP-Address") == written


def test_fact_chunked_kept(folder):
    _, block = answers(folder)["chunked"]
    head, _, body = block.partition(b"\r\n\r\n")
    assert body == BODY
    assert head.split(b"\r\n")[1:] == [
        b"X-Archive-Orig-Transfer-Encoding: chunked",
        b"X-A: b",
        b"Content-Length: %d" % len(BODY),
    ]


def test_a_length_overridden_by_chunked_is_renamed_too(tmp_path):
    warc = archive(tmp_path)
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nTRANSFER-ENCODING : gzip,\r\n chunked\r\n\r\n"
    warc.append(URL, exchange(head=head), truncated="length")
    warc.close()
    block = records(tmp_path / FILE)[1][1]
    assert block.startswith(
        b"HTTP/1.1 200 OK\r\nX-Archive-Orig-content-length: 3\r\n"
        b"X-Archive-Orig-TRANSFER-ENCODING : gzip,\r\n chunked\r\n\r\n<html>"
    )


def test_fact_http2(folder):
    _, block = answers(folder)["http2"]
    assert block == b"HTTP/1.1 200\r\na: b\r\n\r\n" + BODY


HOSTILE_URLS = (
    "https://example.org/a\r\nWARC-Type: forged",
    "https://example.org/\x00\x7f \u2028é",
    "https://example.org/\ud800",
)


def test_fact_crlf_injection(tmp_path):
    warc = archive(tmp_path)
    forged = b"HTTP/1.1 200 OK\r\nX: a\rWARC-Type: forged\r\n\r\nWARC/1.1\r\nWARC-Type: forged\r\n\r\n"
    for url in HOSTILE_URLS:
        warc.append(url, exchange(head=forged), truncated="time\r\nWARC-Type: forged")
    warc.close()
    found = records(tmp_path / FILE)
    assert [fields["WARC-Type"] for fields, _ in found] == ["warcinfo", *["response", "request"] * 3]
    uris = [fields["WARC-Target-URI"] for fields, _ in found[1::2]]
    assert uris[0] == "https://example.org/a%0D%0AWARC-Type:%20forged"
    assert uris[1] == "https://example.org/%00%7F%20%E2%80%A8%C3%A9"
    assert all(uri.isascii() and uri.isprintable() for uri in uris)
    assert not problems(tmp_path)


def test_fact_roundtrip(folder):
    assert not problems(folder)
    assert payloads_by_warcio(folder / FILE) == payloads_sent()
    assert payloads_by_fastwarc(folder / FILE) == payloads_sent()
    assert block_digests_hold(folder / FILE)


def payloads_sent() -> list[bytes]:
    """Return the bodies of `every_kind_of_record` in order; a revisit has none."""
    return [BODY, b"", b"", b"", BODY[:100], BODY, b"", *[BODY] * 5]


def test_warcinfo_names_the_writer(folder):
    fields, block = records(folder / FILE)[0]
    assert fields["WARC-Type"] == "warcinfo"
    assert fields["WARC-Filename"] == FILE
    assert fields["WARC-Date"] == BEGAN.isoformat().replace("+00:00", "Z")
    said = dict(line.split(": ", 1) for line in block.decode().splitlines())
    assert said["software"] == "evercrawl/test"
    assert said["format"] == "WARC File Format 1.1"
    assert said["conformsTo"].endswith("/warc-1.1/")
    assert said["robots"] == "obey"
    assert said["operator"] == "tests@example.org"
    assert said["isPartOf"] == "a collection"
