"""Read a robots.txt file as RFC 9309 says and find the rule that decides about a path.
Where real files differ from the standard we are as lenient as Google's parser, but an unknown record is never taken for
a misspelt Allow. No pattern becomes a regular expression, so none can make matching slow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import time
from itertools import islice
from math import isfinite
from typing import NamedTuple, TypeVar

from evercrawl.core import url as urls

_NUMBER = re.compile(r"(?:\d++\.?+\d*+|\.\d++)", re.ASCII)
_RATE = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)(?:\s+(\S.*))?", re.ASCII | re.IGNORECASE)
_PERIOD = re.compile(r"(\d{1,2}):?(\d\d)(?:\s*+-\s*+|\s++)(\d{1,2}):?(\d\d)", re.ASCII)
_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_LAST_MOMENT = time(23, 59, 59)


class VisitTime(NamedTuple):
    """The hours (UTC) in which visits are welcome. The period may cross midnight."""

    start: time
    end: time


class RequestRate(NamedTuple):
    """Maximum requests in a number of seconds, always or in a period of the day."""

    requests: int
    seconds: int
    start: time | None = None
    end: time | None = None


def parse_crawl_delay(value: str) -> float | None:
    """Parse the seconds of a Crawl-delay; None if invalid."""
    number = float(value) if _NUMBER.fullmatch(value) else None
    return number if number is not None and isfinite(number) else None


def parse_request_rate(value: str) -> RequestRate | None:
    """Parse a rate in `n/m`, `n/ms`, `n/mm` or `n/mh`, with an optional period of the day."""
    match = _RATE.fullmatch(value)
    if match is None:
        return None
    requests, seconds = int(match[1]), int(match[2]) * _UNIT_SECONDS[match[3].lower()]
    period = parse_visit_time(match[4]) if match[4] else None
    if requests == 0 or seconds == 0 or (match[4] and period is None):
        return None
    return RequestRate(requests, seconds, *(period or ()))


def parse_visit_time(value: str) -> VisitTime | None:
    """Parse a period in `HHMM-HHMM`, also with a space."""
    match = _PERIOD.fullmatch(value)
    if match is None:
        return None
    start, end = _time_of_day(match[1], match[2]), _time_of_day(match[3], match[4])
    return None if start is None or end is None else VisitTime(start, end)


def _time_of_day(hours: str, minutes: str) -> time | None:
    if (int(hours), int(minutes)) == (24, 0):
        return _LAST_MOMENT
    return time(int(hours), int(minutes)) if int(hours) < 24 and int(minutes) < 60 else None


_Key = TypeVar("_Key", str, tuple[bool, tuple[str, ...]])
_UNUSUAL = re.compile(r"%([0-9A-Fa-f]{2})|[^\x21-\x7e]|%")
_KEPT_ESCAPES = frozenset(b"/%")
_ESCAPED_SLASH = re.compile("%2f", re.IGNORECASE)
_DIRECTORY_INDEX = "/index.htm"
GRAM_CHARS = 3  # Wildcard rules are found by this many characters, which a path must contain.
MAX_GRAMS = 200  # Places of a rule that are considered for this.
MAX_PARTS_COMPARED = 50_000
"""Parts of wildcard rules that one verdict compares with a path, so that it takes milliseconds at worst.
Only a file made to be slow has more that fit one path; that path is then forbidden, and no other."""


class RuleVerdict(NamedTuple):
    """Whether a path is allowed, and by which line; None if no rule decided."""

    allowed: bool
    line: int | None
    rule: str | None


class RuleLine(NamedTuple):
    """An Allow or Disallow line as written."""

    number: int
    allow: bool
    value: str


class _Rule(NamedTuple):
    rank: int  # Twice the octets of the pattern, plus one for Allow. The greater rank wins (RFC 9309 section 2.2.2).
    verdict: RuleVerdict
    parts: tuple[str, ...]  # Parts that must follow each other in the path, beginning with the first.
    anchored: bool  # True if the last part must end the path.
    chars: int  # Characters of all parts. A shorter path cannot match.


NO_RULE = RuleVerdict(allowed=True, line=None, rule=None)
_NO_MATCH = _Rule(-1, NO_RULE, ("",), False, 0)
_TOO_MANY = RuleVerdict(allowed=False, line=0, rule="too many wildcard rules fit this URL to compare them all")
_UNDECIDED = _Rule(0, _TOO_MANY, ("",), False, 0)


def normalise_escapes(text: str) -> str:
    """Return the normal form of percent-encoding in which patterns and paths are compared.
    RFC 9309 section 2.2.2: an octet equals its escape, except for an escaped slash or percent sign."""
    return _UNUSUAL.sub(_normal_octets, text)


def _normal_octets(match: re.Match[str]) -> str:
    if match[1] is not None:
        code = int(match[1], 16)
        return chr(code) if 0x21 <= code <= 0x7E and code not in _KEPT_ESCAPES else match[0].upper()
    octets = match[0].encode("utf-8", "surrogateescape" if "\udc80" <= match[0] <= "\udcff" else "replace")
    return "".join(f"%{octet:02X}" for octet in octets)


class RuleMatcher:
    """The rules for us, arranged so that a verdict costs microseconds with thousands of rules.
    Wildcard rules are looked up by a few characters that a matching path must contain."""

    __slots__ = ("_exact", "_gram_lengths", "_lengths", "_prefixes", "_wild")

    def __init__(self, lines: Iterable[RuleLine]) -> None:
        self._prefixes: dict[str, _Rule] = {}
        self._exact: dict[str, _Rule] = {}
        wild: dict[tuple[bool, tuple[str, ...]], _Rule] = {}
        for line in lines:
            for pattern in _patterns_of(line):
                rule = _compile(pattern, line)
                if len(rule.parts) == 1:
                    _enter(self._exact if rule.anchored else self._prefixes, rule.parts[0], rule)
                else:
                    _enter(wild, (rule.anchored, rule.parts), rule)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._wild = _by_gram(wild.values())
        self._gram_lengths = sorted({len(gram) for gram in self._wild})

    def verdict(self, target: str) -> RuleVerdict:
        """Return what the rules say about path and query of a canonical URL."""
        if "%" not in target and target.isascii():
            return self._best(target).verdict
        query = target.find("?")
        best = self._best(normalise_escapes(target))
        if query >= 0 and _ESCAPED_SLASH.search(target, query):
            # In RFC 9309's own table, a slash inside a query equals its escape.
            slashed = target[:query] + _ESCAPED_SLASH.sub("/", target[query:])
            best = max(best, self._best(normalise_escapes(slashed)), key=lambda rule: rule.rank)
        return best.verdict

    def _best(self, path: str) -> _Rule:
        best = self._exact.get(path, _NO_MATCH)
        prefixes = self._prefixes
        for length in self._lengths:
            rule = prefixes.get(path[:length])
            if rule is not None:
                if rule.rank > best.rank:
                    best = rule
                break
        return self._best_wild(path, best) if self._wild else best

    def _best_wild(self, path: str, best: _Rule) -> _Rule:
        """Return the wildcard rule that outranks `best`, or `best`."""
        compared = 0
        for rule in self._candidates(path, best.rank):
            if rule.rank <= best.rank:
                break
            compared += len(rule.parts)
            if compared > MAX_PARTS_COMPARED:
                return _UNDECIDED
            if _matches(rule, path):
                return rule
        return best

    def _candidates(self, path: str, least: int) -> list[_Rule]:
        """Return the wildcard rules above a rank that may match the path, the highest rank first."""
        chars, found = len(path), []
        for length in self._gram_lengths:
            for gram in {path[at : at + length] for at in range(chars - length + 1)}:
                for rule in self._wild.get(gram, ()):
                    if rule.rank <= least:
                        break
                    if rule.chars <= chars:
                        found.append(rule)
        found.sort(key=lambda rule: rule.rank, reverse=True)
        return found


def _by_gram(rules: Iterable[_Rule]) -> dict[str, list[_Rule]]:
    """Return rules by a few characters of theirs that the fewest rules before them share, by falling rank."""
    grams: dict[str, list[_Rule]] = {}
    for rule in sorted(rules, key=lambda rule: rule.rank, reverse=True):
        length = min(GRAM_CHARS, max(map(len, rule.parts)))
        own = (part[at : at + length] for part in rule.parts for at in range(len(part) - length + 1))
        grams.setdefault(min(islice(own, MAX_GRAMS), key=lambda gram: len(grams.get(gram, ()))), []).append(rule)
    return grams


def _enter(rules: dict[_Key, _Rule], key: _Key, rule: _Rule) -> None:
    if rule.rank > rules.get(key, _NO_MATCH).rank:
        rules[key] = rule


def _patterns_of(line: RuleLine) -> list[str]:
    """Return the pattern and what else its author evidently means."""
    if not line.value.startswith(("/", "*")):
        return []  # Matches no path: every path begins with a slash (RFC 9309 section 2.2: path-pattern).
    readings = [line.value]
    query = line.value.find("?")
    if query >= 0 and _ESCAPED_SLASH.search(line.value, query):
        readings.append(line.value[:query] + _ESCAPED_SLASH.sub("/", line.value[query:]))
    folder, slash, page = line.value.rpartition("/")
    if line.allow and (slash + page).startswith(_DIRECTORY_INDEX):
        # Like Google: allowing the index page of a folder allows the folder's own address.
        readings.append(folder + "/$")
    return readings


def _compile(pattern: str, line: RuleLine) -> _Rule:
    anchored = pattern.endswith("$")
    parts = [normalise_escapes(part) for part in pattern.removesuffix("$").split("*")]
    octets = sum(map(len, parts)) + len(parts) - 1 + anchored
    parts = [parts[0], *filter(None, parts[1:-1]), *parts[-1:]] if len(parts) > 1 else parts
    text = f"{'Allow' if line.allow else 'Disallow'}: {line.value}"
    verdict = RuleVerdict(line.allow, line.number, text)
    return _Rule(2 * octets + line.allow, verdict, tuple(parts), anchored, chars=sum(map(len, parts)))


def _matches(rule: _Rule, path: str) -> bool:
    """Match the parts from the left, without backtracking."""
    first, *middle, last = rule.parts
    if not path.startswith(first):
        return False
    position = len(first)
    for part in middle:
        found = path.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    if rule.anchored:
        return path.endswith(last) and len(path) - len(last) >= position
    return path.find(last, position) >= 0


PARSE_LIMIT = 512 * 1024  # Bytes of a file that are read. RFC 9309 section 2.5 requires at least 500 KiB.
MAX_LINE_CHARS = 2083 * 8 - 1
"""Characters of a line that are read, as in Google's parser: eight times the longest URL of old browsers."""
MAX_SITEMAPS = 1000
MAX_USAGE_LINES = 100  # Content-Usage and Content-Signal lines of a group.
USAGE_RECORDS = frozenset(("content-usage", "content-signal"))
ROBOTS_PATH = "/robots.txt"

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_LINE_BREAK_TAG = re.compile(r"(?<!\s)\s*+<br\s*+/?>\s*+$", re.IGNORECASE)
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
    "content-usage": ("content-usage",),
    "content-signal": ("content-signal", "content-signals"),
}
_RECORD = {spelling: record for record, spellings in _SPELLINGS.items() for spelling in spellings}
_WITHOUT_COLON = re.compile(rf"({'|'.join(_RECORD)})[ \t]+(.*)", re.IGNORECASE)


