"""Search a collection that another evercrawl serves: `GET URL/api/v1/search?q=...&limit=...`.
The token is the user name in the URL (`https://TOKEN@archive.example.org`). It is sent only to that host and never
shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from http.client import HTTPException
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from evercrawl.adapters.http.dialer import GuardedDialer
from evercrawl.errors import StoreUnavailable
from evercrawl.model import __version__
from evercrawl.model.search import Hit, Span
from evercrawl.model.settings import HttpSettings

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
MAX_TEXT_CHARS = 2000
MAX_SPANS = 200
SEARCH_PATH = "/api/v1/search"
UNAUTHORIZED = 401, 403


class _NoRedirect(HTTPRedirectHandler):
    """Refuse redirects, so that the token goes only to the given host."""

    def redirect_request(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> None:
        raise StoreUnavailable(f"it redirects to {newurl[:MAX_TEXT_CHARS]}: use that address")


def without_token(url: str) -> str:
    """Return the URL without its token, for display."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def search_remote(
    url: str, text: str, *, limit: int, timeout_s: float, dialer: GuardedDialer | None = None
) -> list[Hit]:
    """Return the hits of a served collection, in order; raise StoreUnavailable if there is no valid response."""
    address = f"{without_token(url).rstrip('/')}{SEARCH_PATH}?{urlencode({'q': text, 'limit': limit})}"
    dialer = dialer or GuardedDialer(HttpSettings(), is_named=True)
    body = _body(address, _token(url), dialer, timeout_s=timeout_s)
    if len(body) > MAX_RESPONSE_BYTES:
        raise StoreUnavailable(f"its response is larger than {MAX_RESPONSE_BYTES} bytes")
    try:
        return [_hit(rank, item) for rank, item in enumerate(_items(body), start=1)][:limit]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreUnavailable(f"its response is not a list of hits: {error}") from error


def _token(url: str) -> str | None:
    """Return the token in the URL, given as user name or password, or None."""
    who = urlsplit(url).netloc.rpartition("@")[0]
    return unquote(who.rpartition(":")[2]) or None


def _body(address: str, token: str | None, dialer: GuardedDialer, *, timeout_s: float) -> bytes:
    headers = {"Accept": "application/json", "User-Agent": f"evercrawl/{__version__}"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    try:
        opener = build_opener(_NoRedirect, *dialer.handlers())
        with opener.open(Request(address, headers=headers), timeout=timeout_s) as response:
            found: bytes = response.read(MAX_RESPONSE_BYTES + 1)
            return found
    except HTTPError as error:
        hint = ": it needs a token, as in https://TOKEN@host" if error.code in UNAUTHORIZED else ""
        raise StoreUnavailable(f"it answered with status {error.code}{hint}") from error
    except (URLError, OSError, ValueError, HTTPException) as error:
        raise StoreUnavailable(f"it cannot be reached: {getattr(error, 'reason', error)}") from error


def _items(body: bytes) -> Iterable[Mapping[str, Any]]:
    """Return the hits in an API response."""
    return list(json.loads(body)["found"]["hits"])


def _hit(rank: int, item: Mapping[str, Any]) -> Hit:
    title = item.get("title")
    return Hit(
        rank=rank,
        url=str(item["url"])[:MAX_TEXT_CHARS],
        title=None if title is None else str(title)[:MAX_TEXT_CHARS],
        snippet=tuple(
            Span(str(span["text"])[:MAX_TEXT_CHARS], bool(span["is_hit"])) for span in item["snippet"][:MAX_SPANS]
        ),
        score=float(item.get("score") or 0.0),
        version=int(item.get("version") or 0),
        fetched_at=_moment(item.get("fetched_at")),
        lang=None if item.get("lang") is None else str(item["lang"])[:MAX_TEXT_CHARS],
        is_gone=bool(item.get("is_gone")),
        near_duplicates=int(item.get("alike") or 0),
    )


def _moment(text: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
