"""The commands `trap` and `pace`: list, preview, apply and undo."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.cli.main import run
from evercrawl.config import create_collection, read_settings
from evercrawl.core.traps.trap_state import trap_state_bytes
from evercrawl.core.url import key_of, shard_of_site
from evercrawl.model.page import Batch, NewPage, Refusal
from evercrawl.model.reason import Reason
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from tests.worlds.traps.crawl import Crawl
from tests.worlds.traps.more_sites import MORE_GENERATORS
from tests.worlds.traps.sites import HOST

Call = Callable[..., list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def _clean_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("EVERCRAWL_COLLECTION", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A site with thirty queued pages, a refused URL and an endless calendar."""
    folder = tmp_path / "trapped"
    create_collection(folder)
    asyncio.run(_fill(folder))
    return folder


async def _fill(folder: Path) -> None:
    settings = Settings().store
    store = SqliteStore(folder, settings)
    shard = await store.open_shard(shard_of_site(HOST, settings.shards))
    facts = await shard.claim()
    urls = [f"{HOST}/shop?color={number}" for number in range(20)]
    urls += [f"{HOST}/page/{number}" for number in range(10)]
    batch = Batch()
    batch.sites[1] = Site(1, HOST, "trapped.test")
    batch.new_pages += [
        NewPage(number, key_of(url), url, 1, 1, 0, 1, number, None, 5) for number, url in enumerate(urls, 1)
    ]
    bad = f"{HOST}/shop?color=1;jsessionid=1"
    batch.refusals.append(Refusal(key_of(bad), bad, Reason.TRAP, "session: a session in it", None, 5, 1))
    trap_state = Crawl(MORE_GENERATORS["slow calendar"](), 1000).run().trap_state
    batch.site_states[1, "traps"] = trap_state_bytes(trap_state)
    await shard.commit(facts.epoch, batch)
    await shard.release(facts.epoch)
    await store.close()


@pytest.fixture
def call(collection: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*arguments: str, code: int = 0) -> list[dict[str, Any]]:
        assert run(["-C", str(collection), "trap", *arguments, "--json"]) == code
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return called


def test_traps_and_rules_are_listed_with_evidence(call: Call) -> None:
    rows = {row["pattern"]: row for row in call("list")}
    block = rows["/diary/{n}/{n}"]
    assert (block["site"], block["state"], block["schema"]) == (HOST, "blocked", "evercrawl.trap/1")
    assert block["requests"] > 10
    assert "new text" in block["evidence"]
    refused = next(row for row in rows.values() if row["state"] == "refused")
    assert refused["class"] == "session"
    call("exclude", "/shop?color=", "--yes")
    assert call("list")[0]["state"] == "excluded"


def test_a_dry_run_shows_the_effect_and_changes_nothing(call: Call, collection: Path) -> None:
    (effect,) = call("exclude", "/shop?color=", "--site", "trapped.test", "--dry-run")
    assert (effect["known"], effect["queued"], effect["checked"], effect["done"]) == (20, 20, 30, False)
    assert effect["sites"] == [HOST]
    assert effect["examples"][0] == f"{HOST}/shop?color=0"
    assert read_settings(collection).settings.traps.exclude == ()


def test_a_rule_is_saved_replaced_and_undone(call: Call, collection: Path) -> None:
    assert call("exclude", "/shop?color=", "--site", HOST)[0]["done"] is True
    assert read_settings(collection).settings.traps.exclude == (f"{HOST} /shop?color=",)
    call("allow", "/shop?color=", "--site", HOST, "--yes")
    traps = read_settings(collection).settings.traps
    assert (traps.exclude, traps.allow) == ((), (f"{HOST} /shop?color=",))
    assert call("undo", "/shop?color=", "--site", HOST)[0]["done"] is True
    assert read_settings(collection).settings.traps.allow == ()
    assert call("undo", "/shop?color=", "--site", HOST, code=1)[0]["done"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["exclude", "/a b"], "a pattern is one word"),
        (["exclude", "/a", "--site", "elsewhere.test"], "the collection has no site 'elsewhere.test'"),
        (["allow", "/a", "--site", "ftp://x"], "is not a site"),
    ],
)
def test_wrong_usage_gives_one_clear_message(
    arguments: list[str], words: str, collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-C", str(collection), "trap", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_text_output(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-C", str(collection), "trap", "exclude", "/shop?color=", "--dry-run"]) == 0
    shown = capsys.readouterr()
    assert "20 known pages (20 queued)" in shown.out
    assert "no rule saved" in shown.err
    assert run(["-C", str(collection), "status"]) == 0
    assert f"trap on {HOST}: /diary/" in capsys.readouterr().out


@pytest.fixture
def empty_collection(tmp_path: Path) -> Path:
    create_collection(tmp_path / "c")
    return tmp_path / "c"


def test_a_site_is_slowed_down_listed_and_reset(empty_collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*arguments: str, code: int = 0) -> list[dict[str, object]]:
        assert run(["-C", str(empty_collection), *arguments, "--json"]) == code
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    (done,) = call("pace", "slow", "Example.org", "2m")
    assert (done["site"], done["delay_s"]) == ("https://example.org", 120)
    call("pace", "slow", "https://example.org/deep/page", "30s")
    call("pace", "slow", "http://other.test:8080", "1h")
    assert read_settings(empty_collection).settings.pace.overrides == (
        "https://example.org 30s",
        "http://other.test:8080 3600s",
    )
    assert [row["delay_s"] for row in call("pace", "list")] == [3600, 30]
    (status,) = call("status")
    assert {"site": "https://example.org", "delay_s": 30.0} in status["rate_overrides"]
    assert call("pace", "undo", "example.org")[0]["done"] is True
    assert call("pace", "undo", "example.org", code=1)[0]["done"] is False
    assert len(call("pace", "list")) == 1


@pytest.mark.parametrize(("site", "gap"), [("example.org", "fast"), ("example.org", "0"), ("example.org", "2d")])
def test_an_invalid_delay_is_refused(empty_collection: Path, site: str, gap: str) -> None:
    assert run(["-C", str(empty_collection), "pace", "slow", site, gap]) == 2
    assert read_settings(empty_collection).settings.pace.overrides == ()
