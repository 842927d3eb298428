"""Which collections this user trusts. In others, nothing that their files name is read, sent, run or followed.
A collection is trusted if this user created it on this machine or named it to `evercrawl trust`. The record is in the
user's state folder: path, owner, and the hash of a random mark inside the collection, so that another collection
unpacked at the same path is not trusted."""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.settings import Settings

MARK_FILE = "trust-mark"
TRUST_VARIABLE = "EVERCRAWL_TRUST"  # Folders, separated by colons, whose collections are trusted; `*`: all.
TRUST_NONE = "none"  # The variable's value for --untrusted.
ADDRESS_FILES = {"state/postgres": "store.url", "archive/objects": "archive.url"}
"""Files that name a place outside of the collection, and the setting that names it as well."""
OFF_FILES = {
    "alerts.sqlite": "alerts",
    "credentials.toml": "credentials of sites",
    "web.sqlite": "passwords and tokens of the web interface",
}
"""Files whose content is not used, and what it is."""
_MARK_BYTES = 128  # Size limit of a mark.


class Distrust(NamedTuple):
    """Why a collection is not trusted, and what is off in it."""

    collection: Path
    reason: str
    off: tuple[str, ...] = ()

    def message(self) -> str:
        """Return what is off and how to turn it on."""
        off = f"; off: {', '.join(self.off)}" if self.off else ""
        remedy = f"if you trust its author: evercrawl trust {self.collection}"
        return f"{self.collection} is not trusted because {self.reason}{off}; {remedy}"


def find_distrust(collection: Path, env: Mapping[str, str]) -> Distrust | None:
    """Return why the collection is not trusted; None: it is."""
    path, named = collection.resolve(), env.get(TRUST_VARIABLE, "")
    if named == TRUST_NONE:
        return Distrust(collection, "you asked for that")
    if _is_named(path, named):
        return None
    try:
        owner = path.stat().st_uid
    except OSError:
        return Distrust(collection, "it cannot be read")
    record = _read_records(env).get(str(path))
    if record is not None and record == _record(owner, _read_mark(path)):
        return None
    if owner != os.getuid():
        return Distrust(collection, "it belongs to another user")
    return Distrust(collection, "you did not create it here")


def trust_collection(collection: Path, env: Mapping[str, str]) -> None:
    """Trust the collection from now on; raise StoreUnavailable if that cannot be recorded."""
    path = collection.resolve()
    try:
        mark = _new_mark(path)
        _write_records(env, _read_records(env) | {str(path): _record(path.stat().st_uid, mark)})
    except OSError as error:
        remedy = f"or set {TRUST_VARIABLE}={path}"
        raise StoreUnavailable(
            f"the trust in {path} cannot be recorded: {error.filename}: {error.strerror}; make it writable, {remedy}"
        ) from error


def distrust_collection(collection: Path, env: Mapping[str, str]) -> bool:
    """Stop trusting the collection; return False if it was not trusted."""
    records = _read_records(env)
    is_known = records.pop(str(collection.resolve()), None) is not None
    if is_known:
        _write_records(env, records)
    return is_known


def check_collection(
    collection: Path, env: Mapping[str, str], *, named: Mapping[str, str | None], untrusted: bool = False
) -> Distrust | None:
    """Return why the collection is not trusted; raise ConfigError if it then cannot be opened at all: it has links,
    special files, or addresses that the user's own settings (`named`, by key) do not have."""
    distrust = find_distrust(collection, {TRUST_VARIABLE: TRUST_NONE} if untrusted else env)
    if distrust is not None and collection.is_dir():
        _require_own_files(collection, distrust, named)
    return distrust


def _require_own_files(collection: Path, distrust: Distrust, named: Mapping[str, str | None]) -> None:
    for path in _foreign_entries(collection):
        raise ConfigError(f"{path} is a link or a special file; {distrust.message()}")
    for name, key in ADDRESS_FILES.items():
        try:
            address = (collection / name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
        if address and address != named.get(key):
            raise ConfigError(f"{collection / name} names a place outside; {distrust.message()}")


def _foreign_entries(folder: Path) -> Iterator[Path]:
    """Yield everything below the folder that is neither a plain file nor a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _foreign_entries(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _is_named(path: Path, folders: str) -> bool:
    """Return whether the variable names the path or a folder around it."""
    return any(name == "*" or (name and path.is_relative_to(Path(name).resolve())) for name in folders.split(":"))


def _record(owner: int, mark: str | None) -> dict[str, object] | None:
    return None if mark is None else {"owner": owner, "mark": sha256(mark.encode()).hexdigest()}


def _read_mark(path: Path) -> str | None:
    try:
        handle = os.open(path / MARK_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return file.read(_MARK_BYTES).decode("ascii", "replace")


def _new_mark(path: Path) -> str:
    mark = secrets.token_hex(16)
    replace_private(path / MARK_FILE, mark)
    return mark


def state_folder(env: Mapping[str, str]) -> Path:
    """Return the folder for the user's own state, by the XDG base directory specification."""
    home = env.get("XDG_STATE_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "state")
    return Path(home) / "evercrawl"


def collection_id(collection: Path) -> str:
    """Return a name for what this user keeps about a collection: another one at the same path has another name."""
    path = collection.resolve()
    return sha256(f"{path}\0{_read_mark(path)}".encode()).hexdigest()[:32]


def _records_file(env: Mapping[str, str]) -> Path:
    return state_folder(env) / "trusted.json"


def _read_records(env: Mapping[str, str]) -> dict[str, object]:
    try:
        found = json.loads(_records_file(env).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_records(env: Mapping[str, str], records: Mapping[str, object]) -> None:
    file = _records_file(env)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_private(file, json.dumps(records, indent=1))


def replace_private(path: Path, text: str) -> None:
    """Replace a file by one that only its owner can read."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as out:
        out.write(text)
    fresh.replace(path)


def require_trust(settings: Settings) -> None:
    """Raise ConfigError if the collection may not send anything."""
    if not settings.is_trusted:
        raise ConfigError("the collection is not trusted, so it sends nothing; if it is yours: evercrawl trust DIR")
