"""Pairing codes, the keys derived from them, and the coordinator's certificate.
A code holds a secret and the start of the certificate's fingerprint, so the agent can verify the coordinator first. The
outpost's key (HMAC-SHA256, RFC 2104) also depends on a nonce of the agent, so a used code is worthless."""

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

from evercrawl.errors import ConfigError, StoreUnavailable

SECRET_BYTES = 10
PIN_BYTES = 16  # 128 bits of the certificate's SHA-256.
GROUP_LETTERS = 6
NONCE_BYTES = 32
FOLDER = "outposts"
CERTIFICATE_FILE = "home.pem"
CERTIFICATE_LIFETIME = timedelta(days=36_500)
"""Trust rests on the fingerprint alone, so the certificate practically never expires."""


class PairingCode(NamedTuple):
    """A secret and the pin of the coordinator's certificate."""

    secret: bytes
    pin: bytes

    @property
    def name(self) -> str:
        """Return the public identifier of the code, which does not reveal the secret."""
        return sha256(b"evercrawl outpost code\0" + self.secret).hexdigest()[:16]

    @property
    def key(self) -> bytes:
        """Return the key that signs the first message of a pairing."""
        return derive_key(self.secret, b"pair")

    def text(self) -> str:
        """Format the code as groups of letters and digits."""
        letters = b32encode(self.secret + self.pin).decode().rstrip("=")
        return "-".join(letters[at : at + GROUP_LETTERS] for at in range(0, len(letters), GROUP_LETTERS))


def certificate_pin(certificate: bytes) -> bytes:
    """Return the pin of a certificate in DER form."""
    return sha256(certificate).digest()[:PIN_BYTES]


def parse_code(text: str) -> PairingCode:
    """Parse a code, ignoring case and separators; raise ValueError if it is invalid."""
    letters = "".join(letter for letter in text.upper() if letter.isalnum())
    try:
        raw = b32decode(letters + "=" * (-len(letters) % 8))
    except NotBase32:
        raise ValueError("is not a pairing code") from None
    if len(raw) != SECRET_BYTES + PIN_BYTES:
        raise ValueError("is not a complete pairing code")
    return PairingCode(raw[:SECRET_BYTES], raw[SECRET_BYTES:])


def derive_key(key: bytes, *parts: bytes) -> bytes:
    """Derive a key for one purpose. Each part is length-prefixed, so parts cannot be confused."""
    message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.new(key, message, sha256).digest()


def outpost_key(code_key: bytes, nonce: bytes) -> bytes:
    """Return the permanent key of the outpost that redeemed a code with this nonce."""
    return derive_key(code_key, b"outpost", nonce)


def session_key(key: bytes, *, challenge: bytes, nonce: bytes) -> bytes:
    """Return the key of one connection."""
    return derive_key(key, b"session", challenge, nonce)


def coordinator_certificate(collection: Path) -> tuple[Path, bytes]:
    """Return the path of the key file, created if missing, and the certificate in DER form."""
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
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise ConfigError("outposts need an extra: pip install 'evercrawl[outposts]'") from None
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
    """Return a TLS 1.3 context with the coordinator's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(path)
    return context


def client_tls() -> ssl.SSLContext:
    """Return a TLS 1.3 context without authorities; the caller checks the certificate's pin."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
