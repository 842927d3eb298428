"""Renders pages in a few browsers, one page at a time in each, and replaces what crashes, hangs or gets old."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from evercrawl.adapters.browser.devtools import DevToolsError
from evercrawl.adapters.browser.launch import BrowserProcess, BrowserUnavailable, start_browser
from evercrawl.adapters.browser.page_session import OPEN_TIMEOUT_S, PageFault, PageSession, refuse_requests
from evercrawl.core.url import site_of
from evercrawl.engine.ports import FetchForPage
from evercrawl.model.fetch import Fetched, Rendered, RenderFailed, RenderFault, RenderResult
from evercrawl.model.settings import RenderSettings

MAX_ATTEMPTS = 2  # A page that ends this many browsers is at fault itself.
MEMORY_CHECK_S = 0.1
MAX_BUTTONS = 10_000  # Buttons of all sites that are remembered.


@dataclass(slots=True)
class _Browser:
    process: BrowserProcess
    pages: int = 0
    is_too_large: bool = False

    async def watch_memory(self, most: int) -> None:
        """Kill the browser once it needs too much."""
        while True:
            self.is_too_large = await asyncio.to_thread(self.process.memory) > most
            if self.is_too_large:
                await self.process.end()
                return
            await asyncio.sleep(MEMORY_CHECK_S)


class ChromiumRenderer:
    """The renderer with Chromium. Browsers start when they are needed; a page never shares one with another page."""

    def __init__(
        self, settings: RenderSettings, *, languages: str | None = None, signed_in: Collection[str] = ()
    ) -> None:
        """`signed_in`: sites with credentials, to which pages may send nothing."""
        self._settings = settings
        self._languages = languages
        self._signed_in = frozenset(signed_in)
        self._buttons: dict[str, dict[str, str]] = {}
        self._slots = asyncio.Semaphore(settings.browsers)
        self._idle: list[_Browser] = []
        self._unavailable: BrowserUnavailable | None = None  # The first start failed, so that others would as well.
        self._has_started = False

    async def render(self, page: Fetched, fetch: FetchForPage, *, wants_screenshot: bool = False) -> RenderResult:
        """Return the document after its scripts ran."""
        async with self._slots:
            for _ in range(MAX_ATTEMPTS):
                result = await self._render_once(page, fetch, wants_screenshot=wants_screenshot)
                if isinstance(result, Rendered) or result.fault is not RenderFault.CRASHED:
                    break
        return result

    async def _render_once(self, page: Fetched, fetch: FetchForPage, *, wants_screenshot: bool) -> RenderResult:
        try:
            browser = self._idle.pop() if self._idle else await self._start()
        except BrowserUnavailable as error:
            return RenderFailed(error.fault, error.detail)
        began = time.monotonic()
        session = PageSession(
            browser.process.devtools,
            page,
            fetch,
            self._settings,
            screenshot=wants_screenshot,
            signed_in=self._signed_in,
            known_buttons=self._buttons_of(site_of(page.url)),
        )
        watch = asyncio.ensure_future(browser.watch_memory(self._settings.max_memory))
        rendered: Rendered | None = None
        try:
            rendered = await session.run()
            return rendered
        except (PageFault, DevToolsError, TimeoutError) as error:
            fault, detail = self._fault_of(browser, error)
            took = timedelta(seconds=time.monotonic() - began)
            return RenderFailed(fault, detail, tuple(session.requests), took)
        finally:
            watch.cancel()
            browser.pages += 1
            if rendered is not None and browser.pages < self._settings.pages_per_browser:
                self._idle.append(browser)
            else:
                await browser.process.end()

    def _buttons_of(self, site: str) -> dict[str, str]:
        """Return the buttons of a site that need not be pressed again."""
        if sum(map(len, self._buttons.values())) > MAX_BUTTONS:
            self._buttons.clear()
        return self._buttons.setdefault(site, {})

    def _fault_of(self, browser: _Browser, error: Exception) -> tuple[RenderFault, str]:
        if browser.is_too_large:
            return RenderFault.MEMORY, f"more than {self._settings.max_memory:,} bytes of memory (render.max_memory)"
        if isinstance(error, PageFault):
            return error.fault, error.detail
        if isinstance(error, TimeoutError):
            return RenderFault.HUNG, "the browser did not answer"
        return RenderFault.CRASHED, str(error)

    async def _start(self) -> _Browser:
        if self._unavailable is not None:
            raise self._unavailable
        try:
            process = await start_browser(self._settings.browser, languages=self._languages)
        except BrowserUnavailable as error:
            self._unavailable = None if self._has_started else error
            raise
        self._has_started = True
        process.devtools.handlers[""] = refuse_requests(process.devtools)
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                await process.devtools.call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        except (DevToolsError, TimeoutError) as error:
            await process.end()
            said = str(error) or "it did not answer"
            raise BrowserUnavailable(RenderFault.NO_BROWSER, f"the browser failed at its start: {said}") from error
        return _Browser(process)

    async def close(self) -> None:
        """End every idle browser; those at work end with their page."""
        self._unavailable = BrowserUnavailable(RenderFault.NO_BROWSER, "the renderer is closed")
        while self._idle:
            await self._idle.pop().process.end()
