"""A collection watches pages whose values change and whose design changes; alerts fire exactly on their conditions."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.cluster import crawl_builder
from tests.worlds.values.served import watch_served
from tests.worlds.values.templates import TEMPLATES
from tests.worlds.values.traditions import TRADITIONS


def test_alerts_are_exact_through_redesigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_builder, "SystemClock", crawl_builder.SystemClock)  # The watch replaces it.
    found = watch_served(tmp_path / "c.evercrawl", seed=0, days=10, templates=TEMPLATES[3:5])
    assert found.wrong_alerts == []
    assert found.fields.share == 1
    assert found.alerts["right"] >= 20


def test_alerts_on_data_and_plain_text_are_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_builder, "SystemClock", crawl_builder.SystemClock)  # The watch replaces it.
    chosen = [one for one in TRADITIONS if one.name in ("json-api", "plain-text")]
    found = watch_served(tmp_path / "c.evercrawl", seed=0, days=10, templates=tuple(chosen))
    assert found.wrong_alerts == []
    assert found.fields.share == 1
    assert found.alerts["right"] >= 20
