"""Connections for libraries that block (mail, urllib): the same address checks as the crawler's own connections.
Names are resolved once, every answer is checked, and the connection goes to the checked address."""

from __future__ import annotations

import socket
from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import HTTPHandler, HTTPSHandler, ProxyHandler, Request

from evercrawl.adapters.http.dns import PRIVATE_HINT, localhost_addresses, parse_overrides
from evercrawl.core.http.ip_address import address_refusal, parse_ip_literal
from evercrawl.errors import ConfigError
from evercrawl.model.settings import HttpSettings

MAX_TRIED = 4  # Addresses of a host to try.

FindAddresses = Callable[[str, int], tuple[str, ...]]


def system_addresses(host: str, port: int) -> tuple[str, ...]:
    """Ask the system for the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedDialer:
    """Open connections to public addresses, and to private ones only if they are allowed."""

    def __init__(
        self, http: HttpSettings, *, is_named: bool = False, find_addresses: FindAddresses = system_addresses
    ) -> None:
        """`is_named`: the user named the host, so a private address that stands there itself (also as localhost or in
        `http.resolve`) is meant. What a name server answers is never taken for the user's word."""
        self._allow_private = http.allow_private
        self._is_named = is_named
        self._overrides = parse_overrides(http.resolve)
        self._find_addresses = find_addresses

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses that may be used; raise ConfigError if there are only others."""
        name = host.removesuffix(".").lower()
        fixed = self._overrides.get((name, port)) or parse_ip_literal(name) or localhost_addresses(name)
        found = fixed or self._find_addresses(name, port)
        if self._allow_private or (fixed and self._is_named):
            return found
        allowed = tuple(ip for ip in found if address_refusal(ip) is None)
        if not allowed:
            refused = next(filter(None, map(address_refusal, found)), "it has no address")
            remedy = f"if you mean it, set http.resolve to {name}:{port}:ADDRESS" if self._is_named else PRIVATE_HINT
            raise ConfigError(f"{host} is not allowed: {refused}; {remedy}")
        return allowed

    def connect(self, host: str, port: int, *, timeout_s: float | None) -> socket.socket:
        """Open a connection; raise ConfigError, or OSError if no address answers."""
        failure: OSError = OSError(f"{host} has no address")
        for ip in self.addresses(host, port)[:MAX_TRIED]:
            try:
                return socket.create_connection((ip, port), timeout_s)
            except OSError as error:
                failure = error
        raise failure

    def handlers(self) -> tuple[ProxyHandler, HTTPHandler, HTTPSHandler]:
        """Return what makes `urllib` connect through this dialer and through no proxy."""
        return ProxyHandler({}), _GuardedHttp(self), _GuardedHttps(self)

    def http_connection(self, kind: type[HTTPConnection], host: str, **options: Any) -> HTTPConnection:
        """Return an HTTP connection that connects through this dialer."""
        made = kind(host, **options)

        def create(address: tuple[str, int], timeout: float | None = None, _source: object = None) -> socket.socket:
            return self.connect(*address, timeout_s=timeout)

        made._create_connection = create  # type: ignore[attr-defined]  # The only way in without a copy of connect().
        return made


class _GuardedHttp(HTTPHandler):
    def __init__(self, dialer: GuardedDialer) -> None:
        super().__init__()
        self._dialer = dialer

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(lambda host, **options: self._dialer.http_connection(HTTPConnection, host, **options), req)


class _GuardedHttps(HTTPSHandler):
    def __init__(self, dialer: GuardedDialer) -> None:
        super().__init__()
        self._dialer = dialer

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(lambda host, **options: self._dialer.http_connection(HTTPSConnection, host, **options), req)
