"""Precedence: flag, environment, collection, user, default; each with its origin."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from evercrawl.config import (
    collection_file,
    create_collection,
    default_collection_path,
    enclosing_collection,
    find_collection,
    read_settings,
    user_file,
    write_setting,
)
from evercrawl.config.load import watch_rate_overrides, watch_trap_rules
from evercrawl.errors import ConfigError
from evercrawl.model.settings import TrapSettings


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "example.org.evercrawl"
    create_collection(folder)
    return folder


def _env(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "xdg"), **more}


def _write_user(tmp_path: Path, text: str) -> Path:
    path = user_file(_env(tmp_path))
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_the_nearer_place_wins_and_is_named(tmp_path: Path, collection: Path) -> None:
    user = _write_user(
        tmp_path, '[pace]\ndelay = "1s"\nresponse_time_factor = 2\n[identity]\ncontact = "me@example.org"\n'
    )
    file = collection / "collection.toml"
    file.write_text('[pace]\ndelay = "2s"\nmax_delay = "90s"\n[scope]\nmax_depth = 3\n')
    env = _env(tmp_path, EVERCRAWL_PACE__DELAY="3s", EVERCRAWL_SCOPE__MAX_DEPTH="4")
    found = read_settings(collection, flags={"pace.delay": "4s"}, env=env)
    assert found.settings.pace.delay == timedelta(seconds=4)
    assert found.settings.scope.max_depth == 4
    assert found.settings.pace.max_delay == timedelta(seconds=90)
    assert found.settings.pace.response_time_factor == 2
    assert found.value("identity.contact") == "me@example.org"
    assert found.origins["pace.delay"] == "command line"
    assert found.origins["scope.max_depth"] == "environment variable EVERCRAWL_SCOPE__MAX_DEPTH"
    assert found.origins["pace.max_delay"] == str(file)
    assert found.origins["pace.response_time_factor"] == str(user)
    assert found.origins["store.shards"] == "default"


def test_the_contact_has_a_short_variable(tmp_path: Path) -> None:
    env = _env(tmp_path, EVERCRAWL_CONTACT="https://example.org/bot")
    assert read_settings(env=env).settings.identity.contact == "https://example.org/bot"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[htp]\nidle = 1\n", ["[htp]", "'http'"]),
        ("[pace]\ndelaay = 1\n", ["pace.delaay", "'pace.delay'"]),
        ('[pace]\nmode = "fast"\n', ["pace.mode", "'fast'", "gentle", "Default"]),
        ("[pace\n", ["not valid TOML"]),
        ('[pace]\nmin_delay = "2m"\n', ["pace.min_delay", "pace.max_delay"]),
        ("pace = 3\n", ["section [pace]"]),
    ],
)
def test_an_error_in_a_file_shows_file_key_value_and_remedy(
    collection: Path, tmp_path: Path, text: str, words: list[str]
) -> None:
    file = collection / "collection.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_settings(collection, env=_env(tmp_path))
    assert all(word in str(refused.value) for word in [str(file), *words]), str(refused.value)


@pytest.mark.parametrize("variable", ["EVERCRAWL_PACE__DELAYP", "EVERCRAWL_PACE_DELAY", "EVERCRAWL_CONTAKT"])
def test_a_misspelt_variable_is_refused(tmp_path: Path, variable: str) -> None:
    with pytest.raises(ConfigError, match="did you mean"):
        read_settings(env=_env(tmp_path, **{variable: "1"}))


def test_other_variables_are_ignored(tmp_path: Path) -> None:
    assert read_settings(env=_env(tmp_path, EVERCRAWL_SHARED="elsewhere", EVERCRAWL_COLLECTION="x")).settings


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/", "example.org.evercrawl"),
        ("https://user@Example.org:8080/a/b", "example.org-8080.evercrawl"),
        ("http://[::1]:80/", "1-80.evercrawl"),
        ("https://../../etc", "collection.evercrawl"),
    ],
)
def test_a_collection_is_named_after_its_first_host(url: str, name: str) -> None:
    assert default_collection_path(url) == Path(name)


def test_a_collection_is_found_above_or_as_the_only_one_below(tmp_path: Path, collection: Path) -> None:
    inside = collection / "archive" / "deep"
    inside.mkdir(parents=True)
    assert find_collection(inside) == collection
    assert enclosing_collection(inside) == collection
    assert find_collection(tmp_path) == collection
    assert enclosing_collection(tmp_path) is None
    create_collection(tmp_path / "other.evercrawl")
    with pytest.raises(ConfigError, match="-C DIR"):
        find_collection(tmp_path)


@pytest.fixture
def live_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    create_collection(tmp_path / "c")
    return tmp_path / "c"


def _touch(live_collection: Path, seconds: int) -> None:
    """Set the time of the file, because file systems may have coarse clocks."""
    os.utime(collection_file(live_collection), (seconds, seconds))


def test_rules_are_reloaded_after_a_change(live_collection: Path) -> None:
    rules = watch_trap_rules(live_collection, TrapSettings(min_pages=7))
    assert rules.changed() is None
    write_setting(collection_file(live_collection), "traps.exclude", ("/old/**",))
    _touch(live_collection, 1)
    assert rules.changed() == TrapSettings(min_pages=7, exclude=("/old/**",))
    assert rules.changed() is None


def test_a_file_that_cannot_be_used_changes_nothing(live_collection: Path, caplog: pytest.LogCaptureFixture) -> None:
    rules = watch_trap_rules(live_collection, TrapSettings())
    collection_file(live_collection).write_text("[traps\n")
    _touch(live_collection, 2)
    assert rules.changed() is None
    assert "are not reloaded" in caplog.text


def test_other_settings_are_not_reloaded(live_collection: Path) -> None:
    rules = watch_trap_rules(live_collection, TrapSettings())
    write_setting(collection_file(live_collection), "traps.enabled", False)
    _touch(live_collection, 3)
    assert rules.changed() is None


def test_rate_overrides_are_reloaded_and_removed(live_collection: Path) -> None:
    slower = watch_rate_overrides(live_collection, read_settings(live_collection).settings)
    write_setting(collection_file(live_collection), "pace.overrides", ("https://a.test 30s",))
    _touch(live_collection, 4)
    assert slower.changed() == (("https://a.test 30s",), (), ())
    write_setting(collection_file(live_collection), "pace.overrides", ())
    _touch(live_collection, 5)
    assert slower.changed() == ((), (), ())
    write_setting(collection_file(live_collection), "scope.removed", ("https://a.test/x",))
    _touch(live_collection, 6)
    assert slower.changed() == ((), ("https://a.test/x",), ())
    write_setting(collection_file(live_collection), "site.https://a.test/y$.schedule", "hourly")
    _touch(live_collection, 7)
    assert slower.changed() == ((), ("https://a.test/x",), (("https://a.test/y$", "hourly"),))


def test_tables_in_tables_end_at_the_longest_host_name(tmp_path: Path, collection: Path) -> None:
    labels = ".".join("a" * 127)
    collection_file(collection).write_text(f"[site.{labels}]\nmax_depth = 9\n")
    assert read_settings(collection, env=_env(tmp_path)).settings.sites[0].max_depth == 9
    collection_file(collection).write_text("[site]\n" + "a." * 200 + "max_depth = 9\n")
    with pytest.raises(ConfigError, match="no host name is so long"):
        read_settings(collection, env=_env(tmp_path))


@pytest.mark.parametrize("key", ["1." * 100_000 + "a", "'a' . " * 50_000 + "b", '"a\\"". ' * 50_000 + "b"])
def test_endless_keys_are_refused_soon(tmp_path: Path, key: str) -> None:
    (tmp_path / "collection.toml").write_text(f"x = {{ {key} = 1 }}\n")
    start = time.process_time()
    with pytest.raises(ConfigError):
        read_settings(tmp_path, env={})
    assert time.process_time() - start < 1


def test_long_lists_of_urls_are_read(tmp_path: Path) -> None:
    seeds = ", ".join(f'"https://a.example/{".".join("1" * 60)}/{number}"' for number in range(5000))
    (tmp_path / "collection.toml").write_text(f"[scope]\nseeds = [{seeds}]\n")
    assert len(read_settings(tmp_path, env={}).settings.scope.seeds) == 5000
