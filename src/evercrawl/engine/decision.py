"""The values that pass between the steps of a visit: `PageKnowledge`, `Related` and `Decision`.
`gather` reads `PageKnowledge` before the request, `look_up` reads `Related` after the answer, `decide` turns
both into a `Decision`, and `apply` writes it. None of these values is ever changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from evercrawl.core.change.change_history import SiteChangeHistory
from evercrawl.core.change.held_changes import HeldChange
from evercrawl.core.change.snapshot import Snapshot
from evercrawl.core.credit.url_yield import Form, SiteYield
from evercrawl.core.duplicates.minhash import SignatureMatch
from evercrawl.core.fields.reading import FieldComparison
from evercrawl.core.revisit.visit_schedule import BudgetLevel, SiteModel, VisitSchedule, schedule_of
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.core.scope.scope import NO_ANSWERS, Answers, Scope
from evercrawl.core.sentiment.field_analysers import Analyser
from evercrawl.core.sitemap.sitemap_discovery import SitemapState
from evercrawl.core.traps.pattern_probe import ProbeRequest
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.traps.trap_verdict import HostStats
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.visit.links import FoundLinks
from evercrawl.core.visit.outcome import VisitOutcome
from evercrawl.engine.ports import DocumentHandler, DocumentParser, FieldRules
from evercrawl.model import wide
from evercrawl.model.change import Change, Mute
from evercrawl.model.document import Document
from evercrawl.model.fetch import FetchResult
from evercrawl.model.fields import FieldRepair, FieldRule
from evercrawl.model.page import (
    Baseline,
    Candidate,
    DuplicateCandidate,
    OriginalRecord,
    Page,
    Represented,
    Reschedule,
    SettledChange,
)
from evercrawl.model.reason import Reason
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site

Refused = tuple[Reason, str]  # Why a URL is not fetched: the reason and its detail.


class NoFieldRules:
    """The rules of a crawl without fields."""

    def rules(self) -> tuple[FieldRule, ...]:
        """Return nothing."""
        return ()

    def add_repair(self, repair: FieldRepair) -> None:
        """Store nothing."""


NO_FIELD_RULES = NoFieldRules()


def _unknown_language(_: str) -> str | None:
    return None


@dataclass(frozen=True)
class Policy:
    """The rules of a run that decisions depend on."""

    settings: Settings
    scope: Scope
    traps: TrapFilter
    agent: str
    handler_of: Callable[[str], DocumentHandler | None]
    """Media type -> the handler that parses it, besides HTML and plain text."""
    parser: DocumentParser | None = None  # Parses what may take long; None: everything is parsed here.
    analysers: tuple[Analyser, ...] = ()
    fields: FieldRules = NO_FIELD_RULES
    language_of: Callable[[str], str | None] = _unknown_language
    """Text -> its language; None: unclear."""
    corrections: Callable[[], Sequence[Mute]] = tuple
    """Parts of pages whose changes count as content because the user says so."""
    is_focused: bool = False
    forever: bool = False  # Wait for pages to become due instead of ending.

    @cached_property
    def schedule(self) -> VisitSchedule:
        """The revisit policy that the settings name."""
        return schedule_of(self.settings.revisit)


class PageKnowledge(NamedTuple):
    """What is known about a page before its request."""

    robots: RobotsRules | None = None  # None: robots.txt was not read.
    trap: Refused | None = None  # Why trap detection or a user rule refuses the page.
    mirror: str | None = None  # Where a copy of the page is known, if its site is a mirror.
    outlook: SiteModel = SiteModel()  # How the pages of the site change.
    is_doubtful: bool = False  # The page was a duplicate, and the page that it duplicates has changed since.
    answers: Answers = NO_ANSWERS  # Whether URLs of the site with endings of files answered with pages.


class Past(NamedTuple):
    """What a new answer is compared with; empty before the first version."""

    is_same: bool = False  # The same bytes as at the last visit.
    text: str | None = None  # Main text of the newest version.
    body: bytes = b""  # Body of the newest version; empty if the detector does not need it.
    baseline: Baseline | None = None
    snapshot: Snapshot | None = None  # Of the last visit; None: there is none, or it cannot be read.


class Comparison(NamedTuple):
    """How an answer differs from the last visit, and what the next visit needs."""

    change: Change
    snapshot: bytes | None = None
    memory: bytes = b""
    site: SiteChangeHistory | None = None  # The site's memory after this comparison; None: as before.
    site_before: SiteChangeHistory | None = None
    held: HeldChange | None = None  # What is needed to judge the change later; None: the verdict is final.
    is_long: bool = False  # It took long, and is not repeated.


class Content(NamedTuple):
    """A body, parsed and compared."""

    digest: bytes
    sha1: bytes
    document: Document | None = None  # None: no handler knows the media type, or `is_known`.
    original: OriginalRecord | None = None  # Where these bytes are archived already.
    past: Past = Past()
    comparison: Comparison | None = None  # None: the first visit, or the same bytes as before.
    fields: FieldComparison | None = None  # None: no field is read from this page.
    is_known: bool = False  # The bytes of a stored version of the page, so that they were not parsed again.


class NearText(NamedTuple):
    """The signatures of a main text, and the page with the nearest text."""

    signature: bytes | None = None
    of_page: bytes | None = None
    """Signature of text and links together, for a text that is too short to be compared alone."""
    match: SignatureMatch | None = None
    page: DuplicateCandidate | None = None  # The page that `match` names, as it is now; None: it is gone.


class DuplicateLookup(NamedTuple):
    """The pages that a page may duplicate."""

    original: DuplicateCandidate | None = None  # The page that has the same bytes.
    is_original_pending: bool = False  # That page is part of the same import, so its bytes are current.
    previous: DuplicateCandidate | None = None  # The page that this one duplicated so far.
    canonical: DuplicateCandidate | None = None  # The page that this one names as canonical.
    near: NearText = NearText()


class LinkTarget(NamedTuple):
    """A site that new links lead to."""

    site: Site
    pages: int  # Pages of the site, those that wait for a commit included.
    robots: RobotsRules | None = None
    traps: TrapState | None = None
    blocked: Refused | None = None  # Why nothing of this new host is fetched.
    answers: Answers = NO_ANSWERS  # Whether URLs with endings of files answered with pages.


class NewLink(NamedTuple):
    """A link that becomes a page, or would become one if it were not refused."""

    candidate: Candidate
    site: Site
    is_last: bool = False  # It is queued behind all other pages.
    refused: Refused | None = None
    lift: int = 0  # Priority levels by which it moves up, as the settings of its site say.


class SiteKnowledge(NamedTuple):
    """What is known about a site at the moment of the decision."""

    site: Site
    change: SiteChangeHistory = SiteChangeHistory()
    outlook: SiteModel = SiteModel()
    sitemaps: SitemapState | None = None  # None: sitemaps are switched off.
    traps: TrapState | None = None  # None: the site is too small to judge.
    soft_404: TrapState | None = None  # The site's known answers for pages that do not exist; None: none are known.
    yields: SiteYield | None = None  # What the kinds of its URLs yielded; None: pages are not ordered by it.
    form: Form | None = Form.PAGE  # The form of the page's URL; None: what it yields says nothing about its kind.
    hosts: HostStats | None = None  # Of the site's domain; None: it has one host, or this site was counted already.
    may_probe: bool = False
    may_check_gone: bool = False  # The visit may be postponed until the site has answered invented URLs.


@wide
class Related(NamedTuple):
    """What the store knows about an answer: its content, its links and pages like it."""

    knowledge: SiteKnowledge
    level: BudgetLevel  # What the request budget allows at the moment.
    weight: float = 1.0  # How much a current copy of the page counts, by its importance.
    announced: float | None = None  # Day for which a sitemap announced a change since the page was queued.
    is_requested: bool = False  # Somebody asked for this visit, so that its verdict is wanted now.
    content: Content | None = None
    baseline: Baseline | None = None  # What the last visit saw, for a 304.
    original: OriginalRecord | None = None  # What a 304 refers to.
    is_loop: bool = False  # The target of the redirect leads back to this page.
    found: FoundLinks = FoundLinks()
    own: Sequence[tuple[Candidate, Site]] = ()
    """Links of this shard that are not pages yet; they are reserved for this visit."""
    others: Mapping[int, list[Candidate]] = MappingProxyType({})  # Links of other shards, by shard.
    targets: Mapping[int, LinkTarget] = MappingProxyType({})  # Site id -> the site of links in `own`.
    duplicates: DuplicateLookup = DuplicateLookup()
    says_not_found: bool = False  # The page looks like an answer to an unknown URL.
    copies: Sequence[Page] = ()  # Pages that duplicate this one, if it may have changed.


class CreditPlan(NamedTuple):
    """What happens to the credit of a page."""

    pays: bool = False  # False: the page keeps its credit, because its links were not seen.
    expands: bool = False  # False: all of it goes to the Lambda page.


class TextToIndex(NamedTuple):
    """A main text that later pages are compared with."""

    signed: bytes
    chars: int
    signature: bytes
    title: str | None


class Suspicion(NamedTuple):
    """A page that may be the site's answer to every unknown URL."""

    is_copy: bool
    says_not_found: bool
    lost_text: str | None = None
    """What a page shows that has lost its text; it is visited again once the site has answered invented URLs."""
    redirect: str = ""  # Where a page leads instead that may ask to sign in.


