"""An authenticated, signed and size-limited connection between agent and coordinator.
Each frame carries a truncated HMAC-SHA256 over its direction, sequence number and payload, with a key for each
connection, so recorded, repeated, reordered or forged frames are rejected without relying on clocks."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
import ssl
from hashlib import sha256
from typing import NamedTuple, Protocol

from evercrawl.outpost.coordinator_state import CoordinatorState, OutpostRow
from evercrawl.outpost.messages import Message, decode_message, encode_message
from evercrawl.outpost.pairing import NONCE_BYTES, certificate_pin, client_tls, derive_key, session_key

CONNECT_TIMEOUT_S = 15.0
HANDSHAKE_TIMEOUT_S = 10.0  # The server drops a peer that has not authenticated by then.
PROTOCOL = b"evercrawl-outpost/1\n"
CHALLENGE_BYTES = 32
LENGTH_BYTES = 4
SIGNATURE_BYTES = 16
MAX_FRAME_BYTES = 8 * 1024 * 1024  # Fits a full batch with its heads. Longer frames are not read.
MAX_HANDSHAKE_BYTES = 4096  # Limit for frames from an unauthenticated peer.

FROM_COORDINATOR = b"home"
FROM_OUTPOST = b"outpost"
TLS_RECORD_BYTES = 22  # Overhead of a TLS 1.3 record, included in the traffic counts.
KEEP_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Seconds of silence before the first probe, seconds between probes, and number of probes."""


class NotAuthentic(Exception):
    """Raised for a frame that fails authentication; it must have no effect."""


class FrameSigner:
    """Sign the frames of one direction of a connection, in order."""

    def __init__(self, key: bytes, direction: bytes) -> None:
        self._key = derive_key(key, direction)
        self._sequence = 0

    def sign(self, payload: bytes) -> bytes:
        """Return the signature followed by the payload."""
        self._sequence += 1
        return _signature(self._key, self._sequence, payload) + payload


class FrameVerifier:
    """Verify the frames of the other direction: each once, and only in the order of signing."""

    def __init__(self, key: bytes, direction: bytes) -> None:
        self._key = derive_key(key, direction)
        self._sequence = 0

    def verify(self, content: bytes) -> bytes:
        """Return the payload; raise NotAuthentic if the signature does not match."""
        payload = content[SIGNATURE_BYTES:]
        if not hmac.compare_digest(content[:SIGNATURE_BYTES], _signature(self._key, self._sequence + 1, payload)):
            raise NotAuthentic("the signature of a frame does not match")
        self._sequence += 1
        return payload


def handshake_proof(key: bytes, challenge: bytes, payload: bytes) -> bytes:
    """Prove, in the first message, possession of the key for this challenge."""
    return derive_key(key, b"greeting", challenge, payload)[:SIGNATURE_BYTES]


def is_valid_proof(signature: bytes, key: bytes, challenge: bytes, payload: bytes) -> bool:
    """Check a proof in constant time."""
    return hmac.compare_digest(signature, handshake_proof(key, challenge, payload))


def _signature(key: bytes, sequence: int, payload: bytes) -> bytes:
    return hmac.new(key, sequence.to_bytes(8, "big") + payload, sha256).digest()[:SIGNATURE_BYTES]


class ByteReader(Protocol):
    """The part of `asyncio.StreamReader` that a channel uses."""

    async def readexactly(self, n: int) -> bytes: ...


class ByteWriter(Protocol):
    """The part of `asyncio.StreamWriter` that a channel uses."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...


CHANNEL_ERRORS = (OSError, EOFError, TimeoutError, ssl.SSLError, NotAuthentic, ValueError)
"""Errors that end a connection: network failures and invalid messages."""


def enable_keep_alive(connection: socket.socket | None) -> None:
    """Enable TCP keep-alive, to detect a dead peer and keep NAT mappings open."""
    if connection is None:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class SecureChannel:
    """One connection. Frames are plain during the handshake and signed afterwards."""

    def __init__(self, reader: ByteReader, writer: ByteWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._signer: FrameSigner | None = None
        self._verifier: FrameVerifier | None = None
        self._send_lock = asyncio.Lock()
        self.bytes_in = 0
        self.bytes_out = 0

    def secure(self, signer: FrameSigner, verifier: FrameVerifier) -> None:
        """Accept and send only signed frames from now on."""
        self._signer, self._verifier = signer, verifier

    async def send_plain(self, content: bytes) -> None:
        """Send an unsigned frame."""
        async with self._send_lock:
            await self._write(content)

    async def receive_plain(self, limit: int) -> bytes:
        """Return the next frame; raise NotAuthentic if it announces more than `limit` bytes."""
        size = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
        if size > limit:
            raise NotAuthentic(f"a frame of {size} bytes exceeds the limit of {limit}")
        content = await self._reader.readexactly(size)
        self.bytes_in += LENGTH_BYTES + size + TLS_RECORD_BYTES
        return content

    async def send(self, message: Message) -> None:
        """Send a signed message."""
        async with self._send_lock:
            if self._signer is None:
                raise NotAuthentic("cannot send before authentication")
            await self._write(self._signer.sign(encode_message(message)))

    async def receive(self) -> Message:
        """Return the next message; raise if it is not authentic or not valid."""
        content = await self.receive_plain(MAX_FRAME_BYTES)
        if self._verifier is None:
            raise NotAuthentic("cannot receive before authentication")
        return decode_message(self._verifier.verify(content))

    async def _write(self, content: bytes) -> None:
        self._writer.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
        self.bytes_out += LENGTH_BYTES + len(content) + TLS_RECORD_BYTES
        await self._writer.drain()

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


async def connect_to_coordinator(address: str, pin: bytes) -> SecureChannel:
    """Connect by TLS; raise NotAuthentic if the certificate does not match the pin."""
    host, port = parse_address(address)
    async with asyncio.timeout(CONNECT_TIMEOUT_S):
        reader, writer = await asyncio.open_connection(host, port, ssl=client_tls(), server_hostname="evercrawl-home")
    enable_keep_alive(writer.get_extra_info("socket"))
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    if not certificate or not hmac.compare_digest(certificate_pin(certificate), pin):
        writer.close()
        raise NotAuthentic("the certificate does not match the pairing code")
    return SecureChannel(reader, writer)


def parse_address(address: str) -> tuple[str, int]:
    """Parse HOST:PORT or https://HOST:PORT; raise ValueError if it is neither."""
    host, _, port = address.removeprefix("https://").rstrip("/").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError("is not HOST:PORT")
    return host.strip("[]"), int(port)


