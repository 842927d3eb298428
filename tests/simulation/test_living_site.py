"""Sixty days on sites that never rest: what is content, what is not, and what was done to all pages at once.

Each seed is another site: language, markup, widgets, wording and places differ. None of the seeds here was
looked at while the rules were made.
"""

from __future__ import annotations

import pytest

from tests.worlds.living.content import SECONDS_A_DAY
from tests.worlds.living.detector import DetectionReport, run_detector
from tests.worlds.living.site import LivingSite

DAYS = 60
MOST_FALSE_ALARMS = 0.01
MOST_MISSED = 0.02
SEEDS = (501, 502, 503)
MORE_SEEDS = tuple(range(504, 530))


def check(site: LivingSite, report: DetectionReport, seed: int) -> None:
    assert report.edits > 20, f"seed {seed}: too little happened"
    assert report.false_alarms <= MOST_FALSE_ALARMS * report.quiet, f"seed {seed}"
    assert report.missed <= MOST_MISSED * report.edits, f"seed {seed}"
    for edit in site.template_edits:
        groups = report.groups_at(int(edit.at_s // SECONDS_A_DAY))
        assert len(groups) == 1, f"seed {seed}: {edit.kind} came as {len(groups)} groups"
        assert groups[0].is_template, f"seed {seed}: {edit.kind}"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_living_site(seed: int):
    site = LivingSite(seed, pages=25)
    check(site, run_detector(site, days=DAYS), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_more_living_sites(seed: int):
    site = LivingSite(seed, pages=30)
    check(site, run_detector(site, days=DAYS), seed)


def test_a_site_without_noise():
    site = LivingSite(531, pages=20, is_restless=False)
    report = run_detector(site, days=DAYS)
    assert report.missed == 0
    assert report.false_alarms <= MOST_FALSE_ALARMS * report.quiet


def test_what_is_remembered_stays_small():
    report = run_detector(LivingSite(532, pages=12), days=20)
    assert report.site_bytes < 32_000
    assert report.page_bytes < 700
