"""CredentialSet from files that only their owner can read, and from the environment. No message shows a secret.
Later sources replace the tables of earlier ones, site by site: the user's file, the collection's, a named file, and a
variable."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import tomllib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

from evercrawl.adapters.http.signed_in import SessionState
from evercrawl.adapters.system import read_private_file
from evercrawl.config.edit import replace_file
from evercrawl.config.load import CREDENTIALS_VARIABLES, LONG_KEY, MAX_KEY_PARTS, suggestion, user_file
from evercrawl.config.trust import collection_id, replace_private, state_folder
from evercrawl.core.sign_in.cookies import cookie_fields, cookie_of_fields, host_of, is_valid_pair
from evercrawl.core.url import canonical, join, path_of, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.credentials import ALL_SITES, Cookie, CredentialSet, LoginRecipe, ProxyServer, SiteCredentials
from evercrawl.model.fetch import Headers

CREDENTIALS_FILE = "credentials.toml"
CREDENTIALS_VARIABLE, FILE_VARIABLE = CREDENTIALS_VARIABLES  # The content of such a file; the path of one more.
_KEYS = ("basic", "bearer", "check", "check_text", "cookies", "headers", "login", "proxy", "proxy_resolves")
_LOGIN_KEYS = ("url", "user", "password", "fields")
_OWN_FIELDS = (
    "accept-encoding connection content-length content-type cookie expect host keep-alive te trailer transfer-encoding"
    " upgrade user-agent"
)
_RESERVED = frozenset(_OWN_FIELDS.split())
"""Header fields that evercrawl sets itself."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_PROXY_PORTS = {"http": 8080, "socks5": 1080, "socks5h": 1080}
_HEADING = "# Credentials of sites. Only you can read this file; it belongs in no backup that others can read.\n"


def credentials_file(collection: Path | None, env: Mapping[str, str]) -> Path:
    """Return the file of a collection; None: that of the user, for all collections."""
    folder = user_file(env).parent if collection is None else collection
    return folder / CREDENTIALS_FILE


def read_credentials(
    collection: Path | None, *, is_trusted: bool, env: Mapping[str, str] | None = None
) -> CredentialSet:
    """Return the credentials of a collection; raise ConfigError if a file is invalid or others can read it.
    For a collection that is not trusted, only what the environment names counts."""
    env = os.environ if env is None else env
    files = [credentials_file(None, env)] if is_trusted else []
    if is_trusted and collection is not None:
        files.append(credentials_file(collection, env))
    tables: dict[str, SiteCredentials] = {}
    for path in files:
        if path.exists():
            tables |= _parse(read_private_file(path, what="passwords"), str(path), env)
    if named := env.get(FILE_VARIABLE):
        tables |= _parse(read_private_file(Path(named), what="passwords"), named, env)
    if text := env.get(CREDENTIALS_VARIABLE):
        tables |= _parse(text, f"environment variable {CREDENTIALS_VARIABLE}", env)
    others = tables.pop(ALL_SITES, None)
    return CredentialSet(tables, None if others is None else others.proxy)


def _parse(text: str, place: str, env: Mapping[str, str]) -> dict[str, SiteCredentials]:
    if LONG_KEY.search(text):
        raise ConfigError(f"{place} has a key of more than {MAX_KEY_PARTS} parts")
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{place} is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"\(at [^()]*\)$", str(error))
        raise ConfigError(f"{place} is not valid TOML {where[0] if where else ''}".rstrip()) from None
    found = {}
    for name, table in tables.items():
        site = ALL_SITES if name == ALL_SITES else site_name(name, place)
        reader = _TableReader(f"{place}: [{json.dumps(site)}]", table, env)
        found[site] = reader.all_sites() if site == ALL_SITES else reader.site(site)
    return found


def site_name(text: str, place: str = "") -> str:
    """Return the origin that a table names; raise ConfigError if it is none."""
    url = canonical(text) if "://" in text else None
    if url is None or "@" in text.partition("//")[2].partition("/")[0] or path_of(url) != "/":
        prefix = f"{place}: " if place else ""
        raise ConfigError(f'{prefix}a table is named after a site, such as ["https://example.org"], or ["*"]')
    return site_of(url)


