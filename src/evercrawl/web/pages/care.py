"""Runs, settings, and who may come in."""

from __future__ import annotations

import tomllib
from typing import Any

from evercrawl.collection.runs import live_run, past_run, past_runs
from evercrawl.config import collection_file, write_setting
from evercrawl.config.schema import known_settings, meaning_of, sections, written_form
from evercrawl.errors import ConfigError
from evercrawl.outpost.status import list_outposts
from evercrawl.web.desk import Desk
from evercrawl.web.auth import MIN_PASSWORD_CHARS, AccessScope
from evercrawl.web.parameter import BadRequest, place_of
from evercrawl.web.route import Asked, Done

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


def runs(desk: Desk, asked: Asked) -> dict[str, Any]:
    """The runs that ended, newest first, and the one under way."""
    found = past_runs(desk.path, before=place_of(asked["after"]), most=asked["limit"])
    return {
        "run": live_run(desk.path, now=desk.now()),
        "runs": found,
        "next": f"0.{found[-1].id}" if len(found) == asked["limit"] and found[-1].id else None,
    }


def run(desk: Desk, asked: Asked) -> dict[str, Any]:
    """The report of one run."""
    found = past_run(desk.path, asked["id"])
    if found is None:
        raise BadRequest("there is no such run", 404)
    return {"run": found}


def outposts(desk: Desk, asked: Asked) -> dict[str, Any]:
    """The outposts, what each has cost, and what a crawl from home would have cost."""
    return {"outposts": list_outposts(desk.path)}


def settings(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Every setting, its value, where that comes from, and whether it can be changed here."""
    configured = desk.configured
    return {
        "sections": [
            {
                "name": section,
                "text": text,
                "settings": [
                    {
                        "key": known.key,
                        "name": known.name,
                        "value": written_form(known, configured.value(known.key)),
                        "default": written_form(known, known.default),
                        "origin": _origin(configured.origins.get(known.key, "default")),
                        "help": known.help,
                        "meaning": meaning_of(known),
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


def set_setting(desk: Desk, asked: Asked) -> Done:
    """Write one setting into the collection's file; a running crawl takes it up when it is started again."""
    key = asked["key"]
    if key not in CHANGEABLE:
        raise BadRequest(f"{key} cannot be changed here; use: evercrawl config", 403)
    known = known_settings()[key]
    written: object = asked["value"].strip().strip('"')
    if known.shape not in (int, float, bool, str) and str(known.shape).startswith("tuple"):
        written = _listed(asked["value"])
    try:
        write_setting(collection_file(desk.path), key, written)
    except ConfigError as error:
        raise BadRequest(str(error)) from error
    return Done(f"{key} is now {asked['value']}", "/settings")


def _listed(text: str) -> tuple[object, ...]:
    """A list as the settings file has it, or one entry on each line."""
    if not text.strip().startswith("["):
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    try:
        return tuple(tomllib.loads(f"value = {text}")["value"])
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise BadRequest(f"the list cannot be read: {error}") from error


def access(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Tokens, whether there is a password, and the book of changes."""
    before = place_of(asked["after"])
    book = desk.keyring.book(NEWEST if before is None else before, asked["limit"])
    return {
        "has_password": desk.keyring.has_password(),
        "tokens": desk.keyring.tokens(),
        "book": book,
        "next": f"0.{book[-1].id}" if len(book) == asked["limit"] else None,
    }


def add_token(desk: Desk, asked: Asked) -> Done:
    """A new token; its secret is shown this once."""
    secret = desk.keyring.add_token(asked["name"], AccessScope[asked["scope"].upper()])
    return Done(f"the new token, which is shown only now: {secret}", "/access", {"token": secret}, once=True)


def drop_token(desk: Desk, asked: Asked) -> Done:
    """A token is worth nothing any more."""
    if not desk.keyring.drop_token(asked["id"]):
        raise BadRequest("there is no such token", 404)
    return Done("the token is worth nothing any more", "/access")


def set_password(desk: Desk, asked: Asked) -> Done:
    """A new password; every session ends."""
    if len(asked["password"]) < MIN_PASSWORD_CHARS:
        raise BadRequest(f"a password needs at least {MIN_PASSWORD_CHARS} characters")
    desk.keyring.set_password(asked["password"])
    return Done("the password is set; every session has ended", "/login")
