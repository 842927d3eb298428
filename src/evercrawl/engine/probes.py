"""Probes: requests for invented URLs that show whether a site answers every URL with a page (soft 404).
A pattern that explodes or yields nothing, or a page that looks like an error message or has lost its text, gets two
probes, within the site's pace and its robots.txt. Pages like the answer to an invented URL are flagged, and their links
not followed; those that had a text before are gone. What real pages show too, as during maintenance, proves nothing."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import unquote

from evercrawl.core.duplicates.minhash import EMPTY_SIGNATURE
from evercrawl.core.traps.not_found import (
    ProbeAnswer,
    ProbeOutcome,
    Soft404Page,
    common_message,
    common_not_found_phrases,
    has_lost_text,
    has_new_text,
    has_same_message,
    invented_urls,
    is_left_empty,
    is_soft_404,
    not_found_phrases,
    says_not_found,
    says_only_not_found,
    soft_404_page,
)
from evercrawl.core.traps.pattern_probe import ProbeRequest, after_probe
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.traps.url_pattern import shape_of
from evercrawl.core.url import canonical_of_href, key_of, path_of, site_of
from evercrawl.core.visit.links import FoundLinks
from evercrawl.core.visit.outcome import VisitOutcome
from evercrawl.engine.decision import Decision, Policy, Suspicion, VisitFacts
from evercrawl.engine.interpret import parse, status_of
from evercrawl.engine.robots import SiteAccess
from evercrawl.engine.runtime import BackgroundTasks
from evercrawl.engine.traps import Traps
from evercrawl.model.document import Document
from evercrawl.model.fetch import Fetched, FetchResult, Moved, Request
from evercrawl.model.page import Page
from evercrawl.model.reason import REASON_TEXT, Outcome, Reason
from evercrawl.model.site import Site
from evercrawl.model.time import to_us

log = logging.getLogger("evercrawl")

MAX_TASKS = 8  # Sites of a shard that are probed at the same time.
MAX_LINKS = 100  # Links of an answer that are checked for being new.
TEMPORARY_STATUSES = frozenset((408, 425, 429, 502, 503, 504))
"""Temporary answers, which prove nothing. 500 is not among them: many sites answer invalid URLs with it."""
MAX_SOFT_404_PROBES = 2  # Per site and `PROBE_PERIOD`.
PROBE_PERIOD = timedelta(days=1)
GONE_RECHECK = timedelta(minutes=10)  # Wait of a postponed page, if the run ends before it is visited again.
MAX_POSTPONED = 10_000
MAX_REAL_PAGES = 1000  # Folders in which a page that exists is remembered.
MAX_REAL_PROBES = 2
MAX_SOFT_404_PAGES = 4  # Remembered per site.
MAX_SITES = 100_000  # Sites that are remembered as having soft 404 pages or none.
MAX_SUSPECTS = 20  # Pages of one site that are visited again when its soft 404 page is known.
COPIES_BEFORE_PROBE = 3  # Copies on one site before it is probed; a few are normal.
_PASSWORD = re.compile(rb"""<input\b[^>]*\btype\s*=\s*["']?password""", re.IGNORECASE)


# Judgements


def flag_soft_404(facts: VisitFacts, decision: Decision) -> Decision:
    """Flag a page that equals its site's answer to unknown URLs, and do not follow its links.
    A page that had a text before is gone. If only the loss is known, the verdict waits for a probe of the site."""
    knowledge = facts.related.knowledge
    state = knowledge.traps or knowledge.soft_404
    if state is None or facts.policy.traps.user_rule(facts.page.url) is not None:
        return decision
    content = decision.content
    document = content.document if content is not None else None
    before = content.past.text if content is not None and facts.page.version else None
    if document is not None and any(is_soft_404(document.text, wall, facts.page.url) for wall in state.walls):
        return decision
    lost = document is not None and has_lost_text(before, document.text)
    evidence = soft_404_evidence(facts.answer, document, state, before=before if lost else None)
    if evidence:
        detail = f"{evidence}, as for URLs that do not exist"
        is_gone = lost or (isinstance(facts.answer, Moved) and facts.page.version > 0)
        return _gone(facts, decision, detail) if is_gone else _flag(decision, detail, expand=False)
    if document is not None and is_left_empty(before, document.text):
        return _judge_lost(facts, decision, document, state, before=before)
    if isinstance(facts.answer, Moved) and facts.page.version and _names_itself(facts.page.url, facts.answer.target):
        return _judge_moved(facts, decision, facts.answer.target, state)
    if facts.related.says_not_found and document is not None and says_only_not_found(document.title, document.text):
        return _flag(decision, REASON_TEXT[Reason.SOFT_404], expand=True)
    return decision


