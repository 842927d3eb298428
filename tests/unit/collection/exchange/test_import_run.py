"""Import of foreign archives."""

from __future__ import annotations

import gzip
import json
import zipfile
from base64 import b32encode
from dataclasses import replace
from hashlib import sha1
from pathlib import Path

import pytest

import evercrawl
from evercrawl.adapters.system import CollectionLock
from evercrawl.collection.collection import Collection
from evercrawl.errors import CollectionBusy, ConfigError
from evercrawl.model.listing import VersionSelection
from tests.shared import conformance_rows, shared_path
from tests.unit.adapters.warc.foreign import problems
from tests.unit.collection.exchange.archives import (
    MOMENT,
    SITE,
    collection_of,
    day,
    html,
    packed,
    response,
    versions_of,
    warc_record,
)

ALL = VersionSelection(all_versions=True)


def new_collection(folder: Path, name: str = "new") -> Collection:
    return evercrawl.open(folder / f"{name}.evercrawl", create=True)


def import_bytes(collection: Collection, content: bytes, name: str = "foreign.warc"):
    file = collection.path.parent / name
    file.write_bytes(content)
    return collection.import_("warc", [file])


def digest_of(body: bytes) -> str:
    return f"sha1:{b32encode(sha1(body).digest()).decode()}"


def test_versions_are_imported_in_order_of_time(tmp_path):
    a, b = html("A"), html("B")
    records = [response(SITE + "/", day(number), body) for number, body in ((2, a), (0, a), (1, b), (3, a))]
    collection = collection_of(tmp_path, *records)
    found = versions_of(collection, tmp_path)
    assert [(row["version"], row["title"]) for row in found] == [(1, "A"), (2, "B"), (3, "A")]
    assert [row["fetched_at"][:10] for row in found] == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert collection.status().queued == 0
    assert collection.why(SITE + "/").visits == 4
    assert collection.verify().is_sound()
    assert problems(collection.path / "archive") == ""


def test_importing_again_changes_nothing(tmp_path):
    records = [
        response(SITE + "/", day(0), html("A")),
        response(SITE + "/", day(1), html("A")),
        response(SITE + "/gone", day(1), b"", status="404 Not Found"),
        response(SITE + "/old", day(1), b"", status="301 Moved", head="Location: /"),
    ]
    collection = collection_of(tmp_path, *records)
    before, files = versions_of(collection, tmp_path), sizes(collection)
    again = collection.import_("warc", [tmp_path / "made.warc.gz"])
    assert (again.already, again.versions, again.unchanged, again.new_pages) == (4, 0, 0, 0)
    assert versions_of(collection, tmp_path) == before
    assert sizes(collection) == files


def sizes(collection: Collection) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in (collection.path / "archive").iterdir()}


def test_two_captures_within_one_second_are_both_kept_and_both_recognised(tmp_path):
    at = MOMENT.replace(microsecond=0)
    records = [response(SITE + "/", at, html(title)) for title in "AB"]
    collection = collection_of(tmp_path, *records)
    assert [row["title"] for row in versions_of(collection, tmp_path)] == ["A", "B"]
    assert collection.import_("warc", [tmp_path / "made.warc.gz"]).already == 2


def test_errors_and_redirects_are_visits_without_a_version(tmp_path):
    records = [
        response(SITE + "/lost", day(0), b"no", status="404 Not Found"),
        response(SITE + "/old", day(0), b"", status="301 Moved", head="Location: /new"),
        response(SITE + "/down", day(0), b"", status="503 Later"),
    ]
    collection = collection_of(tmp_path, *records)
    reasons = [collection.why(SITE + path).reason for path in ("/lost", "/old", "/down")]
    assert [str(reason) for reason in reasons[:1]] == ["not_found"]
    assert all(reason is not None for reason in reasons)
    assert versions_of(collection, tmp_path) == []


