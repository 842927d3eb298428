"""Resolve host names to allowed addresses, concurrently and with a bounded cache."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import NamedTuple

import aiodns
import pycares

from evercrawl.adapters.http.connections import FetchFailed, seconds_text
from evercrawl.core.http.ip_address import address_refusal, parse_ip_literal
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Fault
from evercrawl.model.settings import DnsSettings, HttpSettings

PRIVATE_HINT = "to allow it, crawl with --allow-private --refresh"
"""`--refresh`, because pages refused before are not due yet."""
LOOPBACK = ("127.0.0.1", "::1")
MAX_ADDRESSES = 32  # Addresses to keep per host.
TEMPORARY_FAILURE_S = 5.0  # How long to cache a temporary failure, such as a silent name server.

_DEFINITE = frozenset((pycares.errno.ARES_ENODATA, pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_EBADNAME))


LARGEST_PORT = 65_535


def _refusal_text(name: str, why: str) -> str:
    return why if why.startswith(f"{name} ") else f"{name} is not allowed: {why}"


class _CachedLookup(NamedTuple):
    """A cached answer: allowed addresses, or why there are none."""

    expires: float
    addresses: tuple[str, ...]
    fault: Fault = Fault.DNS
    detail: str = ""


class Resolver:
    """Resolve hosts. Callers must connect to the returned addresses without resolving again."""

    def __init__(self, dns: DnsSettings, http: HttpSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._dns = dns
        self._allow_private = http.allow_private
        self._overrides = parse_overrides(http.resolve)
        self._servers = parse_servers(dns.servers)
        self._clock = clock
        self._cache: dict[str, _CachedLookup] = {}
        self._pending: dict[str, asyncio.Task[_CachedLookup]] = {}
        self._slots = asyncio.Semaphore(dns.concurrency)
        self._channel: aiodns.DNSResolver | None = None

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return at least one address, IPv4 first; raise FetchFailed if none is allowed."""
        name = host.removesuffix(".").lower()
        fixed = self._overrides.get((name, port)) or parse_ip_literal(name) or localhost_addresses(name)
        if fixed:
            return self._require_addresses(self._filter_addresses(name, fixed, expires=0.0))
        entry = self._cache.get(name)
        if entry is None or entry.expires <= self._clock():
            entry = await self._shared_lookup(name)
        return self._require_addresses(entry)

    async def close(self) -> None:
        """Cancel running lookups and close the channel."""
        tasks = list(self._pending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    @staticmethod
    def _require_addresses(entry: _CachedLookup) -> tuple[str, ...]:
        if not entry.addresses:
            raise FetchFailed(entry.fault, entry.detail)
        return entry.addresses

    def _filter_addresses(self, name: str, found: tuple[str, ...], *, expires: float) -> _CachedLookup:
        """Keep only the addresses that may be used."""
        if self._allow_private:
            return _CachedLookup(expires, found)
        refused = [why for ip in found if (why := address_refusal(ip))]
        allowed = tuple(ip for ip in found if not address_refusal(ip)) if refused else found
        why = f"{_refusal_text(name, refused[0])}; {PRIVATE_HINT}" if refused else ""
        return _CachedLookup(expires, allowed, Fault.PRIVATE_ADDRESS, why)

    async def _shared_lookup(self, name: str) -> _CachedLookup:
        """Share one lookup between all concurrent callers of a name."""
        task = self._pending.get(name)
        if task is None:
            task = self._pending[name] = asyncio.create_task(self._lookup(name))
            task.add_done_callback(lambda _: self._pending.pop(name, None))
        return await asyncio.shield(task)

    async def _lookup(self, name: str) -> _CachedLookup:
        async with self._slots:
            entry = await self._query(name)
        self._cache.pop(name, None)  # so that it becomes the newest
        self._cache[name] = entry
        while len(self._cache) > self._dns.cache_entries:
            del self._cache[next(iter(self._cache))]
        return entry

    async def _query(self, name: str) -> _CachedLookup:
        limit = self._dns.timeout.total_seconds()
        try:
            async with asyncio.timeout(limit):
                answer = await self._get_channel().getaddrinfo(name)
        except TimeoutError:
            return self._failure(
                f"no answer from a name server for {name} within {seconds_text(limit)}", TEMPORARY_FAILURE_S
            )
        except aiodns.error.DNSError as error:
            number, text = error.args[0], str(error.args[-1])
            cache_s = self._dns.negative_ttl.total_seconds() if number in _DEFINITE else TEMPORARY_FAILURE_S
            return self._failure(f"{name}: {text}", cache_s)
        found = sorted({node.addr[0].decode(): node.ttl for node in answer.nodes}.items(), key=_is_ipv6)
        if not found:
            return self._failure(f"{name} has no address", self._dns.negative_ttl.total_seconds())
        expires = self._clock() + self._cache_time(min(ttl for _, ttl in found))
        return self._filter_addresses(name, tuple(ip for ip, _ in found[:MAX_ADDRESSES]), expires=expires)

    def _failure(self, detail: str, cache_s: float) -> _CachedLookup:
        return _CachedLookup(self._clock() + cache_s, (), Fault.DNS, detail)

    def _cache_time(self, ttl: float) -> float:
        shortest, longest = self._dns.min_ttl.total_seconds(), self._dns.max_ttl.total_seconds()
        return min(max(ttl, shortest), longest)

    def _get_channel(self) -> aiodns.DNSResolver:
        # Created late: it starts a thread and belongs to the running loop. Names are complete, so no search
        # domain is tried. The hosts file comes before the name servers, as usual. The option `lookups` is
        # not used: pycares 5.2 passes it in memory that it has already freed.
        if self._channel is None:
            each_try = self._dns.timeout.total_seconds() / max(1, self._dns.attempts)
            self._channel = aiodns.DNSResolver(
                nameservers=self._servers or None,
                timeout=each_try,
                tries=self._dns.attempts,
                flags=pycares.ARES_FLAG_NOSEARCH,
            )
        return self._channel


def _is_ipv6(found: tuple[str, int]) -> bool:
    return ip_address(found[0].partition("%")[0]).version == 6


def localhost_addresses(name: str) -> tuple[str, ...]:
    """Resolve localhost and its subdomains to this machine (RFC 6761 section 6.3)."""
    return LOOPBACK if name == "localhost" or name.endswith(".localhost") else ()


def parse_overrides(entries: Sequence[str]) -> dict[tuple[str, int], tuple[str, ...]]:
    """Parse `HOST:PORT:ADDR[,ADDR]`, as in curl, by host and port."""
    overrides: dict[tuple[str, int], tuple[str, ...]] = {}
    for entry in entries:
        host, port, addresses = _override_parts(entry)
        overrides[host.lower().removesuffix("."), port] = addresses
    return overrides


def _override_parts(entry: str) -> tuple[str, int, tuple[str, ...]]:
    host, _, rest = entry.partition(":") if not entry.startswith("[") else entry.partition("]:")
    if entry.startswith("["):
        host += "]"
    port, _, listed = rest.partition(":")
    addresses = tuple(ip for text in listed.split(",") for ip in parse_ip_literal(text.strip()))
    if not host or not _is_port(port) or len(addresses) != listed.count(",") + 1:
        raise ConfigError(
            f"http.resolve {entry!r} cannot be used: write HOST:PORT:ADDRESS, such as site.test:80:127.0.0.1"
        )
    return host, int(port), addresses


def parse_servers(entries: Sequence[str]) -> list[str]:
    """Validate name servers: `1.2.3.4`, `1.2.3.4:5353`, `::1` or `[::1]:5353`."""
    for entry in entries:
        if not _is_server(entry):
            raise ConfigError(f"dns.servers {entry!r} cannot be used: write an address, or an address and a port")
    return list(entries)


def _is_server(entry: str) -> bool:
    if parse_ip_literal(entry):
        return True
    host, _, port = entry.rpartition(":")
    return _is_port(port) and bool(parse_ip_literal(host)) and (host.startswith("[") or ":" not in host)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST_PORT
