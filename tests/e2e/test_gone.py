"""Pages that answer 200 although they are gone are reported as gone; honest pages never are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from evercrawl.adapters.sql.log_reader import events_between
from evercrawl.adapters.sql.state_reader import StateReader
from tests.worlds.traps.server import Command, Served, serving
from tests.worlds.traps.sites import HOST, NOT_FOUND, TrapResponse, TrapSite, page, prose

Absent = Callable[[str], TrapResponse]
NAMES = [f"/notes/{name}" for name in ("amber", "birch", "cedar", "delta", "elm", "fig")]
LOST = NAMES[2]


class Site:
    """A site of which single pages, or all of them, can be replaced."""

    def __init__(self, absent: Absent) -> None:
        self.absent = absent
        self.real = {"/": page("Home", prose("home"), NAMES)}
        self.real |= {path: page(path[7:].title(), prose(path), ["/"]) for path in NAMES}
        self.everywhere: TrapResponse | None = None

    def answer(self, url: str) -> TrapResponse:
        path = url.removeprefix(HOST)
        return self.everywhere or self.real.get(path) or self.absent(path)

    def serve(self) -> TrapSite:
        return TrapSite(f"{HOST}/", self.answer, lambda url: None, 0)


_numbers = count()


def _wiki(path: str) -> TrapResponse:
    """A wiki that offers to write the page, in a language without known words."""
    words = "Tätä sivua ei ole vielä olemassa. Voit luoda sen valitsemalla muokkaa, jos sinulla on siihen oikeus."
    return page(path.rpartition("/")[2], words, ["/"])


def _shop(path: str) -> TrapResponse:
    """A shop that shows other products each time, and a sentence without known words."""
    words = f"Det här är tyvärr slutsålt och kommer inte tillbaka. {prose('other', next(_numbers), count=40)}"
    return page("Slutsålt", words, ["/"])


ABSENT: dict[str, Absent] = {
    "wiki": _wiki,
    "shop": _shop,
    "forum in English": lambda path: page("Error", "The requested topic was removed by a moderator.", ["/"]),
}
NOINDEX = '<meta name="robots" content="noindex">'
DELETED: dict[str, tuple[TrapResponse, Absent]] = {
    "another message than for unknown pages": (
        TrapResponse(200, f"{NOINDEX}<main><h1>Cedar</h1><p>Sivu on poistettu. Katso vanhat versiot.</p></main>"),
        lambda path: TrapResponse(200, f"{NOINDEX}<main><p>Tätä sivua ei ole vielä olemassa. Luo se.</p></main>"),
    ),
    "a known message, and 404 for unknown pages": (
        page("Cedar", "This page does not exist anymore. You can look at its old revisions or restore it.", ["/"]),
        lambda path: NOT_FOUND,
    ),
}
HONEST: dict[str, TrapResponse] = {
    "shortened": page("Cedar", " ".join(prose(LOST).split()[:12]), ["/"]),
    "emptied": page("Cedar", "", ["/"]),
    "rewritten": page("Cedar", "We rewrite this note; come back in spring for the new one.", ["/"]),
    "asks for a password": TrapResponse(
        200, "<title>Log in</title><main><h1>Log in</h1><form><input name=u><input type=password></form></main>"
    ),
}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def verdict(command: Command, served: Served, path: str = LOST) -> tuple[str, str]:
    row = command.lines("why", served.origin + path)[0]
    return row["outcome"], row["reason"]


def versions(command: Command, served: Served, path: str = LOST) -> int:
    return len(command.lines("history", served.origin + path))


def events(command: Command, served: Served) -> list[str]:
    """Return what alerts hear of the page, in order."""
    reader, found = StateReader(command.folder / "trapped"), []
    for shard in reader.shards():
        with reader.shard(shard) as state:
            found += events_between(state, shard, 0, state.last_visit_id())
    return [event.kind.value for event in found if event.url == served.origin + LOST]


@pytest.mark.parametrize("absent", ABSENT.values(), ids=ABSENT)
def test_a_page_that_says_200_is_gone_and_comes_back(command: Command, absent: Absent) -> None:
    site = Site(absent)
    with serving(site.serve()) as served:
        command.crawl(served)
        text = site.real.pop(LOST)
        assert command.crawl(served, "--refresh")["gone"] == 1
        assert verdict(command, served) == ("error", "soft_404")
        assert versions(command, served) == 1, "the last text stays the newest version"
        others = [verdict(command, served, path) for path in NAMES if path != LOST]
        assert {reason for _, reason in others} == {"same_content"}
        assert not any(served.origin + LOST in group["pages"] for group in command.lines("changes"))
        assert [row["url"] for row in command.lines("changes", "--gone")] == [served.origin + LOST]
        assert f"gone  1 page\n    {served.origin}{LOST}" in command.call("changes")
        command.crawl(served, "--refresh")
        assert verdict(command, served) == ("error", "soft_404")
        site.real[LOST] = text
        command.crawl(served, "--refresh")
        assert verdict(command, served) == ("unchanged", "same_content")
        assert versions(command, served) == 1
        assert events(command, served) == ["new", "gone", "back"]
        assert [row["kind"] for row in command.lines("changes", "--gone")] == ["back"]
        assert len(command.lines("changes", "--new")) == len(NAMES)


@pytest.mark.parametrize(("deleted", "absent"), DELETED.values(), ids=DELETED)
def test_a_page_with_a_message_of_its_own_is_gone(command: Command, deleted: TrapResponse, absent: Absent) -> None:
    site = Site(absent)
    with serving(site.serve()) as served:
        command.crawl(served)
        site.real[LOST] = deleted
        assert command.crawl(served, "--refresh")["gone"] == 1
        assert verdict(command, served) == ("error", "soft_404")
        assert versions(command, served) == 1


@pytest.mark.parametrize("honest", HONEST.values(), ids=HONEST)
def test_honest_pages_are_not_gone(command: Command, honest: TrapResponse) -> None:
    site = Site(_wiki)
    with serving(site.serve()) as served:
        command.crawl(served)
        site.real[LOST] = honest
        command.crawl(served, "--refresh")
        assert verdict(command, served)[1] == "changed"
        assert versions(command, served) == 2


def test_a_wall_in_front_of_one_part_of_the_site_is_not_the_end_of_its_pages(command: Command) -> None:
    wall = HONEST["asks for a password"]
    site = Site(lambda path: wall if path.startswith("/notes/") else NOT_FOUND)
    with serving(site.serve()) as served:
        command.crawl(served)
        for path in NAMES:
            del site.real[path]
        command.crawl(served, "--refresh")
        assert {verdict(command, served, path)[1] for path in NAMES} <= {"changed", "duplicate"}


def test_pages_that_ignore_their_query_are_not_missing(command: Command) -> None:
    """A topic is shown for every number of a post, also for numbers that do not exist."""
    topic = page("Topic", prose("topic"), ["/"])
    site = Site(lambda path: topic if path.startswith("/topic") else NOT_FOUND)
    posts = [f"/topic?post={number}" for number in range(6)]
    site.real["/"] = page("Home", prose("home"), [*NAMES, "/topic", *posts])
    with serving(site.serve()) as served:
        for refresh in ((), ("--refresh",), ("--refresh",)):
            command.crawl(served, *refresh)
        assert "soft_404" not in {verdict(command, served, path)[1] for path in ("/", "/topic", *posts, *NAMES)}
        assert command.lines("changes", "--gone") == []


@pytest.mark.parametrize(
    "message",
    [
        "Palvelu on hetken poissa käytöstä. Palaa pian takaisin ja yritä uudelleen.",
        "Sorry, this page is unavailable. We are back in a few minutes.",
    ],
)
@pytest.mark.parametrize("absent", [_wiki, lambda path: NOT_FOUND], ids=["200", "404"])
def test_maintenance_deletes_nothing(command: Command, absent: Absent, message: str) -> None:
    site = Site(absent)
    with serving(site.serve()) as served:
        command.crawl(served)
        site.everywhere = page(
            "Huolto", "Palvelu on hetken poissa käytöstä. Palaa pian takaisin ja yritä uudelleen.", []
        )
        assert command.crawl(served, "--refresh")["gone"] == 0
        assert "soft_404" not in {verdict(command, served, path)[1] for path in ("/", *NAMES)}
        site.everywhere = None
        assert command.crawl(served, "--refresh")["gone"] == 0
