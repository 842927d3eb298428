"""Sign in to sites: store cookies, passwords and tokens in a file that only its owner can read, and try them out."""

from __future__ import annotations

import os
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.http.signed_in import SiteSession
from evercrawl.adapters.system import SystemClock
from evercrawl.config import create_collection
from evercrawl.config.credentials_file import (
    NoSessions,
    SessionFile,
    cookie_rows,
    credentials_file,
    read_credentials,
    site_table,
    write_site,
)
from evercrawl.core.sign_in.cookies import cookie_of_fields, cookies_for_site, parse_cookie_file
from evercrawl.core.sign_in.login_form import LoginForm, find_login_form
from evercrawl.core.url import origin_of, site_of
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.credentials import Cookie, CredentialSet
from evercrawl.model.fetch import Failed, Fetched, Moved, Request
from evercrawl.model.settings import Settings
from evercrawl.model.user_agent import user_agent

MAX_FORM_REDIRECTS = 5
OTHER_WAYS = "use --cookies FILE with the cookies of your own browser, or --form to fill in the login form here"


class KnownLogin(NamedTuple):
    """A site with credentials, without their values."""

    site: str
    kinds: tuple[str, ...]


class LoginTarget(NamedTuple):
    """Where credentials are stored: those of a collection, or with None of all of the user's."""

    collection: Path | None
    settings: Settings

    def file(self) -> Path:
        """Return the file; raise ConfigError if it would not be used."""
        if not self.settings.is_trusted:
            raise ConfigError(f"{self.collection} is not trusted, so no credentials are used: evercrawl trust")
        return credentials_file(self.collection, os.environ)

    def credentials(self) -> CredentialSet:
        """Return all credentials in force."""
        return read_credentials(self.collection, is_trusted=self.settings.is_trusted)


def known_logins(target: LoginTarget) -> list[KnownLogin]:
    """Return the sites with credentials."""
    found = target.credentials()
    known = [KnownLogin(site, own.kinds()) for site, own in found.sites.items()]
    return known if found.proxy is None else [*known, KnownLogin("all other sites", (f"proxy {found.proxy}",))]


def cookies_from_file(path: Path, url: str) -> tuple[Cookie, ...]:
    """Return the cookies of a file that belong to the site of a URL; raise ConfigError if there are none."""
    try:
        cookies = parse_cookie_file(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError:
        raise ConfigError(
            f"{path} has no cookies that can be read; export them as cookies.txt (Netscape) or JSON"
        ) from None
    return _of_site(cookies, url, str(path))


async def cookies_from_browser(
    url: str, settings: Settings, *, is_done: Awaitable[object], more_flags: tuple[str, ...] = ()
) -> tuple[Cookie, ...]:
    """Let the user sign in in a visible browser, and return its cookies for the site."""
    from evercrawl.adapters.browser.launch import BrowserUnavailable
    from evercrawl.adapters.browser.visible import read_cookies

    try:
        rows = await read_cookies(url, browser=settings.render.browser, is_done=is_done, more_flags=more_flags)
    except BrowserUnavailable as error:
        raise ConfigError(f"{error.detail}; or {OTHER_WAYS}") from error
    cookies = [cookie for row in rows if (cookie := cookie_of_fields(row)) is not None]
    return _of_site(cookies, url, "the browser")


def require_display() -> None:
    """Raise ConfigError if no window can be opened."""
    from evercrawl.adapters.browser.visible import has_display

    if not has_display():
        raise ConfigError(f"there is no display to open a browser on; {OTHER_WAYS}")


def _of_site(cookies: list[Cookie], url: str, place: str) -> tuple[Cookie, ...]:
    site = site_of(url)
    own = cookies_for_site(cookies, site)
    if not own:
        raise ConfigError(f"{place} has no cookies for {site}; sign in there first, then export them again")
    return own


async def read_form(url: str, target: LoginTarget) -> tuple[str, LoginForm]:
    """Return the login form of a page and the URL where it is, after redirects within its site."""
    fetcher = _fetcher(target)
    try:
        answer = await fetcher.fetch(Request(url))
        for _ in range(MAX_FORM_REDIRECTS):
            if not isinstance(answer, Moved) or site_of(answer.target) != site_of(url):
                break
            answer = await fetcher.fetch(Request(answer.target))
    finally:
        await fetcher.close()
    if isinstance(answer, Failed):
        raise ConfigError(f"{url} cannot be fetched: {answer.detail}")
    form = find_login_form(answer) if isinstance(answer, Fetched) else None
    if form is None:
        raise ConfigError(f"{answer.url} has no form with one password field; give the URL of the login page")
    return answer.url, form


def store_login(target: LoginTarget, site: str, values: dict[str, Any]) -> Path:
    """Add values to the credentials of a site; a login and cookies replace each other. Return the file.
    A collection that does not exist yet is created."""
    path = target.file()
    if target.collection is not None:
        create_collection(target.collection)
    table = site_table(path, site)
    if values.keys() & {"login", "cookies"}:
        table = {key: value for key, value in table.items() if key not in ("login", "cookies")}
    if values.keys() & {"basic", "bearer"}:
        table = {key: value for key, value in table.items() if key not in ("basic", "bearer")}
    write_site(path, site, table | values)
    _forget_session(target, site)
    return path


def cookie_values(cookies: tuple[Cookie, ...]) -> dict[str, Any]:
    """Return cookies as values to store."""
    return {"cookies": cookie_rows(cookies)}


def remove_login(target: LoginTarget, site: str) -> Path:
    """Remove the credentials of a site and its session; raise ConfigError if there are none."""
    path = target.file()
    if not site_table(path, site):
        raise ConfigError(f"{path} has no credentials for {site}")
    write_site(path, site, None)
    _forget_session(target, site)
    return path


def _forget_session(target: LoginTarget, site: str) -> None:
    if target.collection is not None:
        SessionFile(target.collection).forget(site)


async def try_login(target: LoginTarget, site: str) -> str:
    """Open the session of a site once; return what is wrong, or an empty text."""
    own = target.credentials().sites[site]
    fetcher = _fetcher(target)
    store = NoSessions() if target.collection is None else SessionFile(target.collection)
    try:
        session = SiteSession(own, fetcher, SystemClock(), store)
        await session.fetch(Request(own.check or f"{site}/"))
        session.save()
        return session.ended
    finally:
        await fetcher.close()


def _fetcher(target: LoginTarget) -> HttpFetcher:
    found = target.credentials()
    agent = user_agent(target.settings.identity, __version__)
    return HttpFetcher(target.settings, SystemClock(), agent, proxy_of=lambda parts: found.proxy_of(origin_of(parts)))


# Signed requests


def create_signing_key(file: Path) -> str:
    """Create a key that signs requests; return its name."""
    from evercrawl.adapters.http.request_signing import create_key

    return create_key(file).name


def signing_key_directory(file: Path) -> dict[str, Any]:
    """Return the directory of a key, which sites fetch to check signatures."""
    from evercrawl.adapters.http.request_signing import load_key

    return load_key(file).directory()
