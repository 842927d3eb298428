"""Serve a folder of collections: one origin, turns for crawls that are watched, and alerts of every collection."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evercrawl.collection.alerts.delivery_run import deliver_once
from evercrawl.collection.alerts.subscriptions import WebsubClient, callback_url_at
from evercrawl.collection.folder import CollectionSummary, WatchTurn, collections_in, finish_removals, next_turns
from evercrawl.config import read_settings
from evercrawl.config.load import outbox_path
from evercrawl.config.trust import find_distrust, trust_collection
from evercrawl.errors import CollectionBusy, EvercrawlError, StoreUnavailable
from evercrawl.model.settings import Settings
from evercrawl.web.access_control import AccessMiddleware
from evercrawl.web.app import (
    api_page,
    build_routes,
    find_handler,
    login_routes,
    openapi_handler,
    protocol_routes,
    require_scope,
    resource_routes,
    threaded_handlers,
)
from evercrawl.web.auth import AUTH_FILE
from evercrawl.web.endpoints import action_endpoint, view_endpoint
from evercrawl.web.login import LoginPages
from evercrawl.web.open_collections import (
    FolderCrawls,
    FolderOrigins,
    FolderReplay,
    FolderRouter,
    FolderState,
    FolderSurvey,
    OpenCollections,
    base_of,
    collection_opener,
)
from evercrawl.web.openapi import OPENAPI_PATH, openapi_document
from evercrawl.web.pages.collections import (
    FOLDER_ACTIONS,
    FOLDER_HANDLERS,
    FOLDER_PROTOCOLS,
    FOLDER_RESOURCES,
    FOLDER_VIEWS,
    find_anywhere,
)
from evercrawl.web.protocols.streams import healthz
from evercrawl.web.replay import ReplayMiddleware, forbid_crawlers, health
from evercrawl.web.serve import RENEW_EVERY_S, WebService
from evercrawl.web.views import operations

log = logging.getLogger("evercrawl")
TURN_EVERY_S = 3.0  # How often to look whose turn it is.
ALERTS_EVERY_S = 15.0  # Time between two rounds over the alerts of all collections.
ALERTS_AT_ONCE = 4  # Collections whose alerts are sent at the same time.


class FolderService(WebService):
    """Both origins of a folder of collections."""

    state: FolderState
    _open_state = FolderState

    def _read_settings(self, path: Path, flags: dict[str, object]) -> tuple[Settings, bool]:
        return read_settings(None, flags=flags).settings, trust_folder(path)

    def apps(self) -> tuple[AccessMiddleware, ReplayMiddleware]:
        """Return the applications of the interface and of archived pages."""
        allowed, public, replay_origins = self._origins()
        state, web = self.state, self.state.settings.web
        origins = FolderOrigins(
            self.own_origin,
            self.replay_origin,
            self.options.public_url,
            public,
            replay_origins,
            tuple(sorted(allowed.origins)),
        )
        state.own_views = FOLDER_VIEWS
        state.survey = FolderSurvey(state.path, os.environ)
        state.crawls = FolderCrawls(web.max_crawls)
        state.collections = OpenCollections(
            state.path, collection_opener(state, origins), limit=web.max_open_collections
        )
        root = build_routes(state, [*login_routes(LoginPages(state, allowed, self.link)), *self._routes()])
        interface = AccessMiddleware(
            FolderRouter(state, root, lambda one: one.interface, hides_names=not public.public_archive),
            origins=allowed,
            auth=self.auth,
            turns=state.turns,
            given_token=public.token,
        )
        nothing = build_routes(state, [Route("/healthz", health), Route("/robots.txt", forbid_crawlers)])
        door = FolderReplay(state, origins)
        return interface, ReplayMiddleware(FolderRouter(state, nothing, lambda one: one.replay), door)

    def _routes(self) -> list[Route]:
        state, public = self.state, self._origins()[1]
        known = operations((*FOLDER_VIEWS, *FOLDER_RESOURCES), FOLDER_ACTIONS)
        document = openapi_document(known=known, protocols=FOLDER_PROTOCOLS)
        handlers = threaded_handlers(state, {**FOLDER_HANDLERS, "healthz": healthz})
        return [
            Route("/", _home),
            Route(OPENAPI_PATH, require_scope(state, openapi_handler(document))),
            Route("/api", require_scope(state, api_page(state, document))),
            Route("/find", require_scope(state, find_handler(state, find_anywhere))),
            *(Route(path, view_endpoint(state, view)) for view in FOLDER_VIEWS for path in view.paths),
            *(Route(action.path, action_endpoint(state, action), methods=["POST"]) for action in FOLDER_ACTIONS),
            *protocol_routes(state, public, FOLDER_PROTOCOLS, handlers),
            *resource_routes(state, known),
        ]

    @asynccontextmanager
    async def _work(self, say: Callable[[str], None]) -> AsyncIterator[None]:
        """Give collections their turns, and send the alerts of all of them, while serving."""
        tasks: list[asyncio.Task[None]] = []
        if not self.state.read_only:
            await asyncio.to_thread(finish_removals, self.state.path)
            tasks += [asyncio.create_task(self._take_turns()), asyncio.create_task(self._send_all_alerts())]
            if self.state.is_reachable:
                tasks.append(asyncio.create_task(self._renew_all()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self.state.crawls.close)
            self.state.collections.close()

    def stop(self) -> None:
        """Stop after the current requests; a second call cancels them."""
        self.state.collections.close()
        super().stop()

    async def _take_turns(self) -> None:
        while True:
            with suppress(EvercrawlError):
                await asyncio.to_thread(self._start_and_stop)
            await asyncio.sleep(TURN_EVERY_S)

    def _start_and_stop(self) -> None:
        """Start and stop watching so that at most `web.max_crawls` collections crawl."""
        state = self.state
        running = {one.collection: one for one in state.crawls.running()}
        paths = collections_in(state.path)
        ours = {name: running[path] for name, path in paths.items() if path in running}
        watched = [one for one in state.survey.listing().known if self._is_watched(one, is_ours=one.name in ours)]
        now, clock = state.now(), time.monotonic()
        turns = [
            WatchTurn(
                one.name,
                is_due=not one.pages or bool(one.queued) or (one.next_visit is not None and one.next_visit <= now),
                for_s=clock - ours[one.name].began if one.name in ours else None,
                is_idle=one.is_idle,
            )
            for one in watched
        ]
        others = len(running) - sum(turn.for_s is not None for turn in turns)
        turn_s = state.settings.web.crawl_turn.total_seconds()
        stops, starts = next_turns(turns, others=others, limit=state.crawls.limit, turn_s=turn_s)
        for name in stops:
            ours[name].stop()
        for name in starts:
            with state.collections.use(name) as found, suppress(CollectionBusy):
                if found is not None and not found.state.read_only:
                    found.state.crawl.start([], forever=True)

    def _is_watched(self, one: CollectionSummary, *, is_ours: bool) -> bool:
        is_wanted = one.keep_watching or self.options.crawl
        return is_wanted and one.is_trusted and one.seeds > 0 and (is_ours or one.running is None)

    async def _send_all_alerts(self) -> None:
        room = asyncio.Semaphore(ALERTS_AT_ONCE)

        async def send(name: str, path: Path) -> None:
            async with room:
                await self._send_alerts_of(name, path)

        while True:
            with suppress(EvercrawlError):
                found = await asyncio.to_thread(collections_in, self.state.path)
                told = {name: path for name, path in found.items() if outbox_path(path).exists()}
                await asyncio.gather(*(send(name, path) for name, path in told.items()))
            await asyncio.sleep(ALERTS_EVERY_S)

    async def _send_alerts_of(self, name: str, path: Path) -> None:
        try:
            settings = await asyncio.to_thread(self._settings_of, name, path)
            if settings.alerts.enabled and settings.is_trusted:
                await deliver_once(path, settings)
        except CollectionBusy:
            pass  # Another process sends them.
        except EvercrawlError as error:
            log.warning("alerts of %s: %s", name, error)

    def _settings_of(self, name: str, path: Path) -> Settings:
        public = self.options.public_url
        flags: dict[str, object] = {} if public is None else {"web.public_url": public.rstrip("/") + base_of(name)}
        return read_settings(path, flags=flags).settings

    async def _renew_all(self) -> None:
        while True:
            for name, path in (await asyncio.to_thread(collections_in, self.state.path)).items():
                try:
                    if outbox_path(path).exists():
                        await self._websub_of(name, path).renew()
                except EvercrawlError as error:
                    log.warning("websub of %s: %s", name, error)
            await asyncio.sleep(RENEW_EVERY_S)

    def _websub_of(self, name: str, path: Path) -> WebsubClient:
        settings = self._settings_of(name, path)
        return WebsubClient(path, settings, callback=callback_url_at(str(settings.web.public_url)))


async def _home(request: Request) -> Response:
    return RedirectResponse("/collections", 303)


def trust_folder(folder: Path) -> bool:
    """Return whether the passwords and tokens that are stored in a folder may be used: this user created them here,
    or trusts the folder. A folder without any is trusted from now on."""
    if find_distrust(folder, os.environ) is None:
        return True
    if (folder / AUTH_FILE).exists():
        return False
    with suppress(StoreUnavailable):
        trust_collection(folder, os.environ)
    return find_distrust(folder, os.environ) is None
