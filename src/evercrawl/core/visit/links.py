"""The URLs that a document leads to, and which of them may enter the queue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from evercrawl.core.duplicates.url_seen import UrlCache
from evercrawl.core.scope.scope import NO_ANSWERS, Scope
from evercrawl.core.url import MAX_URL_CHARS, canonical_of_href, key_of, without_user
from evercrawl.model.document import Document
from evercrawl.model.page import Candidate, Page, Refusal
from evercrawl.model.reason import REASON_TEXT, Reason

MAX_REFUSED_CHARS = 2048  # Only this much of a refused URL is stored.


@dataclass(slots=True)
class FoundLinks:
    """Links of one document: candidates for the queue, and refusals with their reasons."""

    candidates: list[Candidate] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    recent: list[str] = field(default_factory=list)  # Links that were found lately: known pages, or refused URLs.
    refused_embeds: int = 0  # Refused images, styles and scripts: they are no links, and get no credit.


def links_of_document(
    document: Document, page: Page, *, scope: Scope, popular: UrlCache, most_hops: int, now_us: int
) -> FoundLinks:
    """Return the links of a document that were not found lately, checked by the scope."""
    found = FoundLinks()
    hit = popular.hit
    ignores_nofollow = scope.follows_nofollow
    page_nofollow = document.robots.nofollow and not ignores_nofollow
    refresh = document.refresh.url if document.refresh is not None else None
    add_recent = found.recent.append
    for url, nofollow in _document_urls(document):
        if hit(url):
            add_recent(url)
            continue
        if url == refresh:
            continue
        if page_nofollow or (nofollow and not ignores_nofollow):
            # Not cached as found: another page may link to it without nofollow.
            refused = (Reason.NOFOLLOW, REASON_TEXT[Reason.NOFOLLOW])
            found.refusals.append(_refusal(url, refused, page.url, page.depth + 1, now_us))
            continue
        popular.add(url)
        add_url(found, url, depth=page.depth + 1, hops=0, parent=page, scope=scope, now_us=now_us)
    for url in document.embeds:
        if hit(url):
            continue
        before = len(found.refusals)
        if page_nofollow:
            refused = (Reason.NOFOLLOW, REASON_TEXT[Reason.NOFOLLOW])
            found.refusals.append(_refusal(url, refused, page.url, page.depth + 1, now_us))
        else:
            popular.add(url)
            add_url(found, url, depth=page.depth + 1, hops=0, parent=page, scope=scope, now_us=now_us, is_embed=True)
        found.refused_embeds += len(found.refusals) - before
    if refresh is not None:
        _judge_refresh(found, refresh, page, scope=scope, most_hops=most_hops, now_us=now_us)
    return found


def _judge_refresh(found: FoundLinks, url: str, page: Page, *, scope: Scope, most_hops: int, now_us: int) -> None:
    """Treat a refresh as a redirect, even if a link leads to the same place."""
    if page.hops >= most_hops:
        detail = f"after {page.hops} redirects in a row a refresh is not followed"
        refused = (Reason.TOO_MANY_REDIRECTS, detail)
        found.refusals.append(_refusal(url, refused, page.url, page.depth, now_us))
        return
    add_url(found, url, depth=page.depth, hops=page.hops + 1, parent=page, scope=scope, now_us=now_us)


def _document_urls(document: Document) -> Iterator[tuple[str, bool]]:
    for link in document.links:
        yield link.url, link.nofollow
    if document.canonical is not None:
        yield document.canonical, False
    for alternate in document.alternates:
        if alternate.hreflang is not None:
            yield alternate.url, False


def add_url(
    found: FoundLinks,
    url: str,
    *,
    depth: int,
    hops: int,
    parent: Page | None,
    scope: Scope,
    now_us: int,
    is_embed: bool = False,
) -> tuple[Reason, str] | None:
    """Add one URL as a candidate or as a refusal; return the reason of a refusal.
    The ending of a link is judged later, by what is known about its site; that of an image or a script says enough."""
    parent_url, parent_id = (parent.url, parent.id) if parent is not None else (None, None)
    canonical = canonical_of_href(without_user(url), scope.schemes)
    if canonical is None:
        refused = _not_a_page(url)
        found.refusals.append(_refusal(url, refused, parent_url, depth, now_us))
        return refused
    answers = NO_ANSWERS if is_embed else None
    verdict = scope.verdict(canonical, depth=depth, hops=hops, is_seed=parent is None, answers=answers)
    if verdict is None:
        found.candidates.append(Candidate(canonical, key_of(canonical), depth, hops, parent_url, parent_id))
    else:
        reason, detail = verdict
        stored = canonical[:MAX_REFUSED_CHARS]
        found.refusals.append(Refusal(refusal_key(stored), stored, reason, detail, parent_url, now_us, depth))
    return verdict


def _not_a_page(url: str) -> tuple[Reason, str]:
    scheme, colon, _ = url.partition(":")
    if colon and scheme not in ("http", "https"):
        return Reason.UNSUPPORTED_SCHEME, f"{scheme}: {REASON_TEXT[Reason.UNSUPPORTED_SCHEME]}"
    if len(url) > MAX_URL_CHARS:
        return Reason.URL_TOO_LONG, f"{len(url)} characters, at most {MAX_URL_CHARS}"
    return Reason.INVALID_URL, REASON_TEXT[Reason.INVALID_URL]


def _refusal(url: str, refused: tuple[Reason, str], parent: str | None, depth: int, now_us: int) -> Refusal:
    reason, detail = refused
    url = without_user(url)
    return Refusal(refusal_key(url), url[:MAX_REFUSED_CHARS], reason, detail, parent, now_us, depth)


def refusal_key(url: str) -> bytes:
    """Return the key of a refused URL, which need not be canonical; a long one is cut first."""
    url = url[:MAX_REFUSED_CHARS]
    return key_of(url) if url.startswith(("http://", "https://")) and "/" in url[8:] else key_of("x://x/" + url)


MAX_PARENTS = 10
MAX_NEIGHBOURS = 10
MAX_NUMBER_DIGITS = 12  # Longer numbers are not counted up.

_LAST_NUMBER = re.compile(r"\d+(?=\D*\Z)")


def parent_urls(url: str, most: int) -> list[str]:
    """Return the folders above a page, the nearest first."""
    start = url.index("/", url.index("//") + 2)
    path = url[start:].partition("?")[0]
    pieces = path.removesuffix("/").split("/")
    folders = ["/".join(pieces[:count]) + "/" for count in range(len(pieces) - 1, 0, -1)]
    if "?" in url:
        folders.insert(0, path)
    return [url[:start] + folder for folder in folders[: min(most, MAX_PARENTS)]]


def numbered_neighbours(url: str, most: int) -> list[str]:
    """Return the same URL with numbers near its last one, the nearest first; leading zeros stay."""
    start = url.index("/", url.index("//") + 2)
    found = _LAST_NUMBER.search(url, start)
    if found is None or len(found[0]) > MAX_NUMBER_DIGITS:
        return []
    width = len(found[0]) if found[0].startswith("0") else 0
    at = int(found[0])
    near = [other for step in range(1, min(most, MAX_NEIGHBOURS) + 1) for other in (at - step, at + step)]
    return [f"{url[: found.start()]}{other:0{width}}{url[found.end() :]}" for other in near if other >= 0]


_SHARE_FIELDS = 2
_LAMBDA = ""  # Stands for the Lambda page in place of a URL.


class LinkBatchContents(NamedTuple):
    """Links with their credit, credit for known pages by URL, and credit for the Lambda page."""

    candidates: list[Candidate]
    shares: dict[str, int]
    grant: int = 0

    @property
    def credit(self) -> int:
        """All credit in the batch."""
        return self.grant + sum(self.shares.values()) + sum(c.credit or 0 for c in self.candidates)


def pack_links(candidates: Sequence[Candidate], *, shares: Mapping[str, int] | None = None, grant: int = 0) -> bytes:
    """Pack links and credit. Keys follow from the URLs; parent numbers mean nothing in another shard."""
    rows: list[list[object]] = [[c.url, c.depth, c.hops, c.parent, c.credit] for c in candidates]
    rows += [[url, amount] for url, amount in (shares or {}).items()]
    if grant:
        rows.append([_LAMBDA, grant])
    return orjson.dumps(rows)


def chain_batch(links: bytes, after: int) -> bytes:
    """Return a batch that is received only after the batch `after` of the same sender; 0: after none."""
    return b"%d:%b" % (after, links)


def chain_of(links: bytes) -> int:
    """Return the number of the batch that must be received first; 0 if there is none."""
    after, colon, _ = links.partition(b":")
    return int(after) if colon and after.isdigit() else 0


def unpack_links(links: bytes) -> LinkBatchContents:
    """Unpack links and credit."""
    before, _, body = links.partition(b":")
    links = body if before.isdigit() else links
    contents = LinkBatchContents([], {})
    grant = 0
    for url, *rest in orjson.loads(links):
        if len(rest) + 1 > _SHARE_FIELDS:
            depth, hops, parent, *credit = rest
            candidate = Candidate(url, key_of(url), depth, hops, parent, None, *credit)
            contents.candidates.append(candidate)
        elif url == _LAMBDA:
            grant += rest[0]
        else:
            contents.shares[url] = contents.shares.get(url, 0) + rest[0]
    return contents._replace(grant=grant)
