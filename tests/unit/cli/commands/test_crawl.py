"""Which collection a crawl uses, and which flags it saves."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from evercrawl.cli.commands.crawl import (
    FLAG_KEYS,
    SAVED_KEYS,
    SAVED_SECTION,
    RunPlan,
    crawl_command,
    given_flags,
    plan_run,
)
from evercrawl.cli.context import CliContext
from evercrawl.collection.urls import parse_page_url
from evercrawl.config import create_collection
from evercrawl.config.schema import known_settings
from evercrawl.errors import ConfigError


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliContext:
    monkeypatch.chdir(tmp_path)
    return CliContext(env={"XDG_CONFIG_HOME": str(tmp_path / "config")})


def _planned(cli: CliContext, *urls: str, **flags: object) -> RunPlan:
    return plan_run(cli, urls, flags=given_flags(flags))


def test_flags_name_settings_and_are_options() -> None:
    assert set(FLAG_KEYS.values()) <= set(known_settings())
    assert set(FLAG_KEYS) <= {param.name for param in crawl_command.params}


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("example.org", "https://example.org/"),
        ("HTTP://Example.org/a#b", "http://example.org/a"),
        ("localhost:8000", "https://localhost:8000/"),
        ("example.org:8080/a", "https://example.org:8080/a"),
        (" https://example.org ", "https://example.org/"),
    ],
)
def test_typed_text_becomes_a_url(typed: str, url: str) -> None:
    assert parse_page_url(typed) == url


@pytest.mark.parametrize(
    "typed",
    ["", "ftp://example.org/", "https://", "javascript:alert(1)", "mailto:me@example.org", "not a url", "word", "3.5"],
)
def test_a_url_that_cannot_be_crawled_is_refused(typed: str) -> None:
    with pytest.raises(ConfigError, match="not a URL"):
        parse_page_url(typed)


def test_the_first_crawl_of_a_collection_without_seeds_saves_its_flags(cli: CliContext, tmp_path: Path) -> None:
    create_collection(tmp_path / "example.org.evercrawl")
    assert _planned(cli, "https://example.org/", gap="2").loaded.settings.scope.seeds == ("https://example.org/",)
    _planned(cli, "https://example.org/more", gap="9")
    kept = cli.load_settings(tmp_path / "example.org.evercrawl").settings
    assert kept.scope.seeds == ("https://example.org/", "https://example.org/more")
    assert kept.pace.delay == timedelta(seconds=2)


def test_only_a_folder_made_for_the_run_counts_as_new(cli: CliContext, tmp_path: Path) -> None:
    (tmp_path / "example.org.evercrawl").mkdir()
    (tmp_path / "example.org.evercrawl" / "notes.txt").write_text("mine")
    plan = _planned(cli, "https://example.org/")
    assert (plan.is_new, plan.is_folder_new) == (True, False)
    assert _planned(cli, "https://example.net/").is_folder_new


def test_a_new_collection_saves_seeds_scope_and_pace_but_not_limits(cli: CliContext, tmp_path: Path) -> None:
    plan = _planned(cli, "https://example.org/", scope="domain", exclude=(r"\.pdf$",), max_pages="5", gap="2")
    assert plan.is_new
    assert plan.path == Path("example.org.evercrawl")
    assert plan.loaded.settings.crawl.max_pages == 5
    assert plan.loaded.settings.pace.delay == timedelta(seconds=2)
    kept = cli.load_settings(tmp_path / plan.path)
    assert kept.settings.scope.seeds == ("https://example.org/",)
    assert kept.settings.scope.kind == "domain"
    assert kept.settings.scope.exclude == (r"\.pdf$",)
    assert kept.settings.pace.delay == timedelta(seconds=2)
    assert kept.origins["crawl.max_pages"] == "default"


def test_the_same_command_without_a_url_finds_it_again(cli: CliContext) -> None:
    first = _planned(cli, "https://example.org/")
    again = _planned(cli)
    assert not again.is_new
    assert again.path.resolve() == first.path.resolve()
    assert again.loaded.settings.scope.seeds == ("https://example.org/",)


def test_another_site_gets_a_collection_of_its_own(cli: CliContext) -> None:
    _planned(cli, "https://example.org/")
    assert _planned(cli, "https://example.net/").path == Path("example.net.evercrawl")


def test_a_named_collection_takes_more_seeds(cli: CliContext, tmp_path: Path) -> None:
    cli.directory = tmp_path / "both"
    _planned(cli, "https://example.org/", scope="list")
    plan = _planned(cli, "https://example.net/", "https://example.org/")
    assert plan.loaded.settings.scope.seeds == ("https://example.org/", "https://example.net/")
    assert plan.loaded.settings.scope.kind == "list"


def test_concurrency_counts_for_own_hosts_too(cli: CliContext) -> None:
    own = _planned(cli, "https://example.org/", pace="own", concurrency="16").loaded.settings
    assert (own.crawl.concurrency, own.pace.unlimited_concurrency) == (16, 16)


def test_each_flag_is_kept_or_not_on_purpose() -> None:
    """The first crawl keeps what describes the collection and how its sites are reached."""
    kept = {name for name, key in FLAG_KEYS.items() if key.startswith(SAVED_SECTION) or key in SAVED_KEYS}
    assert FLAG_KEYS.keys() - kept == {
        "max_pages", "max_time", "wait", "concurrency", "workers", "outposts",
        "store",  # The state remembers where it is (`state/postgres`).
    }  # fmt: skip
