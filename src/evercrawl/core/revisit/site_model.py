"""What is expected of a site: its estimate, recent bulk changes, and the source of its prior.
In the prior, each visit counts for the days since the one before, so frequently visited pages do not dominate."""

from __future__ import annotations

from typing import NamedTuple

import orjson
from xxhash import xxh32_intdigest

from evercrawl.core.revisit.rate_estimate import BulkChange, PageEstimate, SiteEstimate, change_rate, with_prior
from evercrawl.core.revisit.visit_update import after_visit, escape_chances

MAX_HUBS = 64  # Directories kept per site: those visited last.
PRIOR_MEMORY_DAYS = 3000.0  # Page-days after which the past counts half.
TRUSTED_DAYS = 50.0  # Page-days before the learned prior replaces the general one.
_FORM = 1


class PriorMoments(NamedTuple):
    """Moments of the observed change rates, weighted by days."""

    days: float = 0.0
    mean: float = 0.0
    square: float = 0.0


class SiteModel(NamedTuple):
    """Everything that the revisit policy keeps about one site."""

    estimate: SiteEstimate = SiteEstimate()
    hubs: dict[int, BulkChange] = {}  # noqa: RUF012 - a value; every change makes a new one
    moments: PriorMoments = PriorMoments()
    false_validators: int = 0  # Validators that did not change although the content did.
    has_dated_sitemap: bool = False  # The site's sitemap says when pages changed.

    def escape_chance(self, hub: int, *, now: float) -> float:
        """Return the probability that a page of this directory escaped a current bulk change."""
        sums = self.hubs.get(hub, BulkChange())
        return escape_chances(self.estimate, sums, now=max(now, sums.at)).both


def update_site_model(
    model: SiteModel, page: PageEstimate, *, hub: int, now: float, changed: bool
) -> tuple[SiteModel, PageEstimate]:
    """Return site and page after a visit. The first visit teaches nothing."""
    tau = now - page.visited if page.visited is not None else 0.0
    update = after_visit(page, model.estimate, model.hubs.get(hub, BulkChange()), now=now, changed=changed)
    if tau <= 0.0:
        return model, update.page
    hubs = {key: sums for key, sums in model.hubs.items() if key != hub} | {hub: update.hub}
    if len(hubs) > MAX_HUBS:
        hubs = dict(list(hubs.items())[-MAX_HUBS:])
    sums = _with_rate(model.moments, *change_rate(update.page, update.site), days=tau)
    return model._replace(estimate=_with_learned_prior(update.site, sums), hubs=hubs, moments=sums), update.page


def _with_rate(sums: PriorMoments, a: float, b: float, *, days: float) -> PriorMoments:
    kept = 0.5 if sums.days > PRIOR_MEMORY_DAYS else 1.0
    mean = a / b
    return PriorMoments(
        sums.days * kept + days, sums.mean * kept + days * mean, sums.square * kept + days * (mean / b + mean * mean)
    )


def _with_learned_prior(site: SiteEstimate, sums: PriorMoments) -> SiteEstimate:
    """Return the site with the mean and variance of the observed rates (empirical Bayes)."""
    if sums.days < TRUSTED_DAYS:
        return site
    mean = sums.mean / sums.days
    return with_prior(site, mean=mean, variance=sums.square / sums.days - mean * mean)


def site_model_bytes(model: SiteModel) -> bytes:
    """Return the stored form."""
    estimate = model.estimate._asdict() | {"site_change": list(model.estimate.site_change)}
    hubs = [[key, *sums] for key, sums in model.hubs.items()]
    return orjson.dumps([_FORM, estimate, hubs, list(model.moments), *model[3:]])


def site_model_of(stored: bytes) -> SiteModel:
    """Read the stored form; empty if it cannot be read."""
    try:
        form, fields, hubs, sums, *rest = orjson.loads(stored)
        if form != _FORM:
            return SiteModel()
        known = {name: value for name, value in fields.items() if name in SiteEstimate._fields}
        estimate = SiteEstimate(**(known | {"site_change": BulkChange(*fields["site_change"])}))
        return SiteModel(estimate, {key: BulkChange(*each) for key, *each in hubs}, PriorMoments(*sums), *rest)
    except (ValueError, TypeError, KeyError):
        return SiteModel()


def hub_of(url: str) -> int:
    """Return the directory of a page as a number."""
    return xxh32_intdigest(url.partition("?")[0].rpartition("/")[0].encode("utf-8", "surrogatepass"))
