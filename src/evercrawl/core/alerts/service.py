"""Which of apprise's services may somebody name who does not sit at this machine?

An address of apprise can mean anything: a program of this machine, a file with keys, any host inside this
network. These services are always at the same place on the Internet, whatever else the address says.
"""

from __future__ import annotations

HOSTED = frozenset({
    "dingtalk", "discord", "feishu", "gchat", "guilded", "ifttt", "join", "lark", "line", "opsgenie",
    "pagerduty", "pbul", "pover", "prowl", "pushme", "schan", "simplepush", "slack", "tgram", "threema",
    "twilio", "wecombot", "whatsapp", "wxteams",
})  # fmt: skip
"""Schemes of apprise without a host in their address."""


def service_of(address: str) -> str | None:
    """The scheme of an address of apprise; None: it has none."""
    scheme, found, _ = address.partition("://")
    return scheme.strip().lower() if found else None


def problem_with(address: str) -> str | None:
    """None for an address of one of these services, otherwise what is wrong with it."""
    service = service_of(address)
    if address.count("://") > 1 or any(character.isspace() for character in address.strip()):
        # apprise takes several addresses in one text: a second could mean anything.
        return "name one address of apprise, without another address in it"
    if service in HOSTED:
        return None
    named = f"{service[:40]!r} is none of them" if service else "write it like tgram://TOKEN/CHAT"
    known = ", ".join(sorted(HOSTED))
    return f"here apprise can tell these services: {known}; {named}. The command line has all of them"


def shown(address: str) -> str:
    """The address without what is secret in it: all of it but the service."""
    return f"{service_of(address) or 'apprise'}://…"
