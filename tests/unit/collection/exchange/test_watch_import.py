"""Pages that other programs watch: a changedetection.io backup as version 0.60 writes it, and lists of URLs."""

from __future__ import annotations

import json
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest

import evercrawl
from evercrawl.collection.collection import Collection
from evercrawl.collection.exchange import watch_import
from evercrawl.errors import ConfigError
from evercrawl.model.fields import FieldType

FOLDER = "70600454-fd1f-4542-a9c8-ef58dc663261"
URL = "https://example.org/shop"
PAGE = "<title>Kettle</title><main><h1>Kettle</h1><p class=price>{}</p></main>"


def new_collection(folder: Path) -> Collection:
    return evercrawl.open(folder / "c.evercrawl", create=True)


def backup(folder: Path, **fields: object) -> Path:
    """Write a backup with one watch and two snapshots, the first only as text."""
    watch = {"url": URL, "title": "Kettle price", "include_filters": [".price"], "paused": False} | fields
    file = folder / "backup.zip"
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("changedetection.json", "{}")
        out.writestr(f"{FOLDER}/watch.json", json.dumps(watch))
        out.writestr(f"{FOLDER}/history.txt", "1794984679,aa.txt\n1794985679,bb.txt\nnonsense\n")
        out.writestr(f"{FOLDER}/aa.txt", "Kettle\n49,90 EUR")
        out.writestr(f"{FOLDER}/bb.txt", "59,90 EUR")
        out.writestr(f"{FOLDER}/1794985679.html.br", brotli.compress(PAGE.format("59,90 EUR").encode()))
    return file


def test_watches_filters_intervals_and_history_are_taken(tmp_path: Path) -> None:
    collection = new_collection(tmp_path)
    file = backup(tmp_path, time_between_check={"minutes": 10}, notification_urls=["tgram://secret"])
    report = collection.import_watches("changedetection", file)
    assert (report.pages, report.fields, report.schedules, report.versions) == (1, 1, 1, 2)
    assert report.notes == [f"{URL}: not taken: notification URLs; set up an alert"]
    assert collection.settings.scope.pages == (URL,)
    assert [(site.pattern, site.schedule) for site in collection.settings.sites] == [(URL + "$", "every 10 minutes")]
    (rule,) = collection.fields()
    assert (rule.name, rule.select, rule.type, rule.only) == ("kettle_price", "css:.price", FieldType.LIST, True)
    past = [row.readings["kettle_price"].value for row in collection.field_values(all_versions=True)]
    assert past == [("Kettle", "49,90 EUR"), ("59,90 EUR",)]  # The first is the text of the part, all that was kept.
    assert [version.seen_at.timestamp() for version in collection.history(URL).versions] == [1794984679, 1794985679]


@pytest.mark.parametrize(
    ("given", "expected"),
    [("xpath://li", "xpath://li"), ("//li", "xpath://li"), ("json:$.a", "json:$.a"), ("jq:.a", None), ("p[", None)],
)
def test_filters_become_selectors_or_a_note(tmp_path: Path, given: str, expected: str | None) -> None:
    collection = new_collection(tmp_path)
    report = collection.import_watches("changedetection", backup(tmp_path, include_filters=[given]))
    assert [rule.select for rule in collection.fields()] == ([expected] if expected else [])
    assert bool(report.notes) is (expected is None)


def test_paused_watches_keep_their_history_and_are_not_visited(tmp_path: Path) -> None:
    collection = new_collection(tmp_path)
    file = backup(tmp_path, paused=True, time_between_check={"minutes": 10})
    report = collection.import_watches("changedetection", file)
    assert (report.pages, report.paused, report.fields, report.schedules, report.versions) == (0, 1, 1, 0, 2)
    assert collection.settings.scope.pages == collection.settings.scope.seeds == ()


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(ConfigError, match="is not a changedetection"):
        new_collection(tmp_path).import_watches("changedetection", tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "y.zip", "w") as out:
        out.writestr("other.txt", "x")
    with pytest.raises(ConfigError, match="no watch"):
        new_collection(tmp_path).import_watches("changedetection", tmp_path / "y.zip")


def test_lists_of_urls_become_seeds(tmp_path: Path) -> None:
    (tmp_path / "bookmarks.html").write_text('<DL><DT><A HREF="https://a.example/x">A</A></DL>')
    collection = new_collection(tmp_path)
    assert collection.import_watches("urls", tmp_path / "bookmarks.html").pages == 1
    assert collection.settings.scope.seeds == ("https://a.example/x",)
    (tmp_path / "bad.txt").write_text("not a url")
    with pytest.raises(ConfigError):
        collection.import_watches("urls", tmp_path / "bad.txt")


