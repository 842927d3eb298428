"""Memento (RFC 7089): TimeGate and TimeMap of the stored versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from evercrawl.collection.captures import captures_of, nearest_capture
from evercrawl.model.listing import Capture
from evercrawl.model.time import from_us
from evercrawl.web.app_state import AppState
from evercrawl.web.format import json_bytes
from evercrawl.web.route import BadRequest

LINK_FORMAT = "application/link-format"
MAX_CAPTURES = 10_000


def stamp_of(capture: Capture) -> str:
    """Return the time as 14 digits."""
    return f"{from_us(capture.seen_us):%Y%m%d%H%M%S}"


def http_date(moment: datetime) -> str:
    """Return a time as in HTTP headers."""
    return format_datetime(moment.astimezone(UTC).replace(microsecond=0), usegmt=True)


def header_url(url: str) -> str:
    """Return a URL for `<...>` of a Link header (RFC 8288), without characters that could end it."""
    return "".join(c if 0x20 < ord(c) < 0x7F and c not in '<>"\\^`{|}' else _escape(c) for c in url)


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))


class MementoUrls:
    """The URLs of RFC 7089 resources; mementos are on the origin of archived pages."""

    def __init__(self, origin: str, replay: str) -> None:
        self.origin = origin
        self.replay = replay

    def gate(self, url: str) -> str:
        """Return the TimeGate of a URL."""
        return f"{self.origin}/web/{header_url(url)}"

    def map(self, url: str, form: str = "link") -> str:
        """Return the TimeMap of a URL."""
        return f"{self.origin}/web/timemap/{form}/{header_url(url)}"

    def memento(self, capture: Capture) -> str:
        """Return the memento of a version."""
        return f"{self.replay}/web/{stamp_of(capture)}/{header_url(capture.url)}"


def memento_links(captures: Sequence[Capture], chosen: Capture, urls: MementoUrls) -> str:
    """Return the Link header: original, TimeGate, TimeMap and nearby mementos."""
    url = chosen.url
    parts = [
        f'<{header_url(url)}>; rel="original"',
        f'<{urls.gate(url)}>; rel="timegate"',
        f'<{urls.map(url)}>; rel="timemap"; type="{LINK_FORMAT}"',
    ]
    at = captures.index(chosen)
    around = {"first": 0, "prev": at - 1, "": at, "next": at + 1, "last": len(captures) - 1}
    roles: dict[int, list[str]] = {}
    for role, place in around.items():
        if 0 <= place < len(captures):
            roles.setdefault(place, []).extend([role] if role else [])
    for place in sorted(roles):
        relation = " ".join([*dict.fromkeys(roles[place]), "memento"])
        moment = http_date(from_us(captures[place].seen_us))
        parts.append(f'<{urls.memento(captures[place])}>; rel="{relation}"; datetime="{moment}"')
    return ", ".join(parts)


def accept_datetime(request: Request) -> datetime | None:
    """Return Accept-Datetime; raise BadRequest if it is not valid (RFC 7089 section 4.5.3)."""
    text = request.headers.get("accept-datetime")
    if text is None:
        return None
    try:
        moment = parsedate_to_datetime(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise BadRequest("Accept-Datetime is not an HTTP date, such as Thu, 31 May 2007 20:35:00 GMT") from error


async def known_captures(state: AppState, url: str) -> list[Capture]:
    """Return the versions of a URL; raise BadRequest with 404 if there are none."""
    found = await run_in_threadpool(captures_of, state.path, state.settings, url)
    if not found:
        raise BadRequest("no version of this URL is stored", 404)
    return found[-MAX_CAPTURES:]


async def time_gate(request: Request, state: AppState, urls: MementoUrls, key: str = "") -> Response:
    """Redirect to the version nearest to Accept-Datetime, or else to the newest."""
    wanted = accept_datetime(request)
    captures = await known_captures(state, url_after(request, "/web/"))
    chosen = captures[-1] if wanted is None else nearest_capture(captures, wanted)
    response = RedirectResponse(
        key + urls.memento(chosen).removeprefix(urls.replay) if key else urls.memento(chosen), 302
    )
    response.headers["Vary"] = "accept-datetime"
    response.headers["Link"] = memento_links(captures, chosen, urls)
    return response


async def time_map(request: Request, state: AppState, urls: MementoUrls, form: str) -> Response:
    """Return every version of a URL."""
    captures = await known_captures(state, url_after(request, f"/timemap/{form}/"))
    if form == "json":
        return Response(_json_map(captures, urls), media_type="application/json")
    return Response(_link_map(captures, urls), media_type=LINK_FORMAT)


def _link_map(captures: Sequence[Capture], urls: MementoUrls) -> str:
    url = captures[-1].url
    first, last = (http_date(from_us(captures[place].seen_us)) for place in (0, -1))
    lines = [
        f'<{header_url(url)}>; rel="original"',
        f'<{urls.map(url)}>; rel="self"; type="{LINK_FORMAT}"; from="{first}"; until="{last}"',
        f'<{urls.gate(url)}>; rel="timegate"',
    ]
    for place, capture in enumerate(captures):
        roles = ["first"] * (place == 0) + ["last"] * (place == len(captures) - 1) + ["memento"]
        moment = http_date(from_us(capture.seen_us))
        lines.append(f'<{urls.memento(capture)}>; rel="{" ".join(roles)}"; datetime="{moment}"')
    return ",\n".join(lines) + "\n"


def _json_map(captures: Sequence[Capture], urls: MementoUrls) -> bytes:
    url = captures[-1].url
    listed = [{"datetime": from_us(one.seen_us), "uri": urls.memento(one)} for one in captures]
    return json_bytes(
        "timemap",
        {
            "original_uri": url,
            "timegate_uri": urls.gate(url),
            "timemap_uri": {"link_format": urls.map(url), "json_format": urls.map(url, "json")},
            "mementos": {"first": listed[0], "last": listed[-1], "list": listed},
        },
    )


_ONE_SLASH = re.compile(r"^(https?):/+", re.IGNORECASE)
_ESCAPED = re.compile(r"^https?%3A", re.IGNORECASE)
STAMP = re.compile(r"(\d{4,14})(id_|mp_)?", re.ASCII)


def url_after(request: Request, marker: str) -> str:
    """Return the URL after the first `marker` in the path, with its query, and escapes as sent."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    path = raw.partition(b"?")[0].decode("latin-1").encode("latin-1").decode("utf-8", "replace")
    found = path.partition(marker)[2]
    query = request.scope.get("query_string", b"").decode("utf-8", "replace")
    return repair_url(found + (f"?{query}" if query else ""))


def repair_url(url: str) -> str:
    """Undo what proxies and clients do to a URL in a path: `http:/` and double escaping."""
    if _ESCAPED.match(url):
        url = unquote(url, errors="replace")
    return _ONE_SLASH.sub(lambda match: f"{match[1].lower()}://", url)
