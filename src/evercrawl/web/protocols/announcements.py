"""Announcements of changed pages: IndexNow from site owners, WebSub from hubs.
IndexNow owners prove themselves with a key file on their site. It is fetched rarely, through the guarded fetcher, and
only for sites of the collection, so that nobody can use us to reach others."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from urllib.parse import urlsplit

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.collection.alerts.subscriptions import CallbackReply
from evercrawl.collection.site_list import find_site
from evercrawl.collection.urls import canonical, fetch_text, request_announced, site_of
from evercrawl.web.access_control import RateLimit, error_response
from evercrawl.web.app_state import AppState
from evercrawl.web.route import BadRequest, Parameter

MAX_URLS = 10_000
KEY = re.compile(r"[A-Za-z0-9-]{8,128}", re.ASCII)
KEY_FILE_BYTES = 4096
PROOF_VALID_S = 3600.0
FAILURE_VALID_S = 300.0
MAX_PROOFS = 1000
INDEXNOW_PARAMETERS = (
    Parameter("url", "URL of the changed page.", "url", required=True),
    Parameter("key", "8 to 128 letters, digits and dashes.", required=True),
    Parameter("keyLocation", "URL of the key file. Default: {key}.txt at the root."),
)
INDEXNOW_BODY = (
    Parameter("host", "Host of all URLs.", required=True),
    Parameter("key", "8 to 128 letters, digits and dashes.", required=True),
    Parameter("keyLocation", "URL of the key file."),
    Parameter("urlList", "Up to 10,000 URLs.", required=True),
)


class IndexNow:
    """Accept announcements of site owners; proofs are cached."""

    def __init__(self, state: AppState) -> None:
        self.state = state
        self._proofs: OrderedDict[tuple[str, str], tuple[float, bool]] = OrderedDict()
        self._fetch_limit = RateLimit(burst=3, per_s=1 / 20)

    async def __call__(self, request: Request) -> Response:
        require_writable(self.state)
        urls, key, location = await _read_announcement(request)
        if not KEY.fullmatch(key):
            raise BadRequest("the key must be 8 to 128 letters, digits and dashes")
        names = [name for url in urls if (name := canonical(url)) is not None]
        sites = {site_of(name) for name in names}
        if len(names) != len(urls) or len(sites) != 1:
            raise BadRequest("the URLs must be valid and of one host", 422)
        site = sites.pop()
        key_url = canonical(location) if location else f"{site}/{key}.txt"
        if key_url is None or site_of(key_url) != site:
            raise BadRequest("the key file must be on the same host", 422)
        folder = key_url.rpartition("/")[0] + "/"
        if any(not name.startswith(folder) for name in names):
            raise BadRequest("a key file only counts for its own folder", 422)
        await self._require_proof(site, key, key_url)
        taken = await run_in_threadpool(
            request_announced, self.state.path, self.state.settings, names, source=f"IndexNow from {site}"
        )
        self.state.auth.log_change(f"IndexNow {site}", "announce", f"{taken} of {len(names)} pages")
        return Response("", 202)

    async def _require_proof(self, site: str, key: str, key_url: str) -> None:
        known = await run_in_threadpool(find_site, self.state.path, self.state.settings, site)
        seeds = {site_of(seed) for seed in self.state.settings.scope.seeds}
        if known is None and site not in seeds:
            raise BadRequest("this collection does not crawl that host", 422)
        now = time.monotonic()
        expires, is_proved = self._proofs.get((key, key_url), (0.0, False))
        if expires < now:
            if self._fetch_limit.wait_s(site):
                raise BadRequest("too many keys for one host; wait a minute", 429)
            is_proved = await self._has_key(key_url, key)
            self._proofs[key, key_url] = (now + (PROOF_VALID_S if is_proved else FAILURE_VALID_S), is_proved)
            while len(self._proofs) > MAX_PROOFS:
                self._proofs.popitem(last=False)
        if not is_proved:
            raise BadRequest("the key file does not contain the key", 403)

    async def _has_key(self, key_url: str, key: str) -> bool:
        text = await fetch_text(key_url, self.state.settings, max_bytes=KEY_FILE_BYTES)
        return text is not None and key in text.split()


async def _read_announcement(request: Request) -> tuple[list[str], str, str | None]:
    if request.method == "GET":
        found = request.query_params
        return [found.get("url", "")], found.get("key", ""), found.get("keyLocation")
    try:
        data = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(data, dict):
        raise BadRequest("the body must be a JSON object")
    urls, key, location = data.get("urlList"), data.get("key"), data.get("keyLocation")
    if not isinstance(urls, list) or not urls or len(urls) > MAX_URLS or not all(isinstance(u, str) for u in urls):
        raise BadRequest(f"urlList must be a list of 1 to {MAX_URLS:,} URLs")
    if not isinstance(key, str) or not (location is None or isinstance(location, str)):
        raise BadRequest("key and keyLocation must be strings")
    host = data.get("host")
    if not isinstance(host, str) or any(_host(url) != host.lower() for url in urls):
        raise BadRequest("the URLs must be of the given host", 422)
    return urls, key, location


def require_writable(state: AppState) -> None:
    """Raise BadRequest if the interface is read-only; the status lets hubs and owners try again later."""
    if state.read_only:
        raise BadRequest("the interface is read-only and takes no announcements", 503)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return None


WEBSUB_PARAMETERS = (
    Parameter("hub.mode", "subscribe, unsubscribe or denied."),
    Parameter("hub.topic", "Topic of the subscription."),
    Parameter("hub.challenge", "Text to send back."),
    Parameter("hub.lease_seconds", "Duration of the subscription."),
    Parameter("hub.reason", "Reason of a denial."),
)


class HubCallbacks:
    """Answer hubs (WebSub sections 5.3 and 7); without a valid token, the body is not read."""

    def __init__(self, state: AppState) -> None:
        self.state = state

    async def __call__(self, request: Request) -> Response:
        require_writable(self.state)
        token = request.path_params["token"]
        if request.method == "POST":
            return _hub_response(await self._receive(request, token))
        return _hub_response(
            await run_in_threadpool(self.state.websub.answer_challenge, token, dict(request.query_params))
        )

    async def _receive(self, request: Request, token: str) -> CallbackReply:
        if not await run_in_threadpool(self.state.websub.knows, token):
            return CallbackReply(404)
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.body()
        return await run_in_threadpool(self.state.websub.receive, token, headers, body)


def _hub_response(reply: CallbackReply) -> Response:
    if reply.status >= 400 and not reply.body:
        return error_response(reply.status, "there is no such subscription")
    return Response(reply.body, reply.status, media_type="text/plain")
