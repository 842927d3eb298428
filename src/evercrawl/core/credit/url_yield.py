"""Which URLs of a site show pages, and which only other views of them: old versions, sort orders, print forms.
A URL that names nothing that no other named before, or only adds a number or another page to a known one, is taken for
a view; with a hash in it, for a version. What the kinds of URLs of a site yield corrects that. It only orders the
queue: views come after pages, and kinds without new content last."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

import orjson

from evercrawl.core.scope.scope import Answers
from evercrawl.core.traps.url_pattern import placeholder
from evercrawl.core.url import site_of

MAX_KINDS, KEPT_KINDS = 512, 384  # Kinds of URLs kept per site. If there are more, the least visited are dropped.
MAX_PARAMETERS = 6  # Parameters of one URL that are examined.
MAX_WORD_CHARS = 20  # A longer value of a parameter is a name, not a choice such as `action=history`.
PAGE_PRIOR, VERSION_PRIOR, VIEW_PRIOR, PRIOR_WEIGHT = 0.5, 0.3, 0.15, 2
"""Expected yield of a kind that was never visited, and how many visits it counts for. A version is a URL with a hash;
the first one that is found of a page may be all that there is of it."""
PAGE_FROM, VIEW_FROM = 0.2, 0.08  # Expected yield from which a URL is queued as a page, or as a view.

AGAIN = "again "  # Begins the kind of views: what a kind yields depends on whether it is the first to name something.

_HASH = re.compile(r"(?<=[/=])(?=[a-f]*\d)(?:[0-9a-f]{16,}|(?=\d*[a-f])[0-9a-f]{12,15})(?=[&;:/?]|\Z)", re.IGNORECASE)
"""A hash, in full or cut to at least twelve digits. Digits alone may be a time."""
_HASH_AT_END = re.compile(r"(?<=/)[0-9a-f]{12,}(?=/?\Z)", re.IGNORECASE)
_SEPARATOR = re.compile("[&;]")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[A-Za-z_-]+\Z")
_LETTER = re.compile(r"[^\W\d_]")


class Tier(IntEnum):
    """When a URL is visited, compared to others of its site."""

    PAGE = 0
    VERSION = 1
    VIEW = 2
    POOR = 3


class Form(IntEnum):
    """What the form of a URL says about its page."""

    PAGE = 0
    FIRST_VERSION = 1  # It has a hash, and names something for the first time.
    VIEW = 2

    @property
    def prior(self) -> float:
        """The expected yield of a kind of this form that was never visited."""
        return (PAGE_PRIOR, VERSION_PRIOR, VIEW_PRIOR)[self]


@dataclass(frozen=True, slots=True)
class SiteYield:
    """What visits to the kinds of URLs of one site yielded: number of visits and sum of yields."""

    kinds: dict[str, tuple[int, float]] = field(default_factory=dict)
    has_poor_kinds: bool = False  # Some kind yielded little, so URLs without parameters are examined too.
    answers: Answers = field(default_factory=dict)  # Whether URLs with endings of files answered with pages.


def kinds_of(url: str, form: Form = Form.PAGE) -> tuple[str, ...]:
    """Return the kinds of a URL: by the first two or three segments of its path, and by the last one."""
    if form is Form.VIEW:
        return tuple(AGAIN + kind for kind in kinds_of(url))
    start = url.find("/", url.find("//") + 2)
    path, _, query = (url[start:] if start >= 0 else "/").partition("?")
    names = _parameter_names(query) if query else ""
    segments = path.split("/")[1:]
    first = "/".join(_generalize(segment) for segment in segments[:2])
    if len(segments) <= 2:
        return (f"/{first}?{names}",)
    last = segments[-1] or f"{segments[-2]}/"
    kinds = f"/{first}/*?{names}", f"*/{_generalize(last)}?{names}"
    return kinds if len(segments) <= 3 else (*kinds, f"/{first}/{_generalize(segments[2])}/*?{names}")


def _generalize(segment: str) -> str:
    return placeholder(segment) or _DIGITS.sub("{n}", segment)


def _parameter_names(query: str) -> str:
    """Return the names of the parameters, with the values that are words."""
    shown = []
    for pair in _SEPARATOR.split(query)[:MAX_PARAMETERS]:
        name, _, value = pair.partition("=")
        is_word = len(value) <= MAX_WORD_CHARS and _WORD.match(value) is not None
        shown.append(f"{name}={value}" if is_word else name)
    return "&".join(sorted(shown))


def plainer_urls(url: str) -> Iterator[str]:
    """Yield the URL without its query, and without each parameter."""
    base, _, query = url.partition("?")
    yield base
    pairs = _SEPARATOR.split(query)
    if 1 < len(pairs) <= MAX_PARAMETERS:
        mark = ";" if ";" in query else "&"
        for place in range(len(pairs)):
            yield f"{base}?{mark.join(pairs[:place] + pairs[place + 1 :])}"


def without_format(url: str) -> str | None:
    """Return the URL of which this one may be another format: `/issues/12` for `/issues/12.json`, `/tea/` for
    `/tea/index.md`; None: of none."""
    base, _, ending = url.rpartition(".")
    if not 2 <= len(ending) <= 5 or not ending.isalpha() or not ending.isascii() or base.endswith("/"):
        return None
    if not base or "?" in base:
        return None
    return base.removesuffix("index") if base.endswith("/index") else base


def looks_like_view(url: str, is_known: Callable[[str], bool]) -> bool:
    """Return whether a URL adds a parameter to a known one."""
    return "?" in url and any(map(is_known, plainer_urls(url)))


def hashes_in(url: str) -> int:
    """Return the number of hashes in a URL, such as versions."""
    return len(_HASH.findall(url))


def has_version(url: str) -> bool:
    """Return whether a hash in a URL is a version; at the end of the path it is a name."""
    return hashes_in(url) > ("?" not in url and _HASH_AT_END.search(url) is not None)


def parameters_of(url: str) -> str:
    """Return the names of the parameters of a URL."""
    return "&".join(sorted(pair.partition("=")[0] for pair in _SEPARATOR.split(url.partition("?")[2])))


class UrlName(NamedTuple):
    """Something that a URL names by a parameter, or by all but its hashes."""

    text: str
    is_word: bool = False  # It has letters, and names the same on all paths: `f=src/main.py`, not `page=2`.
    bare: str | None = None  # The text of the same name without a parameter: `?HomePage` for `?id=HomePage`.
    target: str | None = None  # The URL that it is, if it is one of the same site: `next=/login`.


def names_in(url: str) -> list[UrlName]:
    """Return what a URL names. If others named all of it before, it is another view or another version.
    A hash at the end of the path is a name: `/commit/9fceb02d0ae5`. Before other segments it is a version."""
    subject, site = _HASH.sub("", url), site_of(url)
    if subject != url and "?" not in url and (last := _HASH_AT_END.search(url)) is not None:
        return [UrlName(f"{site}#{last[0].lower()}")]
    base, _, query = subject.partition("?")
    pairs = _SEPARATOR.split(query)[:MAX_PARAMETERS] if query else []
    if len(pairs) == 1 and "=" not in query and _LETTER.search(query) is not None:
        return [UrlName(f"{site}?{query}", is_word=True)]
    found = []
    for pair in pairs:
        value = pair.partition("=")[2]
        if value and _LETTER.search(value) is not None:
            found.append(UrlName(f"{site}?{pair}", True, f"{site}?{value}", _target(site, value)))
        elif value:
            found.append(UrlName(f"{base}?{pair}", target=_target(site, value)))
    return found or [UrlName(subject)]


def _target(site: str, value: str) -> str | None:
    value = unquote(value)
    return site + value if value.startswith("/") else value if value.startswith(site + "/") else None


def expected_yield(site: SiteYield, url: str, form: Form) -> float:
    """Return the share of new content that a visit should yield: that of the poorest kind the URL belongs to."""
    prior = form.prior
    if not site.kinds or not (form or site.has_poor_kinds or "?" in url):
        return prior
    known = [site.kinds[kind] for kind in kinds_of(url, form) if kind in site.kinds]
    return min((_expected(visits, total, prior) for visits, total in known), default=prior)


def _expected(visits: int, total: float, prior: float) -> float:
    return (PRIOR_WEIGHT * prior + total) / (PRIOR_WEIGHT + visits)


def tier_of(expected: float) -> Tier:
    """Return the tier of a URL with this expected yield."""
    return Tier.PAGE if expected >= PAGE_FROM else Tier.VIEW if expected >= VIEW_FROM else Tier.POOR


def after_visit(site: SiteYield, url: str, gain: float, form: Form = Form.PAGE) -> SiteYield:
    """Return the yields after a visit that found this share of new content."""
    kinds, has_poor = dict(site.kinds), site.has_poor_kinds
    for kind in kinds_of(url, form):
        visits, total = kinds.get(kind, (0, 0.0))
        kinds[kind] = (visits + 1, total + gain)
        has_poor = has_poor or _expected(visits + 1, total + gain, PAGE_PRIOR) < PAGE_FROM
    if len(kinds) > MAX_KINDS:
        kinds = dict(sorted(kinds.items(), key=lambda item: item[1][0], reverse=True)[:KEPT_KINDS])
    return SiteYield(kinds, has_poor, site.answers)


def yield_bytes(site: SiteYield) -> bytes:
    """Return the stored form."""
    kinds = [[kind, visits, round(total, 3)] for kind, (visits, total) in site.kinds.items()]
    return orjson.dumps([kinds, site.answers])


def yield_of(stored: bytes | None) -> SiteYield:
    """Read the stored form."""
    rows, answers = orjson.loads(stored or b"[[],{}]")
    kinds = {kind: (visits, total) for kind, visits, total in rows}
    has_poor = any(_expected(visits, total, PAGE_PRIOR) < PAGE_FROM for visits, total in kinds.values())
    return SiteYield(kinds, has_poor, {key: (pages, files) for key, (pages, files) in answers.items()})


MAX_DEPTH = 4  # Only the first segments of a path may be choices.
MAX_VALUES = 32  # A segment with more values is a name.
MAX_VALUE_CHARS = 24
MIN_SHARED = 4  # Rests of paths that were found behind another value first, before a value counts as a choice.
SHARED_ABOVE = 0.5  # Their share among all rests of the value.
RESTS_PER_CHOICE = 4
"""Rests of a value for each choice at its place. Five products with the same ten parts are no five views."""
MAX_PLACES = 4096  # Places in paths that are remembered.
CACHED_FOLDERS = 1024

_HASH_IN_PATH = re.compile(r"(?<![0-9a-z])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}(?![0-9a-z])", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+")


class PathPlace(NamedTuple):
    """A segment of a path, or two: what is before it, its value without hashes, and the rest."""

    before: str
    value: str
    rest: str
    has_hash: bool


class _FolderPlace(NamedTuple):
    """A segment of a folder, as of a path but without the end of the rest."""

    place: PathPlace
    has_letter: bool
    before_hash: int
    value_hash: int
    start: str  # What is before the segment, and the beginning of the rest.


def _places_and_name(url: str) -> tuple[Sequence[_FolderPlace], str]:
    """Return the segments of the folder whose rest has a letter, and the name behind them."""
    folder, _, name = url.partition("?")[0].rpartition("/")
    places = _folder_places(folder)
    if not places:
        return (), ""
    name = _without_hashes(name)
    if _LETTER.search(name) is None:
        return [place for place in places if place.has_letter], name
    return places, name


@lru_cache(maxsize=CACHED_FOLDERS)
def _folder_places(folder: str) -> tuple[_FolderPlace, ...]:
    start = folder.find("/", folder.find("//") + 2)
    if start < 0:
        return ()
    site, segments = folder[:start], folder[start:].split("/")
    plain = list(map(_without_hashes, segments))
    found = []

    def add(before: str, value: str, after: int, *, has_hash: bool) -> None:
        rest = "".join(f"{segment}/" for segment in plain[after:])
        has_letter, place = _LETTER.search(rest) is not None, PathPlace(before, value, rest, has_hash)
        found.append(_FolderPlace(place, has_letter, hash(before), hash(value), f"{before}\n{rest}"))

    for depth in range(1, min(MAX_DEPTH + 1, len(segments))):
        value, has_hash = plain[depth], plain[depth] != segments[depth]
        if has_hash or (value and len(value) <= MAX_VALUE_CHARS and not _DIGIT.search(value)):
            add(site + "/".join(plain[:depth]), value, depth + 1, has_hash=has_hash)
    for depth in range(1, min(MAX_DEPTH, len(segments) - 1)):
        view, version = segments[depth], _version(segments[depth + 1])
        if view and version and len(view) + len(version) <= 2 * MAX_VALUE_CHARS and not _DIGIT.search(view):
            before = f"{site}{'/'.join(plain[:depth])}//"
            add(before, f"{view}/{version}", depth + 2, has_hash="#" in version)
    return tuple(found)


def _without_hashes(segment: str) -> str:
    return _HASH_IN_PATH.sub("", segment) if _DIGIT.search(segment) else segment


def _version(segment: str) -> str:
    """Return a segment with a mark for each hash and number: behind a view, both are versions."""
    return _NUMBER.sub("#", _HASH_IN_PATH.sub("#", segment)) if _DIGIT.search(segment) else segment


def parents_of(url: str) -> tuple[str, ...]:
    """Return the URLs of which this one may be a view that its last segment names: `/tea/` and `/tea` for
    `/tea/history`; none if the segment is no word."""
    folder, _, name = url.removesuffix("/").rpartition("/")
    is_word = 0 < len(name) <= MAX_VALUE_CHARS and "?" not in url and not _DIGIT.search(name)
    return (f"{folder}/", folder) if is_word and folder.count("/") > 2 else ()


@dataclass(slots=True)
class _Value:
    rests: int = 0
    shared: int = 0  # Rests that were found behind another value first.

    @property
    def is_shared(self) -> bool:
        return self.shared >= max(MIN_SHARED, SHARED_ABOVE * self.rests)


@dataclass(slots=True)
class _Rest:
    value: int
    url: int
    has_hash: bool
    values: set[int] = field(default_factory=set)
    version: int = 0  # The version of `url` that was found first.


class Endings:
    """Remembers which words follow the URLs of pages: `/edit`, `/raw`. Bounded, the oldest are forgotten."""

    def __init__(self) -> None:
        self._pages: dict[int, set[int]] = {}

    def page_of(self, url: str, is_known: Callable[[str], bool]) -> str | None:
        """Return the known page of which a URL is a view, since its last segment follows many pages."""
        page = next(filter(is_known, parents_of(url)), None)
        if page is None:
            return None
        pages = self._pages.setdefault(hash(site_of(url) + url[len(page.removesuffix("/")) :]), set())
        if len(pages) < MIN_SHARED:
            pages.add(hash(page))
        if len(self._pages) > MAX_PLACES:
            _forget_oldest(self._pages, MAX_PLACES)
        return page if len(pages) >= MIN_SHARED else None


class PathViews:
    """Remembers which URLs were the first to name what is in a path. Bounded, the oldest are forgotten."""

    def __init__(self, max_names: int) -> None:
        self._max_names = max_names
        self._rests: dict[int, _Rest] = {}
        self._places: dict[int, dict[int, _Value]] = {}

    def is_view(self, url: str) -> bool:
        """Return whether a URL shows once more what another URL showed first; what it names is remembered."""
        return next(self.pages_of(url), None) is not None

    def pages_of(self, url: str) -> Iterator[int]:
        """Yield the hashes of the URLs of which a URL is a view."""
        places, name = _places_and_name(url)
        rests, known = self._rests, self._places
        for place, _, before, value, start in places:
            values = known.get(before)
            if values is None:
                values = known[before] = {}
            key = hash(start + name)
            rest = rests.get(key)
            if rest is None or value not in rest.values:
                rest = self._learn(key, value, values, url, has_hash=place.has_hash)
            if rest.value != value and _is_choice(values, value):
                yield rest.url
        if len(self._rests) > self._max_names:
            _forget_oldest(self._rests, self._max_names)
        if len(self._places) > MAX_PLACES:
            _forget_oldest(self._places, MAX_PLACES)

    def versions_of(self, url: str) -> Iterator[int]:
        """Yield the hashes of the URLs that were found first, of which a URL is the current version."""
        places, name = _places_and_name(url)
        for _, _, _, value, start in places:
            rest = self._rests.get(hash(start + name))
            if rest is not None and rest.version and rest.value == value:
                yield rest.version

    def _learn(self, key: int, value: int, values: dict[int, _Value], url: str, *, has_hash: bool) -> _Rest:
        rest = self._rests.get(key)
        if rest is None:
            self._rests[key] = rest = _Rest(value, hash(url), has_hash)
        if value not in rest.values and len(values) <= MAX_VALUES:
            stats = values.setdefault(value, _Value())
            stats.rests += 1
            rest.values.add(value)
            if rest.has_hash and not has_hash:
                values.setdefault(rest.value, _Value()).shared += 1
                rest.version = rest.url
                rest.value, rest.url, rest.has_hash = value, hash(url), False
            stats.shared += rest.value != value
        return rest


def _is_choice(values: dict[int, _Value], value: int) -> bool:
    stats = values.get(value)
    if stats is None or not stats.is_shared or len(values) > MAX_VALUES:
        return False
    return stats.rests >= RESTS_PER_CHOICE * sum(other.is_shared for other in values.values())


def _forget_oldest(known: dict[int, Any], most: int) -> None:
    while len(known) > most:
        del known[next(iter(known))]
