"""Which page does a loc mean, and may this sitemap speak for it?"""

from __future__ import annotations

import re
from functools import lru_cache

from evercrawl.core import url as urls

LONGEST_URL = 8192
"""Characters; the protocol's limit is 2048."""
SITES_REMEMBERED = 4096

# What the URL standard would leave as it is, but for the empty path and the case of the host.
_PLAIN = re.compile(r"(https?://[0-9a-zA-Z.:-]+)(?:[/?#][!#-;=?-\[\]_a-z~]*)?", re.ASCII)
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)
_UNREADABLE = "�"


def absolute(written: str, base: str) -> str | None:
    """The absolute http(s) URL of a loc; None where it names no page.

    A plain absolute URL stays as it is written; everything else gets the URL standard's form. A loc with
    bytes that could not be decoded is refused: nobody knows which page it means.
    """
    text = written.strip()
    if not text or len(text) > LONGEST_URL or _UNREADABLE in text:
        return None
    if plain := _PLAIN.fullmatch(text):
        return text if _is_site(plain[1]) else None
    href = urls.parse(text) if _ABSOLUTE.match(text) else urls.join(base, _with_host(text, base))
    return href if href is not None and href.startswith(urls.PAGE_SCHEMES) else None


@lru_cache(maxsize=SITES_REMEMBERED)
def _is_site(origin: str) -> bool:
    return urls.parse(origin) is not None


def _with_host(reference: str, base: str) -> str:
    """A reference that begins with a host's name but lacks the scheme, as people write it by hand."""
    if base.startswith(urls.PAGE_SCHEMES):
        host = urls.site_of(base).partition("://")[2]
        if reference == host or reference.startswith(("www.", host + "/")):
            return "//" + reference
    return reference


def is_absolute(written: str) -> bool:
    """The text is a web address with its scheme."""
    return written[:8].lower().startswith(urls.PAGE_SCHEMES)


def is_in_scope(sitemap_url: str, url: str) -> bool:
    """The sitemap may speak for this URL: same site, and not above its folder (sitemaps.org, "location")."""
    ours, theirs = urls.canonical(sitemap_url), urls.canonical(url)
    if ours is None or theirs is None:
        return False
    folder = ours.partition("?")[0].rpartition("/")[0] + "/"
    return theirs.startswith(folder)
