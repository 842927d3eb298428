"""What does a pairing code hold, and which keys follow from it?

The code, spoken or pasted once, names a secret and the beginning of the fingerprint of home's certificate, so
that the outpost knows home before it says a word. Both sides derive keys by HMAC-SHA256 (RFC 2104); the key
of the outpost depends on a number that the outpost drew, so a code that was used is worth nothing.
"""

from __future__ import annotations

import hmac
import os
import ssl
from base64 import b32decode, b32encode
from binascii import Error as NotBase32
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from evercrawl.errors import StoreUnavailable

SECRET_BYTES = 10
PIN_BYTES = 16
"""128 bits of the certificate's SHA-256: nobody finds a second certificate with the same."""
GROUP_LETTERS = 6
NONCE_BYTES = 32


FOLDER = "outposts"
CERTIFICATE_FILE = "home.pem"
CERTIFICATE_LIFETIME = timedelta(days=36_500)
"""The fingerprint is what counts; no date ends the trust in it."""


class PairingCode(NamedTuple):
    """A pairing code."""

    secret: bytes
    pin: bytes

    @property
    def name(self) -> str:
        """By which home finds the code; it says nothing about the secret."""
        return sha256(b"evercrawl outpost code\0" + self.secret).hexdigest()[:16]

    @property
    def key(self) -> bytes:
        """The key under which the first message of a pairing is sealed."""
        return derive_key(self.secret, b"pair")

    def text(self) -> str:
        """As it is shown: letters and digits in groups."""
        letters = b32encode(self.secret + self.pin).decode().rstrip("=")
        return "-".join(letters[at : at + GROUP_LETTERS] for at in range(0, len(letters), GROUP_LETTERS))


def certificate_pin(certificate: bytes) -> bytes:
    """What a code says about a certificate (DER)."""
    return sha256(certificate).digest()[:PIN_BYTES]


def parse_code(text: str) -> PairingCode:
    """The code in a text, whatever its case and separators; ValueError where it is none."""
    letters = "".join(letter for letter in text.upper() if letter.isalnum())
    try:
        raw = b32decode(letters + "=" * (-len(letters) % 8))
    except NotBase32:
        raise ValueError("is not a pairing code") from None
    if len(raw) != SECRET_BYTES + PIN_BYTES:
        raise ValueError("is not a complete pairing code")
    return PairingCode(raw[:SECRET_BYTES], raw[SECRET_BYTES:])


def derive_key(key: bytes, *parts: bytes) -> bytes:
    """A key that follows from another for one purpose; parts cannot run into each other."""
    message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.new(key, message, sha256).digest()


def outpost_key(code_key: bytes, nonce: bytes) -> bytes:
    """The lasting key of the outpost that used a code with this number."""
    return derive_key(code_key, b"outpost", nonce)


def session_key(key: bytes, *, challenge: bytes, nonce: bytes) -> bytes:
    """The key of one connection: new with every challenge of home and every number of the outpost."""
    return derive_key(key, b"session", challenge, nonce)


def coordinator_certificate(collection: Path) -> tuple[Path, bytes]:
    """The file with key and certificate, made where there is none, and the certificate in DER."""
    path = collection / FOLDER / CERTIFICATE_FILE
    try:
        if not path.exists():
            _create_certificate(path)
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be used: {error.strerror}") from error
    start = text.index("-----BEGIN CERTIFICATE")
    return path, ssl.PEM_cert_to_DER_cert(text[start:])


def _create_certificate(path: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "evercrawl home")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + CERTIFICATE_LIFETIME)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    temporary = path.with_suffix(".new")
    with os.fdopen(os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        file.write(private + certificate.public_bytes(serialization.Encoding.PEM))
    temporary.rename(path)


def server_tls(path: Path) -> ssl.SSLContext:
    """TLS 1.3 with home's own certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(path)
    return context


def client_tls() -> ssl.SSLContext:
    """TLS 1.3 without authorities: the caller compares the certificate with the one that it knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
