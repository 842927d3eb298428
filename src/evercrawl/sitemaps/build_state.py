"""The state of the last build, from which the next one detects changes.
The file has one JSON object for the build, then one JSON array per page. It is replaced atomically."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import orjson

from evercrawl.adapters.system import write_atomically
from evercrawl.errors import StoreUnavailable

FORMAT = "evercrawl-sitemap-state"
VERSION = 1
NAME_CHARS = 40


class PageEntry(NamedTuple):
    """A page as a build found it."""

    key: str  # The file's path below the folder, or the page's URL.
    fingerprint: str  # Stays the same while the page's source is not modified.
    digest: str
    changed_ms: int  # When the content last changed.
    title: str
    url: str
    excluded: str | None = None  # Why the page is not listed; None if it is.


@dataclass(frozen=True, slots=True)
class BuildState:
    """What one build leaves for the next."""

    source: str = ""  # Identifies the rules of the entries; other rules require reading every page again.
    built_ms: int | None = None  # None before the first build.
    files: tuple[str, ...] = ()  # The files that the build wrote.
    entries: Mapping[str, PageEntry] = field(default_factory=dict)


def state_path(env: Mapping[str, str], target: Path) -> Path:
    """Return the path of the state, in the user's state folder, where no generator empties or server publishes it."""
    home = env.get("XDG_STATE_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "state")
    whole = str(target.resolve())
    fingerprint = hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = "".join(char if char.isalnum() or char in ".-" else "-" for char in target.resolve().name)
    return Path(home) / "evercrawl" / "sitemaps" / f"{name[:NAME_CHARS] or 'site'}-{fingerprint}.jsonl"


def read_state(path: Path) -> BuildState:
    """Return the state of the last build, or an empty one."""
    try:
        lines = path.read_bytes().splitlines()
        head = orjson.loads(lines[0])
        if head["format"] != FORMAT or head["version"] != VERSION:
            raise ValueError(f"version {head.get('version')} of {head.get('format')}")
        entries = {entry.key: entry for entry in (PageEntry(*orjson.loads(line)) for line in lines[1:])}
        return BuildState(head["source"], int(head["built_ms"]), tuple(head["files"]), entries)
    except FileNotFoundError:
        return BuildState()
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise StoreUnavailable(
            f"{path} is not the state of a sitemap build ({error}); choose another with --state, or delete it: "
            "the next build then dates pages by their files' times"
        ) from error


def write_state(path: Path, state: BuildState) -> None:
    """Replace the state atomically."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "source": state.source,
        "built_ms": state.built_ms,
        "files": state.files,
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{path.parent} cannot be created: {error.strerror or error}") from error
    lines = (orjson.dumps(row) for row in (head, *map(tuple, state.entries.values())))
    write_atomically(path, b"\n".join(lines) + b"\n")
