"""Resolution of references against the base URL of a page (WHATWG URL joining), with a cache.
Most references of a page occur on the next page of its site, so results are cached by folder."""

from __future__ import annotations

import re
from functools import lru_cache

from evercrawl.core.document.encoding import encode_text
from evercrawl.core.url import PAGE_SCHEMES, join, parse

MAX_CACHED_REFERENCES = 200_000  # References over all folders; beyond this the cache is cleared.
MAX_CACHED_CHARS = 500  # Of a reference and its URL; longer ones are resolved again.
MAX_CACHED_FOLDERS = 1024

# A path of unreserved characters without empty segments, with dot segments only in front, is appended to the
# folder or one above (URL standard 4.4).
_PLAIN_PATH = re.compile(
    r"(?:/|\./|(?:\.\./)+)?(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*)?\Z"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_RAW_IN_QUERY = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#<>'")
_LONE_SURROGATE = re.compile(f"[{chr(0xD800)}-{chr(0xDFFF)}]")


class ReferenceCache:
    """Maps folder and reference to a URL or None, for at most `most` references in all."""

    __slots__ = ("_count", "_folders", "_most")

    def __init__(self, most: int = MAX_CACHED_REFERENCES) -> None:
        self._most = most
        self._count = 0
        self._folders: dict[str, dict[str, str | None]] = {}

    def folder(self, name: str) -> dict[str, str | None]:
        """Return the entries of a folder; the caller adds to them and reports the number to `count_added`."""
        if self._count > self._most:
            self._folders.clear()
            self._count = 0
        known = self._folders.get(name)
        if known is None:
            known = self._folders[name] = {}
            self._count += 1
        return known

    def count_added(self, by: int) -> None:
        """Count added references."""
        self._count += by


_CACHE = ReferenceCache()


class ReferenceResolver:
    """Resolves the references of one page to http and https URLs without fragment."""

    __slots__ = ("_before", "_schemes", "base", "encoding", "folder", "is_self", "known", "origin")

    def __init__(self, page_url: str, base: str, encoding: str) -> None:
        self.base = base
        self.encoding = None if encoding == "utf-8" else encoding
        self.is_self = base == page_url
        # A page of another scheme may link to that scheme.
        own = page_url.partition(":")[0] + "://"
        self._schemes = PAGE_SCHEMES if page_url.startswith(PAGE_SCHEMES) else (*PAGE_SCHEMES, own)
        self.folder, self.origin = _folder_and_origin(base)
        # References in another encoding resolve differently.
        self.known = _CACHE.folder(self.folder if self.encoding is None else f"{encoding} {self.folder}")
        self._before = len(self.known)

    def close(self) -> None:
        """Count what this page has added to the cache."""
        _CACHE.count_added(len(self.known) - self._before)

    def resolve(self, reference: str) -> str | None:
        """Return the absolute URL; None if it is not on the web, or is this page (`#part`)."""
        cut = reference.find("#")
        if cut == 0 and self.is_self:
            return None
        if cut > 0 and reference[cut - 1] <= " ":
            # Space counts before a fragment but not at the end.
            return self._join(reference)
        if cut >= 0:
            reference = reference[:cut]
        try:
            return self.known[reference]
        except KeyError:
            return self._resolve_new(reference)

    def _resolve_new(self, reference: str) -> str | None:
        if reference[:1] in ("?", ""):
            return self._join(reference)
        url = self._join_plain(reference) if self.origin and _PLAIN_PATH.match(reference) else self._join(reference)
        if len(reference) + len(url or "") <= MAX_CACHED_CHARS:
            self.known[reference] = url
        return url

    def _join_plain(self, reference: str) -> str:
        if reference[0] == "/":
            return self.origin + reference
        folder, top, at = self.folder, len(self.origin) + 1, 0
        while reference.startswith("../", at):
            at += 3
            if len(folder) > top:
                folder = folder[: folder.rindex("/", 0, -1) + 1]
        return folder + reference[at:].removeprefix("./")

    def _join(self, reference: str) -> str | None:
        if not reference.isascii():
            reference = _LONE_SURROGATE.sub("�", reference)
            if self.encoding is not None:
                reference = _encode_query(reference, self.encoding)
        url = join(self.base, reference) if self.base else parse(reference)
        if url is None or not url.startswith(self._schemes):
            return None
        cut = url.find("#")
        return url if cut < 0 else url[:cut]


def _folder_and_origin(base: str) -> tuple[str, str]:
    """Return the base up to the last slash of its path, and its origin, empty if plain joining is unsafe."""
    if not base.startswith(PAGE_SCHEMES) or "\\" in base:
        return base, ""
    bare = base.partition("#")[0].partition("?")[0]
    start = bare.index("//") + 2
    slash = bare.find("/", start)
    if slash < 0:
        return base, ""
    folder, _, name = bare.rpartition("/")
    folder += "/"
    # With a plain file name only the folder needs the check, which is cached.
    is_normal = _parse_folder(folder) == folder if _PLAIN_PATH.match(name) else parse(bare) == bare
    return (folder, bare[:slash]) if is_normal else (base, "")


_parse_folder = lru_cache(maxsize=MAX_CACHED_FOLDERS)(parse)


def _encode_query(reference: str, encoding: str) -> str:
    """Percent-encode the query in the page's encoding (URL standard, "percent-encode after encoding")."""
    before, mark, query = reference.partition("?")
    if not mark:
        return reference
    return before + mark + _NOT_ASCII.sub(lambda run: _percent_encode(run[0], encoding), query)


def _percent_encode(run: str, encoding: str) -> str:
    try:
        return _escape_bytes(encode_text(run, encoding))
    except UnicodeEncodeError:
        if len(run) == 1:
            return f"%26%23{ord(run)}%3B"
        return "".join(_percent_encode(character, encoding) for character in run)


def _escape_bytes(raw: bytes) -> str:
    return "".join(chr(byte) if byte in _RAW_IN_QUERY else f"%{byte:02X}" for byte in raw)
