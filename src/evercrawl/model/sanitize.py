"""Makes crawled text safe to show in terminals and browsers (Unicode TR 36).
Escape sequences can rewrite the screen or the clipboard, and bidirectional controls can disguise a URL."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"  # strings: OSC, DCS ...
    r"|\x1b[ -/]*[0-~]?"
)
MASK = "***"
_PASSWORD = re.compile(r"(://[^\s/?#:@]*):[^\s/?#]*@")
_PASSWORD_OPTION = re.compile(r"([?&](?:ssl)?password=)[^\s&#\"']+", re.IGNORECASE)
_CREDENTIALS = re.compile(r"^[^/?#]*//[^/?#]*@")
_JOINERS = "\u200c\u200d"  # Invisible, but needed to write Persian, Hindi and emoji.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def safe_line(text: str, *, longest: int | None = None) -> str:
    """Return the text as one line of visible characters, cut at `longest` with an ellipsis."""
    line = " ".join(_visible(part) for part in re.split(r"[\t\n\v\f\r\x85\u2028\u2029]+", _SEQUENCES.sub("", text)))
    return line[: longest - 1] + ELLIPSIS if longest is not None and len(line) > longest else line


def safe_block(text: str) -> str:
    """Return the text with its lines and tabs, without other control characters."""
    kept = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    return "".join(char if char in "\n\t" else _visible(char) for char in kept)


def mask_passwords(text: str) -> str:
    """Return the text without the passwords of the URLs in it: `postgresql://me:***@host/?password=***`."""
    return _PASSWORD_OPTION.sub(rf"\1{MASK}", _PASSWORD.sub(rf"\1:{MASK}@", text))


def has_credentials(url: str) -> bool:
    """Return whether a URL names a user or a password for its host."""
    return _CREDENTIALS.search(url.replace("\\", "/")) is not None


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(char for char in text if char in _JOINERS or unicodedata.category(char) not in _HIDDEN)
