"""What follows from an answer: pure functions, without a store, a clock or a network.
`decide` runs every judgement of `JUDGEMENTS` in order; each fills in one part of the decision. To judge pages by
something new, write one function and add one line to that tuple (see CONTRIBUTING.md)."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import assert_never

from evercrawl.core.change.held_changes import add_held, settle_held
from evercrawl.core.document.bounds import describe_truncation
from evercrawl.core.http.content_coding import unknown_coding
from evercrawl.core.items import ItemPage
from evercrawl.core.scope.selection import SELECTION_REASONS, FetchedPage
from evercrawl.core.sentiment.field_analysers import analyse_fields, analyse_items
from evercrawl.core.sitemap.sitemap_reader import named_in
from evercrawl.core.url import site_of
from evercrawl.core.usage_terms import combine_terms, header_terms, tdmrep_terms
from evercrawl.core.visit.links import FoundLinks
from evercrawl.core.visit.outcome import (
    VisitOutcome,
    fresh_for,
    judge_failed,
    judge_fetched,
    judge_mirrored,
    judge_moved,
    judge_not_modified,
    judge_refused,
)
from evercrawl.engine.decision import (
    Content,
    CreditPlan,
    Decision,
    Judgement,
    PageKnowledge,
    Policy,
    Refused,
    Related,
    VisitFacts,
)
from evercrawl.engine.duplicates import copies_to_requeue, find_duplicate
from evercrawl.engine.interpret import after_first_visit, after_unchanged_visit, original_of, requested_wait
from evercrawl.engine.links import judge_new_links
from evercrawl.engine.page_order import learn_ending, learn_yield
from evercrawl.engine.probes import flag_soft_404, suspect_soft_404
from evercrawl.engine.revisits import has_false_validators, is_conditional, next_visit
from evercrawl.engine.traps import TRAP_RECHECK, count_hosts, count_visit, request_trap_probe
from evercrawl.model.change import NO_CHANGE
from evercrawl.model.document import USAGE_KEY, UsageTerms
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Moved, NotModified, Request
from evercrawl.model.page import Page, Reschedule
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.time import to_us

FEED_DEPTH = 1  # Feeds count only if a page this near to a seed names them.
MAX_FEEDS = 3
SELECTION_RECHECK = timedelta(days=30)  # Wait before a page that is not kept is fetched again: it may have changed.


# Before the request


def first_refusal(page: Page, known: PageKnowledge, *, now: datetime, policy: Policy) -> Decision | None:
    """Return the first reason not to fetch a page; None: it may be fetched."""
    for check in REFUSALS:
        outcome = check(page, known, now, policy)
        if outcome is not None:
            return Decision(outcome)
    return None


def robots_refusal(page: Page, known: PageKnowledge, now: datetime, _: Policy) -> VisitOutcome | None:
    """Refuse what robots.txt forbids."""
    if known.robots is None:
        return judge_refused(page, Reason.ROBOTS_UNREACHABLE, "robots.txt was not read", now=now)
    verdict = known.robots.verdict(page.url)
    if verdict.allowed:
        return None
    return judge_refused(page, verdict.reason or Reason.ROBOTS, verdict.detail, now=now)


def scope_refusal(page: Page, known: PageKnowledge, now: datetime, policy: Policy) -> VisitOutcome | None:
    """Refuse what is outside the scope, which may have changed since the page was found."""
    scope = policy.scope
    is_seed = scope.is_seed(page.url)
    refused = scope.verdict(page.url, depth=page.depth, hops=page.hops, is_seed=is_seed, answers=known.answers)
    return None if refused is None else judge_refused(page, *refused, now=now)


def trap_refusal(page: Page, known: PageKnowledge, now: datetime, _: Policy) -> VisitOutcome | None:
    """Refuse what a user rule excludes or trap detection blocks."""
    if known.trap is None:
        return None
    if known.trap[0] is Reason.TRAP:
        return judge_refused(page, *known.trap, now=now, wait=TRAP_RECHECK)
    return judge_refused(page, *known.trap, now=now)


def mirror_refusal(page: Page, known: PageKnowledge, now: datetime, _: Policy) -> VisitOutcome | None:
    """Skip a page that is known from the site that its own site mirrors."""
    return None if known.mirror is None else judge_mirrored(page, known.mirror, now=now)


REFUSALS = (robots_refusal, scope_refusal, trap_refusal, mirror_refusal)
"""Every reason not to fetch a page; the first one wins."""


def request_for(page: Page, known: PageKnowledge, *, policy: Policy) -> Request:
    """Return the request for a page, conditional only if we hold the content that the validators stand for."""
    conditional = is_conditional(page, known.outlook, audit=policy.settings.revisit.unconditional_share)
    wants = policy.scope.selection(page.url).conditions(is_seed=page.depth == 0)
    if page.version == 0 or known.is_doubtful or not conditional:
        return Request(page.url, conditions=wants)
    return Request(page.url, etag=page.etag, last_modified=page.last_modified, conditions=wants)


# After it


def decide(
    page: Page, answer: FetchResult, known: PageKnowledge, related: Related, *, now: datetime, policy: Policy
) -> Decision:
    """Return everything that follows from an answer."""
    facts = VisitFacts(page, answer, known, related, now, policy)
    decision = Decision(outcome_of(facts), answer, related.content, found=related.found)
    for judge in JUDGEMENTS:
        decision = judge(facts, decision)
    return decision


def outcome_of(facts: VisitFacts) -> VisitOutcome:
    """Return outcome and reason of a visit, judged by the answer alone."""
    page, answer, related = facts.page, facts.answer, facts.related
    match answer:
        case Fetched():
            assert related.content is not None
            return fetched_outcome(page, answer, related.content)
        case NotModified():
            return judge_not_modified()
        case Moved():
            most_hops = facts.policy.settings.http.max_redirects
            refused = redirect_refusal(page, answer, facts.known) or _target_refusal(answer, related.found)
            return judge_moved(page, answer, refused=refused, loops=related.is_loop, most_hops=most_hops)
        case Failed():
            return judge_failed(page, answer, asked=requested_wait(answer, now=facts.now), now=facts.now)
        case unknown:
            assert_never(unknown)


def fetched_outcome(page: Page, answer: Fetched, content: Content) -> VisitOutcome:
    """Return the outcome of a visit that got a body."""
    past, comparison, original = content.past, content.comparison, content.original
    is_copy = original is not None and original.page_id != page.id and not past.is_same
    return judge_fetched(
        page,
        answer,
        change=NO_CHANGE if past.is_same else comparison.change if comparison is not None else None,
        copy_of=original.url if is_copy and original is not None else None,
        stopped=content.document.stopped if content.document is not None else None,
    )


def redirect_refusal(page: Page, answer: Moved, known: PageKnowledge) -> Refused | None:
    """Return why robots.txt forbids the target; rules of another site are checked when its turn comes."""
    if known.robots is None or site_of(answer.target) != site_of(page.url):
        return None
    verdict = known.robots.verdict(answer.target)
    return None if verdict.allowed else (Reason.ROBOTS, verdict.detail)


def _target_refusal(answer: Moved, found: FoundLinks) -> Refused | None:
    for refusal in found.refusals:
        return refusal.reason, refusal.detail
    return None


def stop_at_bad_redirects(facts: VisitFacts, decision: Decision) -> Decision:
    """Follow a redirect only if it counts as an answer."""
    if not isinstance(facts.answer, Moved) or decision.outcome.reason is Reason.REDIRECT:
        return decision
    return decision._replace(found=FoundLinks([], decision.found.refusals, decision.found.recent))


def select_content(facts: VisitFacts, decision: Decision) -> Decision:
    """Do not keep a page whose type, size, language, date or words are not wanted; its links may still be followed."""
    page, answer, content = facts.page, facts.answer, decision.content
    if content is None or not isinstance(answer, Fetched):
        return decision
    selection = facts.policy.scope.selection(page.url)
    language = None
    if selection.languages and content.document is not None:
        language = facts.policy.language_of(content.document.text) or content.document.lang
    fetched = FetchedPage(page.url, answer.headers, answer.body, is_seed=page.depth == 0)
    refused = selection.content_refusal(fetched, content.document, language=language, now=facts.now)
    if refused is None:
        return decision
    outcome = judge_refused(page, *refused, now=facts.now, wait=SELECTION_RECHECK)
    found = decision.found if selection.follow_rejected else FoundLinks()
    return decision._replace(outcome=outcome, found=found)


def drop_rejected(_: VisitFacts, decision: Decision) -> Decision:
    """Store nothing of a page that is not kept: neither its content nor its validators."""
    return decision._replace(content=None) if decision.outcome.reason in SELECTION_REASONS else decision


def name_parser_limits(facts: VisitFacts, decision: Decision) -> Decision:
    """Add to the detail what kept the page from being parsed: limits, or an unknown content coding."""
    content = decision.content
    if content is None or not isinstance(facts.answer, Fetched):
        return decision
    if (coding := unknown_coding(facts.answer.headers)) is not None:
        detail = f"{decision.outcome.detail}; kept as bytes, since the content coding {coding[:20]!r} is unknown"
        return decision._replace(outcome=decision.outcome._replace(detail=detail))
    if content.document is None:
        return decision
    document, most_links = content.document, facts.policy.settings.parse.max_links
    limits = describe_truncation(
        len(facts.answer.body), unread=document.unread, links=len(document.links), most_links=most_links
    )
    if not limits:
        return decision
    return decision._replace(outcome=decision.outcome._replace(detail=f"{decision.outcome.detail}; {limits}"))


def name_rendering(facts: VisitFacts, decision: Decision) -> Decision:
    """Add to the detail why a page was rendered or not."""
    note = facts.answer.rendering if isinstance(facts.answer, Fetched) else None
    if note is None or not note.detail:
        return decision
    return decision._replace(outcome=decision.outcome._replace(detail=f"{decision.outcome.detail}; {note.detail}"))


def refer_to_original(facts: VisitFacts, decision: Decision) -> Decision:
    """Let the archive record refer to the same bytes if they are archived already."""
    content = decision.content
    if content is None:
        return decision._replace(original=facts.related.original)
    original = content.original
    if original is None and content.past.is_same and content.past.baseline is not None:
        original = original_of(facts.page, content.past.baseline)
    is_copy = original is not None and original.page_id != facts.page.id and not content.past.is_same
    return decision._replace(original=original, duplicate_of=original.page_id if is_copy and original else None)


def learn_change(facts: VisitFacts, decision: Decision) -> Decision:
    """Learn which places of the site's pages change by themselves."""
    memory, content = facts.related.knowledge.change, decision.content
    after = None
    if isinstance(facts.answer, NotModified):
        after = after_unchanged_visit(facts.related.baseline, memory)
    elif content is not None and facts.page.version == 0:
        after = after_first_visit(facts.page, content.document, memory)
    elif content is not None and content.past.is_same:
        after = after_unchanged_visit(content.past.baseline, memory)
    elif content is not None and content.comparison is not None:
        after = content.comparison.site
    return decision if after is None else decision._replace(site=decision.site._replace(change=after))


