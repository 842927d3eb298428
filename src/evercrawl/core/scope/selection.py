"""Which pages to keep: by media type, size, language, date and keywords, for the collection and for single sites.
Media type and size are judged by the header of a response, which is cut off there if nothing of it is wanted. The other
conditions need the text: such a page counts as visited, is not kept, and its links are followed unless told otherwise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from math import log2
from typing import NamedTuple
from urllib.parse import unquote

from evercrawl.core.document.media_type import HTML_TYPES, may_be_of_type, sniff_media_type, types_not_fetched
from evercrawl.core.faults import http_date
from evercrawl.core.http.message import type_refusal
from evercrawl.core.url import path_of, site_of, site_parts
from evercrawl.errors import ConfigError
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers, ResponseConditions, header
from evercrawl.model.reason import Reason, RefusalReason
from evercrawl.model.settings import ScopeSettings, SiteSettings
from evercrawl.model.time import parse_time

SELECTION_REASONS = frozenset((Reason.MEDIA_TYPE, Reason.SIZE, Reason.LANGUAGE, Reason.DATE, Reason.KEYWORDS))
"""Reasons of pages that were requested but are not kept."""
UNBROKEN_SCRIPTS_FROM = "\u2e80"  # From here on most scripts have no space between words.

_DYNAMIC_PATH = re.compile(
    r"/cgi-bin/|/cgi/|\.(?:aspx?|cfm|cgi|dll|do|fcgi|jsp|php[3-8]?|pl|py|rb|shtml)(?=[/;]|$)", re.IGNORECASE
)
_PLACES = ("url", "title", "text")


class FetchedPage(NamedTuple):
    """A page as it was fetched."""

    url: str
    headers: Headers
    body: bytes
    is_seed: bool = False


@dataclass(frozen=True)
class Selection:
    """The conditions that hold for a URL."""

    media_types: tuple[str, ...] = ()
    exclude_media_types: tuple[str, ...] = ()
    fetch_types: frozenset[str] = frozenset()
    min_bytes: int | None = None
    max_bytes: int | None = None
    languages: tuple[str, ...] = ()
    newer_than: str | None = None
    older_than: str | None = None
    keywords: tuple[str, ...] = ()
    exclude_keywords: tuple[str, ...] = ()
    follow_rejected: bool = True
    dynamic_pages: bool = True
    max_depth: int | None = None
    max_pages: int | None = None
    exclude: tuple[str, ...] = ()
    priority: int = 0  # Queue levels up.
    weight: float = 1.0  # How much a current copy counts.
    render: str | None = None  # Which pages to render; None: as `render.mode` says.
    schedule: str | None = None  # When to visit again; None: learned.

    @cached_property
    def _wanted(self) -> tuple[Keyword, ...]:
        return tuple(map(parse_keyword, self.keywords))

    @cached_property
    def _unwanted(self) -> tuple[Keyword, ...]:
        return tuple(map(parse_keyword, self.exclude_keywords))

    @cached_property
    def _excluded(self) -> tuple[re.Pattern[str], ...]:
        return tuple(map(re.compile, self.exclude))

    def conditions(self, *, is_seed: bool) -> ResponseConditions:
        """Return what a response must be like to be kept; a seed may be a file of any type."""
        found: ResponseConditions = self._seed_conditions if is_seed else self._link_conditions
        return found

    @cached_property
    def _seed_conditions(self) -> ResponseConditions:
        return self._conditions(())

    @cached_property
    def _link_conditions(self) -> ResponseConditions:
        return self._conditions(() if self.media_types else types_not_fetched(self.fetch_types))

    def _conditions(self, not_fetched: tuple[str, ...]) -> ResponseConditions:
        return ResponseConditions(
            self.media_types,
            (*self.exclude_media_types, *not_fetched),
            HTML_TYPES if self.follow_rejected else (),
            self.max_bytes,
            self.text_of(Reason.MEDIA_TYPE),
            self.text_of(Reason.SIZE),
        )

    @property
    def wants_files(self) -> bool:
        """Whether images and other parts of pages may be wanted."""
        return bool(self.fetch_types or self.media_types)

    @property
    def reads_content(self) -> bool:
        """Whether a page is kept or not for what it says."""
        return bool(self.languages or self.newer_than or self.older_than or self.keywords or self.exclude_keywords)

    def accepts_file_type(self, kind: str) -> bool:
        """Whether the extension of a URL promises a type of file that may be wanted."""
        return may_be_of_type(kind, self.media_types) if self.media_types else kind in self.fetch_types

    def url_refusal(self, url: str, *, depth: int) -> RefusalReason | None:
        """Return why a URL is not requested; None: these conditions allow it."""
        if self.max_depth is not None and depth > self.max_depth:
            return Reason.TOO_DEEP, f"{depth} links from a seed, at most {self.max_depth}"
        if not self.dynamic_pages and is_dynamic(url):
            return Reason.DYNAMIC, "scope.dynamic_pages is off"
        return self.word_refusal(url)

    def word_refusal(self, url: str) -> RefusalReason | None:
        """Return which pattern or keyword excludes a URL."""
        for pattern in self._excluded:
            if pattern.search(url):
                return Reason.EXCLUDED, f"matches {pattern.pattern!r}"
        for word in self._unwanted:
            if word.place == "url" and word.is_in(url_words(url)):
                return Reason.KEYWORDS, f"the URL has an excluded word: {self.text_of(Reason.KEYWORDS)}"
        return None

    def content_refusal(
        self, page: FetchedPage, document: Document | None, *, language: str | None, now: datetime
    ) -> RefusalReason | None:
        """Return why a fetched page is not kept; None: it is. What is not known about it does not count against it."""
        conditions, size = self.conditions(is_seed=page.is_seed), len(page.body)
        refused = type_refusal(conditions, sniff_media_type(page.headers, page.body))
        if refused is not None:
            return Reason.MEDIA_TYPE, refused
        if size < (self.min_bytes or 0) or size > (self.max_bytes or size):
            return Reason.SIZE, f"{size} bytes: {self.text_of(Reason.SIZE)}"
        if document is None:
            return self._keyword_refusal(page.url, "", "")
        return (
            self._language_refusal(language)
            or self._date_refusal(document, page.headers, now)
            or self._keyword_refusal(page.url, document.title or "", document.text)
        )

    def _language_refusal(self, language: str | None) -> RefusalReason | None:
        if not self.languages or language is None or any(_is_language(language, one) for one in self.languages):
            return None
        return Reason.LANGUAGE, f"the language is {language}: {self.text_of(Reason.LANGUAGE)}"

    def _date_refusal(self, document: Document, headers: Headers, now: datetime) -> RefusalReason | None:
        if self.newer_than is None and self.older_than is None:
            return None
        date = page_date(document, headers)
        if date is None:
            return None
        is_old = self.newer_than is not None and date < parse_time(self.newer_than, now=now)
        is_new = self.older_than is not None and date > parse_time(self.older_than, now=now, at_end=True)
        if not is_old and not is_new:
            return None
        return Reason.DATE, f"the page is dated {date:%Y-%m-%d}: {self.text_of(Reason.DATE)}"

    def _keyword_refusal(self, url: str, title: str, text: str) -> RefusalReason | None:
        if not self.keywords and not self.exclude_keywords:
            return None
        texts = {"url": url_words(url), "title": title, "text": text}
        for word in self._unwanted:
            if word.is_found(texts):
                return Reason.KEYWORDS, f"it contains {word.text!r}: {self.text_of(Reason.KEYWORDS)}"
        if self._wanted and not any(word.is_found(texts) for word in self._wanted):
            return Reason.KEYWORDS, f"no keyword was found: {self.text_of(Reason.KEYWORDS)}"
        return None

    def judge_again(self, reason: Reason, detail: str, *, is_seed: bool) -> RefusalReason | None:
        """Return why a page that was not kept is not wanted today, as far as the stored detail tells; None: it may be.
        The detail ends with the condition of its time: if that has changed, only a new visit can tell."""
        evidence = detail.partition(": ")[0]
        if reason is Reason.MEDIA_TYPE:
            refused = type_refusal(self.conditions(is_seed=is_seed), evidence)
            return None if refused is None else (reason, refused)
        if reason is Reason.LANGUAGE:
            return self._language_refusal(evidence.rpartition(" ")[2])
        condition = self.text_of(reason)
        return (reason, detail) if condition and detail.endswith(f": {condition}") else None

    def text_of(self, reason: Reason) -> str:
        """Return the condition behind a reason in words; it changes when the condition does."""
        match reason:
            case Reason.MEDIA_TYPE:
                return (
                    _joined(
                        {
                            "media_types": self.media_types,
                            "excluded": self.exclude_media_types,
                            "fetch_types": self.fetch_types,
                        }
                    )
                    or "only pages are fetched"
                )
            case Reason.SIZE:
                return _joined({"min_bytes": self.min_bytes, "max_bytes": self.max_bytes})
            case Reason.LANGUAGE:
                return _joined({"languages": self.languages})
            case Reason.DATE:
                return _joined({"newer_than": self.newer_than, "older_than": self.older_than})
            case Reason.KEYWORDS:
                return _joined({"keywords": self.keywords, "excluded": self.exclude_keywords})
            case _:
                return ""


def _joined(values: Mapping[str, Iterable[str] | str | int | None]) -> str:
    """Return settings in words, without those that are not set."""
    texts = {
        name: str(value) if isinstance(value, str | int) else ", ".join(sorted(value or ()))
        for name, value in values.items()
        if value is not None
    }
    return "; ".join(f"{name} {text}" for name, text in texts.items() if text)


def _is_language(language: str, wanted: str) -> bool:
    """True for the language itself and its varieties: `en` includes en-GB, `pt-br` does not include pt."""
    language, wanted = language.replace("_", "-").lower(), wanted.replace("_", "-").lower()
    return language == wanted or language.startswith(wanted + "-") or wanted.startswith(language + "-")


def is_dynamic(url: str) -> bool:
    """True for the URL of a page that a program makes: with a query, a CGI folder, or a program's extension."""
    path, query, _ = path_of(url).partition("?")
    return bool(query) or _DYNAMIC_PATH.search(path) is not None


