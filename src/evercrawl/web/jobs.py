"""Long tasks that a person starts in the interface: each runs in a thread, and its page shows how far it is."""

from __future__ import annotations

import logging
import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evercrawl.errors import CollectionBusy, EvercrawlError
from evercrawl.web.auth import AccessScope

log = logging.getLogger("evercrawl")
DOWNLOADS = "downloads"  # Folder of the collection for files to download; emptied when the interface starts.
MAX_JOBS = 30  # The oldest finished ones are forgotten, with their files.
MAX_RUNNING = 3


@dataclass(slots=True)
class TaskResult:
    """What a job did: a sentence, data for its page, and a file to download."""

    message: str
    data: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None


@dataclass(slots=True)
class Job:
    """A task and how far it is. Only its own thread changes it."""

    id: str
    kind: str
    title: str
    who: str
    began: datetime
    scope: AccessScope = AccessScope.READ  # Who may see it and download its file.
    progress: str = ""
    ended: datetime | None = None
    error: str | None = None
    result: TaskResult | None = None

    @property
    def state(self) -> str:
        """Return running, done or failed."""
        return "running" if self.ended is None else "done" if self.error is None else "failed"

    def fields(self) -> dict[str, Any]:
        """Return the job for its page and JSON."""
        result = self.result
        return {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "who": self.who,
            "began": self.began,
            "ended": self.ended,
            "state": self.state,
            "progress": self.progress,
            "message": self.error or (result.message if result else ""),
            "data": dict(result.data) if result else {},
            "file": result.file.name if result and result.file else None,
            "bytes": result.file.stat().st_size if result and result.file and result.file.exists() else None,
        }


RunJob = Callable[[Job], TaskResult]


class JobRunner:
    """Runs jobs, at most `MAX_RUNNING` at a time, and remembers the last ones."""

    def __init__(self, collection: Path) -> None:
        self._folder = collection / DOWNLOADS
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._threads: dict[str, threading.Thread] = {}

    def delete_old_files(self) -> None:
        """Delete what an earlier process left to download."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def folder_of(self, job: Job) -> Path:
        """Return the folder for the files of a job."""
        folder = self._folder / job.id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def start(self, kind: str, title: str, run: RunJob, *, who: str, scope: AccessScope = AccessScope.READ) -> Job:
        """Start a job; raise CollectionBusy if too many are running."""
        with self._lock:
            running = [job for job in self._jobs.values() if job.ended is None]
            if len(running) >= MAX_RUNNING:
                raise CollectionBusy(f"{len(running)} tasks are running; wait until one has ended")
            job = Job(secrets.token_urlsafe(9), kind, title, who, datetime.now(UTC), scope)
            self._jobs[job.id] = job
            for old in [one for one in self._jobs.values() if one.ended][: max(0, len(self._jobs) - MAX_JOBS)]:
                self._forget(old)
            thread = self._threads[job.id] = threading.Thread(target=self._run, args=(job, run), daemon=True)
            thread.start()
        return job

    def wait(self, job: Job, seconds: float) -> None:
        """Return when the job has ended, or after the time."""
        self._threads[job.id].join(seconds)

    def _run(self, job: Job, run: RunJob) -> None:
        try:
            job.result = run(job)
        except EvercrawlError as error:
            job.error = str(error)
        except Exception:
            log.exception("bug in the task %s", job.title)
            job.error = "this is a bug in evercrawl; see evercrawl.log for details"
        job.ended = datetime.now(UTC)

    def all(self, scope: AccessScope) -> list[Job]:
        """Return the jobs that a user may see, the newest first."""
        return [job for job in reversed(self._jobs.values()) if job.scope <= scope]

    def find(self, number: str, scope: AccessScope) -> Job | None:
        """Return a job that a user may see."""
        job = self._jobs.get(number)
        return job if job is not None and job.scope <= scope else None

    def forget(self, job: Job) -> None:
        """Forget a job that has ended, and delete its file."""
        with self._lock:
            self._forget(job)

    def _forget(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        self._threads.pop(job.id, None)
        shutil.rmtree(self._folder / job.id, ignore_errors=True)
