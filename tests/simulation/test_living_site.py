"""Sixty days on sites that change all the time: content edits are found, noise is not, template edits are grouped.

Each seed is another site with its own language, markup, widgets and wording. None of these seeds was used to tune the
rules.
"""

from __future__ import annotations

import pytest

from tests.worlds.living.content import SECONDS_A_DAY
from tests.worlds.living.detector import DetectionReport, run_detector
from tests.worlds.living.site import LivingSite

DAYS = 60
MOST_FALSE_ALARMS = 0.01
MOST_EARLY_FALSE_ALARMS = 0.015
"""Including the second visit, when nothing is known about the site."""
MOST_MISSED = 0.02
SEEDS = (501,)
MORE_SEEDS = tuple(range(502, 530))
"""Run by `make bench-long`."""

pytestmark = pytest.mark.regression_pin


def check(site: LivingSite, report: DetectionReport, seed: int) -> None:
    assert report.edits > 20, f"seed {seed}: too few edits"
    assert report.later_false_alarms <= MOST_FALSE_ALARMS * report.quiet, f"seed {seed}"
    assert report.false_alarms <= MOST_EARLY_FALSE_ALARMS * report.quiet, f"seed {seed}"
    assert report.missed <= MOST_MISSED * report.edits, f"seed {seed}"
    for edit in site.template_edits:
        groups = report.groups_at(int(edit.at_s // SECONDS_A_DAY))
        assert len(groups) == 1, f"seed {seed}: {edit.kind} made {len(groups)} groups"
        assert groups[0].is_template, f"seed {seed}: {edit.kind}"


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_are_found_among_noise(seed: int):
    site = LivingSite(seed, pages=25)
    check(site, run_detector(site, days=DAYS), seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_edits_are_found_among_noise_on_more_sites(seed: int):
    site = LivingSite(seed, pages=30)
    check(site, run_detector(site, days=DAYS), seed)


def test_a_site_without_noise():
    site = LivingSite(531, pages=20, has_noise=False)
    report = run_detector(site, days=DAYS)
    assert report.missed == 0
    assert report.false_alarms <= MOST_FALSE_ALARMS * report.quiet


def test_the_stored_state_stays_small():
    report = run_detector(LivingSite(532, pages=12), days=20)
    assert report.site_bytes < 32_000
    assert report.page_bytes < 900