class UsageLine(NamedTuple):
    """A Content-Usage or Content-Signal line: what may be done with pages whose path matches."""

    number: int
    record: str
    pattern: str  # Empty: all paths.
    value: str

    @property
    def source(self) -> str:
        """The place of the line, as `why` shows it."""
        return (
            f"robots.txt line {self.number}, {'Content-Usage' if self.record == 'content-usage' else 'Content-Signal'}"
        )


@dataclass(frozen=True, slots=True)
class RobotsTxt:
    """A robots.txt for one crawler."""

    rules: RuleMatcher = field(default_factory=lambda: RuleMatcher(()))
    crawl_delay: float | None = None
    request_rate: RequestRate | None = None
    visit_time: VisitTime | None = None
    sitemaps: tuple[str, ...] = ()
    usage: tuple[UsageLine, ...] = ()

    def usage_of(self, target: str) -> list[UsageLine]:
        """Return the lines that say what may be done with a path: of each record those with the longest pattern that
        matches (draft-ietf-aipref-attach-05 section 3.1)."""
        path, found = normalise_escapes(target), list[UsageLine]()
        for record in dict.fromkeys(line.record for line in self.usage):
            ranked = [
                (rank, line)
                for line in self.usage
                if line.record == record and (rank := pattern_rank(line.pattern, path)) is not None
            ]
            best = max((rank for rank, _ in ranked), default=0)
            found += [line for rank, line in ranked if rank == best]
        return found

    def verdict(self, target: str) -> RuleVerdict:
        """Return what the file says about path and query of a canonical URL. The file itself is always allowed."""
        if target.startswith(ROBOTS_PATH) and target[len(ROBOTS_PATH) :][:1] in ("", "?"):
            return NO_RULE
        return self.rules.verdict(target)

    @property
    def min_delay(self) -> float | None:
        """Seconds between requests, by Crawl-delay or Request-rate."""
        if self.request_rate is None:
            return self.crawl_delay
        return max(self.request_rate.seconds / self.request_rate.requests, self.crawl_delay or 0.0)


