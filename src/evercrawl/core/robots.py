"""May we ask for this path? The site's robots.txt, read as RFC 9309 has it.

All groups that name our product token count together; without any, those for `*`; without these, everything
is allowed. Where files in the wild differ from the standard we are as lenient as Google's parser, but
records that we do not know are never taken for a misspelt Allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from evercrawl.core import url as urls
from evercrawl.core.robots_pattern import NO_RULE, Line, RobotsVerdict, RuleBook
from evercrawl.core.robots_value import RequestRate, VisitTime, delay_seconds, request_rate, visit_time

__all__ = [
    "Robots",
    "RobotsVerdict",
    "is_product_token",
    "parse_robots",
    "robots_url",
    "sitemap_urls",
    "target_of",
    "verdict_for",
]

PARSE_LIMIT = 512 * 1024
"""Bytes of a file that are read; RFC 9309 section 2.5 asks for at least 500 KiB."""
LONGEST_LINE = 2083 * 8 - 1
"""Characters of a line that are read, as Google has it: eight times the longest URL of old browsers."""
MOST_SITEMAPS = 1000
ROBOTS_PATH = "/robots.txt"

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_LINE_BREAK_TAG = re.compile(r"\s*<br\s*/?>\s*$", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9_-]+")
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")

_SPELLINGS = {
    "user-agent": ("user-agent", "useragent", "user agent"),
    "disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"),
    "allow": ("allow",),
    "sitemap": ("sitemap", "sitemaps", "site-map"),
    "crawl-delay": ("crawl-delay", "crawldelay", "crawl delay"),
    "request-rate": ("request-rate", "request rate"),
    "visit-time": ("visit-time", "visit time"),
}
_RECORD = {spelling: record for record, spellings in _SPELLINGS.items() for spelling in spellings}
_WITHOUT_COLON = re.compile(rf"({'|'.join(_RECORD)})[ \t]+(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Robots:
    """A robots.txt as it concerns one crawler."""

    rules: RuleBook = field(default_factory=lambda: RuleBook(()))
    crawl_delay: float | None = None
    request_rate: RequestRate | None = None
    visit_time: VisitTime | None = None
    sitemaps: tuple[str, ...] = ()

    def verdict(self, target: str) -> RobotsVerdict:
        """What the file says about path and query of a canonical URL; the file itself may always be read."""
        if target.startswith(ROBOTS_PATH) and target[len(ROBOTS_PATH) :][:1] in ("", "?"):
            return NO_RULE
        return self.rules.verdict(target)

    @property
    def gap(self) -> float | None:
        """Seconds between two requests that the file asks for, by Crawl-delay or Request-rate."""
        if self.request_rate is None:
            return self.crawl_delay
        return max(self.request_rate.seconds / self.request_rate.requests, self.crawl_delay or 0.0)


@dataclass(slots=True)
class _Wishes:
    """What the groups of one name say, collected over the file."""

    lines: list[Line] = field(default_factory=list)
    delay: float | None = None
    rate: RequestRate | None = None
    time: VisitTime | None = None


def parse_robots(body: bytes, *, agent: str, limit: int = PARSE_LIMIT) -> Robots:
    """The rules for `agent` (a product token, or a user agent that contains it); no bytes make it fail."""
    names = _names_of_agent(agent)
    groups = _Groups(wanted={*names, "*"})
    for number, record, value in _records(_text(body, limit)):
        groups.take(number, record, value)
    ours = next((groups.wishes[name] for name in (*names, "*") if name in groups.wishes), _Wishes())
    return Robots(RuleBook(ours.lines), ours.delay, ours.rate, ours.time, tuple(groups.sitemaps))


def verdict_for(robots: Robots, url: str) -> RobotsVerdict:
    """What the file says about a URL, or about a path that stands alone."""
    return robots.verdict(target_of(url))


def target_of(url: str) -> str:
    """Path and query of any URL, as rules are matched against them."""
    href = urls.parse(url) or urls.join("http://localhost/", url) or ""
    href = href.partition("#")[0]
    return urls.path_of(href) if "//" in href else "/"


def robots_url(url: str) -> str | None:
    """Where the robots.txt of a page's site is; None where the URL names no page."""
    page = urls.canonical(url)
    return None if page is None else urls.site_of(page) + ROBOTS_PATH


