"""Credentials of sites. Secret values are left out of `repr`, so that no log line or traceback shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from evercrawl.model.fetch import Headers

ALL_SITES = "*"  # The table for every site without its own; it may name a proxy only.


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie (RFC 6265). `expires` None: it lasts as long as the session."""

    name: str
    value: str = field(repr=False)
    domain: str
    path: str = "/"
    is_host_only: bool = True
    is_secure: bool = False
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class ProxyServer:
    """A proxy. `resolves`: it looks up host names itself, so that addresses are not checked here."""

    scheme: str  # http or socks5.
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    resolves: bool = False

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class LoginRecipe:
    """How to sign in: the page with the form, and what to enter."""

    url: str
    fields: Headers = field(repr=False)
    """Names and values. `user` and `password` stand for the form's own fields, whatever their names are."""


@dataclass(frozen=True, slots=True)
class SiteCredentials:
    """What is sent to one site (scheme, host and port), and nowhere else."""

    site: str
    headers: Headers = field(default=(), repr=False)
    cookies: tuple[Cookie, ...] = field(default=(), repr=False)
    proxy: ProxyServer | None = None
    login: LoginRecipe | None = None
    check: str | None = None  # A page that differs for people who are signed in; None: the first page of the site.
    check_text: str | None = None  # Text of that page that only they see.

    @property
    def has_session(self) -> bool:
        """Return whether a session may end: it is held by cookies or opened by a form."""
        return bool(self.cookies or self.login)

    def kinds(self) -> tuple[str, ...]:
        """Return what there is, without its values."""
        names = [name.lower() for name, _ in self.headers]
        found = {
            f"{len(self.cookies)} cookie{'s' * (len(self.cookies) != 1)}": bool(self.cookies),
            "login form": self.login is not None,
            "user name and password": "authorization" in names,
            "headers": any(name != "authorization" for name in names),
            f"proxy {self.proxy}": self.proxy is not None,
        }
        return tuple(kind for kind, is_there in found.items() if is_there)


@dataclass(frozen=True, slots=True)
class CredentialSet:
    """The credentials of all sites, by origin."""

    sites: Mapping[str, SiteCredentials] = field(default_factory=dict)
    proxy: ProxyServer | None = None  # For every site that names none.

    def proxy_of(self, site: str) -> ProxyServer | None:
        """Return the proxy for a site; None: it is reached directly."""
        own = self.sites.get(site)
        return own.proxy if own is not None and own.proxy is not None else self.proxy
