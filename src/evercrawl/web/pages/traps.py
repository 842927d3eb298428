"""Patterns of URLs that bring nothing: with evidence, a preview of what a rule would touch, and undo."""

from __future__ import annotations

from typing import Any

from evercrawl.model.site import TrapPattern
from evercrawl.web.desk import Desk
from evercrawl.web.route import Asked, Done

PATTERNS_SHOWN = 500
PATIENCE_S = 1.5
"""How long the page waits for patterns to be gathered; they are gathered before anybody asks, too."""


def gathered(desk: Desk, *, wait_s: float) -> list[TrapPattern] | None:
    """The patterns; None: they are still being gathered."""
    return desk.remembered("traps", lambda: desk.collection.traps(), wait_s=wait_s)


def traps(desk: Desk, asked: Asked) -> dict[str, Any]:
    """What is left out or asked for last; with a pattern, what a rule about it would touch."""
    known = gathered(desk, wait_s=PATIENCE_S)
    found = known or []
    effect = None
    if asked["pattern"]:
        effect = desk.collection.trap_exclude(asked["pattern"], asked["site"])
    return {
        "traps": found[:PATTERNS_SHOWN],
        "traps_in_all": len(found),
        "is_counting": known is None,
        "pattern": asked["pattern"],
        "site": asked["site"],
        "effect": effect,
    }


def exclude(desk: Desk, asked: Asked) -> Done:
    """Leave a pattern out from now on, also in a crawl that runs."""
    effect = desk.collection.trap_exclude(asked["pattern"], asked["site"], do=True)
    desk.forget("traps")
    return Done(f"{asked['pattern']} is left out: {effect.waiting:,} waiting pages", "/traps", {"effect": effect})


def allow(desk: Desk, asked: Asked) -> Done:
    """Say nothing against a pattern from now on."""
    effect = desk.collection.trap_allow(asked["pattern"], asked["site"], do=True)
    desk.forget("traps")
    return Done(f"{asked['pattern']} is allowed", "/traps", {"effect": effect})


def undo(desk: Desk, asked: Asked) -> Done:
    """Take back every word about a pattern."""
    was_there = desk.collection.trap_undo(asked["pattern"], asked["site"])
    desk.forget("traps")
    return Done("taken back" if was_there else "there was no word about it", "/traps", {"was_there": was_there})
