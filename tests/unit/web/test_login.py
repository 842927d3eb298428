"""The password can be tried only so often, and strangers cannot lock out the owner."""

from __future__ import annotations

from evercrawl.model.settings import WebSettings
from evercrawl.web.login import PasswordAttempts


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _attempts() -> tuple[PasswordAttempts, _Clock]:
    clock = _Clock()
    return PasswordAttempts(WebSettings(password_attempts_per_address=3, password_attempts=10), clock=clock), clock


def test_one_block_has_its_own_limit_and_gets_it_back() -> None:
    attempts, clock = _attempts()
    assert [attempts.wait_s("block", None) > 0 for _ in range(5)] == [False, False, False, True, True]
    assert not attempts.wait_s("another block", None)
    clock.now += 3600
    assert not attempts.wait_s("block", None)


def test_many_blocks_share_the_limit_of_the_account() -> None:
    attempts, _ = _attempts()
    refused = [attempts.wait_s(f"block {number}", None) > 0 for number in range(15)]
    assert refused == [False] * 10 + [True] * 5


def test_a_browser_that_has_logged_in_before_is_not_locked_out() -> None:
    attempts, _ = _attempts()
    for number in range(1000):
        attempts.wait_s(f"block {number % 50}", None)
    assert not attempts.wait_s("block 1", "the owner's browser")
    refused = [attempts.wait_s("block 1", "the owner's browser") > 0 for _ in range(5)]
    assert refused[-1], "but a stolen cookie does not help to guess the password either"
