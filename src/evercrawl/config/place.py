"""Where is the collection, and where are the user's own settings?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from evercrawl.errors import ConfigError

COLLECTION_FILE = "collection.toml"
FOLDER_ENDING = ".evercrawl"
_LONGEST_NAME = 100


def collection_file(collection: Path) -> Path:
    """The settings file of a collection."""
    return collection / COLLECTION_FILE


def user_file(env: Mapping[str, str]) -> Path:
    """The user's own settings, as the XDG base directory specification has it."""
    home = env.get("XDG_CONFIG_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".config")
    return Path(home) / "evercrawl" / "config.toml"


def is_collection(folder: Path) -> bool:
    """The folder holds a collection."""
    return collection_file(folder).is_file()


def default_collection_path(url: str, folder: Path = Path()) -> Path:
    """The folder for a collection that begins at `url`: `example.org.evercrawl` below `folder`."""
    host = re.sub(r"^[a-z][a-z0-9+.-]*://", "", url.strip().lower()).split("/")[0].split("@")[-1]
    name = re.sub(r"[^a-z0-9.-]+", "-", host).strip(".-")[:_LONGEST_NAME]
    return folder / f"{name or 'collection'}{FOLDER_ENDING}"


def enclosing_collection(start: Path) -> Path | None:
    """The collection that `start` lies in, as git finds its repository."""
    return next((folder for folder in (start, *start.parents) if is_collection(folder)), None)


def find_collection(start: Path) -> Path | None:
    """The collection that `start` lies in, or else the only one below it; ConfigError for several."""
    if around := enclosing_collection(start):
        return around
    inside = sorted(path for path in start.glob(f"*{FOLDER_ENDING}") if is_collection(path))
    if len(inside) > 1:
        names = ", ".join(path.name for path in inside)
        raise ConfigError(f"{start} holds several collections ({names}); say which with -C DIR")
    return inside[0] if inside else None
