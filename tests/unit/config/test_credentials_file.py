"""CredentialSet files: who may read them, what they say, and that no message shows a secret."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evercrawl.config.credentials_file import credentials_file, read_credentials, site_table, write_site
from evercrawl.errors import ConfigError
from evercrawl.model.credentials import CredentialSet

SITE = "https://wiki.example.org"
FULL = """
["https://wiki.example.org/"]
basic = "me:s3cret:x"
proxy = "socks5://pu:p%40ss@proxy.corp:1081"
check = "/me"
cookies = "sid=abc; lang=en"
headers = { X-Api-Key = { env = "KEY" } }
login = { url = "/login", user = "me", password = "pw" }

["*"]
proxy = "http://proxy.corp"
"""


def read(tmp_path: Path, text: str, **env: str) -> CredentialSet:
    path = tmp_path / "credentials.toml"
    path.write_text(text)
    path.chmod(0o600)
    return read_credentials(tmp_path, is_trusted=True, env={"XDG_CONFIG_HOME": str(tmp_path / "user"), **env})


def test_every_kind_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, FULL, KEY="k3y")
    own = found.sites[SITE]
    assert own.headers == (("Authorization", "Basic bWU6czNjcmV0Ong="), ("X-Api-Key", "k3y"))
    assert [(cookie.name, cookie.value, cookie.domain) for cookie in own.cookies] == [
        ("sid", "abc", "wiki.example.org"),
        ("lang", "en", "wiki.example.org"),
    ]
    assert own.proxy is not None
    assert (own.proxy.host, own.proxy.port, own.proxy.user, own.proxy.password) == ("proxy.corp", 1081, "pu", "p@ss")
    assert own.login is not None
    assert own.login.url == f"{SITE}/login"
    assert own.login.fields == (("user", "me"), ("password", "pw"))
    assert own.check == f"{SITE}/me"
    other = found.proxy_of("http://other.org")
    assert other is not None
    assert str(other) == "http://proxy.corp:8080"
    for secret in ("s3cret", "bWU6", "k3y", "abc", "p@ss", "pw'"):
        assert secret not in repr(found)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "credentials.toml"
    path.write_text(FULL)
    path.chmod(mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        read_credentials(tmp_path, is_trusted=True, env={"XDG_CONFIG_HOME": str(tmp_path / "user")})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('["https://a.org"]\nbasic = "s3cret"', "user:password"),
        ('["https://a.org"]\nbearer = "s3cret\\nX: y"', "characters"),
        ('["https://a.org"]\nbearer = ["s3cret"]', "is a text"),
        ('["https://a.org"]\npasswort = "s3cret"', "there is no passwort"),
        ('["https://a.org"]\nbasic = "a:s3cret"\nbearer = "s3cret"', "exclude each other"),
        ('["https://a.org"]\nheaders = { Host = "s3cret" }', "cannot be set"),
        ('["https://a.org"]\nheaders = { "A B" = "s3cret" }', "characters"),
        ('["https://a.org"]\nproxy = "ftp://u:s3cret@h"', "written as"),
        ('["https://a.org"]\nproxy = "http://u:s3cret@h:99999"', "written as"),
        ('["https://a.org"]\nlogin = { url = "http://a.org/", password = "s3cret" }', "no URL"),
        ('["https://a.org"]\nlogin = { password = "s3cret" }', "login needs url"),
        ('["https://a.org"]\nbasic = { env = "NOT_THERE" }', "NOT_THERE is not set"),
        ('["https://a.org"]\ncookies = "a=s3cret\\u0000"', "cannot be used"),
        ('["*"]\nbasic = "a:s3cret"', "belongs to one site"),
        ('["a.org"]\nbasic = "a:s3cret"', "named after a site"),
        ('["https://u:s3cret@a.org"]\nbearer = "x"', "named after a site"),
        ('["https://a.org"]\nbasic = "a:s3cret', "not valid TOML"),
    ],
)
def test_mistakes_are_named_without_their_secrets(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        read(tmp_path, text)
    assert "s3cret" not in str(raised.value)


def test_later_sources_replace_sites_of_earlier_ones(tmp_path: Path) -> None:
    user = tmp_path / "user" / "evercrawl" / "credentials.toml"
    user.parent.mkdir(parents=True)
    user.write_text('["https://a.org"]\nbearer = "user"\n["https://b.org"]\nbearer = "user"\n')
    user.chmod(0o600)
    variable = '["https://c.org"]\nbearer = "variable"'
    found = read(tmp_path, '["https://a.org"]\nbearer = "collection"', EVERCRAWL_CREDENTIALS=variable)
    assert {site: own.headers[0][1] for site, own in found.sites.items()} == {
        "https://a.org": "Bearer collection",
        "https://b.org": "Bearer user",
        "https://c.org": "Bearer variable",
    }


def test_a_collection_that_is_not_trusted_has_no_credentials(tmp_path: Path) -> None:
    read(tmp_path, '["https://a.org"]\nbearer = "x"')
    assert not read_credentials(tmp_path, is_trusted=False, env={"XDG_CONFIG_HOME": str(tmp_path)}).sites


def test_writing_a_site_keeps_the_others_and_their_comments(tmp_path: Path) -> None:
    path = credentials_file(tmp_path, {})
    path.write_text('# mine\n["https://a.org"]  # old\nbearer = "old"\n[["https://a.org".cookies]]\nname = "x"\n'
                    'value = "y"\n\n["https://b.org"]  # stays\nbearer = "b"\n')  # fmt: skip
    path.chmod(0o600)
    login = {"url": "/login", "fields": {"na me": 'q"\\\x7fü'}}
    write_site(path, "https://a.org", {"check": "/me", "cookies": [{"name": "s", "value": "1"}]})
    write_site(path, "https://c.org", {"login": {"url": "/l", "user": "u"}, "basic": 'a:"\\\x7fü'})
    text = path.read_text()
    assert "# mine" in text
    assert "# stays" in text
    assert "old" not in text
    assert path.stat().st_mode & 0o777 == 0o600
    assert site_table(path, "https://c.org")["basic"] == 'a:"\\\x7fü'
    assert site_table(path, "https://a.org") == {"check": "/me", "cookies": [{"name": "s", "value": "1"}]}
    write_site(path, "https://a.org", None)
    assert site_table(path, "https://a.org") == {}
    assert os.listdir(tmp_path) == ["credentials.toml"]
    write_site(path, "https://d.org", {"login": login})
    assert site_table(path, "https://d.org")["login"] == login


def test_a_deeply_nested_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nested too deeply"):
        read_credentials(None, is_trusted=False, env={"EVERCRAWL_CREDENTIALS": "a = " + "[" * 50_000})


def test_a_key_with_thousands_of_parts_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a key of more than 300 parts"):
        read_credentials(None, is_trusted=False, env={"EVERCRAWL_CREDENTIALS": "a" + ".a" * 60_000 + " = 1"})
