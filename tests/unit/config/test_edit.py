"""Editing one setting keeps the rest of the file."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest

from evercrawl.config import collection_file, create_collection, read_settings, write_setting
from evercrawl.errors import ConfigError, StoreUnavailable

BEFORE = """\
# ours
[scope]  # what belongs
seeds = [
  "https://example.org/",  # the first
]
max_depth = 3  # enough

[pace]
mode = "gentle"
"""


def test_comments_and_other_lines_stay(tmp_path: Path) -> None:
    path = tmp_path / "collection.toml"
    path.write_text(BEFORE)
    write_setting(path, "pace.mode", "paper")
    write_setting(path, "scope.kind", "domain")
    write_setting(path, "http.max_wire_bytes", "1MiB")
    text = path.read_text()
    assert "# ours\n[scope]  # what belongs\n" in text
    assert '"https://example.org/",  # the first' in text
    assert tomllib.loads(text) == {
        "scope": {"seeds": ["https://example.org/"], "max_depth": 3, "kind": "domain"},
        "pace": {"mode": "paper"},
        "http": {"max_wire_bytes": "1MiB"},
    }
    assert [entry.name for entry in tmp_path.iterdir()] == ["collection.toml"]


def test_a_list_over_several_lines_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "collection.toml"
    path.write_text(BEFORE)
    write_setting(path, "scope.seeds", ("https://a.example/", "https://b.example/"))
    assert tomllib.loads(path.read_text())["scope"]["seeds"] == ["https://a.example/", "https://b.example/"]
    assert "depth = 3  # enough" in path.read_text()


def test_text_with_quotes_and_backslashes_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "collection.toml"
    patterns = (r'\.php\?"x"', "ünïcode,", r"\d{1,2}")
    write_setting(path, "scope.exclude", patterns)
    create_collection(tmp_path)
    assert read_settings(tmp_path, env={"XDG_CONFIG_HOME": str(tmp_path)}).settings.scope.exclude == patterns


@pytest.mark.parametrize(("key", "value"), [("pace.mode", "fast"), ("pace.speed", "1")])
def test_a_bad_value_changes_nothing(tmp_path: Path, key: str, value: str) -> None:
    path = tmp_path / "collection.toml"
    path.write_text(BEFORE)
    with pytest.raises(ConfigError):
        write_setting(path, key, value)
    assert path.read_text() == BEFORE


def test_an_unusual_spelling_is_refused_rather_than_broken(tmp_path: Path) -> None:
    path = tmp_path / "collection.toml"
    path.write_text('pace = { mode = "gentle" }\n')
    with pytest.raises(ConfigError, match="by hand"):
        write_setting(path, "pace.mode", "unlimited")
    assert path.read_text() == 'pace = { mode = "gentle" }\n'


def test_a_new_collection_has_its_initial_values_and_is_created_once(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    path = create_collection(folder, {"scope.seeds": ("https://example.org/",), "scope.max_depth": "2"})
    settings = read_settings(folder, env={"XDG_CONFIG_HOME": str(tmp_path)}).settings
    assert settings.scope.seeds == ("https://example.org/",)
    assert settings.scope.max_depth == 2
    before = path.read_text()
    create_collection(folder, {"scope.max_depth": 9})
    assert path.read_text() == before


def test_a_folder_that_cannot_be_created_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be created"):
        create_collection(tmp_path / "file" / "inside")


def test_settings_of_a_site_are_written_into_its_table(tmp_path: Path) -> None:
    path = create_collection(tmp_path / "c", {"scope.seeds": ["http://example.org/"]})
    write_setting(path, "site.news.example.org.priority", "3")
    write_setting(path, "scope.max_depth", "5")
    write_setting(path, "site.news.example.org.media_types", "text/html,application/pdf")
    write_setting(path, "site.https://example.org/a/.weight", "2.5")
    found = tomllib.loads(path.read_text())
    assert found["scope"] == {"seeds": ["http://example.org/"], "max_depth": 5}
    assert found["site"] == {
        "news.example.org": {"priority": 3, "media_types": ["text/html", "application/pdf"]},
        "https://example.org/a/": {"weight": 2.5},
    }
    loaded = read_settings(tmp_path / "c", env={"HOME": str(tmp_path)})
    news, folder = loaded.settings.sites
    assert (news.pattern, news.priority, news.media_types) == ("news.example.org", 3, ("text/html", "application/pdf"))
    assert (folder.pattern, folder.weight, folder.languages) == ("https://example.org/a/", 2.5, None)
    assert loaded.value("site.news.example.org.priority") == 3
    assert loaded.origins["site.news.example.org.priority"] == str(path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("site.example.org.priority", "9", "from -8 to 8"),
        ("site.example.org.languges", "en", "did you mean 'languages'"),
        ("site.exa mple.priority", "1", "write a host"),
        ("site.example.org.media_types", "html", "a media type"),
        ("scope.filter", "domain(", "expected )"),
        ("scope.filter", "host(example.org)", "expected domain"),
        ("scope.keywords", "title:", "not a keyword"),
        ("scope.newer_than", "soon", "a date such as"),
        ("scope.exclude_hosts", "http://example.org/", "a host name"),
        ("scope.languages", "english language", "a language code"),
    ],
)
def test_a_bad_condition_is_refused_when_it_is_set(tmp_path: Path, key: str, value: str, message: str) -> None:
    path = create_collection(tmp_path / "c")
    before = path.read_text()
    with pytest.raises(ConfigError) as caught:
        write_setting(path, key, value)
    assert message in str(caught.value)
    assert path.read_text() == before
    section, _, name = key.rpartition(".")
    heading = f'site."{section.removeprefix("site.")}"' if section.startswith("site.") else section
    path.write_text(f"[{heading}]\n{name} = {value if value.isdigit() else chr(34) + value + chr(34)}\n")
    with pytest.raises(ConfigError, match=str(path)):
        read_settings(tmp_path / "c", env={"HOME": str(tmp_path)})


def test_a_table_of_a_site_needs_no_quotes(tmp_path: Path) -> None:
    path = create_collection(tmp_path / "c")
    path.write_text("[site.news.example.org]\npriority = 2\n")
    write_setting(path, "site.news.example.org.weight", "2")
    (site,) = read_settings(tmp_path / "c", env={"HOME": str(tmp_path)}).settings.sites
    assert (site.pattern, site.priority, site.weight) == ("news.example.org", 2, 2.0)


def test_only_the_owner_can_read_a_new_collection_and_its_settings(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        collection = tmp_path / "here" / "new.evercrawl"
        create_collection(collection, {"pace.delay": "5s"})
        write_setting(collection_file(collection), "store.url", "postgresql://me:s3cret@db/crawls")
        shared = tmp_path / "shared.evercrawl"
        shared.mkdir(mode=0o775)
        create_collection(shared)
    finally:
        os.umask(before)
    assert stat.S_IMODE(collection.stat().st_mode) == 0o700
    assert stat.S_IMODE(collection_file(collection).stat().st_mode) == 0o600
    assert stat.S_IMODE(shared.stat().st_mode) == 0o770, "the group keeps its rights"


def test_a_settings_file_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "collection.toml"
    path.write_text("")
    path.chmod(0o644)
    write_setting(path, "pace.delay", "5s")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
