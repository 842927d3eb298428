"""Simulated sites with traps written after the rules, and honest sites that look like them."""

from __future__ import annotations

from collections.abc import Callable

from evercrawl.testing.sim_site import words
from evercrawl.testing.site_plan import hash_number, random_stream
from tests.worlds.traps.sites import HOST, NOT_FOUND, SEED, TrapResponse, TrapSite, page, prose, split_url

Extra = Callable[[str], TrapResponse | None]
WORDS = words(SEED)[:12]


def token(*names: object, length: int, letters: str) -> str:
    """Return random letters, the same for the same names."""
    return "".join(random_stream(SEED, "token", *names).choices(letters, k=length))


def articles(count: int, extra: Extra, doors: list[str]) -> TrapSite:
    """Return a site of pages in a ring with short cuts, plus the responses of `extra`."""
    names = [f"/article/{WORDS[place % 12]}-{place}" for place in range(count)]
    of = {name: place for place, name in enumerate(names)}

    def answer(url: str) -> TrapResponse:
        path = split_url(url).path
        if path == "/":
            return page("Home", prose("home"), [*names[::10], *doors])
        if path in of and "?" not in url:
            at = of[path]
            return page(path, prose("article", at), [names[(at + step) % count] for step in (1, 7)])
        return extra(url) or NOT_FOUND

    return TrapSite(f"{HOST}/", answer, lambda url: split_url(url).path if split_url(url).path in of else None, count)


def session(length: int, letters: str, *, for_each_link: bool, count: int = 80) -> TrapSite:
    """The first path segment is a session, new for each link or for each response."""

    def inner(url: str) -> int | None:
        segments = split_url(url).segments
        if not segments:
            return 0
        last = segments[-1].removeprefix("doc-")
        return int(last) if last.isdigit() and int(last) < count else None

    def answer(url: str) -> TrapResponse:
        at = inner(url)
        if at is None:
            return NOT_FOUND
        near = [place for place in (4 * at + 1, 4 * at + 2, 4 * at + 3, 4 * at + 4, at - 1) if 0 <= place < count]
        drawn = [token(url, place if for_each_link else 0, length=length, letters=letters) for place in near]
        links = [f"/{one}/doc-{place}" for one, place in zip(drawn, near, strict=True)]
        return page(f"Document {at}", prose("doc", at), links)

    def page_of(url: str) -> str | None:
        at = inner(url)
        return None if at is None else str(at)

    return TrapSite(f"{HOST}/", answer, page_of, count)


def slow_calendar() -> TrapSite:
    """Months by name; a third of the text of each is unique."""
    months = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

    def extra(url: str) -> TrapResponse | None:
        segments = split_url(url).segments
        if segments[0] != "whatson" or len(segments) != 3 or not segments[1].isdigit():
            return None
        if segments[2] not in months:
            return None
        at = int(segments[1]) * 12 + months.index(segments[2])
        links = [f"/whatson/{month // 12}/{months[month % 12]}" for month in (at - 1, at + 1)]
        return page("What is on", prose("month", at, count=12) + prose("always", count=25), links)

    return articles(70, extra, ["/whatson/2025/mar"])


def weeks_in_rooms() -> TrapSite:
    """Weeks of twelve rooms: the number of URLs grows in bursts."""

    def extra(url: str) -> TrapResponse | None:
        segments = split_url(url).segments
        if segments[0] != "rota" or len(segments) != 3 or segments[1] not in WORDS:
            return None
        year, _, week = segments[2].partition("-W")
        if not (year.isdigit() and week.isdigit() and 1 <= int(week) <= 52):
            return None
        at = int(year) * 52 + int(week) - 1
        near = [f"/rota/{segments[1]}/{one // 52}-W{one % 52 + 1:02}" for one in (at - 1, at + 1)]
        text = prose(segments[1], at, count=8) + prose("rota", count=25)
        return page("Rota", text, [*near, *(f"/rota/{room}/{segments[2]}" for room in WORDS)])

    return articles(70, extra, [f"/rota/{WORDS[0]}/2025-W12"])


def suggestions_for_the_missing() -> TrapSite:
    """A dead link shows an apology and new suggestions that are dead too."""

    def extra(url: str) -> TrapResponse | None:
        path = split_url(url).path
        if not path.startswith("/article/"):
            return None
        links = [f"/article/{WORDS[one]}-{hash_number(path, one) % 10**6 + 1000}" for one in range(5)]
        return page("Oops", f"We could not find this page. {prose('like', path, count=20)}", links)

    return articles(80, extra, [f"/article/gone-{one}" for one in range(5)])


def growing_query(count: int = 60) -> TrapSite:
    """Each link adds to the query of the request."""

    def answer(url: str) -> TrapResponse:
        path, segments, _ = split_url(url)
        if path != "/" and not (segments[-1].isdigit() and int(segments[-1]) < count):
            return NOT_FOUND
        at = int(segments[-1]) if segments else 0
        query = (url.partition("?")[2] + f"&ref={at}").removeprefix("&")
        links = [f"/page/{(2 * at + step) % count}?{query}" for step in (1, 2, 9)]
        return page(f"Page {at}", prose("grown", at), links)

    def page_of(url: str) -> str | None:
        return (split_url(url).segments or ("", "0"))[-1]

    return TrapSite(f"{HOST}/", answer, page_of, count)


