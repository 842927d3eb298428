"""The pages `remove` and `removals`: take a site, a page or a version away everywhere."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evercrawl.collection import removal as removing
from evercrawl.collection.removal import MAX_REQUEST_CHARS, Removal, allow_again
from evercrawl.collection.runs import live_run
from evercrawl.errors import ConfigError
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope
from evercrawl.web.format import plural
from evercrawl.web.jobs import Job, TaskResult
from evercrawl.web.route import ActionResult, BadRequest, Inputs, Parameter, resource_path

KINDS = ("page", "version", "site")
WAIT_S = 8.0  # How long the answer waits for the removal; it goes on afterwards.
PREVIEW_PARAMETERS = (
    Parameter("kind", "What to remove.", "choice", default="page", choices=KINDS),
    Parameter("name", "URL, URL@v3, or the origin of a site."),
)
ID = Parameter("id", "Key of the removal.", required=True)
REQUEST = Parameter("request", "Why, or on whose request; kept in the archive.", default="", longest=MAX_REQUEST_CHARS)


def remove(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show what removing a site, page or version would delete."""
    kind, name = inputs["kind"], (inputs["name"] or "").strip()
    if not name:
        return {"kind": kind, "name": None, "preview": None, "problem": None, "url": None}
    try:
        found = state.collection.remove(kind, name if kind == "site" else state.collection.typed_url(name))
    except ConfigError as error:
        return {"kind": kind, "name": name, "preview": None, "problem": str(error), "url": None}
    url = None if kind == "site" else found.target
    return {"kind": kind, "name": name, "preview": asdict(found), "problem": None, "url": url}


def removals(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List what was removed on request."""
    blocked = set(state.settings.scope.removed)
    found = removing.removals(state.path)
    return {"removals": [asdict(one) | {"blocked": _is_blocked(one, blocked)} for one in found]}


def _is_blocked(one: Removal, blocked: set[str]) -> bool:
    return one.kind != "version" and one.target in blocked


def remove_site(state: AppState, inputs: Inputs) -> ActionResult:
    """Remove a site with everything stored of it."""
    return _remove(state, inputs, "site", inputs["name"])


def remove_page(state: AppState, inputs: Inputs) -> ActionResult:
    """Remove a page with all its versions."""
    return _remove(state, inputs, "page", state.collection.typed_url(inputs["url"]))


def remove_version(state: AppState, inputs: Inputs) -> ActionResult:
    """Remove one version of a page."""
    return _remove(state, inputs, "version", f"{state.collection.typed_url(inputs['url'])}@{inputs['at']}")


def _remove(state: AppState, inputs: Inputs, kind: str, name: str) -> ActionResult:
    planned = _preview(state, kind, name)
    if not (planned.pages or planned.versions or planned.resources):
        raise BadRequest(f"the collection holds nothing of {planned.target}", 404)

    def run(job: Job) -> TaskResult:
        with state.crawl.interrupted():
            done = state.collection.remove(kind, name, request=inputs["request"], who=inputs.user.name, apply=True)
        state.cache.clear()
        return TaskResult(_done_message(state, done), {"removal": asdict(done)})

    job = state.jobs.start("removal", f"Remove {name}", run, who=inputs.user.name, scope=AccessScope.OPERATE)
    state.jobs.wait(job, WAIT_S)
    if job.error is not None:
        raise BadRequest(job.error, 409)
    data: dict[str, Any] = {"job": job.id, "state": job.state}
    if job.result is None:
        return ActionResult("Removing; this takes a while.", "/removals", data, resource_path("/jobs/{id}", id=job.id))
    removal = job.result.data["removal"]
    resource = resource_path("/removals/{id}", id=removal["id"])
    return ActionResult(job.result.message, "/removals", data | {"removal": removal}, resource)


def _preview(state: AppState, kind: str, name: str) -> Removal:
    try:
        return state.collection.remove(kind, name)
    except ConfigError as error:
        raise BadRequest(str(error), 404 if "no " in str(error) else 422) from error


def _done_message(state: AppState, done: Removal) -> str:
    if done.state == "pending" and live_run(state.path, now=state.now()) is not None:
        return "A crawl is running that was started elsewhere. It no longer requests this, and removes it when it ends."
    if done.state == "pending":
        return "Something else uses the collection. The next crawl removes this before it starts."
    what = plural(done.versions, "version")
    return f"Removed everywhere: {what}." + (
        f" {len(done.damaged_files)} damaged archive files could not be searched." if done.damaged_files else ""
    )


def removal(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show a removal."""
    return {"removal": asdict(_known(state, inputs["id"]))}


def undo_removal(state: AppState, inputs: Inputs) -> ActionResult:
    """Let a removed page or site be requested again. Nothing comes back."""
    target = _known(state, inputs["id"]).target
    if not allow_again(state.path, target):
        raise BadRequest(f"{target} may be requested already", 409)
    return ActionResult(f"{target} may be requested again. What was removed stays removed.", "/removals")


def _known(state: AppState, number: str) -> Removal:
    found = next((one for one in removing.removals(state.path) if one.id == number), None)
    if found is None:
        raise BadRequest("there is no such removal", 404)
    return found
