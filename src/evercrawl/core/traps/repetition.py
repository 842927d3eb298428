"""Find URLs that repeat themselves: piled-up relative links, symbolic-link cycles, URLs inside URLs.
Twice is normal (`/docs/latest/docs/`, `/org/archive/archive/`). Three times in a row is not, unless the segments are
numbers or mean "no choice"."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from evercrawl.core.traps.url_parts import UrlParts, percent_decode, percent_decode_all

MAX_IN_A_ROW = 2  # Times that a group of segments may occur in a row (Heritrix's rule).
MAX_PLACEHOLDERS_IN_A_ROW = 5  # The same for numbers and fillers: /11/11/11/, /list/0/0/0/, /all/all/all/.
MIN_SCATTERED = 4  # A segment this frequent at equal distances is a cycle.
MIN_ANYWHERE = 6
MAX_SLASHES_IN_A_ROW = 3
MAX_EMPTY_SEGMENTS = 5
MAX_EQUAL_PARAMETERS = 2
MAX_NESTED = 2  # Levels at which a parameter or page may contain itself.
MAX_ENCODINGS = 2

_PLACEHOLDER = re.compile(r"(?:\d{1,4}|[^\w]+|_+|all|any|none|null|default)\Z")
_PAGE_FILE = re.compile(r"[^/]+\.(?:php\d?|x?html?|s?html|aspx?|jspx?|jsf|cgi|pl|cfm|do)\Z")
_SLASHES = re.compile(f"/{{{MAX_SLASHES_IN_A_ROW + 1},}}")
_ENTITY = re.compile(r"(?:amp(?:;|%3b)){3,}", re.IGNORECASE)
_ENCODED_AGAIN = re.compile(f"%(?:25){{{MAX_ENCODINGS + 1},}}")
_PARAMETER = re.compile(r"[?&]([\w.\-\[\]]+)=")
_PAGE = re.compile(r"(?<![^?&=#\s])([^?&=#\s]++)\?")
_INNERMOST = re.compile(r"=((?:https?:/)?/[^?&=#\s]+)(?=&|\Z)")
_ONE_VALUE = frozenset((
    "sort", "sortby", "sort_by", "order", "orderby", "order_by", "dir", "direction", "view", "page", "offset",
    "start", "limit", "per_page",
))  # fmt: skip
"""Parameters that a list needs once. Links that append to their own page repeat them."""


def repetition(parts: UrlParts) -> str | None:
    """Return what the URL repeats too often, if anything."""
    return _in_path(parts) or _in_host(parts) or _slashes(parts) or (_in_query(parts) if parts.query else None)


def _in_path(parts: UrlParts) -> str | None:
    segments = parts.segments
    if len(segments) < 3 or len(set(segments)) > len(segments) - 2:
        return _page_files(segments)
    return _in_a_row(segments) or _scattered(segments) or _page_files(segments)


def _in_a_row(segments: tuple[str, ...]) -> str | None:
    for size in range(1, len(segments) // (MAX_IN_A_ROW + 1) + 1):
        for start in range(len(segments) - size * (MAX_IN_A_ROW + 1) + 1):
            group = segments[start : start + size]
            times = _times(segments, start, group)
            is_filler = all(_PLACEHOLDER.match(segment) for segment in group)
            if times > (MAX_PLACEHOLDERS_IN_A_ROW if is_filler else MAX_IN_A_ROW):
                return f"the path repeats /{'/'.join(group)}/ {times} times in a row"
    return None


def _times(segments: tuple[str, ...], start: int, group: tuple[str, ...]) -> int:
    times, size = 1, len(group)
    while segments[start + times * size : start + (times + 1) * size] == group:
        times += 1
    return times


def _scattered(segments: tuple[str, ...]) -> str | None:
    for segment, times in Counter(segments).items():
        if times < MIN_SCATTERED or _PLACEHOLDER.match(segment):
            continue
        places = [place for place, other in enumerate(segments) if other == segment]
        steps = {after - before for before, after in pairwise(places)}
        if len(steps) == 1 or times >= MIN_ANYWHERE:
            return f"the path contains /{segment}/ {times} times"
    return None


def _page_files(segments: tuple[str, ...]) -> str | None:
    """Find a page used as a folder again: /index.php/news/index.php/news."""
    folders = [segment for segment in segments[:-1] if "." in segment and _PAGE_FILE.match(segment)]
    if len(folders) > 1 and (len(set(folders)) < len(folders) or len(folders) > MAX_NESTED):
        return f"the page {folders[0]} is used as a folder {len(folders)} times"
    return None


def _in_host(parts: UrlParts) -> str | None:
    labels = parts.host.split(".")[:-2]  # co.co.co.uk can be registered
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
    return f"{empty} empty segments in the path" if empty > MAX_EMPTY_SEGMENTS else None


def _in_query(parts: UrlParts) -> str | None:
    if len(parts.pairs) > MAX_EQUAL_PARAMETERS:
        pair, times = Counter(parts.pairs).most_common(1)[0]
        if times > MAX_EQUAL_PARAMETERS and pair[1]:
            return f"the parameter {pair[0]}={pair[1][:40]} occurs {times} times"
        single = Counter(name for name, _ in parts.pairs if name in _ONE_VALUE)
        name, times = single.most_common(1)[0] if single else ("", 0)
        if times > MAX_EQUAL_PARAMETERS:
            return f"the parameter {name} occurs {times} times"
    if parts.query.count("?") >= MAX_NESTED:
        name, times = Counter(query.partition("=")[0] for query in parts.query.split("?")).most_common(1)[0]
        if times > MAX_NESTED and name:
            return f"a query with {name[:40]}= follows itself {times} times"
    if _ENTITY.search(parts.query):
        return "an ampersand escaped repeatedly"
    if "%25" in parts.query and _ENCODED_AGAIN.search(parts.query):
        return "a value percent-encoded repeatedly"
    return None


def nesting(parts: UrlParts) -> str | None:
    """Return what contains itself (a URL in a URL in a URL), if anything.
    One URL inside another is normal (`login?next=`, translators, archives), as are two of different pages."""
    if "?" not in parts.query and "3F" not in parts.query and "3f" not in parts.query:
        return _query_in_path(parts)
    text = percent_decode_all(parts.path + "?" + parts.query)
    names = Counter(name.lower() for name in _inner_parameters(text))
    pages = Counter(_without_site(page) for page in (*_PAGE.findall(text), *_INNERMOST.findall(text)))
    for what, counts in (("parameter", names), ("page", pages)):
        for value, times in counts.items():
            if times > MAX_NESTED:
                return f"the {what} {value[:60]} contains itself {times} times"
    return _query_in_path(parts)


def _inner_parameters(text: str) -> list[str]:
    """Return the names of parameters that hold a path or URL. Others may repeat freely."""
    return [match[1] for match in _PARAMETER.finditer(text) if _holds_address(text[match.end() :])]


def _holds_address(value: str) -> bool:
    return value.startswith(("/", "http:", "https:")) or "?" in value.partition("&")[0]


def _without_site(page: str) -> str:
    _, double, rest = page.rpartition("//")
    return "/" + rest.partition("/")[2] if double else page


def _query_in_path(parts: UrlParts) -> str | None:
    """Find queries in the path, left by links joined to the wrong place."""
    if "%3" not in parts.path:
        return None
    times = percent_decode(parts.path).count("?")
    return f"{times} queries inside the path" if times > MAX_NESTED else None
