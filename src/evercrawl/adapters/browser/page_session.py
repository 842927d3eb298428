"""One page in a fresh context of a browser: its requests are answered, its clock is run, its document is taken."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from datetime import timedelta
from functools import cache
from html import escape
from importlib import resources
from typing import Any, NamedTuple

from evercrawl.adapters.browser.devtools import DevTools, DevToolsError, EventHandler, Params
from evercrawl.core.post_requests import PostRequest, post_refusal
from evercrawl.core.url import canonical, site_of
from evercrawl.engine.ports import FetchForPage
from evercrawl.model.fetch import (
    Failed,
    Fetched,
    FetchResult,
    Headers,
    Moved,
    NotModified,
    Rendered,
    RenderedRequest,
    RenderEnd,
    RenderFault,
    Request,
)
from evercrawl.model.settings import RenderSettings

WORLD = "evercrawl"  # Of our scripts, out of reach of those of the page.
_OPEN_ROOTS = """{
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (init) { return attach.call(this, {...init, mode: 'open'}); };
}"""  # The only script of ours beside those of the page: what is in closed shadow roots is content, too.
ANSWER_TIMEOUT_S = 5.0  # How long the browser may take for a command once scripts were stopped.
OPEN_TIMEOUT_S = 30.0  # How long it may take to open an empty page; a busy machine needs seconds.
TICK_S = 0.05
MORE_MS = 1500  # The page's time after a scroll or a press.
FRAME_MS = 100  # The page's time to notice what was drawn.
VIEW_MS = 500  # The page's time after a press or a change of the view.
MAX_VAIN_PRESSES = 2  # Of similar buttons in a row, before the others are left alone.
MAX_OPENERS = 5  # Buttons one inside the other, such as menus in menus.
MAX_SETTLES = 6  # How often to check again whether a loaded page still changes.
MAX_RELOADS = 2  # How often a page may load itself again; it gets the same answer.
MAX_COOKIE_CHARS = 4096  # Of all cookies that scripts of a page set; longer ones are not sent.
MAX_LINKS = 1000
MAX_LISTENERS = 2000  # Elements of a page whose listeners are noted.
WINDOW_HEIGHT = 1024
MAX_WINDOW_HEIGHT = 8000  # Higher pages are scrolled.
LOW_WINDOW_HEIGHT = 100
LOSSLESS, LOSSY = 100, 80  # Quality of screenshots. Differences of lossless ones are exact.
MAX_LOSSLESS_BYTES = 2_000_000  # A larger screenshot, such as one full of photographs, is taken again with loss.
_AGAIN = "pressAgain()"
_ROUTES = ("#/", "#!")  # How links to views begin; others may lead to places in the document that are missing.
_PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_NOT_SENT = frozenset({"user-agent", "referer", "origin", "cookie", "host", "content-length", "range", "connection"})
_NOT_SENT_PREFIXES = ("sec-", "accept-", "if-", "proxy-", "access-control-", "upgrade-", "cache-", "pragma")
_NOT_PASSED = frozenset({
    "content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie", "content-disposition",
    "strict-transport-security", "report-to", "nel", "reporting-endpoints", "alt-svc", "clear-site-data",
    "cross-origin-resource-policy", "speculation-rules",
})  # fmt: skip
_GRANTED = frozenset({
    "access-control-allow-origin", "access-control-allow-credentials", "access-control-allow-methods",
    "access-control-expose-headers",
})  # fmt: skip
_POINTED = {"click", *(kind + what for kind in ("mouse", "pointer") for what in ("down", "up", "enter", "over"))}
_DELEGATED = """[...document.querySelectorAll('*')].filter(one => Reflect.ownKeys(one).some(
    key => /click$/i.test(String(key)) || Object.hasOwn(Object(one[key]), 'click')))"""  # As Svelte and Solid note it.
_LISTENS = "function () { listeners.add(this); }"
_NEVER_SENT = frozenset({"ping", "cspviolationreport", "eventsource", "websocket", "signedexchange", "prefetch"})


@cache
def _scripts() -> str:
    return resources.files(__package__).joinpath("page_scripts.js").read_text("utf-8")


class _Button(NamedTuple):
    """An element that can be pressed."""

    key: str
    base: str  # Its look and label, which others may share.
    kind: str  # Buttons of one kind have the same place in a list, and their labels may differ.
    is_pressed: bool


def _way_back(key: str, openers: dict[str, str], found: Collection[str]) -> tuple[str, str]:
    """Return the next button on the way to a hidden one, and the one in sight that shows it; empty: there is none."""
    for _ in range(MAX_OPENERS):
        opener = openers.get(key, "")
        if opener in found:
            return key, opener
        key = opener
    return "", ""


class PageFault(Exception):
    """The page cannot be rendered; the browser should be replaced."""

    def __init__(self, fault: RenderFault, detail: str) -> None:
        super().__init__(detail)
        self.fault, self.detail = fault, detail


class PageSession:
    """Renders one page; `requests` tells what it asked for so far."""

    def __init__(
        self,
        devtools: DevTools,
        page: Fetched,
        fetch: FetchForPage,
        settings: RenderSettings,
        *,
        screenshot: bool,
        signed_in: frozenset[str] = frozenset(),
        known_buttons: dict[str, str] | None = None,
    ) -> None:
        """`known_buttons` of the site lead nowhere, or where is known; more are added, with the page that has them."""
        self._devtools, self._page, self._fetch, self._settings = devtools, page, fetch, settings
        self._wants_screenshot = screenshot
        self._signed_in = signed_in
        self._known_buttons = known_buttons if known_buttons is not None else {}
        self._views: dict[str, str] = {}
        self._is_uncovered = False  # What a press showed had been in the document, hidden.
        self._routes: dict[str, None] = {}
        self._shown_routes: set[str] = set()
        self._presses = 0
        self._posted: set[str] = set()
        self._is_pressed = False
        self._is_back = False  # It shows again what it has shown before.
        self._answers: dict[str, FetchResult] = {}
        self.requests: list[RenderedRequest] = []
        self._links: dict[str, None] = {}
        self._shown_url = page.url
        self._context = self._target = self._session = ""
        self._world = 0
        self._documents = 0
        self._loaded_bytes = 0
        self._fetches: set[asyncio.Task[None]] = set()
        self._busy_s = self._fetching_s = 0.0
        self._expired = asyncio.Event()
        self._fault: BaseException | None = None  # Ends the page; also an error of our own client.
        self._listening: set[int] = set()

    async def run(self) -> Rendered:
        """Render the page; raise PageFault, or DevToolsError if the browser ends."""
        began = time.monotonic()
        async with asyncio.timeout(OPEN_TIMEOUT_S):
            await self._open()
        try:
            ended = await self._load()
            dom = await self._snapshot()
            behaviours: tuple[str, ...] = ()
            screenshot = None
            try:
                if ended is not RenderEnd.TIMEOUT:
                    self._busy_s -= self._settings.max_scroll_time.total_seconds()
                    dom, behaviours = await self._see_more(dom, self._snapshot)
                screenshot = await self._capture() if self._wants_screenshot else None
                if ended is not RenderEnd.TIMEOUT and site_of(self._page.url) not in self._signed_in:
                    await self._explore()
            except PageFault as error:
                if error.fault is not RenderFault.HUNG:
                    raise
                ended = RenderEnd.TIMEOUT  # What it showed before is content.
            dom = await self._with_views(dom)
        finally:
            await self._close()
        return Rendered(
            url=self._shown_url,
            dom=dom,
            links=tuple(self._links),
            requests=tuple(self.requests),
            took=timedelta(seconds=time.monotonic() - began),
            ended=ended,
            behaviours=behaviours,
            screenshot=screenshot,
        )

    async def _open(self) -> None:
        call = self._devtools.call
        self._devtools.handlers[""] = self._on_browser_event
        self._context = (await call("Target.createBrowserContext", disposeOnDetach=True))["browserContextId"]
        self._devtools.send("Browser.setDownloadBehavior", behavior="deny", browserContextId=self._context)
        created = await call("Target.createTarget", url="about:blank", browserContextId=self._context)
        self._target = created["targetId"]
        attached = await call("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        self._devtools.handlers[self._session] = self._on_page_event
        await asyncio.gather(
            self._send("Page.enable"),
            self._send("Inspector.enable"),
            self._resize(WINDOW_HEIGHT),
            self._send("Page.addScriptToEvaluateOnNewDocument", source=_scripts(), worldName=WORLD),
            self._send("Page.addScriptToEvaluateOnNewDocument", source=_OPEN_ROOTS),
            self._send("Emulation.setVirtualTimePolicy", policy="pause"),
        )

    async def _close(self) -> None:
        for task in self._fetches:
            task.cancel()
        self._devtools.handlers.pop(self._session, None)
        self._devtools.handlers[""] = refuse_requests(self._devtools)
        if self._context:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await self._devtools.call("Target.disposeBrowserContext", browserContextId=self._context)

    def _send(self, method: str, **params: Any) -> asyncio.Future[Params]:
        return self._devtools.send(method, session=self._session, **params)

    # Loading and time

    async def _load(self) -> RenderEnd:
        """Load the page and let its clock run; return why waiting ended."""
        navigated = self._send("Page.navigate", url=self._page.url)
        if not await self._wait_for(navigated):
            raise PageFault(RenderFault.HUNG, "the page did not start to load in time")
        if problem := navigated.result().get("errorText"):
            raise PageFault(RenderFault.NOT_SHOWN, f"the browser did not show the page: {problem}")
        if not await self._advance(self._settings.page_time / timedelta(milliseconds=1)):
            self._send("Runtime.terminateExecution")
            self._send("Page.stopLoading")
            return RenderEnd.TIMEOUT
        return RenderEnd.QUIET if await self._settle() else RenderEnd.BUDGET

    async def _settle(self) -> bool:
        """Draw the page and let its clock run until that changes nothing any more; return False if it always does.
        No real time is measured, so that a slow machine sees what a fast one does."""
        quiet_ms = self._settings.quiet / timedelta(milliseconds=1)
        before = await self._activity()
        for _ in range(MAX_SETTLES):
            await self._draw()
            if not await self._advance(quiet_ms):
                return False
            after = await self._activity()
            if after == before and after[1]:
                return True
            before = after
        return False

    async def _activity(self) -> tuple[int, bool, int]:
        changes, is_loaded = await self._evaluate("activity()")
        return changes, is_loaded, len(self.requests) + len(self._fetches)

    async def _advance(self, budget_ms: float) -> bool:
        """Let the clock of the page run; return whether it got there within the limits."""
        self._expired.clear()
        self._send("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending", budget=budget_ms)
        expired = asyncio.ensure_future(self._expired.wait())
        try:
            return await self._wait_for(expired)
        finally:
            expired.cancel()

    async def _wait_for(self, event: asyncio.Future[Any]) -> bool:
        """Wait within the limits of a page; time in which a request of ours is open counts separately."""
        while not event.done():
            if self._devtools.closed.done():
                raise DevToolsError("the browser has ended")
            if self._fault is not None:
                raise self._fault
            if self._is_over():
                return False
            began, is_fetching = time.monotonic(), bool(self._fetches)
            await asyncio.wait({event}, timeout=TICK_S)
            spent = time.monotonic() - began
            if is_fetching:
                self._fetching_s += spent
            else:
                self._busy_s += spent
        return True

    def _is_over(self) -> bool:
        settings = self._settings
        is_late = self._fetching_s >= settings.max_fetch_time.total_seconds()
        return is_late or self._busy_s >= settings.max_time.total_seconds()

    # The document

    async def _evaluate(self, script: str) -> Any:
        """Run a script in our own world; raise PageFault if the page does not let it."""
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                answer = await self._evaluate_once(script)
                if answer is None:
                    answer = await self._evaluate_once(script)
        except TimeoutError as error:
            raise PageFault(RenderFault.HUNG, "the page did not let the browser answer") from error
        if answer is None:
            raise PageFault(RenderFault.HUNG, "the page loaded itself again and again")
        return answer["result"].get("value")

    async def _evaluate_once(self, script: str) -> Params | None:
        """Return the answer to a script; None: the document was replaced meanwhile."""
        if not self._world:
            made = await self._send("Page.createIsolatedWorld", frameId=self._target, worldName=WORLD)
            self._world = made["executionContextId"]
        world = self._world
        try:
            return await self._send("Runtime.evaluate", expression=script, contextId=world, returnByValue=True)
        except DevToolsError:
            if self._devtools.closed.done():
                raise
            self._world = 0 if self._world == world else self._world
            return None

    async def _draw(self) -> None:
        """Wait until the page was drawn, within a limit: a page that hides itself is never drawn."""
        drawn = self._send("Runtime.evaluate", expression="draw()", contextId=self._world, awaitPromise=True)
        began = time.monotonic()
        await asyncio.wait({drawn}, timeout=ANSWER_TIMEOUT_S)
        self._busy_s += time.monotonic() - began

    async def _snapshot(self) -> bytes:
        return await self._document("snapshot")

    async def _document(self, function: str) -> bytes:
        most = self._settings.max_dom_bytes
        html = await self._evaluate(f"{function}({most})")
        dom = html.encode("utf-8", "replace") if isinstance(html, str) else None
        if dom is None or len(dom) > most:
            raise PageFault(RenderFault.TOO_LARGE, f"the rendered document has more than {most:,} bytes")
        return dom

    async def _see_more(self, seen: Any, take: Callable[[], Awaitable[Any]]) -> tuple[Any, tuple[str, ...]]:
        """Scroll and press `Load more` while the document grows; return what `take` sees then, and what was done."""
        size = await self._evaluate("collect()")
        scrolls = await self._scroll(size)
        if scrolls:
            seen = await take()
        presses = 0
        if site_of(self._page.url) in self._signed_in:  # A press may change something there.
            return seen, (f"scroll {scrolls}",) if scrolls else ()
        while presses < self._settings.max_clicks and await self._evaluate("findMore()"):
            self._is_pressed = True
            if take == self._snapshot:
                await self._evaluate("watchView()")
            await self._evaluate("pressMore()")
            if not await self._advance(MORE_MS):
                break
            if not await self._evaluate("hasGrown()"):
                is_shown = take == self._snapshot and not await self._evaluate("hasLost()")
                view = await self._changed_view() if is_shown else None
                if view is not None and view["more"]:  # It is no `Load more`, but shows something all the same.
                    await self._keep_view(f"press {len(self._views) + 1}", view["html"])
                break
            seen, presses = await take(), presses + 1
        done = (("scroll", scrolls), ("load_more", presses))
        return seen, tuple(f"{name} {count}" for name, count in done if count)

    async def _scroll(self, size: int) -> int:
        """Show all of the page, then its end again and again; return how often it grew."""
        grown = moves = 0
        while moves < self._settings.max_scrolls and not self._is_over():
            moves, before = moves + 1, size
            height = await self._evaluate("height()")
            await self._evaluate("toTop()")
            await self._resize(max(WINDOW_HEIGHT, min(height, MAX_WINDOW_HEIGHT)))
            await self._evaluate("tellScroll()")
            await self._look()
            while moves < self._settings.max_scrolls and await self._evaluate("scrollDown()"):
                if self._is_over():
                    break
                moves += 1
                await self._look()
            await self._resize(LOW_WINDOW_HEIGHT)  # Pages notice what comes into view only if it was out of view.
            await self._evaluate("toTop()")
            await self._draw()
            await self._advance(FRAME_MS)
            await self._evaluate("toEnd()")
            size = await self._look()
            if size <= before:
                break
            grown += 1
        return grown

    async def _look(self) -> int:
        """Give the page time to show what came into view; return how much it has shown."""
        await self._wait_drawn(MORE_MS)
        size: int = await self._evaluate("collect()")
        return size

    async def _wait_drawn(self, budget_ms: float, *, least: int = 1) -> None:
        """Draw the page and let its clock run; again while it gets something, which it may show only when
        it is drawn next."""
        before = await self._activity()
        for number in range(1, MAX_SETTLES + 1):
            await self._draw()
            if not await self._advance(budget_ms if number == 1 else FRAME_MS):
                break
            after = await self._activity()
            if after[2] == before[2] and number >= least:
                break
            before = after

    async def _resize(self, height: int) -> None:
        width = self._settings.screenshot_width
        await self._send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    async def _explore(self) -> None:
        """Keep the views that the page's own links and buttons show; those with a URL become links."""
        await self._show_routes()
        await self._press_buttons()
        await self._show_routes()  # Those that only buttons lead to.

    async def _with_views(self, dom: bytes) -> bytes:
        """Return the document with the views that were kept: where they were seen, or else at its end."""
        if (self._views or self._is_uncovered) and not self._is_over():
            with suppress(PageFault):
                return await self._document("wholeDocument")
        for name, html in self._views.items():
            section = f'<section data-view="{escape(name)}">{html}</section>'.encode("utf-8", "replace")
            if len(dom) + len(section) > self._settings.max_dom_bytes:
                break
            head, end, tail = dom.rpartition(b"</body>")
            dom = head + section + end + tail
        return dom

    async def _keep_view(self, name: str, html: str) -> None:
        self._views[name] = html
        await self._evaluate(f"keepView({json.dumps(name)})")

    async def _show_routes(self) -> None:
        """Keep the views behind links such as `#/about`, which all belong to this page, and what their buttons show."""
        await self._find_routes()
        first = len(self._shown_routes)
        vain = 0
        while len(self._shown_routes) < self._settings.max_views and not self._is_over():
            route = next((one for one in self._routes if one not in self._shown_routes), None)
            if route is None:
                break
            self._shown_routes.add(route)
            is_path = route.startswith(_ROUTES)
            if not is_path and vain >= MAX_VAIN_PRESSES:  # Links to places that are not there.
                continue
            # Routers hear of it later, and some show the new view only when the page is drawn next.
            view = await self._view_after(f"location.hash = {json.dumps(route)}", rounds=2, is_complete=True)
            if view is not None and view["more"]:
                vain = 0
                await self._keep_view(route, view["html"])
                await self._press_buttons()
            else:
                vain += not is_path
            await self._find_routes()
        if len(self._shown_routes) > first:
            await self._view_after("location.hash = ''")

    async def _find_routes(self) -> None:
        """Note the links to other views of the same document, and those that a button showed."""
        shown = (url.partition("#") for url in (*self._links, self._shown_url))
        own = [f"#{route}" for url, _, route in shown if url == self._page.url and route]
        if not self._routes:
            self._routes |= dict.fromkeys(("#/", "#!/", *own))
            self._shown_routes.update(self._routes)
        if len(self._routes) < MAX_LINKS:
            self._routes |= dict.fromkeys(await self._evaluate(f"hashRoutes({json.dumps(own)})"))

    async def _press_buttons(self) -> None:
        """Press what is no link: a new URL is noted as a link, and other content that appears is kept.
        What a press shows is pressed next; if it went with a change of the view, it is shown again."""
        await self._note_listeners()
        self._is_pressed = True
        view = await self._view_after("hover()")  # What is shown as long as the pointer is there.
        if view is not None and view["more"]:
            await self._keep_view("hover", view["html"])
        vain: Counter[str] = Counter()
        done: set[str] = set()
        openers: dict[str, str] = {}  # Of each button that was found, the one whose press showed it.
        waiting: dict[str, _Button] = {}
        last = lost = ""
        while self._presses < self._settings.max_clicks and not self._is_over():
            await self._note_listeners()
            found = {one[0]: _Button(*one) for one in await self._evaluate("findPressable()")}
            if lost and lost not in found:
                vain[last] += 1
                done.add(lost)
            fresh = {key: one for key, one in found.items() if key not in openers}
            openers |= dict.fromkeys(fresh, last)
            waiting = {key: one for key, one in (fresh | waiting).items() if not self._is_settled(one, done, vain)}
            lost, key = "", next((key for key in waiting if key in found and not found[key].is_pressed), "")
            if not key:
                ways = (_way_back(key, openers, found) for key in waiting if key not in found)
                lost, key = next((one for one in ways if one[1] and vain[one[1]] < MAX_VAIN_PRESSES), ("", ""))
            if not key:
                break
            done.add(key)
            last = key
            if not await self._press(found[key], Counter() if lost else vain):
                break

    async def _note_listeners(self) -> None:
        """Tell our scripts which elements the page listens to: not all of them look as if they could be pressed."""
        world, nodes = self._world, self._listening
        with suppress(DevToolsError, TimeoutError):  # The document was replaced meanwhile, or is busy.
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                top = await self._send("Runtime.evaluate", expression="document", contextId=world)
                number = top["result"]["objectId"]
                found = await self._send("DOMDebugger.getEventListeners", objectId=number, depth=-1, pierce=True)
                fresh = {one["backendNodeId"] for one in found["listeners"] if one["type"] in _POINTED}
                listed = (await self._send("Runtime.evaluate", expression=_DELEGATED))["result"].get("objectId", "")
                shown = (await self._send("Runtime.getProperties", objectId=listed, ownProperties=True))["result"]
                numbers = [one["value"]["objectId"] for one in shown if "objectId" in one.get("value", ())]
                for answer in [self._send("DOM.describeNode", objectId=one) for one in numbers[:MAX_LISTENERS]]:
                    with suppress(DevToolsError):
                        fresh.add((await answer)["node"]["backendNodeId"])
                fresh -= nodes
                fresh = {*sorted(fresh)[:MAX_LISTENERS]}
                nodes |= fresh
                for answer in [
                    self._send("DOM.resolveNode", backendNodeId=one, executionContextId=world) for one in fresh
                ]:
                    with suppress(DevToolsError):
                        element = (await answer)["object"]["objectId"]
                        self._send("Runtime.callFunctionOn", functionDeclaration=_LISTENS, objectId=element)

    def _is_settled(self, button: _Button, done: set[str], vain: Counter[str]) -> bool:
        known = self._known_buttons
        is_known = button.key in known or button.base in known
        return is_known or button.key in done or vain[button.kind] >= MAX_VAIN_PRESSES

    async def _press(self, button: _Button, vain: Counter[str]) -> bool:
        """Press a button, and again while that shows the next part of something; return whether the page is still
        where it was."""
        script = f"press({json.dumps(button.key)})"
        while self._presses < self._settings.max_clicks and not self._is_over():
            self._presses += 1
            self._is_pressed = True
            links, before, entry = len(self._links), self._shown_url, await self._evaluate("entryIndex()")
            view = await self._view_after(script)
            if self._shown_url != before and await self._evaluate("entryIndex()") != entry:
                self._note_target(button.key, self._shown_url)
                vain[button.kind] = 0
                self._is_back = True
                await self._view_after("history.back()")
                self._is_back = False
                return self._shown_url == before
            if self._shown_url == before and len(self._links) > links:
                self._note_target(button.key, next(reversed(self._links)))
                return True
            if view is None or not view["more"] or view["html"] in self._views.values():
                if script != _AGAIN and (view is None or not view["uncovered"]):
                    self._note_vain(button)
                    vain[button.kind] += 1
                return True
            self._known_buttons[f"+{button.base}"], vain[button.kind] = "", 0
            await self._keep_view(f"press {len(self._views) + 1}", view["html"])
            if not (view["is_next"] and await self._evaluate(f"canRepeat({json.dumps(button.key)})")):
                return True
            script = _AGAIN
        return True

    def _note_target(self, key: str, target: str) -> None:
        """Note where a button leads. If two pages have it, and it leads to the same place, it is known."""
        place = f"{key}|{target}"
        if self._known_buttons.setdefault(place, self._page.url) != self._page.url:
            self._known_buttons[key] = ""

    def _note_vain(self, button: _Button) -> None:
        """Note a button that shows nothing. If two pages have it, and no page where it does, it is known."""
        known = self._known_buttons
        is_vain = f"+{button.base}" not in known
        if is_vain and known.setdefault(f"-{button.base}", self._page.url) != self._page.url:
            known[button.base] = ""

    async def _view_after(self, script: str, *, rounds: int = 1, is_complete: bool = False) -> Params | None:
        """Run a script that may change the view; return the part that changed. `rounds`: how often to draw it;
        `is_complete`: with what scrolling and `Load more` show."""
        await self._evaluate("watchView()")
        await self._evaluate(script)
        await self._wait_drawn(VIEW_MS, least=rounds)
        view = await self._changed_view()
        if view is not None and is_complete:
            view, _ = await self._see_more(view, self._changed_view)
        return view

    async def _changed_view(self) -> Params | None:
        view: Params | None = await self._evaluate("globalThis.changedView?.()")
        self._is_uncovered |= view is not None and view["uncovered"] > 0
        return view

    async def _capture(self) -> bytes | None:
        """Return a picture of the whole page; None: the browser could not draw it in time."""
        await self._evaluate("toTop()")
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await self._resize(WINDOW_HEIGHT)
                layout = await self._send("Page.getLayoutMetrics")
                width, height = self._settings.screenshot_width, layout["cssContentSize"]["height"]
                height = max(1, min(height, self._settings.screenshot_height))
                clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
                options = {"format": "webp", "captureBeyondViewport": True, "clip": clip}
                taken = await self._send("Page.captureScreenshot", quality=LOSSLESS, **options)
                if len(taken["data"]) > MAX_LOSSLESS_BYTES * 4 / 3:  # It is in base 64.
                    taken = await self._send("Page.captureScreenshot", quality=LOSSY, **options)
        except (TimeoutError, DevToolsError):
            return None
        return base64.b64decode(taken["data"])

    # Events

    def _on_page_event(self, method: str, params: Params) -> None:
        match method:
            case "Emulation.virtualTimeBudgetExpired":
                self._expired.set()
            case "Page.javascriptDialogOpening":
                self._send("Page.handleJavaScriptDialog", accept=False)
            case "Page.frameNavigated" if "parentId" not in params["frame"]:
                self._world, self._listening = 0, set()  # They went with the document, as after a reload.
            case "Page.navigatedWithinDocument" if params["frameId"] == self._target:
                self._shown_url = params["url"]
                self._add_link(params["url"])
            case "Page.windowOpen":
                self._add_link(params["url"])
            case "Inspector.targetCrashed":
                self._fault = PageFault(RenderFault.CRASHED, "the page ended its process")

    def _add_link(self, url: str) -> None:
        if url.startswith(("http://", "https://")) and len(self._links) < MAX_LINKS:
            self._links[url] = None

    def _on_browser_event(self, method: str, params: Params) -> None:
        if method == "Fetch.requestPaused":
            task = asyncio.ensure_future(self._answer(params))
            self._fetches.add(task)
            task.add_done_callback(self._on_answered)

    def _on_answered(self, task: asyncio.Task[None]) -> None:
        self._fetches.discard(task)
        if not task.cancelled() and (problem := task.exception()):
            self._fault = self._fault or problem

    # Requests

    async def _answer(self, paused: Params) -> None:
        """Answer one request of the page; nothing ever continues to the network."""
        number, request, kind = paused["requestId"], paused["request"], _kind(paused)
        url, method = request["url"], request["method"]
        is_main = kind == "document" and paused.get("frameId") == self._target
        if is_main and url.partition("#")[0] == self._page.url and self._documents <= MAX_RELOADS:
            self._documents += 1
            if self._documents > 1:
                await self._load_with_cookies()
            self._fulfil(number, self._page.status, self._page.headers, self._page.body, origin=None)
            return
        if kind == "icon" or _is_prefetch(request["headers"]):
            self._devtools.send("Fetch.failRequest", requestId=number, errorReason="Aborted")
            return
        origin = _field(request["headers"], "origin")
        if method == "OPTIONS":
            wanted = _field(request["headers"], "access-control-request-headers") or "*"
            self._fulfil(number, 204, (("Access-Control-Allow-Headers", wanted),), b"", origin=origin)
            return
        if is_main:
            self._add_link(url)
        post = _post(request, kind) if method == "POST" else None
        if refusal := self._refusal(url, method, kind, is_main=is_main) or self._post_refusal(post):
            self._refuse(paused, refusal)
            return
        if kind == "image" and self._is_skipped(kind):
            self._note(paused, None, "images are skipped")
            self._fulfil(number, 200, (("Content-Type", "image/gif"),), _PIXEL, origin=origin)
            return
        if self._is_back and post is None and url in self._answers:
            self._pass_on(paused, self._answers[url], origin)
            return
        target = canonical(url)
        assert target is not None
        result = await self._fetch(
            Request(
                target,
                body_limit=self._settings.max_body_bytes,
                headers=_sent_headers(request["headers"]),
                post=None if post is None else post.body,
            )
        )
        if post is None:
            self._answers[url] = result
        self._pass_on(paused, result, origin)

    async def _load_with_cookies(self) -> None:
        """Request a page that loads itself again with the cookies that its scripts set: some servers ask for them."""
        cookies = (await self._send("Network.getCookies", urls=[self._page.url]))["cookies"]
        field = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies)
        if not field or len(field) > MAX_COOKIE_CHARS or site_of(self._page.url) in self._signed_in:
            return
        limit = self._settings.max_body_bytes
        match await self._fetch(Request(self._page.url, body_limit=limit, headers=(("Cookie", field),))):
            case Fetched(truncated=None) as answer:
                self._page = answer
            case Moved(target=target):
                self._add_link(target)

    def _refusal(self, url: str, method: str, kind: str, *, is_main: bool) -> str:
        """Return why a request is not sent; empty: it is."""
        settings = self._settings
        if is_main:
            return "the page went on to another one, which is a link"
        if method not in ("GET", "POST"):
            return f"{method} is not sent: it may change something"
        if kind in _NEVER_SENT:
            return f"{kind} is not sent"
        if kind != "image" and self._is_skipped(kind):
            return f"files of type {kind} are skipped"
        if not url.startswith(("http://", "https://")) or canonical(url) is None:
            return "not a URL of the web"
        if len(self.requests) >= settings.max_requests:
            return f"more than {settings.max_requests} requests (render.max_requests)"
        if self._loaded_bytes >= settings.max_bytes:
            return f"more than {settings.max_bytes:,} bytes (render.max_bytes)"
        return ""

    def _post_refusal(self, post: PostRequest | None) -> str:
        if post is None:
            return ""
        if not self._settings.post:
            return "POST is not sent (render.post)"
        if refusal := post_refusal(
            post, self._page.url, signed_in=self._signed_in, posted=self._posted, is_pressed=self._is_pressed
        ):
            return refusal
        self._posted.add(post.url)
        return ""

    def _is_skipped(self, kind: str) -> bool:
        return kind in self._settings.skip and not self._wants_screenshot

    def _pass_on(self, paused: Params, result: FetchResult, origin: str | None) -> None:
        """Give the browser what our client got."""
        number = paused["requestId"]
        match result:
            case Fetched(truncated=None, status=status, headers=headers, body=body):
                self._loaded_bytes += len(body)
                self._note(paused, status)
                self._fulfil(number, status, headers, body, origin=origin)
            case Moved(status=status, target=target):
                self._note(paused, status)
                self._fulfil(number, status, (("Location", target),), b"", origin=origin)
            case Failed(status=int(status), headers=headers):
                self._note(paused, status)
                self._fulfil(number, status, headers, b"", origin=origin)
            case Failed(fault=fault, detail=detail):
                self._refuse(paused, f"{fault}: {detail}")
            case Fetched():
                self._refuse(paused, f"more than {self._settings.max_body_bytes:,} bytes (render.max_body_bytes)")
            case NotModified():
                self._refuse(paused, "not modified, although we did not ask")

    def _note(self, paused: Params, status: int | None, refused: str = "") -> None:
        request = paused["request"]
        if len(self.requests) <= self._settings.max_requests:
            self.requests.append(RenderedRequest(request["url"], request["method"], _kind(paused), status, refused))

    def _refuse(self, paused: Params, reason: str) -> None:
        self._note(paused, None, reason)
        # Of all reasons only this one leaves the document of a refused navigation in place.
        self._devtools.send("Fetch.failRequest", requestId=paused["requestId"], errorReason="Aborted")

    def _fulfil(self, number: str, status: int, headers: Headers, body: bytes, *, origin: str | None) -> None:
        fields = [(name, value) for name, value in headers if name.lower() not in _NOT_PASSED and value.isascii()]
        if origin is not None:
            # Without cookies of ours there is nothing that the rules between sites would protect.
            fields = [(name, value) for name, value in fields if name.lower() not in _GRANTED]
            fields += [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true")]
            fields += [
                ("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"),
                ("Access-Control-Expose-Headers", "*"),
            ]
        self._devtools.send(
            "Fetch.fulfillRequest",
            requestId=number,
            responseCode=status,
            responseHeaders=[{"name": name, "value": value} for name, value in fields],
            body=base64.b64encode(body).decode("ascii"),
        )


def _kind(paused: Params) -> str:
    """Return the type of the file; `other` with only images accepted is the icon of the page."""
    kind: str = paused["resourceType"].lower()
    accepted = _field(paused["request"]["headers"], "accept") or ""
    return "icon" if kind == "other" and accepted.startswith("image/") else kind


def _post(request: Params, kind: str) -> PostRequest:
    """Return a POST request as DevTools describes it; a body that it keeps to itself is a file."""
    entries = request.get("postDataEntries", ())
    body = b"".join(base64.b64decode(entry.get("bytes", "")) for entry in entries)
    content_type = _field(request["headers"], "content-type") or "text/plain"
    is_complete = not request.get("hasPostData") or body
    return PostRequest(request["url"], kind if is_complete else "upload", content_type, body)


def _is_prefetch(headers: dict[str, str]) -> bool:
    """Return whether a router loads a link in advance, which costs the site requests and shows nothing."""
    purpose = (_field(headers, "sec-purpose") or _field(headers, "purpose") or "").lower()
    return "prefetch" in purpose or any("prefetch" in name.lower() for name in headers)


def _field(headers: dict[str, str], name: str) -> str | None:
    return next((value for sent, value in headers.items() if sent.lower() == name), None)


def _sent_headers(headers: dict[str, str]) -> Headers:
    """Return the fields that a script set, and what it accepts; the rest is what our client says itself."""
    return tuple(
        (name, value)
        for name, value in headers.items()
        if name.lower() not in _NOT_SENT and not name.lower().startswith(_NOT_SENT_PREFIXES)
    )


def refuse_requests(devtools: DevTools) -> EventHandler:
    """Return a handler for the time between two pages, when every request is refused."""

    def refuse(method: str, params: Params) -> None:
        if method == "Fetch.requestPaused":
            devtools.send("Fetch.failRequest", requestId=params["requestId"], errorReason="Aborted")

    return refuse
