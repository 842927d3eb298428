"""The robots.txt files of the synthetic web, and what they mean.

Their meaning is written down here a second time and by other means than the crawler's parser, so that the
two can be held against each other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from evercrawl.testing.draw import number, pick, share, weighted

PRIVATE = "/private/"
OPENED = "/private/open/"
OTHERS_ONLY = "/drafts/"


class RobotsKind(StrEnum):
    """How a site's robots.txt behaves."""

    EMPTY = "empty"
    FOLDERS = "folders"
    DELAY = "delay"
    NAMED = "named"
    MISSING = "missing"
    FORBIDDEN = "forbidden"
    BROKEN = "broken"
    SILENT = "silent"


GOOD_KINDS = {
    RobotsKind.EMPTY: 2.0,
    RobotsKind.FOLDERS: 3.0,
    RobotsKind.DELAY: 2.0,
    RobotsKind.NAMED: 1.0,
    RobotsKind.MISSING: 2.0,
}
BAD_KINDS = (RobotsKind.FORBIDDEN, RobotsKind.BROKEN, RobotsKind.BROKEN, RobotsKind.SILENT)
DELAYS_S = (2.0, 3.0, 5.0, 10.0, 0.5)
BROKEN_HOURS = (1, 3, 8, 30)


class RobotsPlan(NamedTuple):
    """A site's rules, as the site's owner means them."""

    kind: RobotsKind
    text: str
    disallowed: tuple[str, ...]
    """Folders that we must not ask for, except `OPENED`."""
    delay_s: float | None
    broken_until_s: float
    """Until then the file answers 500, in seconds since the beginning."""

    def allows(self, path: str) -> bool:
        """What the owner means about a path, once the file could be read."""
        if path == "/robots.txt":
            return True
        if self.kind in (RobotsKind.FORBIDDEN, RobotsKind.SILENT):
            return False
        return path.startswith(OPENED) or not path.startswith(self.disallowed or ("\n",))


def robots_plan(seed: int, site: int, *, agent: str, bad: bool) -> RobotsPlan:
    """The file of one site; `agent` is the name by which one kind of file addresses us."""
    name = (seed, "robots", site)
    kind = pick(BAD_KINDS, *name, "bad") if bad else weighted(GOOD_KINDS, *name)
    delay = pick(DELAYS_S, *name, "delay") if kind is RobotsKind.DELAY else None
    broken_s = pick(BROKEN_HOURS, *name, "hours") * 3600.0 if kind is RobotsKind.BROKEN else 0.0
    disallowed = _disallowed(kind)
    return RobotsPlan(kind, _text(kind, agent, disallowed, delay, share(*name) < 0.5), disallowed, delay, broken_s)


def _disallowed(kind: RobotsKind) -> tuple[str, ...]:
    if kind in (RobotsKind.EMPTY, RobotsKind.MISSING):
        return ()
    return (PRIVATE, OTHERS_ONLY) if kind is RobotsKind.NAMED else (PRIVATE,)


def _text(kind: RobotsKind, agent: str, disallowed: tuple[str, ...], delay: float | None, comment: bool) -> str:
    if kind is RobotsKind.EMPTY:
        return "# everybody is welcome\n" if comment else ""
    rules = "".join(f"Disallow: {folder}\n" for folder in disallowed) + f"Allow: {OPENED}\n"
    if delay is not None:
        rules += f"Crawl-delay: {delay:g}\n"
    others = "User-agent: otherbot\nDisallow: /\n\n"
    if kind is RobotsKind.NAMED:
        return f"{others}User-agent: *\nDisallow: /\n\nUser-agent: {agent}\n{rules}"
    return f"{others}User-agent: *\n{rules}"


def robots_tag(plan: RobotsPlan) -> str:
    """The file's ETag."""
    return f'"robots-{number(plan.text):x}"'
