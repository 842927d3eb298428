"""Decide whether a URL belongs to the collection, and if not, why.
Checks run in order of their cost. What depends only on the site is decided once per site and cached. For a seed, which
the user requested by name, only scheme, length, port, exclude patterns and filters count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum

from evercrawl.core.document.media_type import check_file_types, url_file_type
from evercrawl.core.scope.selection import Selection, Selections, with_parents
from evercrawl.core.scope.url_filter import Expression, UrlFilter, compile_pattern, parse_filter
from evercrawl.core.url import (
    DEFAULT_PORTS,
    NO_PORT,
    PAGE_SCHEMES,
    SiteName,
    canonical,
    path_of,
    registrable_domain,
    site_of,
    site_parts,
)
from evercrawl.errors import ConfigError
from evercrawl.model.reason import Reason, RefusalReason
from evercrawl.model.settings import ScopeSettings, SiteSettings

MAX_FOLDERS = 200  # Entries of one site that are remembered.
MAX_COUNT = 8  # Answers that are counted per entry.
MIN_PAGES = 3  # Pages without an ending in a folder that make one with an ending worth a try.
MAX_TRIES = 5  # Kinds of files of one site that are tried in vain before no more are.

Answers = Mapping[str, tuple[int, int]]
"""Folder and ending -> how many URLs answered with a page, and with a file."""
NO_ANSWERS: Answers = {}

_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,7})\Z")
_PAGE_ENDINGS = frozenset(
    {
        "html", "htm", "xhtml", "shtml", "php", "php3", "php4", "php5", "phtml", "asp", "aspx", "ashx", "jsp", "jspx",
        "jsf", "do", "action", "cgi", "pl", "cfm", "nsf", "rhtml",
    }
)  # fmt: skip
_REFUSED = "refused"


class Meaning(Enum):
    """What the ending of a URL means."""

    FILE = "a file"
    UNSURE = "a file, or a page"  # Worth a try when nothing better is left.
    PAGE = "a page"


def meaning_of(answers: Answers, url: str, kind: str) -> Meaning:
    """Return what the ending of a URL means that promises a file of this kind."""
    folder = _folder(url)
    pages, files = answers.get(f"{folder} {kind}", (0, 0))
    if pages or files:
        return Meaning.PAGE if pages >= files else Meaning.FILE
    pages, files = answers.get(f"{folder} other", (0, 0))
    if pages or files:
        return Meaning.PAGE if not files else Meaning.FILE
    is_routed = answers.get(f"{folder} none", (0, 0))[0] >= MIN_PAGES
    return Meaning.UNSURE if is_routed and _tries_in_vain(answers) < MAX_TRIES else Meaning.FILE


def is_unsure_ending(answers: Answers, url: str) -> bool:
    """Return whether a URL may be a page in spite of its ending, but probably is not."""
    kind = url_file_type(url)
    return kind is not None and meaning_of(answers, url, kind) is Meaning.UNSURE


def _tries_in_vain(answers: Answers) -> int:
    return sum(1 for key, (pages, files) in answers.items() if files and not pages and not key.endswith(" other"))


def after_answer(answers: Answers, url: str, *, is_page: bool) -> Answers:
    """Return the answers with one more; the same object if it teaches nothing new."""
    ending = _ending(url)
    key = f"{_folder(url)} {ending}"
    pages, files = answers.get(key, (0, 0))
    if ending is None or max(pages, files) >= MAX_COUNT:
        return answers
    return _with(answers, key, (pages + is_page, files + (not is_page)))


def after_refusal(answers: Answers, url: str) -> Answers:
    """Return the answers with the note that a URL of this folder was refused for its ending."""
    key = f"{_folder(url)} {_REFUSED}"
    return answers if key in answers else _with(answers, key, (0, 0))


def admits_more(before: Answers, after: Answers, url: str) -> bool:
    """Return whether URLs of the same folder that were refused for their endings may be pages now."""
    folder = _folder(url)
    if after is before or f"{folder} {_REFUSED}" not in after:
        return False
    ending = _ending(url)
    key, enough = f"{folder} {ending}", MIN_PAGES if ending == "none" else 1
    return before.get(key, (0, 0))[0] < enough <= after.get(key, (0, 0))[0]


def _with(answers: Answers, key: str, counts: tuple[int, int]) -> Answers:
    both = {**answers, key: counts}
    return both if len(both) <= MAX_FOLDERS else dict(list(both.items())[-MAX_FOLDERS * 3 // 4 :])


def _folder(url: str) -> str:
    """Return the first two folders of a URL's path."""
    path = url.partition("?")[0]
    start = path.find("/", path.find("//") + 2)
    return "/".join(path[start:].split("/")[:-1][:3]) if start >= 0 else ""