def _judge_lost(
    facts: VisitFacts, decision: Decision, document: Document, state: TrapState, *, before: str | None
) -> Decision:
    """Judge a page that has lost its text, although its message is not the one for unknown URLs.
    Wikis and forums say "was deleted" instead of "does not exist"."""
    if facts.related.knowledge.may_check_gone:
        return _postpone(facts, decision, Suspicion(False, facts.related.says_not_found, document.text))
    if not has_new_text(before, document.text):
        return decision
    if facts.related.says_not_found:
        return _gone(facts, decision, "its text is replaced by the message that it does not exist")
    if state.hides_missing and document.robots.noindex:
        return _gone(facts, decision, "its text is lost, and it is marked noindex like URLs that do not exist")
    return decision


def _names_itself(url: str, target: str) -> bool:
    """Return whether a page leads to a URL with its own path in it, as to a login that leads back."""
    path, place = path_of(url).partition("?")[0].rstrip("/"), target.partition("?")[0].rstrip("/")
    return len(path) > 1 and not place.endswith(path) and path in unquote(target) and site_of(target) == site_of(url)


def _judge_moved(facts: VisitFacts, decision: Decision, target: str, state: TrapState) -> Decision:
    """Judge a known page that may lead to a login now: a wiki may ask for it instead of saying what was deleted."""
    place = target.partition("?")[0]
    if place in state.not_found_redirects:
        return _gone(facts, decision, f"it redirects to {place}, where one has to sign in")
    suspicion = Suspicion(is_copy=False, says_not_found=False, lost_text="", redirect=target)
    return _postpone(facts, decision, suspicion) if facts.related.knowledge.may_check_gone else decision


def _flag(decision: Decision, detail: str, *, expand: bool) -> Decision:
    outcome = decision.outcome._replace(outcome=Outcome.FETCHED, reason=Reason.SOFT_404, detail=detail)
    found = decision.found if expand or isinstance(decision.answer, Moved) else FoundLinks()
    return decision._replace(outcome=outcome, found=found)


def _gone(facts: VisitFacts, decision: Decision, detail: str) -> Decision:
    """Report a page as missing, like a 404: its versions stay, and it is compared with them when it comes back."""
    tries = facts.page.tries  # A page that stays away is not a change each time.
    outcome = VisitOutcome(
        Outcome.ERROR,
        Reason.SOFT_404,
        f"gone, although the server answers {status_of(facts.answer)}: {detail}",
        due_us=None,
        tries=tries + 1,
        interval_s=0,
        is_new_version=False,
        changed=tries == 0,
    )
    return _without_content(decision, outcome)


def _postpone(facts: VisitFacts, decision: Decision, suspicion: Suspicion) -> Decision:
    """Take back everything that follows from an answer until the site was probed."""
    page, reason = facts.page, Reason.LOST_TEXT
    outcome = VisitOutcome(
        Outcome.DEFERRED,
        reason,
        REASON_TEXT[reason],
        due_us=to_us(facts.now + GONE_RECHECK),
        tries=page.tries,
        interval_s=page.interval_s,
        is_new_version=False,
    )
    return _without_content(decision, outcome)._replace(suspicion=suspicion)


def _without_content(decision: Decision, outcome: VisitOutcome) -> Decision:
    found = decision.found if isinstance(decision.answer, Moved) else FoundLinks()
    site = decision.site._replace(change=None)
    return decision._replace(
        outcome=outcome, content=None, duplicate_of=None, signature=None, near_text=None, found=found, site=site
    )


