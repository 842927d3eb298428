"""The log file: beside the collection's data where there is one, otherwise in the user's state folder."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.errors import EvercrawlError

if TYPE_CHECKING:
    from evercrawl.cli.session import Session

LOG_FILE = "evercrawl.log"
LOG_BYTES = 5_000_000
LOG_FILES = 3


def log_to(folder: Path, *, verbose: int) -> Path:
    """Send the package's log records to a file in `folder`, at most `LOG_FILES` of `LOG_BYTES`."""
    path = folder / LOG_FILE
    folder.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(
        path, maxBytes=LOG_BYTES, backupCount=LOG_FILES - 1, encoding="utf-8", errors="backslashreplace"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    log = logging.getLogger("evercrawl")
    stop_logging()
    log.addHandler(handler)
    log.setLevel(logging.DEBUG if verbose else logging.INFO)
    log.propagate = False
    return path


def stop_logging() -> None:
    """Close the log files of this process."""
    log = logging.getLogger("evercrawl")
    for handler in list(log.handlers):
        log.removeHandler(handler)
        handler.close()


def keep_defect(error: Exception, session: Session) -> Path | None:
    """Write the traceback to the log and say where; None where nothing can be written."""
    for folder in _folders(session):
        try:
            path = log_to(folder, verbose=0)
        except OSError:
            continue
        logging.getLogger("evercrawl").error("defect", exc_info=error)
        stop_logging()
        return path
    return None


def _folders(session: Session) -> list[Path]:
    state = session.env.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    try:
        found = session.find_collection()
    except EvercrawlError:
        found = None
    return [*([found] if found else []), Path(state) / "evercrawl"]
