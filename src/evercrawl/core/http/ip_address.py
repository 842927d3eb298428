"""Refuse addresses that only we can reach: a page or name server must not point us at internal machines.
Addresses that the IANA special-purpose registries (RFC 6890, RFC 8190) do not call globally reachable are refused, also
inside an IPv6 address. So are multicast and cloud metadata addresses."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

MAX_CACHED_HOSTS = 1024  # A visit asks about the address of its connection.

_REFUSED_4 = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "an unspecified address"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "an address of a provider's inner network"),
        ("127.0.0.0/8", "a loopback address"),
        ("168.63.129.16/32", "a cloud metadata address"),
        ("169.254.169.254/32", "a cloud metadata address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "an address for documentation"),
        ("192.88.99.0/24", "a reserved address"),
        ("192.168.0.0/16", "a private address"),
        ("198.18.0.0/15", "an address for benchmarks"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
    )
)
_REFUSED_6 = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "an unspecified address"),
        ("::1/128", "a loopback address"),
        ("::/96", "an IPv4 address in an obsolete form"),
        ("::ffff:0:0/96", "an IPv4 address in an IPv6 form"),
        ("2001:db8::/32", "an address for documentation"),
        ("3fff::/20", "an address for documentation"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("ff00::/8", "a multicast address"),
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_PROTOCOLS_6 = IPv6Network("2001::/23")


def address_refusal(ip: str) -> str | None:
    """Return why an address must not be connected to; None if it may be."""
    try:
        address = ip_address(ip)
    except ValueError:
        return f"{ip!r} is not an address"
    kind = _kind_4(address) if isinstance(address, IPv4Address) else _kind_6(address)
    return None if kind is None else f"{ip} is {kind}"


def _kind_4(address: IPv4Address) -> str | None:
    return next((kind for network, kind in _REFUSED_4 if address in network), None)


def _kind_6(address: IPv6Address) -> str | None:
    if address.scope_id is not None:
        return "a link-local address"
    for network, kind in _REFUSED_6:
        if address in network:
            return kind
    if hidden := _embedded_ipv4(address):
        return next((f"a form of {inner}, {why}" for inner in hidden if (why := _kind_4(inner))), None)
    if address in _PROTOCOLS_6 or address not in _GLOBAL_6:
        return "a reserved address"
    return None


def _embedded_ipv4(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses that a gateway would reach: NAT64, 6to4 and Teredo."""
    if address in _NAT64:
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    return address.teredo or ()


@lru_cache(maxsize=MAX_CACHED_HOSTS)
def parse_ip_literal(host: str) -> tuple[str, ...]:
    """Return the address in a URL's host, without brackets; empty if it is a name."""
    try:
        return (str(ip_address(host.strip("[]"))),)
    except ValueError:
        return ()
