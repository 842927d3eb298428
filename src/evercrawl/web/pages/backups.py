"""The page `backups`: make, download, upload, restore and delete backups.
Only administrators may: a backup holds credentials and alerts. A file that was uploaded restores pages and versions
only, since its settings could name code, files or machines."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from evercrawl.collection.backup import (
    PARTIAL_ENDING,
    TAR_ENDING,
    back_up,
    backups_folder,
    delete_backup,
    find_backup,
    list_backups,
    new_backup_name,
    restore_listed,
    tar_chunks,
    tar_size,
)
from evercrawl.collection.removal import removals
from evercrawl.collection.runs import live_run
from evercrawl.errors import ConfigError
from evercrawl.web.access_control import MAX_UPLOAD_BYTES
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope
from evercrawl.web.format import format_size, plural
from evercrawl.web.jobs import Job, TaskResult
from evercrawl.web.route import ActionResult, BadRequest, Inputs, Parameter, resource_path

NAME = Parameter("name", "Name of the backup.", required=True)
MIN_FREE_BYTES = 1 << 28  # Left on the disk by an upload.
QUICK_S = 2.0  # How long the answer waits for a small backup.


def backups(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List backups."""
    return {
        "folder": backups_folder(state.path).name,
        "backups": list_backups(state.path),
        "jobs": [job.fields() for job in state.jobs.all(inputs.user.scope) if job.kind in ("backup", "restore")][:5],
    }


def make_backup(state: AppState, inputs: Inputs) -> ActionResult:
    """Make a backup beside the collection, also while a crawl runs."""

    def run(job: Job) -> TaskResult:
        name = new_backup_name(state.now())
        folder = backups_folder(state.path)
        folder.mkdir(exist_ok=True, mode=0o700)
        done = back_up(state.path, state.settings, folder / name)
        return TaskResult(f"Backup made: {plural(done.files, 'file')}, {format_size(done.bytes)}.", {"backup": name})

    job = state.jobs.start("backup", "Make a backup", run, who=inputs.user.name, scope=AccessScope.ADMIN)
    return _started(state, job, "Making a backup.")


def restore_backup(state: AppState, inputs: Inputs) -> ActionResult:
    """Replace the collection by a backup; the present one is kept under another name."""
    name = inputs["name"]
    _require_known(state, name)
    is_ours = state.crawl.pid is not None
    if not is_ours and live_run(state.path, now=state.now()) is not None:
        raise BadRequest("a crawl is running that was started elsewhere; stop it first", 409)

    def run(job: Job) -> TaskResult:
        job.progress = "Reading every version of the backup"
        with state.crawl.interrupted():
            aside, report = restore_listed(state.path, name)
            state.reopen()
        kept = f" The collection as it was before is kept as {aside.name}." if aside is not None else ""
        gone = " What was removed on request stays removed." if removals(state.path) else ""
        message = f"Restored: {plural(report.versions, 'version')}, all read back.{gone}{kept}"
        state.auth.log_change(inputs.user.name, "restored", name)
        return TaskResult(message, {"versions": report.versions, "old": None if aside is None else aside.name})

    job = state.jobs.start("restore", f"Restore {name}", run, who=inputs.user.name, scope=AccessScope.ADMIN)
    return _started(state, job, "Restoring. Every version is read back first.")


def _started(state: AppState, job: Job, message: str) -> ActionResult:
    state.jobs.wait(job, QUICK_S)
    if job.error is not None:
        raise BadRequest(job.error, 409)
    data = {"job": job.id, "state": job.state}
    text = job.result.message if job.result is not None else message
    return ActionResult(text, "/backups", data, resource_path("/jobs/{id}", id=job.id))


def remove_backup(state: AppState, inputs: Inputs) -> ActionResult:
    """Delete a backup."""
    _require_known(state, inputs["name"])
    delete_backup(state.path, inputs["name"])
    return ActionResult(f"Backup {inputs['name']} deleted.", "/backups")


def _require_known(state: AppState, name: str) -> Path:
    try:
        return find_backup(state.path, name)
    except ConfigError as error:
        raise BadRequest(str(error), 404) from error


def download_backup(state: AppState, inputs: Inputs) -> Response:
    """Return a backup as a TAR file."""
    path = _require_known(state, inputs["name"])
    name = state.path.resolve().name.removesuffix(".evercrawl")
    file = f"{name}-{path.name.removesuffix(TAR_ENDING)}{TAR_ENDING}"
    safe = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in file)
    headers = {"Content-Disposition": f'attachment; filename="{safe}"', "Content-Length": str(tar_size(path))}
    return StreamingResponse(tar_chunks(path), media_type="application/x-tar", headers=headers)


async def upload_backup(state: AppState, request: Request) -> dict[str, Any]:
    """Store an uploaded TAR file beside the collection; it is checked when it is restored."""
    name = f"uploaded-{new_backup_name(state.now())}{TAR_ENDING}"
    folder = backups_folder(state.path)
    part = folder / f"{name}{PARTIAL_ENDING}"
    try:
        await run_in_threadpool(lambda: folder.mkdir(exist_ok=True, mode=0o700))
        size = await _receive(request.stream(), part)
        await run_in_threadpool(lambda: part.rename(folder / name))
    except OSError as error:
        raise BadRequest(f"the file cannot be stored: {error.strerror or error}", 503) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    state.auth.log_change(request.state.user.name, "upload-backup", f"{name}, {size} bytes")
    return {"name": name, "bytes": size}


async def _receive(chunks: AsyncIterator[bytes], part: Path) -> int:
    size = 0
    with part.open("xb") as out:
        os.fchmod(out.fileno(), 0o600)
        async for chunk in chunks:
            size += len(chunk)
            stats = os.statvfs(part.parent)
            if size > MAX_UPLOAD_BYTES or stats.f_bavail * stats.f_frsize < MIN_FREE_BYTES:
                raise BadRequest("there is no room for this file", 413)
            await run_in_threadpool(out.write, chunk)
    if not size:
        raise BadRequest("the file is empty")
    return size
