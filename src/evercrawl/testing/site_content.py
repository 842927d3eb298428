"""The words of the synthetic web: sentences of each site, paragraphs of each version, HTML around them.

Everything is made of our own letters, so nothing needs to be escaped.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from evercrawl.testing.randomness import ChangeTimes, choose, hash_number, random_stream, uniform
from evercrawl.testing.site_plan import PageKind, PlannedPage, SiteFaults, SitePlan

WORDS = 1500
SENTENCES_PER_SITE = 96
SENTENCES_PER_PARAGRAPH = 4
_SYLLABLES = tuple(first + second for first in "bdfgklmnrst" for second in "aeio")


class Anchor(NamedTuple):
    """A link of a page."""

    href: str
    text: str
    nofollow: bool = False


@lru_cache(maxsize=8)
def words(seed: int) -> tuple[str, ...]:
    """The vocabulary of a whole web; common words come first."""
    chance = random_stream(seed, "words")
    return tuple("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(WORDS))


def sentences(seed: int, site: int) -> tuple[str, ...]:
    """What a site talks about."""
    chance, vocabulary = random_stream(seed, "sentences", site), words(seed)
    own = chance.sample(vocabulary, 60)
    drawn = []
    for _ in range(SENTENCES_PER_SITE):
        chosen = chance.choices(vocabulary[:200], k=6) + chance.choices(own, k=5)
        chance.shuffle(chosen)
        drawn.append(" ".join(chosen).capitalize() + ".")
    return tuple(drawn)


def paragraphs(pool: tuple[str, ...], key: str, *, version: int, count: int) -> list[str]:
    """The text of one version: each change rewrites one paragraph, in turn, and leaves the others alone."""
    written = []
    for place in range(count):
        rewritten_at = version - (version - place) % count
        bits = hash_number(key, place, max(rewritten_at, 0))
        chosen = [pool[(bits >> 16 * n) % len(pool)] for n in range(SENTENCES_PER_PARAGRAPH)]
        written.append(" ".join(chosen))
    return written


def html_page(title: str, body: list[str], anchors: list[Anchor], *, note: str = "") -> bytes:
    """A page with a title, navigation in front and behind, and paragraphs in the middle."""
    links = [_anchor_html(anchor) for anchor in anchors]
    items = "\n".join([f"<li>{link}</li>" for link in links[2:]])
    text = "\n".join([f"<p>{paragraph}</p>" for paragraph in body])
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title></head>\n"
        f"<body><nav>{' '.join(links[:2])}</nav>\n<main><h1>{title}</h1>\n{text}\n"
        f"<ul>\n{items}\n</ul></main>\n{note}</body></html>\n"
    ).encode()


def _anchor_html(anchor: Anchor) -> str:
    rel = ' rel="nofollow"' if anchor.nofollow else ""
    return f'<a href="{anchor.href}"{rel}>{anchor.text}</a>'


STATIC_SHARE = 0.25
"""Pages that never change."""
RAREST, MOST_OFTEN = -2.5, 0.8
"""Powers of ten: the others change from once in 300 days to six times a day."""
NOISY_SHARE = 0.1
"""Sites on which every answer differs in a line that means nothing."""
BIG_REPEATS = 100
"""A big page says the same so many times."""
ALIAS_SHARE = 0.1
BLOG_EVERY = 10
"""One site in so many lies on another's registrable domain."""


class WebPlan(NamedTuple):
    """What the whole synthetic web is made from."""

    seed: int
    sites: int
    pages_per_site: int
    faults: SiteFaults
    agent: str
    """The product token that robots.txt files address."""


