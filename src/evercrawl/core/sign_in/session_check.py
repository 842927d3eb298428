"""Whether a session still holds, judged by evidence from the site itself.
One page is fetched with and without the session. Links that only one of the two has tell them apart on every other
page, in any language. Links that log out are known by their words, and by what following them did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from evercrawl.core.document.html import parse_page
from evercrawl.core.document.links import collapse_space
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.document.reference import ReferenceResolver
from evercrawl.core.sign_in.login_form import login_form_of
from evercrawl.core.traps.url_parts import split_url
from evercrawl.core.url import canonical_of_href, site_of
from evercrawl.model.fetch import Failed, Fetched, FetchResult, Moved

MAX_VIEW_LINKS = 2000
MAX_LINK_TEXT_CHARS = 40
_REFUSALS = (401, 403)
_SEPARATORS = re.compile(r"[\W_]+")

_LOGOUT_WORDS = (
    "logout logoff signout signoff userlogout userlogoff endsession abmelden ausloggen deconnexion déconnexion"
    " sedeconnecter sedéconnecter cerrarsesion cerrarsesión disconnetti disconnettiti terminarsessao terminarsessão"
    " encerrarsessao encerrarsessão uitloggen afmelden loggaut loggut logud logaf kirjauduulos wyloguj wylogujsię"
    " odhlasit odhlásit odhlasitse odhlásitse kijelentkezes kijelentkezés deconectare oturumukapat выйти выход вийти"
    " αποσύνδεση ログアウト サインアウト 退出登录 注销 登出 로그아웃 تسجيلالخروج התנתק đăngxuất"
)
_EXIT_WORDS = "sair salir esci exit keluar quitter çıkış вихід יציאה"
LOGOUT_WORDS = frozenset(_LOGOUT_WORDS.split())
"""Words for ending a session in common languages, without spaces and signs."""
EXIT_WORDS = frozenset(_EXIT_WORDS.split())
"""Words that mean it only as the whole text of a link."""


class PageView(NamedTuple):
    """What an answer shows of the session."""

    place: str = ""  # The URL that answered in the end, without its query.
    status: int | None = None
    links: frozenset[str] = frozenset()  # Links of the site: path and names of parameters.
    has_login_form: bool = False
    logout_links: frozenset[str] = frozenset()  # Canonical URLs whose link text means to log out.
    text: str = ""


class SessionMarks(NamedTuple):
    """What tells a page of the session from one without it."""

    inside: PageView
    outside: PageView

    @property
    def inside_links(self) -> frozenset[str]:
        """Links that only people who are signed in see."""
        return self.inside.links - self.outside.links

    @property
    def outside_links(self) -> frozenset[str]:
        """Links that only others see, such as the one to the login page."""
        return self.outside.links - self.inside.links

    @property
    def differ(self) -> bool:
        """Return whether the two can be told apart."""
        place = self.inside.place != self.outside.place or self.inside.status != self.outside.status
        form = self.inside.has_login_form != self.outside.has_login_form
        return place or form or bool(self.inside_links and self.outside_links)


def place_of(url: str) -> str:
    """Return a URL without its query, where login pages keep the page to return to."""
    return url.partition("?")[0]


def view_of(answer: FetchResult, *, with_text: bool = False) -> PageView:
    """Return what an answer shows. A redirect to another site counts as that site's page."""
    place = place_of(answer.target if isinstance(answer, Moved) else answer.url)
    if not isinstance(answer, Fetched):
        status = answer.status if isinstance(answer, (Failed, Moved)) else None
        return PageView(place, status)
    if sniff_media_type(answer.headers, answer.body) not in HTML_TYPES:
        return PageView(place, answer.status)
    page = parse_page(answer.headers, answer.body, every_anchor=True)
    resolver = ReferenceResolver(answer.url, answer.url, page.encoding)
    site, links, logout = site_of(answer.url), set(), set()
    for _, node, attributes in page.elements.links[:MAX_VIEW_LINKS]:
        href = resolver.resolve(attributes.get("href") or "")
        url = canonical_of_href(href) if href else None
        if url is None or site_of(url) != site:
            continue
        links.add(link_form(url))
        if node is not None and is_logout_text(collapse_space(node.text(), MAX_LINK_TEXT_CHARS)):
            logout.add(url)
    resolver.close()
    form = login_form_of(page.tree, answer.url, page.elements.base)
    text = page.tree.body.text(separator=" ") if with_text and page.tree.body is not None else ""
    return PageView(place, answer.status, frozenset(links), form is not None, frozenset(logout), text)


def link_form(url: str) -> str:
    """Return path and parameter names of a URL: values may be tokens or the page that links."""
    parts = split_url(url)
    names = sorted({name for name, _ in parts.pairs})
    return f"{parts.path}?{'&'.join(names)}" if names else parts.path


def shows_session(view: PageView, marks: SessionMarks | None) -> bool | None:
    """Return whether a page shows the session (True) or its absence (False); None: it shows neither."""
    if marks is None:
        return None
    if view.links & marks.inside_links:
        return True
    return False if view.links & marks.outside_links and marks.inside_links else None


def is_signed_in(view: PageView, marks: SessionMarks | None, *, check_text: str | None) -> bool | None:
    """Return whether the page that was chosen for checks is that of somebody who is signed in; None: unknown."""
    if check_text is not None:
        return check_text in view.text
    if marks is None or not marks.differ:
        return False if view.status in _REFUSALS or view.has_login_form else None
    inside, outside = marks.inside, marks.outside
    if view.status in _REFUSALS and inside.status not in _REFUSALS:
        return False
    if inside.place != outside.place and view.place in (inside.place, outside.place):
        return view.place == inside.place
    if inside.has_login_form != outside.has_login_form:
        return view.has_login_form == inside.has_login_form
    if inside.status != outside.status:
        return view.status != outside.status
    return shows_session(view, marks)


def doubt(answer: FetchResult, view: PageView, *, marks: SessionMarks | None, login_places: frozenset[str]) -> str:
    """Return why an answer may mean that the session has ended; empty: there is no reason to think so."""
    match answer:
        case Moved(target=target) if place_of(target) in login_places:
            return f"it redirects to the login page {place_of(target)}"
        case Failed(status=401 | 403 as status):
            return f"the server refuses the request ({status})"
        case Fetched() if view.has_login_form:
            return "it shows a login form"
        case Fetched() if shows_session(view, marks) is False:
            return "it looks as it does to people who are not signed in"
    return ""


# Logging out


def is_logout_url(url: str) -> bool:
    """Return whether a whole part of the URL is a word for logging out: a folder, a file, a parameter or its value."""
    return any(_plain(part) in LOGOUT_WORDS for part in _url_parts(url))


def is_logout_text(text: str) -> bool:
    """Return whether the text of a link means to log out."""
    word = _plain(text)
    return word in LOGOUT_WORDS or word in EXIT_WORDS


def _url_parts(url: str) -> Iterator[str]:
    parts = split_url(url)
    for segment in unquote(parts.path).split("/"):
        yield segment
        yield segment.partition(".")[0]
        yield segment.rpartition(":")[2]  # Special:UserLogout
    for name, written in parts.pairs:
        value = unquote(written)
        yield name
        yield from (value, value.rpartition(":")[2], value.rpartition("/")[2])


def _plain(text: str) -> str:
    return _SEPARATORS.sub("", text.casefold())
