"""The pages `settings`, `access`, `outposts` and `cluster`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from evercrawl.collection.maintenance import is_in_database
from evercrawl.collection.outposts import list_outposts
from evercrawl.config import collection_file, write_setting
from evercrawl.config.schema import describe_type, known_settings, sections, show_value
from evercrawl.errors import ConfigError
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import MIN_PASSWORD_CHARS, AccessScope
from evercrawl.web.format import plural
from evercrawl.web.route import ActionResult, BadRequest, Inputs, parse_cursor, resource_path

NEWEST = 2**62  # After every entry of the audit log.
CHANGEABLE = frozenset(
    (
        "identity.contact", "scope.max_depth", "scope.include", "scope.exclude", "scope.max_pages_per_site",
        "pace.mode", "pace.delay", "crawl.max_pages", "crawl.max_time", "crawl.concurrency",
        "revisit.policy", "revisit.budget", "revisit.site_budget", "revisit.min_freshness_gain", "revisit.min_interval",
        "revisit.max_interval", "revisit.quiet_hours", "sitemaps.enabled", "scope.kind", "scope.pages",
        "scope.sections", "assets.enabled", "render.mode", "alerts.enabled", "alerts.quiet_hours", "traps.enabled",
    )
)  # fmt: skip
"""Settings that are safe to change here: none can harm the machine or open private networks."""
PURPOSES = {
    "What to crawl": ("Which pages belong to the collection.", ("scope", "traps", "discovery", "focus", "sitemaps")),
    "When to visit": ("How often pages are visited, and how many.", ("revisit", "crawl", "credit")),
    "How gently": ("Who we are, and our load on sites.", ("identity", "pace", "robots")),
    "What to store": ("Copies of pages and what counts as a change.",
                      ("assets", "render", "change", "duplicates", "archive", "analysis")),
    "Notifications": ("Alerts and mail.", ("alerts",)),
    "Search": ("The search index and the link graph.", ("search",)),
    "This interface": ("Who can connect, and limits.", ("web",)),
    "Network": ("Connections and their limits.", ("http", "dns", "outposts")),
    "Internals": ("Limits and storage that rarely need a change.", ("store", "frontier", "url_seen", "parse")),
}  # fmt: skip
"""Sections of settings by purpose."""
PURPOSE_OF = {section: name for name, (_, members) in PURPOSES.items() for section in members}
OTHER = "Internals"  # Where a section without a purpose is listed.


def outposts(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the outposts and their traffic."""
    return {"outposts": list_outposts(state.path)}


def has_outposts(state: AppState) -> bool:
    """Return whether the collection has outposts."""
    return bool(state.cached("has outposts", lambda: bool(list_outposts(state.path)), min_age_s=10))


def has_workers(state: AppState) -> bool:
    """Return whether several machines may share the collection."""
    return is_in_database(state.path, state.settings)


