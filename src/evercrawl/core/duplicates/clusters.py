"""Of what is a page a duplicate, which page stands for all of them, and how is that said in words?

Evidence in order of strength: a redirect, the same content, the page's own word (RFC 6596, believed only
where the texts do not contradict it), a copied host, nearly the same text. Duplicates are neither expanded
nor revisited at full price; the representative is.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.duplicates.minhash import is_near_duplicate, signature_similarity
from evercrawl.core.url import path_of
from evercrawl.model.page import DuplicateCandidate

MIN_CANONICAL_SIMILARITY = 0.1
"""A page that names another as its canonical form must have this much in common with it: a whole site that
names its front page would vanish otherwise.
"""


class Likeness(StrEnum):
    """Why a page counts as a duplicate, strongest first."""

    REDIRECT = "redirect"
    SAME_CONTENT = "same content"
    CANONICAL = "canonical"
    MIRROR = "mirror"
    NEAR = "near"


_STRENGTH = {likeness: place for place, likeness in enumerate(Likeness)}
_TURNED = {
    Likeness.REDIRECT: "{} redirects to it",
    Likeness.SAME_CONTENT: "it has the same content as {}",
    Likeness.CANONICAL: "{} names it as its canonical page",
    Likeness.MIRROR: "it is {} on a copy of its site",
    Likeness.NEAR: "it says nearly the same as {}",
}
"""The reason seen from the other page."""


class PageFacts(NamedTuple):
    """What is known of a page, as far as duplicates go."""

    url: str
    found: int
    """Its place in the order of discovery."""
    credit: int = 0
    digest: bytes | None = None
    """Of its content; None: not read, or nothing there."""
    signature: bytes | None = None
    chars: int = 0
    moved_to: str | None = None
    canonical: str | None = None


class Duplicate(NamedTuple):
    """One page says what another says."""

    url: str
    of: str
    likeness: Likeness
    detail: str


class Cluster(NamedTuple):
    """Pages that say the same, and the one that stands for them; each other one with its reason."""

    representative: str
    duplicates: tuple[Duplicate, ...]


def likeness_of(page: PageFacts, other: PageFacts, *, mirrors: Mapping[str, str] | None = None) -> Duplicate | None:
    """Whether the page is a duplicate of the other, for the strongest reason that holds.

    `mirrors` has, for each site that is a copy, the site that stands for it.
    """
    if page.url == other.url:
        return None
    for likeness, detail in (
        (Likeness.REDIRECT, _redirect(page, other)),
        (Likeness.SAME_CONTENT, _same_content(page, other)),
        (Likeness.CANONICAL, _canonical(page, other)),
        (Likeness.MIRROR, _mirror(page, other, mirrors or {})),
        (Likeness.NEAR, _near(page, other)),
    ):
        if detail is not None:
            return Duplicate(page.url, other.url, likeness, detail)
    return None


def _redirect(page: PageFacts, other: PageFacts) -> str | None:
    return f"it redirects to {other.url}" if page.moved_to == other.url else None


def _same_content(page: PageFacts, other: PageFacts) -> str | None:
    same = page.digest is not None and page.digest == other.digest
    return f"it has the same content as {other.url}" if same else None


def _canonical(page: PageFacts, other: PageFacts) -> str | None:
    if page.canonical != other.url or page.moved_to is not None or other.moved_to == page.url:
        return None
    if page.signature is not None and other.signature is not None:
        alike = signature_similarity(page.signature, other.signature)
        if alike < MIN_CANONICAL_SIMILARITY:
            return None
    return f"it names {other.url} as its canonical page"


def _mirror(page: PageFacts, other: PageFacts, mirrors: Mapping[str, str]) -> str | None:
    path = path_of(page.url)
    site = page.url.removesuffix(path)
    original = mirrors.get(site)
    if original is None or other.url != original + path:
        return None
    return f"its site is a copy of {original}, where it is {other.url}"


def _near(page: PageFacts, other: PageFacts) -> str | None:
    if page.signature is None or other.signature is None:
        return None
    if not is_near_duplicate(page.signature, other.signature, sizes=(page.chars, other.chars)):
        return None
    alike = signature_similarity(page.signature, other.signature)
    return f"it says nearly the same as {other.url} ({alike:.0%} alike)"


def representative(pages: Sequence[PageFacts]) -> PageFacts:
    """The page that stands for all of these: one that answers, that the others name, over https, with most
    credit.

    Where all that is equal, the plainer URL, and then the one that was found first.
    """
    named = Counter(url for page in pages for url in (page.moved_to, page.canonical) if url is not None)
    return min(pages, key=lambda page: _standing(page, named[page.url]))


def _standing(page: PageFacts, named: int) -> tuple[bool, int, bool, int, bool, int, int]:
    is_plain_http = not page.url.startswith("https:")
    has_query = "?" in page.url
    return (
        page.moved_to is not None or page.digest is None,
        -named,
        is_plain_http,
        -page.credit,
        has_query,
        len(page.url),
        page.found,
    )


def clusters(pages: Iterable[PageFacts], found: Iterable[Duplicate]) -> list[Cluster]:
    """The pages in clusters of more than one, each with its representative and the reason of every other.

    The reason may name another duplicate: `a` redirects to `b`, and `b` says what `c` says.
    """
    by_url = {page.url: page for page in pages}
    duplicates = [item for item in found if item.url in by_url and item.of in by_url]
    groups = _connected(by_url, duplicates)
    return [_cluster([by_url[url] for url in group], duplicates) for group in groups if len(group) > 1]


def _connected(urls: Iterable[str], duplicates: Iterable[Duplicate]) -> list[list[str]]:
    group_of = {url: [url] for url in urls}
    for item in duplicates:
        one, other = group_of[item.url], group_of[item.of]
        if one is other:
            continue
        smaller, larger = sorted((one, other), key=len)
        larger += smaller
        for url in smaller:
            group_of[url] = larger
    return list({id(group): group for group in group_of.values()}.values())


def _cluster(pages: list[PageFacts], duplicates: Iterable[Duplicate]) -> Cluster:
    """Reasons spread from the representative outwards, strong ones first, so that each leads back to it."""
    chosen = representative(pages)
    members = {page.url for page in pages}
    reasons: dict[str, list[Duplicate]] = {}
    for item in duplicates:
        if item.url in members:
            reasons.setdefault(item.of, []).append(item)
            reasons.setdefault(item.url, []).append(_turned(item))
    found: dict[str, Duplicate] = {}
    reached = deque([chosen.url])
    while reached:
        for item in sorted(reasons[reached.popleft()], key=lambda item: _STRENGTH[item.likeness]):
            if item.url != chosen.url and item.url not in found:
                found[item.url] = item
                reached.append(item.url)
    return Cluster(chosen.url, tuple(found.values()))


def _turned(item: Duplicate) -> Duplicate:
    return Duplicate(item.of, item.url, item.likeness, _TURNED[item.likeness].format(item.url))


MIN_CONFIRMED_VISITS = 2
"""A duplicate that was seen so often has been held against its representative more than once."""
GONE_STATUSES = frozenset((404, 410))


def should_recheck(key: bytes, *, visits: int, version: int, weight: float) -> bool:
    """Whether a duplicate is looked at because the page that it repeats has this new version."""
    if visits < MIN_CONFIRMED_VISITS:
        return True
    return xxh32_intdigest(key, seed=version & 0xFFFFFFFF) / 2**32 < weight


def can_represent(page: DuplicateCandidate) -> bool:
    """The page can stand for others: it has content, leads nowhere else, and is not gone."""
    return page.version > 0 and page.moved_to is None and page.status not in GONE_STATUSES


def is_still_duplicate(page: DuplicateCandidate, other: DuplicateCandidate | None, *, enough: float) -> bool:
    """Whether two pages, as they were seen last, still say the same."""
    if other is None or not can_represent(other):
        return False
    if page.digest is not None and page.digest == other.digest:
        return True
    if page.signature is None or other.signature is None:
        return False
    return signature_similarity(page.signature, other.signature) >= enough


_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


def titles_match(one: str | None, other: str | None) -> bool:
    """The same words, or one title is the other with words such as "to print" before or behind it.

    Other words in between are the name of something else (`a.B - manual`, `a.meta.C - manual`), and a number
    that is added makes another page of a series.
    """
    shorter, longer = sorted((_words(one), _words(other)), key=len)
    if not shorter:
        return True
    if longer[: len(shorter)] == shorter:
        added = longer[len(shorter) :]
    elif longer[-len(shorter) :] == shorter:
        added = longer[: -len(shorter)]
    else:
        return False
    return not any(map(_DIGIT.search, added))


def _words(title: str | None) -> list[str]:
    return _WORD.findall((title or "").casefold())
