"""Slow answers are computed once, in the background."""

from __future__ import annotations

import threading

import pytest

from evercrawl.web.app_state import AnswerCache, CachedAnswer


def test_an_answer_is_computed_once_for_all_callers():
    counted = []
    begin = threading.Event()

    def compute() -> int:
        begin.wait(5)
        counted.append(1)
        return 42

    answer = CachedAnswer(compute, min_age_s=60)
    assert answer.get(0.0) is None, "still being computed"
    begin.set()
    assert answer.get(5.0) == 42
    assert answer.get(5.0) == 42
    assert len(counted) == 1


def test_an_error_is_raised_to_the_caller():
    def compute() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        AnswerCache().get("key", compute, wait_s=5.0)