@wide
class SiteUpdate(NamedTuple):
    """New state of the site after a visit; None: unchanged."""

    change: SiteChangeHistory | None = None
    outlook: SiteModel | None = None
    sitemaps: SitemapState | None = None
    traps: TrapState | None = None
    new_text: float | None = None  # Share of new text on the page; None: it was not measured.
    yields: SiteYield | None = None
    hosts: HostStats | None = None
    reopened: bool = False  # A trap pattern or a refusal by ending was found wrong: what it kept out is queued again.
    log: tuple[str, ...] = ()


@wide
class Decision(NamedTuple):
    """Everything that a visit writes."""

    outcome: VisitOutcome
    answer: FetchResult | None = None  # None: no request was sent.
    content: Content | None = None
    original: OriginalRecord | None = None  # What the archive record refers to, where the bytes are archived already.
    duplicate_of: int | None = None
    represented: Represented | None = None  # A view of this page that was visited before it.
    signature: bytes | None = None
    text_digest: bytes | None = None
    analysis: Mapping[str, Any] = {}  # Fields by name, and items: what JSON can say.
    rate_estimate: bytes | None = None  # What the revisit policy knows about the page now; None: as before.
    found: FoundLinks = FoundLinks()
    links: tuple[NewLink, ...] = ()  # Links of this shard: to enter, or refused.
    send: Mapping[int, list[Candidate]] = {}  # Links for other shards.
    release: Sequence[tuple[Candidate, Site]] = ()  # Reserved links that do not become pages.
    credit: CreditPlan = CreditPlan()
    site: SiteUpdate = SiteUpdate()
    near_text: TextToIndex | None = None
    probe: ProbeRequest | None = None
    suspicion: Suspicion | None = None
    requeue: tuple[Page, ...] = ()  # Duplicates of this page to visit again.
    is_held: bool = False  # The verdict on the change waits for other pages of the site.
    if_noise: Reschedule | None = None  # When to visit the page again if a change that waits is noise.
    settled: Sequence[SettledChange] = ()  # Verdicts on changes of earlier visits.


class VisitFacts(NamedTuple):
    """The input of a judgement."""

    page: Page
    answer: FetchResult
    known: PageKnowledge
    related: Related
    now: datetime
    policy: Policy


Judgement = Callable[[VisitFacts, Decision], Decision]  # Returns the decision with one more part filled in.
