"""Media types: by URL extension, by header and content, and as the kinds that `type:` searches for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from evercrawl.core.document.word_lists import read_lists
from evercrawl.core.http.content_coding import CACHED_VALUES, unknown_coding
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Headers, header

_LISTS = read_lists("evercrawl.core.document", "file_types.txt")
_EXTENSIONS = {kind: " ".join(lines) for kind, lines in _LISTS.items() if " " not in kind}
FILE_TYPES = tuple(_EXTENSIONS)
MAX_EXTENSION_CHARS = 8

_TYPE_OF_EXTENSION = {extension: kind for kind, extensions in _EXTENSIONS.items() for extension in extensions.split()}


MEDIA_TYPES: dict[str, tuple[str, ...]] = {kind: tuple(_LISTS[f"media types of {kind}"]) for kind in FILE_TYPES}
"""The media types of each type of file, as patterns; those of pages are in none of them."""


def types_not_fetched(fetch_types: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns of media types that belong to no type in the setting."""
    wanted = set(fetch_types)
    return tuple(pattern for kind, patterns in MEDIA_TYPES.items() if kind not in wanted for pattern in patterns)


def may_be_of_type(kind: str, media_types: Iterable[str]) -> bool:
    """True if a file of this type can have one of the media types, which are patterns too."""
    return any(
        fnmatchcase(pattern, wanted) or fnmatchcase(wanted, pattern)
        for wanted in media_types
        for pattern in MEDIA_TYPES[kind]
    )


def url_file_type(url: str) -> str | None:
    """Return the type of file that the extension of a canonical URL promises; None if it may be a page."""
    end = url.find("?")
    if end < 0:
        end = len(url)
    dot = url.rfind(".", 0, end)
    if end - dot - 1 > MAX_EXTENSION_CHARS:
        return None
    # An extension with a slash in it, such as that of a bare host, is in no list.
    return _TYPE_OF_EXTENSION.get(url[dot + 1 : end].lower())


def check_file_types(names: Iterable[str]) -> frozenset[str]:
    """Return the types of the setting; raises ConfigError for an unknown one."""
    asked = frozenset(names)
    if unknown := sorted(asked - set(FILE_TYPES)):
        known = ", ".join(FILE_TYPES)
        raise ConfigError(f"scope.fetch_types does not know {', '.join(unknown)}; it knows {known}")
    return asked


SNIFFED_BYTES = 1445  # MIME Sniffing standard, section 5.
BYTES_TYPE = "application/octet-stream"
HTML_TYPES = ("text/html", "application/xhtml+xml")
_ESSENCE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_MARKUP = re.compile(rb"<(?:!doctype|!--|\?xml|/?[a-z][a-z0-9]*[\s/>])", re.IGNORECASE)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def sniff_media_type(headers: Headers, body: bytes) -> str:
    """Return the media type that the server names, or what the content looks like if it names none.
    A body whose content coding is unknown is only bytes, whatever it would be without that coding."""
    if unknown_coding(headers) is not None:
        return BYTES_TYPE
    return named_media_type(headers) or _looks_like(body[:SNIFFED_BYTES])


def named_media_type(headers: Headers) -> str | None:
    """Return the media type that the server names; None: none, or not a valid one."""
    return _essence_of(header(headers, "content-type") or "")


@lru_cache(maxsize=CACHED_VALUES)
def _essence_of(value: str) -> str | None:
    named = value.partition(";")[0].strip().lower()
    return named if _ESSENCE.match(named) else None


def _looks_like(start: bytes) -> str:
    if start.startswith((b"\xfe\xff", b"\xff\xfe")):
        return "text/html"
    if _BINARY.search(start):
        return BYTES_TYPE
    return "text/html" if _MARKUP.search(start) else "text/plain"


MEDIA_KINDS = ("html", "pdf", "feed", "text", "image", "other")
_KIND_OF = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/feed+json": "feed",
}


def media_kind(content_type: str | None) -> str:
    """Return the kind of a media type for `type:`; html if it names none."""
    name = (content_type or "text/html").partition(";")[0].strip().lower()
    if name in _KIND_OF:
        return _KIND_OF[name]
    main = name.partition("/")[0]
    return main if main in ("text", "image") else "other"