def page_date(document: Document, headers: Headers) -> datetime | None:
    """Return when a page says it was changed or published, else its Last-Modified; None: unknown."""
    for stated in (document.modified, document.published):
        if stated and (moment := _moment(stated)) is not None:
            return moment
    return http_date(header(headers, "last-modified") or "")


def _moment(text: str) -> datetime | None:
    """Return the moment of an ISO date, which may lack its day."""
    for suffix in ("", "-01", "-01-01"):
        try:
            moment = datetime.fromisoformat(text + suffix)
        except ValueError:
            continue
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None


# Keywords


class Keyword(NamedTuple):
    """A word to look for in one place, or anywhere."""

    text: str
    place: str | None
    pattern: re.Pattern[str]

    def is_in(self, text: str) -> bool:
        """Whether a text contains the word."""
        return self.pattern.search(text) is not None

    def is_found(self, texts: Mapping[str, str]) -> bool:
        """Whether the word occurs where it has to."""
        return any(self.is_in(text) for place, text in texts.items() if self.place in (None, place))


def parse_keyword(text: str) -> Keyword:
    """Parse a keyword: `word`, `title:some words`, `url:solar*`; `*` stands for any letters. Case does not count."""
    place, colon, word = text.partition(":")
    place = place.strip().lower()
    if not colon or place not in _PLACES:
        place, word = "", text
    word = " ".join(word.split())
    if not word.strip("*"):
        raise ConfigError(f"{text!r} is not a keyword: write a word, or url:, title: or text: and a word")
    body = r"\w*".join(r"\s+".join(map(re.escape, part.split(" "))) for part in word.split("*"))
    before = r"(?<!\w)" if word[0] < UNBROKEN_SCRIPTS_FROM else ""
    after = r"(?!\w)" if word[-1] < UNBROKEN_SCRIPTS_FROM else ""
    return Keyword(text, place or None, re.compile(before + body + after, re.IGNORECASE))


