"""Simulated sites with traps next to real pages, and honest sites that look like traps.

Written after the rules and the sites of `more_sites.py`, to test both on something new.
"""

from __future__ import annotations

from collections.abc import Callable

from evercrawl.testing.site_plan import hash_number, random_stream
from tests.worlds.traps.more_sites import ARTICLES, with_articles
from tests.worlds.traps.sites import HOST, NOT_FOUND, TrapResponse, TrapSite, page, prose, split_url

ITEMS = 400
VERSIONS = ("1.0", "1.1", "2.0", "2.1")


def facets_in_path() -> TrapSite:
    """/shop/color-red/size-4/…: values of six facets in any order, lists of the same articles."""
    facets = {name: [f"{name}-{value}" for value in range(6)] for name in ("color", "size", "brand", "fit")}

    def trap(url: str) -> TrapResponse | None:
        segments = split_url(url).segments
        if segments[:1] != ("shop",):
            return None
        chosen = segments[1:]
        if not all(any(one in values for values in facets.values()) for one in chosen):
            return NOT_FOUND
        free = [value for name, values in facets.items() for value in values if not _has(chosen, name)]
        shown = random_stream("path", *sorted(chosen)).sample(range(ARTICLES), 20 // (1 + len(chosen)))
        links = [f"/article/{one}" for one in shown] + ["/".join(("/shop", *chosen, value)) for value in free]
        return page("Shop", "</p><p>".join(prose("title", one, count=5) for one in shown), links)

    return with_articles(trap, ["/shop"])


def _has(chosen: tuple[str, ...], facet: str) -> bool:
    return any(one.startswith(facet + "-") for one in chosen)


def endless_pages(*, in_path: bool = False) -> TrapSite:
    """A list that repeats its last page for every further number, always with a link to the next."""

    def trap(url: str) -> TrapResponse | None:
        path, segments, query = split_url(url)
        is_list = segments[:2] == ("news", "page") if in_path else path == "/news"
        text = segments[-1] if in_path and segments else query.get("page", "1")
        if not is_list or not text.isdigit():
            return None
        at = int(text)
        shown = range(min(at, 10) * 10 - 10, min(at, 10) * 10)
        following = f"/news/page/{at + 1}" if in_path else f"/news?page={at + 1}"
        titles = "</p><p>".join(prose("title", one, count=6) for one in shown)
        return page(f"News, page {at}", titles, [*(f"/article/{one}" for one in shown), following])

    return with_articles(trap, ["/news/page/1" if in_path else "/news?page=1"])


def tracked_links() -> TrapSite:
    """Every link has a parameter that is random in every response."""

    def answer(url: str) -> TrapResponse:
        path, segments, query = split_url(url)
        mark = hash_number("mark", url)
        links = [f"/article/{one}?ref={hash_number(mark, one):x}" for one in range(0, ARTICLES, 10)]
        if path == "/":
            return page("Home", prose("home"), links)
        if len(segments) != 2 or segments[0] != "article" or not segments[1].isdigit():
            return NOT_FOUND
        found = int(segments[1])
        if found >= ARTICLES or set(query) - {"ref"}:
            return NOT_FOUND
        near = range(found - found % 10, found - found % 10 + 10)
        links += [f"/article/{one}?ref={hash_number(mark, one, 'n'):x}" for one in near]
        return page(f"Article {found}", prose("article", found), ["/", *links])

    def page_of(url: str) -> str | None:
        segments = split_url(url).segments
        return segments[1] if segments[:1] == ("article",) and len(segments) == 2 else None

    return TrapSite(f"{HOST}/", answer, page_of, ARTICLES)


def relative_loop() -> TrapSite:
    """A server that ignores the path after a page, with relative links on that page."""

    def trap(url: str) -> TrapResponse | None:
        path, segments, _ = split_url(url)
        if segments[:1] != ("guide.php",):
            return None
        base = path.removesuffix("/")
        return page("Guide", prose("guide"), [f"{base}/{name}" for name in ("help", "terms", "imprint", "map")])

    return with_articles(trap, ["/guide.php"])


def share_buttons() -> TrapSite:
    """Each article again for every service to share it with, each with its own number."""

    def trap(url: str) -> TrapResponse | None:
        path, segments, _ = split_url(url)
        if segments[:1] != ("article",) or len(segments) != 2 or not segments[1].isdigit():
            return None
        found = int(segments[1])
        if found >= ARTICLES:
            return NOT_FOUND
        near = [f"/article/{one}" for one in range(found - found % 10, found - found % 10 + 10)]
        ways = [f"{path}?share={name}&nb={hash_number('nb', url, name) % 97}" for name in ("mail", "chat", "wall")]
        return page(f"Article {found}", prose("article", found), [*near, *ways])

    return with_articles(trap, [])


def search_suggestions() -> TrapSite:
    """A search that suggests five further words, with titles of the same articles as results."""

    def trap(url: str) -> TrapResponse | None:
        path, _, query = split_url(url)
        if path != "/find" or not query.get("q"):
            return None
        chance = random_stream("find", query["q"])
        shown = chance.sample(range(ARTICLES), 8)
        more = [f"{query['q']}+{prose('word', chance.randrange(300), count=1)[:-1].lower()}" for _ in range(5)]
        titles = "</p><p>".join(prose("title", one, count=6) for one in shown)
        return page("Results", titles, [f"/find?q={words}" for words in more])

    return with_articles(trap, ["/find?q=news"])


def week_calendar() -> TrapSite:
    """/plan/2026-W46: a plan of every week of every year, nearly all of them empty."""

    def trap(url: str) -> TrapResponse | None:
        segments = split_url(url).segments
        if segments[:1] != ("plan",) or len(segments) != 2 or "-w" not in segments[1].lower():
            return None
        year, week = (int(piece) for piece in segments[1].lower().split("-w"))
        at = year * 52 + week
        body = prose("plan", at, count=40) if at % 7 == 0 and year == 2026 else "Nothing is planned."
        ways = [f"/plan/{step // 52}-W{step % 52:02}" for step in (at - 1, at + 1, at + 52)]
        return page(f"Week {week} of {year}", body, ways)

    return with_articles(trap, ["/plan/2026-W46"])


def honest_archive(*, years: int = 12) -> TrapSite:
    """A newspaper with a page for each month and day of many years, each day with a story."""
    days = [f"/{2005 + at // 360}/{at // 30 % 12 + 1:02}/{at % 30 + 1:02}/" for at in range(years * 360)][:1500]
    places = {path: at for at, path in enumerate(days)}

    def answer(url: str) -> TrapResponse:
        path = split_url(url).path
        if path == "/":
            return page("Archive", prose("archive"), days[:1])
        at = places.get(path)
        if at is None:
            return NOT_FOUND
        return page(f"News of {path}", prose("day", at), days[at + 1 : at + 2])

    return TrapSite(f"{HOST}/", answer, lambda url: url if split_url(url).path in places else None, len(days))


def honest_shop() -> TrapSite:
    """Products that only lists of a shop link to, by category and page, each with its own text."""

    def answer(url: str) -> TrapResponse:
        path, _, query = split_url(url)
        if path == "/":
            return page("Shop", prose("shop"), [f"/list?category={one}&page=0" for one in range(10)])
        if path == "/list" and set(query) == {"category", "page"}:
            kind, at = int(query["category"]), int(query["page"])
            shown = [kind * 40 + at * 5 + one for one in range(5)] if kind < 10 and at < 8 else []
            after = [f"/list?category={kind}&page={at + 1}"] if at < 7 else []
            names = "</p><p>".join(prose("name", one, count=4) for one in shown)
            return page("List", names, [*(f"/product?id={one}" for one in shown), *after])
        found = query.get("id", "")
        if path != "/product" or not found.isdigit() or int(found) >= ITEMS:
            return NOT_FOUND
        same = "Free delivery within three days. Returns are accepted for a month. Ask us anything. " * 3
        return page(f"Product {found}", prose("product", found, count=20) + same, ["/"])

    def page_of(url: str) -> str | None:
        path, _, query = split_url(url)
        return query.get("id") if path == "/product" else None

    return TrapSite(f"{HOST}/", answer, page_of, ITEMS)


def honest_versions(*, pages: int = 200) -> TrapSite:
    """A manual in four versions that differ in a few words; each page links only to the next."""

    def answer(url: str) -> TrapResponse:
        segments = split_url(url).segments
        if not segments:
            return page("Manuals", prose("manuals"), [f"/doc/{version}/page-a0.html" for version in VERSIONS])
        if len(segments) != 3 or segments[1] not in VERSIONS or not segments[2].startswith("page-a"):
            return NOT_FOUND
        at = int(segments[2].removeprefix("page-a").removesuffix(".html"))
        if at >= pages:
            return NOT_FOUND
        text = prose("manual", at) + prose("version", segments[1], at, count=3)
        after = [f"/doc/{segments[1]}/page-a{at + 1}.html"] if at + 1 < pages else []
        return page(f"Page {at}", text, ["/", *after])

    def page_of(url: str) -> str | None:
        segments = split_url(url).segments
        return "/".join(segments) if len(segments) == 3 else None

    return TrapSite(f"{HOST}/", answer, page_of, pages * len(VERSIONS))


def honest_translations(*, pages: int = 120) -> TrapSite:
    """A manual in ten languages: three are translated, the others are copies with dead links."""
    languages = ("en", "de", "fr", "es", "ja", "ko", "pt-br", "tr", "zh-cn", "da")

    def answer(url: str) -> TrapResponse:
        segments = split_url(url).segments
        if not segments:
            return page("Manual", prose("manual"), [f"/manual/{one}/mod0.html" for one in languages])
        if len(segments) != 3 or segments[1] not in languages or not segments[2].startswith("mod"):
            return NOT_FOUND
        at = int(segments[2].removeprefix("mod").removesuffix(".html"))
        if at >= pages:
            return NOT_FOUND
        spoken = segments[1] if segments[1] in languages[:3] else "en"
        links = [f"mod{one}.html" for one in (at + 1, at + 2, at * 2 + 1, at * 2 + 2)]
        return page(f"Module {at}", prose(spoken, at), [*links, f"old{at}.html"])

    def page_of(url: str) -> str | None:
        segments = split_url(url).segments
        return "/".join(segments) if len(segments) == 3 and "mod" in segments[2] else None

    return TrapSite(f"{HOST}/", answer, page_of, pages * len(languages))


MIXED_SITES: dict[str, Callable[[], TrapSite]] = {
    "facets in path": facets_in_path,
    "endless pages": endless_pages,
    "endless pages in path": lambda: endless_pages(in_path=True),
    "tracked links": tracked_links,
    "relative loop": relative_loop,
    "share buttons": share_buttons,
    "search suggestions": search_suggestions,
    "week calendar": week_calendar,
}
HONEST_SITES: dict[str, Callable[[], TrapSite]] = {
    "archive by date": honest_archive,
    "shop": honest_shop,
    "versions": honest_versions,
    "translations": honest_translations,
}