def _ending(url: str) -> str | None:
    """Return the kind of ending of a URL: of a file, another one, or none. None: that of pages."""
    kind = url_file_type(url)
    if kind is not None:
        return kind
    found = _ENDING.search(url.partition("?")[0].rpartition("/")[2])
    if found is None:
        return "none"
    return None if found[1].lower() in _PAGE_ENDINGS else "other"


CACHED_LINKS = 4096
CACHED_SITES = 65_536
SCOPE_KINDS = ("host", "prefix", "domain", "list")
MAX_WATCHED_LIST = 100  # Pages of a list that count as watched one by one; a longer list is a corpus.

BLOCKED_PORTS = frozenset(
    {
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
        104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
        514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719,
        1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
        6697, 10080,
    }
)  # fmt: skip
"""Ports of other services, which browsers refuse too (Fetch standard, "bad port")."""

_WHOLE_SITE = ("/",)
_NAMES_SHOWN = 3


class Scope:
    """The scope of one collection. Verdicts depend only on the URL, its depth and its hops."""

    def __init__(
        self,
        settings: ScopeSettings,
        *,
        filters: Mapping[str, UrlFilter] | None = None,
        allow_ports: Iterable[int] = (),
        schemes: Iterable[str] = (),
        sites: Sequence[SiteSettings] = (),
        accesses: Mapping[str, int] | None = None,
    ) -> None:
        """`filters` are the user's own, by name; `schemes` have a handler, besides http and https; `accesses` counts
        what people request."""
        if settings.kind not in SCOPE_KINDS:
            raise ConfigError(f"scope.kind: {settings.kind!r} is not one of {', '.join(SCOPE_KINDS)}")
        self._settings = settings
        self._schemes = (*PAGE_SCHEMES, *(scheme + "://" for scheme in schemes))
        self._seeds = frozenset(_canonical_seed(seed, self._schemes) for seed in settings.seeds)
        self._pages = self._seeds & {_canonical_seed(page, self._schemes) for page in settings.pages}
        is_watch_list = settings.kind == "list" and len(self._seeds) <= MAX_WATCHED_LIST
        self._watched = self._seeds if is_watch_list else self._pages
        sections = self._seeds & {_canonical_seed(page, self._schemes) for page in settings.sections}
        self._folders = _folders_by_host(self._seeds - self._pages, settings.kind, sections)
        self._refused_ports = BLOCKED_PORTS - frozenset(allow_ports)
        self._include = [compile_pattern(pattern, "scope.include") for pattern in settings.include]
        self._exclude = [compile_pattern(pattern, "scope.exclude") for pattern in settings.exclude]
        check_file_types(settings.fetch_types)
        self._excluded_hosts = frozenset(host.lower().strip(".") for host in settings.exclude_hosts)
        self._removed = frozenset(settings.removed)
        self._selections = Selections(settings, sites, accesses=accesses)
        own = {} if settings.filter is None else {settings.filter: parse_filter(settings.filter)}
        self._filters = {**own, **(filters or {})}
        self._sites: dict[str, tuple[str, ...] | RefusalReason] = {}
        self._accepted: set[tuple[str, int, int]] = set()
        """Links that were accepted lately: each is checked when it is found, read from the queue and requested."""

    def is_seed(self, url: str) -> bool:
        """True if the canonical URL is a seed."""
        return url in self._seeds

    @property
    def seeds(self) -> frozenset[str]:
        """The canonical URLs of the seeds."""
        return self._seeds

    @property
    def schemes(self) -> tuple[str, ...]:
        """The prefixes of URLs that can be fetched."""
        return self._schemes

    @property
    def follows_nofollow(self) -> bool:
        """True if links marked nofollow are followed."""
        return self._settings.follow_nofollow

    @property
    def has_priorities(self) -> bool:
        """Whether the settings put some pages before others."""
        return self._selections.has_priorities

    def selection(self, url: str) -> Selection:
        """Return the conditions on the page of a URL."""
        return self._selections.of(url)

    def weight(self, url: str) -> float:
        """Return how much a current copy of a page counts, compared to 1 for others."""
        weight = self._selections.of(url).weight
        return weight * self._settings.page_weight if url in self._watched else weight

    @property
    def has_schedules(self) -> bool:
        """Whether the user says when to visit some pages."""
        return self._selections.has_schedules

    def schedule_rule(self, url: str) -> tuple[str, str] | None:
        """Return the pattern and the schedule that decide when a page is visited; None: it is learned."""
        return self._selections.schedule_rule(url)

    def set_schedules(self, schedules: Mapping[str, str]) -> None:
        """Replace the user's schedules, by pattern."""
        self._selections = self._selections.with_schedules(schedules)

    def set_removed(self, removed: Iterable[str]) -> None:
        """Replace the list of removed pages and sites."""
        self._removed = frozenset(removed)

    def listed_refusal(self, url: str) -> RefusalReason | None:
        """Return why a page or host is never requested, whoever asks; None: it is in no list."""
        if self._removed and (url in self._removed or site_of(url) in self._removed):
            what = url if url in self._removed else site_of(url)
            return Reason.REMOVED, f"{what} was removed on request; allow it again with: evercrawl remove undo {what}"
        if not self._excluded_hosts:
            return None
        host = site_parts(site_of(url)).host.removesuffix(".")
        found = next((name for name in with_parents(host) if name in self._excluded_hosts), None)
        return None if found is None else (Reason.EXCLUDED_HOST, f"scope.exclude_hosts lists {found}")

    def verdict(
        self, url: str, *, depth: int, hops: int = 0, is_seed: bool = False, answers: Answers | None = NO_ANSWERS
    ) -> RefusalReason | None:
        """Return why the canonical URL is refused; None if it is accepted.
        `depth` counts links from a seed, `hops` consecutive redirects. `answers`: what URLs with endings answered;
        None: the ending is checked elsewhere."""
        settings = self._settings
        if len(url) > settings.max_url_length:
            return Reason.URL_TOO_LONG, f"{len(url)} characters, at most {settings.max_url_length}"
        if not url.startswith(self._schemes):
            return Reason.UNSUPPORTED_SCHEME, f"the scheme is {url.partition(':')[0][:20]!r}"
        if (listed := self.listed_refusal(url)) is not None:
            return listed
        if is_seed:
            own = self._selections.of(url).word_refusal(url)
            return self._check_port(url) or self._check_exclude(url) or own or self._check_filters(url)
        return self._check_link(url, depth, hops) or (None if answers is None else self.ending_refusal(url, answers))

    def ending_refusal(self, url: str, answers: Answers) -> RefusalReason | None:
        """Return why the ending of a URL excludes it; None: it may be a page, or a file that is wanted."""
        kind = url_file_type(url)
        if kind is None or url in self._seeds:
            return None
        selection = self._selections.of(url)
        if selection.accepts_file_type(kind) or meaning_of(answers, url, kind) is not Meaning.FILE:
            return None
        return Reason.FILE_TYPE, f"the file extension means {kind}; {selection.text_of(Reason.MEDIA_TYPE)}"

    def add_moved_seed(self, seed: str, target: str) -> None:
        """Add the host that a seed moved to within its registrable domain (example.org -> www.example.org).
        Only at default ports: another port is another site."""
        before, after = site_parts(site_of(seed)), site_parts(site_of(target))
        is_home = after.port == DEFAULT_PORTS[after.scheme] and before.port == DEFAULT_PORTS[before.scheme]
        is_own = registrable_domain(before.host) == registrable_domain(after.host) and before.host != after.host
        if self._settings.kind in ("host", "prefix") and is_home and is_own and seed not in self._pages:
            for place, ports in _folders_by_host({target}, self._settings.kind).items():
                self._folders.setdefault(place, {}).update(ports)
            self._sites.clear()

    def _check_link(self, url: str, depth: int, hops: int) -> RefusalReason | None:
        link = (url, depth, hops)
        if link in self._accepted:
            return None
        refused = (
            self._check_location(url, depth, hops)
            or self._selections.of(url).url_refusal(url, depth=depth)
            or self._check_exclude(url)
            or self._check_include(url)
            or self._check_filters(url)
        )
        if refused is None:
            if len(self._accepted) >= CACHED_LINKS:
                self._accepted.clear()
            self._accepted.add(link)
        return refused

    def _check_location(self, url: str, depth: int, hops: int) -> RefusalReason | None:
        """Check where the URL lies, by the kind of the scope."""
        if self._settings.kind == "list":
            return self._check_port(url) or self._check_list(url, depth, hops)
        if url in self._pages or (self._pages and depth == 0 and hops > 0):
            return self._check_port(url)
        answer = self._folders_or_refusal(site_of(url))
        if isinstance(answer[0], Reason):
            return answer  # type: ignore[return-value]
        if answer is _WHOLE_SITE or path_of(url).startswith(answer):
            return None
        return Reason.OUT_OF_SCOPE, f"not below {_join_names(answer)}"

    def excludes_site(self, site: str) -> bool:
        """Return whether no URL of a site is in scope."""
        if self._settings.kind == "list" or self._pages:
            return False
        return isinstance(self._folders_or_refusal(site)[0], Reason)

    def _folders_or_refusal(self, site: str) -> tuple[str, ...] | RefusalReason:
        answer = self._sites.get(site)
        if answer is None:
            if len(self._sites) >= CACHED_SITES:
                self._sites.clear()
            answer = self._sites[site] = self._folders_of_site(site)
        return answer

    def _check_list(self, url: str, depth: int, hops: int) -> RefusalReason | None:
        # The redirect target of a listed page still counts as requested. Consecutive hops are limited elsewhere.
        if url in self._seeds or (depth == 0 and hops > 0):
            return None
        return Reason.OUT_OF_SCOPE, "not one of the listed URLs"

    def _check_port(self, url: str) -> RefusalReason | None:
        port = site_parts(site_of(url)).port
        return (Reason.BLOCKED_PORT, f"port {port}") if port in self._refused_ports else None

    def _folders_of_site(self, site: str) -> tuple[str, ...] | RefusalReason:
        """Return the folders of a site that are in scope, or why none is."""
        name = site_parts(site)
        if name.port in self._refused_ports:
            return Reason.BLOCKED_PORT, f"port {name.port}"
        place = _host_or_domain(name, self._settings.kind)
        ports = self._folders.get(place)
        if ports is None:
            places = sorted(self._folders)
            if not places:
                return Reason.OUT_OF_SCOPE, "not one of the listed URLs"
            what = "domain" if self._settings.kind == "domain" else "host"
            return Reason.OUT_OF_SCOPE, f"{what} {place} is not one of {_join_names(places)}"
        folders = _folders_for_port(name, ports)
        return folders or (Reason.OUT_OF_SCOPE, f"port {name.port} of {place} is not the port of a seed")

    def _check_exclude(self, url: str) -> RefusalReason | None:
        found = _first_match(self._exclude, url)
        return None if found is None else (Reason.EXCLUDED, f"matches {found.pattern!r}")

    def _check_include(self, url: str) -> RefusalReason | None:
        if not self._include or url in self._seeds or _first_match(self._include, url) is not None:
            return None
        return Reason.NOT_INCLUDED, f"matches none of {_join_names([each.pattern for each in self._include])}"

    def _check_filters(self, url: str) -> RefusalReason | None:
        for name, each in self._filters.items():
            try:
                if not each.accepts(url):
                    return Reason.FILTERED, f"rejected by the filter {name}"
            except Exception as error:  # A user's code must not end the crawl.
                return Reason.FILTERED, f"the filter {name} failed: {type(error).__name__}: {error}"
        return None


