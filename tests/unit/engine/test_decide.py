"""Every path of a visit as a table: page, answer and what is known give a decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evercrawl.core.change.change_history import SiteChangeHistory
from evercrawl.core.change.held_changes import HeldChange
from evercrawl.core.change.hunk import SnapshotDiff
from evercrawl.core.digest import content_digest
from evercrawl.core.duplicates.minhash import SignatureMatch, text_signature
from evercrawl.core.faults import FAULT_RULES
from evercrawl.core.items import ItemPage
from evercrawl.core.revisit.visit_schedule import SiteModel
from evercrawl.core.sentiment.field_analysers import ItemExtractor
from evercrawl.core.sitemap.sitemap_discovery import SitemapState
from evercrawl.core.traps.not_found import ProbeAnswer, common_message, soft_404_page
from evercrawl.core.traps.trap_state import TrapState
from evercrawl.core.visit.outcome import MIRROR_RECHECK, RECHECK
from evercrawl.engine.apply import visit_row
from evercrawl.engine.decide import JUDGEMENTS, REFUSALS, first_refusal, request_for
from evercrawl.engine.decision import CreditPlan, DuplicateLookup, LinkTarget, NearText, PageKnowledge, Policy
from evercrawl.engine.probes import GONE_RECHECK, learn_login, learn_soft_404, looks_like_not_found
from evercrawl.engine.traps import TRAP_RECHECK
from evercrawl.model.change import Change, ChangeClass
from evercrawl.model.fetch import Fault, FetchResult, Headers, Truncation
from evercrawl.model.page import DuplicateCandidate, Page
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import DiscoverySettings, ScopeSettings, Settings, SitemapSettings, SiteSettings
from evercrawl.model.time import to_us
from tests.unit.engine.visits import (
    HOME,
    HTML,
    NOW,
    NOW_US,
    OTHER_SITE,
    POLICY,
    SITE,
    WORDS,
    body,
    content_of,
    decided,
    failed,
    fetched,
    known_page,
    moved,
    not_modified,
    original,
    page,
    parse_now,
    policy,
    related,
    rules,
    text_of,
)

OLD = body("old")
NOISE = Change(ChangeClass.NOISE, 0.01)


# Before the request


REFUSED: list[tuple[str, Page, PageKnowledge, Reason | None]] = [
    ("allowed", page(), PageKnowledge(rules()), None),
    ("robots.txt not read", page(), PageKnowledge(), Reason.ROBOTS_UNREACHABLE),
    ("robots.txt forbids", page(), PageKnowledge(rules("User-agent: *\nDisallow: /a")), Reason.ROBOTS),
    ("out of scope", page()._replace(url="https://other.test/"), PageKnowledge(rules()), Reason.OUT_OF_SCOPE),
    ("trap", page(), PageKnowledge(rules(), trap=(Reason.TRAP, "endless")), Reason.TRAP),
    ("user rule", page(), PageKnowledge(rules(), trap=(Reason.EXCLUDED, "rule")), Reason.EXCLUDED),
    ("mirror", page(), PageKnowledge(rules(), mirror="known elsewhere"), Reason.MIRROR),
    ("the first wins", page(), PageKnowledge(trap=(Reason.TRAP, "x"), mirror="y"), Reason.ROBOTS_UNREACHABLE),
]


@pytest.mark.parametrize(("name", "visited", "known", "reason"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refusals(name: str, visited: Page, known: PageKnowledge, reason: Reason | None):
    refusal = first_refusal(visited, known, now=NOW, policy=POLICY)
    assert (None if refusal is None else refusal.outcome.reason) is reason
    if refusal is not None:
        assert refusal.answer is None, "no request was sent"
        assert refusal.links == ()


@pytest.mark.parametrize(
    ("known", "outcome", "wait"),
    [
        (PageKnowledge(), Outcome.REJECTED, RECHECK),
        (PageKnowledge(rules(), trap=(Reason.TRAP, "x")), Outcome.REJECTED, TRAP_RECHECK),
        (PageKnowledge(rules(), trap=(Reason.EXCLUDED, "x")), Outcome.REJECTED, RECHECK),
        (PageKnowledge(rules(), mirror="x"), Outcome.DUPLICATE, MIRROR_RECHECK),
    ],
)
def test_a_refused_page_is_checked_again(known: PageKnowledge, outcome: Outcome, wait: timedelta):
    refusal = first_refusal(page(), known, now=NOW, policy=POLICY)
    assert refusal is not None
    assert (refusal.outcome.outcome, refusal.outcome.due_us) == (outcome, to_us(NOW + wait))


def test_validators_are_sent_only_for_content_that_we_hold():
    known = PageKnowledge(rules())
    assert request_for(page(etag='"1"'), known, policy=POLICY).etag is None
    assert request_for(known_page(), known, policy=POLICY).etag == '"1"'
    assert request_for(known_page(), known._replace(is_doubtful=True), policy=POLICY).etag is None
    liar = known._replace(outlook=SiteModel(false_validators=1))
    assert request_for(known_page(), liar, policy=POLICY).etag is None


# Outcomes


OUTCOMES: list[tuple[str, Page, FetchResult, dict[str, Any], Outcome, Reason]] = [
    ("new", page(), fetched(), {}, Outcome.FETCHED, Reason.NEW),
    ("changed", known_page(), fetched(body("new words")), {"before": OLD}, Outcome.FETCHED, Reason.CHANGED),
    ("same bytes", known_page(), fetched(OLD), {}, Outcome.UNCHANGED, Reason.SAME_CONTENT),
    ("same body", page(), fetched(), {"first": original(), "duplicates": DuplicateLookup(is_original_pending=True)},
     Outcome.DUPLICATE, Reason.DUPLICATE),
    ("same body, stored", page(), fetched(), {"first": original(), "duplicates": DuplicateLookup(
        DuplicateCandidate(7, HOME + "original", 1, None, None, None, digest=content_digest(body())))},
     Outcome.DUPLICATE, Reason.DUPLICATE),
    ("original has changed", page(), fetched(), {"first": original(), "duplicates": DuplicateLookup(
        DuplicateCandidate(7, HOME + "original", 2, None, None, None, digest=b"other"))},
     Outcome.FETCHED, Reason.NEW),
    ("too large", page(), fetched(truncated=Truncation.WIRE), {}, Outcome.TRUNCATED, Reason.BODY_TOO_LARGE),
    ("too large decoded", page(), fetched(truncated=Truncation.DECODED), {}, Outcome.TRUNCATED,
     Reason.DECODED_TOO_LARGE),
    ("bomb", page(), fetched(truncated=Truncation.RATIO), {}, Outcome.TRUNCATED, Reason.COMPRESSION_RATIO),
    ("no handler", page(), fetched(b"\0\1", (("Content-Type", "chemical/x-cif"),)), {}, Outcome.FETCHED, Reason.NEW),
    ("304", known_page(), not_modified(), {}, Outcome.UNCHANGED, Reason.NOT_MODIFIED),
    ("unexpected 304", page(), failed(Fault.UNEXPECTED_304, status=304), {}, Outcome.ERROR, Reason.UNEXPECTED_304),
    ("redirect", page(), moved(HOME + "b"), {}, Outcome.FETCHED, Reason.REDIRECT),
    ("redirect out of scope", page(), moved("https://other.test/"), {}, Outcome.REJECTED, Reason.OUT_OF_SCOPE),
    ("redirect to itself", page(), moved(HOME + "a"), {}, Outcome.ERROR, Reason.REDIRECT_LOOP),
    ("redirect back", page(), moved(HOME + "b"), {"is_loop": True}, Outcome.ERROR, Reason.REDIRECT_LOOP),
    ("too many redirects", page(hops=10), moved(HOME + "b"), {}, Outcome.ERROR, Reason.TOO_MANY_REDIRECTS),
    ("forbidden target", page(), moved(HOME + "b"), {"known": PageKnowledge(rules("User-agent: *\nDisallow: /b"))},
     Outcome.REJECTED, Reason.ROBOTS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "visited", "answer", "fields", "outcome", "reason"), OUTCOMES, ids=[row[0] for row in OUTCOMES]
)
def test_outcomes(
    name: str, visited: Page, answer: FetchResult, fields: dict[str, Any], outcome: Outcome, reason: Reason
):
    decision = decided(visited, answer, **fields)
    assert (decision.outcome.outcome, decision.outcome.reason) == (outcome, reason)
    assert decision.answer is answer


NOT_COUNTED = (Fault.WITHHELD, Fault.SIGNED_OUT, Fault.LOGOUT)
"""Faults that are no failed tries of the page: an outpost keeps it back, or the session matters."""


@pytest.mark.parametrize("fault", list(Fault))
def test_each_fault_follows_its_rule(fault: Fault):
    rule = FAULT_RULES[fault]
    decision = decided(page(), failed(fault))
    assert decision.outcome.outcome is rule.outcome
    assert decision.outcome.tries == (0 if fault in NOT_COUNTED else 1)
    first = (*rule.quick, rule.wait)[0]
    expected = None if rule.most_tries == 1 else to_us(NOW + first)
    assert decision.outcome.due_us == expected
    is_given_up = decided(page(tries=rule.most_tries - 1), failed(fault)).outcome.due_us is None
    assert is_given_up == (fault not in NOT_COUNTED)


def test_retry_after_puts_a_page_off():
    answer = failed(Fault.THROTTLED, (("Retry-After", "7200"),), status=429)
    assert decided(page(), answer).outcome.due_us == to_us(NOW + timedelta(hours=2))


def test_a_new_version_is_stored_and_an_old_one_is_not():
    assert decided(page(), fetched()).outcome.is_new_version
    assert decided(known_page(), fetched(body("new words")), before=OLD).outcome.is_new_version
    assert not decided(known_page(), fetched(OLD)).outcome.is_new_version
    assert not decided(known_page(), not_modified()).outcome.is_new_version


def test_noise_is_no_new_version():
    visited, answer = known_page(), fetched(body("12:00"))
    content = related(visited, answer, before=OLD).content
    assert content is not None
    assert content.comparison is not None
    noisy = content._replace(comparison=content.comparison._replace(change=NOISE))
    decision = decided(visited, answer, before=OLD, content=noisy)
    assert decision.outcome.reason is Reason.NOISE
    assert not decision.outcome.is_new_version


def test_the_detail_names_limits_of_the_parser():
    settings = Settings(scope=ScopeSettings(seeds=(HOME,)))
    limited = Settings(scope=settings.scope, parse=type(settings.parse)(max_links=1))
    decision = decided(page(), fetched(body(links=("/b", "/c"))), policy=policy(limited))
    assert ";" in decision.outcome.detail


# Duplicates


def candidate(number: int = 9, **fields: Any) -> DuplicateCandidate:
    return DuplicateCandidate(number, HOME + "other", 1, fields.pop("signature", None), None, None, **fields)


def near(text: str, similarity: float = 0.97, **fields: Any) -> DuplicateLookup:
    """The index proposes page 9, which has this text."""
    signature = text_signature(WORDS)
    other = candidate(signature=text_signature(text), title="Title", **fields)
    return DuplicateLookup(near=NearText(signature, None, SignatureMatch(9, similarity), other))


def test_nearly_the_same_text_makes_a_duplicate():
    decision = decided(page(), fetched(body(WORDS)), duplicates=near(WORDS))
    assert (decision.outcome.reason, decision.duplicate_of) == (Reason.NEAR_DUPLICATE, 9)
    assert decision.near_text is None, "the other page is in the index"


@pytest.mark.parametrize(
    "lookup",
    [near(WORDS, similarity=0.5), near("something else entirely " * 200), near(WORDS)._replace(near=NearText(b""))],
)
def test_a_text_that_no_other_has_is_indexed(lookup: DuplicateLookup):
    lookup = lookup._replace(near=lookup.near._replace(signature=text_signature(WORDS)))
    decision = decided(page(), fetched(body(WORDS)), duplicates=lookup)
    assert decision.outcome.reason is Reason.NEW
    assert decision.near_text is not None


def test_a_canonical_page_that_answers_makes_a_duplicate():
    lookup = DuplicateLookup(canonical=candidate())
    assert decided(page(), fetched(), duplicates=lookup).outcome.reason is Reason.CANONICAL
    gone = DuplicateLookup(canonical=candidate(status=404))
    assert decided(page(), fetched(), duplicates=gone).outcome.reason is Reason.NEW


def test_a_duplicate_is_followed_but_its_links_get_no_credit():
    decision = decided(page(), fetched(body(WORDS, links=("/b",))), duplicates=near(WORDS))
    assert [link.candidate.url for link in decision.links] == [HOME + "b"]
    assert decision.credit == CreditPlan(pays=True, expands=False)


def test_a_duplicate_whose_original_has_changed():
    decision = decided(known_page(duplicate_of=9), fetched(OLD), duplicates=DuplicateLookup(previous=candidate()))
    assert "the page that it duplicated has changed" in decision.outcome.detail
    assert decision.duplicate_of is None


def test_the_duplicates_of_a_changed_page_are_queued():
    copy = page("copy", visits=1)
    changed = decided(known_page(), fetched(body("new words")), before=OLD, copies=[copy])
    assert changed.requeue == (copy,)
    assert decided(known_page(), moved(HOME + "b"), copies=[copy]).requeue == (copy,)
    assert decided(known_page(), failed(Fault.NOT_FOUND, status=404), copies=[copy]).requeue == (copy,)
    assert decided(known_page(), fetched(OLD)).requeue == ()


# Links


def test_links_enter_or_are_refused_with_a_reason():
    answer = fetched(body(links=("/b", "/private", "https://other.test/", "mailto:x@site.test")))
    targets = {SITE.id: LinkTarget(SITE, 5, rules("User-agent: *\nDisallow: /private"))}
    decision = decided(page(), answer, targets=targets)
    entered = [link.candidate.url for link in decision.links if link.refused is None]
    refused = [link.refused[0] for link in decision.links if link.refused is not None]
    assert entered == [HOME + "b"]
    assert refused == [Reason.ROBOTS]
    assert {refusal.reason for refusal in decision.found.refusals} >= {Reason.OUT_OF_SCOPE}


def test_a_full_site_takes_no_more_links():
    full = policy(Settings(scope=ScopeSettings(seeds=(HOME,), max_pages_per_site=6)))
    decision = decided(page(), fetched(body(links=("/b", "/c"))), policy=full)
    assert [link.refused and link.refused[0] for link in decision.links] == [None, Reason.SITE_PAGE_LIMIT]


def test_links_wait_while_robots_txt_is_unreachable():
    record = rules().record._replace(policy="forbid", unreachable_since_us=1, status=None)
    unreachable = type(rules())(record, rules().robots)
    decision = decided(page(), fetched(body(links=("/b",))), targets={SITE.id: LinkTarget(SITE, 5, unreachable)})
    assert unreachable.is_unreachable
    assert decision.links[0].refused is None


def test_links_to_a_blocked_host_are_refused():
    target = LinkTarget(SITE, pages=0, robots=rules(), blocked=(Reason.TRAP, "hosts without end"))
    decision = decided(page(), fetched(body(links=("/b",))), targets={SITE.id: target})
    assert decision.links[0].refused == (Reason.TRAP, "hosts without end")


def test_links_of_other_shards_are_sent():
    answer = fetched(body(links=("/b",)))
    found = related(page(), answer).found
    decision = decided(page(), answer, own=[], others={3: found.candidates})
    assert decision.send == {3: found.candidates}
    assert decision.links == ()


def test_a_redirect_that_is_not_followed_releases_its_target():
    decision = decided(page(hops=10), moved(HOME + "b"))
    assert decision.links == ()
    assert [candidate.url for candidate, _ in decision.release] == [HOME + "b"]


def test_a_seed_that_moved_to_another_host_is_followed():
    settings = Settings(scope=ScopeSettings(seeds=(HOME,)))
    wide = policy(settings)
    wide.scope.add_moved_seed(HOME, OTHER_SITE.name + "/")
    decision = decided(page("", depth=0), moved(OTHER_SITE.name + "/"), policy=wide)
    assert decision.outcome.reason is Reason.REDIRECT
    assert [link.site for link in decision.links] == [OTHER_SITE]


def test_urls_are_discovered_at_the_first_visit():
    settings = Settings(scope=ScopeSettings(seeds=(HOME,)), discovery=DiscoverySettings(parent_folders=2))
    decision = decided(page("x/y/z"), fetched(), policy=policy(settings))
    assert [link.candidate.url for link in decision.links] == [HOME + "x/y/", HOME + "x/"]


# Soft 404


def test_what_a_site_answers_to_unknown_urls_is_flagged_and_not_followed():
    text = "we have no such page " * 20
    answer = fetched(body(text, links=("/b",)))
    content = related(page(), answer).content
    assert content is not None
    assert content.document is not None
    state = TrapState(not_found_pages=(soft_404_page(content.document.text),))
    decision = decided(page(), answer, site={"soft_404": state})
    assert decision.outcome.reason is Reason.SOFT_404
    assert decision.links == ()
    assert [candidate.url for candidate, _ in decision.release] == [HOME + "b"]


def test_a_redirect_to_the_known_home_is_a_soft_404():
    state = TrapState(not_found_redirects=(HOME,))
    decision = decided(page(), moved(HOME), site={"soft_404": state})
    assert decision.outcome.reason is Reason.SOFT_404


ARTICLE = body(WORDS)
APOLOGY = "Sivua a ei ole. Voit luoda sen, jos sinulla on siihen oikeus."
NOINDEX = b'<meta name="robots" content="noindex">'
MESSAGE = "Valitettavasti tuote on loppu."
SIMILAR = body(f"{MESSAGE} {' '.join(f'offer{number}' for number in range(50))}")
MISSING = TrapState(
    not_found_pages=(
        soft_404_page(text_of(body(APOLOGY)), HOME + "a"),
        soft_404_page("", phrases=common_message([ProbeAnswer(200, MESSAGE)], [])),
    )
)
GONE: list[tuple[str, bytes, bytes, dict[str, Any], Outcome, Reason]] = [
    ("the site's answer to any URL", ARTICLE, body(APOLOGY), {"soft_404": MISSING}, Outcome.ERROR, Reason.SOFT_404),
    ("its message with other offers", ARTICLE, SIMILAR, {"soft_404": MISSING}, Outcome.ERROR, Reason.SOFT_404),
    ("says so in known words", ARTICLE, body("This topic was removed."), {"soft_404": TrapState()},
     Outcome.ERROR, Reason.SOFT_404),
    ("lost its text, not probed yet", ARTICLE, body("Hyvästi."),
     {"soft_404": TrapState(), "may_check_gone": True}, Outcome.DEFERRED, Reason.LOST_TEXT),
    ("lost its text, probed", ARTICLE, body("Hyvästi."), {"soft_404": TrapState()}, Outcome.FETCHED, Reason.CHANGED),
    ("lost its text, marked noindex as missing pages are", ARTICLE, NOINDEX + body("Hyvästi."),
     {"soft_404": TrapState(hides_missing=True)}, Outcome.ERROR, Reason.SOFT_404),
    ("lost its text, not marked", ARTICLE, body("Hyvästi."), {"soft_404": TrapState(hides_missing=True)},
     Outcome.FETCHED, Reason.CHANGED),
    ("marked, with a text of its own", ARTICLE, NOINDEX + body("other " * 400),
     {"soft_404": TrapState(hides_missing=True)}, Outcome.FETCHED, Reason.CHANGED),
    ("real pages show the same", ARTICLE, body("This page is unavailable."),
     {"soft_404": TrapState(walls=(soft_404_page("This page is unavailable."),)), "may_check_gone": True},
     Outcome.FETCHED, Reason.CHANGED),
    ("shortened", ARTICLE, body(" ".join(WORDS.split()[:90])), {"soft_404": MISSING},
     Outcome.FETCHED, Reason.CHANGED),
    ("emptied, other message known", ARTICLE, body(""), {"soft_404": MISSING}, Outcome.FETCHED, Reason.CHANGED),
    ("has the message and its text", ARTICLE, body(f"{WORDS} {MESSAGE}"), {"soft_404": MISSING}, Outcome.FETCHED,
     Reason.CHANGED),
    ("was short before", body("Hei."), body("Moi."), {"soft_404": MISSING, "may_check_gone": True}, Outcome.FETCHED,
     Reason.CHANGED),
    ("never had a text", body(APOLOGY), body(APOLOGY + " 1"), {"soft_404": MISSING}, Outcome.FETCHED, Reason.SOFT_404),
]  # fmt: skip


@pytest.mark.parametrize(("name", "before", "after", "site", "outcome", "reason"), GONE, ids=[row[0] for row in GONE])
def test_gone_pages(name: str, before: bytes, after: bytes, site: dict[str, Any], outcome: Outcome, reason: Reason):
    answer = fetched(after)
    document = related(page(), answer).content
    assert document is not None
    assert document.document is not None
    says = looks_like_not_found(known_page(), answer, document.document)
    decision = decided(known_page(), answer, before=before, site=site, says_not_found=says)
    assert (decision.outcome.outcome, decision.outcome.reason) == (outcome, reason)


def test_changes_of_a_feed_are_entries():
    headers: Headers = (("Content-Type", "application/rss+xml"),)
    items = ["<item><title>Old story</title></item>", "<item><title>New story</title></item>"]
    before, after = (f"<rss><channel>{item}</channel></rss>".encode() for item in items)
    decision = decided(known_page(), fetched(after, headers), before=before)
    assert decision.content is not None
    assert decision.content.comparison is not None
    edits = decision.content.comparison.change.edits
    assert [(edit.removed, edit.added) for edit in edits] == [("Old story", "New story")]
    assert all(edit.is_entry for edit in edits)


def test_a_gone_page_keeps_what_is_known_of_it():
    answer = fetched(body(APOLOGY, links=("b",)), (*HTML, ("ETag", '"2"')))
    decision = decided(known_page(), answer, before=ARTICLE, site={"soft_404": MISSING})
    row = visit_row(known_page(), decision, now=NOW)
    assert (row.version, row.change, row.baseline, row.digest, row.etag) == (None,) * 5
    assert decision.links == ()
    assert decision.site.change is None, "the message teaches nothing about the site's pages"
    assert row.due_us is not None, "it is visited again"
    assert decision.outcome.changed
    still = decided(known_page(tries=1), answer, before=ARTICLE, site={"soft_404": MISSING})
    assert not still.outcome.changed, "a page that stays away has not changed"


def test_a_postponed_visit_writes_nothing_and_asks_for_a_probe():
    site = {"soft_404": TrapState(), "may_check_gone": True}
    decision = decided(known_page(), fetched(body("Hyvästi.", links=("b",))), before=ARTICLE, site=site)
    assert decision.suspicion is not None
    assert (decision.suspicion.lost_text or "").startswith("Hyvästi.")
    row = visit_row(known_page(), decision, now=NOW)
    assert (row.version, row.change, row.digest, row.tries) == (None, None, None, 0)
    assert row.due_us == to_us(NOW + GONE_RECHECK)
    assert [candidate.url for candidate, _ in decision.release] == [HOME + "b"]


LOGIN = f"{HOME}login"


@pytest.mark.parametrize(
    ("target", "site", "outcome"),
    [
        (f"{LOGIN}?next=%2Fa", {"may_check_gone": True}, Outcome.DEFERRED),
        (f"{LOGIN}?next=%2Fa", {"soft_404": TrapState(not_found_redirects=(LOGIN,))}, Outcome.ERROR),
        (f"{LOGIN}?next=%2Fa", {}, Outcome.FETCHED),
        (f"{HOME}a/_deleted/", {"may_check_gone": True}, Outcome.DEFERRED),
        (f"{HOME}a/", {"may_check_gone": True}, Outcome.FETCHED),
        (f"{HOME}en/a", {"may_check_gone": True}, Outcome.FETCHED),
    ],
)
def test_a_known_page_that_leads_to_a_login_is_gone(target: str, site: dict[str, object], outcome: Outcome):
    known = known_page()
    decision = decided(known, moved(target), before=ARTICLE, site={"soft_404": TrapState(), **site})
    assert decision.outcome.outcome is outcome
    assert (outcome is Outcome.DEFERRED) is (decision.suspicion is not None and bool(decision.suspicion.redirect))


def test_a_login_is_no_answer_for_missing_pages_if_the_whole_site_asks_for_it():
    login = ProbeAnswer(200, "Sign in with your name and your password.", has_login=True, url=f"{LOGIN}?next=/a")
    real = ProbeAnswer(200, WORDS, url=HOME)
    target = f"{LOGIN}?next=%2Fa"
    assert learn_login(TrapState(), target, login, [real]).not_found_redirects == (LOGIN,)
    for others in ([login._replace(url=HOME)], []):
        assert learn_login(TrapState(), target, login, others) == TrapState()
    assert learn_login(TrapState(), target, real, [real]) == TrapState()


def test_what_real_pages_show_too_is_no_soft_404():
    answers = [(fetched(), ProbeAnswer(200, "Back soon, please try again later.", url=HOME + name)) for name in "xy"]
    shown_too = ProbeAnswer(200, "Back soon, please try again later.", url=HOME)
    real = ProbeAnswer(200, WORDS, url=HOME)
    assert learn_soft_404(TrapState(), answers, [real, shown_too]) == TrapState()
    assert learn_soft_404(TrapState(), answers, [real]).not_found_pages
    wall = [(result, answer._replace(has_login=True)) for result, answer in answers]
    assert learn_soft_404(TrapState(), wall, [real]) == TrapState()
    assert learn_soft_404(TrapState(), wall, [real._replace(has_login=True)]).not_found_pages


def test_an_apology_makes_a_page_suspect():
    decision = decided(page(), fetched(), says_not_found=True)
    assert decision.suspicion is not None
    assert decision.suspicion.says_not_found
    assert decided(page(), fetched()).suspicion is None
    copy = decided(page(), fetched(), first=original(), duplicates=DuplicateLookup(is_original_pending=True))
    assert copy.suspicion is not None
    assert copy.suspicion.is_copy


# Traps


def test_a_first_visit_teaches_about_the_patterns_of_its_url():
    decision = decided(page(), fetched(body(WORDS, links=("/b",))), site={"traps": TrapState()})
    assert decision.site.traps is not None
    assert decision.site.traps.requests == 1


@pytest.mark.parametrize(
    ("visited", "answer", "site"),
    [
        (page(), fetched(), {}),
        (known_page(), fetched(OLD), {"traps": TrapState()}),
        (known_page(), not_modified(), {"traps": TrapState()}),
    ],
)
def test_small_sites_and_revisits_teach_nothing_about_traps(visited: Page, answer: FetchResult, site: dict[str, Any]):
    assert decided(visited, answer, site=site).site.traps is None


# Credit, schedule, change


@pytest.mark.parametrize(
    ("visited", "answer", "plan"),
    [
        (page(), fetched(), CreditPlan(pays=True, expands=True)),
        (page(), moved(HOME + "b"), CreditPlan(pays=True, expands=True)),
        (page(), failed(Fault.GONE, status=410), CreditPlan(pays=True, expands=True)),
        (page(), failed(Fault.TIMEOUT), CreditPlan()),
        (known_page(), not_modified(), CreditPlan()),
    ],
    ids=["fetched", "redirect", "given up", "retry", "304"],
)
def test_a_page_keeps_its_credit_while_its_links_are_not_seen(visited: Page, answer: FetchResult, plan: CreditPlan):
    assert decided(visited, answer).credit == plan


def test_a_seen_page_is_scheduled_and_a_failed_one_is_not():
    seen = decided(page(), fetched())
    assert seen.rate_estimate is not None
    assert seen.outcome.due_us is not None
    assert seen.outcome.due_us > NOW_US
    assert decided(known_page(), not_modified()).rate_estimate is not None
    assert decided(page(), failed(Fault.TIMEOUT)).rate_estimate is None


def test_a_page_is_not_due_while_the_server_calls_it_fresh():
    short = decided(page(), fetched()).outcome.interval_s
    fresh = decided(page(), fetched(headers=(*HTML, ("Cache-Control", "max-age=86400")))).outcome.interval_s
    assert fresh >= min(short, 80_000)


def test_a_wrong_validator_is_counted():
    liar = fetched(body("new words"), (*HTML, ("ETag", '"1"')))
    update = decided(known_page(), liar, before=OLD).site.outlook
    assert update is not None
    assert update.false_validators == 1


def test_the_first_pages_of_a_site_teach_what_they_have_in_common():
    update = decided(page(), fetched()).site.change
    assert update is not None
    assert update.pages == 1
    rested = decided(known_page(), not_modified()).site.change
    assert rested is not None
    assert decided(page(), failed(Fault.TIMEOUT)).site.change is None


def test_feeds_near_the_entrance_are_noted():
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    answer = fetched(b"<html><head>" + feed.encode() + b"</head><body>x</body></html>")
    update = decided(page(), answer, site={"sitemaps": SitemapState()}).site.sitemaps
    assert update is not None
    assert (update.requests, update.feeds) == (1, (HOME + "feed.xml",))
    deep = decided(page(depth=3), answer, site={"sitemaps": SitemapState()}).site.sitemaps
    assert deep is not None
    assert deep.feeds == ()
    assert decided(page(), failed(Fault.TIMEOUT), site={"sitemaps": SitemapState()}).site.sitemaps is None


def test_an_llms_txt_that_a_page_names_is_a_feed():
    answer = fetched(body(links=("/llms.txt", "/other.txt")))
    for wanted, noted in (("named", (HOME + "llms.txt",)), ("never", ())):
        settings = Settings(scope=ScopeSettings(seeds=(HOME,)), sitemaps=SitemapSettings(llms_txt=wanted))
        found = decided(page(), answer, site={"sitemaps": SitemapState()}, policy=policy(settings)).site.sitemaps
        assert found is not None
        assert found.feeds == noted


def test_a_change_waits_for_other_pages_unless_the_visit_was_requested():
    answer = fetched(body("Ten ships"))
    content = content_of(known_page(), answer, before=body("Nine ships"), first=None, policy=POLICY)
    assert content.comparison is not None
    held = HeldChange(0, 0, 2, SnapshotDiff([], []))
    content = content._replace(comparison=content.comparison._replace(site=SiteChangeHistory(pages=9), held=held))
    assert decided(known_page(), answer, content=content).is_held
    assert not decided(known_page(), answer, content=content, is_requested=True).is_held


# Selection


def selecting(**conditions: Any) -> Policy:
    return policy(Settings(scope=ScopeSettings(seeds=(HOME,), **conditions)), language_of=lambda _: "fr")


def test_a_page_that_is_not_kept_leaves_its_links_and_nothing_else():
    answer = fetched(body(WORDS, links=("/b",)), (*HTML, ("ETag", '"2"')))
    unwanted = decided(known_page(), answer, before=body("old"), policy=selecting(languages=("en",)))
    assert (unwanted.outcome.outcome, unwanted.outcome.reason) == (Outcome.REJECTED, Reason.LANGUAGE)
    assert [link.candidate.url for link in unwanted.links] == [HOME + "b"]
    assert unwanted.credit.pays
    row = visit_row(known_page(), unwanted, now=NOW)
    assert (row.version, row.digest, row.etag, row.change) == (None, None, None, None)
    assert not unwanted.is_held
    alone = decided(page(), answer, policy=selecting(languages=("en",), follow_rejected=False))
    assert not alone.links
    assert alone.release


def test_pages_of_a_site_that_counts_more_are_visited_sooner():
    settings = Settings(scope=ScopeSettings(seeds=(HOME,)))
    site = SiteSettings(pattern=HOME, weight=8.0)
    dues = [
        decided(page(), fetched(), policy=policy(replace(settings, sites=sites))).outcome.due_us
        for sites in ((), (site,))
    ]
    assert dues[0] is not None
    assert dues[1] is not None
    assert dues[1] - NOW_US < 0.7 * (dues[0] - NOW_US)


# The tables


def test_every_judgement_and_refusal_says_what_it_does():
    for judge in (*JUDGEMENTS, *REFUSALS):
        assert judge.__doc__, judge


def test_deciding_twice_gives_the_same():
    answer = fetched(body(WORDS, links=("/b",)))
    assert decided(page(), answer) == decided(page(), answer)


def test_a_new_version_notes_what_its_publisher_says_about_use():
    robots = rules("User-agent: *\nContent-Signal: search=yes, ai-train=no")
    answer = fetched(headers=(*HTML, ("TDM-Reservation", "1")))
    found = decided(page(), answer, known=PageKnowledge(robots)).analysis["usage"]
    assert [(one.use, one.is_allowed) for one in found["statements"]] == [
        ("search", True),
        ("ai-train", False),
        ("tdm", False),
    ]
    assert found["statements"][1].source == "robots.txt line 2, Content-Signal: ai-train=no"
    assert decided(page(), fetched()).analysis == {}
    same = known_page(digest=content_digest(body()))
    assert decided(same, fetched(), known=PageKnowledge(robots)).analysis == {}, "only new versions are noted"


def test_the_tdm_file_of_a_site_counts_unless_the_page_says_otherwise():
    state = {"sitemaps": SitemapState(tdmrep='[{"location": "/", "tdm-reservation": 1}]')}
    found = decided(page(), fetched(), site=state).analysis["usage"]["statements"]
    assert [(one.use, one.is_allowed, one.source) for one in found] == [("tdm", False, "tdmrep.json: 1")]
    own = fetched(headers=(*HTML, ("TDM-Reservation", "0")))
    assert [one.is_allowed for one in decided(page(), own, site=state).analysis["usage"]["statements"]] == [True]


def test_items_of_a_new_version_see_what_changed():
    def new_words(page: ItemPage) -> list[dict[str, object]]:
        return [{"added": list(page.added), "title": page.document.title}]

    rules_of_run = policy(analysers=(ItemExtractor(new_words, "new"),))
    before, after = body("The ferry costs 12 euros today."), body("The ferry costs 15 euros today.")
    found = decided(known_page(digest=content_digest(before)), fetched(after), before=before, policy=rules_of_run)
    (item,) = found.analysis["items"]
    assert item["title"] == "Title"
    assert any("15" in text for text in item["added"])


@pytest.mark.parametrize(
    ("kind", "is_text"),
    [("text/calendar", True), ("text/markdown; charset=utf-8", True), ("text/css", False), ("application/json", False)],
)
def test_all_types_of_text_but_code_are_read_as_text(kind: str, is_text: bool) -> None:
    document = parse_now(fetched(b"SUMMARY:Open day", (("Content-Type", kind),)), POLICY)
    assert (document is not None) is is_text
    assert document is None or document.text == "SUMMARY:Open day"
