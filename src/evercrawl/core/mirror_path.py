"""Under which file name does a page lie in a tree of folders?

Host, then the URL's path as folders. What a file system or a shell could take for more than a name (dots, a
dash in front, reserved names and characters, great length) is written as escapes or cut off with a digest, so
a name never leads out of its folder. Two URLs may still get one name: the caller keeps them apart with
`another_name`.
"""

from __future__ import annotations

import re
from hashlib import sha1
from typing import NamedTuple

from evercrawl.core.url import DEFAULT_PORTS, path_of, site_of, site_parts

LONGEST_NAME = 120
"""Characters of one name; all are ASCII. File systems take 255 bytes."""
LONGEST_PATH = 600
"""Characters of the whole path below the tree; macOS takes 1,024 bytes, Linux 4,096."""
KEPT_OF_LONG = 80

_UNSAFE = re.compile(r"[^A-Za-z0-9._~%=+,@-]")
_ENDING = re.compile(r"(?<=.)\.[A-Za-z0-9]{1,8}\Z")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|\Z)", re.IGNORECASE)
_HTML_ENDINGS = (".html", ".htm", ".xhtml")


class MirrorPath(NamedTuple):
    """Folders and a file name, relative to the tree."""

    parts: tuple[str, ...]
    is_renamed: bool
    """Some name is not the one that the URL has."""


def mirror_path(url: str, *, ending: str) -> MirrorPath:
    """The path of a page; `ending` is that of its media type, such as `.html`."""
    path, question, query = path_of(url).partition("?")
    folders = [_host(url), *path.split("/")[1:]]
    last = folders.pop()
    if _ENDING.search(last) or (question and last):
        stem, own = _split(last, ending)
    else:
        folders += [last] if last else []
        stem, own = "index", ending
    if question:
        stem = f"{stem}@{query}"
    wanted = [*folders, stem + own]
    named = [safe_name(folder) for folder in folders if folder]
    parts = (*named, safe_name(stem, room=LONGEST_NAME - len(own)) + own)
    if sum(map(len, parts)) + len(parts) > LONGEST_PATH:
        parts = _shortened(url, named, own)
    return MirrorPath(parts, list(parts) != wanted)


def another_name(name: str, url: str, count: int = 0) -> str:
    """A name for the same thing where the first is taken: with a digest of the URL before its ending."""
    found = _ENDING.search(name)
    stem, ending = (name[: found.start()], found[0]) if found else (name, "")
    return f"{stem[: LONGEST_NAME - 30]}~{_digest(url)}{f'-{count}' if count else ''}{ending}"


def safe_name(name: str, *, room: int = LONGEST_NAME) -> str:
    """A name that is one on every file system and names nothing else."""
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)
    if safe[:1] in (".", "-"):
        safe = f"%{ord(safe[0]):02X}{safe[1:]}"
    if safe.endswith("."):
        safe = f"{safe[:-1]}%2E"
    if _RESERVED.match(safe):
        safe = f"_{safe}"
    return safe if len(safe) <= room else f"{safe[:KEPT_OF_LONG]}~{_digest(name)}"


def _host(url: str) -> str:
    name = site_parts(site_of(url))
    host = name.host.strip("[]")
    return host if name.port == DEFAULT_PORTS.get(name.scheme) else f"{host}_{name.port}"


def _split(last: str, ending: str) -> tuple[str, str]:
    """Stem and ending of a file; a page keeps its own ending inside the stem, so that it opens as a page."""
    found = _ENDING.search(last)
    if found is None:
        return last, ending
    own = found[0]
    is_same = own.lower() == ending or (ending == ".html" and own.lower() in _HTML_ENDINGS)
    return (last[: found.start()], own) if is_same or ending == "" else (last, ending)


def _shortened(url: str, folders: list[str], ending: str) -> tuple[str, ...]:
    """The beginning of the path, and a digest for the rest."""
    return (*folders[:1], f"{folders[1][:KEPT_OF_LONG] if len(folders) > 1 else 'long'}~{_digest(url)}{ending}")


def _digest(text: str) -> str:
    return sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]
