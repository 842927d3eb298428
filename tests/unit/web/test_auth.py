"""Passwords, sessions, tokens, signatures and the one-time link."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evercrawl.errors import StoreUnavailable
from evercrawl.web.auth import SESSION_LIFETIME, AccessScope, AuthStore
from evercrawl.web.login import OneTimeLink


@pytest.fixture
def auth(tmp_path: Path):
    found = AuthStore(tmp_path)
    yield found
    found.close()


def test_password(auth: AuthStore):
    assert not auth.is_password("")
    auth.set_password("a long one")
    assert auth.is_password("a long one")
    assert not auth.is_password("a long one ")
    assert not auth.is_password("lone \ud800 surrogate")


def test_sessions_end(tmp_path: Path):
    moment = datetime(2026, 11, 15, tzinfo=UTC)
    auth = AuthStore(tmp_path, now=lambda: moment)
    secret = auth.begin_session("operator", AccessScope.ADMIN)
    user = auth.session(secret)
    assert user is not None
    assert user.csrf
    moment += SESSION_LIFETIME + timedelta(seconds=1)
    assert auth.session(secret) is None
    moment -= timedelta(days=2)
    auth.end_session(secret)
    assert auth.session(secret) is None
    auth.close()


def test_tokens_and_signatures_outlive_the_process(tmp_path: Path):
    first = AuthStore(tmp_path)
    secret, signature = first.add_token("t", AccessScope.OPERATE), first.signature("owner a")
    first.close()
    again = AuthStore(tmp_path)
    user = again.token(secret)
    assert user is not None
    assert user.scope is AccessScope.OPERATE
    assert again.is_signed("owner a", signature)
    assert not again.is_signed("owner b", signature)
    assert not again.is_signed("owner a", "ü")
    again.close()


def test_a_one_time_link_works_once_and_expires():
    moment = 0.0
    link = OneTimeLink(clock=lambda: moment)
    assert not link.use("guess")
    assert link.use(link.secret)
    assert not link.use(link.secret)
    late = OneTimeLink(clock=lambda: moment)
    moment = 1000.0
    assert not late.use(late.secret)


def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path):
    (tmp_path / "web.sqlite").write_bytes(b"not a database, but long enough to look like one" * 100)
    with pytest.raises(StoreUnavailable):
        AuthStore(tmp_path)
