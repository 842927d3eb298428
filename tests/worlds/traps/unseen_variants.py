"""More simulated sites written after the rules, and honest sites that look like them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from evercrawl.testing.sim_site import words
from evercrawl.testing.site_plan import hash_number, random_stream
from tests.worlds.traps.sites import HOST, NOT_FOUND, SEED, TrapResponse, TrapSite, page, prose, split_url
from tests.worlds.traps.unseen_sites import token

WORDS = words(SEED)


def _below(text: str, count: int) -> int | None:
    return int(text) if text.isdigit() and int(text) < count else None


def _near(at: int, count: int) -> list[int]:
    """Return the branches of a page and a few other pages."""
    return [place for place in (*range(5 * at + 1, 5 * at + 6), (7 * at + 2) % count, 0) if place < count]


def marked_links(count: int = 150) -> TrapSite:
    """/view?id=N&from=PAGE&pos=K: two parameters say where the link stood, and always change together."""

    def page_of(url: str) -> str | None:
        at = _below(split_url(url).query.get("id", "0"), count)
        return None if at is None else str(at)

    def answer(url: str) -> TrapResponse:
        shown = page_of(url)
        if shown is None or split_url(url).path not in ("/", "/view"):
            return NOT_FOUND
        at = int(shown)
        links = [f"/view?id={to}&from={at}&pos={place}" for place, to in enumerate(_near(at, count))]
        return page(f"Text {at}", prose("marked", at) + prose("always"), links)

    return TrapSite(f"{HOST}/", answer, page_of, count)


def session_in_the_name(count: int = 120) -> TrapSite:
    """/article-12.s8f3k2aa.html: the session is a piece of the segment, and another in each answer."""

    def page_of(url: str) -> str | None:
        name = split_url(url).path[1:] or "article-0."
        at = _below(name.removeprefix("article-").partition(".")[0], count)
        return None if at is None else str(at)

    def answer(url: str) -> TrapResponse:
        shown = page_of(url)
        if shown is None:
            return NOT_FOUND
        at, drawn = int(shown), token(url, length=8, letters="abcdefghijk0123456789")
        return page(f"Text {at}", prose("named", at), [f"/article-{to}.{drawn}.html" for to in _near(at, count)])

    return TrapSite(f"{HOST}/", answer, page_of, count)


def log_in_to_answer(topics: int = 60, posts: int = 15) -> TrapSite:
    """Three links for each of 900 posts lead to the login page."""

    def answer(url: str) -> TrapResponse:
        path, segments, _ = split_url(url)
        if path == "/":
            return page("Topics", prose("home"), [f"/topic/{topic}" for topic in range(topics)])
        if segments[0] == "post":
            return TrapResponse(302, location="/login")
        if path == "/login":
            return page("Log in", "Name and password please.", ["/"])
        topic = _below(segments[-1], topics)
        if segments[0] != "topic" or topic is None:
            return NOT_FOUND
        acts = ("reply", "quote", "report")
        links = [f"/post/{topic * posts + post}/{act}" for post in range(posts) for act in acts]
        return page(f"Topic {topic}", prose("topic", topic, count=200), links)

    return TrapSite(f"{HOST}/", answer, lambda url: url if "/topic/" in url else None, topics)


def snapshots(count: int = 80) -> TrapSite:
    """/archive/20261116093000/doc/12: the site at any time; each snapshot leads to earlier and later ones."""

    def links_of(at: int, base: str) -> list[str]:
        return [f"{base}/doc/{to}" for to in _near(at, count)]

    def answer(url: str) -> TrapResponse:
        segments = split_url(url).segments or ("doc", "0")
        at = _below(segments[-1], count)
        if at is None or segments[-2] != "doc":
            return NOT_FOUND
        if segments[0] == "doc":
            return page(f"Doc {at}", prose("doc", at), [*links_of(at, ""), f"/archive/20261116093000/doc/{at}"])
        try:
            time = datetime.strptime(segments[1], "%Y%m%d%H%M%S")
        except ValueError:
            return NOT_FOUND
        others = [f"{time + timedelta(days=step):%Y%m%d%H%M%S}" for step in (-30, -1, 1, 30)]
        links = [*links_of(at, f"/archive/{segments[1]}"), *(f"/archive/{one}/doc/{at}" for one in others)]
        return page(f"Doc {at}", f"As of {time:%d %B %Y}. " + prose("doc", at), links)

    def page_of(url: str) -> str | None:
        return split_url(url).path if split_url(url).path.startswith("/doc/") else None

    return TrapSite(f"{HOST}/", answer, page_of, count)


def pages_like_this(count: int = 100) -> TrapSite:
    """/similar/12/3: page after page of things like 12, for each of them, with words that are known."""

    def answer(url: str) -> TrapResponse:
        segments = split_url(url).segments or ("doc", "0")
        at = _below(segments[1], count) if len(segments) > 1 else None
        if at is None:
            return NOT_FOUND
        if segments[0] == "doc":
            links = [f"/doc/{to}" for to in _near(at, count)]
            return page(f"Doc {at}", prose("doc", at), [*links, f"/similar/{at}/1"])
        if segments[0] != "similar" or not segments[-1].isdigit():
            return NOT_FOUND
        shown = [hash_number(SEED, "similar", url, place) % count for place in range(5)]
        firsts = ". ".join(" ".join(prose("doc", one).split()[:14]) for one in shown)
        more = [f"/similar/{at}/{int(segments[-1]) + 1}", *(f"/similar/{one}/1" for one in shown)]
        return page(f"Like {at}", firsts, [*(f"/doc/{one}" for one in shown), *more])

    return TrapSite(f"{HOST}/", answer, lambda url: url if "/doc/" in url else None, count)


UNSEEN: dict[str, Callable[[], TrapSite]] = {
    "marks that change together": marked_links,
    "session in the name": session_in_the_name,
    "log in to answer": log_in_to_answer,
    "snapshots": snapshots,
    "pages like this": pages_like_this,
}


def doors_by_redirect(count: int = 240) -> TrapSite:
    """/go/N leads to a page: some pages are linked anyway, others stand nowhere else."""

    def answer(url: str) -> TrapResponse:
        path, segments, _ = split_url(url)
        if path == "/":
            linked = [f"/page/{at}" for at in range(count // 2)]
            return page("Home", prose("home"), [*linked, *(f"/list/{part}" for part in range(6))])
        at = _below(segments[-1], count)
        if at is None:
            return NOT_FOUND
        if segments[0] == "go":
            return TrapResponse(302, location=f"/page/{at}")
        if segments[0] == "list":
            return page(f"List {at}", "Doors", [f"/go/{one}" for one in range(at * 40, at * 40 + 40)])
        return page(f"Page {at}", prose("page", at), [])

    return TrapSite(f"{HOST}/", answer, lambda url: url if "/page/" in url else None, count)


def regional_editions(count: int = 80) -> TrapSite:
    """Six editions of a newspaper: four stories in five are the same in all of them."""
    towns = random_stream(SEED, "towns").sample([word for word in WORDS if len(word) > 5], 6)

    def answer(url: str) -> TrapResponse:
        path, segments, _ = split_url(url)
        if path == "/":
            return page("News", prose("home"), [f"/{town}/story-0" for town in towns])
        at = _below(segments[-1].removeprefix("story-"), count)
        if segments[0] not in towns or at is None:
            return NOT_FOUND
        own = segments[0] if at % 5 == 4 else ""
        return page(f"Story {at}", prose(own, at), [f"/{segments[0]}/story-{to}" for to in _near(at, count)])

    return TrapSite(f"{HOST}/", answer, lambda url: url if "/story-" in url else None, 6 * count)


HONEST: dict[str, Callable[[], TrapSite]] = {
    "doors by redirect": doors_by_redirect,
    "regional editions": regional_editions,
}
