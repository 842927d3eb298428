"""Export versions in one of eleven formats; a file or folder is written completely or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Literal, get_args

from evercrawl.collection.exchange.chunk_export import ExportCursor, write_chunks
from evercrawl.collection.exchange.export_run import (
    ExportReport,
    ExportRun,
    OnProgress,
    new_file,
    new_folder,
    open_output,
    standard_output,
)
from evercrawl.collection.exchange.mirror import write_mirror
from evercrawl.collection.exchange.page_tree import write_markdown
from evercrawl.collection.exchange.tables import (
    require_duckdb,
    write_csv,
    write_dataset,
    write_jsonl,
    write_parquet,
    write_sqlite,
)
from evercrawl.collection.exchange.web_archives import write_cdxj, write_wacz, write_warc
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.document import require_use
from evercrawl.model.listing import VersionSelection
from evercrawl.model.settings import Settings

ExportFormat = Literal[
    "warc", "wacz", "cdxj", "parquet", "jsonl", "csv", "markdown", "mirror", "sqlite", "dataset", "chunks"
]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
ENDINGS: dict[ExportFormat, str] = {
    "warc": ".warc.gz",
    "wacz": ".wacz",
    "cdxj": ".cdxj",
    "parquet": ".parquet",
    "jsonl": ".jsonl",
    "csv": ".csv",
    "markdown": "-markdown",
    "mirror": "-mirror",
    "sqlite": ".sqlite",
    "dataset": "-dataset",
    "chunks": ".jsonl",
}
STREAMS: dict[ExportFormat, Callable[[ExportRun, BinaryIO], None]] = {
    "cdxj": write_cdxj,
    "jsonl": write_jsonl,
    "csv": write_csv,
    "chunks": write_chunks,
}
"""Formats that go to standard output unless a file is given."""
FILES: dict[ExportFormat, Callable[[ExportRun, Path], None]] = {
    "wacz": write_wacz,
    "parquet": write_parquet,
    "sqlite": write_sqlite,
}
FOLDERS: dict[ExportFormat, Callable[[ExportRun, Path], None]] = {
    "markdown": write_markdown,
    "mirror": write_mirror,
    "dataset": write_dataset,
}


def export(
    collection: Path,
    settings: Settings,
    form: ExportFormat,
    *,
    to: Path | None = None,
    selection: VersionSelection | None = None,
    force: bool = False,
    as_sent: bool = False,
    cursor: Path | None = None,
    on_progress: OnProgress | None = None,
) -> ExportReport:
    """Write the selected versions; without `to`, a stream format goes to standard output.
    A mirror opens from disk, or has every file `as_sent`. With the file `cursor`, only what is new since the last
    export with it."""
    if as_sent and form != "mirror":
        raise ConfigError(f"--as-sent is for mirrors; the format {form} does not change links")
    if form in ("parquet", "dataset"):
        require_duckdb()
    selection = selection or VersionSelection()
    require_use(selection.usable_for)
    place = None if cursor is None else ExportCursor(cursor, selection)
    run = ExportRun(collection, settings, place.selection if place else selection, on_progress, as_sent)
    if form in STREAMS and to is None:
        _to_standard_output(run, form)
    else:
        _to_target(run, form, to or default_target(collection, form), force=force)
    if place is not None and not run.report.damaged:
        place.advance()
    return run.report


def _to_target(run: ExportRun, form: ExportFormat, target: Path, *, force: bool) -> None:
    run.report.path = str(target)
    try:
        _write(run, form, target, force=force)
    except OSError as error:
        raise StoreUnavailable(f"{target} cannot be written: {error.strerror or error}") from error


def _write(run: ExportRun, form: ExportFormat, target: Path, *, force: bool) -> None:
    if form in FOLDERS:
        with new_folder(target, force=force) as folder:
            FOLDERS[form](run, folder)
    else:
        with new_file(target, force=force) as file:
            _write_file(run, form, file, target)


def default_target(collection: Path, form: ExportFormat) -> Path:
    """Return the default target: the collection's name in the current folder."""
    return Path(collection.absolute().name.removesuffix(".evercrawl") + ENDINGS[form])


def parse_export_format(name: str) -> ExportFormat:
    """Return the format with this name."""
    for form in EXPORT_FORMATS:
        if form == name:
            return form
    raise ConfigError(f"unknown export format {name!r}; choose from {', '.join(EXPORT_FORMATS)}")


def _to_standard_output(run: ExportRun, form: ExportFormat) -> None:
    with standard_output() as out:
        if form == "jsonl":
            write_jsonl(run, out, is_terminal=sys.stdout.isatty())
        else:
            STREAMS[form](run, out)


def _write_file(run: ExportRun, form: ExportFormat, file: Path, target: Path) -> None:
    if form in FILES:
        FILES[form](run, file)
        return
    with open_output(file) as out:
        if form == "warc":
            write_warc(run, out, target.name)
        else:
            STREAMS[form](run, out)
