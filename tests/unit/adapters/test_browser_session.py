"""A browser that does not answer ends the page, not the crawl."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evercrawl.adapters.browser import page_session
from evercrawl.adapters.browser.page_session import PageSession
from evercrawl.model.fetch import Exchange, Fetched, FetchResult
from evercrawl.model.settings import RenderSettings

EXCHANGE = Exchange(b"", b"", b"", None, datetime(2026, 1, 1, tzinfo=UTC), timedelta(0))
PAGE = Fetched("https://a.test/", 200, (("Content-Type", "text/html"),), b"<p>x", EXCHANGE)


class SilentBrowser:
    """Takes every command and answers none."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        await asyncio.get_running_loop().create_future()
        raise AssertionError(method)


async def no_fetch(*_: object) -> FetchResult:
    raise AssertionError("nothing is requested")


def test_a_browser_that_does_not_open_a_page_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_session, "OPEN_TIMEOUT_S", 0.001)
    session = PageSession(SilentBrowser(), PAGE, no_fetch, RenderSettings(), screenshot=False)  # type: ignore[arg-type]
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(session.run(), 60))
    assert session.requests == []
