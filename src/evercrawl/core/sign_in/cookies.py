"""Cookies of one site (RFC 6265), and the files in which browsers and tools keep them.
A jar belongs to one site and its login page. Who sends requests decides which site a jar is used for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from evercrawl.core.faults import http_date
from evercrawl.core.http.ip_address import parse_ip_literal
from evercrawl.core.url import path_of, site_of, site_parts
from evercrawl.model.credentials import Cookie
from evercrawl.model.fetch import Headers

MAX_COOKIES = 100  # Cookies per site.
MAX_COOKIE_CHARS = 4096  # Name and value together.
MAX_COOKIE_FILE_LINES = 50_000
_HTTP_ONLY = "#HttpOnly_"
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f;]")
_NETSCAPE_FIELDS = 7


def host_of(url: str) -> str:
    """Return the host of a canonical URL as cookies know it."""
    return site_parts(site_of(url)).host.removesuffix(".").lower()


def domain_matches(host: str, domain: str) -> bool:
    """Return whether a host belongs to a domain (RFC 6265 section 5.1.3)."""
    return host == domain or (host.endswith(f".{domain}") and not parse_ip_literal(host))


def path_matches(path: str, cookie_path: str) -> bool:
    """Return whether a path lies below that of a cookie (section 5.1.4)."""
    return path == cookie_path or (
        path.startswith(cookie_path) and (cookie_path.endswith("/") or path[len(cookie_path)] == "/")
    )


def parse_set_cookie(value: str, url: str, *, now: datetime) -> Cookie | None:
    """Return the cookie of a Set-Cookie field; None: it is ignored (sections 5.2 and 5.3)."""
    pair, *attributes = value.split(";")
    name, equals, content = (part.strip() for part in pair.partition("="))
    if not equals:
        name, content = "", name
    found = {key.strip().lower(): text.strip() for key, _, text in (one.partition("=") for one in attributes)}
    host, path = host_of(url), found.get("path", "")
    domain = found.get("domain", "").removeprefix(".").lower()
    if not is_valid_pair(name, content) or (domain and not domain_matches(host, domain)):
        return None
    is_secure = "secure" in found
    if is_secure and not url.startswith("https://"):
        return None
    return Cookie(
        name,
        content,
        domain or host,
        path if path.startswith("/") else _default_path(url),
        is_host_only=not domain,
        is_secure=is_secure,
        expires=_expiry(found, now=now),
    )


def is_valid_pair(name: str, value: str) -> bool:
    """Return whether a cookie can be sent: it is short and cannot add a header line or another cookie."""
    return bool(name or value) and len(name) + len(value) <= MAX_COOKIE_CHARS and not _FORBIDDEN.search(name + value)


def _default_path(url: str) -> str:
    path = path_of(url).partition("?")[0]
    return path[: path.rfind("/")] or "/"


def _expiry(attributes: Mapping[str, str], *, now: datetime) -> datetime | None:
    """Return when a cookie ends; Max-Age precedes Expires. What cannot be read does not count."""
    age = attributes.get("max-age", "")
    if re.fullmatch(r"-?[0-9]{1,18}", age, re.ASCII):
        seconds = min(int(age), 400 * 86_400)  # 400 days, as in RFC 6265bis section 5.5
        return now + timedelta(seconds=seconds) if seconds > 0 else datetime.min.replace(tzinfo=UTC)
    return http_date(attributes.get("expires", ""))


class CookieJar:
    """The cookies of one site, at most `MAX_COOKIES`; the oldest goes first."""

    def __init__(self, cookies: Iterable[Cookie] = ()) -> None:
        self._cookies: dict[tuple[str, str, str], Cookie] = {}
        for cookie in cookies:
            self.put(cookie)

    def __iter__(self) -> Iterator[Cookie]:
        return iter(tuple(self._cookies.values()))

    def put(self, cookie: Cookie) -> None:
        """Add a cookie, or replace the one of the same name, domain and path."""
        self._cookies[cookie.name, cookie.domain, cookie.path] = cookie
        while len(self._cookies) > MAX_COOKIES:
            del self._cookies[next(iter(self._cookies))]

    def update(self, url: str, headers: Headers, *, now: datetime) -> frozenset[str]:
        """Apply the Set-Cookie fields of an answer; return the names of cookies that it removed."""
        removed = set()
        for name, value in headers:
            cookie = parse_set_cookie(value, url, now=now) if name.lower() == "set-cookie" else None
            if cookie is None:
                continue
            if cookie.expires is None or cookie.expires > now:
                self.put(cookie)
                removed.discard(cookie.name)
            elif self._cookies.pop((cookie.name, cookie.domain, cookie.path), None) is not None:
                removed.add(cookie.name)
        return frozenset(removed)

    def header_for(self, url: str, *, now: datetime) -> str:
        """Return the Cookie field of a request (section 5.4); empty: there is none."""
        host, path = host_of(url), path_of(url).partition("?")[0]
        found = [
            cookie
            for cookie in self._cookies.values()
            if (host == cookie.domain if cookie.is_host_only else domain_matches(host, cookie.domain))
            and path_matches(path, cookie.path)
            and (url.startswith("https://") or not cookie.is_secure)
            and (cookie.expires is None or cookie.expires > now)
        ]
        found.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(f"{cookie.name}={cookie.value}" if cookie.name else cookie.value for cookie in found)


# Files


def parse_cookie_file(text: str) -> list[Cookie]:
    """Return the cookies of a file: Netscape's `cookies.txt`, or the JSON of browser extensions, Playwright, Puppeteer
    and Selenium. Raise ValueError if it is neither."""
    if text.lstrip()[:1] in ("[", "{"):
        try:
            found = json.loads(text)
        except RecursionError:
            raise ValueError("its JSON is nested too deeply") from None
        rows = found.get("cookies") if isinstance(found, dict) else found
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("its JSON is not a list of cookies")
        cookies = [cookie for row in rows if (cookie := cookie_of_fields(row)) is not None]
    else:
        lines = text.splitlines()[:MAX_COOKIE_FILE_LINES]
        cookies = [cookie for line in lines if (cookie := _cookie_of_line(line)) is not None]
    if not cookies:
        raise ValueError("it has no cookies")
    return cookies


def _cookie_of_line(line: str) -> Cookie | None:
    line = line.removeprefix(_HTTP_ONLY)
    fields = line.split("\t")
    if line.startswith("#") or len(fields) < _NETSCAPE_FIELDS - 1:
        return None
    domain, with_subdomains, path, secure, expires, name = fields[: _NETSCAPE_FIELDS - 1]
    value = fields[_NETSCAPE_FIELDS - 1] if len(fields) >= _NETSCAPE_FIELDS else ""
    return cookie_of_fields(
        {
            "name": name,
            "value": value,
            "domain": domain,
            "path": path,
            "secure": secure == "TRUE",
            "hostOnly": with_subdomains != "TRUE" and not domain.startswith("."),
            "expires": expires,
        }
    )


def cookie_of_fields(row: Mapping[str, Any]) -> Cookie | None:
    """Return a cookie from the fields that tools write; None: they do not make one."""
    name, value = str(row.get("name", "")), str(row.get("value", ""))
    written = str(row.get("domain") or "").lower()
    domain = written.removeprefix(".").removesuffix(".")
    if not domain or not is_valid_pair(name, value):
        return None
    path = str(row.get("path") or "/")
    return Cookie(
        name,
        value,
        domain,
        path if path.startswith("/") else "/",
        is_host_only=bool(row.get("hostOnly", not written.startswith("."))),
        is_secure=row.get("secure") is True,
        expires=_moment(row.get("expirationDate", row.get("expiry", row.get("expires")))),
    )


def _moment(written: Any) -> datetime | None:
    """Return the expiry of a cookie in a file; None: it belongs to a session (0, -1, or nothing)."""
    try:
        seconds = float(written)
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (TypeError, ValueError):
        return http_date(written) if isinstance(written, str) else None
    except (OverflowError, OSError):
        return None


def cookie_fields(cookie: Cookie) -> dict[str, Any]:
    """Return a cookie as `cookie_of_fields` reads it."""
    fields: dict[str, Any] = {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "hostOnly": cookie.is_host_only,
        "secure": cookie.is_secure,
    }
    return fields if cookie.expires is None else fields | {"expires": int(cookie.expires.timestamp())}


def cookies_for_site(cookies: Iterable[Cookie], site: str) -> tuple[Cookie, ...]:
    """Return the cookies that a browser would send to a site."""
    host, is_https = host_of(f"{site}/"), site.startswith("https://")
    return tuple(
        cookie
        for cookie in cookies
        if (host == cookie.domain if cookie.is_host_only else domain_matches(host, cookie.domain))
        and (is_https or not cookie.is_secure)
    )