def revisit(
    url: str, at, body: bytes, *, head: bytes = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", **fields
):
    more = {name.replace("_", "-"): value for name, value in fields.items()}
    date = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    base = {"WARC-Target-URI": url, "WARC-Date": date, "WARC-Payload-Digest": digest_of(body)}
    return warc_record("revisit", base | more, head)


def test_a_revisit_gets_the_body_of_its_original_by_number_by_moment_or_by_digest(tmp_path):
    a = html("A")
    stamp = day(0).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    records = [
        revisit(SITE + "/1", day(1), a, WARC_Refers_To="<urn:uuid:original>"),
        revisit(SITE + "/2", day(1), b"x", WARC_Refers_To_Target_URI=SITE + "/", WARC_Refers_To_Date=stamp),
        revisit(SITE + "/3", day(1), a),
        revisit(SITE + "/4", day(1), a, head=b"", WARC_Refers_To="<urn:uuid:original>"),
        revisit(SITE + "/nowhere", day(1), b"other"),
        response(SITE + "/", day(0), a, WARC_Record_ID="<urn:uuid:original>", WARC_Payload_Digest=digest_of(a)),
    ]
    collection = collection_of(tmp_path, *records)
    found = versions_of(collection, tmp_path)
    assert {row["url"].removeprefix(SITE): row["title"] for row in found} == dict.fromkeys(
        ("/", "/1", "/2", "/3", "/4"), "A"
    )
    assert collection.verify().is_sound()
    report = collection.import_("warc", [tmp_path / "made.warc.gz"])
    assert (report.already, report.unresolved) == (5, 1)


def test_a_revisit_is_resolved_from_what_the_collection_has_already(tmp_path):
    a, b = html("A"), html("B")
    collection = collection_of(tmp_path, response(SITE + "/", day(0), a), response(SITE + "/", day(1), b))
    stamp = day(0).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    later = revisit(SITE + "/", day(2), a, WARC_Refers_To_Target_URI=SITE + "/", WARC_Refers_To_Date=stamp)
    assert import_bytes(collection, later).versions == 1
    assert [row["title"] for row in versions_of(collection, tmp_path)] == ["A", "B", "A"]


def test_not_modified_confirms_the_version_before(tmp_path):
    a = html("A")
    unchanged = revisit(SITE + "/", day(1), a, head=b"HTTP/1.1 304 Not Modified\r\n\r\n")
    alone = revisit(SITE + "/other", day(1), a, head=b"HTTP/1.1 304 Not Modified\r\n\r\n")
    collection = collection_of(tmp_path, response(SITE + "/", day(0), a), unchanged)
    assert str(collection.why(SITE + "/").reason) == "not_modified"
    assert import_bytes(collection, alone).unresolved == 1
    assert problems(collection.path / "archive") == ""


def test_what_others_write_differently_is_understood(tmp_path):
    body = html("A")
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    squeezed = gzip.compress(body, mtime=0)
    announced = "Content-Type: text/html\r\nTransfer-Encoding: chunked"
    records = [
        response(SITE + "/chunked", day(0), chunked, head=announced),
        response(SITE + "/dechunked", day(0), body, head=announced),
        response(SITE + "/gzip", day(0), squeezed, head="Content-Type: text/html\r\nContent-Encoding: gzip"),
        response(SITE + "/plain-gzip", day(0), body, head="Content-Type: text/html\r\nContent-Encoding: gzip"),
        response(f"<{SITE}/brackets>", day(0), body),
        response(SITE + "/h2", day(0), body)
        .replace(b"HTTP/1.1 200 OK", b"HTTP/2.0 200 OK")
        .replace(b"WARC-Block", b"X-Block"),
    ]
    for name, content in (("plain", b"".join(records)), ("one-member", gzip.compress(b"".join(records)))):
        collection = new_collection(tmp_path, name)
        report = import_bytes(collection, content)
        assert (report.versions, report.damaged) == (6, 0), report
        assert {row["text"] for row in versions_of(collection, tmp_path)} == {"A\nSome words of the page."}
        assert collection.verify().is_sound()
        assert problems(collection.path / "archive") == ""


