"""Crawls whose archive is uploaded to object storage survive the loss of local disks."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_cli import HARBOUR_PAGES, Place
from tests.postgres_server import PostgresServer
from tests.small_s3 import SmallS3, small_s3
from tests.worlds.demo_web import DemoWeb, serving

DEADLINE_S = 60
LEASE_S = 3


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    web = DemoWeb()
    with serving(web) as port:
        yield Place(tmp_path, web, port)


@pytest.fixture
def s3(place: Place) -> Iterator[SmallS3]:
    with small_s3() as server:
        place.env |= {
            "EVERCRAWL_ARCHIVE__URL": f"s3://crawls/harbour?endpoint={server.endpoint}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }
        yield server


def archive_of(place: Place) -> Path:
    return place.folder / "site.evercrawl" / "archive"


def local_files(place: Place) -> list[Path]:
    return sorted(archive_of(place).glob("*.warc.gz"))


def test_everything_is_readable_without_local_files(place: Place, s3: SmallS3) -> None:
    assert place.crawl(place.site + "/")["new"] == HARBOUR_PAGES
    kept = {f"crawls/harbour/{path.name}": path.read_bytes() for path in local_files(place)}
    assert kept
    assert s3.objects == kept
    exported = place.call("export", "jsonl")
    for path in local_files(place):
        path.unlink()
    assert place.call("export", "jsonl") == exported
    place.call("verify")
    place.call("show", place.site + "/", "--text")

    # Pages are compared with what only the storage holds; the new versions go there too.
    place.web.change()
    place.env["EVERCRAWL_ARCHIVE__KEEP_LOCAL"] = "false"
    update = place.crawl("--refresh")
    assert (update["changed"], update["new"]) == (3, 1)
    assert local_files(place) == []
    assert len(s3.objects) > len(kept)
    place.call("verify")
    again = json.loads(place.call("store", "upload", "--json"))
    assert (again["files"], again["busy"]) == (0, 0)


def test_a_killed_crawl_loses_no_file(place: Place, s3: SmallS3) -> None:
    s3.failures = 10**6
    process = place.start("crawl", place.site + "/", *place.flags)
    deadline = time.monotonic() + DEADLINE_S
    while not any(path.stat().st_size for path in local_files(place)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=DEADLINE_S)
    assert s3.objects == {}

    s3.failures = 0
    place.env["EVERCRAWL_ARCHIVE__KEEP_LOCAL"] = "false"
    place.crawl()
    assert [path for path in local_files(place) if path.stat().st_size] == []
    status = json.loads(place.call("status", "--json"))
    assert status["by_reason"]["new"] == HARBOUR_PAGES
    place.call("verify")


def test_an_existing_archive_moves_to_object_storage_and_back(place: Place, s3: SmallS3) -> None:
    address = place.env.pop("EVERCRAWL_ARCHIVE__URL")
    place.crawl(place.site + "/")
    place.call("store", "upload", code=2)
    place.env["EVERCRAWL_ARCHIVE__URL"] = address
    uploaded = json.loads(place.call("store", "upload", "--json"))
    assert uploaded["files"] == len(local_files(place)) == len(s3.objects)
    place.web.change()
    place.crawl("--refresh")

    # Without the setting the archive goes on in files here, behind those that carried a worker's name.
    del place.env["EVERCRAWL_ARCHIVE__URL"]
    place.crawl("--refresh")
    place.call("verify")
    assert not list(archive_of(place).glob("*.unacknowledged*"))


@pytest.fixture
def in_database(place: Place, s3: SmallS3, postgres: PostgresServer) -> Place:
    place.env |= {
        "EVERCRAWL_STORE__URL": f"{postgres.dsn}?namespace={postgres.new_namespace()}",
        "EVERCRAWL_ARCHIVE__ACKNOWLEDGE": "uploaded",
        "EVERCRAWL_ARCHIVE__UPLOAD_INTERVAL": "1s",
        "EVERCRAWL_STORE__RECONNECT_TIMEOUT": "1s",
        "EVERCRAWL_STORE__LEASE_TIMEOUT": f"{LEASE_S}s",
    }
    return place


def versions_in(place: Place) -> int:
    found: int = json.loads(place.call("status", "--json"))["versions"]
    return found


def test_acknowledged_data_survives_the_loss_of_the_disk(in_database: Place, s3: SmallS3) -> None:
    place = in_database
    s3.failures = 10**6
    place.call("crawl", place.site + "/", *place.flags, code=5)
    assert (versions_in(place), s3.objects) == (0, {})

    s3.failures = 0
    process = place.start("crawl", *place.flags, "--gap", "0.3")
    try:
        deadline = time.monotonic() + DEADLINE_S
        while versions_in(place) == 0:
            assert time.monotonic() < deadline
            assert process.poll() is None
    finally:
        process.kill()
        _, err = process.communicate(timeout=DEADLINE_S)
    assert "Traceback" not in err
    shutil.rmtree(archive_of(place))
    assert 0 < (acknowledged := versions_in(place)) < HARBOUR_PAGES
    assert place.crawl()["new"] == HARBOUR_PAGES - acknowledged
    assert versions_in(place) == HARBOUR_PAGES
    shutil.rmtree(archive_of(place))
    place.crawl()
    place.call("verify")


def test_waiting_for_uploads_needs_a_database(place: Place, s3: SmallS3) -> None:
    place.env["EVERCRAWL_ARCHIVE__ACKNOWLEDGE"] = "uploaded"
    place.call("crawl", place.site + "/", *place.flags, code=2)
