"""Domains that name ever new hosts: those that were never asked for anything are left out.

A shard owns whole registrable domains, so that their hosts are judged together in one place.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Sequence

from xxhash import xxh3_64_intdigest

from evercrawl.core.traps.trap_verdict import HostStats, after_host, host_stats_bytes, host_stats_of
from evercrawl.core.traps.user_rules import Refusal
from evercrawl.core.url import registrable_domain, site_of, site_parts
from evercrawl.engine.ports import ShardStore
from evercrawl.model.reason import Reason
from evercrawl.model.site import Site

log = logging.getLogger("evercrawl")

KIND = "trap_hosts"
"""The name under which what is known about the hosts of a domain is stored."""
MOST_DOMAINS = 10_000
"""Domains of a shard that are held in memory; only those with more than one host are."""
MOST_SEEN = 100_000
"""Hosts of which it is at hand that they were looked at; the store knows it of all."""
LINKS_LOOKED_AT = 200
"""Links of one page whose hosts are counted."""
FIRST_SAMPLE = 8
"""Of the hosts behind a fence the one of this number is asked, and one when as many again were kept out."""


class HostTraps:
    """The domains of one shard."""

    def __init__(self, store: ShardStore) -> None:
        self._store = store
        self._known: OrderedDict[str, HostStats] = OrderedDict()
        self._unsaved: set[str] = set()
        self._kept_out: Counter[str] = Counter()
        self._seen: set[int] = set()
        """Sites of such domains that were looked at."""
        self._samples: set[int] = set()
        """Sites behind a fence that are looked at nevertheless."""

    async def load(self, site: Site, named_sites: Sequence[Site]) -> None:
        """Have at hand what is known about the site's domain, where the page names other hosts of it."""
        is_alone = all(other.id == site.id or other.domain != site.domain for other in named_sites)
        if is_alone or site.domain in self._known:
            return
        stored = await self._store.memory(key_of_domain(site.domain), KIND)
        self._known[site.domain] = HostStats(site.domain) if stored is None else host_stats_of(stored)
        while len(self._known) > MOST_DOMAINS and (oldest := next(iter(self._known))) not in self._unsaved:
            del self._known[oldest]

    def learn(self, site: Site, links: Sequence[str], fresh: Sequence[Site]) -> None:
        """Book the hosts that the first page of a site names; `fresh`: those of them without a page."""
        before = self._known.get(site.domain)
        if before is None or site.id in self._seen:
            return
        others = {site_of(link) for link in links[:LINKS_LOOKED_AT]} - {site.name}
        count = sum(registrable_domain(site_parts(other).host) == site.domain for other in others)
        new = len({other.id for other in fresh if other.domain == site.domain and other.id != site.id})
        after = after_host(before, others=count, fresh=min(new, count))
        self._see(site)
        self._known[site.domain] = after
        self._unsaved.add(site.domain)
        if after.is_blocked and not before.is_blocked:
            log.info("trap: new hosts of %s are left out: %s", site.domain, after.evidence)

    def _see(self, site: Site) -> None:
        if len(self._seen) >= MOST_SEEN:
            self._seen.clear()
        self._seen.add(site.id)

    def _is_let_in(self, site: Site) -> bool:
        return site.id in self._seen or site.id in self._samples

    def refusal(self, site: Site) -> Refusal | None:
        """Why nothing of a site is asked for that was never asked; None: it may be."""
        known = self._known.get(site.domain)
        if known is None or not known.is_blocked or site.requests or self._is_let_in(site):
            return None
        self._kept_out[site.domain] += 1
        times = self._kept_out[site.domain]
        if times >= FIRST_SAMPLE and times & (times - 1) == 0:
            self._samples.add(site.id)
            return None
        return Reason.TRAP, f"hosts without end: {known.evidence}"

    def unsaved(self) -> dict[tuple[int, str], bytes]:
        """What has to be stored, by where it belongs; it is taken to be stored from now on."""
        found = {
            (key_of_domain(domain), KIND): host_stats_bytes(self._known[domain]) for domain in sorted(self._unsaved)
        }
        self._unsaved.clear()
        return found


def key_of_domain(domain: str) -> int:
    """A number for a domain beside those of sites, which are counted from 1."""
    return xxh3_64_intdigest(domain.encode()) >> 1 | 1 << 62
