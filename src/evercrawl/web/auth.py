"""Who may come in: the password, tokens, sessions, and the book of what was changed by whom.

A small SQLite file of its own in the collection's folder. Only hashes of secrets are kept, but for the key
that signs links.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.errors import StoreUnavailable
from evercrawl.model.time import from_us, to_us

AUTH_FILE = "web.sqlite"
VERSION = 1
SESSION_LIFETIME = timedelta(days=14)
MIN_PASSWORD_CHARS = 10
MAX_PASSWORD_CHARS = 1000
SCRYPT = {"n": 2**14, "r": 8, "p": 2, "maxmem": 64 * 1024 * 1024}
_SCHEMA = """
create table secret (name text primary key, value blob not null) without rowid;
create table token (id integer primary key, name text not null, hash blob not null unique,
                    scope integer not null, made_us integer not null, used_us integer);
create table session (hash blob primary key, who text not null, scope integer not null, csrf text not null,
                      expires_us integer not null) without rowid;
create table audit (id integer primary key, at_us integer not null, who text not null, what text not null,
                    detail text not null);
"""


class AccessScope(IntEnum):
    """What somebody may do; each includes those before."""

    READ = 1
    OPERATE = 2
    ADMIN = 3

    @property
    def word(self) -> str:
        """As it is written."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class User:
    """Who asks."""

    name: str
    scope: AccessScope
    csrf: str | None
    """What a form of this session must carry; None: it came with a token, which no other site can send."""


ANONYMOUS = User("anybody", AccessScope.READ, None)
"""Who has not logged in, where that is not needed."""


class StoredToken(NamedTuple):
    """A token, without the secret."""

    id: int
    name: str
    scope: str
    made_us: int
    used_us: int | None


class AuditEntry(NamedTuple):
    """One change, by whom and when."""

    id: int
    at_us: int
    who: str
    what: str
    detail: str


def _now() -> datetime:
    return datetime.now(UTC)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class AuthStore:
    """The secrets of one collection's interface; safe to use from several threads."""

    def __init__(self, collection: Path, *, now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._turn = threading.Lock()
        path = collection / AUTH_FILE
        try:
            path.touch(mode=0o600)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
            self._bring_up(path)
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailable(f"{path} cannot be used: {error}") from error
        self._secret = self._kept_secret("link", secrets.token_bytes(32))

    def _bring_up(self, path: Path) -> None:
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("begin immediate")
        version = self._db.execute("pragma user_version").fetchone()[0]
        if version == 0:
            for statement in _SCHEMA.strip().split(";\n"):
                self._db.execute(statement.rstrip(";"))
            self._db.execute(f"pragma user_version = {VERSION}")
        self._db.execute("commit")
        if version > VERSION:
            raise StoreUnavailable(f"{path} was written by a newer evercrawl; install that version")

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._db.close()

    def _do(self, sql: str, *values: object) -> list[Any]:
        with self._turn:
            return self._db.execute(sql, values).fetchall()

    def _kept_secret(self, name: str, fresh: bytes) -> bytes:
        self._do("insert into secret values (?, ?) on conflict do nothing", name, fresh)
        value: bytes = self._do("select value from secret where name = ?", name)[0][0]
        return value

    # Signed links

    def signature(self, text: str) -> str:
        """What proves that a link was made here."""
        return hmac.new(self._secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:40]

    def is_signed(self, text: str, signature: str) -> bool:
        """The signature belongs to the text."""
        return hmac.compare_digest(self.signature(text).encode(), signature.encode("utf-8", "replace"))

    # The password

    def set_password(self, password: str) -> None:
        """Replace the password; every session ends."""
        salt = os.urandom(16)
        self._do("insert or replace into secret values ('password', ?)", salt + _hash_password(password, salt))
        self._do("delete from session")

    def has_password(self) -> bool:
        """There is one."""
        return bool(self._do("select 1 from secret where name = 'password'"))

    def is_password(self, password: str) -> bool:
        """It is the one; takes its time either way."""
        rows = self._do("select value from secret where name = 'password'")
        kept = rows[0][0] if rows else bytes(80)
        is_same = hmac.compare_digest(_hash_password(password[:MAX_PASSWORD_CHARS], kept[:16]), kept[16:])
        return bool(rows) and is_same

    # Sessions

    def begin_session(self, who: str, scope: AccessScope) -> str:
        """The secret of a new session."""
        secret = secrets.token_urlsafe(32)
        expires = to_us(self._now() + SESSION_LIFETIME)
        self._do("delete from session where expires_us < ?", to_us(self._now()))
        values = (_digest(secret), who, int(scope), secrets.token_urlsafe(24), expires)
        self._do("insert into session values (?, ?, ?, ?, ?)", *values)
        return secret

    def session(self, secret: str) -> User | None:
        """Who has this session; None: nobody (any more)."""
        rows = self._do(
            "select who, scope, csrf from session where hash = ? and expires_us > ?",
            _digest(secret),
            to_us(self._now()),
        )
        return User(rows[0][0], AccessScope(rows[0][1]), rows[0][2]) if rows else None

    def end_session(self, secret: str) -> None:
        """Log out."""
        self._do("delete from session where hash = ?", _digest(secret))

    # Tokens

    def add_token(self, name: str, scope: AccessScope) -> str:
        """The secret of a new token; it is shown once and cannot be read again."""
        secret = f"ec_{secrets.token_urlsafe(32)}"
        made = to_us(self._now())
        self._do(
            "insert into token (name, hash, scope, made_us) values (?, ?, ?, ?)",
            name, _digest(secret), int(scope), made,
        )  # fmt: skip
        return secret

    def drop_token(self, number: int) -> bool:
        """The token is worth nothing any more; False: there is none of this number."""
        return bool(self._do("delete from token where id = ? returning id", number))

    def tokens(self) -> list[StoredToken]:
        """All of them, newest first."""
        rows = self._do("select id, name, scope, made_us, used_us from token order by id desc limit 500")
        return [StoredToken(row[0], row[1], AccessScope(row[2]).word, *row[3:]) for row in rows]

    def token(self, secret: str) -> User | None:
        """Who has this token; None: nobody."""
        rows = self._do("select id, name, scope, used_us from token where hash = ?", _digest(secret))
        if not rows:
            return None
        number, name, scope, used_us = rows[0]
        if used_us is None or from_us(used_us) < self._now() - timedelta(minutes=1):
            self._do("update token set used_us = ? where id = ?", to_us(self._now()), number)
        return User(f"token {name}", AccessScope(scope), None)

    # The book

    def note(self, who: str, what: str, detail: str = "") -> None:
        """Something was changed."""
        self._do(
            "insert into audit (at_us, who, what, detail) values (?, ?, ?, ?)",
            to_us(self._now()), who, what, detail[:2000],
        )  # fmt: skip

    def book(self, before: int = 2**62, most: int = 50) -> list[AuditEntry]:
        """The changes before a line, newest first."""
        rows = self._do(
            "select id, at_us, who, what, detail from audit where id < ? order by id desc limit ?", before, most
        )
        return list(map(AuditEntry._make, rows))


def _hash_password(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, dklen=64, **SCRYPT)