def hold_change(facts: VisitFacts, decision: Decision) -> Decision:
    """Let a change wait for other pages of its site, and judge earlier ones whose time has come."""
    site, content = decision.site.change, decision.content
    if site is None:
        return decision
    held = content.comparison.held if content is not None and content.comparison is not None else None
    may_wait = decision.outcome.is_new_version and not facts.related.is_requested
    is_held = held is not None and may_wait and isinstance(facts.answer, Fetched)
    if is_held and held is not None and isinstance(facts.answer, Fetched):
        page, at_us = facts.page, to_us(facts.answer.exchange.began)
        site = add_held(site, held._replace(url=page.url, page_id=page.id, at_us=at_us), decision.if_noise)
    site, settled = settle_held(site, now=facts.now, rules=facts.policy.corrections())
    return decision._replace(site=decision.site._replace(change=site), is_held=is_held, settled=settled)


def analyse(facts: VisitFacts, decision: Decision) -> Decision:
    """Add what analysers say about a new version, the items that they find, and the values of its fields."""
    content, answer = decision.content, facts.answer
    if content is None or not decision.outcome.is_new_version:
        return decision
    values = content.fields.values() if content.fields is not None else {}
    if content.document is None or not (facts.policy.analysers or values):
        return decision._replace(analysis=values) if values else decision
    fields = analyse_fields(content.document, facts.policy.analysers) | values
    if isinstance(answer, Fetched):
        change = content.comparison.change if content.comparison is not None else None
        page = ItemPage(facts.page.url, content.document, answer.headers, answer.body, change)
        fields |= analyse_items(page, facts.policy.analysers)
    return decision._replace(analysis=fields)