def joined_tags(count: int = 100) -> TrapSite:
    """/tag/a/b/c in any order: every list offers one tag more."""
    of = [set(random_stream(SEED, "tags", post).sample(WORDS, 4)) for post in range(count)]

    def answer(url: str) -> TrapResponse:
        path, segments, _ = split_url(url)
        if path == "/":
            return page("Home", prose("home"), [f"/tag/{tag}" for tag in WORDS])
        if segments[0] == "post" and segments[-1].isdigit() and int(segments[-1]) < count:
            at = int(segments[-1])
            return page(f"Post {at}", prose("post", at), [f"/tag/{tag}" for tag in sorted(of[at])])
        chosen = segments[1:]
        if segments[0] != "tag" or not set(chosen) <= set(WORDS):
            return NOT_FOUND
        posts = [f"/post/{at}" for at in range(count) if set(chosen) <= of[at]]
        more = [f"{path}/{tag}" for tag in WORDS if tag not in chosen]
        return page("Tagged " + " and ".join(chosen), f"{len(posts)} posts", [*posts, *more])

    return TrapSite(f"{HOST}/", answer, lambda url: url if "/post/" in url else None, count)


def endless_hosts(count: int = 60) -> TrapSite:
    """Every page links to new hosts; the real pages are on one of them."""

    def answer(url: str) -> TrapResponse:
        host, segments = url.split("/")[2], split_url(url).segments
        others = [f"http://{token(url, one, length=7, letters='abcdefghij')}.trapped.test/" for one in range(3)]
        if host != "www.trapped.test":
            return page(host, prose(host, *segments, count=15), ["/about", *others])
        at = int(segments[-1]) if segments and segments[-1].isdigit() else 0
        links = [f"/page/{(2 * at + step) % count}" for step in (1, 2)]
        return page(f"Page {at}", prose("www", at), [*links, *others])

    def page_of(url: str) -> str | None:
        is_real = url.startswith("http://www.trapped.test/page/")
        return split_url(url).segments[-1] if is_real else None

    return TrapSite("http://www.trapped.test/", answer, page_of, count)


LOWER = "abcdefghijklmnopqrstuvwxyz"
UNSEEN: dict[str, Callable[[], TrapSite]] = {
    "session of 7 letters": lambda: session(7, "bcdfghjklmnpqrstvwxz", for_each_link=True),
    "session of 10 digits": lambda: session(10, "123456789", for_each_link=True),
    "session of 4 characters for each answer": lambda: session(4, LOWER + "0123456789", for_each_link=False),
    "session of 32 characters for each answer": lambda: session(32, "0123456789abcdef", for_each_link=False),
    "slow calendar by names": slow_calendar,
    "weeks in rooms": weeks_in_rooms,
    "suggestions for the missing": suggestions_for_the_missing,
    "growing query": growing_query,
    "joined tags": joined_tags,
    "endless hosts": endless_hosts,
}


def lists_of_links(topics: int = 300) -> TrapSite:
    """Lists without text that link to new pages: `start=` must not be taken for irrelevant."""

    def answer(url: str) -> TrapResponse:
        path, _, query = split_url(url)
        start, board = int(query.get("start", "0")), int(query.get("f", "0"))
        if path == "/":
            return page("Boards", prose("home"), [f"/board?f={one}" for one in range(6)])
        if path == "/topic" and int(query.get("t", "999")) < topics:
            return page("Topic", prose("topic", query["t"]), [f"/board?f={int(query['t']) // 50}"])
        if path != "/board" or board > 5 or start > 40:
            return NOT_FOUND
        shown = [f"/topic?t={board * 50 + start + one}" for one in range(10)]
        more = [f"/board?f={board}&start={start + 10}"] if start < 40 else []
        return page(f"Board {board}", "Topics", [*shown, *more])

    return TrapSite(f"{HOST}/", answer, lambda url: split_url(url).query.get("t"), topics)


def many_honest_hosts(count: int = 90) -> TrapSite:
    """Departments with one host each; each links to three others and the next."""

    def answer(url: str) -> TrapResponse:
        name = url.split("/")[2].partition(".")[0]
        at = int(name[1:]) if name != "www" else 0
        near = [*random_stream(SEED, "hosts", at).sample(range(count), 3), (at + 1) % count]
        links = [f"http://d{one}.trapped.test/" for one in near]
        return page(name, prose("host", name, split_url(url).path), [*links, "/about"])

    def page_of(url: str) -> str | None:
        host = url.split("/")[2]
        return host if host.startswith("d") else None

    return TrapSite("http://www.trapped.test/", answer, page_of, count)


HONEST: dict[str, Callable[[], TrapSite]] = {"lists of links": lists_of_links, "many hosts": many_honest_hosts}
