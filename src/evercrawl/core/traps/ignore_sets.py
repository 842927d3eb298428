"""Readable rules for software that is known: URLs that show what other URLs show, or that do something.

Each rule is a regular expression over path and query with a sentence that says why. A set is used only when
the operator names it: nothing here is assumed about a site.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.url import path_of
from evercrawl.errors import ConfigError


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
def chosen_sets(names: tuple[str, ...]) -> IgnoreSet:
    """The rules of the named sets together."""
    unknown = [name for name in names if name not in IGNORE_SETS]
    if unknown:
        raise ConfigError(f"no ignore set {unknown[0]!r}; there are: {', '.join(IGNORE_SETS)}")
    return IgnoreSet(tuple(pair for name in names for pair in _compiled(name)))


def _compiled(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rule.expression), f"{name}: {rule.why}") for rule in IGNORE_SETS[name])
