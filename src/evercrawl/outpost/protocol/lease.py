"""Who may ask a site now: its outpost or the crawler? Never both.

Home grants a lease with each beat of an outpost. The outpost counts it from the moment at which it sent the
beat, home from the moment at which it answered, which is later: so the outpost always stops first, whatever
the clocks show and however slow the network is. The outpost also stops a site's gap before the end (at most
half a lease), so that who comes next need not know the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BEATS_PER_LEASE = 4
"""An outpost renews its lease this often while one lasts."""
MOST_BEATS_OPEN = 64
"""Beats without an answer that are remembered."""


@dataclass
class GrantedLease:
    """Home's side. Times are of home's own clock, in microseconds."""

    lease_us: int
    until_us: int = 0

    def renew(self, now_us: int) -> None:
        """The outpost was heard: what was granted (or waited for) before is replaced."""
        self.until_us = now_us + self.lease_us

    def free_at_us(self, handover_us: int) -> int:
        """From when on somebody else may ask its sites."""
        return self.until_us + handover_us if self.until_us else 0


@dataclass
class HeldLease:
    """The outpost's side. Times are of its own clock, in microseconds."""

    lease_us: int = 0
    until_us: int = 0
    _sent: dict[int, int] = field(default_factory=dict)
    _last: int = 0

    def beat(self, now_us: int) -> int:
        """The number of a beat that is sent now."""
        self._last += 1
        self._sent[self._last] = now_us
        if len(self._sent) > MOST_BEATS_OPEN:
            self._sent.pop(next(iter(self._sent)))
        return self._last

    def answered(self, number: int, lease_us: int) -> None:
        """Home has granted a lease for a beat; a beat that was never sent grants nothing."""
        sent_us = self._sent.pop(number, None)
        if sent_us is not None:
            self.lease_us = lease_us
            self.until_us = max(self.until_us, sent_us + lease_us)

    def time_left_us(self, now_us: int, gap_us: int) -> int:
        """How long a request that begins now to a site with this gap may take; 0 or less: none may begin."""
        return self.until_us - min(gap_us, self.lease_us // 2) - now_us


def handover_us(lease_us: int, longest_gap_us: int) -> int:
    """What home adds to a lease's end for gaps longer than the half lease that was kept free."""
    return max(0, longest_gap_us - lease_us // 2)
