"""Crawl sites signed in. CredentialSet are added just before a request is sent, only for the site they were given for.
Answers lose the header fields that open a session before anybody else sees them. When a session has ended, it is opened
again if there is a recipe; otherwise the site's pages wait, and nothing of the login page is stored as content."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple, Protocol

from evercrawl.core.faults import SIGNED_OUT_PAUSE
from evercrawl.core.http.message import without_secrets
from evercrawl.core.sign_in.cookies import CookieJar
from evercrawl.core.sign_in.login_form import find_login_form
from evercrawl.core.sign_in.session_check import (
    PageView,
    SessionMarks,
    doubt,
    is_logout_url,
    is_signed_in,
    place_of,
    shows_session,
    view_of,
)
from evercrawl.core.url import path_of, site_of
from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.model.credentials import Cookie, CredentialSet, LoginRecipe, SiteCredentials
from evercrawl.model.fetch import Failed, Fault, Fetched, FetchResult, Headers, Moved, Request

log = logging.getLogger("evercrawl.storage.sign_in")  # Its warnings are printed.

MAX_REDIRECTS = 10  # Redirects of a login or a check.
MAX_SIGN_INS = 5  # Logins per `SIGN_IN_SPAN`.
SIGN_IN_SPAN = timedelta(hours=1)
MAX_ATTEMPTS = 5  # Requests for one page while others end the session.
MAX_RECENT = 3  # Requests before the end of a session that may have ended it.
MAX_LOGOUT_URLS = 1000
MAX_JARS = 1000  # Sites without credentials whose cookies are kept.
_NOT_CHECKED = ("/robots.txt",)


class SessionState(NamedTuple):
    """What is kept of a session between runs."""

    cookies: tuple[Cookie, ...] = ()
    logout_urls: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()  # The session ended soon after these; if it does again, they log out.
    basis: str = ""  # Digest of the credentials that the cookies belong to.


class SessionStore(Protocol):
    """Keeps sessions between runs."""

    def load(self, site: str) -> SessionState:
        """Return what is kept of a site."""

    def save(self, site: str, state: SessionState) -> None:
        """Keep it."""


class SignedInFetcher:
    """Implements `Fetcher` with credentials. Sites without any pass through unchanged."""

    def __init__(
        self,
        direct: Fetcher,
        load: Callable[[], CredentialSet],
        *,
        others: Fetcher,
        clock: Clock,
        store: SessionStore,
        keep_all: bool = False,
    ) -> None:
        """`load` reads the credentials, again whenever a session has ended. `others` fetches sites without credentials,
        and closes `direct`. `keep_all`: keep cookies of every site."""
        self._direct = direct
        self._others = others
        self._load = load
        self._clock = clock
        self._store = store
        self._keep_all = keep_all
        self._sessions: dict[str, SiteSession] = {}
        for site, own in load().sites.items():
            if own.headers or own.has_session:
                self._sessions[site] = self._session(own)
        self._named = frozenset(self._sessions)

    def _session(self, own: SiteCredentials) -> SiteSession:
        return SiteSession(own, self._direct, self._clock, self._store)

    async def fetch(self, request: Request) -> FetchResult:
        """Fetch a page, signed in where there are credentials."""
        site = site_of(request.url)
        session = self._sessions.get(site)
        if session is None:
            if not self._keep_all:
                return await self._others.fetch(request)
            session = self._add_jar(site)
        if session.ended and (own := self._load().sites.get(site)) is not None and own != session.own:
            session = self._sessions[site] = self._session(own)
        before = session.ended
        answer = await session.fetch(request)
        if session.ended and not before:
            log.warning("%s: %s", site, session.ended)
        return answer

    def _add_jar(self, site: str) -> SiteSession:
        if len(self._sessions) - len(self._named) >= MAX_JARS:
            oldest = next(name for name in self._sessions if name not in self._named)
            self._sessions.pop(oldest).save()
        session = self._sessions[site] = self._session(SiteCredentials(site))
        return session

    async def close(self) -> None:
        """Keep the sessions and close every connection."""
        for session in self._sessions.values():
            session.save()
        await self._others.close()


class SiteSession:
    """The session of one site. Invariant: its credentials are sent to this site only, and cookies also to the site of
    the login page while signing in."""

    def __init__(self, own: SiteCredentials, direct: Fetcher, clock: Clock, store: SessionStore) -> None:
        self.own = own
        self.ended = ""
        """Why the session cannot be used; empty: it can."""
        self._retry_at: datetime | None = None
        self._direct = direct
        self._clock = clock
        self._store = store
        self._kept = store.load(own.site)
        self._basis = _digest(own)
        self._jar = CookieJar((*own.cookies, *(self._kept.cookies if self._kept.basis == self._basis else ())))
        self._logout_urls = dict.fromkeys(self._kept.logout_urls)
        self._suspects = set(self._kept.suspects)
        self._recent: deque[str] = deque(maxlen=MAX_RECENT)
        """Requests since a page last showed the session."""
        self._marks: SessionMarks | None = None
        self._session_cookies: frozenset[str] = frozenset(cookie.name for cookie in own.cookies)
        self._login_places = frozenset({place_of(own.login.url)} if own.login else ())
        self._lock = asyncio.Lock()
        self._is_open = not own.has_session
        self._generation = 0
        self._sign_ins: deque[datetime] = deque(maxlen=MAX_SIGN_INS)
        self._false_alarms = self._since_check = 0

    # Requests

    async def fetch(self, request: Request) -> FetchResult:
        """Fetch a page with the session; open or restore it if needed."""
        url = request.url
        is_checked = self.own.has_session or bool(self.own.headers)
        if not is_checked or path_of(url) in _NOT_CHECKED:
            return without_secrets(await self._send(request))
        for _ in range(MAX_ATTEMPTS):
            answer = await self._fetch_once(request)
            if answer is not None:
                return without_secrets(answer)
            await asyncio.sleep(request.delay_s)
        return Failed(url, Fault.SIGNED_OUT, f"the session ended each of {MAX_ATTEMPTS} times", timedelta(0))

    async def _fetch_once(self, request: Request) -> FetchResult | None:
        """Fetch a page; None: the session was restored meanwhile, so the page has to be fetched again."""
        url = request.url
        if (self.own.has_session and is_logout_url(url)) or url in self._logout_urls:
            return Failed(url, Fault.LOGOUT, f"{url} logs out, and the site is crawled signed in", timedelta(0))
        if not self._is_open:
            async with self._lock:
                if self._may_open():
                    await self._open(request)
        if self.ended:
            return self._signed_out(url)
        generation = self._generation
        removed: set[str] = set()
        answer = await self._send(request, removed=removed)
        view = view_of(answer)
        self._add_logout_urls(view.logout_links - {url})
        self._since_check += 1
        reason = doubt(answer, view, marks=self._marks, login_places=self._login_places - {place_of(url)})
        ends = bool(removed & self._session_cookies)
        if not (reason or ends or url in self._suspects):
            self._note_good(url, view)
            return answer
        return await self._settle(request, answer, reason, generation=generation, ends=ends)

    def _may_open(self) -> bool:
        is_time = self._retry_at is not None and self._clock.now() >= self._retry_at
        return not self._is_open and (not self.ended or is_time)

    def _note_good(self, url: str, view: PageView) -> None:
        if shows_session(view, self._marks):
            self._recent.clear()
        self._recent.append(url)

    async def _settle(
        self, request: Request, answer: FetchResult, reason: str, *, generation: int, ends: bool
    ) -> FetchResult | None:
        """Find out whether the session has ended, and restore it; None: the page has to be fetched again."""
        url = request.url
        async with self._lock:
            if generation != self._generation or self.ended:  # Another request has found out.
                if ends:
                    self._blame(url, logs_out=True)
                return self._signed_out(url) if self.ended else None
            if not (ends or url in self._suspects) and self._since_check <= self._false_alarms:
                return answer  # Checks get rarer with every false alarm.
            self._since_check = 0
            if await self._holds(request, assume=not reason.startswith(("it redirects", "the server refuses"))):
                self._false_alarms += 1
                self._suspects.discard(url)
                return answer
            self._blame(url, logs_out=ends or url in self._suspects)
            await self._restore(request, reason or "it ended with this page")
            return self._signed_out(url) if self.ended else None

    def _blame(self, url: str, *, logs_out: bool) -> None:
        """Remember what may have ended the session: this page, or one of the requests before it."""
        if logs_out:
            self._add_logout_urls({url})
            self._suspects.discard(url)
        else:
            self._suspects.update(self._recent)
        self._recent.clear()

    def _add_logout_urls(self, urls: Collection[str]) -> None:
        self._logout_urls.update(dict.fromkeys(urls))
        while len(self._logout_urls) > MAX_LOGOUT_URLS:
            del self._logout_urls[next(iter(self._logout_urls))]

    def _signed_out(self, url: str) -> Failed:
        return Failed(url, Fault.SIGNED_OUT, self.ended, timedelta(0))

    async def _send(
        self, request: Request, *, secrets: Headers | None = None, removed: set[str] | None = None
    ) -> FetchResult:
        """Send a request with the credentials of this site, and keep the cookies of its answer."""
        now, url = self._clock.now(), request.url
        given = self.own.headers if site_of(url) == self.own.site else ()
        cookies = self._jar.header_for(url, now=now)
        lines = (*given, *((("Cookie", cookies),) if cookies else ()), *(secrets or ()))
        answer = await self._direct.fetch(replace(request, secrets=lines))
        gone = self._jar.update(url, answer.headers, now=now)
        if removed is not None:
            removed |= gone
        return answer

    # The session

    async def _open(self, cause: Request) -> None:
        """Learn what the session looks like, and sign in unless the cookies still hold."""
        self.ended = ""
        if not self.own.has_session:
            self._is_open = True
            return
        login, check = self.own.login, self._check_url()
        outside = await self._view(cause, signed_in=False)
        inside = await self._view(cause) if any(self._jar) else outside
        if outside.has_login_form or outside.place not in (inside.place, check):
            self._login_places |= {outside.place}
        marks, text = SessionMarks(inside, outside), self.own.check_text
        if text in inside.text if text is not None else marks.differ:
            self._marks = marks if marks.differ else None
        elif login is not None:
            await self._sign_in(login, cause, outside)
        elif outside.has_login_form or outside.status in (401, 403) or text is not None:
            self._end("the cookies are refused: the site shows what it shows to everybody")
        else:
            same = "looks the same with and without its cookies; they may have expired"
            log.warning(
                "%s %s", self.own.site, "did not answer; its cookies were not tried" if inside.status is None else same
            )
        self._is_open = not self.ended

    def _check_url(self) -> str:
        return self.own.check or f"{self.own.site}/"

    async def _view(self, cause: Request, *, signed_in: bool = True) -> PageView:
        """Return what the page for checks shows."""
        answer = await self._follow(self._check_url(), cause, signed_in=signed_in)
        return view_of(answer, with_text=self.own.check_text is not None)

    async def _follow(self, url: str, cause: Request, *, signed_in: bool = True) -> FetchResult:
        """Fetch a page and follow redirects within this site, at its pace."""
        for _ in range(MAX_REDIRECTS):
            await asyncio.sleep(cause.delay_s)
            request = Request(url, delay_s=cause.delay_s)
            answer = await (self._send(request) if signed_in else self._direct.fetch(request))
            if not isinstance(answer, Moved) or site_of(answer.target) not in self._sites():
                return answer
            url = answer.target
        return answer

    def _sites(self) -> frozenset[str]:
        """Return the sites that take part: this one, and that of the login page."""
        login = self.own.login
        return frozenset({self.own.site} if login is None else {self.own.site, site_of(login.url)})

    async def _holds(self, cause: Request, *, assume: bool) -> bool:
        """Return whether the session still holds; `assume`: what counts if that cannot be told."""
        view = await self._view(cause)
        if not self.own.has_session:
            return view.status not in (401, 403)
        found = is_signed_in(view, self._marks, check_text=self.own.check_text)
        return assume if found is None else found

    async def _restore(self, cause: Request, reason: str) -> None:
        """Sign in again, or end the session."""
        now, login = self._clock.now(), self.own.login
        if login is None:
            kind = "the session has ended" if self.own.has_session else "the credentials are refused"
            self._end(f"{kind}: {reason}")
        elif len(self._sign_ins) == MAX_SIGN_INS and now - self._sign_ins[0] < SIGN_IN_SPAN:
            self._end(f"the session ended {MAX_SIGN_INS} times within an hour, the last time because {reason}")
        else:
            outside = self._marks.outside if self._marks is not None else PageView()
            await self._sign_in(login, cause, outside)

    async def _sign_in(self, login: LoginRecipe, cause: Request, outside: PageView) -> None:
        self._sign_ins.append(self._clock.now())
        problem = await self._submit(login, cause)
        if problem:
            self._end(problem)
            return
        inside = await self._view(cause)
        marks = SessionMarks(inside, outside)
        found = is_signed_in(inside, marks, check_text=self.own.check_text)
        if found is False or (found is None and inside.has_login_form):
            self._end("signing in failed: the site still shows what it shows to everybody", is_final=True)
            return
        self._marks = marks if marks.differ else None
        self._session_cookies = frozenset(cookie.name for cookie in self._jar)
        self._generation += 1
        self.ended = ""
        self.save()
        log.info("signed in at %s", self.own.site)

    async def _submit(self, login: LoginRecipe, cause: Request) -> str:
        """Fill in the login form; return what went wrong, without any value of it."""
        page = await self._follow(login.url, cause)
        form = find_login_form(page) if isinstance(page, Fetched) else None
        if form is None:
            status = page.detail if isinstance(page, Failed) else "it has no form with one password field"
            return f"signing in failed: {login.url}: {status}"
        if not form.is_post:
            return f"signing in failed: the form of {login.url} would put the password into a URL"
        if site_of(form.action) not in self._sites():
            return f"signing in failed: the form of {login.url} is sent to another site, {site_of(form.action)}"
        if unknown := form.missing(login.fields):
            return f"signing in failed: the form of {login.url} has no field {', '.join(unknown)}"
        await asyncio.sleep(cause.delay_s)
        # Some frameworks take a form only from their own pages (CSRF checks by Origin and Referer).
        origin = (("Origin", site_of(page.url)), ("Referer", page.url))
        answer = await self._send(Request(form.action, form=form.filled(login.fields)), secrets=origin)
        if isinstance(answer, Moved) and site_of(answer.target) in self._sites():
            answer = await self._follow(answer.target, cause)
        if isinstance(answer, Failed):
            return f"signing in failed: {answer.detail}"
        return ""

    def _end(self, reason: str, *, is_final: bool = False) -> None:
        """Stop using the session. `is_final`: a wrong password is not tried again, so that no account gets locked."""
        self.ended = f"{reason}; sign in again: evercrawl login {self.own.site}"
        self._retry_at = None if is_final else self._clock.now() + SIGNED_OUT_PAUSE
        self._is_open = False

    def save(self) -> None:
        """Keep cookies and logout links for the next run."""
        now = self._clock.now()
        cookies = tuple(cookie for cookie in self._jar if cookie.expires is None or cookie.expires > now)
        state = SessionState(cookies, tuple(self._logout_urls), tuple(sorted(self._suspects)), self._basis)
        if state != self._kept:
            self._kept = state
            self._store.save(self.own.site, state)


def _digest(own: SiteCredentials) -> str:
    """Return a digest of what the user gave, to notice that it was replaced."""
    cookies = [(cookie.name, cookie.value) for cookie in own.cookies]
    login = None if own.login is None else (own.login.url, own.login.fields)
    return sha256(repr((cookies, own.headers, login)).encode()).hexdigest()
