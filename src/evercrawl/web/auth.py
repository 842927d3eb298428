"""Password, tokens, sessions and the audit log of the web interface.
They live in a small SQLite file in the collection's folder. It holds only hashes of secrets, except for the key that
signs links."""

from __future__ import annotations

import copy
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
from importlib.resources import files
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
_SCHEMA = files("evercrawl.web").joinpath("accounts.sql").read_text("utf-8")


class AccessScope(IntEnum):
    """What a user may do; each scope includes those before it."""

    READ = 1
    OPERATE = 2
    ADMIN = 3

    @property
    def label(self) -> str:
        """Return the name in the interface."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class User:
    """The sender of a request."""

    name: str
    scope: AccessScope
    csrf: str | None
    """Token that forms of this session must send; None for bearer tokens, which other sites cannot forge."""


ANONYMOUS = User("anonymous", AccessScope.READ, None)  # The user of public routes.


class StoredToken(NamedTuple):
    """A token without its secret."""

    id: int
    name: str
    scope: str
    created_us: int
    used_us: int | None


class AuditEntry(NamedTuple):
    """A change, with user and time."""

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
    """The secrets and the audit log of one collection; safe to use from several threads."""

    def __init__(self, collection: Path | None, *, now: Callable[[], datetime] = _now) -> None:
        """Without a collection, or with one that cannot be written, everything is in memory."""
        self._now = now
        self._lock = threading.Lock()
        self._path = None if collection is None else collection / AUTH_FILE
        self._open()
        self._secret = self._stored_secret("link", secrets.token_bytes(32))
        self._label = ""

    def _open(self) -> None:
        path = self._path or Path(":memory:")
        try:
            if self._path is not None:
                path.touch(mode=0o600)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
            self._create_tables(path)
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailable(f"cannot use {path}: {error}") from error

    def reopen(self) -> None:
        """Open the file again, which was copied into a restored collection."""
        if self._path is not None:
            with self._lock:
                self._db.close()
                self._open()
            self._secret = self._stored_secret("link", secrets.token_bytes(32))

    def for_collection(self, name: str) -> AuthStore:
        """Return the same users for one collection of a folder: links signed there are valid nowhere else, and the
        audit log names it. Close only the original."""
        found = copy.copy(self)
        found._path = None  # The file is the folder's: restoring a collection does not replace it.
        found._secret = hmac.new(self._secret, f"collection {name}".encode("utf-8", "replace"), hashlib.sha256).digest()
        found._label = f"collection: {name}"
        return found

    def _create_tables(self, path: Path) -> None:
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("begin immediate")
        version = self._db.execute("pragma user_version").fetchone()[0]
        if version == 0:
            for statement in _SCHEMA.strip().split(";\n"):
                self._db.execute(statement.rstrip(";"))
            self._db.execute(f"pragma user_version = {VERSION}")
        self._db.execute("commit")
        if version > VERSION:
            raise StoreUnavailable(f"{path} was written by a newer evercrawl; update evercrawl")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _execute(self, sql: str, *values: object) -> list[Any]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def _stored_secret(self, name: str, new: bytes) -> bytes:
        self._execute("insert into secret values (?, ?) on conflict do nothing", name, new)
        value: bytes = self._execute("select value from secret where name = ?", name)[0][0]
        return value

    # Signed links

    def signature(self, text: str) -> str:
        """Return the signature that proves that a link is ours."""
        return hmac.new(self._secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:40]

    def is_signed(self, text: str, signature: str) -> bool:
        """Return whether the signature belongs to the text."""
        return hmac.compare_digest(self.signature(text).encode(), signature.encode("utf-8", "replace"))

    # Password

    def set_password(self, password: str) -> None:
        """Replace the password and end all sessions."""
        salt = os.urandom(16)
        self._execute("insert or replace into secret values ('password', ?)", salt + _hash_password(password, salt))
        self._execute("delete from session")

    def has_password(self) -> bool:
        """Return whether a password is set."""
        return bool(self._execute("select 1 from secret where name = 'password'"))

    def is_password(self, password: str) -> bool:
        """Check a password; it takes equally long if none is set."""
        rows = self._execute("select value from secret where name = 'password'")
        kept = rows[0][0] if rows else bytes(80)
        is_same = hmac.compare_digest(_hash_password(password[:MAX_PASSWORD_CHARS], kept[:16]), kept[16:])
        return bool(rows) and is_same

    # Sessions

    def begin_session(self, who: str, scope: AccessScope) -> str:
        """Start a session and return its secret."""
        secret = secrets.token_urlsafe(32)
        expires = to_us(self._now() + SESSION_LIFETIME)
        self._execute("delete from session where expires_us < ?", to_us(self._now()))
        values = (_digest(secret), who, int(scope), secrets.token_urlsafe(24), expires)
        self._execute("insert into session values (?, ?, ?, ?, ?)", *values)
        return secret

    def session(self, secret: str) -> User | None:
        """Return the user of a session; None if it has ended."""
        rows = self._execute(
            "select who, scope, csrf from session where hash = ? and expires_us > ?",
            _digest(secret),
            to_us(self._now()),
        )
        return User(rows[0][0], AccessScope(rows[0][1]), rows[0][2]) if rows else None

    def end_session(self, secret: str) -> None:
        """End a session."""
        self._execute("delete from session where hash = ?", _digest(secret))

    # Tokens

    def add_token(self, name: str, scope: AccessScope) -> str:
        """Create a token and return its secret, which cannot be read again."""
        secret = f"ec_{secrets.token_urlsafe(32)}"
        created = to_us(self._now())
        self._execute(
            "insert into token (name, hash, scope, created_us) values (?, ?, ?, ?)",
            name, _digest(secret), int(scope), created,
        )  # fmt: skip
        return secret

    def revoke_token(self, number: int) -> bool:
        """Revoke a token; return False if there is none with this number."""
        return bool(self._execute("delete from token where id = ? returning id", number))

    def tokens(self) -> list[StoredToken]:
        """Return all tokens, newest first."""
        rows = self._execute("select id, name, scope, created_us, used_us from token order by id desc limit 500")
        return [StoredToken(row[0], row[1], AccessScope(row[2]).label, *row[3:]) for row in rows]

    def token(self, secret: str) -> User | None:
        """Return the user of a token; None if it is not valid."""
        rows = self._execute("select id, name, scope, used_us from token where hash = ?", _digest(secret))
        if not rows:
            return None
        number, name, scope, used_us = rows[0]
        if used_us is None or from_us(used_us) < self._now() - timedelta(minutes=1):
            self._execute("update token set used_us = ? where id = ?", to_us(self._now()), number)
        return User(f"token {name}", AccessScope(scope), None)

    # Audit log

    def log_change(self, who: str, what: str, detail: str = "") -> None:
        """Record a change."""
        detail = ", ".join(filter(None, (self._label, detail)))
        self._execute(
            "insert into audit (at_us, who, what, detail) values (?, ?, ?, ?)",
            to_us(self._now()), who, what, detail[:2000],
        )  # fmt: skip

    def audit_log(self, before: int = 2**62, limit: int = 50) -> list[AuditEntry]:
        """Return the changes before an entry, newest first."""
        rows = self._execute(
            "select id, at_us, who, what, detail from audit where id < ? order by id desc limit ?", before, limit
        )
        return list(map(AuditEntry._make, rows))


def _hash_password(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, dklen=64, **SCRYPT)
