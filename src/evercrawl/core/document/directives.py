"""What does a page ask of robots? `<meta name=robots>` and X-Robots-Tag, the union of what is said to all and
to us.

Only refusals count: `index` or `all` takes nothing back. Names and rules are compared without regard to
case; unknown rules are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from evercrawl.model.document import Directives

EVERYBODY = ("robots", "*")
_WITH_VALUE = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
_PRODUCT = re.compile(r"[A-Za-z_-]+")
_AGENT_NAME = re.compile(r"[A-Za-z0-9_.*/-]+\Z")


def product_token(user_agent: str) -> str:
    """The name by which robots rules address us: the leading letters of a user agent, in lower case."""
    match = _PRODUCT.match(user_agent.strip())
    return match[0].lower() if match else ""


def rules_for(agent: str, metas: Iterable[tuple[str, str]], tags: Iterable[str]) -> Directives:
    """The directives for `agent` from meta elements (name, content) and the values of X-Robots-Tag."""
    said: set[str] = set()
    for name, content in metas:
        if _is_addressed(name, agent):
            said.update(rule.strip().lower() for rule in content.split(","))
    for tag in tags:
        said.update(_rules_of_tag(tag, agent))
    if not said:
        return NO_DIRECTIVES
    return Directives(
        noindex=not said.isdisjoint(("noindex", "none")),
        nofollow=not said.isdisjoint(("nofollow", "none")),
        noarchive=not said.isdisjoint(("noarchive", "nocache")),
    )


NO_DIRECTIVES = Directives()


def _is_addressed(name: str, agent: str) -> bool:
    name = name.strip().lower()
    return name in EVERYBODY or (name != "" and name == agent)


def _rules_of_tag(tag: str, agent: str) -> Iterable[str]:
    """The rules that apply to us; those behind `name:` belong to that robot, to the end of the field."""
    addressed = True
    for part in tag.split(","):
        before, colon, after = part.partition(":")
        name = before.strip().lower()
        if colon and name not in _WITH_VALUE and _AGENT_NAME.match(name):
            addressed = _is_addressed(name, agent)
            part = after
        if addressed:
            yield part.strip().lower()
