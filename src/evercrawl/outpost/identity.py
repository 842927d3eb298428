"""Home's certificate: made once, of our own, and known to outposts by the fingerprint in their code."""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evercrawl.errors import StoreUnavailable
from evercrawl.outpost.home_book import FOLDER

CERTIFICATE_FILE = "home.pem"
CERTIFICATE_LIFETIME = timedelta(days=36_500)
"""The fingerprint is what counts; no date ends the trust in it."""


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