def test_a_request_is_kept_and_other_methods_are_not_visits(tmp_path):
    answer = response(SITE + "/", day(0), html("A"), WARC_Record_ID="<urn:uuid:1>")
    posted = response(SITE + "/form", day(0), html("B"), WARC_Record_ID="<urn:uuid:2>")
    asked = warc_record(
        "request", {"WARC-Concurrent-To": "<urn:uuid:1>"}, b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
    )
    sent = warc_record("request", {"WARC-Concurrent-To": "<urn:uuid:2>"}, b"POST /form HTTP/1.1\r\n\r\na=b")
    collection = collection_of(tmp_path, sent, answer, asked, posted)
    assert [row["url"] for row in versions_of(collection, tmp_path)] == [SITE + "/"]
    target = tmp_path / "out.warc.gz"
    collection.export("warc", target)
    assert b"GET / HTTP/1.1\r\nHost: example.org" in gzip.decompress(target.read_bytes())


def test_damaged_records_are_skipped_and_counted(tmp_path):
    sound = response(SITE + "/a", day(0), html("A"))
    changed = response(SITE + "/b", day(0), html("B")).replace(b"Some words", b"Sxme words")
    undated = response(SITE + "/c", day(0), html("C")).replace(b"WARC-Date: 2026", b"WARC-Date: never")
    members = packed(sound, changed, undated, response("urn:x:y", day(0), b"")) + packed(sound)[:-20]
    collection = new_collection(tmp_path)
    report = import_bytes(collection, members)
    assert (report.versions, report.ignored, report.damaged) == (1, 1, 3)
    assert any("digest" in problem for problem in report.damage)
    assert [row["url"] for row in versions_of(collection, tmp_path)] == [SITE + "/a"]


def test_an_import_that_breaks_off_is_simply_started_again(tmp_path):
    records = [
        response(f"{SITE}/{n % 4}", day(n), html(f"Text {n}", f"Words of {n}, which are its own: {chr(97 + n) * 9}."))
        for n in range(12)
    ]
    whole = versions_of(collection_of(tmp_path, *records), tmp_path)
    collection = new_collection(tmp_path)

    def break_off(report):
        if report.versions == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collection.import_("warc", [tmp_path / "made.warc.gz"], on_progress=break_off)
    assert 0 < len(versions_of(collection, tmp_path)) < 12
    report = collection.import_("warc", [tmp_path / "made.warc.gz"])
    assert report.versions + report.already == 12
    assert versions_of(collection, tmp_path) == whole
    assert collection.verify().is_sound()
    assert problems(collection.path / "archive") == ""


def test_history_is_only_added_at_its_end(tmp_path):
    collection = collection_of(tmp_path, response(SITE + "/", day(5), html("New")))
    report = import_bytes(collection, response(SITE + "/", day(0), html("Old")))
    assert (report.older, report.versions) == (1, 0)
    assert [row["title"] for row in versions_of(collection, tmp_path)] == ["New"]


def test_pages_outside_the_scope_are_kept_and_never_due(tmp_path):
    collection = new_collection(tmp_path)
    scope = replace(collection.settings.scope, seeds=(SITE + "/",))
    collection = Collection(collection.path, replace(collection.settings, scope=scope))
    import_bytes(
        collection, response(SITE + "/x", day(0), html("A")) + response("https://other.test/", day(0), html("B"))
    )
    assert collection.why(SITE + "/x").due is not None
    assert collection.why("https://other.test/").due is None
    assert len(versions_of(collection, tmp_path)) == 2


