"""Which hosts mirror another, when to recheck a duplicate page, and whether two pages can be duplicates at all."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

from xxhash import xxh32_intdigest

from evercrawl.core.duplicates.minhash import signature_similarity
from evercrawl.core.url import DEFAULT_PORTS, SiteName, path_of, site_of, site_parts
from evercrawl.model.page import DuplicateCandidate

MIN_SAME = 24  # Different contents that two hosts must share at the same paths: small sites can look alike.
MIN_REDIRECTED = 8  # Pages of a host that must redirect to the same path of another before it counts as its mirror.
MIN_SAME_VARIANTS = 3  # The same where names differ only by www or scheme.
MIN_SHARE = 0.8  # Least share of compared paths with the same content, at the lower bound of the estimate.
MIN_SHARE_VARIANTS = 0.4
CONFIDENCE = 1.64  # Standard deviations of a one-sided 95 % estimate.


class HostEvidence(NamedTuple):
    """What decides which of two mirrors is the original."""

    site: str
    credit: int  # Of all its pages together.
    redirected_to: int = 0  # Pages of the other host that redirect here or name a canonical page here.


class HostMirror(NamedTuple):
    """Two sites with the same content, and the evidence."""

    site: str
    of: str
    same: int
    compared: int

    @property
    def detail(self) -> str:
        """Return the evidence as text."""
        return f"{self.site} is a copy of {self.of}: {self.same} of {self.compared} compared pages are the same"


def are_name_variants(one: str, other: str) -> bool:
    """Return whether the sites differ only by a leading www or by scheme.
    Another port is another site: two servers on one machine mostly are."""
    here, there = site_parts(one), site_parts(other)
    if one == other or _bare(here) != _bare(there):
        return False
    return here.host != there.host or (_is_public(here) and _is_public(there))


def _is_public(name: SiteName) -> bool:
    return name.port == DEFAULT_PORTS[name.scheme]


def _bare(name: SiteName) -> str:
    return name.host.removeprefix("www.")


def compare_hosts(
    one: HostEvidence, other: HostEvidence, *, samples: tuple[Mapping[str, bytes], Mapping[str, bytes]]
) -> HostMirror | None:
    """Compare samples of path -> content digest; None if the sites are no mirrors, or not known to be.
    Each content counts once: a server that answers everything with the same page proves nothing."""
    here, there = samples
    compared = {(here[path], there[path]) for path in here.keys() & there.keys()}
    same = sum(a == b for a, b in compared)
    variants = are_name_variants(one.site, other.site)
    enough = MIN_SAME_VARIANTS if variants else MIN_SAME
    share = MIN_SHARE_VARIANTS if variants else MIN_SHARE
    if same < enough or wilson_lower_bound(same, len(compared)) < share:
        return None
    chosen, copy = choose_original(one, other)
    return HostMirror(copy.site, chosen.site, same, len(compared))


def wilson_lower_bound(same: int, compared: int) -> float:
    """Return the lower bound of a share (Wilson 1927)."""
    if not compared:
        return 0.0
    share, z2 = same / compared, CONFIDENCE**2
    middle = share + z2 / (2 * compared)
    spread = CONFIDENCE * sqrt(share * (1 - share) / compared + z2 / (4 * compared**2))
    return (middle - spread) / (1 + z2 / compared)


def choose_original(one: HostEvidence, other: HostEvidence) -> tuple[HostEvidence, HostEvidence]:
    """Return original and mirror: by redirects and canonical links, then https, then credit."""
    chosen, copy = sorted((one, other), key=_preference)
    return chosen, copy


def _preference(host: HostEvidence) -> tuple[int, bool, int, int, str]:
    return (-host.redirected_to, not host.site.startswith("https:"), -host.credit, len(host.site), host.site)


MAX_SAMPLES = 32  # Paths of a site that are compared.
MAX_SITES = 4096  # Sites with samples, the last seen; about 6 KB each.
MAX_CONTENTS = 65_536  # Contents by which mirrors are noticed, the last seen.
MAX_MIRRORS = 10_000
MIN_REDIRECT_SHARE = 0.8
"""Least share of a site's redirects that lead to the same path of the other, at the lower bound."""
MIRRORS_KEY = (0, "mirrors")  # Storage key of the mirrors; no site has this number.


@dataclass(slots=True)
class _Sample:
    """Sampled pages and redirects of a site."""

    contents: dict[str, bytes] = field(default_factory=dict)  # Path -> content digest.
    hash_limit: int = 1 << 32  # Hashes of sampled paths are smaller.
    redirects: dict[str, int] = field(default_factory=dict)  # Site -> pages here that redirect to the same path there.
    other_redirects: int = 0  # Pages here that redirect anywhere else.

    def add(self, path: str, digest: bytes) -> bool:
        """Sample the paths with the smallest hashes; return whether this is one of them."""
        if _path_hash(path) >= self.hash_limit:
            return False
        self.contents[path] = digest
        if len(self.contents) > MAX_SAMPLES:
            last = max(self.contents, key=_path_hash)
            del self.contents[last]
            self.hash_limit = _path_hash(last)
            return last != path
        return True


