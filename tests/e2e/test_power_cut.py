"""A power cut at random moments loses nothing acknowledged."""

from __future__ import annotations

import pytest

from tests.e2e import power_cut


@pytest.mark.slow
@pytest.mark.parametrize(
    ("durability", "cuts"),
    [("power", 25), pytest.param("power", 200, marks=pytest.mark.long), pytest.param("process", 25)],
)
def test_a_power_cut_leaves_a_sound_collection(durability: str, cuts: int) -> None:
    report = power_cut.run(cuts, seed=20261116, durability=durability, pages=max(60, cuts))
    assert (report.cuts, report.failures) == (cuts, [])
    assert report.acknowledged > 0
    if durability == "power":
        assert report.lost == 0
    else:
        assert report.lost > 0, "the simulated disk keeps what was never synced"
