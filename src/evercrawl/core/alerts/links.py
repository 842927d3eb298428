"""Links of messages to the web interface, signed where they act without a login.
Whoever holds a signed link can pause its alert, or mute a part of a page that its message showed, and nothing else."""

from __future__ import annotations

import hmac
from hashlib import sha256
from shlex import quote as quote_argument
from typing import NamedTuple

from evercrawl.core.change.review import edit_patterns
from evercrawl.model.alerts import CHANGES, Event
from evercrawl.model.change import Edit
from evercrawl.model.sanitize import safe_line

SIGNATURE_CHARS = 32
UNSUBSCRIBE_PATH, MUTE_PATH = "/unsubscribe", "/mute"


def link_signature(key: bytes, purpose: str, number: int) -> str:
    """Return the signature of a link with this purpose for one alert or change."""
    return hmac.new(key, f"{purpose} {number}".encode(), sha256).hexdigest()[:SIGNATURE_CHARS]


def is_signed_link(key: bytes, purpose: str, number: int, signature: str) -> bool:
    """Return whether the signature belongs to the link."""
    expected = link_signature(key, purpose, number)
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))


class MessageLinks(NamedTuple):
    """Makes the links of an alert's messages; without a public URL of the interface there are none."""

    collection: str  # Name of the folder.
    alert: str
    public_url: str | None = None
    key: bytes = b""
    alert_id: int = 0

    def difference(self, event: Event) -> str | None:
        """Return the link to the difference, or to the page if it is new or gone."""
        if event.kind not in CHANGES or event.version < 2:
            return self._interface("/page", url=event.url)
        return self._interface("/diff", url=event.url, a=f"v{event.version - 1}", b=f"v{event.version}")

    def mute(self, number: int) -> str | None:
        """Return the link to mute parts of a change."""
        return self._signed(MUTE_PATH, "mute", number)

    def unsubscribe(self) -> str | None:
        """Return the link to stop the messages of the alert."""
        return self._signed(UNSUBSCRIBE_PATH, "unsubscribe", self.alert_id)

    def manage(self) -> str | None:
        """Return the link to the alert."""
        return self._interface("/alert", name=self.alert)

    def difference_command(self, event: Event) -> str:
        """Return the command that shows the difference, or the history if the page is new or gone."""
        if event.kind not in CHANGES or event.version < 2:
            return self._command("history", event.url)
        return self._command("diff", event.url, f"v{event.version - 1}", f"v{event.version}")

    def mute_command(self, event: Event) -> str | None:
        """Return the command that mutes the first part that can be muted; None: no part can."""
        pattern = next(iter(mute_patterns_of(event.edits)), None)
        return None if pattern is None else self._command("mute", "add", pattern, "--page", event.url)

    def unsubscribe_command(self) -> str:
        """Return the command that stops the messages of the alert."""
        return self._command("alert", "pause", self.alert)

    def _interface(self, path: str, **query: str) -> str | None:
        if self.public_url is None:
            return None
        given = "&".join(f"{name}={_percent_encoded(value)}" for name, value in query.items())
        return f"{self.public_url.rstrip('/')}{path}?{given}"

    def _signed(self, path: str, purpose: str, number: int) -> str | None:
        if self.public_url is None:
            return None
        return f"{self.public_url.rstrip('/')}{path}/{number}/{link_signature(self.key, purpose, number)}"

    def _command(self, *words: str) -> str:
        return " ".join(["evercrawl", "-C", *(quote_argument(safe_line(word)) for word in (self.collection, *words))])


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _percent_encoded(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in encoded)


MAX_MUTE_PATTERNS = 8


def mute_patterns_of(edits: tuple[Edit, ...]) -> list[str]:
    """Return patterns that mute the edited parts: the text that stays the same in each."""
    found = (pattern for edit in edits for pattern in edit_patterns(edit.removed, edit.added))
    return list(dict.fromkeys(found))[:MAX_MUTE_PATTERNS]
