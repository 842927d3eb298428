"""Rendering as part of a visit: whether a page is rendered, and the requests of the browser at the pace of their sites.
The request of the page has ended before, so that its site can answer those of the browser."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

from evercrawl.core.document.html import parse_page
from evercrawl.core.embedded_state import (
    EmbeddedSample,
    compare_embedded,
    embedded_html,
    embedded_values,
    prose_paths,
    with_embedded,
)
from evercrawl.core.render_choice import (
    Evidence,
    PageSketch,
    RenderChoice,
    ScriptUse,
    SiteRendering,
    after_render,
    choose_rendering,
    evidence_in,
    gain_of,
    is_worth,
    site_rendering_bytes,
    site_rendering_of,
    sketch_of,
    visible_text,
)
from evercrawl.core.url import join
from evercrawl.core.visit.outcome import fresh_for
from evercrawl.engine.assets import PART_TYPES
from evercrawl.engine.decision import Policy
from evercrawl.engine.ports import Clock, Renderer
from evercrawl.engine.site_state import SiteState, SiteStates, StateKind
from evercrawl.model.fetch import (
    Failed,
    Fault,
    Fetched,
    FetchResult,
    Headers,
    Rendered,
    RenderFailed,
    RenderFault,
    RenderNote,
    RenderResult,
    Request,
    header,
)
from evercrawl.model.page import Page
from evercrawl.model.time import DAY_US, to_us

log = logging.getLogger("evercrawl")

RENDERING = StateKind("rendering", read=site_rendering_of, write=site_rendering_bytes, size=lambda _: 1)
CACHE_BYTES = 64 * 1024 * 1024  # Scripts, styles and other parts of pages in memory, in each process.
ASSET_LIFETIME = timedelta(hours=1)  # How long scripts, styles, fonts and images are used again within a run.
_OF_THE_BODY = frozenset(
    ("content-type", "content-length", "content-encoding", "transfer-encoding", "etag", "last-modified")
)
NO_BROWSER = frozenset((RenderFault.NO_BROWSER, RenderFault.NO_WALL))


class PartCache:
    """Fetches parts of pages, each at most once at a time; scripts, styles and images are kept for other pages.
    Invariant: the kept bodies take at most `CACHE_BYTES`."""

    def __init__(self, fetch: Callable[[Request], Awaitable[FetchResult]], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._kept: OrderedDict[Request, tuple[Fetched, datetime]] = OrderedDict()
        self._bytes = 0
        self._pending: dict[Request, asyncio.Future[FetchResult]] = {}

    async def get(self, request: Request) -> FetchResult:
        """Return a part of a page, from memory if it is fresh."""
        request = replace(request, obeys_robots=True)
        kept = self._kept.get(request)
        if kept is not None and kept[1] > self._clock.now():
            return kept[0]
        task = self._pending.get(request)
        if task is None:
            self._pending[request] = task = asyncio.ensure_future(self._fetch(request))
            task.add_done_callback(lambda _: self._pending.pop(request, None))
        # One page that is given up must not end the request for another.
        answer = await asyncio.shield(task)
        if isinstance(answer, Fetched) and answer.truncated is None:
            self._keep(request, answer)
        return answer

    def _keep(self, request: Request, answer: Fetched) -> None:
        lifetime = _lifetime(answer.headers) if request.post is None else timedelta(0)
        before = self._kept.pop(request, None)
        self._bytes -= len(before[0].body) if before is not None else 0
        if lifetime:
            self._bytes += len(answer.body)
            self._kept[request] = answer, self._clock.now() + lifetime
        while self._bytes > CACHE_BYTES:
            _, (dropped, _) = self._kept.popitem(last=False)
            self._bytes -= len(dropped.body)

    async def close(self) -> None:
        """End the requests that no page waits for any more."""
        pending = list(self._pending.values())
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def _lifetime(headers: Headers) -> timedelta:
    control = (header(headers, "cache-control") or "").lower()
    if "no-store" in control or header(headers, "vary") == "*":
        return timedelta(0)
    is_asset = (header(headers, "content-type") or "").lower().startswith(PART_TYPES)
    return max(fresh_for(headers), ASSET_LIFETIME if is_asset else timedelta(0))


class SharedRenderer:
    """The browser of a process, and the parts of pages that it has loaded."""

    def __init__(self, renderer: Renderer | None, parts: PartCache) -> None:
        """`renderer` None: there is no browser."""
        self._renderer = renderer
        self._parts = parts
        self._has_warned = False

    async def render(self, answer: Fetched, *, wants_screenshot: bool) -> RenderResult:
        """Return the document after its scripts ran; say once if there is no browser."""
        if self._renderer is None:
            return RenderFailed(RenderFault.NO_BROWSER, "rendering is switched off in this process")
        result = await self._renderer.render(answer, self._parts.get, wants_screenshot=wants_screenshot)
        if isinstance(result, RenderFailed) and result.fault in NO_BROWSER and not self._has_warned:
            self._has_warned = True
            log.warning("%s shows its content only with scripts. %s", answer.url, result.detail)
        return result

    async def close(self) -> None:
        """End the browser and its requests."""
        await self._parts.close()
        if self._renderer is not None:
            await self._renderer.close()


class PageRendering:
    """Renders the pages of one shard where it pays."""

    def __init__(
        self, renderer: SharedRenderer, states: SiteStates[SiteRendering], *, clock: Clock, policy: Policy
    ) -> None:
        self.states = states
        self._renderer = renderer
        self._clock = clock
        self._policy = policy
        self._sampling: dict[int, asyncio.Lock] = {}
        """By site: pages that are compared wait for each other, so that no more are compared than needed."""

    async def plan(self, page: Page, answer: Fetched) -> tuple[Evidence, RenderChoice]:
        """Return what speaks for rendering an answer, and whether to do it."""
        mode = self._policy.scope.selection(page.url).render or self._policy.settings.render.mode
        if mode == "never" or answer.truncated is not None:
            return Evidence(ScriptUse.NONE), RenderChoice(False)
        evidence = evidence_in(answer)
        if evidence.use is ScriptUse.NONE and mode != "always":
            return evidence, RenderChoice(False)
        state = await self.states.of(page.site_id)
        return evidence, choose_rendering(state.value, page.url, evidence, mode=mode, today=self._today())

    async def render(self, page: Page, answer: Fetched, evidence: Evidence, choice: RenderChoice) -> Fetched | Failed:
        """Return the page as rendered, or as it was fetched if scripts add nothing to it."""
        if choice.is_proven:
            return await self._render(page, answer, evidence, choice)
        async with self._sampling.setdefault(page.site_id, asyncio.Lock()):
            state = await self.states.of(page.site_id)
            choice = choose_rendering(state.value, page.url, evidence, mode="auto", today=self._today())
            if choice.should_render and not choice.is_proven:
                return await self._render(page, answer, evidence, choice)
        if choice.paths and (embedded := read_embedded(answer, choice.paths)) is not None:
            return embedded
        if choice.should_render or choice.paths:
            return await self._render(page, answer, evidence, choice)
        return not_rendered(answer, choice.why)

    async def _render(self, page: Page, answer: Fetched, evidence: Evidence, choice: RenderChoice) -> Fetched | Failed:
        result = await self._renderer.render(answer, wants_screenshot=self._policy.settings.render.screenshots)
        if isinstance(result, RenderFailed):
            return self._failed(page, answer, evidence, choice, result)
        state = await self.states.of(page.site_id)
        return self._compared(page, answer, evidence, choice, result, state)

    def _compared(
        self,
        page: Page,
        answer: Fetched,
        evidence: Evidence,
        choice: RenderChoice,
        result: Rendered,
        state: SiteState[SiteRendering],
    ) -> Fetched:
        rendered = _with_body(answer, result.dom)
        before, after = sketch_of(answer.headers, answer.body), sketch_of(rendered.headers, rendered.body)
        gain = gain_of(before, after, use=evidence.use)
        linked = {join(answer.url, link) for link in after.links} | {answer.url}
        gain = gain._replace(links=gain.links + len(set(result.links) - linked))
        is_gain = is_worth(gain, state.value, evidence, after.words.total())
        sample = _embedded_sample(answer, rendered, before, after, result.links)
        known = after_render(
            state.value, page.url, evidence, gain=gain, is_gain=is_gain, today=self._today(), sample=sample
        )
        self.states.update(page.site_id, known)
        if not (is_gain or choice.is_proven):
            return not_rendered(answer, f"compared with a browser: scripts add nothing ({gain})")
        detail = f"rendered: {choice.why} ({gain}; {len(result.requests):,} requests)"
        return replace(rendered, rendering=RenderNote(True, detail, links=result.links, screenshot=result.screenshot))

    def _failed(
        self, page: Page, answer: Fetched, evidence: Evidence, choice: RenderChoice, failed: RenderFailed
    ) -> Fetched | Failed:
        """Keep the page as it was fetched if that is worth anything; what a browser showed before is not replaced."""
        is_missing = failed.fault in NO_BROWSER
        lacks_content = evidence.use in (ScriptUse.SHELL, ScriptUse.GAP)
        was_rendered = page.version > 0 and (lacks_content or choice.is_proven)
        needs_browser = evidence.use is ScriptUse.SHELL or (evidence.use is ScriptUse.GAP and choice.is_proven)
        if was_rendered or (needs_browser and not is_missing):
            detail = f"not rendered: {failed.detail}"
            return Failed(
                page.url, Fault.RENDERING, detail, failed.took, answer.status, answer.headers, answer.exchange
            )
        if is_missing and (embedded := read_embedded(answer, None)) is not None:
            return embedded
        note = RenderNote(detail=f"not rendered: {failed.detail}", lacks_browser=evidence.use is ScriptUse.SHELL)
        return replace(answer, rendering=note)

    def _today(self) -> int:
        return to_us(self._clock.now()) // DAY_US


def _embedded_sample(
    answer: Fetched, rendered: Fetched, before: PageSketch, after: PageSketch, routes: tuple[str, ...]
) -> EmbeddedSample | None:
    values = embedded_values(parse_page(answer.headers, answer.body).tree)
    body = parse_page(rendered.headers, rendered.body).tree.body
    if not values or body is None:
        return None
    links = {*(after.links - before.links), *(route for route in routes if route != answer.url)}
    added = after.words - before.words
    return compare_embedded(values, url=answer.url, text=visible_text(body), added=added, links=links)


def read_embedded(answer: Fetched, paths: tuple[str, ...] | None) -> Fetched | None:
    """Return a page with the content of its data at some paths (None: what looks like content); None: it has none."""
    tree = parse_page(answer.headers, answer.body).tree
    values = embedded_values(tree)
    html = embedded_html(values, prose_paths(values) if paths is None else paths)
    if not html:
        return None
    note = RenderNote(True, "read without a browser: its content is in the page as data")
    return replace(_with_body(answer, with_embedded(tree, html)), rendering=note)


def not_rendered(answer: Fetched, why: str) -> Fetched:
    """Return an answer with why it was not rendered."""
    return replace(answer, rendering=RenderNote(detail=f"not rendered: {why}" if why else ""))


def _with_body(answer: Fetched, body: bytes) -> Fetched:
    """Return the answer with another document. It has no validators: an unchanged shell is no unchanged page."""
    own = tuple((name, value) for name, value in answer.headers if name.lower() not in _OF_THE_BODY)
    return replace(answer, headers=(*own, ("Content-Type", "text/html; charset=utf-8")), body=body)
