"""The search of a collection that another evercrawl serves: `GET URL/api/search?q=...&limit=...`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from evercrawl.errors import StoreUnavailable
from evercrawl.model.search import Hit, Span
from evercrawl.version import __version__

MOST_ANSWER_BYTES = 8 * 1024 * 1024
MOST_TEXT = 2000
SEARCH_PATH = "/api/search"


def ask_remote(url: str, text: str, *, limit: int, timeout_s: float) -> list[Hit]:
    """The hits of a served collection, in its order; StoreUnavailable where it gives no usable answer."""
    address = f"{url.rstrip('/')}{SEARCH_PATH}?{urlencode({'q': text, 'limit': limit})}"
    wants = {"Accept": "application/json, application/x-ndjson", "User-Agent": f"evercrawl/{__version__}"}
    try:
        with urlopen(Request(address, headers=wants), timeout=timeout_s) as answer:
            body = answer.read(MOST_ANSWER_BYTES + 1)
    except HTTPError as error:
        raise StoreUnavailable(f"it answered with status {error.code}") from error
    except (URLError, OSError, ValueError) as error:
        raise StoreUnavailable(f"it cannot be reached: {getattr(error, 'reason', error)}") from error
    if len(body) > MOST_ANSWER_BYTES:
        raise StoreUnavailable(f"its answer is larger than {MOST_ANSWER_BYTES} bytes")
    try:
        return [_hit(rank, item) for rank, item in enumerate(_items(body), start=1)][:limit]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreUnavailable(f"its answer is no list of hits: {error}") from error


def _items(body: bytes) -> Iterable[Mapping[str, Any]]:
    """A JSON array, an object with `hits`, or one object a line."""
    try:
        answer = json.loads(body)
    except ValueError:
        return [json.loads(line) for line in body.splitlines() if line.strip()]
    if isinstance(answer, dict):
        return list(answer["hits"]) if "hits" in answer else [answer]
    return list(answer)


def _hit(rank: int, item: Mapping[str, Any]) -> Hit:
    title = item.get("title")
    return Hit(
        rank=rank,
        url=str(item["url"])[:MOST_TEXT],
        title=None if title is None else str(title)[:MOST_TEXT],
        snippet=(Span(str(item.get("snippet") or "")[:MOST_TEXT], False),),
        score=float(item.get("score") or 0.0),
        version=int(item.get("version") or 0),
        fetched_at=_moment(item.get("fetched_at")),
        is_gone=bool(item.get("gone")),
    )


def _moment(text: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
