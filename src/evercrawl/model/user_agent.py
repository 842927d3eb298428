"""The user agent: the product token that robots.txt names (RFC 9309 section 2.2.1) and your contact."""

from __future__ import annotations

import re

from evercrawl.errors import ConfigError
from evercrawl.model.settings import IdentitySettings

USER_AGENTS = ("plain", "compatible", "browser")
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
MAX_CONTACT_CHARS = 256

_PRODUCT = re.compile(r"[A-Za-z_-]+", re.ASCII)
_MAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*", re.ASCII)
_PAGE = re.compile(r"https?://[!-~]+", re.ASCII | re.IGNORECASE)


def user_agent(identity: IdentitySettings, version: str) -> str:
    """Return the User-Agent of every request: printable ASCII, with the product and the contact in every form."""
    if not _PRODUCT.fullmatch(identity.product):
        raise ConfigError(f"identity.product {identity.product!r} cannot be used: letters, '-' and '_' only (RFC 9309)")
    name = f"{identity.product}/{version}"
    contact = (identity.contact or "").strip()
    address = f"+{_contact_url(contact)}" if contact else ""
    if identity.user_agent == "compatible":
        return f"Mozilla/5.0 (compatible; {name}{'; ' if address else ''}{address})"
    own = f"{name} ({address})" if address else name
    return f"{BROWSER} {own}" if identity.user_agent == "browser" else own


def _contact_url(contact: str) -> str:
    """Return the contact as a URL that cannot end the comment it stands in."""
    address = contact[len("mailto:") :] if contact.lower().startswith("mailto:") else contact
    if len(contact) <= MAX_CONTACT_CHARS:
        if _MAIL.fullmatch(address):
            return f"mailto:{address}"
        if _PAGE.fullmatch(contact) and "\\" not in contact:
            return contact.replace("(", "%28").replace(")", "%29")
    raise ConfigError(
        f"identity.contact {contact[:MAX_CONTACT_CHARS]!r} cannot be used: give a mail address or a web page"
    )


_LEADING_LETTERS = re.compile(r"[A-Za-z_-]+")


def product_token(user_agent: str) -> str:
    """Return the name that robots rules use for us: the leading letters of a user agent in lower case."""
    match = _LEADING_LETTERS.match(user_agent.strip())
    return match[0].lower() if match else ""
