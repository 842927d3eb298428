"""Two lists of URLs of many kinds of sites: no alarm on an honest one, nearly all traps are seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.core.traps.url_check import url_verdict

FOLDER = Path(__file__).parent
LEAST_SEEN = 0.95


def _urls(name: str) -> list[str]:
    return (FOLDER / name).read_text().split()


@pytest.mark.parametrize("url", _urls("honest_urls.txt"))
def test_no_alarm_on_an_honest_url(url: str) -> None:
    verdict = url_verdict(url)
    assert not verdict.trap, verdict.reason


def test_nearly_all_traps_are_seen() -> None:
    urls = _urls("trap_urls.txt")
    missed = [url for url in urls if not url_verdict(url).trap]
    assert len(missed) <= (1 - LEAST_SEEN) * len(urls), missed