def looks_like_not_found(page: Page, answer: FetchResult, document: Document | None) -> bool:
    """Return whether an answer apologises, leads to the home page or perhaps to a login."""
    match answer:
        case Fetched():
            return document is not None and says_not_found(document.title, document.text)
        case Moved(target=target):
            is_home = path_of(target) == "/" and site_of(target) == site_of(page.url)
            return (is_home and path_of(page.url) != "/") or (page.version > 0 and _names_itself(page.url, target))
        case _:
            return False


def soft_404_evidence(
    answer: FetchResult, document: Document | None, site: TrapState, *, before: str | None = None
) -> str:
    """Return what an answer has in common with those to invented URLs; empty: nothing.
    Phrases without a known meaning count only for a page that has lost the text that it had `before`."""
    match answer:
        case Moved(target=target) if target in site.not_found_redirects:
            return f"redirects to {target}"
        case Fetched(url=url) if document is not None:
            text, pages = document.text, site.not_found_pages
            if any(is_soft_404(text, known, url) for known in pages):
                return "the same text"
            phrases = not_found_phrases(document.title, text) if site.not_found_phrases else frozenset()
            if phrases.intersection(site.not_found_phrases):
                return "the same apology"
            if before is not None and any(has_same_message(text, known, url, before=before) for known in pages):
                return "the same message"
            return ""
        case _:
            return ""


def suspect_soft_404(facts: VisitFacts, decision: Decision) -> Decision:
    """Suspect a page that apologises, leads home, or copies another page of its site."""
    is_copy = _is_own_copy(facts.page, decision)
    if decision.suspicion is not None:
        return decision
    if not facts.policy.traps.settings.enabled or not (is_copy or facts.related.says_not_found):
        return decision
    return decision._replace(suspicion=Suspicion(is_copy, facts.related.says_not_found))


def _is_own_copy(page: Page, decision: Decision) -> bool:
    """Return whether another page of the same site has the same bytes."""
    if decision.outcome.reason is not Reason.DUPLICATE or decision.original is None:
        return False
    return site_of(decision.original.url) == site_of(page.url)


def learn_soft_404(
    site: TrapState, results: Sequence[tuple[FetchResult, ProbeAnswer]], real: Sequence[ProbeAnswer] = ()
) -> TrapState:
    """Return the state of a site after it has answered invented URLs. `real`: pages that exist, fetched then too."""
    targets = {result.target if isinstance(result, Moved) else "" for result, _ in results}
    if len(targets) == 1 and (target := targets.pop()):
        return replace(site, not_found_redirects=(*site.not_found_redirects, target)[-MAX_SOFT_404_PAGES:])
    answers = [answer for result, answer in results if 200 <= (status_of(result) or 0) < 300]
    if len(answers) < len(results) or not answers[0].text.strip():
        return site
    same = soft_404_page(answers[0].text, answers[0].url, phrases=common_message(answers, real))
    is_wall = answers[0].has_login and not all(page.has_login for page in real)
    if is_wall or any(is_soft_404(page.text, same, page.url) for page in real):
        return site
    if all(answer.noindex for answer in answers) and real and not any(page.noindex for page in real):
        site = replace(site, hides_missing=True)
    if not all(is_soft_404(answer.text, same, answer.url) for answer in answers[1:]):
        return _learn_message(site, answers, same)
    soft, absent = (*site.soft_404, same)[-MAX_SOFT_404_PAGES:], (*site.not_found_pages, same)[-MAX_SOFT_404_PAGES:]
    return replace(site, soft_404=soft, not_found_pages=absent)


def learn_wall(site: TrapState, url: str, text: str | None, real: Sequence[ProbeAnswer]) -> TrapState:
    """Learn a text that other pages show too instead of their own, as during maintenance."""
    if not text:
        return site
    shown = soft_404_page(text, url)
    if not any(is_soft_404(page.text, shown, page.url) for page in real):
        return site
    return replace(site, walls=(*site.walls, shown)[-MAX_SOFT_404_PAGES:])


