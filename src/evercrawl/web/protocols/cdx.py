"""A CDX server with the parameters of pywb and OpenWayback."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Iterable, Iterator
from itertools import islice

import orjson
from starlette.responses import Response

from evercrawl.collection.captures import Match, captures_matching, field_test
from evercrawl.collection.urls import surt
from evercrawl.model.listing import Capture
from evercrawl.model.time import from_us
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import ANONYMOUS
from evercrawl.web.route import BadRequest, Inputs, Parameter

MAX_CAPTURES = 20_000  # Captures that one response covers; longer lists need several pages.
BLOCK, MAX_PAGES = 1000, 40
COUNT_WAIT_S = 10.0
CDX_PARAMETERS = (
    Parameter("url", "The URL; `*` at the end means prefix, `*.` at the start domain.", "url", required=True),
    Parameter("matchType", "How URLs match.", "choice", choices=("exact", "prefix", "host", "domain")),
    Parameter("from", "Start time: 1 to 14 digits."),
    Parameter("to", "End time: 1 to 14 digits."),
    Parameter("limit", "Maximum number of lines.", "integer", default=10_000, minimum=1, maximum=100_000),
    Parameter("output", "CDXJ lines or JSON objects.", "choice", default="cdxj", choices=("cdxj", "json", "text")),
    Parameter("sort", "Newest first.", "choice", choices=("reverse",)),
    Parameter("fl", "Only these fields, separated by commas (with output=json)."),
    Parameter("filter", "[!][=|~]field:value; = exact, ~ regular expression, otherwise a substring."),
    Parameter("page", "Page of a long list, from 0.", "integer", maximum=MAX_PAGES - 1),
    Parameter("pageSize", "Blocks of 1,000 captures per page.", "integer", default=5, minimum=1, maximum=20),
    Parameter("showNumPages", "Return only the number of pages.", "bool", default=False),
)
_STAMP = re.compile(r"\d{1,14}", re.ASCII)
Line = dict[str, str]


def cdx(state: AppState, inputs: Inputs) -> Response:
    """Return the lines, sorted by key and time."""
    url, match = _target(inputs["url"], inputs["matchType"])
    begin, end = _bound(inputs["from"], "0"), _bound(inputs["to"], "9")
    if (inputs["filter"] or "").lstrip("!").startswith("~") and inputs.user is ANONYMOUS:
        raise BadRequest("log in to use regular expressions, since some are very slow", 403)
    portion = inputs["pageSize"] * BLOCK
    if inputs["showNumPages"]:
        return _page_count(state, url, match, portion)
    first = 0 if inputs["page"] is None else inputs["page"] * portion
    last = MAX_CAPTURES if inputs["page"] is None else first + portion
    found = islice(captures_matching(state.path, state.settings, url, match), first, last)
    lines: Iterable[Line] = (line for capture in found if begin <= (line := _line(capture))["timestamp"] <= end)
    if inputs["filter"]:
        lines = _filter_lines(lines, inputs["filter"])
    chosen = sorted(lines, key=lambda line: (line["urlkey"], line["timestamp"]), reverse=inputs["sort"] == "reverse")
    chosen = chosen[: inputs["limit"]]
    if inputs["output"] == "json":
        fields = [name for name in (inputs["fl"] or "").split(",") if name]
        body = b"".join(orjson.dumps(_select_fields(line, fields)) + b"\n" for line in chosen)
        return Response(body, media_type="application/x-ndjson")
    return Response("".join(_text(line) for line in chosen), media_type="text/plain; charset=utf-8")


def _page_count(state: AppState, url: str, match: Match, portion: int) -> Response:
    """Return the number of pages, in the format of pywb."""

    def count() -> int:
        found = captures_matching(state.path, state.settings, url, match)
        return sum(1 for _ in islice(found, MAX_PAGES * portion))

    captures = state.cached(f"captures {match} {url} {portion}", count, wait_s=COUNT_WAIT_S)
    if captures is None:
        raise BadRequest("counting the captures; try again in a moment", 503, retry_after_s=5)
    counts = {"pages": -(-captures // portion), "pageSize": portion // BLOCK, "blocks": -(-captures // BLOCK)}
    return Response(orjson.dumps(counts), media_type="application/json")


def _target(url: str, match: str | None) -> tuple[str, Match]:
    if match is None and url.startswith("*."):
        return url[2:], "domain"
    if match is None and url.endswith("*"):
        return url[:-1], "prefix"
    return url, (match or "exact")  # type: ignore[return-value]


def _bound(text: str | None, filler: str) -> str:
    if text is None:
        return filler * 14
    if not _STAMP.fullmatch(text):
        raise BadRequest("from and to must be 1 to 14 digits, such as 2026 or 20261101120000")
    return text.ljust(14, filler)


def _line(capture: Capture) -> Line:
    return {
        "urlkey": surt(capture.url) if capture.url.startswith("http") else capture.url,
        "timestamp": f"{from_us(capture.seen_us):%Y%m%d%H%M%S}",
        "url": capture.url,
        "mime": (capture.content_type or "unk").partition(";")[0].strip() or "unk",
        "status": str(capture.status or "-"),
        "digest": "sha1:" + b32encode(capture.payload_sha1).decode(),
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": capture.file,
    }


def _filter_lines(lines: Iterable[Line], text: str) -> Iterator[Line]:
    found = re.fullmatch(r"(!?)([=~]?)(\w+):(.*)", text, re.DOTALL)
    if found is None:
        raise BadRequest("filter must be [!][=|~]field:value")
    no, how, name, value = found.groups()
    try:
        matches = value.__eq__ if how == "=" else field_test(value, is_expression=how == "~")
    except ValueError as error:
        raise BadRequest(f"filter: {error}") from error
    for line in lines:
        if matches(line.get(name, "")) != bool(no):
            yield line


def _select_fields(line: Line, fields: list[str]) -> Line:
    return {name: line[name] for name in fields if name in line} if fields else line


def _text(line: Line) -> str:
    rest = {name: value for name, value in line.items() if name not in ("urlkey", "timestamp")}
    return f"{line['urlkey']} {line['timestamp']} {orjson.dumps(rest).decode()}\n"
