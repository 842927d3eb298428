"""Sign requests so that sites can tell who sent them: HTTP Message Signatures (RFC 9421) in the profile of Web Bot Auth
(draft-ietf-webbotauth-httpsig-protocol-01), with Ed25519 keys named by their JWK thumbprint (RFC 7638, RFC 8037)."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

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
