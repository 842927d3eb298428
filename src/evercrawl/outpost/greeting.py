"""The first words of a connection: home's challenge, the outpost's proof, and the keys that follow."""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import NamedTuple

from evercrawl.outpost.home_book import CoordinatorState, OutpostRow
from evercrawl.outpost.link import SecureChannel
from evercrawl.outpost.protocol.code import NONCE_BYTES, session_key
from evercrawl.outpost.protocol.seal import (
    FROM_COORDINATOR,
    FROM_OUTPOST,
    MAX_HANDSHAKE_BYTES,
    SIGNATURE_BYTES,
    FrameSigner,
    FrameVerifier,
    NotAuthentic,
    handshake_proof,
    is_valid_proof,
)

PROTOCOL = b"evercrawl-outpost/1\n"
CHALLENGE_BYTES = 32
HANDSHAKE_TIMEOUT_S = 10.0
"""A peer that is not known by then is let go."""


class Credentials(NamedTuple):
    """Who an outpost is; `code_key` is there until home has confirmed the pairing."""

    outpost: str
    key: bytes
    nonce: bytes
    code_key: bytes | None


async def authenticate_agent(link: SecureChannel, who: Credentials) -> None:
    """Prove to home who we are; the link is sealed afterwards."""
    async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
        opening = await link.receive_plain(MAX_HANDSHAKE_BYTES)
        challenge = opening.removeprefix(PROTOCOL)
        if not opening.startswith(PROTOCOL) or len(challenge) != CHALLENGE_BYTES:
            raise NotAuthentic("home speaks another protocol")
        nonce = secrets.token_bytes(NONCE_BYTES)
        words = {"outpost": who.outpost, "nonce": nonce.hex()}
        if who.code_key is not None:
            words["pair"] = who.nonce.hex()
        payload = json.dumps(words).encode()
        key = who.key if who.code_key is None else who.code_key
        await link.send_plain(handshake_proof(key, challenge, payload) + payload)
    session = session_key(who.key, challenge=challenge, nonce=nonce)
    link.trust(FrameSigner(session, FROM_OUTPOST), FrameVerifier(session, FROM_COORDINATOR))


async def authenticate_outpost(link: SecureChannel, book: CoordinatorState, *, now_us: int) -> OutpostRow:
    """The outpost at the other end, proved; NotAuthentic for anybody else."""
    challenge = secrets.token_bytes(CHALLENGE_BYTES)
    async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
        await link.send_plain(PROTOCOL + challenge)
        content = await link.receive_plain(MAX_HANDSHAKE_BYTES)
    given, payload = content[:SIGNATURE_BYTES], content[SIGNATURE_BYTES:]
    name, nonce, pairing = _parse_hello(payload)
    outpost = _find_outpost(book, name, pairing, given, challenge, payload, now_us)
    if outpost is None:
        raise NotAuthentic("no such outpost, or not its key")
    session = session_key(outpost.key, challenge=challenge, nonce=nonce)
    link.trust(FrameSigner(session, FROM_COORDINATOR), FrameVerifier(session, FROM_OUTPOST))
    return outpost


def _parse_hello(payload: bytes) -> tuple[str, bytes, bytes | None]:
    try:
        words = json.loads(payload)
        pairing = bytes.fromhex(words["pair"]) if "pair" in words else None
        name, nonce = str(words["outpost"]), bytes.fromhex(words["nonce"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotAuthentic("the greeting is not understood") from None
    if len(nonce) != NONCE_BYTES or (pairing is not None and len(pairing) != NONCE_BYTES):
        raise NotAuthentic("the greeting is not understood")
    return name, nonce, pairing


def _find_outpost(
    book: CoordinatorState,
    name: str,
    pairing: bytes | None,
    given: bytes,
    challenge: bytes,
    payload: bytes,
    now_us: int,
) -> OutpostRow | None:
    if pairing is None:
        outpost = book.outpost(name)
        proved = outpost is not None and is_valid_proof(given, outpost.key, challenge, payload)
        return outpost if proved else None
    code_key = book.code_key(name, now_us=now_us)
    if code_key is None or not is_valid_proof(given, code_key, challenge, payload):
        return None
    return book.redeem(name, pairing, now_us=now_us)