@dataclass(slots=True)
class _GroupRecords:
    """What the groups of one name say."""

    lines: list[RuleLine] = field(default_factory=list)
    delay: float | None = None
    rate: RequestRate | None = None
    time: VisitTime | None = None
    usage: list[UsageLine] = field(default_factory=list)


def parse_robots(body: bytes, *, agent: str, limit: int = PARSE_LIMIT) -> RobotsTxt:
    """Parse the rules for `agent` (a product token, or a user agent that contains it). No bytes make it fail."""
    names = _names_of_agent(agent)
    groups = _Groups(wanted={*names, "*"})
    for number, record, value in _records(_text(body, limit)):
        groups.take(number, record, value)
    ours = next((groups.records[name] for name in (*names, "*") if name in groups.records), _GroupRecords())
    sitemaps, usage = tuple(groups.sitemaps), tuple(ours.usage)
    return RobotsTxt(RuleMatcher(ours.lines), ours.delay, ours.rate, ours.time, sitemaps, usage)


def verdict_for(robots: RobotsTxt, url: str) -> RuleVerdict:
    """Return what the file says about a URL or a path."""
    return robots.verdict(path_and_query(url))


def path_and_query(url: str) -> str:
    """Return path and query of any URL, as rules match them."""
    href = urls.parse(url) or urls.join("http://localhost/", url) or ""
    href = href.partition("#")[0]
    return urls.path_of(href) if "//" in href else "/"


