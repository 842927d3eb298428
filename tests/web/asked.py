"""What the tests ask every view with."""

from __future__ import annotations

from urllib.parse import quote

from evercrawl.web.route import View
from tests.web.hostile import PAGES, SITE

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


def urls_for(view: View) -> list[str]:
    """Every hostile page for a view of pages; one for others."""
    return list(PAGES) if "url" in values_of(view) else [HOSTILE]
