"""Under which key do indexes of web archives list a URL?

The sort-friendly form that the tools of the Internet Archive use: host reversed and without `www`, everything
in lower case, session ids removed, parameters sorted. It lumps URLs together that need not be one page, so it
is for index keys only and never says which page a URL names (`core/url.py` does).
"""

from __future__ import annotations

import re

from evercrawl.core.url import DEFAULT_PORTS, path_of, site_of, site_parts

MOST_UNESCAPES = 20
"""A URL may be escaped over and over; beyond this it is taken as it is."""

_WWW = re.compile(r"www\d*\.(?=.)")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_ESCAPED = re.compile(rb"[^\x21\x22\x24\x26-\x7e]")
"""Bytes that are written as an escape: controls, space, #, % and all beyond ASCII."""
_SLASHES = re.compile(rb"/{2,}")
_ASP_FOLDER = re.compile(rb"/\((?:[a-z0-9]{24}|(?:[a-z]\([0-9a-z]{24}\))+)\)(?=/[^?]+\.aspx)", re.IGNORECASE)
_SESSIONS = tuple(
    re.compile(rb"(.*)" + name + rb"(?:&|\Z)", re.IGNORECASE | re.DOTALL)
    for name in (
        rb"jsessionid=[0-9a-z$]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
)
"""The last of each is removed, even at the end of a longer name: keys must agree with those of others."""


def surt(url: str) -> str:
    """The index key of a canonical http or https URL, such as `org,example)/a?b=1`."""
    path, question, query = path_of(url).partition("?")
    key = _host(url) + ")" + _path(path)
    words = _query(query) if question else ""
    return f"{key}?{words}" if words else key


def _host(url: str) -> str:
    name = site_parts(site_of(url))
    host = name.host.rstrip(".")
    if host.startswith("["):
        host = host[1:-1]
    else:
        www = _WWW.match(host)
        host = ",".join(reversed(host[www.end() if www else 0 :].split(".")))
    return host if name.port == DEFAULT_PORTS.get(name.scheme) else f"{host}:{name.port}"


def _path(path: str) -> str:
    plain = _SLASHES.sub(b"/", _without_dots(_unescaped(path)))
    plain = _ASP_FOLDER.sub(b"", plain)
    if len(plain) > 1:
        plain = plain.removesuffix(b"/")
    return _written(plain)


def _query(query: str) -> str:
    """Parameters in order of name and value, without those that name a session."""
    plain = _unescaped(query)
    for session in _SESSIONS:
        found = session.match(plain)
        if found:
            plain = found[1] + plain[found.end() :]
    words = sorted(plain.lower().split(b"&"), key=lambda word: word.split(b"=", 1))
    return _written(b"&".join(words))


def _unescaped(text: str) -> bytes:
    plain = text.encode("utf-8", "surrogatepass")
    for _ in range(MOST_UNESCAPES):
        following = _ESCAPE.sub(_byte, plain)
        if following == plain:
            break
        plain = following
    return plain


def _byte(escape: re.Match[bytes]) -> bytes:
    return bytes((int(escape[1], 16),))


def _without_dots(path: bytes) -> bytes:
    if b"/." not in path:
        return path
    kept: list[bytes] = []
    for part in path.split(b"/")[1:]:
        if part == b"..":
            del kept[-1:]
        elif part != b".":
            kept.append(part)
    return b"/" + b"/".join(kept)


def _written(plain: bytes) -> str:
    return _ESCAPED.sub(lambda found: b"%%%02x" % found[0][0], plain).decode("ascii").lower()
