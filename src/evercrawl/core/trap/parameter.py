"""Which parts of a site's URLs do not matter? Learned from pairs of URLs, never assumed.

Two URLs that differ in one parameter, or in one random-looking segment, and have the same text speak against
that part; two with different texts speak for it. A part is left out of a page's identity only after enough
evidence without contradiction, and a contradiction takes it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.trap.pattern import path_shape

LEAST_SAME, LEAST_SAME_ON_SITE = 6, 12
"""Pairs of equal texts until a part counts as idle: on one kind of page, on the whole site."""
SAME_PER_DIFFERENT = 30
"""So many more pairs are needed for each contradiction."""
LEAST_PLACES, MOST_PLACES = 3, 24
"""Different pages that the pairs must come from: one page that says the same to everyone proves nothing; so
many are told apart.
"""
MOST_REMEMBERED = 1024
"""URLs, whole and without one of their parts, that wait for a partner."""
MOST_PARTS = 64
"""Parts of one site for which evidence is kept."""
MOST_PARTS_OF_URL = 8
NO_VALUE = 0
"""Stands for the value of a part that a URL does not have."""


class Tally(NamedTuple):
    """Evidence about one part."""

    same: int = 0
    different: int = 0
    places: int = 0
    """A bit for each page (of a few that are told apart) where the texts were the same."""

    def is_idle(self, least: int) -> bool:
        """Enough pairs have the same text whatever the part says."""
        if self.same < least + SAME_PER_DIFFERENT * self.different:
            return False
        return self.places.bit_count() >= LEAST_PLACES


class Rest(NamedTuple):
    """What was seen under a URL without one of its parts."""

    value: int
    content: int


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a site has shown about the parts of its URLs; bounded."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    rests: dict[int, Rest] = field(default_factory=dict)
    probes: int = 0
    """Pages that were looked at although they had been seen but for an idle part."""


class _Part(NamedTuple):
    name: str
    on_site: str
    value: str
    rest: str
    """The URL without the part."""


def learn(known: Parameters, url: str, text: str) -> Parameters:
    """The evidence with one more page in it; a page without text is no evidence."""
    parts = list(_parts(url))
    # Of a site without such parts nothing needs to be remembered.
    if not text.strip() or not (parts or known.rests):
        return known
    content = xxh32_intdigest(text.encode("utf-8", "surrogatepass"))
    tallies, rests = dict(known.tallies), dict(known.rests)
    for part in parts:
        key, value = _hash(part.name, part.rest), _hash(part.value)
        before = rests.pop(key, None) or rests.get(_whole(part.rest))
        if before is not None and before.value != value:
            for name in (part.name, part.on_site):
                same = before.content == content
                tallies[name] = _counted(tallies.get(name, Tally()), same=same, place=key % MOST_PLACES)
        rests[key] = Rest(value, content)
    rests[_whole(url)] = Rest(NO_VALUE, content)
    probes = known.probes + (seen_otherwise(known, url) is not None)
    return Parameters(_most_telling(tallies), _newest(rests), probes)


def _counted(tally: Tally, *, same: bool, place: int) -> Tally:
    return Tally(tally.same + same, tally.different + (not same), tally.places | (same << place))


def _hash(*texts: str) -> int:
    return int(xxh32_intdigest("\0".join(texts).encode("utf-8", "surrogatepass")))


def _whole(url: str) -> int:
    """Where a URL is remembered as it stands: another one may be this with a part added."""
    return _hash("", url)


def _most_telling(tallies: dict[str, Tally]) -> dict[str, Tally]:
    if len(tallies) <= MOST_PARTS:
        return tallies
    ranked = sorted(tallies.items(), key=lambda item: item[1].same + item[1].different, reverse=True)
    return dict(ranked[: MOST_PARTS * 3 // 4])


def _newest(rests: dict[int, Rest]) -> dict[int, Rest]:
    if len(rests) <= MOST_REMEMBERED:
        return rests
    return dict(list(rests.items())[-MOST_REMEMBERED * 3 // 4 :])


def idle_parts(known: Parameters) -> tuple[str, ...]:
    """The parts that do not alter the content, by name."""
    return tuple(name for name, tally in known.tallies.items() if tally.is_idle(_least(name)))


def _least(name: str) -> int:
    return LEAST_SAME_ON_SITE if name.startswith("/**") else LEAST_SAME


def seen_otherwise(known: Parameters, url: str) -> str | None:
    """The idle part but for which the URL was seen already; None: it may hold something new."""
    if not idle_parts(known):
        return None
    for part in _parts(url):
        if _is_idle(known, part):
            before = known.rests.get(_hash(part.name, part.rest)) or known.rests.get(_whole(part.rest))
            if before is not None and before.value != _hash(part.value):
                return part.name
    return None


def _is_idle(known: Parameters, part: _Part) -> bool:
    here, on_site = known.tallies.get(part.name, Tally()), known.tallies.get(part.on_site, Tally())
    return here.is_idle(LEAST_SAME) or (on_site.is_idle(LEAST_SAME_ON_SITE) and not here.different)


def identity(known: Parameters, url: str) -> str:
    """The URL without its idle parameters: pages with the same identity are the same page."""
    idle = {part.value: part for part in _parts(url) if "?" in part.name and _is_idle(known, part)}
    if not idle:
        return url
    base, _, query = url.partition("?")
    kept = [pair for pair in query.split("&") if pair not in idle]
    return f"{base}?{'&'.join(kept)}" if kept else base


def _parts(url: str) -> Iterator[_Part]:
    """Each parameter, and each segment that looks drawn by lot, with the rest of the URL."""
    base, _, query = url.partition("?")
    start = base.find("/", base.find("//") + 2)
    path = base[start:] if start >= 0 else "/"
    shape = path_shape(path)
    segments = path.split("/")[1:]
    pairs = [pair for pair in query.split("&") if pair]
    for place, pair in enumerate(pairs[:MOST_PARTS_OF_URL]):
        name = pair.partition("=")[0]
        rest = "&".join(pairs[:place] + pairs[place + 1 :])
        yield _Part(f"{shape}?{name}=", f"/**?{name}=", pair, f"{base}?{rest}" if rest else base)
    for place, kind in enumerate(shape.split("/")[1:]):
        if kind.startswith("{id}"):
            others = "/".join([*segments[:place], "*", *segments[place + 1 :]])
            yield _Part(
                f"{shape} segment {place + 1}",
                f"/** segment {place + 1}",
                segments[place],
                f"{others}?{query}",
            )