def learn_login(site: TrapState, target: str, shown: ProbeAnswer, real: Sequence[ProbeAnswer]) -> TrapState:
    """Learn a redirect to a login that other pages do not lead to, so that not the whole site asks to sign in."""
    page = soft_404_page(shown.text, shown.url)
    if not shown.has_login or not real or any(is_soft_404(answer.text, page, answer.url) for answer in real):
        return site
    return replace(
        site, not_found_redirects=(*site.not_found_redirects, target.partition("?")[0])[-MAX_SOFT_404_PAGES:]
    )


def _learn_message(site: TrapState, answers: Sequence[ProbeAnswer], first: Soft404Page) -> TrapState:
    """Learn what answers have in common that differ otherwise, such as in their recommendations."""
    phrases, pages = site.not_found_phrases, site.not_found_pages
    if common := common_not_found_phrases(answers):
        phrases = (*phrases, *common)[-MAX_SOFT_404_PAGES:]
    if first.phrases:
        pages = (*pages, first._replace(signature=EMPTY_SIGNATURE))[-MAX_SOFT_404_PAGES:]
    if phrases is site.not_found_phrases and pages is site.not_found_pages:
        return site
    return replace(site, not_found_phrases=phrases, not_found_pages=pages)


# State


class Probes:
    """The probes of one shard: at most one at a time for each site, and a limited number in a run."""

    def __init__(
        self,
        traps: Traps,
        policy: Policy,
        *,
        access: SiteAccess,
        known_keys: Callable[[Sequence[bytes]], Awaitable[set[bytes]]],
        enqueue: Callable[[Page], None],
        commit: Callable[[], Awaitable[None]],
        tasks: BackgroundTasks,
    ) -> None:
        """`known_keys` returns the keys that are pages already."""
        self.tasks = tasks
        self._traps = traps
        self._policy = policy
        self._access = access
        self._known_keys = known_keys
        self._enqueue = enqueue
        self._commit = commit
        self._probing: set[int] = set()
        self._probes: Counter[int] = Counter()
        self._unclear: set[tuple[int, str]] = set()
        """Patterns with inconclusive probes; they are not probed again in this run."""
        self._soft_404_probes: dict[int, list[datetime]] = {}
        self._soft_404_running: set[int] = set()
        self._copies: Counter[int] = Counter()
        self._has_soft_404: dict[int, bool] = {}
        self._suspects: dict[int, list[Page]] = {}
        """Pages that were visited before the soft 404 page of their site was known."""
        self._postponed: dict[int, datetime] = {}
        """Pages whose verdict waited for a probe, and when; their next visit is final."""
        self._real_pages: dict[tuple[int, str], str] = {}
        """A page that exists in each folder, the last visited at the end."""

    def may_probe(self, site_id: int) -> bool:
        """Return whether one more pattern of the site may be probed."""
        is_full = (
            len(self.tasks) >= MAX_TASKS or self._probes[site_id] >= self._policy.traps.settings.max_probed_patterns
        )
        return not is_full and site_id not in self._probing

    def may_check_gone(self, site_id: int, page_id: int, *, now: datetime) -> bool:
        """Return whether the verdict on a page that has lost its text may wait for a probe of its site."""
        if not self._policy.traps.settings.enabled or len(self.tasks) >= MAX_TASKS:
            return False
        since = self._postponed.get(page_id)
        if since is not None and now - since < PROBE_PERIOD:
            return False
        return site_id in self._soft_404_running or self._may_probe_soft_404(site_id, now)

    def apply(self, site: Site, page: Page, decision: Decision, *, now: datetime) -> None:
        """Start the probes that a visit asks for."""
        if page.version and _is_real(decision):
            self._remember_real(site, page)
        wanted = decision.probe
        if wanted is not None and (site.id, wanted.pattern) not in self._unclear:
            self._probes[site.id] += 1
            self._probing.add(site.id)
            self.tasks.start(self._probe_pattern(site, wanted))
        suspicion = decision.suspicion
        if suspicion is not None and self._is_soft_404_probe_due(site, page, decision, suspicion, now=now):
            self.tasks.start(self._probe_soft_404(site, page, decision))

    # Soft 404

    async def soft_404_state(self, site_id: int, *, looks_like_not_found: bool) -> TrapState | None:
        """Return the state of a small site, if it may identify a page as a soft 404."""
        if not looks_like_not_found:
            if site_id not in self._has_soft_404:
                if len(self._has_soft_404) >= MAX_SITES:
                    self._has_soft_404.clear()
                site = (await self._traps.states.of(site_id)).value
                self._has_soft_404[site_id] = bool(
                    site.not_found_pages or site.not_found_redirects or site.not_found_phrases
                )
            if not self._has_soft_404[site_id]:
                return None
        return (await self._traps.states.of(site_id)).value

    def _is_soft_404_probe_due(
        self, site: Site, page: Page, decision: Decision, suspicion: Suspicion, *, now: datetime
    ) -> bool:
        self._copies[site.id] += suspicion.is_copy
        suspects = self._suspects.setdefault(site.id, [])
        if suspicion.lost_text is not None:
            suspects.append(page)
            self._postponed = {**self._postponed, page.id: now} if len(self._postponed) < MAX_POSTPONED else {}
        elif len(suspects) < MAX_SUSPECTS and decision.outcome.reason is not Reason.SOFT_404:
            suspects.append(page)
        asks = suspicion.says_not_found or suspicion.lost_text is not None
        is_due = asks or self._copies[site.id] == COPIES_BEFORE_PROBE
        if not is_due or site.id in self._soft_404_running or not self._may_probe_soft_404(site.id, now):
            return False
        self._soft_404_probes.setdefault(site.id, []).append(now)
        self._soft_404_running.add(site.id)
        return True

    def _may_probe_soft_404(self, site_id: int, now: datetime) -> bool:
        recent = [moment for moment in self._soft_404_probes.get(site_id, ()) if now - moment < PROBE_PERIOD]
        return len(recent) < MAX_SOFT_404_PROBES

    async def _probe_soft_404(self, site: Site, page: Page, decision: Decision) -> None:
        try:
            suspicion = decision.suspicion or Suspicion(is_copy=False, says_not_found=False)
            # Copies are mostly one page under many values, which would all be answered with that page.
            in_query = suspicion.says_not_found or suspicion.lost_text is not None
            known = await self._learn_soft_404(site, page, suspicion, in_query=in_query)
        finally:
            self._soft_404_running.discard(site.id)
        document = decision.content.document if decision.content is not None else None
        answer = decision.answer
        is_confirmed = known is not None and answer is not None and bool(soft_404_evidence(answer, document, known))
        suspects = self._suspects.pop(site.id, [])
        again = suspects if is_confirmed else [suspect for suspect in suspects if suspect.id in self._postponed]
        self._suspects[site.id] = [] if is_confirmed else [suspect for suspect in suspects if suspect not in again]
        if again:
            await self._commit()
            for suspect in again:
                self._enqueue(suspect)

    async def _learn_soft_404(
        self, site: Site, page: Page, suspicion: Suspicion, *, in_query: bool
    ) -> TrapState | None:
        """Ask for invented URLs, and for pages that exist if the answers are pages; None: nothing was learned."""
        urls = invented_urls(page.url, seed=page.id, in_query=in_query)
        results = [await self._answer_to(url, site) for url in urls]
        found = [result for result in results if result is not None]
        if len(found) < len(urls):
            return None
        answers = [(result, await self._measure(result, url, site)) for url, result in zip(urls, found, strict=True)]
        is_page = all(isinstance(result, Fetched) for result, _ in answers)
        real: list[ProbeAnswer] = []
        if is_page or suspicion.lost_text is not None:
            asked = [await self._answer(url, site) for url in await self._real_urls(site, page)]
            real = [answer for answer in asked if answer is not None and 200 <= answer.status < 300]
        state = await self._traps.states.of(site.id)
        known = learn_wall(state.value, page.url, suspicion.lost_text, real)
        if suspicion.redirect and (shown := await self._answer(suspicion.redirect, site)) is not None:
            known = learn_login(known, suspicion.redirect, shown, real)
        if real or not is_page:
            known = learn_soft_404(known, answers, real)
        if known is state.value:
            return None
        state.update(known)
        self._has_soft_404[site.id] = True
        return known

    def _remember_real(self, site: Site, page: Page) -> None:
        key = site.id, _folder(page.url)
        self._real_pages.pop(key, None)
        self._real_pages[key] = page.url
        if len(self._real_pages) > MAX_REAL_PAGES:
            self._real_pages.pop(next(iter(self._real_pages)))

    async def _real_urls(self, site: Site, page: Page) -> list[str]:
        """Return pages of the site that exist: one of the same folder, the last visited, and the home page.
        The page without its query comes first, if it is known: many sites ignore values that they do not know."""
        path, _, query = page.url.partition("?")
        is_known = bool(query) and bool(await self._known_keys([key_of(path)]))
        own = [url for (site_id, _), url in reversed(self._real_pages.items()) if site_id == site.id]
        near = [path if is_known else "", self._real_pages.get((site.id, _folder(page.url)), ""), *own[:1]]
        near.append(f"{site.name}/")
        return [url for url in dict.fromkeys(near) if url and url != page.url][:MAX_REAL_PROBES]

    # Patterns

    async def _probe_pattern(self, site: Site, wanted: ProbeRequest) -> None:
        try:
            one, other = [await self._answer(url, site) for url in wanted.urls]
        finally:
            self._probing.discard(site.id)
        if one is None or other is None:
            self._unclear.add((site.id, wanted.pattern))
            return
        state = await self._traps.states.of(site.id)
        state.update(after_probe(state.value, wanted.pattern, (one, other)))
        record = state.value.patterns.get(wanted.pattern)
        if record is not None and record.probe_outcome is ProbeOutcome.INVENTED:
            log.info("trap: %s%s returns a page for every URL", site.name, wanted.pattern)

    async def _answer(self, url: str, site: Site) -> ProbeAnswer | None:
        """Return the answer to an invented URL; None: it must not be fetched, or proves nothing.
        One redirect within the site is followed: some sites invent the URL that they lead to."""
        result = await self._answer_to(url, site)
        if isinstance(result, Moved) and result.target != url and site_of(result.target) == site.name:
            result = await self._answer_to(result.target, site) or result
        return None if result is None else await self._measure(result, url, site)

    async def _answer_to(self, url: str, site: Site) -> FetchResult | None:
        rules = self._access.robots_of(site)
        if rules is None or not rules.verdict(url).allowed:
            return None
        result = await self._access.fetch(Request(url))
        status = status_of(result)
        return None if status is None or status in TEMPORARY_STATUSES else result

    async def _measure(self, result: FetchResult, asked: str, site: Site) -> ProbeAnswer:
        status = status_of(result) or 0
        document = await parse(result, self._policy) if isinstance(result, Fetched) else None
        if document is None:
            return ProbeAnswer(status)
        own = _own_links(document, site)
        known = await self._known_keys([key_of(url) for url in own])
        new = [url for url in own if key_of(url) not in known]
        shape = shape_of(asked)
        further = sum(shape_of(link) == shape for link in new)
        has_login = isinstance(result, Fetched) and _PASSWORD.search(result.body) is not None
        title = document.title or ""
        noindex = document.robots.noindex
        return ProbeAnswer(status, document.text, len(own), len(new), further, title, asked, has_login, noindex)


def _is_real(decision: Decision) -> bool:
    """Return whether a known page was still there."""
    outcome = decision.outcome
    is_seen = outcome.outcome in (Outcome.FETCHED, Outcome.UNCHANGED) and isinstance(decision.answer, Fetched)
    return is_seen and outcome.reason is not Reason.SOFT_404 and decision.suspicion is None


def _folder(url: str) -> str:
    return path_of(url).rpartition("/")[0]


def _own_links(document: Document, site: Site) -> list[str]:
    """Return different links to pages of the site."""
    names = (canonical_of_href(link.url) for link in document.links[:MAX_LINKS])
    return list(dict.fromkeys(name for name in names if name is not None and site_of(name) == site.name))
