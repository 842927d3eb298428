"""Servers that return 200 or redirect home for missing pages are detected by probes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.worlds.traps.server import Command, Served, serving
from tests.worlds.traps.sites import HOST, NOT_FOUND, TrapResponse, TrapSite, page, prose

HOME = page("Home", prose("home"), ["/about", *(f"/gone/{number}" for number in range(6))])
ABOUT = page("About", prose("about"), ["/"])
REAL = {"/": HOME, "/about": ABOUT}


def site(absent: Callable[[str], TrapResponse], *, real: dict[str, TrapResponse] = REAL) -> TrapSite:
    def answer(url: str) -> TrapResponse:
        path = url.removeprefix(HOST)
        return real.get(path) or absent(path)

    return TrapSite(f"{HOST}/", answer, lambda url: url if url.removeprefix(HOST) in REAL else None, len(REAL))


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def reasons(command: Command, served: Served, *paths: str) -> list[tuple[str, str]]:
    found = [command.lines("why", served.origin + path)[0] for path in paths]
    return [(row["outcome"], row["reason"]) for row in found]


def made_up(served: Served) -> list[str]:
    linked = {"/", "/about", *(f"/gone/{number}" for number in range(6))}
    return [path for path in served.pages_asked if path not in linked]


def test_200_for_everything(command: Command) -> None:
    """`http_hostile` 200-for-everything: any path answers 200 with a page that says not found."""
    apology = page("Not found", "Sorry, this page was not found on our server.", ["/", "/gone/9"])
    with serving(site(lambda path: apology)) as served:
        command.crawl(served)
        assert made_up(served), "the site was asked for addresses that nobody linked to"
        flagged = reasons(command, served, *(f"/gone/{number}" for number in range(6)))
        assert flagged == [("fetched", "soft_404")] * 6
        assert reasons(command, served, "/", "/about") == [("fetched", "new")] * 2


def test_a_soft_404_without_known_words_is_found_by_probes(command: Command) -> None:
    apology = page("Hoppla", " ".join(["Da ist wohl etwas schief gegangen, schau doch mal hier."] * 4), ["/"])
    # Pages that are parsed at the same time are not yet copies of each other: six may be too few on a busy machine.
    gone = [f"/gone/{number}" for number in range(14)]
    home = page("Home", prose("home"), ["/about", *gone])
    with serving(site(lambda path: apology, real=REAL | {"/": home})) as served:
        command.crawl(served)
        assert set(made_up(served)) - set(gone)
        flagged = reasons(command, served, *gone[:6])
        assert flagged.count(("fetched", "soft_404")) >= 4
        command.crawl(served, "--refresh")
        again = reasons(command, served, *gone[:6])
        assert again == [("fetched", "soft_404")] * 6


def test_missing_pages_redirect_home(command: Command) -> None:
    """`http_hostile` soft-404-redirect-home: recognised, and home is stored once."""
    with serving(site(lambda path: TrapResponse(302, location="/"))) as served:
        command.crawl(served)
        assert made_up(served)
        flagged = reasons(command, served, *(f"/gone/{number}" for number in range(6)))
        assert flagged.count(("fetched", "soft_404")) >= 5
        assert set(flagged) <= {("fetched", "soft_404"), ("fetched", "redirect")}
        assert reasons(command, served, "/") == [("fetched", "new")]
        assert len([row for row in command.lines("export", "jsonl") if "home" in row["title"].lower()]) == 1


def test_a_custom_soft_404(command: Command) -> None:
    """`http_hostile` soft-404-custom: flagged, also where the rest of the site says 404."""
    oops = TrapResponse(200, "<h1>Oops</h1> this page has moved or never existed")
    real = REAL | {f"/gone/{number}": oops for number in range(6)}
    for absent in (oops, NOT_FOUND):
        with serving(site(lambda path, absent=absent: absent, real=real)) as served:  # type: ignore[misc]
            command.crawl(served)
            flagged = reasons(command, served, *(f"/gone/{number}" for number in range(6)))
            assert flagged == [("fetched", "soft_404")] * 6


def test_honest_pages_are_not_flagged(command: Command) -> None:
    manual = page("404 Not Found", "404 is said when the page was not found. " + prose("status", count=300), ["/"])
    real = REAL | {f"/gone/{number}": manual for number in range(6)}
    with serving(site(lambda path: NOT_FOUND, real=real)) as served:
        command.crawl(served)
        assert "soft_404" not in {reason for _, reason in reasons(command, served, "/", *real)}