def url_words(url: str) -> str:
    """Return a URL as words: escapes decoded, underscores as spaces."""
    return unquote(url).replace("_", " ")


# Sites


class SitePattern(NamedTuple):
    """A parsed pattern: what is None or empty matches anything."""

    scheme: str | None
    host: str
    port: int | None
    path: re.Pattern[str] | None

    def matches(self, scheme: str, port: int, path: str) -> bool:
        """Whether a URL of a matching host has the scheme, port and path."""
        if (self.scheme or scheme) != scheme or (self.port or port) != port:
            return False
        return self.path is None or self.path.match(path) is not None


_PATTERN = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?P<host>[^/:\s]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?(?P<path>/\S*)?"
)


def parse_site_pattern(text: str) -> SitePattern:
    """Parse `example.org`, `*.example.org`, `example.org/news/` or `https://example.org:8443/*/news`.
    A `$` at the end of a path means that a URL ends there."""
    scheme, colon, rest = text.strip().rpartition("://")
    host, slash, path = rest.partition("/")
    found = _PATTERN.fullmatch(scheme.lower() + colon + host.lower() + slash + path)
    if found is None or "*" in found["host"].removeprefix("*."):
        raise ConfigError(
            f"[site.{text!r}]: write a host such as news.example.org, or the beginning of URLs: example.org/news/"
        )
    glob = (found["path"] or "").rstrip("*")
    end = r"\Z" if glob.endswith("$") else ""
    parts = ".*".join(map(re.escape, (glob[:-1] if end else glob).split("*")))
    path_pattern = re.compile(parts + end) if glob not in ("", "/") else None
    port = int(found["port"]) if found["port"] else None
    return SitePattern(found["scheme"], found["host"].removeprefix("*.").removesuffix("."), port, path_pattern)


MAX_POPULAR_LIFT = 3  # Priority levels of the most requested pages; each level means twice the requests.
_LOG_LINE = re.compile(r'(?:(?P<host>[^\s:]+):\d+ )?\S+ [^"\[]*\[[^\]]*\] "GET (?P<path>/\S*) [^"]*" [23]\d\d\b')


