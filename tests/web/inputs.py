"""What the tests ask every view with."""

from __future__ import annotations

from urllib.parse import quote

from evercrawl.web.route import API, Action, View, path_parameters, resource_path
from tests.web.hostile import PAGES, SITE, TRICKS

ALERT = "ferry"
"""An alert of the collection that the tests look at."""
HOSTILE = next(iter(PAGES))


def values_of(view: View, url: str = HOSTILE) -> dict[str, str]:
    """A value for each parameter that the view needs."""
    name = ALERT if view.name == "alert" else SITE
    values = {"url": url, "name": name, "id": "0"}
    return {one.name: values[one.name] for one in view.parameters if one.required}


def query_of(view: View, url: str = HOSTILE) -> str:
    """The same as the end of an address."""
    asked = [f"{name}={quote(value, safe='')}" for name, value in values_of(view, url).items()]
    return "?" + "&".join(asked) if asked else ""


def resource_of(one: View | Action, url: str = HOSTILE) -> str:
    """The resource of a view or action, with a value for each parameter."""
    values = {"url": url, "name": ALERT if "/alerts" in one.resource else SITE, "id": "0", "at": "v1", "key": "x"}
    values |= {"topic": url, "worker": "all"}
    path = resource_path(one.resource, **values)
    in_path = path_parameters(one.resource)
    assert path.startswith(API)
    asked = [] if isinstance(one, Action) else [name for name in values_of(one) if name not in in_path]
    return path + ("?" + "&".join(f"{name}={quote(values[name], safe='')}" for name in asked) if asked else "")


def tricky_paths() -> list[str]:
    """Pages asked with what somebody may have typed, and pages that show much of what was crawled."""
    typed = [quote(trick, safe="") for trick in TRICKS]
    first = quote(HOSTILE, safe="")
    asked = [
        "/search?q=attack+harbour",
        "/search?q=attack&site=harbour.example&changed=%3E30d",
        "/changes?since=30d&state=all&noise=true",
        "/changes?since=30d&state=read",
        "/changes?since=30d&state=muted",
        f"/diff?url={first}&a=v1&b=v2",
        f"/show?url={first}&at=v1",
        "/skipped?limit=500",
        "/frontier?limit=500",
        f"/site?name={quote(SITE, safe='')}&limit=500",
        "/alert?name=ferry&state=failed",
        "/alerts?name=news&patterns=https://harbour.example/*&query=attack&channel=atom",
        "/api",
        "/login",
    ]
    for trick in typed:
        asked += [
            f"/search?q={trick}",
            f"/search?q=attack&as_of={trick}",
            f"/search?q=attack&site={trick}",
            f"/changes?site={trick}",
            f"/changes?since={trick}",
            f"/traps?preview={trick}&preview_site={trick}&pattern={trick}",
            f"/pages?url={trick}&site={trick}&status={trick}&sort={trick}&columns={trick}&after={trick}",
            f"/skipped?reason={trick}&url=!{trick}",
            f"/why?url={trick}",
            f"/page?url={trick}",
            f"/site?name={trick}",
            f"/load?name={trick}",
            f"/links?url={trick}",
            f"/alerts?name=x&pages={trick}&query={trick}&address={trick}&quiet_hours={trick}",
            f"/alerts?name={trick}&channel=mail&address={trick}",
            f"/alert?name={trick}",
            f"/run?id={trick}",
            f"/nowhere/{trick}",
            f"/?done={trick}&proof={trick}",
            f"/owner/{trick}?name={trick}",
            f"/login?next={trick}",
        ]
    return asked


def urls_for(view: View) -> list[str]:
    """Every hostile page for a view of pages; one for others."""
    return list(PAGES) if "url" in values_of(view) else [HOSTILE]
