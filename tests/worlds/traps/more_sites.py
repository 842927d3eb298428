"""More simulated sites with traps: calendars, sessions, cycles, copies, counters, views and soft 404s.

Written after the rules of `core/traps`, to test them on traps they do not know.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from evercrawl.testing.site_plan import hash_number, random_stream
from tests.worlds.traps.sites import HOST, NOT_FOUND, TrapResponse, TrapSite, page, prose, split_url

ARTICLES = 100
LISTED = 10


def _article(number_: int, links: list[str]) -> TrapResponse:
    return page(f"Article {number_}", prose("article", number_), links)


def _index(folder: str = "/article/") -> list[str]:
    return [f"{folder}{number_}" for number_ in range(0, ARTICLES, LISTED)]


def _neighbours(number_: int, folder: str = "/article/") -> list[str]:
    """Return the ten articles linked from each article of the index."""
    first = number_ - number_ % LISTED
    return [f"{folder}{other}" for other in range(first, first + LISTED)]


def _numbered(segments: tuple[str, ...], folder: str = "article") -> int | None:
    is_one = len(segments) == 2 and segments[0] == folder and segments[1].isdigit()
    return int(segments[1]) if is_one and int(segments[1]) < ARTICLES else None


def _article_of(url: str) -> str | None:
    found = _numbered(split_url(url).segments)
    return None if found is None else str(found)


def with_articles(trap: Callable[[str], TrapResponse | None], extra: list[str]) -> TrapSite:
    """Return a site of a hundred articles behind an index, plus the responses of `trap`."""

    def answer(url: str) -> TrapResponse:
        path, segments, query = split_url(url)
        trapped = trap(url)
        if trapped is not None:
            return trapped
        if path == "/" and not query:
            return page("Home", prose("home"), [*_index(), *extra])
        found = _numbered(segments)
        if found is None or query:
            return NOT_FOUND
        return _article(found, ["/", *_neighbours(found), *extra])

    return TrapSite(f"{HOST}/", answer, _article_of, ARTICLES)


def shallow_facets(*, colours: int = 12, sizes: int = 12, brands: int = 12) -> TrapSite:
    """Three facets with many values, one click deep: 2,196 lists of the same hundred articles."""
    facets = {"colour": colours, "size": sizes, "brand": brands}

    def trap(url: str) -> TrapResponse | None:
        path, _, query = split_url(url)
        if path != "/list":
            return None
        chance = random_stream("list", *sorted(query.items()))
        found = sorted(chance.sample(range(ARTICLES), 100 // (1 + 4 * len(query))))
        links = [f"/article/{one}" for one in found]
        for name, values in facets.items():
            chosen = [{**query, name: f"{name}{value}"} for value in range(values)]
            links += ["/list?" + "&".join(f"{k}={v}" for k, v in sorted(one.items())) for one in chosen]
        titles = "</p><p>".join(prose("title", one, count=5) for one in found)
        return page("List " + " ".join(sorted(query.values())), titles, links)

    return with_articles(trap, ["/list"])


def slow_calendar(*, months_with_news: int = 24) -> TrapSite:
    """Endless months in both directions; few of them have an entry."""

    def trap(url: str) -> TrapResponse | None:
        _, segments, _ = split_url(url)
        if len(segments) != 3 or segments[0] != "diary" or not (segments[1] + segments[2]).isdigit():
            return None
        month = int(segments[1]) * 12 + int(segments[2]) - 1
        links = [f"/diary/{other // 12}/{other % 12 + 1:02}" for other in (month - 1, month + 1)]
        is_real = 0 <= month - 2024 * 12 < months_with_news
        body = prose("month", month, count=20) if is_real and month % 2 else "Nothing in this month."
        return page(f"Diary of {segments[2]} {segments[1]}", body, links)

    return with_articles(trap, ["/diary/2025/01"])


def session_in_path() -> TrapSite:
    """A new session in every link, so that each article has endless URLs."""

    def answer(url: str) -> TrapResponse:
        _, segments, _ = split_url(url)
        if not segments:
            session = "5a1e9c0d7b3f2468"
            return page("Home", prose("home"), [f"/{session}{path}" for path in _index()])
        found = _numbered(segments[1:])
        if found is None:
            return NOT_FOUND
        session = f"{hash_number('session', url):016x}"
        return _article(found, [f"/{session}{path}" for path in (*_neighbours(found), *_index())])

    def page_of(url: str) -> str | None:
        found = _numbered(split_url(url).segments[1:])
        return None if found is None else str(found)

    return TrapSite(f"{HOST}/", answer, page_of, ARTICLES)


def session_in_query() -> TrapSite:
    """A new session in every link, in a parameter with a meaningless name."""

    def answer(url: str) -> TrapResponse:
        path, segments, _ = split_url(url)
        token = f"{hash_number('visit', url):012x}"
        if path == "/":
            return page("Home", prose("home"), [f"{one}?k={token}" for one in _index()])
        found = _numbered(segments)
        if found is None:
            return NOT_FOUND
        return _article(found, [f"{one}?k={token}" for one in (*_neighbours(found), *_index())])

    return TrapSite(f"{HOST}/", answer, _article_of, ARTICLES)


def symlink_cycle() -> TrapSite:
    """Folders in which a symbolic link leads back to the top under another name."""
    folders = ("maps", "notes", "files")

    def answer(url: str) -> TrapResponse:
        path, segments, _ = split_url(url)
        inner = [piece for piece in segments if piece not in ("current", "latest", "home")]
        if not inner or (len(inner) == 1 and inner[0] in folders):
            children = list(folders) if not inner else [f"a{one}" for one in range(33)]
            base = path.removesuffix("/") + "/"
            links = [base + name for name in (*children, "current", "latest", "home")]
            return page("Index of " + "".join(inner), prose("index", *inner), links)
        is_file = len(inner) == 2 and inner[0] in folders and inner[1][1:].isdigit()
        return page(inner[1], prose("file", *inner), []) if is_file else NOT_FOUND

    def page_of(url: str) -> str | None:
        inner = [piece for piece in split_url(url).segments if piece not in ("current", "latest", "home")]
        return "/".join(inner) if len(inner) == 2 and inner[0] in folders else None

    return TrapSite(f"{HOST}/", answer, page_of, 3 * 33)


def soft_404_for_everything() -> TrapSite:
    """200 and the same apology, with dead links of its own, for every address that does not exist."""

    def trap(url: str) -> TrapResponse | None:
        path, segments, _ = split_url(url)
        if path == "/" or _numbered(segments) is not None:
            return None
        dead = [f"/old/{hash_number('dead', url, place):x}.html" for place in range(5)]
        return page("Sorry", f"We could not find {path} but you may like these.", ["/", *dead])

    return with_articles(trap, ["/old/news.html", "/old/start.html"])


def endless_counter() -> TrapSite:
    """home?time=101 links to home?time=102, and so on: the infinite series of links of the paper."""

    def trap(url: str) -> TrapResponse | None:
        path, _, query = split_url(url)
        if path != "/home" or not query.get("time", "").isdigit():
            return None
        return page("Time", f"It is now {query['time']}.", [f"/home?time={int(query['time']) + 1}", "/"])

    return with_articles(trap, ["/home?time=101"])


def sort_orders(*, orders: int = 20) -> TrapSite:
    """Lists that can be sorted in twenty ways and two directions, on every page."""

    def trap(url: str) -> TrapResponse | None:
        path, _, query = split_url(url)
        if path != "/all":
            return None
        at = int(query.get("page", "0"))
        shown = list(range(at * LISTED, at * LISTED + LISTED))
        random_stream(query.get("sort", ""), query.get("dir", "")).shuffle(shown)
        ways = [f"page={at}&sort=s{order}&dir={way}" for order in range(orders) for way in ("up", "down")]
        links = [f"/article/{one}" for one in shown] + [f"/all?{way}" for way in ways]
        links += [f"/all?page={other}" for other in range(ARTICLES // LISTED)]
        return page("All", "</p><p>".join(prose("title", one, count=6) for one in shown), links)

    return with_articles(trap, ["/all?page=0"])


def print_views() -> TrapSite:
    """Every article again for printing in three widths, and with a link to mail it."""

    def trap(url: str) -> TrapResponse | None:
        _, segments, query = split_url(url)
        found = _numbered(segments)
        views = [f"?print={width}" for width in ("a4", "letter", "wide")] + ["?mail=yes"]
        if found is None:
            return None
        links = [f"/article/{found}{view}" for view in views]
        return _article(found, links if query else ["/", *_neighbours(found), *links])

    return with_articles(trap, [])


def piled_up_links() -> TrapSite:
    """Relative links on pages that exist under any folder: /topic/x/topic/y/topic/z ..."""

    def trap(url: str) -> TrapResponse | None:
        _, segments, _ = split_url(url)
        if not segments or segments[0] != "topic":
            return None
        topics = [f"topic/t{one}" for one in range(6)]
        base = "/" + "/".join(segments) + "/"
        return page("Topic " + segments[-1], prose("topic", segments[-1]), [base + one for one in topics])

    return with_articles(trap, ["/topic/t0"])


def honest_tags(*, tags: int = 60) -> TrapSite:
    """No trap: sixty tag pages with nothing new, which must all be visited."""

    def trap(url: str) -> TrapResponse | None:
        _, segments, _ = split_url(url)
        if len(segments) != 2 or segments[0] != "tag" or not segments[1][1:].isdigit():
            return None
        shown = [one for one in range(ARTICLES) if hash_number("tag", segments[1], one) % 10 == 0]
        return page("Tag", "</p><p>".join(prose("title", one, count=6) for one in shown), [
            f"/article/{one}" for one in shown
        ])  # fmt: skip

    site = with_articles(trap, [f"/tag/t{one}" for one in range(tags)])

    def page_of(url: str) -> str | None:
        segments = split_url(url).segments
        return url if segments[:1] == ("tag",) else _article_of(url)

    return TrapSite(site.seed, site.answer, page_of, ARTICLES + tags)


def calendar_by_day() -> TrapSite:
    """A calendar by day in a parameter, each day with the whole month, next to real articles."""

    def trap(url: str) -> TrapResponse | None:
        path, _, query = split_url(url)
        if path != "/agenda" or not query.get("on", "").isdigit():
            return None
        day = int(query["on"])
        links = [f"/agenda?on={other}" for other in range(day - 15, day + 16)]
        return page(f"Day {day}", "No entry on this day. " + " ".join(map(str, range(1, 32))), links)

    return with_articles(trap, ["/agenda?on=20000"])


def calendar_by_date(*, days_with_news: int = 60) -> TrapSite:
    """A calendar with steps of a day, a week and a month, and news on some days."""
    home = date(2026, 11, 15)

    def trap(url: str) -> TrapResponse | None:
        path, _, query = split_url(url)
        if path != "/events":
            return None
        try:
            day = date.fromisoformat(query.get("date", home.isoformat()))
        except ValueError:
            return NOT_FOUND
        has_news = abs((day - home).days) < days_with_news and day.day % 9 == 0
        body = prose("event", day, count=40) if has_news else "Nothing on this day."
        steps = (-30, -7, -1, 1, 7, 30)
        return page(f"Day {day}", body, [f"/events?date={day + timedelta(days=step)}" for step in steps])

    return with_articles(trap, ["/events"])


MORE_GENERATORS: dict[str, Callable[[], TrapSite]] = {
    "shallow facets": shallow_facets,
    "slow calendar": slow_calendar,
    "session in path": session_in_path,
    "session in query": session_in_query,
    "symlink cycle": symlink_cycle,
    "soft 404 for everything": soft_404_for_everything,
    "endless counter": endless_counter,
    "sort orders": sort_orders,
    "print views": print_views,
    "piled up links": piled_up_links,
    "honest tags": honest_tags,
    "calendar by day": calendar_by_day,
    "calendar by date": calendar_by_date,
}
