"""Opening connections: to the addresses that the guard let through and to nothing else."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import cached_property

from evercrawl.adapters.http.connection import Connection
from evercrawl.adapters.http.dns import Resolver
from evercrawl.adapters.http.failure import FetchFailed, seconds_text
from evercrawl.adapters.http.names import literal_address
from evercrawl.core.url import SiteName
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Fault
from evercrawl.model.settings import HttpSettings

ADDRESSES_TRIED = 4
"""Addresses of one site that are tried, one after the other, for one request."""

_TLS_WORDS = {
    "WRONG_VERSION_NUMBER": "the server does not speak TLS on this port",
    "HTTP_REQUEST": "the server does not speak TLS on this port",
    "RECORD_LAYER_FAILURE": "the server does not speak TLS on this port",
    "UNSUPPORTED_PROTOCOL": "the server speaks only versions of TLS that are no longer safe",
    "TLSV1_ALERT_PROTOCOL_VERSION": "the server speaks only versions of TLS that are no longer safe",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "no cipher in common with the server",
    "UNEXPECTED_EOF_WHILE_READING": "the server closed the connection during the TLS handshake",
}


class Dialer:
    """Opens connections to sites, within a time limit."""

    def __init__(self, http: HttpSettings, resolver: Resolver, *, lost: Callable[[Connection], None]) -> None:
        self._http = http
        self._resolver = resolver
        self._lost = lost
        self._limit = http.connect.total_seconds()
        if http.ca_file is not None:
            _ = self._tls  # a file that cannot be read is the operator's error, and found at start

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Made at the first need, for reading the system's authorities takes many milliseconds."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        if self._http.ca_file is not None:
            try:
                context.load_verify_locations(self._http.ca_file)
            except OSError as error:
                raise ConfigError(f"http.ca_file {self._http.ca_file!r} cannot be read: {error}") from error
        if not self._http.verify_tls:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    async def dial(self, site: SiteName, *, deadline: float) -> Connection:
        """A new connection to the first address that answers; raises FetchFailed."""
        addresses = (await self._resolver.addresses(site.host, site.port))[:ADDRESSES_TRIED]
        loop = asyncio.get_running_loop()
        end = min(loop.time() + self._limit, deadline)
        failure = FetchFailed(Fault.TIMEOUT, f"no connection within {seconds_text(self._limit)}")
        for tried, ip in enumerate(addresses):
            share = (end - loop.time()) / (len(addresses) - tried)
            if share <= 0:
                break
            try:
                return await self._connect(site, ip, share)
            except FetchFailed as error:
                failure = error
        raise failure

    async def _connect(self, site: SiteName, ip: str, seconds: float) -> Connection:
        loop = asyncio.get_running_loop()
        is_tls = site.scheme == "https"
        connection = Connection(site, ip, lost=self._lost)
        try:
            async with asyncio.timeout(seconds):
                if is_tls:
                    name = literal_address(site.host) or (site.host.removesuffix("."),)
                    await loop.create_connection(
                        lambda: connection, ip, site.port, ssl=self._tls, server_hostname=name[0]
                    )
                else:
                    await loop.create_connection(lambda: connection, ip, site.port)
        except TimeoutError as error:
            raise FetchFailed(Fault.TIMEOUT, f"no connection to {ip} within {seconds_text(self._limit)}") from error
        except (OSError, ssl.SSLError) as error:
            raise _why_not_connected(error, ip, site) from error
        return connection


def _why_not_connected(error: OSError, ip: str, site: SiteName) -> FetchFailed:
    if isinstance(error, ssl.SSLCertVerificationError):
        return FetchFailed(Fault.TLS, f"the certificate of {site.host} is refused: {error.verify_message}")
    if isinstance(error, ssl.SSLError):
        reason = error.reason or str(error)
        return FetchFailed(Fault.TLS, _TLS_WORDS.get(reason, f"the TLS handshake failed: {reason.lower()}"))
    if site.scheme == "https" and isinstance(error, (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)):
        return FetchFailed(Fault.TLS, "the server closed the connection during the TLS handshake")
    return FetchFailed(Fault.CONNECT, f"cannot connect to {ip} port {site.port}: {error.strerror or error}")
