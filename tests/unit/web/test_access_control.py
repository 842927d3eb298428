"""The rate limit."""

from __future__ import annotations

from evercrawl.web.access_control import RateLimit


def test_a_rate_limit_allows_a_burst_and_then_a_steady_rate():
    moment = 0.0
    rate = RateLimit(burst=3, per_s=2, clock=lambda: moment)
    assert [rate.wait_s("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert rate.wait_s("b") == 0, "every address has its own bucket"
    moment = 0.5
    assert rate.wait_s("a") == 0
    assert rate.wait_s("a") > 0