Folders = dict[str, dict[int, tuple[str, ...]]]  # Host or domain -> port of a seed -> folders in scope.


def _folders_by_host(seeds: Iterable[str], kind: str, sections: Set[str] = frozenset()) -> Folders:
    folders: Folders = {}
    for seed in sorted(seeds):
        name = site_parts(site_of(seed))
        ports = folders.setdefault(_host_or_domain(name, kind), {})
        folder = (
            path_of(seed).partition("?")[0].rpartition("/")[0] + "/" if kind == "prefix" or seed in sections else "/"
        )
        ports[name.port] = tuple(dict.fromkeys((*ports.get(name.port, ()), folder)))
    return folders


def _host_or_domain(name: SiteName, kind: str) -> str:
    return registrable_domain(name.host) if kind == "domain" else name.host


def _folders_for_port(name: SiteName, ports: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the folders for the ports of seeds and the default port of the scheme; empty for other ports."""
    folders = ports.get(name.port, ())
    if name.port == DEFAULT_PORTS.get(name.scheme, NO_PORT):
        folders = tuple(dict.fromkeys(folder for each in ports.values() for folder in each))
    return _WHOLE_SITE if "/" in folders else folders


def _canonical_seed(seed: str, schemes: tuple[str, ...]) -> str:
    page = canonical(seed, schemes)
    if page is None:
        raise ConfigError(f"scope.seeds: {seed!r} is not the URL of a page; write it as https://example.org/")
    return page


def _first_match(patterns: list[Expression], url: str) -> Expression | None:
    for pattern in patterns:
        if pattern.search(url):
            return pattern
    return None


def _join_names(names: Iterable[str]) -> str:
    """Return the first few names, for a sentence."""
    names = list(names)
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown if len(names) <= _NAMES_SHOWN else f"{shown} or {len(names) - _NAMES_SHOWN} more"