@pytest.mark.parametrize("form", ["warc", "wacz"])
def test_export_import_export_gives_the_same_versions(tmp_path, form):
    a, b = html("A"), html("B")
    collection = collection_of(
        tmp_path,
        *(response(SITE + "/", day(number), body) for number, body in enumerate((a, b, a))),
        *(response(SITE + path, day(1), a) for path in ("/copy", "/copy/again")),
        response("http://other.test:8080/x?b=2&a=1", day(2), b"plain text", head="Content-Type: text/plain"),
        response(SITE + "/empty", day(2), b""),
    )
    first = tmp_path / f"first.{form}"
    collection.export(form, first, selection=ALL)
    second = new_collection(tmp_path, "second")
    second.import_(form, [first])
    assert versions_of(second, tmp_path) == versions_of(collection, tmp_path)
    assert len(versions_of(second, tmp_path)) == 7
    third = tmp_path / "third.cdxj"
    second.export("cdxj", third, selection=ALL)
    assert len(third.read_text().splitlines()) == 7


def test_a_multi_wacz_is_imported_from_a_zip_file_or_a_manifest(tmp_path):
    for name in ("a", "b"):
        made = collection_of(tmp_path, response(f"{SITE}/{name}", day(0), html(name)), name=name)
        made.export("wacz", tmp_path / f"{name}.wacz")
    outer = tmp_path / "both.wacz"
    with zipfile.ZipFile(outer, "w") as package:
        package.write(tmp_path / "a.wacz", "archives/a.wacz")
        package.write(tmp_path / "b.wacz", "b.wacz")
    manifest = tmp_path / "datapackage.json"
    resources = [{"name": name, "path": name} for name in ("a.wacz", "b.wacz")]
    manifest.write_text(json.dumps({"profile": "multi-wacz-package", "resources": resources}))
    for number, file in enumerate((outer, manifest)):
        collection = new_collection(tmp_path, str(number))
        assert collection.import_("wacz", [file]).versions == 2
        assert [row["title"] for row in versions_of(collection, tmp_path)] == ["a", "b"]
    for path, words in (("../a.wacz", "not in its folder"), ("https://x.test/a.wacz", "not in"), ("c", "not exist")):
        manifest.write_text(json.dumps({"resources": [{"path": path}]}))
        with pytest.raises(ConfigError, match=words):
            collection.import_("wacz", [manifest])
    manifest.write_text("{}")
    with pytest.raises(ConfigError, match="lists no resources"):
        collection.import_("wacz", [manifest])


def test_other_files_are_rejected_with_a_message(tmp_path):
    collection = new_collection(tmp_path)
    wacz = tmp_path / "x.wacz"
    with zipfile.ZipFile(wacz, "w") as package:
        package.writestr("../archive/x.warc.gz", b"")
    text = tmp_path / "x.txt"
    text.write_text("not an archive")
    zstd = tmp_path / "x.warc.zst"
    zstd.write_bytes(b"\x28\xb5\x2f\xfd....")
    for form, file, words in (
        ("warc", wacz, "import wacz"),
        ("wacz", wacz, "no WARC"),
        ("wacz", text, "not a ZIP"),
        ("warc", text, "not a WARC"),
        ("warc", zstd, "zstd -d"),
        ("warc", tmp_path / "absent", "cannot be read"),
        ("arc", text, "warc, wacz"),
    ):
        with pytest.raises(ConfigError, match=words):
            collection.import_(form, [file])
    assert not list(collection.path.glob("import-*"))


def test_nobody_imports_into_a_collection_that_is_in_use(tmp_path):
    collection = new_collection(tmp_path)
    with CollectionLock(collection.path), pytest.raises(CollectionBusy):
        import_bytes(collection, response(SITE + "/", day(0), html("A")))


def test_every_archive_of_the_conformance_set_can_be_imported(tmp_path):
    folder = shared_path("conformance/warc/files")
    versions = 0
    has_all = (folder / "../../README.md").resolve().parent.parent.name != "data"  # Else those that may be published.
    for number, row in enumerate(conformance_rows("warc/cases.jsonl")):
        file = folder / Path(row["file"]).name
        collection = new_collection(tmp_path, str(number))
        try:
            versions += collection.import_("warc", [file]).versions
        except ConfigError:
            assert row["class"] == "invalid" or file.suffix == ".arc", row
            continue
        assert collection.verify().is_sound(), row["file"]
        assert problems(collection.path / "archive") == "", row["file"]
    assert versions == (11 if has_all else 9)
