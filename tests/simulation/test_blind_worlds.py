"""Living sites written by somebody who does not know the detector: most noise is recognised, most edits are found.

The rules were made with seeds 1, 2 and 7 in view. On others (2026-11-16, seeds 13 and 14) 1.7 % of the unchanged visits
from the third on are false alarms on visible kinds and 0.4 % on held ones, and 1.8 % and 2.9 % of the edits are missed.
The third part was written later, without knowing the rules and with edits that the others lack. On its first day
(2026-11-19, seeds 21 and 22) 7.0 % were false alarms and 8.9 % were missed. Its causes were read since; the bars for it
hold what was reached, which is not yet what is wanted.
"""

from __future__ import annotations

import pytest

from tests.worlds.blind.__main__ import kinds_of, site_records
from tests.worlds.blind.living_site import LivingSite
from tests.worlds.recorded_visits import Score, score_records

pytestmark = pytest.mark.regression_pin
SOME_VISIBLE = ("mediawiki", "woocommerce", "university")
SOME_HELD = ("trac", "shopify", "joomla")
SOME_THIRD = ("docusaurus", "moin", "casper", "nodebb", "drupal")


def score_kinds(part: str, names: tuple[str, ...] = (), *, seeds: tuple[int, ...] = (3,)) -> Score:
    chosen = [kind for kind in kinds_of(part) if not names or kind.name in names]
    return score_records(record for kind in chosen for seed in seeds for record in site_records(LivingSite(kind, seed)))


@pytest.mark.parametrize(("part", "names"), [("visible", SOME_VISIBLE), ("held", SOME_HELD), ("third", SOME_THIRD)])
def test_some_kinds(part: str, names: tuple[str, ...]):
    score = score_kinds(part, names)
    assert score.counts["edits"] > 50
    assert score.false <= 0.02, score.wrong
    assert score.missed <= 0.04, score.wrong


@pytest.mark.long
@pytest.mark.parametrize("part", ["visible", "held"])
def test_all_kinds(part: str):
    score = score_kinds(part, seeds=(1, 2))
    assert score.early_false <= 0.09, score.wrong
    assert score.false <= 0.03, score.wrong
    assert score.missed <= 0.03, score.wrong
    assert score.grouped >= 0.8


@pytest.mark.long
def test_all_kinds_of_the_third_part():
    score = score_kinds("third", seeds=(21, 22))
    assert score.early_false <= 0.05, score.wrong
    assert score.false <= 0.02, score.wrong
    assert score.missed <= 0.06, score.wrong
    assert score.grouped >= 0.9
