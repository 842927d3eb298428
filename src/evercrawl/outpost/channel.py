"""Frames over a connection: bounded before they are read, sealed, and counted."""

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
HANDSHAKE_TIMEOUT_S = 10.0
"""The server drops a peer that has not authenticated by then."""
PROTOCOL = b"evercrawl-outpost/1\n"
CHALLENGE_BYTES = 32
LENGTH_BYTES = 4
SIGNATURE_BYTES = 16
MAX_FRAME_BYTES = 40 * 1024 * 1024
"""A page of the largest size that is fetched, its heads and some room; a longer frame is not read."""
MAX_HANDSHAKE_BYTES = 4096
"""Before a peer is known it may say no more than this."""

FROM_COORDINATOR = b"home"
FROM_OUTPOST = b"outpost"


TLS_RECORD_BYTES = 22
"""What TLS 1.3 adds to a frame: header, type and tag. It is counted, so that reports are honest."""
KEEP_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Seconds of silence before the system asks whether the other side lives, then between asks, and how many."""


class NotAuthentic(Exception):
    """The frame is not to be believed; nothing of it may have an effect."""


class FrameSigner:
    """Seals the frames of one direction of one connection, in order."""

    def __init__(self, key: bytes, direction: bytes) -> None:
        self._key = derive_key(key, direction)
        self._sequence = 0

    def sign(self, payload: bytes) -> bytes:
        """The frame's content: sign and payload."""
        self._sequence += 1
        return _signature(self._key, self._sequence, payload) + payload


class FrameVerifier:
    """Opens the frames of the other direction: each once, and only in the order in which they were sealed."""

    def __init__(self, key: bytes, direction: bytes) -> None:
        self._key = derive_key(key, direction)
        self._sequence = 0

    def verify(self, content: bytes) -> bytes:
        """The payload; NotAuthentic where the sign does not fit this sequence."""
        payload = content[SIGNATURE_BYTES:]
        if not hmac.compare_digest(content[:SIGNATURE_BYTES], _signature(self._key, self._sequence + 1, payload)):
            raise NotAuthentic("the sign of a frame does not fit")
        self._sequence += 1
        return payload


def handshake_proof(key: bytes, challenge: bytes, payload: bytes) -> bytes:
    """What shows, in a first message, that its sender has the key and heard this very challenge."""
    return derive_key(key, b"greeting", challenge, payload)[:SIGNATURE_BYTES]


def is_valid_proof(signature: bytes, key: bytes, challenge: bytes, payload: bytes) -> bool:
    """The same, checked in constant time."""
    return hmac.compare_digest(signature, handshake_proof(key, challenge, payload))


def _signature(key: bytes, sequence: int, payload: bytes) -> bytes:
    return hmac.new(key, sequence.to_bytes(8, "big") + payload, sha256).digest()[:SIGNATURE_BYTES]


class ByteReader(Protocol):
    """Where bytes come from, as `asyncio.StreamReader` has it."""

    async def readexactly(self, n: int) -> bytes: ...


class ByteWriter(Protocol):
    """Where bytes go to, as `asyncio.StreamWriter` has it."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...


CHANNEL_ERRORS = (OSError, EOFError, TimeoutError, ssl.SSLError, NotAuthentic, ValueError)
"""What ends a connection: the network, or fields that cannot be believed or understood."""


def enable_keep_alive(connection: socket.socket | None) -> None:
    """Let the system find out, without a word of ours, when the other side is gone, and keep NAT open."""
    if connection is None:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class SecureChannel:
    """One connection, first with plain frames, then sealed ones."""

    def __init__(self, reader: ByteReader, writer: ByteWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._signer: FrameSigner | None = None
        self._verifier: FrameVerifier | None = None
        self._send_lock = asyncio.Lock()
        self.bytes_in = 0
        self.bytes_out = 0

    def secure(self, signer: FrameSigner, verifier: FrameVerifier) -> None:
        """From now on only sealed frames count."""
        self._signer, self._verifier = signer, verifier

    async def send_plain(self, content: bytes) -> None:
        """A frame without a sign."""
        async with self._send_lock:
            await self._write(content)

    async def receive_plain(self, limit: int) -> bytes:
        """The next frame, of at limit so many bytes; NotAuthentic where it announces more."""
        size = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
        if size > limit:
            raise NotAuthentic(f"a frame of {size} bytes is announced, more than {limit}")
        content = await self._reader.readexactly(size)
        self.bytes_in += LENGTH_BYTES + size + TLS_RECORD_BYTES
        return content

    async def send(self, message: Message) -> None:
        """A sealed message, in turn with others."""
        async with self._send_lock:
            if self._signer is None:
                raise NotAuthentic("nothing is sent before the other side is known")
            await self._write(self._signer.sign(encode_message(message)))

    async def receive(self) -> Message:
        """The next message; anything that is not authentic or not understood ends the connection."""
        content = await self.receive_plain(MAX_FRAME_BYTES)
        if self._verifier is None:
            raise NotAuthentic("nothing is taken before the other side is known")
        return decode_message(self._verifier.verify(content))

    async def _write(self, content: bytes) -> None:
        self._writer.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
        self.bytes_out += LENGTH_BYTES + len(content) + TLS_RECORD_BYTES
        await self._writer.drain()

    def close(self) -> None:
        """End the connection."""
        self._writer.close()


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


class Credentials(NamedTuple):
    """Who an outpost is; `code_key` is there until home has confirmed the pairing."""

    outpost: str
    key: bytes
    nonce: bytes
    code_key: bytes | None


async def authenticate_agent(channel: SecureChannel, credentials: Credentials) -> None:
    """Prove to home credentials we are; the channel is sealed afterwards."""
    async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
        greeting = await channel.receive_plain(MAX_HANDSHAKE_BYTES)
        challenge = greeting.removeprefix(PROTOCOL)
        if not greeting.startswith(PROTOCOL) or len(challenge) != CHALLENGE_BYTES:
            raise NotAuthentic("home speaks another protocol")
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
    """The outpost at the other end, proved; NotAuthentic for anybody else."""
    challenge = secrets.token_bytes(CHALLENGE_BYTES)
    async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
        await channel.send_plain(PROTOCOL + challenge)
        content = await channel.receive_plain(MAX_HANDSHAKE_BYTES)
    signature, payload = content[:SIGNATURE_BYTES], content[SIGNATURE_BYTES:]
    name, nonce, pairing = _parse_hello(payload)
    outpost = _find_outpost(state, name, pairing, signature, challenge, payload, now_us)
    if outpost is None:
        raise NotAuthentic("no such outpost, or not its key")
    session = session_key(outpost.key, challenge=challenge, nonce=nonce)
    channel.secure(FrameSigner(session, FROM_COORDINATOR), FrameVerifier(session, FROM_OUTPOST))
    return outpost


def _parse_hello(payload: bytes) -> tuple[str, bytes, bytes | None]:
    try:
        fields = json.loads(payload)
        pairing = bytes.fromhex(fields["pair"]) if "pair" in fields else None
        name, nonce = str(fields["outpost"]), bytes.fromhex(fields["nonce"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotAuthentic("the greeting is not understood") from None
    if len(nonce) != NONCE_BYTES or (pairing is not None and len(pairing) != NONCE_BYTES):
        raise NotAuthentic("the greeting is not understood")
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
