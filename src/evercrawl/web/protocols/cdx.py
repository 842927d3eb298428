"""CDX servers: `/cdx` with the parameters and lines of pywb, `/cdx/search/cdx` with those of the Wayback Machine.
Unknown parameters are ignored, as both do."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice

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
MAX_LINES = 100_000
COUNT_WAIT_S = 10.0
DIGITS = "([0-9]{1,14})?"
_SHARED_PARAMETERS = (
    Parameter("url", "The URL; `*` at the end means prefix, `*.` at the start domain.", "url", required=True),
    Parameter("matchType", "How URLs match.", "choice", choices=("exact", "prefix", "host", "domain")),
    Parameter("from", "Start time: 1 to 14 digits.", pattern=DIGITS),
    Parameter("to", "End time: 1 to 14 digits.", pattern=DIGITS),
    Parameter("sort", "Newest first, or nearest to `closest` first.", "choice", choices=("reverse", "closest")),
    Parameter("closest", "Sort by the distance to this time: 1 to 14 digits.", pattern=DIGITS),
    Parameter(
        "collapse", "Only the first of neighbouring lines with the same field, or its first N characters: field[:N]."
    ),
    Parameter("fl", "Only these fields, separated by commas."),
    Parameter("page", "Page of a long list, from 0.", "integer", maximum=MAX_PAGES - 1),
    Parameter("pageSize", "Blocks of 1,000 captures per page.", "integer", default=5, minimum=1, maximum=20),
    Parameter("showNumPages", "Return only the number of pages.", "bool", default=False),
)
CDX_PARAMETERS = (
    *_SHARED_PARAMETERS,
    Parameter("limit", "Maximum number of lines.", "integer", default=10_000, minimum=1, maximum=MAX_LINES),
    Parameter("output", "CDXJ lines or JSON objects.", "choice", default="cdxj", choices=("cdxj", "json", "text")),
    Parameter("fields", "The same as `fl`."),
    Parameter("filter", "[!][=|~]field:value; = exact, ~ regular expression, otherwise a substring.", "texts"),
)
WAYBACK_PARAMETERS = (
    *_SHARED_PARAMETERS,
    Parameter("limit", "Maximum number of lines; negative: the last ones.", "integer",
              default=10_000, minimum=-MAX_LINES, maximum=MAX_LINES),
    Parameter("offset", "Leave out this many lines.", "integer", default=0),
    Parameter("output", "Lines, or one JSON array with an array per line.", "choice", choices=("json", "text")),
    Parameter("filter", "[!]field:expression; a regular expression for the whole field.", "texts"),
    Parameter("showResumeKey", "End an incomplete list with an empty line and a key.", "bool", default=False),
    Parameter("resumeKey", "Continue a list: the key at its end."),
)  # fmt: skip
_STAMP = re.compile(r"\d{1,14}", re.ASCII)
_FILTER = re.compile(r"(!?)([=~]?)(?:(\w+):)?(.*)", re.DOTALL)
_NOT_PLAIN = re.compile(r"[^\w/:+;=, -]")
WAYBACK_FIELDS = {"url": "original", "mime": "mimetype", "status": "statuscode"}
"""Names of the Wayback Machine for fields of pywb."""
WAYBACK_LINE = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
Line = dict[str, str]


def cdx(state: AppState, inputs: Inputs) -> Response:
    """Return the lines, sorted by key and time."""
    url, match = _target(inputs["url"], inputs["matchType"])
    portion = inputs["pageSize"] * BLOCK
    if inputs["showNumPages"]:
        counts = _page_count(state, url, match, portion)
        return Response(orjson.dumps(counts), media_type="application/json")
    first, most = _portion(inputs)
    lines, _ = _lines(state, inputs, first, most, rename=lambda line: line)
    chosen = lines[: inputs["limit"]]
    fields = [name for name in (inputs["fl"] or inputs["fields"] or "").split(",") if name]
    if inputs["output"] == "json":
        body = b"".join(orjson.dumps(_select_fields(line, fields)) + b"\n" for line in chosen)
        return Response(body, media_type="application/x-ndjson")
    return Response("".join(_text(line, fields) for line in chosen), media_type="text/plain; charset=utf-8")


def wayback_cdx(state: AppState, inputs: Inputs) -> Response:
    """Return the lines as the Wayback Machine does: seven fields, and at the end of a part a key for the next."""
    if inputs["showNumPages"]:
        url, match = _target(inputs["url"], inputs["matchType"])
        counts = _page_count(state, url, match, inputs["pageSize"] * BLOCK)
        return Response(f"{counts['pages']}\n", media_type="text/plain")
    first, most = _portion(inputs)
    key = re.fullmatch(r"(\d{1,12})\.(\d{1,12})", inputs["resumeKey"] or f"{first}.{inputs['offset']}", re.ASCII)
    if key is None:
        raise BadRequest("resumeKey is not valid; start the list without it")
    first, done = int(key[1]), int(key[2])
    lines, is_last = _lines(state, inputs, first, most, rename=_wayback_line)
    wanted = inputs["limit"]
    chosen = lines[done : done + wanted] if wanted >= 0 else lines[wanted:]
    next_key = ""
    if inputs["showResumeKey"] and wanted >= 0:
        next_key = f"{first}.{done + wanted}" if done + wanted < len(lines) else "" if is_last else f"{first + most}.0"
    fields = [name for name in (inputs["fl"] or "").split(",") if name in WAYBACK_LINE] or list(WAYBACK_LINE)
    rows = [[line[name] for name in fields] for line in chosen]
    if inputs["output"] == "json":
        return Response(orjson.dumps([fields, *rows, *([[], [next_key]] if next_key else [])] if rows else []),
                        media_type="application/json")  # fmt: skip
    text = "".join(" ".join(row) + "\n" for row in rows) + (f"\n{next_key}\n" if next_key else "")
    return Response(text, media_type="text/plain; charset=utf-8")


def _portion(inputs: Inputs) -> tuple[int, int]:
    """Return the first capture and the number of captures that a response covers."""
    portion = inputs["pageSize"] * BLOCK
    return (0, MAX_CAPTURES) if inputs["page"] is None else (inputs["page"] * portion, portion)


def _lines(
    state: AppState, inputs: Inputs, first: int, most: int, *, rename: Callable[[Line], Line]
) -> tuple[list[Line], bool]:
    """Return the lines of some captures, filtered and sorted, and whether these are the last captures."""
    url, match = _target(inputs["url"], inputs["matchType"])
    begin, end = _bound(inputs["from"], "0"), _bound(inputs["to"], "9")
    found = list(islice(captures_matching(state.path, state.settings, url, match), first, first + most + 1))
    lines: Iterable[Line] = map(rename, map(_line, found[:most]))
    lines = (line for line in lines if begin <= line["timestamp"] <= end)
    for text in inputs["filter"]:
        lines = _filter_lines(lines, text, inputs, is_wayback=rename is _wayback_line)
    chosen = sorted(lines, key=lambda line: (line["urlkey"], line["timestamp"]), reverse=inputs["sort"] == "reverse")
    if inputs["collapse"]:
        name, _, size = inputs["collapse"].partition(":")
        size = int(size) if size.isascii() and size.isdigit() and len(size) < 10 else None
        chosen = [next(group) for _, group in groupby(chosen, lambda line: line.get(name, "")[:size])]
    if inputs["closest"]:
        wanted = int(_bound(inputs["closest"], "0"))
        chosen.sort(key=lambda line: abs(int(line["timestamp"]) - wanted))
    return chosen, len(found) <= most


def _page_count(state: AppState, url: str, match: Match, portion: int) -> dict[str, int]:
    """Return the number of pages, with the fields of pywb."""

    def count() -> int:
        found = captures_matching(state.path, state.settings, url, match)
        return sum(1 for _ in islice(found, MAX_PAGES * portion))

    captures = state.cached(f"captures {match} {url} {portion}", count, wait_s=COUNT_WAIT_S)
    if captures is None:
        raise BadRequest("counting the captures; try again in a moment", 503, retry_after_s=5)
    return {"pages": -(-captures // portion), "pageSize": portion // BLOCK, "blocks": -(-captures // BLOCK)}


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


def _wayback_line(line: Line) -> Line:
    return {WAYBACK_FIELDS.get(name, name): value.removeprefix("sha1:") for name, value in line.items()}


def _filter_lines(lines: Iterable[Line], text: str, inputs: Inputs, *, is_wayback: bool) -> Iterator[Line]:
    """Return the lines with a field that matches; without the name of a field, the whole line counts."""
    found = _FILTER.fullmatch(text)
    if found is None:
        raise BadRequest("filter must be [!][=|~]field:value")
    no, how, name, value = found.groups()
    if is_wayback:
        how = "~" if _NOT_PLAIN.search(value) else "="
    if how == "~" and inputs.user is ANONYMOUS:
        raise BadRequest("log in to use regular expressions, since some are very slow", 403)
    try:
        matches = value.__eq__ if how == "=" else field_test(value, is_expression=how == "~")
    except ValueError as error:
        raise BadRequest(f"filter: {error}") from error
    return (line for line in lines if matches(line.get(name, "") if name else _text(line, [])) != bool(no))


def _select_fields(line: Line, fields: list[str]) -> Line:
    return {name: line[name] for name in fields if name in line} if fields else line


def _text(line: Line, fields: list[str]) -> str:
    rest = {name: value for name, value in line.items() if name not in ("urlkey", "timestamp")}
    return f"{line['urlkey']} {line['timestamp']} {orjson.dumps(_select_fields(rest, fields)).decode()}\n"
