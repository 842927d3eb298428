"""Proxies: HTTP (RFC 9110 section 9.3.6) and SOCKS5 (RFC 1928 and 1929).
The user names the proxy, so its own address may be private. Addresses of sites are checked here before a proxy gets
them, unless the user lets the proxy look them up."""

from __future__ import annotations

import asyncio
import socket
from base64 import b64encode
from collections.abc import Callable
from ipaddress import ip_address

from evercrawl.adapters.http.connections import FetchFailed
from evercrawl.adapters.http.dns import Resolver, localhost_addresses
from evercrawl.core.http.ip_address import parse_ip_literal
from evercrawl.core.url import SiteName
from evercrawl.model.credentials import ProxyServer
from evercrawl.model.fetch import Fault

ProxyOf = Callable[[SiteName], ProxyServer | None]

MAX_REPLY_BYTES = 16 * 1024
_SOCKS_VERSION, _NO_LOGIN, _PASSWORD_LOGIN = 5, 0, 2
_SOCKS_ERRORS = dict(enumerate((
    "a general failure", "its rules forbid it", "the network is unreachable", "the host is unreachable",
    "the site refuses connections", "the connection timed out", "it cannot connect for others",
    "it does not know this type of address",
), start=1))  # fmt: skip
_TARGET_ERRORS = frozenset((3, 4, 5, 6))  # The proxy works, but the site does not answer it.
_GATEWAY_ERRORS = frozenset((502, 503, 504))
_FORBIDDEN = frozenset((400, 403, 405, 501))  # What proxies answer that open no tunnel to addresses or plain HTTP.
_LENGTHS = {1: 4, 4: 16}  # Bytes of an address by its type; names have a length of their own.


def no_proxy(_: SiteName) -> ProxyServer | None:
    """Connect directly."""
    return None


def forward_lines(proxy: ProxyServer, site: SiteName) -> str | None:
    """Return the header lines for a proxy that forwards requests; None: it passes on what we send.
    HTTP proxies that look names up forward plain HTTP, because many of them open tunnels for TLS only."""
    return _login_line(proxy) if proxy.scheme == site.scheme == "http" and proxy.resolves else None


def _login_line(proxy: ProxyServer) -> str:
    if not proxy.user:
        return ""
    return f"Proxy-Authorization: Basic {b64encode(f'{proxy.user}:{proxy.password}'.encode()).decode()}\r\n"


async def proxy_targets(proxy: ProxyServer, site: SiteName, resolver: Resolver, *, verify_tls: bool) -> tuple[str, ...]:
    """Return the addresses or the name to ask a proxy for; raise FetchFailed if they are not allowed.
    Proxies get a checked address, so that another answer of the name server leads nowhere. HTTP proxies have rules
    about names, so they get the name if the site must prove with its certificate that it is the one asked for."""
    is_literal = parse_ip_literal(site.host) or localhost_addresses(site.host.removesuffix(".").lower())
    if proxy.resolves and not is_literal:
        return (site.host,)
    allowed = await resolver.addresses(site.host, site.port)
    return (site.host,) if proxy.scheme == "http" and site.scheme == "https" and verify_tls else allowed


async def open_tunnel(proxy: ProxyServer, host: str, port: int, *, forwards: bool) -> socket.socket:
    """Return a connection through the proxy to a host, or to the proxy itself if it forwards requests."""
    tunnel = await _connect(proxy)
    try:
        if not forwards and proxy.scheme == "socks5":
            await _socks_connect(tunnel, proxy, host, port)
        elif not forwards:
            await _http_connect(tunnel, proxy, host, port)
    except (OSError, asyncio.IncompleteReadError) as error:
        tunnel.close()
        raise FetchFailed(Fault.PROXY, f"the proxy {proxy} closed the connection") from error
    except BaseException:
        tunnel.close()
        raise
    return tunnel