def robots_url(url: str) -> str | None:
    """Return the robots.txt URL of a page's site; None if the URL names no page."""
    page = urls.canonical(url)
    return None if page is None else urls.site_of(page) + ROBOTS_PATH


def sitemap_urls(robots: RobotsTxt, base: str) -> tuple[str, ...]:
    """Return the sitemaps as absolute URLs, each once; absolute ones keep their form but for the scheme's case."""
    joined = (
        _with_plain_scheme(sitemap) if urls.parse(sitemap) else urls.join(base, sitemap) for sitemap in robots.sitemaps
    )
    return tuple(dict.fromkeys(url for url in joined if url is not None))


def _with_plain_scheme(url: str) -> str:
    scheme, colon, rest = url.partition(":")
    return f"{scheme.lower()}{colon}{rest}"


def is_product_token(name: str) -> bool:
    """True for a name that every parser recognises: letters, `_` and `-` (RFC 9309 section 2.2.1)."""
    return _PRODUCT_TOKEN.fullmatch(name) is not None


def _text(body: bytes, limit: int) -> str:
    """Decode the file. Octets that are not UTF-8 become lone surrogates."""
    if len(body) >= limit:
        # A line cut in two would say something else.
        body = body[: max(body.rfind(b"\n", 0, limit), body.rfind(b"\r", 0, limit)) + 1]
    if body.startswith(_UTF16_BOMS):
        return body.decode("utf-16", "replace")
    # Some servers send part of the byte order mark, or send it twice.
    return body.lstrip(_UTF8_BOM).decode("utf-8", "surrogateescape")


