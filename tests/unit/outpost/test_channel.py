"""Pairing codes, keys and signatures: only authentic frames in the right order are accepted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.outpost.channel import (
    FROM_COORDINATOR,
    FROM_OUTPOST,
    FrameSigner,
    FrameVerifier,
    NotAuthentic,
    handshake_proof,
    is_valid_proof,
)
from evercrawl.outpost.pairing import PairingCode, certificate_pin, outpost_key, parse_code, session_key

KEY = bytes(range(32))


@given(st.binary(min_size=10, max_size=10), st.binary(min_size=16, max_size=16))
def test_a_code_survives_typing(secret: bytes, pin: bytes) -> None:
    code = PairingCode(secret, pin)
    assert parse_code(code.text()) == code
    assert parse_code(code.text().lower().replace("-", " ")) == code


@pytest.mark.parametrize("text", ["", "ABC", "not a code!", "A" * 41, "1" * 42])
def test_an_invalid_code_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="code"):
        parse_code(text)


def test_keys_depend_on_every_input() -> None:
    code = PairingCode(b"0123456789", bytes(16))
    assert outpost_key(code.key, bytes(32)) != outpost_key(code.key, bytes(31) + b"\1")
    first = session_key(KEY, challenge=b"a", nonce=b"bc")
    assert first != session_key(KEY, challenge=b"ab", nonce=b"c")
    assert len(certificate_pin(b"certificate")) == 16


def test_frames_are_accepted_once_in_order_and_in_their_direction() -> None:
    signer, verifier = FrameSigner(KEY, FROM_COORDINATOR), FrameVerifier(KEY, FROM_COORDINATOR)
    frames = [signer.sign(f"message {number}".encode()) for number in range(3)]
    assert verifier.verify(frames[0]) == b"message 0"
    for wrong in (frames[0], frames[2]):
        with pytest.raises(NotAuthentic):
            verifier.verify(wrong)
    assert verifier.verify(frames[1]) == b"message 1"
    with pytest.raises(NotAuthentic):
        FrameVerifier(KEY, FROM_OUTPOST).verify(frames[0])


@given(st.binary(max_size=60), st.data())
def test_a_modified_truncated_or_forged_frame_is_rejected(payload: bytes, data: st.DataObject) -> None:
    frame = FrameSigner(KEY, FROM_COORDINATOR).sign(payload)
    position = data.draw(st.integers(0, len(frame) - 1))
    changed = bytearray(frame)
    changed[position] ^= data.draw(st.integers(1, 255))
    for wrong in (bytes(changed), frame[:position], frame + b"x"):
        with pytest.raises(NotAuthentic):
            FrameVerifier(KEY, FROM_COORDINATOR).verify(wrong)
    with pytest.raises(NotAuthentic):
        FrameVerifier(KEY[::-1], FROM_COORDINATOR).verify(frame)


def test_a_proof_is_valid_for_one_key_and_one_challenge() -> None:
    proof = handshake_proof(KEY, b"challenge", b"hello")
    assert is_valid_proof(proof, KEY, b"challenge", b"hello")
    assert not is_valid_proof(proof, KEY, b"another", b"hello")
    assert not is_valid_proof(proof, KEY, b"challenge", b"hullo")
    assert not is_valid_proof(proof, KEY[::-1], b"challenge", b"hello")