async def _connect(proxy: ProxyServer) -> socket.socket:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(proxy.host.strip("[]"), proxy.port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)
        try:
            await loop.sock_connect(opened, address)
        except BaseException:
            opened.close()
            raise
    except OSError as error:
        raise FetchFailed(Fault.PROXY, f"the proxy {proxy} cannot be reached: {error.strerror or error}") from error
    return opened


async def _http_connect(tunnel: socket.socket, proxy: ProxyServer, host: str, port: int) -> None:
    loop = asyncio.get_running_loop()
    target = f"[{host}]:{port}" if ":" in host and host[0] != "[" else f"{host}:{port}"
    head = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{_login_line(proxy)}\r\n"
    await loop.sock_sendall(tunnel, head.encode("latin-1"))
    reply = b""
    while b"\r\n\r\n" not in reply and len(reply) < MAX_REPLY_BYTES:
        reply += await _receive(tunnel, 1)
    words = reply.split(b"\r\n", 1)[0].split(b" ", 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    if 200 <= status < 300:
        return
    if status == 407:
        raise FetchFailed(Fault.PROXY, f"the proxy {proxy} wants another user name or password (407)")
    fault = Fault.CONNECT if status in _GATEWAY_ERRORS else Fault.PROXY
    hint = "; if it wants names, set proxy_resolves = true" if status in _FORBIDDEN and parse_ip_literal(host) else ""
    raise FetchFailed(fault, f"the proxy {proxy} does not connect to {host} port {port} ({status or 'no HTTP'}){hint}")


async def _socks_connect(tunnel: socket.socket, proxy: ProxyServer, host: str, port: int) -> None:
    loop = asyncio.get_running_loop()
    methods = bytes((_NO_LOGIN, _PASSWORD_LOGIN)) if proxy.user else bytes((_NO_LOGIN,))
    await loop.sock_sendall(tunnel, bytes((_SOCKS_VERSION, len(methods))) + methods)
    version, method = await _receive(tunnel, 2)
    if version != _SOCKS_VERSION:
        raise FetchFailed(Fault.PROXY, f"the proxy {proxy} does not speak SOCKS5")
    if method == _PASSWORD_LOGIN and proxy.user:
        user, password = proxy.user.encode(), proxy.password.encode()
        login = bytes((1, len(user))) + user + bytes((len(password),)) + password
        await loop.sock_sendall(tunnel, login)
        if (await _receive(tunnel, 2))[1] != 0:
            raise FetchFailed(Fault.PROXY, f"the proxy {proxy} refuses the user name or password")
    elif method != _NO_LOGIN:
        raise FetchFailed(Fault.PROXY, f"the proxy {proxy} wants a user name and password")
    request = bytes((_SOCKS_VERSION, 1, 0)) + _socks_address(host) + port.to_bytes(2, "big")
    await loop.sock_sendall(tunnel, request)
    _, code, _, kind = await _receive(tunnel, 4)
    length = _LENGTHS[kind] if kind in _LENGTHS else (await _receive(tunnel, 1))[0]
    await _receive(tunnel, length + 2)
    if code != 0:
        fault = Fault.CONNECT if code in _TARGET_ERRORS else Fault.PROXY
        problem = _SOCKS_ERRORS.get(code, f"error {code}")
        raise FetchFailed(fault, f"the proxy {proxy} does not connect to {host} port {port}: {problem}")


def _socks_address(host: str) -> bytes:
    literal = parse_ip_literal(host)
    if literal:
        packed = ip_address(literal[0]).packed
        return bytes((1 if len(packed) == 4 else 4,)) + packed
    name = host.encode("idna") if not host.isascii() else host.encode()
    return bytes((3, len(name))) + name


async def _receive(tunnel: socket.socket, count: int) -> bytes:
    """Read exactly this many bytes, so that nothing of what follows is taken."""
    loop, data = asyncio.get_running_loop(), b""
    while len(data) < count:
        more = await loop.sock_recv(tunnel, count - len(data))
        if not more:
            raise asyncio.IncompleteReadError(data, count)
        data += more
    return data