def hostile_backup(folder: Path, files: dict[str, bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> Path:
    file = folder / "hostile.zip"
    with zipfile.ZipFile(file, "w", compression) as out:
        for name, content in files.items():
            out.writestr(name, content)
    return file


WATCH = json.dumps({"url": URL}).encode()


def _expanding() -> bytes:
    return brotli.compress(bytes(200 << 20), quality=1)


def _lines(count: int) -> bytes:
    return b"".join(b"%d,aa.txt\n" % (1_600_000_000 + number) for number in range(count))


def _many_settings() -> dict[str, bytes]:
    settings = b"{" + b" " * ((1 << 20) - 2) + b"}"
    return {f"{number:036}/watch.json": settings for number in range(40)}


@pytest.mark.parametrize(
    ("name", "make_files"),
    [
        ("a snapshot that expands", lambda: {"history.txt": b"1794984679,aa.br", "aa.br": _expanding()}),
        ("a watch that expands", lambda: {"watch.json": b" " * (200 << 20) + WATCH}),
        ("deep settings", lambda: {"watch.json": b"[" * 100_000}),
        ("a history that expands", lambda: {"history.txt": b"1600000000,aa.txt\n" * 1_800_000, "aa.txt": b"a"}),
        ("endless snapshots", lambda: {"history.txt": _lines(210_000), "aa.txt": b""}),
        ("settings of other watches that expand", _many_settings),
        ("a damaged snapshot", lambda: {"history.txt": b"1794984679,aa.br", "aa.br": b"\xff\x00\x01"}),
    ],
)
def test_a_hostile_backup_is_refused_at_a_limit(
    tmp_path: Path, name: str, make_files: Callable[[], dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_import, "MAX_TOTAL_BYTES", watch_import.MAX_TOTAL_BYTES // 128)
    monkeypatch.setattr(watch_import, "MAX_SNAPSHOTS", watch_import.MAX_SNAPSHOTS // 100)
    files = {
        one if "/" in one else f"{FOLDER}/{one}": content
        for one, content in ({"watch.json": WATCH} | make_files()).items()
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ConfigError):
        new_collection(tmp_path).import_watches("changedetection", hostile_backup(tmp_path, files))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 1024, "kilobytes"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_backup_is_refused(tmp_path: Path, method: int) -> None:
    file = hostile_backup(tmp_path, {f"{FOLDER}/watch.json": WATCH * 50}, compression=method)
    data = bytearray(file.read_bytes())
    data[80:90] = b"\xff" * 10  # In the compressed content.
    file.write_bytes(data)
    with pytest.raises(ConfigError):
        new_collection(tmp_path).import_watches("changedetection", file)


def test_an_encrypted_backup_is_refused(tmp_path: Path) -> None:
    file = hostile_backup(tmp_path, {f"{FOLDER}/watch.json": WATCH})
    data = file.read_bytes()
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(mark) + at
        data = data[:place] + b"\x01" + data[place + 1 :]
    file.write_bytes(data)
    with pytest.raises(ConfigError, match="changedetection"):
        new_collection(tmp_path).import_watches("changedetection", file)


def test_hostile_values_of_a_backup_are_left_out(tmp_path: Path) -> None:
    fields = {"time_between_check": {"weeks": 10**300}, "include_filters": [".a"] * 500, "title": {"a": 1}}
    others = {
        "11111111-fd1f-4542-a9c8-ef58dc663261": {"url": "file:///etc/passwd"},
        "22222222-fd1f-4542-a9c8-ef58dc663261": {"url": ["x"]},
        "33333333-fd1f-4542-a9c8-ef58dc663261": {"url": "https://user:pw@example.org/"},
    }
    files = {f"{folder}/watch.json": json.dumps(one).encode() for folder, one in others.items()}
    files[f"{FOLDER}/watch.json"] = json.dumps({"url": URL} | fields).encode()
    files[f"{FOLDER}/history.txt"] = "\u00b2,aa.txt\n1794984679,../../../../etc/passwd\n".encode()
    collection = new_collection(tmp_path)
    report = collection.import_watches("changedetection", hostile_backup(tmp_path, files))
    assert (report.pages, report.fields, report.schedules, report.snapshots) == (1, 100, 0, 0)
    assert collection.settings.scope.seeds == (URL,)
