"""The key with which requests are signed: create, load, and sign with it."""

from __future__ import annotations

import os
import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

from evercrawl.adapters.system import read_private_file
from evercrawl.core.http.message_signature import DIRECTORY_PATH, key_directory, signature_lines, thumbprint
from evercrawl.errors import ConfigError
from evercrawl.model.settings import IdentitySettings

NONCE_BYTES = 32
_MISSING = "signing requests needs an extra; install it with: pip install 'evercrawl[signatures]'"


class SigningKey:
    """An Ed25519 key from a file that only its owner can read."""

    def __init__(self, private: Any) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._private = private
        self.public: bytes = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.name = thumbprint(self.public)

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        signature: bytes = self._private.sign(message)
        return signature

    def directory(self) -> dict[str, Any]:
        """Return the key directory to publish."""
        return key_directory([self.public])


class RequestSigner:
    """Signs requests to sites with TLS. A signature that anybody on the way can read could be used by them."""

    def __init__(self, key: SigningKey, agent_url: str) -> None:
        self._key = key
        self._agent_url = agent_url

    def lines(self, site: str, *, now: datetime) -> str:
        """Return the header lines for a request to a site; empty: it is not signed."""
        scheme, _, authority = site.partition("://")
        if scheme != "https":
            return ""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return signature_lines(
            authority, self._agent_url, key_id=self._key.name, nonce=nonce, now=now, sign=self._key.sign
        )


def load_signer(identity: IdentitySettings) -> RequestSigner | None:
    """Return what signs requests; None: the settings name no key. Raise ConfigError if it cannot be used."""
    if identity.signature_key is None:
        return None
    if identity.signature_agent is None:
        raise ConfigError(
            "identity.signature_key needs identity.signature_agent: the URL where you publish the key directory, "
            f"such as https://crawler.example.org{DIRECTORY_PATH}"
        )
    return RequestSigner(load_key(Path(identity.signature_key).expanduser()), identity.signature_agent)


def load_key(path: Path) -> SigningKey:
    """Read a private key (PEM); raise ConfigError if it is missing, damaged, of another kind or readable by others."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise ConfigError(_MISSING) from error
    text = read_private_file(path, what="key")
    try:
        found = load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{path} is not a private key in PEM form without a password") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise ConfigError(f"{path} is not an Ed25519 key; create one with: evercrawl signature create {path}")
    return SigningKey(found)


def create_key(path: Path) -> SigningKey:
    """Write a new key to a new file that only you can read."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    except ImportError as error:
        raise ConfigError(_MISSING) from error
    private = Ed25519PrivateKey.generate()
    text = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as out:
            out.write(text)
    except FileExistsError:
        raise ConfigError(f"{path} exists; a key is never overwritten, so choose another name") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
    return SigningKey(private)
