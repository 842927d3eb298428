"""Features that block send through one dialer: it connects only to addresses that it has checked."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.message import EmailMessage

import pytest

from evercrawl.adapters.http.dialer import GuardedDialer
from evercrawl.adapters.remote_search import search_remote
from evercrawl.collection.alerts.mail import send_mail
from evercrawl.errors import ConfigError
from evercrawl.model.settings import AlertSettings, HttpSettings

PRIVATE = (
    "127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "fe80::1%lo", "fd00::1",
    "64:ff9b::a00:7",
)  # fmt: skip


def answers(*turns: tuple[str, ...]) -> Callable[[str, int], tuple[str, ...]]:
    """Return a name server whose answers change from lookup to lookup; the last one stays."""
    left = list(turns)
    return lambda host, port: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def inside() -> Iterator[tuple[int, list[object]]]:
    """Yield the port of a server on loopback, and what connected to it."""
    seen: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                seen.append(address)
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], seen
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def search_through(dialer: GuardedDialer, host: str, port: int) -> None:
    search_remote(f"http://{host}:{port}", "words", limit=1, timeout_s=5, dialer=dialer)


def search_tls_through(dialer: GuardedDialer, host: str, port: int) -> None:
    search_remote(f"https://{host}:{port}", "words", limit=1, timeout_s=5, dialer=dialer)


def mail_through(tls: str) -> Callable[[GuardedDialer, str, int], None]:
    def send(dialer: GuardedDialer, host: str, port: int) -> None:
        mail = EmailMessage()
        mail["From"], mail["To"] = "a@example.org", "b@example.org"
        settings = AlertSettings(mail_host=host, mail_port=port, mail_tls=tls, delivery_timeout=timedelta(seconds=5))
        send_mail(mail, settings, None, dialer)

    return send


FEATURES = {
    "search": search_through,
    "search over TLS": search_tls_through,
    "mail": mail_through("off"),
    "mail over TLS": mail_through("tls"),
    "mail with STARTTLS": mail_through("starttls"),
}


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("target", PRIVATE)
def test_a_name_that_leads_inside_is_refused(feature: str, target: str) -> None:
    with inside() as (port, seen):
        dialer = GuardedDialer(HttpSettings(), is_named=True, find_addresses=answers((target,)))
        with pytest.raises(ConfigError, match="is not allowed"):
            FEATURES[feature](dialer, "public.example", port)
        assert seen == []


@pytest.mark.parametrize("feature", FEATURES)
def test_a_name_is_resolved_once_for_check_and_connection(feature: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second answer, as in DNS rebinding, is checked like the first; a private one among public ones is left out."""
    tried: list[tuple[str, int]] = []

    def create_connection(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        tried.append(address)
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr("socket.create_connection", create_connection)
    turns = answers(("9.9.9.9", "127.0.0.1"), ("127.0.0.1",))
    dialer = GuardedDialer(HttpSettings(), is_named=True, find_addresses=turns)
    with pytest.raises(Exception, match=r"cannot (be reached|connect)"):
        FEATURES[feature](dialer, "public.example", 25)
    with pytest.raises(ConfigError, match="loopback"):
        FEATURES[feature](dialer, "public.example", 25)
    assert tried == [("9.9.9.9", 25)]


def test_an_address_that_the_user_wrote_is_meant_but_not_for_others() -> None:
    named, others = GuardedDialer(HttpSettings(), is_named=True), GuardedDialer(HttpSettings())
    pinned = HttpSettings(resolve=("mail.example:25:10.0.0.7",))
    assert named.addresses("127.0.0.1", 25) == ("127.0.0.1",)
    assert named.addresses("localhost", 25) == ("127.0.0.1", "::1")
    assert GuardedDialer(pinned, is_named=True).addresses("mail.example", 25) == ("10.0.0.7",)
    for host in ("127.0.0.1", "[::1]", "localhost", "LOCALHOST.", "x.localhost"):
        with pytest.raises(ConfigError, match="loopback"):
            others.addresses(host, 25)
    with pytest.raises(ConfigError, match="private"):
        GuardedDialer(pinned).addresses("mail.example", 25)


def test_a_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with inside() as (proxy, seen), inside() as (port, reached):
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy}")
        with pytest.raises(Exception, match="cannot be reached"):
            search_through(GuardedDialer(HttpSettings(), is_named=True), "127.0.0.1", port)
        assert (seen, len(reached)) == ([], 1)