def note_usage(facts: VisitFacts, decision: Decision) -> Decision:
    """Note what the publisher says about the use of a new version, in robots.txt, header fields and the page."""
    answer, content = facts.answer, decision.content
    if content is None or not decision.outcome.is_new_version or not isinstance(answer, Fetched):
        return decision
    url, document = facts.page.url, content.document
    robots, state = facts.known.robots, facts.related.knowledge.sitemaps
    said = [header_terms(url, answer.headers, agent=facts.policy.agent)]
    said += [document.terms] if document is not None else []
    if state is not None and state.tdmrep and all(terms.preference("tdm") is None for terms in said):
        said.append(tdmrep_terms(url, state.tdmrep))  # Header and page overrule the file.
    terms = combine_terms(UsageTerms() if robots is None else robots.usage_terms(url), *said)
    return decision._replace(analysis={**decision.analysis, USAGE_KEY: terms.as_dict()}) if terms else decision


def judge_links(facts: VisitFacts, decision: Decision) -> Decision:
    """Decide which of the new links become pages."""
    related = facts.related
    if not decision.found.candidates:
        return decision._replace(release=related.own) if related.own else decision
    links = judge_new_links(related.own, related.targets, year=facts.now.year, policy=facts.policy)
    return decision._replace(links=links, send=related.others)


