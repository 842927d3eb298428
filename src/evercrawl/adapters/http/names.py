"""Addresses as the operator and URLs write them; what cannot be read is the operator's error."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

from evercrawl.errors import ConfigError

LARGEST_PORT = 65_535


def literal_address(host: str) -> tuple[str, ...]:
    """The address that a URL's host spells, without brackets; empty where it is a name."""
    try:
        return (str(ip_address(host.strip("[]"))),)
    except ValueError:
        return ()


def read_overrides(entries: Sequence[str]) -> dict[tuple[str, int], tuple[str, ...]]:
    """`HOST:PORT:ADDR[,ADDR]` as curl has it, by host and port."""
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
    addresses = tuple(ip for text in listed.split(",") for ip in literal_address(text.strip()))
    if not host or not _is_port(port) or len(addresses) != listed.count(",") + 1:
        raise ConfigError(
            f"http.resolve {entry!r} cannot be used: write HOST:PORT:ADDRESS, such as site.test:80:127.0.0.1"
        )
    return host, int(port), addresses


def read_servers(entries: Sequence[str]) -> list[str]:
    """Name servers as the resolver library wants them: `1.2.3.4`, `1.2.3.4:5353`, `::1` or `[::1]:5353`."""
    for entry in entries:
        if not _is_server(entry):
            raise ConfigError(f"dns.servers {entry!r} cannot be used: write an address, or an address and a port")
    return list(entries)


def _is_server(entry: str) -> bool:
    if literal_address(entry):
        return True
    host, _, port = entry.rpartition(":")
    return _is_port(port) and bool(literal_address(host)) and (host.startswith("[") or ":" not in host)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST_PORT