class Credentials(NamedTuple):
    """Identity of an outpost. `code_key` is set until the coordinator confirms the pairing."""

    outpost: str
    key: bytes
    nonce: bytes
    code_key: bytes | None


async def authenticate_agent(channel: SecureChannel, credentials: Credentials) -> None:
    """Prove the agent's identity and switch the channel to signed frames."""
    async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
        greeting = await channel.receive_plain(MAX_HANDSHAKE_BYTES)
        challenge = greeting.removeprefix(PROTOCOL)
        if not greeting.startswith(PROTOCOL) or len(challenge) != CHALLENGE_BYTES:
            raise NotAuthentic("the coordinator uses another protocol")
        nonce = secrets.token_bytes(NONCE_BYTES)
        fields = {"outpost": credentials.outpost, "nonce": nonce.hex()}
        if credentials.code_key is not None:
            fields["pair"] = credentials.nonce.hex()
        payload = json.dumps(fields).encode()
        key = credentials.key if credentials.code_key is None else credentials.code_key
        await channel.send_plain(handshake_proof(key, challenge, payload) + payload)
    session = session_key(credentials.key, challenge=challenge, nonce=nonce)
    channel.secure(FrameSigner(session, FROM_OUTPOST), FrameVerifier(session, FROM_COORDINATOR))


async def authenticate_outpost(channel: SecureChannel, state: CoordinatorState, *, now_us: int) -> OutpostRow:
    """Return the outpost at the other end; raise NotAuthentic if it cannot prove its identity."""
    challenge = secrets.token_bytes(CHALLENGE_BYTES)
    async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
        await channel.send_plain(PROTOCOL + challenge)
        content = await channel.receive_plain(MAX_HANDSHAKE_BYTES)
    signature, payload = content[:SIGNATURE_BYTES], content[SIGNATURE_BYTES:]
    name, nonce, pairing = _parse_hello(payload)
    outpost = _find_outpost(state, name, pairing, signature, challenge, payload, now_us)
    if outpost is None:
        raise NotAuthentic("unknown outpost or wrong key")
    session = session_key(outpost.key, challenge=challenge, nonce=nonce)
    channel.secure(FrameSigner(session, FROM_COORDINATOR), FrameVerifier(session, FROM_OUTPOST))
    return outpost


def _parse_hello(payload: bytes) -> tuple[str, bytes, bytes | None]:
    try:
        fields = json.loads(payload)
        pairing = bytes.fromhex(fields["pair"]) if "pair" in fields else None
        name, nonce = str(fields["outpost"]), bytes.fromhex(fields["nonce"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NotAuthentic("the greeting is not valid") from None
    if len(nonce) != NONCE_BYTES or (pairing is not None and len(pairing) != NONCE_BYTES):
        raise NotAuthentic("the greeting is not valid")
    return name, nonce, pairing


def _find_outpost(
    state: CoordinatorState,
    name: str,
    pairing: bytes | None,
    signature: bytes,
    challenge: bytes,
    payload: bytes,
    now_us: int,
) -> OutpostRow | None:
    if pairing is None:
        outpost = state.outpost(name)
        proved = outpost is not None and is_valid_proof(signature, outpost.key, challenge, payload)
        return outpost if proved else None
    code_key = state.code_key(name, now_us=now_us)
    if code_key is None or not is_valid_proof(signature, code_key, challenge, payload):
        return None
    return state.redeem_code(name, pairing, now_us=now_us)
