"""Urls."""

from __future__ import annotations

import re

from evercrawl.errors import ConfigError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d+(?:[/?#]|$))")
"""What stands before a colon, unless a port follows it: `localhost:8000` is a host."""


_WEB_SCHEMES = ("http", "https")


def parse_page_url(text: str) -> str:
    """The canonical URL of what the user typed; a bare host name means https."""
    from evercrawl.core.url import PAGE_SCHEMES, canonical

    typed = text.strip()
    scheme = _SCHEME.match(typed)
    schemes = (
        PAGE_SCHEMES if scheme is None or scheme[1].lower() in _WEB_SCHEMES else _fetchable_schemes(scheme[1], text)
    )
    found = canonical(typed if scheme is not None else f"https://{typed}", schemes)
    if found is None:
        raise ConfigError(f"{text!r} is not a URL that can be crawled; write it like https://example.org/")
    return found


def _fetchable_schemes(scheme: str, text: str) -> tuple[str, ...]:
    """The schemes that can be fetched; ConfigError where this one is not among them."""
    from evercrawl.adapters.plugins import installed_schemes

    installed = installed_schemes()
    if scheme.lower() not in installed:
        known = " or ".join((*_WEB_SCHEMES, *installed))
        raise ConfigError(
            f"{text!r} is not a URL that can be crawled: {scheme!r} is not {known}; write it like https://example.org/"
        )
    return tuple(f"{name}://" for name in installed)
