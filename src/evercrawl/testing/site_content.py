"""Content of a synthetic site: its words, paragraphs and HTML, and how pages change.
All text uses plain letters, so nothing needs to be escaped."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from evercrawl.testing.site_plan import (
    ChangeTimes,
    PageKind,
    PlannedPage,
    SiteFaults,
    SitePlan,
    choose,
    hash_number,
    random_stream,
    uniform,
)

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
    """Return the vocabulary of a whole web, common words first."""
    chance = random_stream(seed, "words")
    return tuple("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(WORDS))


def sentences(seed: int, site: int) -> tuple[str, ...]:
    """Return the sentences that a site's pages use."""
    chance, vocabulary = random_stream(seed, "sentences", site), words(seed)
    own = chance.sample(vocabulary, 60)
    drawn = []
    for _ in range(SENTENCES_PER_SITE):
        chosen = chance.choices(vocabulary[:200], k=6) + chance.choices(own, k=5)
        chance.shuffle(chosen)
        drawn.append(" ".join(chosen).capitalize() + ".")
    return tuple(drawn)


def paragraphs(pool: tuple[str, ...], key: str, *, version: int, count: int) -> list[str]:
    """Return the text of one version. Each change rewrites one paragraph, in turn."""
    written = []
    for place in range(count):
        rewritten_at = version - (version - place) % count
        bits = hash_number(key, place, max(rewritten_at, 0))
        chosen = [pool[(bits >> 16 * n) % len(pool)] for n in range(SENTENCES_PER_PARAGRAPH)]
        written.append(" ".join(chosen))
    return written


def html_page(title: str, body: list[str], anchors: list[Anchor], *, note: str = "") -> bytes:
    """Return a page: navigation, title, paragraphs and a list of links."""
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


STATIC_SHARE = 0.25  # Pages that never change.
RAREST, MOST_OFTEN = -2.5, 0.8  # Powers of ten: the others change between once in 300 days and six times a day.
NOISY_SHARE = 0.1  # Sites whose every response differs in a meaningless line.
BIG_REPEATS = 100  # How often a big page repeats its text.
ALIAS_SHARE = 0.1
BLOG_EVERY = 10  # One site in this many shares another's registrable domain.


class WebPlan(NamedTuple):
    """Parameters of a whole synthetic web."""

    seed: int
    sites: int
    pages_per_site: int
    faults: SiteFaults
    agent: str  # The product token in robots.txt files.


class SiteContent:
    """The pages of one site at any moment. Reading does not change it."""

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
        """Return the page whose content this one shows: another page if it is a copy."""
        return self.plan.original(page) if page.kind is PageKind.COPY else page

    def version(self, page: PlannedPage, at_s: float) -> int:
        """Return how often the content has changed by this moment."""
        return self._changes_of(self.source(page)).count(at_s)

    def changed_at(self, page: PlannedPage, at_s: float) -> float:
        """Return when the content last changed; 0 if it never did."""
        return self._changes_of(self.source(page)).last(at_s)

    def _changes_of(self, page: PlannedPage) -> ChangeTimes:
        if page.number not in self._changes:
            chance = random_stream(self._key, page.number, "changes")
            per_day = 0.0 if chance.random() < STATIC_SHARE else 10 ** chance.uniform(RAREST, MOST_OFTEN)
            self._changes[page.number] = ChangeTimes(chance, per_day=per_day)
        return self._changes[page.number]

    def body(self, page: PlannedPage, at_s: float) -> tuple[bytes, str]:
        """Return the decoded body at this moment, and its media type."""
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
        """Return the links of a page: navigation, pages of the site, and other sites."""
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
        """Return links to two more sites, so that all are reachable from the first, and to the calendar trap."""
        first = 2 * self._index + 1
        found = [self._to_site(child) for child in (first, first + 1) if child < self._web.sites]
        return [*found, Anchor("/calendar/2026/1", "calendar")] if self.has_calendar else found

    def _to_site(self, index: int, *, nofollow: bool = False) -> Anchor:
        return Anchor(f"{origin_of(self._web, index)}/", f"site {index}", nofollow)


def has_alias(web: WebPlan, index: int) -> bool:
    """Return whether the site has a second origin, plain HTTP without www, that redirects to the first."""
    return uniform(web.seed, index, "twin") < ALIAS_SHARE


def origin_of(web: WebPlan, index: int) -> str:
    """Return the site's own origin."""
    if has_alias(web, index):
        return f"https://www.site{index:04d}.test"
    if index % BLOG_EVERY == BLOG_EVERY - 1:
        return f"https://blog.site{index - 1:04d}.test"
    return f"{choose(('https', 'https', 'http'), web.seed, index, 'scheme')}://site{index:04d}.test"


def alias_of(index: int) -> str:
    """Return the origin that redirects to a site."""
    return f"http://site{index:04d}.test"
