"""Whether a session holds, by what the site shows with and without it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.sign_in.session_check import (
    PageView,
    SessionMarks,
    doubt,
    is_logout_text,
    is_logout_url,
    is_signed_in,
    shows_session,
    view_of,
)
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, Moved

EXCHANGE = Exchange(b"", b"", b"", None, datetime(2026, 1, 1, tzinfo=UTC), timedelta(0))
SITE = "https://example.org"
NONE: frozenset[str] = frozenset()


def page(markup: str, path: str = "/", status: int = 200) -> Fetched:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return Fetched(SITE + path, status, headers, markup.encode(), EXCHANGE)


OUT = page("<a href='/'>Home</a><a href='/entrar?de=/'>Entrar</a><a href=/about>About</a>")
IN = page("<a href='/'>Home</a><a href='/yo'>Yo</a><a href='/fin?k=77'>Cerrar sesión</a><a href=/about>About</a>")
MARKS = SessionMarks(view_of(IN), view_of(OUT))


def test_links_tell_pages_apart_in_any_language() -> None:
    assert MARKS.differ
    assert MARKS.outside_links == {"/entrar?de"}
    assert MARKS.inside_links == {"/yo", "/fin?k"}
    lost = view_of(page("<p>Text</p><a href='/entrar?de=/x'>Entrar</a>", "/x"))
    kept = view_of(page("<p>Text</p><a href='/fin?k=1'>x</a> See <a href='/entrar?de=1'>how to</a>", "/x"))
    bare = view_of(page("<p>Text</p>", "/x"))
    assert [shows_session(view, MARKS) for view in (lost, kept, bare)] == [False, True, None]
    assert is_signed_in(view_of(IN), MARKS, check_text=None) is True
    assert is_signed_in(view_of(OUT), MARKS, check_text=None) is False


def test_the_text_of_a_link_finds_unnamed_logout_links() -> None:
    assert view_of(IN).logout_links == {f"{SITE}/fin?k=77"}


def test_a_login_page_instead_of_content_is_told_by_place_form_or_status() -> None:
    form = page("<form><input type=password name=p></form>", "/login")
    marks = SessionMarks(view_of(page("<p>Hi")), view_of(form))
    assert is_signed_in(view_of(form), marks, check_text=None) is False
    assert is_signed_in(view_of(page("<p>Other")), marks, check_text=None) is True
    refused = Failed(f"{SITE}/", Fault.HTTP_ERROR, "", timedelta(0), 403)
    marks = SessionMarks(view_of(page("<p>Hi")), view_of(refused))
    assert is_signed_in(view_of(refused), marks, check_text=None) is False
    assert is_signed_in(view_of(page("<p>Hi")), marks, check_text=None) is True


def test_pages_that_look_the_same_prove_nothing() -> None:
    same = SessionMarks(view_of(OUT), view_of(OUT))
    assert not same.differ
    assert is_signed_in(view_of(OUT), same, check_text=None) is None
    assert is_signed_in(PageView(text="Hello Ann"), None, check_text="Ann") is True
    assert is_signed_in(PageView(text="Hello"), None, check_text="Ann") is False


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Moved(f"{SITE}/x", 302, f"{SITE}/login?next=/x", (), EXCHANGE), "redirects to the login page"),
        (Moved(f"{SITE}/x", 302, f"{SITE}/y", (), EXCHANGE), ""),
        (Failed(f"{SITE}/x", Fault.HTTP_ERROR, "", timedelta(0), 401), "refuses the request (401)"),
        (Failed(f"{SITE}/x", Fault.NOT_FOUND, "", timedelta(0), 404), ""),
        (page("<form><input type=password name=p></form>"), "login form"),
        (page("<form><input type=password name=p><input type=password name=q></form>"), ""),
        (page("<a href='/entrar?de=/x'>Entrar</a>"), "not signed in"),
        (page("<a href='/yo'>Yo</a>"), ""),
        (page("<p>Nothing"), ""),
    ],
)
def test_an_answer_raises_doubt_for_a_reason(answer: Fetched | Moved | Failed, expected: str) -> None:
    found = doubt(answer, view_of(answer), marks=MARKS, login_places=frozenset({f"{SITE}/login"}))
    assert expected in found
    assert bool(found) == bool(expected)


@pytest.mark.parametrize(
    "url",
    [
        "/logout", "/users/sign_out", "/wp-login.php?action=logout&_wpnonce=1", "/doku.php?id=start&do=logout",
        "/index.php?title=Special:UserLogout", "/wiki/Special:UserLogout", "/logout.php", "/Log-Off", "/?logout",
        "/de/abmelden", "/d%C3%A9connexion", "/accounts/logout/",
    ],
)  # fmt: skip
def test_links_that_log_out_are_known_by_a_whole_word(url: str) -> None:
    assert is_logout_url(SITE + url)


@pytest.mark.parametrize(
    "url",
    ["/", "/how-to-logout-safely", "/blog/logout-bug-fixed", "/login", "/?q=logout%20problem", "/exit", "/outlog"],
)
def test_pages_about_logging_out_are_fetched(url: str) -> None:
    assert not is_logout_url(SITE + url)


def test_words_of_links_count_as_a_whole() -> None:
    assert all(map(is_logout_text, ("Log out", "Sign-Out", "Abmelden", "Выйти", "ログアウト", "Sair")))
    assert not any(map(is_logout_text, ("How to log out", "", "Log", "Exit strategy")))
