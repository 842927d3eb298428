"""Pages, answers and knowledge for tests of decisions: no store, no clock, no event loop."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from evercrawl.core.digest import content_digest, payload_sha1
from evercrawl.core.duplicates.url_seen import UrlCache
from evercrawl.core.revisit.visit_schedule import BudgetLevel
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots
from evercrawl.core.scope.scope import Scope
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.url import key_of, site_of
from evercrawl.core.visit.links import FoundLinks
from evercrawl.engine.decide import decide
from evercrawl.engine.decision import Content, Decision, LinkTarget, PageKnowledge, Past, Policy, Related, SiteKnowledge
from evercrawl.engine.interpret import compare, links_in, redirect_target, task_of
from evercrawl.engine.parsing import parse_task
from evercrawl.model.document import Document
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Headers, Moved, NotModified
from evercrawl.model.page import Candidate, OriginalRecord, Page
from evercrawl.model.settings import ScopeSettings, Settings
from evercrawl.model.site import RobotsRecord, Site
from evercrawl.model.time import to_us

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW_US = to_us(NOW)
HOME = "https://site.test/"
SITE = Site(1, "https://site.test", "site.test", requests=5)
OTHER_SITE = Site(2, "https://www.site.test", "site.test")
LEVEL = BudgetLevel(0.25, 10.0, 1 / 24, 60.0)
HTML: Headers = (("Content-Type", "text/html"),)
WORDS = " ".join(f"word{number}" for number in range(600))


def page(path: str = "a", **fields: Any) -> Page:
    """Return a page of the site that was never visited, changed by `fields`."""
    url = HOME + path
    defaults: dict[str, Any] = {"depth": 1, "hops": 0, "priority": 1, "seq": 1}
    return Page(id=1, key=key_of(url), url=url, site_id=SITE.id, **{**defaults, **fields})


def known_page(path: str = "a", **fields: Any) -> Page:
    """Return a page of which version 1 is stored."""
    return page(path, **{"version": 1, "visits": 1, "digest": content_digest(body("old")), "etag": '"1"', **fields})


def policy(settings: Settings | None = None, **fields: Any) -> Policy:
    """Return the rules of a run over the site."""
    settings = settings or Settings(scope=ScopeSettings(seeds=(HOME,)))
    return Policy(
        settings,
        Scope(settings.scope, sites=settings.sites),
        TrapFilter(settings.traps),
        "TestBot",
        lambda _: None,
        **fields,
    )


POLICY = policy()


def rules(text: str = "") -> RobotsRules:
    """Return what a robots.txt allows."""
    record = RobotsRecord(0, NOW_US * 2, 200, text.encode(), None, None, "obey", "")
    return compile_robots(record, agent="TestBot")


def body(text: str = "hello", *, links: tuple[str, ...] = (), title: str = "Title") -> bytes:
    """Return an HTML page."""
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<html><head><title>{title}</title></head><body><p>{text}</p>{anchors}</body></html>".encode()


def parse_now(answer: Fetched, policy: Policy) -> Document | None:
    """Return the document in an answer, with its snapshot."""
    return parse_task(task_of(answer, policy, wants_snapshot=True), policy.handler_of)


def text_of(content: bytes) -> str:
    """Return the main text of an HTML page."""
    document = parse_now(fetched(content), POLICY)
    assert document is not None
    return document.text


def exchange(content: bytes = b"") -> Exchange:
    return Exchange(b"GET", b"HTTP/1.1 200 OK\r\n\r\n", content, "192.0.2.1", NOW, timedelta(milliseconds=100))


def fetched(content: bytes | None = None, headers: Headers = HTML, **fields: Any) -> Fetched:
    content = body() if content is None else content
    return Fetched(HOME + "a", 200, headers, content, exchange(content), **fields)


def moved(target: str) -> Moved:
    return Moved(HOME + "a", 301, target, (), exchange())


def not_modified(headers: Headers = ()) -> NotModified:
    return NotModified(HOME + "a", headers, exchange())


def failed(fault: Fault, headers: Headers = (), *, status: int | None = None) -> Failed:
    return Failed(HOME + "a", fault, "it failed", timedelta(seconds=1), status, headers, exchange() if status else None)


def original(page_id: int = 7, url: str = HOME + "original", content: bytes | None = None) -> OriginalRecord:
    return OriginalRecord(page_id, url, 0, b"r" * 16, payload_sha1(body() if content is None else content), "f", 0, 1)


def related(
    page: Page,
    answer: FetchResult,
    *,
    before: bytes | None = None,
    first: OriginalRecord | None = None,
    policy: Policy = POLICY,
    site: dict[str, Any] | None = None,
    **fields: Any,
) -> Related:
    """Return what the store knows about an answer: all links are new, and `before` is the version before."""
    knowledge = SiteKnowledge(SITE, **(site or {}))
    found = FoundLinks()
    if isinstance(answer, Fetched):
        content = content_of(page, answer, before=before, first=first, policy=policy)
        found = links_in(page, content.document, popular=UrlCache(64), now_us=NOW_US, policy=policy)
        fields = {"content": content, **fields}
    elif isinstance(answer, Moved):
        found = redirect_target(page, answer, now_us=NOW_US, policy=policy)
    own = [(candidate, site_for(candidate)) for candidate in found.candidates]
    targets = {one.id: LinkTarget(one, pages=5, robots=rules()) for one in (SITE, OTHER_SITE)}
    return Related(knowledge, LEVEL)._replace(**{"found": found, "own": own, "targets": targets, **fields})


def site_for(candidate: Candidate) -> Site:
    return SITE if site_of(candidate.url) == SITE.name else OTHER_SITE


def content_of(
    page: Page, answer: Fetched, *, before: bytes | None, first: OriginalRecord | None, policy: Policy
) -> Content:
    """Return an answer parsed, and compared with `before`."""
    digest = content_digest(answer.body)
    is_same = page.version > 0 and digest == page.digest
    document = parse_now(answer, policy)
    past = Past(is_same=is_same)
    if before is not None:
        old = parse_now(replace(answer, body=before), policy)
        past = Past(text=old.text if old is not None else None, body=before)
    content = Content(digest, payload_sha1(answer.exchange.wire_body), document, first, past)
    if page.version and not is_same:
        comparison = compare(page, document, answer.body, past, SiteKnowledge(SITE).change, now=NOW, policy=policy)
        content = content._replace(comparison=comparison)
    return content


def decided(page: Page, answer: FetchResult, *, known: PageKnowledge | None = None, **fields: Any) -> Decision:
    """Return the decision about an answer."""
    rules_of_run = fields.get("policy", POLICY)
    known = known or PageKnowledge(rules())
    return decide(page, answer, known, related(page, answer, **fields), now=NOW, policy=rules_of_run)
