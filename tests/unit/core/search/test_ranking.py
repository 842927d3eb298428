from __future__ import annotations

import pytest

from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.core.search.ranking import (
    TextFingerprint,
    WordForm,
    form_weights,
    fuse_rankings,
    group_near_duplicates,
    importance_bonus,
)


def test_rank_fusion_prefers_items_of_several_rankings():
    assert [item for item, _ in fuse_rankings([["a", "b", "c"], ["b", "d"], ["b", "a"]])] == ["b", "a", "d", "c"]
    assert fuse_rankings([["a", "a"]]) == [("a", pytest.approx(1 / 61))]
    assert fuse_rankings([]) == []


def test_a_rare_form_does_not_outweigh_the_word_itself():
    weights = form_weights(
        "run", [WordForm("run", 1000), WordForm("running", 500), WordForm("runnings", 1)], documents=5000
    )
    assert weights["run"] <= 1.0
    assert weights["runnings"] < weights["running"] < weights["run"]
    assert form_weights("unknown", [], documents=10) == {"unknown": 1.0}


def test_importance_is_never_negative():
    assert importance_bonus(0.0) == 0.0
    assert importance_bonus(-1.0) == 0.0
    assert 0 < importance_bonus(1.0) < importance_bonus(50.0)
    assert importance_bonus(1e12) == importance_bonus(1e15)


def _said(text: str) -> TextFingerprint:
    return TextFingerprint(text.encode()[:16], text_signature(text), len(text.split()))


def test_near_duplicates_are_grouped():
    tale = " ".join(f"line {number} of the long tale" for number in range(60))
    other = " ".join(f"verse {number} about something else" for number in range(60))
    said = [_said(tale), _said(other), _said("x " + tale + " end"), _said(tale)]
    assert group_near_duplicates(said) == [[0, 2, 3], [1]]


def test_empty_pages_are_not_duplicates():
    assert group_near_duplicates([TextFingerprint(None, None, 0), TextFingerprint(None, None, 0)]) == [[0], [1]]
    assert group_near_duplicates([]) == []