def _records(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield number, name and value of every known record."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        content = line[:MAX_LINE_CHARS].partition("#")[0].strip()
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
    """The groups of the file, read line by line.
    Only Allow and Disallow end the names of a group (RFC 9309 section 2.2.4); others apply to the names before them."""

    def __init__(self, *, wanted: set[str]) -> None:
        self.records: dict[str, _GroupRecords] = {}
        self.sitemaps: dict[str, None] = {}
        self._wanted = wanted
        self._group: set[str] = set()
        self._newest: set[str] = set()
        self._group_has_rules = False
        self._names_ended = False

    def take(self, number: int, record: str, value: str) -> None:
        """Add the next known record."""
        if record == "user-agent":
            self._name(_names_of_line(value) & self._wanted)
        elif record == "sitemap":
            if value and len(self.sitemaps) < MAX_SITEMAPS:
                self.sitemaps[value] = None
        elif record in ("allow", "disallow"):
            self._group_has_rules = self._names_ended = True
            if value:
                line = RuleLine(number, record == "allow", value)
                for name in self._group:
                    self.records[name].lines.append(line)
        else:
            self._names_ended = True
            for name in self._newest:
                if record in USAGE_RECORDS:
                    _add_usage(self.records[name], number, record, value)
                else:
                    _add_extension(self.records[name], record, value)

    def _name(self, names: set[str]) -> None:
        self._group = names if self._group_has_rules else self._group | names
        self._newest = names if self._names_ended else self._newest | names
        self._group_has_rules = self._names_ended = False
        for name in names:
            self.records.setdefault(name, _GroupRecords())


def _add_extension(records: _GroupRecords, record: str, value: str) -> None:
    """Keep an extension's value: the longest delay, otherwise the last valid value."""
    if record == "crawl-delay":
        delay = parse_crawl_delay(value)
        if delay is not None:
            records.delay = max(delay, records.delay or 0.0)
    elif record == "request-rate":
        records.rate = parse_request_rate(value) or records.rate
    else:
        records.time = parse_visit_time(value) or records.time


def _add_usage(records: _GroupRecords, number: int, record: str, value: str) -> None:
    """Keep a line about usage; its value may begin with a path."""
    if len(records.usage) < MAX_USAGE_LINES:
        pattern, _, rest = value.partition(" ") if value.startswith("/") else ("", "", value)
        records.usage.append(UsageLine(number, record, pattern, rest.strip()))


def pattern_rank(pattern: str, path: str) -> int | None:
    """Return the rank of a pattern that matches a path with normal escapes, by its length; None: it does not match."""
    if not pattern:
        return 0
    rule = _compile(pattern, RuleLine(0, True, pattern))
    return rule.rank if _matches_all(rule, path) else None


def _matches_all(rule: _Rule, path: str) -> bool:
    if len(rule.parts) > 1:
        return _matches(rule, path)
    return path == rule.parts[0] if rule.anchored else path.startswith(rule.parts[0])


def _names_of_line(value: str) -> set[str]:
    """Return the names on a User-agent line. Text after a name is ignored, as in Google's parser; a comma adds one."""
    if value == "*" or value.startswith(("* ", "*\t")):
        return {"*"}
    parts = value.lower().replace("*", "").split(",")
    return {name[0] for part in parts if (name := _NAME.match(part.strip()))}


def _names_of_agent(agent: str) -> list[str]:
    """Return the names by which a file may call us, the most likely first."""
    if not agent.strip("* "):
        return []
    words = re.split(r"[\s();,]+", agent.lower().replace("*", ""))
    return list(dict.fromkeys(name[0] for word in words if (name := _NAME.match(word))))
