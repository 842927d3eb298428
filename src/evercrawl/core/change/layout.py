"""Which blocks of this page are its own? Judged from the page as a whole, since names alone may mislead.

A main element that holds a good part of the text holds all that is the page's own. Without one, everything
is that is not called otherwise; on a page with prose, lists of links outside of articles are the site's.
"""

from __future__ import annotations

from collections.abc import Callable

from evercrawl.core.change.snapshot import (
    ARTICLE,
    BODY,
    HEADLINE,
    LINKED,
    MAIN,
    REGION_BITS,
    SITE,
    SITE_BY_NAME,
    Snapshot,
)

MAIN_SHARE = 0.4
"""Of the text outside links and the site's parts, so much in the main element makes it the only place."""
PROSY_CHARS = 200
LINKS_BESIDE_PROSE = 2
"""A page with more than so many times its prose in links is a list of links, and these are its content."""
MISLEADING = 2
"""So many times the rest may a part be that is the site's by its name."""

IsOwn = Callable[[int], bool]


def own_test(snapshot: Snapshot) -> IsOwn:
    """A test that tells from a block's flags whether the block is the page's own."""
    chars = [0, 0, 0, 0, 0]
    linked = 0
    has_headed_article = False
    for flag, text in zip(snapshot.flags, snapshot.texts, strict=True):
        if not flag & LINKED:
            chars[flag & REGION_BITS] += len(text)
        elif flag & REGION_BITS == BODY:
            linked += len(text)
        if flag & HEADLINE and flag & REGION_BITS == ARTICLE:
            has_headed_article = True
    free = chars[BODY] + chars[ARTICLE] + chars[MAIN]
    own_regions = {MAIN, ARTICLE, BODY}
    if chars[MAIN] and chars[MAIN] >= MAIN_SHARE * free:
        own_regions = {MAIN}
    elif has_headed_article and chars[ARTICLE] >= MAIN_SHARE * free:
        own_regions = {MAIN, ARTICLE}
    if chars[SITE_BY_NAME] > MISLEADING * free:
        own_regions.add(SITE_BY_NAME)
    if not any(chars[region] for region in own_regions) and chars[SITE]:
        own_regions.add(SITE)
    linked_is_site = free >= PROSY_CHARS and linked <= LINKS_BESIDE_PROSE * free

    def is_own(flag: int) -> bool:
        region = flag & REGION_BITS
        return region in own_regions and not (flag & LINKED and region == BODY and linked_is_site)

    return is_own
