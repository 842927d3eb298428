"""What the operator says about patterns of URLs, and what it would do before it is said.

A pattern is written as `trap list` shows it (`/shop?color=`, `/cal/{n}/{n}`, `/old/**`) or as a glob over the
whole URL (`https://example.org/shop/*`). The newest rule that matches decides; taking a rule out undoes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.traps.url_check import url_verdict
from evercrawl.core.traps.url_pattern import patterns_of
from evercrawl.core.url import path_of, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.reason import Reason
from evercrawl.model.settings import TrapSettings

EXAMPLES = 5


class RuleAction(Enum):
    """What the operator says."""

    EXCLUDE = "exclude"
    ALLOW = "allow"


class UserRule(NamedTuple):
    """A word about a pattern, on one site or on all."""

    action: RuleAction
    pattern: str
    site: str | None = None


class RuleEffect(NamedTuple):
    """What a rule does to some URLs."""

    matched: int
    of: int
    examples: tuple[str, ...]


def matches(pattern: str, url: str) -> bool:
    """The URL belongs to the pattern."""
    if "://" in pattern or ("*" in pattern and "**" not in pattern and not pattern.endswith("?*")):
        return bool(_glob(pattern).fullmatch(url if "://" in pattern else url[len(site_of(url)) :]))
    return any(name == pattern for name, _ in patterns_of(url)) or url[len(site_of(url)) :] == pattern


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(piece) for piece in pattern.split("*")), re.DOTALL)


def rule_effect(pattern: str, urls: Iterable[str]) -> RuleEffect:
    """How many of the URLs the pattern takes, with a few examples: the look before the word is said."""
    seen = matched = 0
    examples: list[str] = []
    for url in urls:
        seen += 1
        if matches(pattern, url):
            matched += 1
            if len(examples) < EXAMPLES:
                examples.append(url)
    return RuleEffect(matched, seen, tuple(examples))


def matching_rule(rules: Sequence[UserRule], url: str) -> UserRule | None:
    """The newest rule that speaks about the URL; None: the crawl decides by itself."""
    site = site_of(url)
    for rule in reversed(rules):
        if (rule.site is None or rule.site == site) and matches(rule.pattern, url):
            return rule
    return None


class IgnoreRule(NamedTuple):
    """What to leave out, and why."""

    expression: str
    why: str


IGNORE_SETS: dict[str, tuple[IgnoreRule, ...]] = {
    "forums": (
        IgnoreRule(r"/(?:ucp|memberlist|posting|report|mcp)\.php\?", "phpBB: forms, members, moderation"),
        IgnoreRule(r"/viewtopic\.php\?.*\bview=(?:next|previous|print|unread)", "phpBB: other ways to a topic"),
        IgnoreRule(r"/viewtopic\.php\?(?:.*&)?p=\d+", "phpBB: a topic again for each of its posts"),
        IgnoreRule(r"/(?:newreply|newthread|report|sendmessage|private|usercp|login)\.php\?", "vBulletin: forms"),
        IgnoreRule(r"/showthread\.php\?.*\b(?:goto|mode|pp)=", "vBulletin: other views of a thread"),
        IgnoreRule(r"/showpost\.php\?", "vBulletin: single posts of a thread"),
        IgnoreRule(r"/index\.php\?action=(?!forum\b)\w+", "Simple Machines: actions"),
        IgnoreRule(r"/index\.php\?topic=[\d.]+(?:msg\d+|;prev_next)", "Simple Machines: a topic by its posts"),
        IgnoreRule(r"/t/[^/]+/\d+/\d+(?:\?|$)", "Discourse: a topic again for each of its posts"),
    ),
    "wikis": (
        IgnoreRule(
            r"[?&]action=(?:edit|history|raw|info|submit|delete|watch|unwatch|purge|render|protect)\b",
            "MediaWiki: forms and other views of a page",
        ),
        IgnoreRule(r"[?&](?:oldid|diff|curid|printable|redlink|veaction|mobileaction)=", "MediaWiki: revisions"),
        IgnoreRule(r"[/=]Special:", "MediaWiki: lists that are made anew for each request"),
        IgnoreRule(r"[?&]do=(?:edit|revisions|diff|backlink|recent|login|media|index|export\w*)\b", "DokuWiki"),
        IgnoreRule(r"[?&](?:rev|rev2(?:\[\d\])?|idx)=", "DokuWiki: revisions and the tree of names"),
        IgnoreRule(r"/(?:edit|rdiff|attach|oops|manage|view)/.*\?(?:.*[;&])?(?:rev|t|cover)=", "TWiki and Foswiki"),
    ),
    "shops": (
        IgnoreRule(r"[?&](?:add-to-cart|add_to_wishlist|remove_item|undo_item)=", "WooCommerce: baskets"),
        IgnoreRule(r"[?&](?:orderby|filter_\w+|min_price|max_price|rating_filter|product_count)=", "WooCommerce"),
        IgnoreRule(r"/(?:cart|basket|checkout|wishlist|customer|catalogsearch|sendfriend)(?:/|$)", "baskets, accounts"),
        IgnoreRule(r"[?&](?:dir|order|mode|limit|product_list_\w+)=", "Magento: orders and layouts of a list"),
        IgnoreRule(r"/product_compare/", "Magento: comparisons"),
        IgnoreRule(r"[?&](?:sort_by|pf_\w+|variant|grid_list|view)=", "Shopify: orders, filters, variants"),
        IgnoreRule(r"[?&](?:osCsid|zenid|currency|sort)=", "osCommerce and Zen Cart"),
    ),
    "calendars": (
        IgnoreRule(
            r"[?&](?:tribe-bar-date|tribe_event_display|eventDisplay|ical|outlook-ical)=", "The Events Calendar"
        ),
        IgnoreRule(r"/events?/(?:\d{4}-\d{2}(?:-\d{2})?|day|week|month|today)(?:/|$)", "days, weeks and months"),
        IgnoreRule(r"/calendar/(?:view\.php\?.*\btime=\d+|\d{4}/\d{1,2})", "Moodle and others: days and months"),
        IgnoreRule(r"[?&](?:ai1ec|mc_id|cid|month|yr|dy|ltype)=.*[?&]?(?:month|yr|dy)=", "All-in-One, My Calendar"),
        IgnoreRule(r"/(?:month|week|day|year)\.php\?", "WebCalendar: views"),
    ),
    "blogs": (
        IgnoreRule(r"[?&]replytocom=\d+", "WordPress: a page again for each of its comments"),
        IgnoreRule(r"[?&](?:share|like_comment|print|amp|noamp)=", "WordPress: gestures and views"),
        IgnoreRule(r"/wp-(?:login|admin|json|comments-post|signup)\b", "WordPress: forms and machine interfaces"),
        IgnoreRule(r"/(?:feed|trackback)/?$", "WordPress: a feed for each page"),
        IgnoreRule(r"/search\?updated-(?:max|min)=", "Blogger: pages by date"),
    ),
    "code": (
        IgnoreRule(r"/(?:blame|raw|commits?|compare|network|stargazers|edit|find_file)/", "other views of a file"),
        IgnoreRule(r"/(?:blame|plain|patch|diff|snapshot|atom|stats)/?.*\?(?:.*[;&])?(?:id|h|follow)=", "cgit"),
        IgnoreRule(r"[?;&]a=(?:blob_plain|blobdiff|commitdiff|snapshot|search|history|rss|atom)\b", "gitweb"),
        IgnoreRule(r"[?&](?:pathrev|r1|r2|revision|annotate|sortby|sortdir|view)=", "ViewVC: revisions, orders"),
    ),
    "listings": (
        IgnoreRule(r"/\?(?:C=[NMSD](?:[;&]O=[AD])?|[NMSD]=[AD])$", "Apache: other orders of a folder's listing"),
    ),
}


@dataclass(frozen=True, slots=True)
class IgnoreSet:
    """The rules of the sets that were chosen."""

    rules: tuple[tuple[re.Pattern[str], str], ...]

    def why_ignored(self, url: str) -> str | None:
        """The sentence of the first rule that matches; None: none does."""
        path = path_of(url)
        return next((why for expression, why in self.rules if expression.search(path)), None)


@lru_cache(maxsize=32)
def compile_ignore_sets(names: tuple[str, ...]) -> IgnoreSet:
    """The rules of the named sets together."""
    unknown = [name for name in names if name not in IGNORE_SETS]
    if unknown:
        raise ConfigError(f"no ignore set {unknown[0]!r}; there are: {', '.join(IGNORE_SETS)}")
    return IgnoreSet(tuple(pair for name in names for pair in _compiled(name)))


def _compiled(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rule.expression), f"{name}: {rule.why}") for rule in IGNORE_SETS[name])


Refusal = tuple[Reason, str]

BETWEEN_SITE_AND_PATTERN = " "
"""No URL and no pattern has one inside."""


def parse_rule(word: RuleAction, text: str) -> UserRule:
    """A rule as it is written in the settings: `PATTERN`, or `SITE PATTERN`."""
    site, gap, pattern = text.strip().partition(BETWEEN_SITE_AND_PATTERN)
    return UserRule(word, pattern.strip(), site) if gap else UserRule(word, site)


def format_rule(pattern: str, site: str | None) -> str:
    """How a rule is written in the settings."""
    return pattern if site is None else f"{site}{BETWEEN_SITE_AND_PATTERN}{pattern}"


def rules_of(settings: TrapSettings) -> tuple[UserRule, ...]:
    """All rules, the strongest last: what is allowed is allowed whatever is excluded."""
    excluded = (parse_rule(RuleAction.EXCLUDE, text) for text in settings.exclude)
    allowed = (parse_rule(RuleAction.ALLOW, text) for text in settings.allow)
    return (*excluded, *allowed)


class TrapFilter:
    """The first look at a URL; the operator's rules may change while it stands."""

    def __init__(self, settings: TrapSettings) -> None:
        self.settings = settings
        self._rules: tuple[UserRule, ...] = ()
        self._ignored: IgnoreSet | None = None
        self.update(settings)

    def update(self, settings: TrapSettings) -> None:
        """From now on these settings count."""
        self.settings = settings
        self._rules = rules_of(settings)
        self._ignored = compile_ignore_sets(settings.rule_sets) if settings.rule_sets else None

    def user_rule(self, url: str) -> UserRule | None:
        """What the operator says about the URL; None: nothing."""
        return matching_rule(self._rules, url) if self._rules else None

    def refusal(self, url: str, *, year: int, is_asked_for: bool = False) -> Refusal | None:
        """None where the canonical URL may be asked for, else the reason with its evidence.

        What was asked for by name (`is_asked_for`: seeds, and where they have moved to) only the operator
        refuses.
        """
        rule = self.user_rule(url)
        if rule is not None:
            return rule_refusal(rule)
        if is_asked_for or not self.settings.enabled:
            return None
        verdict = url_verdict(url, year=year)
        if verdict.trap:
            return Reason.TRAP, f"{verdict.kind}: {verdict.reason}"
        why = self._ignored.why_ignored(url) if self._ignored is not None else None
        return None if why is None else (Reason.EXCLUDED, why)


def rule_refusal(rule: UserRule) -> Refusal | None:
    """The refusal that a rule of the operator means; None: it allows."""
    if rule.action is RuleAction.ALLOW:
        return None
    return Reason.EXCLUDED, f"trap exclude {rule.pattern}"