def pay_credit(facts: VisitFacts, decision: Decision) -> Decision:
    """Pay the page's credit to its links; a page whose links were not seen keeps it.
    Links of a duplicate get nothing: the page that it duplicates has paid them."""
    outcome, content = decision.outcome, decision.content
    has_seen_links = outcome.reason in SELECTION_REASONS and isinstance(facts.answer, Fetched)
    has_failed = outcome.changed is None and outcome.due_us is not None and not has_seen_links
    if isinstance(facts.answer, NotModified) or has_failed or (content is not None and content.is_known):
        return decision
    return decision._replace(credit=CreditPlan(pays=True, expands=outcome.outcome is not Outcome.DUPLICATE))


def schedule(facts: VisitFacts, decision: Decision) -> Decision:
    """Schedule the next visit, unless a failure has done so, and learn how often pages change."""
    page, answer, outcome = facts.page, facts.answer, decision.outcome
    if outcome.changed is None:
        return decision
    outlook = facts.related.knowledge.outlook
    if isinstance(answer, Fetched) and outcome.changed and has_false_validators(page, answer):
        outlook = outlook._replace(false_validators=outlook.false_validators + 1)
    if facts.related.announced is not None and page.rate_estimate is not None:
        at = facts.related.announced
        announced, outlook = facts.policy.schedule.announce(page.rate_estimate, outlook, at=at)
        page = page._replace(rate_estimate=announced or page.rate_estimate)
    duplicate_of = decision.duplicate_of if isinstance(answer, Fetched) else page.duplicate_of
    weight = facts.policy.scope.weight(page.url) * facts.related.weight
    weight *= 1.0 if duplicate_of is None else facts.policy.settings.duplicates.revisit_weight
    plan = partial(
        next_visit,
        page,
        outlook,
        now_us=to_us(facts.now),
        fresh=fresh_for(answer.headers) if isinstance(answer, (Fetched, NotModified)) else timedelta(0),
        level=facts.related.level,
        weight=weight,
        policy=facts.policy,
    )
    planned = plan(changed=bool(outcome.changed) and page.version > 0)
    comparison = decision.content.comparison if decision.content is not None else None
    if_noise = None
    if comparison is not None and comparison.held is not None:
        quiet = plan(changed=False)
        if_noise = Reschedule(page.id, quiet.due_us, quiet.rate_estimate)
    outcome = outcome._replace(due_us=planned.due_us, interval_s=planned.interval_s)
    changed = planned.outlook if planned.outlook is not facts.related.knowledge.outlook else None
    return decision._replace(
        outcome=outcome,
        rate_estimate=planned.rate_estimate,
        site=decision.site._replace(outlook=changed),
        if_noise=if_noise,
    )


def note_sitemaps(facts: VisitFacts, decision: Decision) -> Decision:
    """Count the request, and remember feeds that a page near the site's entrance names."""
    state = facts.related.knowledge.sitemaps
    if state is None or not isinstance(facts.answer, (Fetched, NotModified)):
        return decision
    state = state._replace(requests=state.requests + 1)
    document = decision.content.document if decision.content is not None else None
    feeds = document.feeds if document is not None else ()
    if document is not None and facts.policy.settings.sitemaps.llms_txt != "never" and facts.page.depth <= FEED_DEPTH:
        others = (alternate.url for alternate in document.alternates)
        feeds = (*feeds, *named_in((*others, *(link.url for link in document.links))))
    if feeds and facts.page.depth <= FEED_DEPTH and len(state.feeds) < MAX_FEEDS:
        name = facts.related.knowledge.site.name
        own = [feed for feed in feeds if site_of(feed) == name]
        state = state._replace(feeds=tuple(dict.fromkeys((*state.feeds, *own)))[:MAX_FEEDS])
    return decision._replace(site=decision.site._replace(sitemaps=state))


JUDGEMENTS: tuple[Judgement, ...] = (
    name_parser_limits,
    name_rendering,
    select_content,
    refer_to_original,
    learn_change,
    find_duplicate,
    stop_at_bad_redirects,
    flag_soft_404,
    analyse,
    note_usage,
    count_hosts,
    judge_links,
    count_visit,
    learn_yield,
    learn_ending,
    request_trap_probe,
    suspect_soft_404,
    pay_credit,
    schedule,
    copies_to_requeue,
    note_sitemaps,
    hold_change,
    drop_rejected,
)
"""Every judgement of a page, in reading order."""
