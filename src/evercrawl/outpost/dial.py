"""The way home: TLS to an address, and the certificate that the pairing code named, or nothing."""

from __future__ import annotations

import asyncio
import hmac

from evercrawl.outpost.identity import client_tls
from evercrawl.outpost.link import SecureChannel, enable_keep_alive
from evercrawl.outpost.protocol.code import certificate_pin
from evercrawl.outpost.protocol.seal import NotAuthentic

CONNECT_TIMEOUT_S = 15.0


async def connect_to_coordinator(address: str, pin: bytes) -> SecureChannel:
    """A connection to home; NotAuthentic before a word is said where somebody else answers."""
    host, port = parse_address(address)
    async with asyncio.timeout(CONNECT_TIMEOUT_S):
        reader, writer = await asyncio.open_connection(host, port, ssl=client_tls(), server_hostname="evercrawl-home")
    enable_keep_alive(writer.get_extra_info("socket"))
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    if not shown or not hmac.compare_digest(certificate_pin(shown), pin):
        writer.close()
        raise NotAuthentic("another certificate than that of our home")
    return SecureChannel(reader, writer)


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT, also as https://HOST:PORT; ValueError where it is neither."""
    host, _, port = address.removeprefix("https://").rstrip("/").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError("is not HOST:PORT")
    return host.strip("[]"), int(port)
