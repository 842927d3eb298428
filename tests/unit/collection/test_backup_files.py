"""Backups as TAR files: what they restore, and what is refused."""

from __future__ import annotations

import io
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

import evercrawl
from evercrawl.collection.backup import (
    back_up,
    backups_folder,
    delete_backup,
    list_backups,
    new_backup_name,
    restore_listed,
    tar_chunks,
    tar_size,
    unpack,
)
from evercrawl.config import collection_file, read_settings, write_setting
from evercrawl.errors import ConfigError
from tests.unit.collection.exchange.archives import SITE, versions_of
from tests.unit.collection.test_removal import made

NAME = "2026-11-18-070000"


def backed_up(tmp_path: Path) -> evercrawl.Collection:
    collection = made(tmp_path)
    folder = backups_folder(collection.path)
    folder.mkdir()
    back_up(collection.path, collection.settings, folder / NAME)
    return collection


def as_tar(collection: evercrawl.Collection, name: str = "uploaded.tar") -> Path:
    path = backups_folder(collection.path) / name
    path.write_bytes(b"".join(tar_chunks(backups_folder(collection.path) / NAME)))
    return path


def tar_of(path: Path, members: dict[str, bytes], **attributes: object) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, body in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            for key, value in attributes.items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(body))
    return path


def test_a_tar_file_has_the_announced_size_and_every_file(tmp_path):
    collection = backed_up(tmp_path)
    backup = backups_folder(collection.path) / NAME
    tar = as_tar(collection)
    assert tar.stat().st_size == tar_size(backup) == tar_size(tar)
    with tarfile.open(tar, "r:") as archive:
        assert sorted(archive.getnames()) == sorted(
            path.relative_to(backup).as_posix() for path in backup.rglob("*") if path.is_file()
        )


def test_backups_are_listed_and_deleted_by_name_only(tmp_path):
    collection = backed_up(tmp_path)
    as_tar(collection)
    (backups_folder(collection.path) / "half.tar.part").write_bytes(b"x")
    (backups_folder(collection.path) / "unfinished").mkdir()
    (backups_folder(collection.path) / "link").symlink_to(collection.path)
    assert {(one.name, one.is_file) for one in list_backups(collection.path)} == {(NAME, False), ("uploaded.tar", True)}
    for name in ("..", "../x.evercrawl", "unfinished", "link", ""):
        with pytest.raises(ConfigError, match="there is no backup"):
            delete_backup(collection.path, name)
    delete_backup(collection.path, NAME)
    delete_backup(collection.path, "uploaded.tar")
    assert list_backups(collection.path) == []
    assert new_backup_name(datetime(2026, 11, 18, 7, tzinfo=UTC)) == NAME


def test_a_tar_file_restores_pages_but_no_settings_and_no_access(tmp_path):
    collection = backed_up(tmp_path)
    expected = versions_of(collection, tmp_path)
    tar = as_tar(collection)
    # Somebody edits the file: a plugin, a password of the interface, an alert.
    edited = tmp_path / "edited"
    unpack(tar, edited)
    write_setting(collection_file(edited), "scope.plugins", ("evil:run",))
    write_setting(collection_file(edited), "scope.sections", ("https://mine.test/docs/",))
    (edited / "web.sqlite").write_bytes(b"theirs")
    (edited / "credentials.toml").write_text("theirs")
    (edited / "trust-mark").write_text("theirs")
    members = {path.relative_to(edited).as_posix(): path.read_bytes() for path in edited.rglob("*") if path.is_file()}
    tar_of(tar, members)
    (collection.path / "trust-mark").write_text("ours")
    collection.remove("page", f"{SITE}/ann", request="ticket 1", apply=True)
    aside, report = restore_listed(collection.path, tar.name)
    assert aside is not None
    assert report.versions == len(expected)
    restored = evercrawl.open(collection.path)
    assert [row for row in versions_of(restored, tmp_path) if row["url"].endswith("/ann")] == []
    settings = read_settings(collection.path).settings
    assert settings.scope.plugins == ()
    assert settings.scope.sections == ("https://mine.test/docs/",)
    assert (collection.path / "trust-mark").read_text() == "ours"
    assert not (collection.path / "credentials.toml").exists()
    assert not (collection.path / "web.sqlite").exists()


def test_a_restore_keeps_who_may_use_the_interface(tmp_path):
    collection = made(tmp_path)
    from evercrawl.web.auth import AccessScope, AuthStore

    auth = AuthStore(collection.path)
    revoked = auth.add_token("old", AccessScope.ADMIN)
    folder = backups_folder(collection.path)
    folder.mkdir()
    back_up(collection.path, collection.settings, folder / NAME)
    auth.revoke_token(1)
    kept = auth.add_token("new", AccessScope.READ)
    restore_listed(collection.path, NAME)
    auth.reopen()
    assert auth.token(revoked) is None
    assert auth.token(kept) is not None
    auth.close()


@pytest.mark.parametrize(
    ("members", "attributes"),
    [
        ({"../outside": b"x"}, {}),
        ({"/etc/passwd": b"x"}, {}),
        ({"state/link": b""}, {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}),
        ({"state/link": b""}, {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"}),
        ({"state/pipe": b""}, {"type": tarfile.FIFOTYPE}),
        ({"state/s00.sqlite": b"x", "collection.toml": b""}, {}),
    ],
)
def test_what_is_no_backup_is_not_unpacked(tmp_path, members, attributes):
    tar = tar_of(tmp_path / "evil.tar", members, **attributes)
    with pytest.raises(ConfigError):
        unpack(tar, tmp_path / "out")
    assert not (tmp_path / "outside").exists()


def test_a_compressed_file_is_refused(tmp_path):
    with tarfile.open(tmp_path / "bomb.tar", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("collection.toml"), io.BytesIO())
    with pytest.raises(ConfigError, match="not the file of a backup"):
        unpack(tmp_path / "bomb.tar", tmp_path / "out")


def test_a_file_that_names_a_place_outside_is_refused(tmp_path):
    collection = backed_up(tmp_path)
    (backups_folder(collection.path) / NAME / "archive" / "objects").write_text("s3://elsewhere")
    as_tar(collection)
    with pytest.raises(ConfigError, match="names a place outside"):
        restore_listed(collection.path, "uploaded.tar")
