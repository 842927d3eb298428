"""Edit one setting in a settings file, and keep everything else, including comments."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from evercrawl.config.load import collection_file, find_setting, flatten, parse_setting, read_toml
from evercrawl.config.schema import format_value
from evercrawl.config.trust import find_distrust, trust_collection
from evercrawl.errors import ConfigError, StoreUnavailable

HEADING = """\
# Settings of this collection. Flags and EVERCRAWL_* variables override this file.
# Show all settings and where their values come from: evercrawl config show --origin
"""
OWNER_ONLY, OWNER_FOLDER = 0o600, 0o700
_SECTION = re.compile(r"\s*\[([^\[\]]+)\]\s*(#.*)?$")


def create_collection(collection: Path, values: Mapping[str, object] | None = None) -> Path:
    """Create the folder with its settings file and the given values; an existing file is kept."""
    path = collection_file(collection)
    try:
        is_new = not collection.exists() or not any(collection.iterdir())
        _make_folder(collection, is_new=is_new)
        if not path.exists():
            replace_file(path, _initial_text(values or {}))
        if is_new and find_distrust(collection, os.environ) is not None:
            with suppress(StoreUnavailable):  # Without a state folder, the user has to set EVERCRAWL_TRUST.
                trust_collection(collection, os.environ)
    except OSError as error:
        raise StoreUnavailable(f"the collection {collection} cannot be created: {error.strerror or error}") from error
    return path


def _make_folder(collection: Path, *, is_new: bool) -> None:
    """Create the folder for its owner; take an empty one that exists from everybody but its owner and group."""
    collection.parent.mkdir(parents=True, exist_ok=True)
    try:
        collection.mkdir(mode=OWNER_FOLDER)
    except FileExistsError:
        if is_new:
            collection.chmod(stat.S_IMODE(collection.stat().st_mode) & ~stat.S_IRWXO)


def write_setting(path: Path, key: str, value: object) -> None:
    """Set one value in a settings file; raise ConfigError, and change nothing, if it is invalid."""
    known = find_setting(key)
    line = f"{known.name} = {format_value(known, parse_setting(known, value))}"
    read_toml(path)
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = _with_line(before, known.section, known.name, line)
    _require_valid(after, known.section, known.name, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, after)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically by one that only its owner can read: it may contain passwords."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, OWNER_ONLY)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(path)


def _initial_text(values: Mapping[str, object]) -> str:
    text = HEADING
    for key, value in values.items():
        known = find_setting(key)
        line = f"{known.name} = {format_value(known, parse_setting(known, value))}"
        text = _with_line(text, known.section, known.name, line)
    return text


def _with_line(text: str, section: str, name: str, line: str) -> str:
    """Return the text with the line of the setting replaced or added in its section."""
    lines = text.splitlines()
    begin, end = _section_range(lines, section)
    if begin is None:
        gap = [""] if lines and lines[-1].strip() else []
        return "\n".join([*lines, *gap, f"[{_heading(section)}]", line]) + "\n"
    first, last = _entry_range(lines, begin, end, name)
    return "\n".join([*lines[:first], line, *lines[last:]]) + "\n"


def _heading(section: str) -> str:
    """Return the name of a section as TOML: `site."news.example.org"` for a site."""
    first, dot, pattern = section.partition(".")
    return f"{first}.{json.dumps(pattern, ensure_ascii=False)}" if dot else first


def _is_heading_of(text: str, section: str) -> bool:
    """True if the name in a heading means the section, with or without quotes."""
    return text.replace('"', "").replace("'", "").replace(" ", "") == section


def _section_range(lines: list[str], section: str) -> tuple[int | None, int]:
    """Return the first line after the section's heading, and the end of the section."""
    begin = None
    for number, line in enumerate(lines):
        heading = _SECTION.match(line)
        if heading and begin is not None:
            return begin, number
        if heading and _is_heading_of(heading[1], section):
            begin = number + 1
    return begin, len(lines)


def _entry_range(lines: list[str], begin: int, end: int, name: str) -> tuple[int, int]:
    """Return the lines of an entry, which may span several; if there is none, the position to add it."""
    entry = re.compile(rf"\s*{re.escape(name)}\s*=")
    for first in range(begin, end):
        if entry.match(lines[first]):
            last = first + 1
            while last < end and not _is_complete("\n".join(lines[first:last])):
                last += 1
            return first, last
    while end > begin and not lines[end - 1].strip():
        end -= 1
    return end, end


def _is_complete(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _require_valid(text: str, section: str, name: str, path: Path) -> None:
    """Raise ConfigError if the edit broke the file, as with dotted keys or inline tables."""
    try:
        found = f"{section}.{name}" in flatten(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        found = False
    if not found:
        raise ConfigError(f"{path} cannot be edited automatically; change {section}.{name} by hand")
