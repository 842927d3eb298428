"""Signed requests: keys in private files, and signatures that others can check."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from evercrawl.adapters.http import client
from evercrawl.adapters.http.request_signing import RequestSigner, create_key, load_key, load_signer, thumbprint
from evercrawl.adapters.system import SystemClock
from evercrawl.config.load import read_settings
from evercrawl.errors import ConfigError
from evercrawl.model.settings import IdentitySettings, Settings
from evercrawl.outpost import agent_builder

AGENT = "https://crawler.example.org/.well-known/http-message-signatures-directory"
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


def decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def checked(lines: str, authority: str, directory: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    """Verify a signature as RFC 9421 section 3.2 says, from the header lines alone; return its parameters."""
    fields = dict(line.split(": ", 1) for line in lines.splitlines())
    parameters = fields["Signature-Input"].removeprefix("sig1=")
    covered, _, rest = parameters.partition(")")
    values = {
        '"@authority"': authority,
        '"signature-agent";key="sig1"': fields["Signature-Agent"].removeprefix("sig1="),
    }
    base = (
        "".join(f"{name}: {values[name]}\n" for name in covered[1:].split(" ")) + f'"@signature-params": {parameters}'
    )
    found = dict(re.findall(r';(\w+)="?([^";]+)"?', rest))
    (key,) = [key for key in directory["keys"] if key["kid"] == found["keyid"]]
    signature = b64decode(fields["Signature"].removeprefix("sig1=:").removesuffix(":"))
    Ed25519PublicKey.from_public_bytes(decode(key["x"])).verify(signature, base.encode())
    return found


def test_a_key_is_named_by_its_thumbprint():
    # The test key of RFC 9421 appendix B.1.4, whose thumbprint the drafts of Web Bot Auth state.
    public = decode("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs")
    assert thumbprint(public) == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"


def test_a_signature_can_be_checked_with_the_directory(tmp_path: Path):
    key = create_key(tmp_path / "key.pem")
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    assert load_key(tmp_path / "key.pem").directory() == key.directory()
    signer = load_signer(IdentitySettings(signature_key=str(tmp_path / "key.pem"), signature_agent=AGENT))
    assert signer is not None
    lines = signer.lines("https://site.example:8443", now=NOW)
    found = checked(lines, "site.example:8443", key.directory())
    assert (found["tag"], found["alg"], found["keyid"]) == ("web-bot-auth", "ed25519", key.name)
    assert int(found["expires"]) - int(found["created"]) == 300
    assert (
        checked(signer.lines("https://site.example", now=NOW), "site.example", key.directory())["nonce"]
        != found["nonce"]
    )
    with pytest.raises(InvalidSignature):
        checked(lines, "other.example", key.directory())
    assert set(key.directory()["keys"][0]) == {"kty", "crv", "kid", "x", "use"}


def test_requests_without_tls_are_not_signed(tmp_path: Path):
    assert RequestSigner(create_key(tmp_path / "key.pem"), AGENT).lines("http://site.example", now=NOW) == ""


def test_an_outpost_signs_with_the_key_of_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    create_key(tmp_path / "key.pem")
    given: list[RequestSigner | None] = []
    monkeypatch.setattr(client, "HttpFetcher", lambda *_, signer, **__: given.append(signer))
    identity = IdentitySettings(signature_key=str(tmp_path / "key.pem"), signature_agent=AGENT)
    for settings in (Settings(identity=identity), Settings()):
        agent_builder._transport(agent_builder.AgentOptions(tmp_path), settings, SystemClock())
    assert [signer is not None for signer in given] == [True, False]


def test_keys_that_are_not_private_or_not_usable_are_refused(tmp_path: Path):
    path = tmp_path / "key.pem"
    create_key(path)
    with pytest.raises(ConfigError, match="never overwritten"):
        create_key(path)
    with pytest.raises(ConfigError, match="needs identity"):
        load_signer(IdentitySettings(signature_key=str(path)))
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        load_key(path)
    other = tmp_path / "other.pem"
    text = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for content, words in ((text, "not an Ed25519 key"), (b"nothing", "not a private key")):
        other.write_bytes(content)
        other.chmod(0o600)
        with pytest.raises(ConfigError, match=words):
            load_key(other)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_key(tmp_path / "missing.pem")
    assert load_signer(IdentitySettings()) is None


def test_the_directory_is_an_https_url():
    assert read_settings(env={}, flags={"identity.signature_agent": AGENT}).settings.identity.signature_agent == AGENT
    for bad in ("http://crawler.example.org/", 'https://a.example/"', "https://a.example/\r\nX: y"):
        with pytest.raises(ConfigError):
            read_settings(env={}, flags={"identity.signature_agent": bad})
