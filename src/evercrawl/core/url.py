"""Parse, join and canonicalise URLs (WHATWG URL standard, by ada).
The canonical form that identifies a page has no fragment and normal percent-encoding (RFC 3986 section 6.2.2).
Parameters are never sorted or dropped here: that needs evidence from the site."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import ada_url
from xxhash import xxh3_64_digest, xxh3_64_intdigest, xxh32_digest

PAGE_SCHEMES = ("http://", "https://")
DEFAULT_PORTS = {"http": 80, "https": 443}
NO_PORT = -1  # Port of a site whose scheme has no known default.
MAX_LABEL_CHARS = 63
MAX_HOST_CHARS = 253
MAX_URL_CHARS = 65_536  # Without fragment. No server accepts longer URLs; reading them would take much time.

# Escapes of unreserved characters, and those with small letters; browsers write the others as they are here.
# A stray percent sign before an escape counts: with the decoded character it could form another escape.
_UNUSUAL_ESCAPE = re.compile(
    r"(%[\dA-Fa-f]?)?%(2[DdEe]|3\d|[46][1-9A-Fa-f]|[57][\dAa]|5[Ff]|7[Ee]|[\dA-Fa-f][a-f]|[a-f][\dA-Fa-f])", re.ASCII
)
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class SiteName(NamedTuple):
    """The parts of an origin."""

    scheme: str
    host: str
    port: int


def join(base: str, reference: str) -> str | None:
    """Return the absolute URL of a reference, WHATWG-serialised; None if it fails."""
    try:
        return str(ada_url.join_url(base, reference))
    except ValueError:
        return None


def parse(url: str) -> str | None:
    """Return the WHATWG serialisation of an absolute URL; None if it fails."""
    try:
        return str(ada_url.normalize_url(url))
    except ValueError:
        return None


def canonical(url: str, schemes: tuple[str, ...] = PAGE_SCHEMES) -> str | None:
    """Return the form that identifies a page; None if the URL cannot be fetched."""
    href = parse(url)
    return None if href is None else canonical_of_href(href, schemes)


def canonical_of_href(href: str, schemes: tuple[str, ...] = PAGE_SCHEMES) -> str | None:
    """Return the canonical form of a serialised URL; `schemes` are those that can be fetched."""
    if not href.startswith(schemes):
        return None
    cut = href.find("#")
    if cut >= 0:
        href = href[:cut]
    if len(href) > MAX_URL_CHARS:
        return None
    if "%" in href:
        href = _UNUSUAL_ESCAPE.sub(_normal_escape, href)
    return href if _is_usable_host(site_of(href)) else None


def without_user(url: str) -> str:
    """Return a serialised URL without the user name and password before its host, so that they are not stored."""
    start = url.find("//") + 2
    if "@" not in url or start < 2:
        return url
    ends = (at for mark in "/?#" if (at := url.find(mark, start)) >= 0)
    at = url.rfind("@", start, min(ends, default=len(url)))
    return url if at < 0 else url[:start] + url[at + 1 :]


def _normal_escape(match: re.Match[str]) -> str:
    code = int(match[2], 16)
    if match[1] is None and code in _UNRESERVED:
        return chr(code)
    return (match[1] or "") + "%" + match[2].upper()


def site_of(url: str) -> str:
    """Return the origin of a canonical URL: scheme, host and port, without user information."""
    start = url.index("//") + 2
    end = url.find("/", start)
    authority = url[start:] if end < 0 else url[start:end]
    return url[:start] + authority.rpartition("@")[2]


@lru_cache(maxsize=65_536)
def _is_usable_host(site: str) -> bool:
    name = site_parts(site)
    if name.port == 0 or not name.host or len(name.host) > MAX_HOST_CHARS:
        return False
    if name.host.startswith("["):
        return True
    labels = name.host.removesuffix(".").split(".")
    return all(0 < len(label) <= MAX_LABEL_CHARS for label in labels)


@lru_cache(maxsize=65_536)
def site_parts(site: str) -> SiteName:
    """Return scheme, host (IPv6 in brackets) and port of an origin."""
    scheme, _, authority = site.partition("://")
    host, colon, port = authority.rpartition(":")
    if not colon or host.endswith(":") or (authority.startswith("[") and authority.endswith("]")):
        host, port = authority, ""
    return SiteName(scheme, host, int(port) if port else DEFAULT_PORTS.get(scheme, NO_PORT))


def origin_of(site: SiteName) -> str:
    """Return the origin that `site_parts` has split."""
    is_default = DEFAULT_PORTS.get(site.scheme) == site.port
    return f"{site.scheme}://{site.host}" + ("" if is_default else f":{site.port}")


def path_of(url: str) -> str:
    """Return path and query of a canonical URL, as a request line or robots rule sees them."""
    start = url.find("/", url.index("//") + 2)
    return url[start:] if start >= 0 else "/"


def key_of(url: str) -> bytes:
    """Return 16 bytes that identify a canonical URL: 4 for the site, 4 for the folder, 8 for the whole URL.
    Keys of one folder are close together, so the links of a page touch few places of the index."""
    raw = url.encode()
    slash = raw.find(b"/", raw.index(b"//") + 2)
    query = raw.find(b"?", slash)
    folder = raw.rfind(b"/", slash, len(raw) if query < 0 else query)
    return xxh32_digest(raw[:slash]) + xxh32_digest(raw[:folder]) + xxh3_64_digest(raw)


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """Return the registered domain (public suffix list, with its private part). An IP address is returned as it is."""
    bare = host.removesuffix(".")
    if bare.startswith("[") or bare.replace(".", "").isdigit():
        return host
    labels = bare.lower().split(".")
    public = _public_labels(list(map(_unicode_label, labels)))
    return bare if "" in labels or len(labels) <= public else ".".join(labels[-public - 1 :])


def _public_labels(labels: list[str]) -> int:
    """Return how many labels at the end belong to the public suffix; the root of a wildcard is one too."""
    rules, count = _suffix_rules(), len(labels)
    for start in range(count if count > 1 else 0):
        suffix, found = ".".join(labels[start:]), count - start
        if f"!{suffix}" in rules:
            return found - 1
        if f"*.{suffix}" in rules:
            return found + (start > 0)
        if suffix in rules:
            return found
    return 1


def _unicode_label(label: str) -> str:
    try:
        return label.encode().decode("idna") if label.startswith("xn--") else label
    except UnicodeError:
        return label


@lru_cache(maxsize=1)
def _suffix_rules() -> frozenset[str]:
    # The package itself takes five times as long: it encodes all of its ten thousand rules.
    text = files("publicsuffixlist").joinpath("public_suffix_list.dat").read_text(encoding="utf-8").lower()
    return frozenset(line.partition(" ")[0] for line in text.split("\n") if not line.startswith("//")) - {""}


def shard_of_domain(domain: str, shards: int) -> int:
    """Return the shard that owns a registrable domain."""
    return int(xxh3_64_intdigest(domain.encode())) % shards


def shard_of_site(site: str, shards: int) -> int:
    """Return the shard that owns a site."""
    return shard_of_domain(registrable_domain(site_parts(site).host), shards)


MAX_UNESCAPES = 20  # A URL may be escaped repeatedly; beyond this it is taken as it is.

_WWW = re.compile(r"www\d*\.(?=.)")
_ESCAPE_BYTES = re.compile(rb"%[0-9A-Fa-f]{2}")
_BYTE_OF_ESCAPE = {b"%%%02X" % code: bytes((code,)) for code in range(256)}
_BYTES_TO_ESCAPE = re.compile(rb"[^\x21\x22\x24\x26-\x7e]")
"""Bytes to escape: controls, space, #, % and everything beyond ASCII."""
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
"""The last of each is removed, even at the end of a longer name, as other archive tools do."""


