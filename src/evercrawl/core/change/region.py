"""Which part of a page is its own, and which is the site's? What elements are called says a good deal.

Words that name adverts, menus and the like count wherever they stand; words that could as well name
content (a weather site's weather) count outside of the main element only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xxhash import xxh32_intdigest

MOST_REMEMBERED_NAMES = 20_000
LONGEST_NAMES = 500
LONGEST_PLAIN_WORD = 24
"""Longer ones are made by machines."""


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SURE_WORDS = _set_of(
    "ad ads adv advert adverts advertisement advertising adsense adslot sponsor sponsored sponsors promo"
    " promotion werbung anzeige anzeigen publicite publicidad pubblicita reklama reklame reclame annonce"
    " nav navbar navigation navi subnav menu menue submenu breadcrumb breadcrumbs sidebar seitenleiste"
    " footer fusszeile masthead toolbar pagination pager skip login signup cookie cookies consent gdpr"
    " cookiebanner related recommended recommendation recommendations teaser teasers share sharing social"
    " newsletter subscribe subscription popup modal overlay outbrain taboola copyright"
)
_LIKELY_WORDS = _set_of(
    "banner weather wetter meteo tiempo clock uhr horloge ticker popular trending bestseller counter"
    " zaehler compteur contador visitors besucher timestamp debug"
)
_WHOLE_NAMES = _set_of(
    "views pageviews page-views post-views view-count viewcount views-count viewcounter hits hit-counter"
    " online users-online usersonline whos-online who-is-online most-read mostread read-more-box"
    " last-updated lastupdated last-modified generated server-time servertime page-info request-id"
    " also-read read-also see-also-box site-footer site-header"
)
# A page `with-sidebar` is not a sidebar.
_LAYOUT_WORDS = frozenset(("has", "with", "no", "is", "not", "without", "after", "before"))
_ROLES = _set_of(
    "navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog tablist"
    " timer marquee status"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BORDER = re.compile(r"[-_:]+")
_DIGITS = re.compile(r"\d+")


class Naming(NamedTuple):
    """What the names of an element say: a stable number for its path, and whose part it is."""

    mark: int
    is_site: bool
    """The site's, wherever it stands."""
    is_site_outside: bool
    """The site's, unless it stands in the main element."""


UNNAMED = Naming(0, is_site=False, is_site_outside=False)


class _Namings(dict[str, Naming]):
    """Judges what it does not know yet, since a site uses few combinations of names very often."""

    def __missing__(self, names: str) -> Naming:
        if len(self) >= MOST_REMEMBERED_NAMES:
            self.clear()
        naming = self[names] = _judged(names[:LONGEST_NAMES])
        return naming


NAMINGS = _Namings()
"""The verdict on the classes and the id of an element, separated by spaces."""


def is_site_role(role: str | None) -> bool:
    """The ARIA role stands for a part of the site rather than of the page."""
    return role is not None and role.strip().lower() in _ROLES


def _judged(names: str) -> Naming:
    kept = []
    is_site = is_site_outside = False
    for name in _CAMEL.sub("-", names).lower().split():
        words = _BORDER.split(name)
        if not _is_random(name):
            kept.append(_DIGITS.sub("#", name))
        if words[0] in _LAYOUT_WORDS:
            continue
        plain = {_DIGITS.sub("", word) for word in words}
        is_site = is_site or name in _WHOLE_NAMES or not _SURE_WORDS.isdisjoint(plain)
        is_site_outside = is_site_outside or not _LIKELY_WORDS.isdisjoint(plain)
    mark = xxh32_intdigest(" ".join(sorted(set(kept))).encode("utf-8", "surrogatepass")) if kept else 0
    return Naming(mark, is_site, is_site or is_site_outside)


def _is_random(name: str) -> bool:
    """Digits within letters, or more letters than a word has: drawn anew by some machine, not written."""
    inner = name.strip("0123456789-_")
    return len(name) > LONGEST_PLAIN_WORD or any(char.isdigit() for char in inner.replace("-", ""))
