"""Which sites are copies of others. One memory for all shards of a process, since copies may be anywhere.

Of each site a sample of paths with their content is kept: the same paths on every site, those with the smallest
hashes, so that two copies have most of their samples in common. Sites that hold the same under the same path are
compared. A site whose pages redirect to the same paths of another one, as http does to https, is a copy too.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field

from xxhash import xxh32_intdigest

from evercrawl.core.duplicates.host_mirrors import (
    MIN_REDIRECTED,
    HostEvidence,
    HostMirror,
    compare_hosts,
    wilson_lower_bound,
)
from evercrawl.core.url import path_of

SAMPLES = 32
"""Paths of a site that are compared."""
MOST_SITES = 4096
"""Sites of which samples are held, those seen last; about 6 KB each."""
MOST_CONTENTS = 65_536
"""Contents by which copies are noticed, those seen last."""
MOST_MIRRORS = 10_000
"""Copies that are remembered."""
LEAST_LED_SHARE = 0.8
"""Of the redirects of a site, so many must lead to the same path of the other, at the careful end."""
MIRRORS_KEY = (0, "mirrors")
"""Where the copies are kept; no site has this number."""


@dataclass(slots=True)
class _Sample:
    """What is known of a site."""

    contents: dict[str, bytes] = field(default_factory=dict)
    """Path -> digest of what it holds."""
    bar: int = 1 << 32
    """Hashes of paths that are kept are smaller."""
    led: dict[str, int] = field(default_factory=dict)
    """Site -> pages here that lead to the same path there."""
    led_elsewhere: int = 0
    """Pages here that lead anywhere else."""

    def take(self, path: str, digest: bytes) -> bool:
        """Keep the paths with the smallest hashes; True: this is one of them."""
        if _draw(path) >= self.bar:
            return False
        self.contents[path] = digest
        if len(self.contents) > SAMPLES:
            last = max(self.contents, key=_draw)
            del self.contents[last]
            self.bar = _draw(last)
            return last != path
        return True


class Mirrors:
    """The copies of a collection, as far as they are known."""

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on
        self._samples: OrderedDict[str, _Sample] = OrderedDict()
        self._holders: OrderedDict[tuple[str, bytes], str] = OrderedDict()
        """Path and content -> the site where it was met first."""
        self._mirrors: dict[str, HostMirror] = {}
        self.is_saved = True

    def of(self, site: str) -> HostMirror | None:
        """The site that this one is a copy of; None: it stands for itself, as far as we know."""
        return self._mirrors.get(site) if self._mirrors else None

    def add_page(self, url: str, digest: bytes) -> None:
        """A page holds this."""
        if not self._is_on:
            return
        path = path_of(url)
        site = url.removesuffix(path)
        sample = self._sample(site)
        if not sample.take(path, digest):
            return
        if site in self._mirrors:
            self._check_again(self._mirrors[site])
        other = self._holders.setdefault((path, digest), site)
        if other != site and (found := self._compare(site, other)) is not None:
            self._remember(found)
        if len(self._holders) > MOST_CONTENTS:
            self._holders.popitem(last=False)

    def add_redirect(self, url: str, target: str) -> None:
        """A page leads to another one."""
        if not self._is_on:
            return
        path, there = path_of(url), path_of(target)
        site, other = url.removesuffix(path), target.removesuffix(there)
        sample = self._sample(site)
        if other == site or there != path:
            sample.led_elsewhere += 1
            return
        same = sample.led[other] = sample.led.get(other, 0) + 1
        others = sum(sample.led.values()) + sample.led_elsewhere
        if same >= MIN_REDIRECTED and wilson_lower_bound(same, others) >= LEAST_LED_SHARE:
            self._remember(HostMirror(site, other, same, others))

    def _sample(self, site: str) -> _Sample:
        sample = self._samples.get(site)
        if sample is None:
            sample = self._samples[site] = _Sample()
            if len(self._samples) > MOST_SITES:
                self._samples.popitem(last=False)
        else:
            self._samples.move_to_end(site)
        return sample

    def _compare(self, site: str, other: str) -> HostMirror | None:
        """Both as they are sampled."""
        one, two = self._samples.get(site), self._samples.get(other)
        if one is None or two is None:
            return None
        here = HostEvidence(site, credit=0, redirected_to=two.led.get(site, 0))
        there = HostEvidence(other, credit=0, redirected_to=one.led.get(other, 0))
        return compare_hosts(here, there, samples=(one.contents, two.contents))

    def _check_again(self, mirror: HostMirror) -> None:
        """A page of a copy was looked at all the same: a verdict that samples speak against is taken back."""
        one, two = self._samples.get(mirror.site), self._samples.get(mirror.of)
        if one is None or two is None:
            return
        common = one.contents.keys() & two.contents.keys()
        same = sum(one.contents[path] == two.contents[path] for path in common)
        if same * 2 < len(common):
            del self._mirrors[mirror.site]
            self.is_saved = False

    def _remember(self, mirror: HostMirror) -> None:
        before = self._mirrors.get(mirror.site)
        if mirror.of in self._mirrors or (before is not None and before.of == mirror.of):
            return
        if len(self._mirrors) < MOST_MIRRORS:
            self._mirrors[mirror.site] = mirror
            self.is_saved = False

    def to_bytes(self) -> bytes:
        """The stored form; it counts as saved from now on."""
        self.is_saved = True
        return json.dumps([list(mirror) for mirror in self._mirrors.values()]).encode()

    def recall(self, stored: bytes | None) -> None:
        """What was known in an earlier run."""
        if stored is not None and self._is_on:
            self._mirrors = {row[0]: HostMirror(*row) for row in json.loads(stored)}


def _draw(path: str) -> int:
    return xxh32_intdigest(path.encode("utf-8", "surrogatepass"))