class _TableReader:
    """Reads one table. Messages name keys, never values."""

    def __init__(self, place: str, table: object, env: Mapping[str, str]) -> None:
        self._place = place
        self._env = env
        self._table = self._checked(table, _KEYS, "")

    def all_sites(self) -> SiteCredentials:
        """Return the table of all sites, which may name a proxy only: other credentials belong to one site."""
        if others := [key for key in self._table if not key.startswith("proxy")]:
            self._fail(f"{others[0]} belongs to one site; only proxy is possible for all")
        return SiteCredentials(ALL_SITES, proxy=self._proxy())

    def site(self, site: str) -> SiteCredentials:
        """Return the credentials of a site."""
        table = self._table
        return SiteCredentials(
            site,
            self._headers(),
            self._cookies(site),
            self._proxy(),
            self._login(site),
            self._url(site, "check", table["check"]) if "check" in table else None,
            self._text("check_text", table["check_text"]) if "check_text" in table else None,
        )

    def _fail(self, problem: str) -> NoReturn:
        raise ConfigError(f"{self._place}: {problem}")

    def _checked(self, table: object, keys: tuple[str, ...], name: str) -> dict[str, Any]:
        if not isinstance(table, dict):
            self._fail(f"{name or 'it'} is not a table")
        for key in table:
            if key not in keys:
                self._fail(f"there is no {name + '.' if name else ''}{key}{suggestion(key, keys)}")
        return table

    def _text(self, key: str, value: object) -> str:
        """Return a text, or that of the variable which `{ env = "NAME" }` names."""
        if isinstance(value, dict) and list(value) == ["env"]:
            name = str(value["env"])
            if name not in self._env:
                self._fail(f"{key}: the environment variable {name} is not set")
            value = self._env[name]
        if not isinstance(value, str):
            self._fail(f'{key} is a text, or {{ env = "NAME" }}')
        return value

    def _headers(self) -> Headers:
        found = []
        if "basic" in self._table:
            pair = self._text("basic", self._table["basic"])
            if ":" not in pair:
                self._fail("basic is written as user:password")
            found.append(("Authorization", f"Basic {b64encode(pair.encode()).decode()}"))
        if "bearer" in self._table:
            found.append(("Authorization", f"Bearer {self._text('bearer', self._table['bearer'])}"))
        given = self._table.get("headers", {})
        if not isinstance(given, dict):
            self._fail("headers is not a table")
        found += [(name, self._text(f"headers.{name}", value)) for name, value in given.items()]
        for name, value in found:
            if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
                self._fail(f"the header {name!r} has characters that no header may have")
            if name.lower() in _RESERVED:
                self._fail(f"the header {name} cannot be set here")
        if sum(name.lower() == "authorization" for name, _ in found) > 1:
            self._fail("basic, bearer and an Authorization header exclude each other")
        return tuple(found)

    def _cookies(self, site: str) -> tuple[Cookie, ...]:
        given = self._table.get("cookies", [])
        if not isinstance(given, list):
            pairs = (pair.strip().partition("=") for pair in self._text("cookies", given).split(";"))
            given = [{"name": name, "value": value} for name, _, value in pairs if name]
        found = []
        for row in given:
            if not isinstance(row, dict):
                self._fail("cookies is a text like name=value; other=value, or a list of tables")
            row = {key: self._text(f"cookies.{key}", value) if key == "value" else value for key, value in row.items()}
            cookie = cookie_of_fields({"domain": host_of(f"{site}/"), **row})
            if cookie is None or not is_valid_pair(cookie.name, cookie.value):
                self._fail(f"the cookie {str(row.get('name', ''))!r} cannot be used")
            found.append(cookie)
        return tuple(found)

    def _proxy(self) -> ProxyServer | None:
        if "proxy" not in self._table:
            return None
        try:
            parts = urlsplit(self._text("proxy", self._table["proxy"]))
            port = parts.port or _PROXY_PORTS.get(parts.scheme, 0)
        except ValueError:
            port = 0
        if not port or parts.scheme not in _PROXY_PORTS or not parts.hostname or parts.path.strip("/"):
            self._fail("proxy is written as http://HOST:PORT, socks5://HOST:PORT or socks5h://HOST:PORT")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if max(len(user.encode()), len(password.encode())) > 255:
            self._fail("user name and password of a proxy have at most 255 bytes")
        resolves = parts.scheme == "socks5h" or self._table.get("proxy_resolves") is True
        return ProxyServer(parts.scheme.removesuffix("h"), parts.hostname, port, user, password, resolves)

    def _login(self, site: str) -> LoginRecipe | None:
        if "login" not in self._table:
            return None
        table = self._checked(self._table["login"], _LOGIN_KEYS, "login")
        more = table.get("fields", {})
        if "url" not in table or not isinstance(more, dict):
            self._fail("login needs url, the page with the form, and user and password or a table of fields")
        given = {key: table[key] for key in ("user", "password") if key in table} | more
        fields = tuple((name, self._text(f"login.{name}", value)) for name, value in given.items())
        return LoginRecipe(self._url(site, "login.url", table["url"]), fields)

    def _url(self, site: str, key: str, written: object) -> str:
        joined = join(f"{site}/", str(written))
        url = canonical(joined) if joined is not None else None
        if url is None or (site.startswith("https:") and not url.startswith("https:")):
            self._fail(f"{key} is no URL that can be used")
        return url


