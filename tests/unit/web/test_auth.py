"""Secrets are kept as hashes, end when they should, and sign only what they were asked to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evercrawl.errors import StoreUnavailable
from evercrawl.web.auth import SESSION_LIFETIME, AccessScope, AuthStore
from evercrawl.web.login import OneTimeLink


@pytest.fixture
def keyring(tmp_path: Path):
    found = AuthStore(tmp_path)
    yield found
    found.close()


def test_password(keyring: AuthStore):
    assert not keyring.is_password("")
    keyring.set_password("a long one")
    assert keyring.is_password("a long one")
    assert not keyring.is_password("a long one ")
    assert not keyring.is_password("lone \ud800 surrogate")


def test_sessions_end(tmp_path: Path):
    moment = datetime(2026, 11, 15, tzinfo=UTC)
    keyring = AuthStore(tmp_path, now=lambda: moment)
    secret = keyring.begin_session("operator", AccessScope.ADMIN)
    visitor = keyring.session(secret)
    assert visitor is not None
    assert visitor.csrf
    moment += SESSION_LIFETIME + timedelta(seconds=1)
    assert keyring.session(secret) is None
    moment -= timedelta(days=2)
    keyring.end_session(secret)
    assert keyring.session(secret) is None
    keyring.close()


def test_tokens_and_signatures_outlive_the_process(tmp_path: Path):
    first = AuthStore(tmp_path)
    secret, signature = first.add_token("t", AccessScope.OPERATE), first.signature("owner a")
    first.close()
    again = AuthStore(tmp_path)
    visitor = again.token(secret)
    assert visitor is not None
    assert visitor.scope is AccessScope.OPERATE
    assert again.is_signed("owner a", signature)
    assert not again.is_signed("owner b", signature)
    assert not again.is_signed("owner a", "ü")
    again.close()


def test_a_link_works_once_and_not_for_long():
    moment = 0.0
    link = OneTimeLink(clock=lambda: moment)
    assert not link.take("guess")
    assert link.take(link.secret)
    assert not link.take(link.secret)
    late = OneTimeLink(clock=lambda: moment)
    moment = 1000.0
    assert not late.take(late.secret)


def test_a_file_that_is_none_of_ours_is_said(tmp_path: Path):
    (tmp_path / "web.sqlite").write_bytes(b"not a database, but long enough to look like one" * 100)
    with pytest.raises(StoreUnavailable):
        AuthStore(tmp_path)
