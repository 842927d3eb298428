"""What the rules of a collection say today."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.collection.current_rules import CurrentRules, StoredRefusal
from evercrawl.config import create_collection, read_settings
from evercrawl.model.reason import Reason


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CurrentRules:
    create_collection(tmp_path / "c.evercrawl", {"scope.seeds": ("https://a.example/",)})
    found = CurrentRules(tmp_path / "c.evercrawl", read_settings(tmp_path / "c.evercrawl").settings)

    def adopt() -> None:
        found._has_moved_seeds = True
        found._scope.add_moved_seed("https://a.example/", "https://www.a.example/")

    monkeypatch.setattr(found, "_adopt_moved_seeds", adopt)
    return found


def test_where_seeds_have_moved_to_is_read_only_for_a_refusal(rules: CurrentRules):
    assert rules.refusal(StoredRefusal("https://a.example/x", 1)) is None
    assert not rules._has_moved_seeds
    assert rules.refusal(StoredRefusal("https://www.a.example/x", 1)) is None
    assert rules.refusal(StoredRefusal("https://b.example/x", 1)) is not None


def test_the_target_of_a_redirect_may_be_where_a_seed_has_moved_to(rules: CurrentRules):
    stored = StoredRefusal("https://a.example/x", 1, 0, Reason.OUT_OF_SCOPE, "", "https://www.a.example/x")
    assert rules.refusal(stored) is None