# Writing


def site_table(path: Path, site: str) -> dict[str, Any]:
    """Return the table of a site as it is written; empty: there is none."""
    tables = tomllib.loads(read_private_file(path, what="passwords")) if path.exists() else {}
    return next((table for name, table in tables.items() if name != ALL_SITES and site_name(name) == site), {})


def write_site(path: Path, site: str, table: Mapping[str, Any] | None) -> None:
    """Replace the table of a site in a file that only its owner can read; None: remove it. The rest stays."""
    before = read_private_file(path, what="passwords") if path.exists() else _HEADING
    text = _without_site(before, site)
    if table is not None:
        text = f"{text.rstrip()}\n\n{_toml_table(site, table)}"
    tomllib.loads(text)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error


def _without_site(text: str, site: str) -> str:
    """Return the text without the lines of a site's table and its subtables."""
    kept, is_inside = [], False
    for line in text.splitlines(keepends=True):
        heading = re.match(r"\s*\[+\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\]\s.]+)", line)
        if heading is not None:
            is_inside = heading[1].strip("\"'").rstrip("/") == site
        if not is_inside:
            kept.append(line)
    return "".join(kept)


def _toml_table(site: str, table: Mapping[str, Any]) -> str:
    name = _toml_value(site)
    plain = {key: value for key, value in table.items() if not isinstance(value, (dict, list))}
    lines = [f"[{name}]", *(f"{_toml_value(key)} = {_toml_value(value)}" for key, value in plain.items())]
    for key, value in table.items():
        for row in value if isinstance(value, list) else [value] if isinstance(value, dict) else []:
            opened = f"[[{name}.{key}]]" if isinstance(value, list) else f"[{name}.{key}]"
            lines += ["", opened, *(f"{_toml_value(own)} = {_toml_value(one)}" for own, one in row.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    """Return a value as TOML; JSON writes texts, numbers and truth values the same way, but for one character."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_value(key)} = {_toml_value(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def cookie_rows(cookies: tuple[Cookie, ...]) -> list[dict[str, Any]]:
    """Return cookies as they stand in a file."""
    return [cookie_fields(cookie) for cookie in cookies]


log = logging.getLogger("evercrawl")

MAX_SITES = 2000  # Sites in one file; those that were saved first go first.


class SessionFile:
    """Implements `SessionStore`. Several worker processes may share a file: each writes its own sites only."""

    def __init__(self, collection: Path, env: Mapping[str, str] | None = None) -> None:
        env = os.environ if env is None else env
        self.path = state_folder(env) / "sessions" / f"{collection_id(collection)}.json"

    def load(self, site: str) -> SessionState:
        """Return what is kept of a site."""
        found = self._read().get(site)
        if not isinstance(found, dict):
            return SessionState()
        cookies = [cookie for row in found.get("cookies", ()) if (cookie := cookie_of_fields(row)) is not None]
        logout_urls, suspects = (tuple(map(str, found.get(key, ()))) for key in ("logout_urls", "suspects"))
        return SessionState(tuple(cookies), logout_urls, suspects, str(found.get("basis", "")))

    def save(self, site: str, state: SessionState) -> None:
        """Keep a session; a file that cannot be written costs only a login in the next run."""
        fields = state._asdict() | {"cookies": [cookie_fields(cookie) for cookie in state.cookies]}
        try:
            with self._lock():
                sites = {name: kept for name, kept in self._read().items() if name != site} | {site: fields}
                replace_private(self.path, json.dumps(dict(list(sites.items())[-MAX_SITES:]), indent=1))
        except OSError as error:
            log.warning("the session of %s is not kept: %s: %s", site, self.path, error.strerror)

    def forget(self, site: str) -> None:
        """Remove a site."""
        if site in self._read():
            with self._lock():
                replace_private(self.path, json.dumps({k: v for k, v in self._read().items() if k != site}, indent=1))

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    @contextmanager
    def _lock(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


class NoSessions:
    """Implements `SessionStore` for sessions that end with the run."""

    def load(self, site: str) -> SessionState:
        return SessionState()

    def save(self, site: str, state: SessionState) -> None:
        pass
