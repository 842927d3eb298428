"""When is a page worth another visit? Beliefs, values and due times as pure functions; all times are days.

A row of the page table keeps a `PageBelief`, a row of the site table a `SiteBelief`, a small table a
`HubShock` per site and directory. The engine makes these calls, and no others:

- page found: `page_found(site, now=…, has_copy=False, weight=importance/cost)`; no copy: it comes first.
- visit, changed or unchanged or the first: `after_visit(page, site, hub, now=…, changed=…)` gives all three
  rows back (the first visit teaches nothing; `changed` is ignored then).
- choosing the due time, after each visit: `due_at(page, site, threshold=MARGIN * m, span=T, longest=…,
  spared=spared(site, hub, now=…).both)`. T is pages / requests per day of the site; `longest` (say 12 T) is
  the promise that no page is given up. The store orders by due time; what is due is weighed with
  `value_now(…)` and goes back with a new due time where its value is below `MARGIN * m`. Among what is left
  the largest value goes first. If nothing is due and there is budget, the earliest due page goes.
- budget step: for each page taken, `m = steered(m, value=its value)`. One m for the collection; a site at the
  cap of its politeness keeps its own m, steered by its own visits.
- a shock: when `shock_of(hub)` (or the one of `site.wide`) has risen by half since the due times of its pages
  were computed, weigh those pages again (bounded: the earliest due some thousand). When it falls nothing need
  be done: due pages are weighed anyway.
- signal poll: a poll is due `poll_gap(site, waiting=…, silent_polls=…, pages=…, per_day=…, threshold=m)`
  requests after the last. For each announcement: `after_notice(page, site, announced_at=…)`, and weigh the
  page now. When all are read: `after_poll(site, now=…)` once, also when there was none. No other row is
  touched.
- prior refresh, every `REFRESH_DAYS`: `refreshed_prior(site, pages)` over the site's rows (or a sample). Only
  the site's row changes; due times of small sites are computed again.
"""

from __future__ import annotations

from evercrawl.core.revisit.rate_estimate import BulkChange, PageEstimate, SiteEstimate, change_rate
from evercrawl.core.revisit.rate_estimate import REFRESH_DAYS, update_prior
from evercrawl.core.revisit.visit_update import SITE_DOUBT, EscapeChances, bulk_change_share, escape_chances
from evercrawl.core.revisit.announcements import (
    after_announcement,
    after_poll,
    has_announcements,
    requests_between_polls,
)
from evercrawl.core.revisit.visit_value import MARGIN, adjust_threshold
from evercrawl.core.revisit.visit_update import VisitUpdate, after_visit, new_page_estimate
from evercrawl.core.revisit.visit_value import probability_current, due_at, value_now

__all__ = [
    "MARGIN",
    "REFRESH_DAYS",
    "SITE_DOUBT",
    "BulkChange",
    "VisitUpdate",
    "PageEstimate",
    "SiteEstimate",
    "EscapeChances",
    "after_announcement",
    "after_poll",
    "after_visit",
    "probability_current",
    "due_at",
    "has_announcements",
    "new_page_estimate",
    "requests_between_polls",
    "change_rate",
    "update_prior",
    "bulk_change_share",
    "escape_chances",
    "adjust_threshold",
    "value_now",
]