def count_accesses(lines: Iterable[str]) -> dict[str, int]:
    """Count requests by URL or path: of an access log in the common format, or of lines `URL COUNT`."""
    counts: Counter[str] = Counter()
    for line in lines:
        logged = _LOG_LINE.match(line)
        if logged is not None:
            counts[(logged["host"] or "").lower() + logged["path"]] += 1
            continue
        match line.split():
            case [url, count] if count.isascii() and count.isdigit():
                counts[url.partition("://")[2] or url] += int(count)
    return dict(counts)


def popular_lifts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the priority levels of pages that are requested more often than the average one."""
    mean = sum(counts.values()) / max(1, len(counts))
    lifts = {name: min(MAX_POPULAR_LIFT, int(log2(count / mean)) + 1) for name, count in counts.items() if count > mean}
    return {name: lift for name, lift in lifts.items() if lift > 0}


class Selections:
    """The conditions of the collection, and of sites that have their own.
    If several patterns match a URL, the longer one wins, setting by setting. Popular pages get a higher priority and
    weight on top."""

    def __init__(
        self, scope: ScopeSettings, sites: Sequence[SiteSettings] = (), *, accesses: Mapping[str, int] | None = None
    ) -> None:
        """`accesses`: requests by people, by URL without scheme, or by path for all sites."""
        self._scope, self._accesses = scope, accesses
        self._common = _of_scope(scope)
        self._lifts = popular_lifts(accesses or {})
        self._sites = sorted(sites, key=lambda site: len(site.pattern))
        self._by_host: dict[str, list[tuple[int, SitePattern]]] = {}
        for number, site in enumerate(self._sites):
            pattern = parse_site_pattern(site.pattern)
            self._by_host.setdefault(pattern.host, []).append((number, pattern))
        self._merged: dict[tuple[int, ...], Selection] = {}

    @property
    def has_priorities(self) -> bool:
        """Whether some pages may come before others by these settings."""
        return bool(self._lifts or any(site.priority is not None for site in self._sites))

    def of(self, url: str) -> Selection:
        """Return the conditions for a URL."""
        found = self._of_site(url)
        if not self._lifts:
            return found
        lift = self._lifts.get(url.partition("://")[2]) or self._lifts.get(path_of(url))
        return replace(found, priority=found.priority + lift, weight=found.weight * 2.0**lift) if lift else found

    @property
    def has_schedules(self) -> bool:
        """Whether the user says when to visit some pages."""
        return any(site.schedule is not None for site in self._sites)

    def schedule_rule(self, url: str) -> tuple[str, str] | None:
        """Return the pattern and the schedule that decide when a page is visited; None: it is learned."""
        rules = (self._sites[number] for number in reversed(self._matching(url)))
        return next(((rule.pattern, rule.schedule) for rule in rules if rule.schedule is not None), None)

    def with_schedules(self, schedules: Mapping[str, str]) -> Selections:
        """Return the same conditions with other schedules, by pattern."""
        known = {site.pattern for site in self._sites}
        sites = [replace(site, schedule=schedules.get(site.pattern)) for site in self._sites]
        sites += [SiteSettings(pattern, schedule=text) for pattern, text in schedules.items() if pattern not in known]
        return Selections(self._scope, sites, accesses=self._accesses)

    def _matching(self, url: str) -> tuple[int, ...]:
        """Return the numbers of the sites that a URL belongs to, those with the shortest pattern first."""
        if not self._by_host:
            return ()
        site, path = site_parts(site_of(url)), path_of(url)
        return tuple(
            sorted(
                number
                for host in with_parents(site.host.removesuffix("."))
                for number, pattern in self._by_host.get(host, ())
                if pattern.matches(site.scheme, site.port, path)
            )
        )

    def _of_site(self, url: str) -> Selection:
        chosen = self._matching(url)
        if not chosen:
            return self._common
        if chosen not in self._merged:
            self._merged[chosen] = _merge(self._common, [self._sites[number] for number in chosen])
        return self._merged[chosen]


def with_parents(host: str) -> Iterable[str]:
    """Yield a host and the domains above it."""
    yield host
    while "." in host and not host.startswith("["):
        host = host.partition(".")[2]
        yield host


_NAMES = [one.name for one in fields(Selection)]


def _of_scope(scope: ScopeSettings) -> Selection:
    known = {name: getattr(scope, name) for name in _NAMES if hasattr(scope, name)}
    known |= {"fetch_types": frozenset(scope.fetch_types), "max_pages": scope.max_pages_per_site, "exclude": ()}
    return Selection(**known)


def _merge(selection: Selection, sites: Iterable[SiteSettings]) -> Selection:
    for site in sites:
        own = {name: value for name in _NAMES if (value := getattr(site, name, None)) is not None}
        selection = replace(selection, **own)
    return selection