class MirrorRegistry:
    """The known mirrors of a collection, shared by all shards of a process."""

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on
        self._samples: OrderedDict[str, _Sample] = OrderedDict()
        self._first_sites: OrderedDict[tuple[str, bytes], str] = OrderedDict()
        """Path and content -> the site where it was first seen."""
        self._mirrors: dict[str, HostMirror] = {}
        self.is_saved = True

    def of(self, site: str) -> HostMirror | None:
        """Return the mirror entry of this site; None if it is no mirror."""
        return self._mirrors.get(site) if self._mirrors else None

    def add_page(self, url: str, digest: bytes) -> None:
        """Record the content of a page."""
        if not self._is_on:
            return
        path = path_of(url)
        site = url.removesuffix(path)
        sample = self._sample(site)
        if not sample.add(path, digest):
            return
        if site in self._mirrors:
            self._recheck(self._mirrors[site])
        other = self._first_sites.setdefault((path, digest), site)
        if other != site and (found := self._compare(site, other)) is not None:
            self._add_mirror(found)
        if len(self._first_sites) > MAX_CONTENTS:
            self._first_sites.popitem(last=False)

    def add_redirect(self, url: str, target: str) -> None:
        """Record a redirect."""
        if not self._is_on:
            return
        path, there = path_of(url), path_of(target)
        site, other = url.removesuffix(path), target.removesuffix(there)
        sample = self._sample(site)
        if other == site or there != path:
            sample.other_redirects += 1
            return
        same = sample.redirects[other] = sample.redirects.get(other, 0) + 1
        others = sum(sample.redirects.values()) + sample.other_redirects
        if same >= MIN_REDIRECTED and wilson_lower_bound(same, others) >= MIN_REDIRECT_SHARE:
            self._add_mirror(HostMirror(site, other, same, others))

    def _sample(self, site: str) -> _Sample:
        sample = self._samples.get(site)
        if sample is None:
            sample = self._samples[site] = _Sample()
            if len(self._samples) > MAX_SITES:
                self._samples.popitem(last=False)
        else:
            self._samples.move_to_end(site)
        return sample

    def _compare(self, site: str, other: str) -> HostMirror | None:
        """Compare the samples of two sites."""
        one, two = self._samples.get(site), self._samples.get(other)
        if one is None or two is None:
            return None
        here = HostEvidence(site, credit=0, redirected_to=two.redirects.get(site, 0))
        there = HostEvidence(other, credit=0, redirected_to=one.redirects.get(other, 0))
        return compare_hosts(here, there, samples=(one.contents, two.contents))

    def _recheck(self, mirror: HostMirror) -> None:
        """Drop a mirror if new samples contradict it."""
        one, two = self._samples.get(mirror.site), self._samples.get(mirror.of)
        if one is None or two is None:
            return
        common = one.contents.keys() & two.contents.keys()
        same = sum(one.contents[path] == two.contents[path] for path in common)
        if same * 2 < len(common):
            del self._mirrors[mirror.site]
            self.is_saved = False

    def _add_mirror(self, mirror: HostMirror) -> None:
        before = self._mirrors.get(mirror.site)
        if mirror.of in self._mirrors or (before is not None and before.of == mirror.of):
            return
        if len(self._mirrors) < MAX_MIRRORS:
            self._mirrors[mirror.site] = mirror
            self.is_saved = False

    def to_bytes(self) -> bytes:
        """Return the stored form and count it as saved."""
        self.is_saved = True
        return json.dumps([list(mirror) for mirror in self._mirrors.values()]).encode()

    def restore(self, stored: bytes | None) -> None:
        """Restore the mirrors of an earlier run."""
        if stored is not None and self._is_on:
            self._mirrors = {row[0]: HostMirror(*row) for row in json.loads(stored)}


def _path_hash(path: str) -> int:
    return xxh32_intdigest(path.encode("utf-8", "surrogatepass"))


MIN_CANONICAL_SIMILARITY = 0.1
"""Least similarity of a page to its canonical page: some sites name their front page everywhere."""
MIN_CONFIRMED_VISITS = 2  # A duplicate with this many visits was compared with its representative more than once.
GONE_STATUSES = frozenset((404, 410))


def should_recheck(key: bytes, *, visits: int, version: int, weight: float) -> bool:
    """Return whether to visit a duplicate because its representative has this new version."""
    return visits < MIN_CONFIRMED_VISITS or xxh32_intdigest(key, seed=version & 0xFFFFFFFF) / 2**32 < weight


def can_represent(page: DuplicateCandidate) -> bool:
    """Return whether the page has content, does not redirect, and is not gone."""
    return page.version > 0 and page.moved_to is None and page.status not in GONE_STATUSES


def is_still_duplicate(page: DuplicateCandidate, other: DuplicateCandidate | None, *, enough: float) -> bool:
    """Return whether two pages, as last seen, still have the same content."""
    if other is None or not can_represent(other):
        return False
    if page.digest is not None and page.digest == other.digest:
        return True
    if page.signature is None or other.signature is None:
        return False
    return signature_similarity(page.signature, other.signature) >= enough


_PARAMETERS = re.compile("[?&;]")


def is_plainer(url: str, other: str) -> bool:
    """Return whether of two URLs with the same content the first is the page, and the other a view of it.
    It has fewer parameters, or as many and the other only adds segments to its path. Else neither is."""
    if site_of(url) != site_of(other):
        return False
    parameters, others = len(_PARAMETERS.findall(url)), len(_PARAMETERS.findall(other))
    if parameters != others:
        return parameters < others
    rest = iter(_segments(other))
    return len(url) < len(other) and all(segment in rest for segment in _segments(url))


def _segments(url: str) -> list[str]:
    return list(filter(None, path_of(url).partition("?")[0].split("/")))


_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


def titles_match(one: str | None, other: str | None) -> bool:
    """Return whether two titles allow their pages to be duplicates: equal, or with words added at one end.
    Other words in between name something else, and an added number makes another page of a series."""
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
