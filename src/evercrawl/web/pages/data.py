"""The pages `storage`, `export` and `job`: disk use, verification, files to download."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response

from evercrawl.collection.exchange.export import ENDINGS, EXPORT_FORMATS, FOLDERS
from evercrawl.collection.maintenance import VerifyReport
from evercrawl.model.listing import VersionSelection
from evercrawl.web.app_state import AppState
from evercrawl.web.format import format_size, plural
from evercrawl.web.jobs import Job, TaskResult
from evercrawl.web.route import ActionResult, BadRequest, Inputs, Parameter, resource_path

EXPORT_WORDS = {
    "wacz": ("WACZ", "one package for ReplayWeb.page and other archive viewers"),
    "warc": ("WARC", "one self-contained archive file"),
    "mirror": ("Folder that opens from disk", "pages with links between the copies, as ZIP"),
    "markdown": ("Markdown", "the main text of each page, as ZIP"),
    "csv": ("CSV", "a table with URL, time, status, title and text"),
    "jsonl": ("JSON lines", "the same, one object per version"),
    "chunks": ("Chunks", "parts of the text by heading, one object per part, for retrieval"),
    "sqlite": ("SQLite", "one file with the tables pages and versions"),
    "parquet": ("Parquet", "the same table for DuckDB, pandas and others"),
    "dataset": ("Dataset", "Parquet files per shard, as ZIP"),
    "cdxj": ("CDXJ", "an index of the archive files"),
}
JOB_ID = Parameter("id", "Key of the task.", required=True)
EXPORT_PARAMETERS = (
    Parameter("form", "Format.", "choice", required=True, choices=tuple(EXPORT_FORMATS)),
    Parameter("site", "Only pages of this host or origin.", default=""),
    Parameter("since", "Only versions since then: 7d, 2026-11-01.", "time"),
    Parameter("until", "Only versions until then.", "time"),
    Parameter("lang", "Only this language; en includes en-GB.", default=""),
    Parameter("all_versions", "All versions, not only the newest of each page.", "bool", default=False),
)
PROBLEMS_SHOWN = 20
QUICK_S = 1.0


def storage(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show disk use."""
    parts = state.cached("disk usage", state.collection.disk_usage, min_age_s=10, wait_s=3.0) or []
    return {
        "disk_parts": parts,
        "bytes": sum(part.bytes for part in parts),
        "jobs": [job.fields() for job in state.jobs.all(inputs.user.scope) if job.kind == "verification"][:3],
    }


def start_verification(state: AppState, inputs: Inputs) -> ActionResult:
    """Read every stored version and check its digest."""

    def run(job: Job) -> TaskResult:
        def show(report: VerifyReport) -> None:
            job.progress = f"{report.versions:,} versions read, {report.damaged:,} damaged"

        report = state.collection.verify(on_progress=show)
        problems = [problem for file in report.files.values() for problem in file.problems]
        verdict = f"{report.damaged:,} damaged" if report.damaged else "all readable"
        message = f"{plural(report.versions, 'version')} in {plural(len(report.files), 'file')}: {verdict}."
        figures = {"versions": report.versions, "resources": report.resources, "damaged": report.damaged}
        return TaskResult(message, figures | {"sound": report.is_sound(), "problems": problems[:PROBLEMS_SHOWN]})

    job = state.jobs.start("verification", "Verify", run, who=inputs.user.name)
    return _started(state, job, "/storage", "Reading every version.")


def export(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List exports and formats."""
    return {
        "formats": [{"name": name, "label": words[0], "text": words[1]} for name, words in EXPORT_WORDS.items()],
        "jobs": [job.fields() for job in state.jobs.all(inputs.user.scope) if job.kind == "export"][:10],
    }


def start_export(state: AppState, inputs: Inputs) -> ActionResult:
    """Write the selected versions to a file for download."""
    form = inputs["form"]
    selection = VersionSelection(
        site=inputs["site"].strip() or None,
        since=inputs["since"],
        until=inputs["until"],
        lang=inputs["lang"].strip() or None,
        all_versions=inputs["all_versions"],
    )

    def run(job: Job) -> TaskResult:
        def show(so_far: Any) -> None:
            job.progress = f"{so_far.versions:,} versions, {format_size(so_far.bytes)} read"

        name = state.path.resolve().name.removesuffix(".evercrawl") + ENDINGS[form]
        target = state.jobs.folder_of(job) / name
        report = state.collection.export(form, target, selection=selection, on_progress=show)
        file = _pack_folder(target) if form in FOLDERS else target
        message = f"{plural(report.versions, 'version')} of {plural(report.pages, 'page')}"
        damaged = f"; {plural(report.damaged, 'unreadable version')} left out" if report.damaged else ""
        figures = {"versions": report.versions, "pages": report.pages, "damaged": report.damaged}
        return TaskResult(f"{message}{damaged}.", figures, file)

    job = state.jobs.start("export", f"Export as {EXPORT_WORDS[form][0]}", run, who=inputs.user.name)
    return _started(state, job, "/export", "Exporting.")


def _pack_folder(folder: Path) -> Path:
    """Return the folder as a ZIP file without compression."""
    packed = folder.with_name(f"{folder.name}.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                out.write(path, path.relative_to(folder.parent))
    return packed


def _started(state: AppState, job: Job, page: str, message: str) -> ActionResult:
    state.jobs.wait(job, QUICK_S)
    if job.error is not None:
        raise BadRequest(job.error)
    text = job.result.message if job.result is not None else message
    return ActionResult(text, page, {"job": job.id, "state": job.state}, resource_path("/jobs/{id}", id=job.id))


def jobs(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List tasks such as exports and backups."""
    return {"jobs": [job.fields() for job in state.jobs.all(inputs.user.scope)]}


def job(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show how far a task is, and its result."""
    return {"job": _known(state, inputs).fields()}


def forget_job(state: AppState, inputs: Inputs) -> ActionResult:
    """Forget a task that has ended, and delete its file."""
    found = _known(state, inputs)
    if found.ended is None:
        raise BadRequest("this task is running; wait until it has ended", 409)
    state.jobs.forget(found)
    page = {"export": "/export", "verification": "/storage"}.get(found.kind, "/backups")
    return ActionResult("Deleted.", page)


def job_file(state: AppState, inputs: Inputs) -> Response:
    """Return the file of a task."""
    result = _known(state, inputs).result
    if result is None or result.file is None or not result.file.exists():
        raise BadRequest("this task has no file", 404)
    return FileResponse(result.file, filename=result.file.name, media_type="application/octet-stream")


def _known(state: AppState, inputs: Inputs) -> Job:
    found = state.jobs.find(inputs["id"], inputs.user.scope)
    if found is None:
        raise BadRequest("there is no such task", 404)
    return found
