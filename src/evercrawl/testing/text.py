"""The words of the synthetic web: sentences of each site, paragraphs of each version, HTML around them.

Everything is made of our own letters, so nothing needs to be escaped.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from evercrawl.testing.draw import number, stream

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
    chance = stream(seed, "words")
    return tuple("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(WORDS))


def sentences(seed: int, site: int) -> tuple[str, ...]:
    """What a site talks about."""
    chance, vocabulary = stream(seed, "sentences", site), words(seed)
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
        bits = number(key, place, max(rewritten_at, 0))
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
