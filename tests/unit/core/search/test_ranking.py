from __future__ import annotations

import pytest

from evercrawl.core.duplicates.minhash import signature
from evercrawl.core.search.ranking import Form, Said, form_weights, fused, groups_alike, importance_bonus


def test_rank_fusion_prefers_what_several_list():
    assert [item for item, _ in fused([["a", "b", "c"], ["b", "d"], ["b", "a"]])] == ["b", "a", "d", "c"]
    assert fused([["a", "a"]]) == [("a", pytest.approx(1 / 61))]
    assert fused([]) == []


def test_a_rare_form_does_not_outweigh_the_word_itself():
    weights = form_weights("run", [Form("run", 1000), Form("running", 500), Form("runnings", 1)], documents=5000)
    assert weights["run"] <= 1.0
    assert weights["runnings"] < weights["running"] < weights["run"]
    assert form_weights("unknown", [], documents=10) == {"unknown": 1.0}


def test_importance_helps_and_never_hurts():
    assert importance_bonus(0.0) == 0.0
    assert importance_bonus(-1.0) == 0.0
    assert 0 < importance_bonus(1.0) < importance_bonus(50.0)
    assert importance_bonus(1e12) == importance_bonus(1e15)


def _said(text: str) -> Said:
    return Said(text.encode()[:16], signature(text), len(text.split()))


def test_near_duplicates_stand_together():
    tale = " ".join(f"line {number} of the long tale" for number in range(60))
    other = " ".join(f"verse {number} about something else" for number in range(60))
    said = [_said(tale), _said(other), _said("x " + tale + " end"), _said(tale)]
    assert groups_alike(said) == [[0, 2, 3], [1]]


def test_pages_without_text_are_never_alike():
    assert groups_alike([Said(None, None, 0), Said(None, None, 0)]) == [[0], [1]]
    assert groups_alike([]) == []