def sitemap_urls(robots: Robots, base: str) -> tuple[str, ...]:
    """The sitemaps as absolute URLs, each once; those written as absolute keep all but the scheme's case."""
    joined = (
        _with_plain_scheme(sitemap) if urls.parse(sitemap) else urls.join(base, sitemap) for sitemap in robots.sitemaps
    )
    return tuple(dict.fromkeys(url for url in joined if url is not None))


def _with_plain_scheme(url: str) -> str:
    scheme, colon, rest = url.partition(":")
    return f"{scheme.lower()}{colon}{rest}"


def is_product_token(name: str) -> bool:
    """A name that every parser recognises: letters, `_` and `-` (RFC 9309 section 2.2.1)."""
    return _PRODUCT_TOKEN.fullmatch(name) is not None


def _text(body: bytes, limit: int) -> str:
    """The file as characters; octets that are no UTF-8 are kept as lone surrogates."""
    if len(body) >= limit:
        # A line that was cut in two would say something else.
        body = body[: max(body.rfind(b"\n", 0, limit), body.rfind(b"\r", 0, limit)) + 1]
    if body.startswith(_UTF16_BOMS):
        return body.decode("utf-16", "replace")
    # Some servers send only a part of the mark, or send it twice.
    return body.lstrip(_UTF8_BOM).decode("utf-8", "surrogateescape")


def _records(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, record name and value of every line that we understand."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        content = line[:LONGEST_LINE].partition("#")[0].strip()
        if not content:
            continue
        name, colon, value = content.partition(":")
        record = _RECORD.get(name.rstrip().lower()) if colon else None
        if record is None:
            spaced = _WITHOUT_COLON.match(content)
            if spaced is None:
                continue
            record, value = _RECORD[spaced[1].lower()], spaced[2]
        if value.endswith(">"):
            value = _LINE_BREAK_TAG.sub("", value)
        yield number, record, value.strip()


class _Groups:
    """Who is spoken to, line after line.

    Only Allow and Disallow end the list of names that begins a group (RFC 9309 section 2.2.4); a
    Crawl-delay and its like concern the names that directly precede them.
    """

    def __init__(self, *, wanted: set[str]) -> None:
        self.wishes: dict[str, _Wishes] = {}
        self.sitemaps: dict[str, None] = {}
        self._wanted = wanted
        self._group: set[str] = set()
        self._newest: set[str] = set()
        self._group_has_rules = False
        self._names_ended = False

    def take(self, number: int, record: str, value: str) -> None:
        """Read the next line that we understand."""
        if record == "user-agent":
            self._name(_names_of_line(value) & self._wanted)
        elif record == "sitemap":
            if value and len(self.sitemaps) < MOST_SITEMAPS:
                self.sitemaps[value] = None
        elif record in ("allow", "disallow"):
            self._group_has_rules = self._names_ended = True
            if value:
                line = Line(number, record == "allow", value)
                for name in self._group:
                    self.wishes[name].lines.append(line)
        else:
            self._names_ended = True
            for name in self._newest:
                _note(self.wishes[name], record, value)

    def _name(self, names: set[str]) -> None:
        self._group = names if self._group_has_rules else self._group | names
        self._newest = names if self._names_ended else self._newest | names
        self._group_has_rules = self._names_ended = False
        for name in names:
            self.wishes.setdefault(name, _Wishes())


def _note(wishes: _Wishes, record: str, value: str) -> None:
    """Keep an extension's value; of several delays the longest, otherwise the last that makes sense."""
    if record == "crawl-delay":
        delay = delay_seconds(value)
        if delay is not None:
            wishes.delay = max(delay, wishes.delay or 0.0)
    elif record == "request-rate":
        wishes.rate = request_rate(value) or wishes.rate
    else:
        wishes.time = visit_time(value) or wishes.time


def _names_of_line(value: str) -> set[str]:
    """The names on a User-agent line: text behind a name is ignored, as Google has it; a comma adds one."""
    if value == "*" or value.startswith(("* ", "*\t")):
        return {"*"}
    parts = value.lower().replace("*", "").split(",")
    return {name[0] for part in parts if (name := _NAME.match(part.strip()))}


def _names_of_agent(agent: str) -> list[str]:
    """The names by which a file may call us, the most likely first."""
    if not agent.strip("* "):
        return []
    words = re.split(r"[\s();,]+", agent.lower().replace("*", ""))
    return list(dict.fromkeys(name[0] for word in words if (name := _NAME.match(word))))
