"""Where does a reference on this page lead? WHATWG joining, made cheap by remembering.

Most references of a site are met again on its next page, so what a folder's references mean is kept, up to
a limit.
"""

from __future__ import annotations

import re
from functools import lru_cache

from evercrawl.core.document.encoding import encode_text
from evercrawl.core.url import PAGE_SCHEMES, join, parse

MAX_CACHED_REFERENCES = 200_000
"""References remembered over all folders; then everything is forgotten and learned anew."""
MAX_CACHED_FOLDERS = 1024
"""Folders of pages for which is remembered whether they are in the normal form."""

# A path of unreserved characters, without empty segments, and with dot segments at most in front, joins by
# putting it behind the folder, or one above (URL standard 4.4).
_PLAIN_PATH = re.compile(
    r"(?:/|\./|(?:\.\./)+)?(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*)?\Z"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_RAW_IN_QUERY = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#<>'")
_LONE_SURROGATE = re.compile(f"[{chr(0xD800)}-{chr(0xDFFF)}]")


class ReferenceCache:
    """Folder -> reference -> URL or None; never more than `most` references in all."""

    __slots__ = ("_count", "_folders", "_most")

    def __init__(self, most: int = MAX_CACHED_REFERENCES) -> None:
        self._most = most
        self._count = 0
        self._folders: dict[str, dict[str, str | None]] = {}

    def folder(self, name: str) -> dict[str, str | None]:
        """What is known of a folder; the caller adds to it and reports the number with `grown`."""
        if self._count > self._most:
            self._folders.clear()
            self._count = 0
        known = self._folders.get(name)
        if known is None:
            known = self._folders[name] = {}
            self._count += 1
        return known

    def grown(self, by: int) -> None:
        """So many references were added."""
        self._count += by


_MEMORY = ReferenceCache()


class ReferenceResolver:
    """Joins the references of one page against its base URL; only http and https come back, without
    fragment.
    """

    __slots__ = ("_before", "_schemes", "base", "encoding", "folder", "is_self", "known", "origin")

    def __init__(self, page_url: str, base: str, encoding: str) -> None:
        self.base = base
        self.encoding = None if encoding == "utf-8" else encoding
        self.is_self = base == page_url
        # A page that came by another scheme may link to its like.
        own = page_url.partition(":")[0] + "://"
        self._schemes = PAGE_SCHEMES if page_url.startswith(PAGE_SCHEMES) else (*PAGE_SCHEMES, own)
        self.folder, self.origin = _folder_and_origin(base)
        # The same reference means something else on a page in another encoding.
        self.known = _MEMORY.folder(self.folder if self.encoding is None else f"{encoding} {self.folder}")
        self._before = len(self.known)

    def close(self) -> None:
        """Count what this page has added to the memory."""
        _MEMORY.grown(len(self.known) - self._before)

    def url(self, reference: str) -> str | None:
        """The absolute URL; None where it is not on the web, or is this very page (`#part`)."""
        cut = reference.find("#")
        if cut == 0 and self.is_self:
            return None
        if cut > 0 and reference[cut - 1] <= " ":
            # Space counts in front of a fragment and does not at the end.
            return self._joined(reference)
        if cut >= 0:
            reference = reference[:cut]
        try:
            return self.known[reference]
        except KeyError:
            return self._learned(reference)

    def _learned(self, reference: str) -> str | None:
        if reference[:1] in ("?", ""):
            return self._joined(reference)
        url = self._plain(reference) if self.origin and _PLAIN_PATH.match(reference) else self._joined(reference)
        self.known[reference] = url
        return url

    def _plain(self, reference: str) -> str:
        if reference[0] == "/":
            return self.origin + reference
        folder, top = self.folder, len(self.origin) + 1
        while reference.startswith("../"):
            reference = reference[3:]
            if len(folder) > top:
                folder = folder[: folder.rindex("/", 0, -1) + 1]
        return folder + reference.removeprefix("./")

    def _joined(self, reference: str) -> str | None:
        if not reference.isascii():
            reference = _LONE_SURROGATE.sub("�", reference)
            if self.encoding is not None:
                reference = _with_query_encoded(reference, self.encoding)
        url = join(self.base, reference) if self.base else parse(reference)
        if url is None or not url.startswith(self._schemes):
            return None
        cut = url.find("#")
        return url if cut < 0 else url[:cut]


def _folder_and_origin(base: str) -> tuple[str, str]:
    """The base up to the last slash of its path, and its origin; the origin is empty where short cuts do
    not hold.
    """
    if not base.startswith(PAGE_SCHEMES) or "\\" in base:
        return base, ""
    bare = base.partition("#")[0].partition("?")[0]
    start = bare.index("//") + 2
    slash = bare.find("/", start)
    if slash < 0:
        return base, ""
    folder, _, name = bare.rpartition("/")
    folder += "/"
    # A plain name means nothing to its folder, and the folder is that of many pages.
    is_normal = _is_normal(folder) if _PLAIN_PATH.match(name) else parse(bare) == bare
    return (folder, bare[:slash]) if is_normal else (base, "")


@lru_cache(maxsize=MAX_CACHED_FOLDERS)
def _is_normal(url: str) -> bool:
    return parse(url) == url


def _with_query_encoded(reference: str, encoding: str) -> str:
    """The query percent-encoded in the page's encoding (URL standard, "percent-encode after encoding")."""
    before, mark, query = reference.partition("?")
    if not mark:
        return reference
    return before + mark + _NOT_ASCII.sub(lambda run: _percent_encoded(run[0], encoding), query)


def _percent_encoded(run: str, encoding: str) -> str:
    try:
        return _escaped(encode_text(run, encoding))
    except UnicodeEncodeError:
        return "".join(_one_escaped(character, encoding) for character in run)


def _one_escaped(character: str, encoding: str) -> str:
    try:
        return _escaped(encode_text(character, encoding))
    except UnicodeEncodeError:
        return f"%26%23{ord(character)}%3B"


def _escaped(raw: bytes) -> str:
    return "".join(chr(byte) if byte in _RAW_IN_QUERY else f"%{byte:02X}" for byte in raw)
