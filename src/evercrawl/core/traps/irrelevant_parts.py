"""Which parts of a site's URLs do not matter? Learned from pairs of URLs, never assumed.

Two URLs that differ in one parameter, or in one segment, and have the same text and, but for that part, much
the same links speak against it; two with other texts speak for it. Parameters that always change together
("from" and "position" of a link) are one part too. A part is left out of a page's identity
only after enough evidence without contradiction, and a contradiction takes it back. A segment that could be a
name (a language, a version) must besides have an other value each time: that is a session, whatever it looks
like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.traps.link_sketch import PIECES, LinkSketch, PageLinks, SegmentPiece, UrlPart, blank_piece
from evercrawl.core.traps.url_pattern import path_shape, placeholder
from evercrawl.model.document import Link

LEAST_SAME, LEAST_SAME_ON_SITE = 6, 12
"""Pairs of equal texts until a part counts as idle: on one kind of page, on the whole site."""
SAME_PER_DIFFERENT = 30
"""So many more pairs are needed for each contradiction."""
SAME_PER_UNCLEAR = 2
"""And for each pair that says the same and links to other pages."""
LEAST_PLACES, MOST_PLACES = 3, 24
"""Different texts that the pairs must show: one that is said to everyone proves nothing; so many are told
apart.
"""
LEAST_SAME_ALONE = 40
"""Pairs with an other value each time that prove it for one text as well, where the values are no names."""
MOST_VALUES = 60
"""Values of a segment that are told apart."""
VALUES_PER_SAME = 0.75
"""Other values for each pair, from which on a segment that could be a name is none: versions and languages
come back from page to page.
"""
LEAST_NO_NAMES = 24
"""So many values without a contradiction prove it as well: one session for all links of a page."""
MOST_REMEMBERED, MOST_REMEMBERED_IDLE = 1024, 8192
"""URLs, whole and without one of their parts, that wait for a partner; more on a site with idle parts, whose
pages are known by them.
"""
MOST_PARTS = 64
"""Parts of one site for which evidence is kept."""
MOST_PARTS_OF_URL = 8
LONG_PIECE, MOST_PIECES = 5, 3
"""Characters from which on a piece of a segment may be a session, and how many such are looked at."""
MOST_GROUPED = 5
"""Parameters of one URL of which also all together, and all but one, are looked at."""
NO_VALUE = 0
"""Stands for the value of a part that a URL does not have."""

_DIGIT = re.compile(r"\d")
_NAMED = "named segment"
"""In the names of segments that could be the name of something."""


class PartEvidence(NamedTuple):
    """Evidence about one part."""

    same: int = 0
    different: int = 0
    texts: int = 0
    """A bit for each text (of a few that are told apart) that came under two values."""
    values: int = 0
    """A bit for each of those values (of a few that are told apart)."""
    unclear: int = 0
    """Pairs that say the same and link to other pages: lists do, and so do pages with links made by lot."""

    def is_irrelevant(self, least: int, *, could_be_name: bool = False) -> bool:
        """Enough pairs have the same text whatever the part says."""
        if self.same < least + SAME_PER_DIFFERENT * self.different + SAME_PER_UNCLEAR * self.unclear:
            return False
        values = _count(self.values)
        has_always_another = values >= VALUES_PER_SAME * min(self.same, MOST_VALUES)
        if could_be_name:
            is_no_name = has_always_another or (values >= LEAST_NO_NAMES and not self.different)
            return is_no_name and self.texts.bit_count() >= LEAST_PLACES
        is_endless = has_always_another and self.same >= LEAST_SAME_ALONE and not self.different
        return is_endless or self.texts.bit_count() >= LEAST_PLACES


class PartialUrl(NamedTuple):
    """What was seen under a URL without one of its parts."""

    value: int
    content: int
    """Its text."""
    links: LinkSketch = LinkSketch()


@dataclass(frozen=True, slots=True)
class UrlPartStats:
    """What a site has shown about the parts of its URLs; bounded."""

    evidence: dict[str, PartEvidence] = field(default_factory=dict)
    variants: dict[int, PartialUrl] = field(default_factory=dict)
    rechecks: int = 0
    """Pages that were looked at although they had been seen but for an idle part."""


class _Part(NamedTuple):
    name: str
    on_site: str
    value: str
    rest: str
    """The URL without the part."""
    place: UrlPart


def learn_parts(
    known: UrlPartStats,
    url: str,
    text: str,
    *,
    links: Sequence[Link] = (),
    new_links: Sequence[str] = (),
    with_names: bool = False,
) -> UrlPartStats:
    """The evidence with one more page in it; a page without text is no evidence.

    `links`: those of the page; `new_links`: those of them that were not known before; `with_names`: segments
    that could be names, and parameters that change together, are looked at too, which costs more and is
    needed only where pages repeat themselves.
    """
    parts = list(_parts(url, with_names=with_names))
    # Of a site without such parts nothing needs to be remembered.
    if not text.strip() or not (parts or known.variants):
        return known
    said, found = xxh32_intdigest(text.encode("utf-8", "surrogatepass")), PageLinks(links, new_links)
    tallies, rests = dict(known.evidence), dict(known.variants)
    for part in parts:
        key, value = _hash(part.name, part.rest), _hash(part.value)
        now = PartialUrl(value, said, found.without(part.place))
        before = rests.pop(key, None) or rests.get(_whole(part.rest))
        if before is not None and before.value != value:
            for name in (part.name, part.on_site):
                tallies[name] = _counted(tallies.get(name, PartEvidence()), before, now)
        rests[key] = now
    rests[_whole(url)] = PartialUrl(NO_VALUE, said, found.complete())
    probes = known.rechecks + (known_variant(known, url) is not None)
    most = MOST_REMEMBERED_IDLE if irrelevant_parts(known) else MOST_REMEMBERED
    return UrlPartStats(_most_telling(tallies), _newest(rests, most), probes)


def _counted(tally: PartEvidence, before: PartialUrl, now: PartialUrl) -> PartEvidence:
    if before.content != now.content:
        return tally._replace(different=tally.different + 1)
    if not before.links.is_similar(now.links):
        return tally._replace(unclear=tally.unclear + 1)
    return tally._replace(
        same=tally.same + 1,
        texts=tally.texts | 1 << now.content % MOST_PLACES,
        values=tally.values | 1 << now.value % MOST_VALUES,
    )


def _count(values: int) -> float:
    """About how many different values have set the bits."""
    free = MOST_VALUES - values.bit_count()
    return MOST_VALUES * log(MOST_VALUES / free) if free else float("inf")


def _hash(*texts: str) -> int:
    return int(xxh32_intdigest("\0".join(texts).encode("utf-8", "surrogatepass")))


def _whole(url: str) -> int:
    """Where a URL is remembered as it stands: another one may be this with a part added."""
    return _hash("", url)


def _most_telling(tallies: dict[str, PartEvidence]) -> dict[str, PartEvidence]:
    if len(tallies) <= MOST_PARTS:
        return tallies
    ranked = sorted(tallies.items(), key=lambda item: item[1].same + item[1].different, reverse=True)
    return dict(ranked[: MOST_PARTS * 3 // 4])


def _newest(rests: dict[int, PartialUrl], most: int) -> dict[int, PartialUrl]:
    if len(rests) <= most:
        return rests
    return dict(list(rests.items())[-most * 3 // 4 :])


def irrelevant_parts(known: UrlPartStats) -> tuple[str, ...]:
    """The parts that do not alter the content, by name."""
    return tuple(name for name, tally in known.evidence.items() if _is_idle_part(name, tally))


def _is_idle_part(name: str, tally: PartEvidence) -> bool:
    is_on_site = name.startswith("/**")
    return tally.is_irrelevant(
        LEAST_SAME_ON_SITE if is_on_site or _NAMED in name else LEAST_SAME, could_be_name=_NAMED in name
    )


def known_variant(known: UrlPartStats, url: str) -> str | None:
    """The idle part but for which the URL was seen already; None: it may hold something new."""
    if not irrelevant_parts(known):
        return None
    for part in _parts(url):
        if _is_idle(known, part):
            before = known.variants.get(_hash(part.name, part.rest)) or known.variants.get(_whole(part.rest))
            if before is not None and before.value != _hash(part.value):
                return part.name
    return None


def _is_idle(known: UrlPartStats, part: _Part) -> bool:
    here, on_site = known.evidence.get(part.name, PartEvidence()), known.evidence.get(part.on_site, PartEvidence())
    if _is_idle_part(part.name, here):
        return True
    return _is_idle_part(part.on_site, on_site) and not here.different


def url_identity(known: UrlPartStats, url: str) -> str:
    """The URL without its idle parameters: pages with the same identity are the same page."""
    idle = {
        pair for part in _parts(url) if "?" in part.name and _is_idle(known, part) for pair in part.value.split("&")
    }
    if not idle:
        return url
    base, _, query = url.partition("?")
    kept = [pair for pair in query.split("&") if pair not in idle]
    return f"{base}?{'&'.join(kept)}" if kept else base


def _parts(url: str, *, with_names: bool = True) -> Iterator[_Part]:
    """Each parameter and each segment, with the rest of the URL."""
    base, _, query = url.partition("?")
    start = base.find("/", base.find("//") + 2)
    path = base[start:] if start >= 0 else "/"
    shape = path_shape(path)
    segments = path.split("/")[1:]
    pairs = [pair for pair in query.split("&") if pair]
    for names in _named_together(pairs, with_groups=with_names):
        own = [pair for pair in pairs if pair.partition("=")[0] in names]
        rest = "&".join(pair for pair in pairs if pair not in own)
        called, value = "&".join(names), "&".join(own)
        yield _Part(f"{shape}?{called}=", f"/**?{called}=", value, f"{base}?{rest}" if rest else base, names)
    yield from _segment_parts(segments, query, with_names=with_names)


def _named_together(pairs: list[str], *, with_groups: bool) -> list[tuple[str, ...]]:
    """Each parameter by itself, then all but one of them, and all."""
    names = list(dict.fromkeys(pair.partition("=")[0] for pair in pairs))
    alone: list[tuple[str, ...]] = [(name,) for name in names[:MOST_PARTS_OF_URL]]
    if not with_groups or not 1 < len(names) <= MOST_GROUPED:
        return alone
    ordered = tuple(sorted(names))
    all_but_one = [tuple(other for other in ordered if other != name) for name in ordered]
    return [*alone, *(all_but_one if len(names) > 2 else ()), ordered]


def _segment_parts(segments: list[str], query: str, *, with_names: bool) -> Iterator[_Part]:
    """Each segment: one that looks drawn by lot, and under another name one that could be a name.

    The segment itself has no part in the name of the part: each session would be a kind of its own.
    """
    for place, segment in enumerate(segments[:MOST_PARTS_OF_URL]):
        if with_names and _may_be_session(segment):
            yield from _piece_parts(segments, place, query)
        is_random = (placeholder(segment) or "").startswith("{id}")
        if not segment or not (is_random or with_names):
            continue
        others = [*segments[:place], "*", *segments[place + 1 :]]
        kind = f"segment {place + 1}" if is_random else f"{_NAMED} {place + 1}"
        yield _Part(
            f"{path_shape('/' + '/'.join(others))} {kind}", f"/** {kind}", segment, f"{'/'.join(others)}?{query}", place
        )


def _piece_parts(segments: list[str], place: int, query: str) -> Iterator[_Part]:
    """Pieces of a segment that may be a session: `doc-12,1763280000.html`."""
    pieces = PIECES.split(segments[place])
    able = [index for index, piece in enumerate(pieces) if _may_be_session(piece)]
    for index in able[:MOST_PIECES] if len(pieces) > 1 else ():
        before, after = segments[:place], segments[place + 1 :]
        kind = f"{_NAMED} {place + 1} piece {index // 2 + 1}"
        yield _Part(
            f"{path_shape('/' + '/'.join([*before, '*', *after]))} {kind}",
            f"/** {kind}",
            pieces[index],
            f"{'/'.join([*before, blank_piece(segments[place], index), *after])}?{query}",
            SegmentPiece(place, index),
        )


def _may_be_session(piece: str) -> bool:
    return len(piece) >= LONG_PIECE and _DIGIT.search(piece) is not None
