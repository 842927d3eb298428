"""Does a URL repeat itself? Relative links that pile up, symbolic-link cycles, URLs inside themselves.

Twice is normal on honest sites (`/docs/latest/docs/`, `/org/archive/archive/`); three times in a row is not,
except where the segments are numbers or stand for "no choice made".
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from evercrawl.core.traps.url_parts import UrlParts, percent_decode, percent_decode_all

MOST_IN_A_ROW = 2
"""Times that a group of segments may stand in a row (Heritrix's rule)."""
MOST_PLACEHOLDERS_IN_A_ROW = 5
"""The same for numbers and for words that fill an empty place: /11/11/11/, /list/0/0/0/, /all/all/all/."""
LEAST_SCATTERED = 4
"""A segment that comes so often, always the same number of segments apart, is a cycle."""
LEAST_ANYWHERE = 6
MOST_SLASHES_IN_A_ROW = 3
MOST_EMPTY_SEGMENTS = 5
MOST_EQUAL_PARAMETERS = 2
MOST_NESTED = 2
"""Levels at which the same parameter or the same page may stand inside itself."""
MOST_ENCODINGS = 2

_PLACEHOLDER = re.compile(r"(?:\d{1,4}|[^\w]+|_+|all|any|none|null|default)\Z")
_PAGE_FILE = re.compile(r"[^/]+\.(?:php\d?|x?html?|s?html|aspx?|jspx?|jsf|cgi|pl|cfm|do)\Z")
_SLASHES = re.compile(f"/{{{MOST_SLASHES_IN_A_ROW + 1},}}")
_ENTITY = re.compile(r"(?:amp(?:;|%3b)){3,}", re.IGNORECASE)
_ENCODED_AGAIN = re.compile(f"%(?:25){{{MOST_ENCODINGS + 1},}}")
_PARAMETER = re.compile(r"[?&]([\w.\-\[\]]+)=")
_PAGE = re.compile(r"([^?&=#\s]+)\?")
_INNERMOST = re.compile(r"=((?:https?:/)?/[^?&=#\s]+)(?=&|\Z)")
_ONE_VALUE = frozenset((
    "sort", "sortby", "sort_by", "order", "orderby", "order_by", "dir", "direction", "view", "page", "offset",
    "start", "limit", "per_page",
))  # fmt: skip
"""Parameters that a list needs once: links that append to their own page have them again and again."""


def repeats(parts: UrlParts) -> str | None:
    """In words, what the URL repeats more often than honest ones do; None: nothing."""
    return _in_path(parts) or _in_host(parts) or _slashes(parts) or (_in_query(parts) if parts.query else None)


def _in_path(parts: UrlParts) -> str | None:
    segments = parts.segments
    if len(segments) < 3 or len(set(segments)) > len(segments) - 2:
        return _page_files(segments)
    return _in_a_row(segments) or _scattered(segments) or _page_files(segments)


def _in_a_row(segments: tuple[str, ...]) -> str | None:
    for size in range(1, len(segments) // (MOST_IN_A_ROW + 1) + 1):
        for start in range(len(segments) - size * (MOST_IN_A_ROW + 1) + 1):
            group = segments[start : start + size]
            times = _times(segments, start, group)
            if times > _most_in_a_row(group):
                return f"the path repeats /{'/'.join(group)}/ {times} times in a row"
    return None


def _times(segments: tuple[str, ...], start: int, group: tuple[str, ...]) -> int:
    times, size = 1, len(group)
    while segments[start + times * size : start + (times + 1) * size] == group:
        times += 1
    return times


def _most_in_a_row(group: tuple[str, ...]) -> int:
    is_filler = all(_PLACEHOLDER.match(segment) for segment in group)
    return MOST_PLACEHOLDERS_IN_A_ROW if is_filler else MOST_IN_A_ROW


def _scattered(segments: tuple[str, ...]) -> str | None:
    for segment, times in Counter(segments).items():
        if times < LEAST_SCATTERED or _PLACEHOLDER.match(segment):
            continue
        places = [place for place, other in enumerate(segments) if other == segment]
        steps = {after - before for before, after in pairwise(places)}
        if len(steps) == 1 or times >= LEAST_ANYWHERE:
            return f"the path comes through /{segment}/ {times} times"
    return None


def _page_files(segments: tuple[str, ...]) -> str | None:
    """A page that serves as a folder, again: /index.php/news/index.php/news."""
    folders = [segment for segment in segments[:-1] if "." in segment and _PAGE_FILE.match(segment)]
    if len(folders) > 1 and (len(set(folders)) < len(folders) or len(folders) > MOST_NESTED):
        return f"the page {folders[0]} stands as a folder {len(folders)} times"
    return None


def _in_host(parts: UrlParts) -> str | None:
    labels = parts.host.split(".")[:-2]  # co.co.co.uk is a name that somebody may own
    for label, after, last in zip(labels, labels[1:], labels[2:], strict=False):
        if label == after == last and not label.isdigit():
            return f"the host name repeats {label!r} three times"
    return None


def _slashes(parts: UrlParts) -> str | None:
    if "//" not in parts.path:
        return None
    run = _SLASHES.search(parts.path)
    if run is not None:
        return f"{len(run[0])} slashes in a row"
    empty = parts.path.count("//")
    return f"{empty} empty segments in the path" if empty > MOST_EMPTY_SEGMENTS else None


def _in_query(parts: UrlParts) -> str | None:
    if len(parts.pairs) > MOST_EQUAL_PARAMETERS:
        pair, times = Counter(parts.pairs).most_common(1)[0]
        if times > MOST_EQUAL_PARAMETERS and pair[1]:
            return f"the parameter {pair[0]}={pair[1][:40]} comes {times} times"
        single = Counter(name for name, _ in parts.pairs if name in _ONE_VALUE)
        name, times = single.most_common(1)[0] if single else ("", 0)
        if times > MOST_EQUAL_PARAMETERS:
            return f"the parameter {name}, of which one is needed, comes {times} times"
    if parts.query.count("?") >= MOST_NESTED:
        name, times = Counter(query.partition("=")[0] for query in parts.query.split("?")).most_common(1)[0]
        if times > MOST_NESTED and name:
            return f"a query with {name[:40]}= stands behind itself {times} times"
    if _ENTITY.search(parts.query):
        return "an ampersand that was escaped again and again"
    if "%25" in parts.query and _ENCODED_AGAIN.search(parts.query):
        return "a value that was percent-encoded again and again"
    return None


def nests(parts: UrlParts) -> str | None:
    """In words, what stands inside itself: a URL in a URL in a URL; None: nothing.

    One URL inside another is normal (`login?next=`, translators, archives), also two of different pages.
    """
    if "?" not in parts.query and "3F" not in parts.query and "3f" not in parts.query:
        return _query_in_path(parts)
    text = percent_decode_all(parts.path + "?" + parts.query)
    names = Counter(name.lower() for name in _inner_parameters(text))
    pages = Counter(_without_site(page) for page in (*_PAGE.findall(text), *_INNERMOST.findall(text)))
    for what, counts in (("parameter", names), ("page", pages)):
        for value, times in counts.items():
            if times > MOST_NESTED:
                return f"the {what} {value[:60]} stands inside itself {times} times"
    return _query_in_path(parts)


def _inner_parameters(text: str) -> list[str]:
    """The names of parameters that hold a path or a URL; others may come as often as they like."""
    return [match[1] for match in _PARAMETER.finditer(text) if _holds_address(text[match.end() :])]


def _holds_address(value: str) -> bool:
    return value.startswith(("/", "http:", "https:")) or "?" in value.partition("&")[0]


def _without_site(page: str) -> str:
    _, double, rest = page.rpartition("//")
    return "/" + rest.partition("/")[2] if double else page


def _query_in_path(parts: UrlParts) -> str | None:
    """Queries that became part of the path, because a link was joined to the wrong place."""
    if "%3" not in parts.path:
        return None
    times = percent_decode(parts.path).count("?")
    return f"{times} queries inside the path" if times > MOST_NESTED else None