class SiteContent:
    """The pages of one site at any moment; asking changes nothing."""

    def __init__(self, web: WebPlan, index: int) -> None:
        self.plan = SitePlan(web.seed, index, pages=web.pages_per_site, broken=web.faults.broken_pages)
        self.has_calendar = uniform(web.seed, index, "calendar") < 0.2
        self._web = web
        self._index = index
        self._key = f"{web.seed}/{index}"
        self._is_noisy = uniform(self._key, "noisy") < NOISY_SHARE
        self._sentences = sentences(web.seed, index)
        self._changes: dict[int, ChangeTimes] = {}

    def source(self, page: PlannedPage) -> PlannedPage:
        """The page whose content this one shows: another one's if it is a copy."""
        return self.plan.partner(page) if page.kind is PageKind.COPY else page

    def version(self, page: PlannedPage, at_s: float) -> int:
        """How often the page's content has changed up to this moment."""
        return self._changes_of(self.source(page)).count(at_s)

    def changed_at(self, page: PlannedPage, at_s: float) -> float:
        """When it changed last; 0: not since the beginning."""
        return self._changes_of(self.source(page)).last(at_s)

    def _changes_of(self, page: PlannedPage) -> ChangeTimes:
        if page.number not in self._changes:
            chance = random_stream(self._key, page.number, "changes")
            per_day = 0.0 if chance.random() < STATIC_SHARE else 10 ** chance.uniform(RAREST, MOST_OFTEN)
            self._changes[page.number] = ChangeTimes(chance, per_day=per_day)
        return self._changes[page.number]

    def body(self, page: PlannedPage, at_s: float) -> tuple[bytes, str]:
        """The decoded body at this moment, and its media type."""
        shown, version = self.source(page), self.version(page, at_s)
        key = f"{self._key}/{shown.number}"
        written = paragraphs(self._sentences, key, version=version, count=3 + hash_number(key, "size") % 6)
        if shown.kind is PageKind.TEXT:
            return "\n\n".join(written).encode(), "text/plain; charset=utf-8"
        title = f"{written[0].partition('.')[0][:50]} ({shown.number})"
        if shown.kind is PageKind.BIG:
            written *= BIG_REPEATS
        note = f"<footer>served at {at_s:.6f}</footer>\n" if self._is_noisy else ""
        return html_page(title, written, self._anchors(shown, version), note=note), "text/html; charset=utf-8"

    def _anchors(self, page: PlannedPage, version: int) -> list[Anchor]:
        """The links of a page: navigation, own pages, and other sites."""
        found = [Anchor("/", "home"), Anchor(self.plan.ordinary[-1].path, "newest")]
        found += [
            Anchor(own.path, f"{own.kind} {own.number}", own.kind is PageKind.UNFOLLOWED)
            for own in self.plan.linked(page)
        ]
        if page.number == 0:
            found += self._home_anchors()
        other = hash_number(self._key, page.number, version, "other") % self._web.sites
        found.append(self._to_site(other, nofollow=other % 4 == 0))
        return found

    def _home_anchors(self) -> list[Anchor]:
        """To two more sites, so that all can be reached from the first, and into the trap."""
        first = 2 * self._index + 1
        found = [self._to_site(child) for child in (first, first + 1) if child < self._web.sites]
        return [*found, Anchor("/calendar/2026/1", "calendar")] if self.has_calendar else found

    def _to_site(self, index: int, *, nofollow: bool = False) -> Anchor:
        return Anchor(f"{origin_of(self._web, index)}/", f"site {index}", nofollow)


def has_alias(web: WebPlan, index: int) -> bool:
    """The site has a second origin, plain HTTP without www, that only leads to the first."""
    return uniform(web.seed, index, "twin") < ALIAS_SHARE


def origin_of(web: WebPlan, index: int) -> str:
    """The site's own origin."""
    if has_alias(web, index):
        return f"https://www.site{index:04d}.test"
    if index % BLOG_EVERY == BLOG_EVERY - 1:
        return f"https://blog.site{index - 1:04d}.test"
    return f"{choose(('https', 'https', 'http'), web.seed, index, 'scheme')}://site{index:04d}.test"


def alias_of(index: int) -> str:
    """The origin of a site's twin."""
    return f"http://site{index:04d}.test"
