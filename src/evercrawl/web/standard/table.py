"""The routes that are standards or streams: what each is, and who may ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evercrawl.web.auth import AccessScope
from evercrawl.web.pages.alerts import NAMED
from evercrawl.web.parameter import Parameter
from evercrawl.web.route import API
from evercrawl.web.standard import atom, cdx, crawl_log, events, indexnow, websub


@dataclass(frozen=True, slots=True)
class Standard:
    """One route; `in_path` names what stands at the end of the path."""

    name: str
    path: str
    text: str
    media_types: tuple[str, ...]
    methods: tuple[str, ...] = ("GET",)
    parameters: tuple[Parameter, ...] = ()
    body: tuple[Parameter, ...] = ()
    scope: AccessScope | None = AccessScope.READ
    """None: anybody may ask."""
    in_path: str = ""
    statuses: Mapping[str, str] = field(default_factory=dict)
    is_archive: bool = False
    """Open to anybody with `--public-archive`."""

    @property
    def described_path(self) -> str:
        """The path as the description of the API writes it."""
        return self.path.replace(":path}", "}")


_MEMENTO = {"302": "The version that is nearest; mementos lie on the origin of replay."}

STANDARDS: tuple[Standard, ...] = (
    Standard(
        "events", f"{API}/events", "Visits as they happen, as NDJSON or server-sent events.",
        ("application/x-ndjson", "text/event-stream"), parameters=events.PARAMETERS,
    ),
    Standard(
        "crawl-log", "/crawl.log", "Every visit, oldest first, in the form of Heritrix's crawl.log.",
        ("text/plain",), parameters=crawl_log.PARAMETERS,
    ),
    Standard(
        "cdx", "/cdx", "CDX query of the stored versions.", ("text/plain", "application/x-ndjson"),
        parameters=cdx.PARAMETERS, is_archive=True,
    ),
    Standard(
        "timemap-link", "/web/timemap/link/{url:path}", "TimeMap of a URL (RFC 7089).",
        ("application/link-format",), in_path="url", is_archive=True,
    ),
    Standard(
        "timemap-json", "/web/timemap/json/{url:path}", "TimeMap of a URL as JSON.", ("application/json",),
        in_path="url", is_archive=True,
    ),
    Standard(
        "timegate", "/web/{url:path}", "TimeGate of a URL (RFC 7089): heeds Accept-Datetime.", ("text/html",),
        in_path="url", statuses=_MEMENTO, is_archive=True,
    ),
    Standard(
        "indexnow", "/indexnow", "IndexNow: pages that changed, told by their site's owner.", ("text/plain",),
        methods=("GET", "POST"), parameters=indexnow.PARAMETERS, body=indexnow.BODY, scope=None,
        statuses={"202": "Heard, and queued.", "422": "The URLs are not of the host or the collection."},
    ),
    Standard(
        "websub", "/websub/{token}", "WebSub: hubs check what we asked for, and bring news.", ("text/plain",),
        methods=("GET", "POST"), parameters=websub.PARAMETERS, scope=None, in_path="token",
        statuses={"202": "Heard.", "410": "The subscription has ended."},
    ),
    Standard(
        "changes-atom", "/changes.atom", "Atom feed of changes.", ("application/atom+xml",),
        parameters=atom.PARAMETERS,
    ),
    Standard(
        "search-atom", "/search.atom", "Atom feed of any search.", ("application/atom+xml",),
        parameters=atom.SEARCH_PARAMETERS,
    ),
    Standard(
        "alert-atom", "/alert.atom", "Atom feed that an alert writes.", ("application/atom+xml",),
        parameters=(NAMED,),
    ),
    Standard("metrics", "/metrics", "Metrics for Prometheus.", ("text/plain",)),
    Standard("healthz", "/healthz", "The process answers.", ("text/plain",), scope=None),
    Standard("readyz", "/readyz", "The collection can be read.", ("text/plain",), scope=None),
)  # fmt: skip