def surt(url: str) -> str:
    """Return the key under which web archives index a URL, such as `org,example)/a?b=1`.
    Host reversed without `www`, lower case, no session ids, sorted parameters. Different pages may share a key."""
    path, question, query = path_of(url).partition("?")
    key = _surt_host(url) + ")" + _surt_path(path)
    words = _surt_query(query) if question else ""
    return f"{key}?{words}" if words else key


def _surt_host(url: str) -> str:
    name = site_parts(site_of(url))
    host = name.host.rstrip(".")
    if host.startswith("["):
        host = host[1:-1]
    else:
        www = _WWW.match(host)
        host = ",".join(reversed(host[www.end() if www else 0 :].split(".")))
    return host if name.port == DEFAULT_PORTS.get(name.scheme) else f"{host}:{name.port}"


def _surt_path(path: str) -> str:
    plain = _SLASHES.sub(b"/", _without_dots(_unescape(path)))
    plain = _ASP_FOLDER.sub(b"", plain)
    if len(plain) > 1:
        plain = plain.removesuffix(b"/")
    return _escape(plain)


def _surt_query(query: str) -> str:
    """Return the parameters sorted by name and value, without session ids."""
    plain = _unescape(query)
    for session in _SESSIONS:
        found = session.match(plain)
        if found:
            plain = found[1] + plain[found.end() :]
    words = sorted(plain.lower().split(b"&"), key=lambda word: word.split(b"=", 1))
    return _escape(b"&".join(words))


def _unescaped_byte(match: re.Match[bytes]) -> bytes:
    return _BYTE_OF_ESCAPE[match[0].upper()]


def _unescape(text: str) -> bytes:
    plain = text.encode("utf-8", "surrogatepass")
    for _ in range(MAX_UNESCAPES):
        following = _ESCAPE_BYTES.sub(_unescaped_byte, plain)
        if following == plain:
            break
        plain = following
    return plain


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


def _escape(plain: bytes) -> str:
    return _BYTES_TO_ESCAPE.sub(lambda found: b"%%%02x" % found[0][0], plain).decode("ascii").lower()


def matches_glob(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern in which `*` stands for anything, in linear time."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *middle, last = others
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
