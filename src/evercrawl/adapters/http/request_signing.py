"""The key with which requests are signed: create, load, and sign with it."""

from __future__ import annotations

import json
import os
import secrets
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from evercrawl.adapters.system import read_private_file
from evercrawl.errors import ConfigError
from evercrawl.model.settings import IdentitySettings

LABEL = "sig1"
TAG = "web-bot-auth"
LIFETIME = timedelta(minutes=5)  # How long a signature is valid. Whoever sees it can repeat the request until then.
DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
Sign = Callable[[bytes], bytes]


def thumbprint(public_key: bytes) -> str:
    """Return the name of an Ed25519 key: the SHA-256 thumbprint of its JWK."""
    required = {"crv": "Ed25519", "kty": "OKP", "x": _base64url(public_key)}
    text = json.dumps(required, separators=(",", ":"), sort_keys=True)
    return _base64url(sha256(text.encode()).digest())


def key_directory(public_keys: list[bytes]) -> dict[str, Any]:
    """Return the JSON Web Key Set that sites fetch."""
    return {
        "keys": [
            {"kty": "OKP", "crv": "Ed25519", "kid": thumbprint(key), "x": _base64url(key), "use": "sig"}
            for key in public_keys
        ]
    }


def signature_lines(authority: str, agent_url: str, *, key_id: str, nonce: bytes, now: datetime, sign: Sign) -> str:
    """Return the header lines that sign a request to `authority`: host, and port if it is not the default."""
    created = int(now.timestamp())
    parameters = (
        f'("@authority" "signature-agent";key="{LABEL}");created={created};keyid="{key_id}";alg="ed25519"'
        f';expires={created + int(LIFETIME.total_seconds())};nonce="{b64encode(nonce).decode()}";tag="{TAG}"'
    )
    base = (
        f'"@authority": {authority.lower()}\n"signature-agent";key="{LABEL}": "{agent_url}"\n'
        f'"@signature-params": {parameters}'
    )
    signature = b64encode(sign(base.encode("ascii"))).decode()
    return (
        f'Signature-Agent: {LABEL}="{agent_url}"\r\nSignature-Input: {LABEL}={parameters}\r\n'
        f"Signature: {LABEL}=:{signature}:\r\n"
    )


def _base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


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
