"""Create certificates for tests: a small authority and the servers it signs."""

from __future__ import annotations

import ssl
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)
RSA_SHA256 = bytes.fromhex("2a864886f70d01010b")
RSA_SHA1 = bytes.fromhex("2a864886f70d010105")
"""Object identifiers 1.2.840.113549.1.1.11 and .5, of the same length."""


class Authority:
    """Signs certificates; `ca_file` is what a client that trusts it needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ca_file = folder / "ca.pem"
        self._key = rsa.generate_private_key(65537, 2048)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        self._number = 0
        own = self._builder(self._name, self._key, datetime.now(UTC) - DAY, datetime.now(UTC) + 30 * DAY)
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.ca_file.write_bytes(own.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def server(
        self,
        host: str,
        *,
        begins: timedelta = -DAY,
        ends: timedelta = DAY,
        with_sha1: bool = False,
        signed: bool = True,
    ) -> ssl.SSLContext:
        """The server side of TLS, with a certificate for a host that begins and ends so far from now."""
        now = datetime.now(UTC)
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        builder = self._builder(name, key, now + begins, now + ends, issuer=None if signed else name)
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        certificate = builder.sign(self._key if signed else key, hashes.SHA256())
        self._number += 1
        path = self.folder / f"server{self._number}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + (self._with_sha1(certificate) if with_sha1 else certificate.public_bytes(serialization.Encoding.PEM))
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if with_sha1:
            context.set_ciphers("DEFAULT@SECLEVEL=0")
        context.load_cert_chain(path)
        return context

    def _with_sha1(self, certificate: x509.Certificate) -> bytes:
        """The same certificate with a SHA-1 signature, which the library does not make any more."""
        signed_part = certificate.tbs_certificate_bytes.replace(RSA_SHA256, RSA_SHA1)
        signature = self._key.sign(signed_part, padding.PKCS1v15(), hashes.SHA1())
        der = certificate.public_bytes(serialization.Encoding.DER).replace(RSA_SHA256, RSA_SHA1)
        return ssl.DER_cert_to_PEM_cert(der.replace(certificate.signature, signature)).encode()

    def _builder(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey,
        begins: datetime,
        ends: datetime,
        *,
        issuer: x509.Name | None = None,
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begins)
            .not_valid_after(ends)
        )


def only_tls_1_0(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same server, but it speaks nothing newer than TLS 1.0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1
    return context
