"""Runs, settings, and who may come in."""

from __future__ import annotations

import tomllib
from importlib.util import find_spec
from typing import Any

from evercrawl.adapters.postgres.marker import marked
from evercrawl.config import collection_file, write_setting
from evercrawl.config.schema import describe_type, format_value, known_settings, sections
from evercrawl.errors import ConfigError
from evercrawl.outpost.status import list_outposts
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import MIN_PASSWORD_CHARS, AccessScope
from evercrawl.web.route import ActionResult, BadRequest, Inputs, parse_cursor

NEWEST = 2**62
"""Behind every line of the book."""
CHANGEABLE = frozenset(
    (
        "identity.contact", "scope.max_depth", "scope.include", "scope.exclude", "scope.max_pages_per_site",
        "pace.mode", "pace.delay", "crawl.max_pages", "crawl.max_time", "crawl.concurrency",
        "revisit.policy", "revisit.budget", "revisit.site_budget", "revisit.min_freshness_gain", "revisit.min_interval",
        "revisit.max_interval", "revisit.quiet_hours", "sitemaps.enabled",
    )
)  # fmt: skip
"""Settings that can be changed here: none of them can harm the machine or open private networks."""


def outposts(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """The outposts, what each has cost, and what a crawl from home would have cost."""
    return {"outposts": list_outposts(state.path)}


def settings(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Every setting, its value, where that comes from, and whether it can be changed here."""
    configured = state.configured
    return {
        "sections": [
            {
                "name": section,
                "text": text,
                "settings": [
                    {
                        "key": known.key,
                        "name": known.name,
                        "value": format_value(known, configured.value(known.key)),
                        "default": format_value(known, known.default),
                        "origin": _origin(configured.origins.get(known.key, "default")),
                        "help": known.help,
                        "meaning": describe_type(known),
                        "changeable": known.key in CHANGEABLE,
                    }
                    for known in known_settings().values()
                    if known.section == section
                ],
            }
            for section, text in sections().items()
        ]
    }


def _origin(place: str) -> str:
    """Where a value was written, without the path of this machine."""
    return place.rsplit("/", 1)[-1]


def set_setting(state: AppState, inputs: Inputs) -> ActionResult:
    """Write one setting into the collection's file; a running crawl takes it up when it is started again."""
    key = inputs["key"]
    if key not in CHANGEABLE:
        raise BadRequest(f"{key} cannot be changed here; use: evercrawl config", 403)
    known = known_settings()[key]
    written: object = inputs["value"].strip().strip('"')
    if known.shape not in (int, float, bool, str) and str(known.shape).startswith("tuple"):
        written = _listed(inputs["value"])
    try:
        write_setting(collection_file(state.path), key, written)
    except ConfigError as error:
        raise BadRequest(str(error)) from error
    return ActionResult(f"{key} is now {inputs['value']}", "/settings")


def _listed(text: str) -> tuple[object, ...]:
    """A list as the settings file has it, or one entry on each line."""
    if not text.strip().startswith("["):
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    try:
        return tuple(tomllib.loads(f"value = {text}")["value"])
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise BadRequest(f"the list cannot be read: {error}") from error


def access(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Tokens, whether there is a password, and the book of changes."""
    before = parse_cursor(inputs["after"])
    book = state.auth.audit_log(NEWEST if before is None else before, inputs["limit"])
    return {
        "has_password": state.auth.has_password(),
        "tokens": state.auth.tokens(),
        "book": book,
        "next": f"0.{book[-1].id}" if len(book) == inputs["limit"] else None,
    }


def add_token(state: AppState, inputs: Inputs) -> ActionResult:
    """A new token; its secret is shown this once."""
    secret = state.auth.add_token(inputs["name"], AccessScope[inputs["scope"].upper()])
    return ActionResult(f"the new token, which is shown only now: {secret}", "/access", {"token": secret}, has_secret=True)


def revoke_token(state: AppState, inputs: Inputs) -> ActionResult:
    """A token is worth nothing any more."""
    if not state.auth.revoke_token(inputs["id"]):
        raise BadRequest("there is no such token", 404)
    return ActionResult("the token is worth nothing any more", "/access")


def set_password(state: AppState, inputs: Inputs) -> ActionResult:
    """A new password; every session ends."""
    if len(inputs["password"]) < MIN_PASSWORD_CHARS:
        raise BadRequest(f"a password needs at least {MIN_PASSWORD_CHARS} characters")
    state.auth.set_password(inputs["password"])
    return ActionResult("the password is set; every session has ended", "/login")


def cluster(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Who works on the collection; in a folder there is no cluster."""
    if not _is_in_database(state):
        return {"in_database": False, "workers": [], "shards": state.settings.store.shards, "owned": 0}
    from evercrawl.cluster.database_worker import list_workers

    found = list_workers(state.path, state.settings.store.url)
    return {
        "in_database": True,
        "shards": state.settings.store.shards,
        "owned": sum(member.shards for member in found),
        "workers": [member._asdict() | {"id": str(member.id)} for member in found],
    }


def drain_worker(state: AppState, inputs: Inputs) -> ActionResult:
    """Ask a worker, or all, to finish, save and end."""
    if not _is_in_database(state):
        raise BadRequest("this collection lies in a folder: there is no cluster", 409)
    from evercrawl.cluster.database_worker import drain_workers

    count = drain_workers(state.path, inputs["worker"], state.settings.store.url)
    if not count:
        raise BadRequest("no worker's id begins so", 404)
    words = "1 worker was inputs" if count == 1 else f"{count:,} workers were inputs"
    return ActionResult(f"{words}; each ends with its next heartbeat", "/cluster", {"inputs": count})


def _is_in_database(state: AppState) -> bool:
    """The state lies in a database, and the library for it is there."""
    is_named = state.settings.store.url is not None or marked(state.path) is not None
    return is_named and find_spec("asyncpg") is not None