def settings(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List all settings, changed ones first."""
    words = (inputs["q"] or "").lower().split()
    found = [one for one in _all_settings(state) if _matches(one, words)]
    changed = [one for one in found if one["changed"]]
    texts = sections()
    groups = [
        {
            "name": name,
            "text": text,
            "sections": [
                {"name": section, "text": about, "settings": [one for one in found if one["section"] == section]}
                for section, about in sorted(texts.items(), key=lambda pair: _place(members, pair[0]))
                if PURPOSE_OF.get(section, OTHER) == name and any(one["section"] == section for one in found)
            ],
        }
        for name, (text, members) in PURPOSES.items()
    ]
    return {
        "q": inputs["q"],
        "count": len(found),
        "changed": changed,
        "groups": [group for group in groups if group["sections"]],
    }


def _place(members: Sequence[str], section: str) -> int:
    return members.index(section) if section in members else len(members)


def _all_settings(state: AppState) -> list[dict[str, Any]]:
    loaded = state.loaded_settings
    return [
        {
            "key": known.key,
            "section": known.section,
            "name": known.name,
            "value": show_value(known, loaded.value(known.key)),
            "default": show_value(known, known.default),
            "changed": loaded.value(known.key) != known.default,
            "origin": _origin(loaded.origins.get(known.key, "default")),
            "help": known.help,
            "meaning": describe_type(known),
            "changeable": known.key in CHANGEABLE,
        }
        for known in known_settings().values()
    ]


def _matches(one: Mapping[str, Any], words: Sequence[str]) -> bool:
    text = f"{one['key']} {one['help']} {PURPOSE_OF.get(one['section'], OTHER)}".lower().replace("_", " ")
    return all(word.replace("_", " ") in text for word in words)


def _origin(place: str) -> str:
    """Return where a value was set, without the path on this machine."""
    return place.rsplit("/", 1)[-1]


def set_setting(state: AppState, inputs: Inputs) -> ActionResult:
    """Change a setting that is safe to change."""
    key = inputs["key"]
    if key not in CHANGEABLE:
        raise BadRequest(f"{key} cannot be changed here; use: evercrawl config set", 403)
    known = known_settings()[key]
    written: object = inputs["value"].strip().strip('"')
    if known.shape not in (int, float, bool, str) and str(known.shape).startswith("tuple"):
        written = parse_list(inputs["value"])
    try:
        write_setting(collection_file(state.path), key, written)
    except ConfigError as error:
        raise BadRequest(str(error)) from error
    if key.startswith("alerts."):
        state.on_reopen()
    return ActionResult(f"{key} set to {inputs['value']}. The next crawl uses it.", "/settings")


def parse_list(text: str) -> tuple[object, ...]:
    """Return a list, written as in the settings file or with one entry per line."""
    if not text.strip().startswith("["):
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    try:
        return tuple(tomllib.loads(f"value = {text}")["value"])
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise BadRequest(f"the list is not valid: {error}") from error


def access(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show tokens, password and the audit log."""
    return {"has_password": state.auth.has_password(), **tokens(state, inputs), **audit_log(state, inputs)}


def tokens(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the tokens."""
    return {"tokens": state.auth.tokens()}


def audit_log(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List changes made here, newest first."""
    before = parse_cursor(inputs["after"])
    entries = state.auth.audit_log(NEWEST if before is None else before, inputs["limit"])
    return {"audit_log": entries, "next": f"0.{entries[-1].id}" if len(entries) == inputs["limit"] else None}


def add_token(state: AppState, inputs: Inputs) -> ActionResult:
    """Create a token; its secret is shown only once."""
    secret = state.auth.add_token(inputs["name"], AccessScope[inputs["scope"].upper()])
    number = max(token.id for token in state.auth.tokens())
    message, resource = f"New token, shown only once: {secret}", resource_path("/tokens/{id}", id=number)
    return ActionResult(message, "/access", {"id": number, "token": secret}, resource, has_secret=True)


def revoke_token(state: AppState, inputs: Inputs) -> ActionResult:
    """Revoke a token."""
    if not state.auth.revoke_token(inputs["id"]):
        raise BadRequest("there is no such token", 404)
    return ActionResult("Token revoked.", "/access")


def set_password(state: AppState, inputs: Inputs) -> ActionResult:
    """Set the password and end all sessions."""
    if len(inputs["password"]) < MIN_PASSWORD_CHARS:
        raise BadRequest(f"a password needs at least {MIN_PASSWORD_CHARS} characters")
    state.auth.set_password(inputs["password"])
    return ActionResult("Password set. Log in again.", "/login")


def cluster(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the workers of the cluster."""
    if not is_in_database(state.path, state.settings):
        return {"in_database": False, "workers": [], "shards": state.settings.store.shards, "owned": 0}
    from evercrawl.collection.workers import list_workers

    found = list_workers(state.path, state.settings.store.url)
    return {
        "in_database": True,
        "shards": state.settings.store.shards,
        "owned": sum(member.shards for member in found),
        "workers": [member._asdict() | {"id": str(member.id)} for member in found],
    }


def drain_worker(state: AppState, inputs: Inputs) -> ActionResult:
    """Stop a worker, or all, after the current requests."""
    if not is_in_database(state.path, state.settings):
        raise BadRequest("this collection is stored in files, so it has no cluster", 409)
    from evercrawl.collection.workers import drain_workers

    count = drain_workers(state.path, inputs["worker"], state.settings.store.url)
    if not count:
        raise BadRequest("no worker id starts with this", 404)
    return ActionResult(f"Stopping {plural(count, 'worker')} at the next heartbeat.", "/cluster", {"workers": count})
