"""IndexNow: a site's owner tells us that pages changed, and proves to be the owner by a file on the site.

Only sites that the collection knows or is to crawl are heard, so that nobody can use us to ask strangers; the
file is inputs for through the guarded fetcher, and seldom.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from urllib.parse import urlsplit

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.system import SystemClock
from evercrawl.cluster.visit_requests import request_visits
from evercrawl.collection.alerts.subscriptions import CallbackReply
from evercrawl.collection.site_list import find_site
from evercrawl.core.url import canonical, site_of
from evercrawl.model import __version__
from evercrawl.model.fetch import Fetched
from evercrawl.model.fetch import Request as Ask
from evercrawl.model.user_agent import user_agent
from evercrawl.web.access_control import RateLimit
from evercrawl.web.app_state import AppState
from evercrawl.web.route import BadRequest, Parameter

MOST_URLS = 10_000
KEY = re.compile(r"[A-Za-z0-9-]{8,128}", re.ASCII)
KEY_FILE_BYTES = 4096
PROVED_FOR_S = 3600.0
FAILED_FOR_S = 300.0
MOST_REMEMBERED = 1000
INDEXNOW_PARAMETERS = (
    Parameter("url", "The page that changed.", "url", required=True),
    Parameter("key", "8 to 128 letters, digits and dashes.", required=True),
    Parameter("keyLocation", "Where the key file lies; default: {key}.txt at the root."),
)
INDEXNOW_BODY = (
    Parameter("host", "The host of all URLs.", required=True),
    Parameter("key", "8 to 128 letters, digits and dashes.", required=True),
    Parameter("keyLocation", "Where the key file lies."),
    Parameter("urlList", "Up to 10,000 URLs.", required=True),
)


class IndexNow:
    """Hears announcements; what was proved is remembered for a while."""

    def __init__(self, state: AppState) -> None:
        self.state = state
        self._proved: OrderedDict[tuple[str, str], tuple[float, bool]] = OrderedDict()
        self._asking = RateLimit(burst=3, per_s=1 / 20)

    async def __call__(self, request: Request) -> Response:
        urls, key, location = await _read_announcement(request)
        if not KEY.fullmatch(key):
            raise BadRequest("the key is 8 to 128 letters, digits and dashes")
        names = [name for url in urls if (name := canonical(url)) is not None]
        sites = {site_of(name) for name in names}
        if len(names) != len(urls) or len(sites) != 1:
            raise BadRequest("the URLs must be valid and of one host", 422)
        site = sites.pop()
        place = canonical(location) if location else f"{site}/{key}.txt"
        if place is None or site_of(place) != site:
            raise BadRequest("the key file must lie on the same host", 422)
        folder = place.rpartition("/")[0] + "/"
        if any(not name.startswith(folder) for name in names):
            raise BadRequest("the key file only speaks for the folder that it lies in", 422)
        await self._require_proof(site, key, place)
        await run_in_threadpool(request_visits, self.state.path, names, by=f"IndexNow from {site}")
        self.state.auth.log_change(f"IndexNow {site}", "announce", f"{len(names)} pages")
        return Response("", 202)

    async def _require_proof(self, site: str, key: str, place: str) -> None:
        known = await run_in_threadpool(find_site, self.state.path, self.state.settings, site)
        seeds = {site_of(seed) for seed in self.state.settings.scope.seeds}
        if known is None and site not in seeds:
            raise BadRequest("this collection does not crawl that host", 422)
        now = time.monotonic()
        expires, is_proved = self._proved.get((site, place), (0.0, False))
        if expires < now:
            if self._asking.wait_s(site):
                raise BadRequest("too many keys for one host; wait a minute", 429)
            is_proved = await self._has_key(place, key)
            self._proved[site, place] = (now + (PROVED_FOR_S if is_proved else FAILED_FOR_S), is_proved)
            while len(self._proved) > MOST_REMEMBERED:
                self._proved.popitem(last=False)
        if not is_proved:
            raise BadRequest("the key file does not hold the key", 403)

    async def _has_key(self, place: str, key: str) -> bool:
        settings = self.state.settings
        fetcher = HttpFetcher(settings, SystemClock(), user_agent(settings.identity, __version__))
        try:
            found = await fetcher.fetch(Ask(place, body_limit=KEY_FILE_BYTES))
        finally:
            await fetcher.close()
        if not isinstance(found, Fetched):
            return False
        return key in found.body.decode("utf-8", "replace").split()


async def _read_announcement(request: Request) -> tuple[list[str], str, str | None]:
    if request.method == "GET":
        found = request.query_params
        return [found.get("url", "")], found.get("key", ""), found.get("keyLocation")
    try:
        told = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(told, dict):
        raise BadRequest("the body must be a JSON object")
    urls, key, location = told.get("urlList"), told.get("key"), told.get("keyLocation")
    if not isinstance(urls, list) or not urls or len(urls) > MOST_URLS or not all(isinstance(u, str) for u in urls):
        raise BadRequest(f"urlList is a list of 1 to {MOST_URLS} URLs")
    if not isinstance(key, str) or not (location is None or isinstance(location, str)):
        raise BadRequest("key and keyLocation are texts")
    host = told.get("host")
    if not isinstance(host, str) or any(_host(url) != host.lower() for url in urls):
        raise BadRequest("the URLs must be of the host that is named", 422)
    return urls, key, location


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return None


WEBSUB_PARAMETERS = (
    Parameter("hub.mode", "subscribe, unsubscribe or denied."),
    Parameter("hub.topic", "What the subscription is about."),
    Parameter("hub.challenge", "What is to be sent back."),
    Parameter("hub.lease_seconds", "How long the subscription lasts."),
    Parameter("hub.reason", "Why it was denied."),
)


class HubCallbacks:
    """Answers hubs; who does not know a subscription's token learns nothing, and its body is not read."""

    def __init__(self, state: AppState) -> None:
        self.state = state

    async def __call__(self, request: Request) -> Response:
        token = request.path_params["token"]
        if request.method == "POST":
            return _hub_response(await self._told(request, token))
        return _hub_response(
            await run_in_threadpool(self.state.websub.answer_challenge, token, dict(request.query_params))
        )

    async def _told(self, request: Request, token: str) -> CallbackReply:
        if not await run_in_threadpool(self.state.websub.knows, token):
            return CallbackReply(404)
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.body()
        return await run_in_threadpool(self.state.websub.receive, token, headers, body)


def _hub_response(reply: CallbackReply) -> Response:
    return Response(reply.body, reply.status, media_type="text/plain")
