"""Learn which parts of a site's URLs do not affect the content.
Two URLs that differ in one part, with the same text and nearly the same links, are evidence against it. A part is
ignored only after enough evidence, and a contradiction takes that back. A segment that could be a name must also have a
new value each time, like a session id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.traps.link_sketch import PIECES, LinkSketch, LinkSketcher, SegmentPiece, UrlPart, blank_piece
from evercrawl.core.traps.url_parts import query_pairs
from evercrawl.core.traps.url_pattern import path_shape, placeholder
from evercrawl.model.document import Link

MIN_SAME, MIN_SAME_ON_SITE = 6, 12
"""Pairs of equal texts that make a part irrelevant: on one kind of page, on the whole site."""
SAME_PER_DIFFERENT = 30  # Extra pairs needed per contradiction.
SAME_PER_UNCLEAR = 2  # Extra pairs needed per pair with equal text and different links.
MIN_TEXTS, MAX_TEXTS = 3, 24
"""Distinct texts that the pairs must show, and how many are told apart. One text for everything proves nothing."""
MIN_SAME_ONE_TEXT = 40  # Pairs with a new value each time that are enough with a single text.
MAX_VALUES = 60  # Values of a segment that are told apart.
VALUES_PER_SAME = 0.75  # New values per pair from which a segment is not a name. Versions and languages recur.
MIN_NON_NAMES = 24  # Values without a contradiction that also prove it: one session id for all links of a page.
MAX_VARIANTS, MAX_VARIANTS_IRRELEVANT = 1024, 8192  # URLs kept for comparison; more on a site with irrelevant parts.
MAX_PARTS = 64  # Parts of one site with evidence.
MAX_PARTS_OF_URL = 8
MIN_PIECE_CHARS, MAX_PIECES = 5, 3
"""Minimum length of a piece that may be a session id, and pieces examined per segment."""
MAX_GROUPED = 5  # Parameters of a URL up to which groups of them are examined too.
NO_VALUE = 0  # Value of a part that a URL does not have.

_DIGIT = re.compile(r"\d")
_NAMED = "named segment"  # Marks segments that could be a name.


class PartEvidence(NamedTuple):
    """Evidence about one part."""

    same: int = 0
    different: int = 0
    texts: int = 0  # A bit for each text seen under two values.
    values: int = 0  # A bit for each of those values.
    unclear: int = 0  # Pairs with equal text and different links: lists, and pages with random links.

    def is_irrelevant(self, least: int, *, could_be_name: bool = False) -> bool:
        """True if enough pairs have the same text whatever the part says."""
        if self.same < least + SAME_PER_DIFFERENT * self.different + SAME_PER_UNCLEAR * self.unclear:
            return False
        values = _count(self.values)
        has_always_another = values >= VALUES_PER_SAME * min(self.same, MAX_VALUES)
        if could_be_name:
            is_no_name = has_always_another or (values >= MIN_NON_NAMES and not self.different)
            return is_no_name and self.texts.bit_count() >= MIN_TEXTS
        is_endless = has_always_another and self.same >= MIN_SAME_ONE_TEXT and not self.different
        return is_endless or self.texts.bit_count() >= MIN_TEXTS


class PartialUrl(NamedTuple):
    """What was seen under a URL without one of its parts."""

    value: int
    content: int  # Hash of its text.
    links: LinkSketch = LinkSketch()


@dataclass(frozen=True, slots=True)
class UrlPartStats:
    """What is known about the URL parts of a site. Bounded."""

    evidence: dict[str, PartEvidence] = field(default_factory=dict)
    variants: dict[int, PartialUrl] = field(default_factory=dict)
    rechecks: int = 0  # Pages visited although only an irrelevant part was new.
    irrelevant: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """Names of the parts that do not affect the content."""

    def __post_init__(self) -> None:
        """Find the irrelevant parts once, as every link asks for them."""
        names = (name for name, counts in self.evidence.items() if _is_irrelevant_part(name, counts))
        object.__setattr__(self, "irrelevant", tuple(names))


class _Part(NamedTuple):
    name: str
    on_site: str
    value: str
    rest: str  # The URL without the part.
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
    """Return the evidence with one more page. A page without text is no evidence.
    `with_names` also examines possible names and groups of parameters, which is only needed where pages repeat."""
    parts = list(_parts(url, with_names=with_names))
    # A site without such parts needs no memory.
    if not text.strip() or not (parts or known.variants):
        return known
    content, found = xxh32_intdigest(text.encode("utf-8", "surrogatepass")), LinkSketcher(links, new_links)
    evidence, variants = dict(known.evidence), dict(known.variants)
    for part in parts:
        key, value = _hash(part.name, part.rest), _hash(part.value)
        now = PartialUrl(value, content, found.without(part.place))
        before = variants.pop(key, None) or variants.get(_whole(part.rest))
        if before is not None and before.value != value:
            for name in (part.name, part.on_site):
                evidence[name] = _add_pair(evidence.get(name, PartEvidence()), before, now)
        variants[key] = now
    variants[_whole(url)] = PartialUrl(NO_VALUE, content, found.complete())
    rechecks = known.rechecks + (known_variant(known, url) is not None)
    most = MAX_VARIANTS_IRRELEVANT if known.irrelevant else MAX_VARIANTS
    return UrlPartStats(_strongest(evidence), _newest(variants, most), rechecks)


def _add_pair(counts: PartEvidence, before: PartialUrl, now: PartialUrl) -> PartEvidence:
    if before.content != now.content:
        return counts._replace(different=counts.different + 1)
    if not before.links.is_similar(now.links):
        return counts._replace(unclear=counts.unclear + 1)
    return counts._replace(
        same=counts.same + 1,
        texts=counts.texts | 1 << now.content % MAX_TEXTS,
        values=counts.values | 1 << now.value % MAX_VALUES,
    )


def _count(values: int) -> float:
    """Estimate how many values have set the bits."""
    free = MAX_VALUES - values.bit_count()
    return MAX_VALUES * log(MAX_VALUES / free) if free else float("inf")


def _hash(*texts: str) -> int:
    return int(xxh32_intdigest("\0".join(texts).encode("utf-8", "surrogatepass")))


def _whole(url: str) -> int:
    """Return the key of a complete URL. Another URL may be this one with a part added."""
    return _hash("", url)


def _strongest(evidence: dict[str, PartEvidence]) -> dict[str, PartEvidence]:
    if len(evidence) <= MAX_PARTS:
        return evidence
    ranked = sorted(evidence.items(), key=lambda item: item[1].same + item[1].different, reverse=True)
    return dict(ranked[: MAX_PARTS * 3 // 4])


def _newest(variants: dict[int, PartialUrl], most: int) -> dict[int, PartialUrl]:
    return variants if len(variants) <= most else dict(list(variants.items())[-most * 3 // 4 :])


def _is_irrelevant_part(name: str, counts: PartEvidence) -> bool:
    is_on_site = name.startswith("/**")
    return counts.is_irrelevant(
        MIN_SAME_ON_SITE if is_on_site or _NAMED in name else MIN_SAME, could_be_name=_NAMED in name
    )


def known_variant(known: UrlPartStats, url: str) -> str | None:
    """Return the irrelevant part that separates the URL from a known one; None if it may be new."""
    if not known.irrelevant:
        return None
    for part in _parts(url):
        if _is_irrelevant(known, part):
            before = known.variants.get(_hash(part.name, part.rest)) or known.variants.get(_whole(part.rest))
            if before is not None and before.value != _hash(part.value):
                return part.name
    return None


def _is_irrelevant(known: UrlPartStats, part: _Part) -> bool:
    here, on_site = known.evidence.get(part.name, PartEvidence()), known.evidence.get(part.on_site, PartEvidence())
    if _is_irrelevant_part(part.name, here):
        return True
    return _is_irrelevant_part(part.on_site, on_site) and not here.different


def url_identity(known: UrlPartStats, url: str) -> str:
    """Return the URL without its irrelevant parameters. Equal identities are the same page."""
    irrelevant = {
        pair
        for part in _parts(url)
        if "?" in part.name and _is_irrelevant(known, part)
        for pair in query_pairs(part.value)
    }
    if not irrelevant:
        return url
    base, _, query = url.partition("?")
    kept = [pair for pair in query_pairs(query) if pair not in irrelevant]
    mark = ";" if ";" in query and "&" not in query else "&"
    return f"{base}?{mark.join(kept)}" if kept else base


def _parts(url: str, *, with_names: bool = True) -> Iterator[_Part]:
    """Yield each parameter and segment with the rest of the URL."""
    base, _, query = url.partition("?")
    start = base.find("/", base.find("//") + 2)
    path = base[start:] if start >= 0 else "/"
    shape = path_shape(path)
    segments = path.split("/")[1:]
    pairs = query_pairs(query)
    for names in _parameter_groups(pairs, with_groups=with_names):
        own = [pair for pair in pairs if pair.partition("=")[0] in names]
        rest = "&".join(pair for pair in pairs if pair not in own)
        called, value = "&".join(names), "&".join(own)
        yield _Part(f"{shape}?{called}=", f"/**?{called}=", value, f"{base}?{rest}" if rest else base, names)
    yield from _segment_parts(segments, query, with_names=with_names)


def _parameter_groups(pairs: list[str], *, with_groups: bool) -> list[tuple[str, ...]]:
    """Return each parameter alone, then all but one, and all."""
    names = list(dict.fromkeys(pair.partition("=")[0] for pair in pairs))
    alone: list[tuple[str, ...]] = [(name,) for name in names[:MAX_PARTS_OF_URL]]
    if not with_groups or not 1 < len(names) <= MAX_GROUPED:
        return alone
    ordered = tuple(sorted(names))
    all_but_one = [tuple(other for other in ordered if other != name) for name in ordered]
    return [*alone, *(all_but_one if len(names) > 2 else ()), ordered]


def _segment_parts(segments: list[str], query: str, *, with_names: bool) -> Iterator[_Part]:
    """Yield each segment: random ones, and under another name those that could be a name.
    The value is not part of the name, or each session would be a kind of its own."""
    for place, segment in enumerate(segments[:MAX_PARTS_OF_URL]):
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
    """Yield the pieces of a segment that may be a session id: `doc-12,1763280000.html`."""
    pieces = PIECES.split(segments[place])
    able = [index for index, piece in enumerate(pieces) if _may_be_session(piece)]
    for index in able[:MAX_PIECES] if len(pieces) > 1 else ():
        before, after = segments[:place], segments[place + 1 :]
        kind = f"{_NAMED} {place + 1} piece {index // 2 + 1}"
        shape = path_shape("/" + "/".join([*before, "*", *after]))
        rest = f"{'/'.join([*before, blank_piece(segments[place], index), *after])}?{query}"
        yield _Part(f"{shape} {kind}", f"/** {kind}", pieces[index], rest, SegmentPiece(place, index))


def _may_be_session(piece: str) -> bool:
    return len(piece) >= MIN_PIECE_CHARS and _DIGIT.search(piece) is not None
