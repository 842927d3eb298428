"""Duplicates on real sockets: `why` names them, their links are followed, and a mirrored site is not crawled again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evercrawl.model.reason import Outcome, Reason
from tests.worlds.hostile.command import Command
from tests.worlds.hostile.servers import answer_of
from tests.worlds.hostile.sites import Respond, SiteRequest, Web, bytes_for, html, web

AT_ONCE = ("--pace", "own", "--gap", "0.02")
PAGES = 80


def text_of(topic: str, words: int = 700) -> str:
    return " ".join(f"{topic}{number * 7919 % 1009}" for number in range(words))


def page_of(path: str) -> str:
    """A site with an article in two forms, and a page under two addresses."""
    article = text_of("word")
    pages = {
        "/": '<a href="/article">a</a><a href="/print/article">p</a><a href="/shop">s</a>',
        "/article": f"<main><h1>News</h1><p>{article}</p></main>",
        "/print/article": f'<main><h1>News</h1><p>{article} printed</p></main><a href="/archive">more</a>',
        "/shop": f'<main><p>{text_of("thing")}</p></main><a href="/shop?ref=home">again</a>',
        "/shop?ref=home": f'<link rel=canonical href="/shop"><main><p>{text_of("thing", 690)}</p></main>',
        "/archive": "<main><p>old news</p></main>",
    }
    title = "News, to print" if "print" in path else "News" if "article" in path else path
    return f"<!doctype html><title>{title}</title>{pages[path]}"


def small_site(sites: Web) -> str:
    respond = bytes_for(lambda asked: html(page_of(asked.path)))
    return sites.add("news", respond).url()


def copied(delay_s: float) -> Respond:
    """One of several hosts that hold the same pages."""

    async def respond(asked: SiteRequest, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(delay_s)
        is_there = asked.path in ("/", *(f"/p/{number}" for number in range(PAGES)))
        writer.write(answer_of({"body": copied_page(asked.path)} if is_there else {"status": 404, "body": "no"}))
        await writer.drain()
        return True

    return respond


def copied_page(path: str) -> str:
    number = int(path.removeprefix("/p/")) if path.startswith("/p/") else 0
    links = "".join(f'<a href="/p/{link}">x</a>' for link in range(number + 1, number + 4) if link < PAGES)
    return f"<!doctype html><title>{number}</title><main><p>{text_of(f'n{number}x', 120)}</p></main>{links}"


def test_duplicates_are_reported_and_their_links_are_followed(tmp_path: Path) -> None:
    with web() as sites:
        home = small_site(sites)
        command = Command(tmp_path, {"dns.servers": sites.name_server, "sitemaps.enabled": "false"})
        ran = command.crawl(home, *AT_ONCE)
        assert ran.code == 0, ran.err
        article, printed = command.why(home + "article"), command.why(home + "print/article")
        (copy,) = [found for found in (article, printed) if found.outcome is Outcome.DUPLICATE]
        (original,) = [found for found in (article, printed) if found is not copy]
        assert copy.reason is Reason.NEAR_DUPLICATE
        assert copy.duplicate_of == original.url
        assert original.url in copy.detail
        named = command.why(home + "shop?ref=home")
        assert (named.reason, named.duplicate_of) == (Reason.CANONICAL, home + "shop")
        assert command.why(home + "archive").outcome is Outcome.FETCHED


def test_a_mirror_is_not_crawled_again(tmp_path: Path) -> None:
    with web() as sites:
        site = sites.add("docs", copied(0.0))
        mirror = sites.add("www", copied(0.12), host="www.docs.test")
        command = Command(tmp_path, {"dns.servers": sites.name_server, "sitemaps.enabled": "false"})
        ran = command.crawl(site.url("/p/0"), mirror.url("/p/0"), *AT_ONCE)
        assert ran.code == 0, ran.err
        assert set(site.paths()) >= {f"/p/{number}" for number in range(PAGES)}
        assert len(mirror.paths()) < PAGES * 0.6
        kept_back = next(f"/p/{number}" for number in range(PAGES) if f"/p/{number}" not in mirror.paths())
        found = command.why(mirror.url(kept_back))
        if found.known:
            assert (found.outcome, found.reason) == (Outcome.DUPLICATE, Reason.MIRROR)
            assert site.url(kept_back) in found.detail
