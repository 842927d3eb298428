"""Every view, action and protocol route. A new page is a row here, a function in `pages/` and a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evercrawl.model.reason import Reason
from evercrawl.web.auth import MAX_PASSWORD_CHARS, AccessScope
from evercrawl.web.pages import administration, alerts, changes_page, crawl, history, overview, search, site_pages
from evercrawl.web.protocols import announcements, atom_feeds, cdx, streams
from evercrawl.web.route import AFTER, API, Action, Parameter, View, limit

_URL = Parameter("url", "URL of the page.", "url", required=True)
_SITE = Parameter("name", "Origin or host of the site, such as https://example.org.", required=True)
_REASONS = tuple(reason.value for reason in Reason)
_RULE = (
    Parameter("pattern", "The pattern, as in the list.", required=True),
    Parameter("site", "Only on this site. Default: all."),
)

VIEWS: tuple[View, ...] = (
    View("overview", "/", "Show the collection at a glance.", overview.overview, title="Overview"),
    View("live", "/live", "Show the running crawl and the newest visits.", overview.live, title="Live"),
    View(
        "changes",
        "/changes",
        "List changes in groups, the most significant first.",
        changes_page.changes,
        (
            Parameter("since", "Changes since then: 7d, yesterday, 2026-11-01. Default: 7d.", "time"),
            Parameter("site", "Only on this site."),
            Parameter("noise", "Also list what the last visits called noise.", "bool", default=False),
            Parameter(
                "state", "Unread, read, muted, or all changes.", "choice", default="unread", choices=changes_page.STATES
            ),
            limit(50, 200),
        ),
        title="Changes",
    ),
    View(
        "search",
        "/search",
        "Search the text of every version.",
        search.search,
        (*search.SEARCH_PARAMETERS, limit(20, 100)),
        title="Search",
    ),
    View("sites", "/sites", "List the sites.", site_pages.sites, (AFTER, limit()), title="Sites"),
    View("frontier", "/frontier", "List queued and due pages.", crawl.frontier, (AFTER, limit()), title="Frontier"),
    View(
        "skipped",
        "/skipped",
        "List URLs that were not fetched, with reasons.",
        crawl.skipped,
        (Parameter("reason", "Only with this reason.", "choice", choices=_REASONS), AFTER, limit()),
        title="Skipped",
    ),
    View(
        "traps",
        "/traps",
        "List crawler traps with evidence; with a pattern, preview a rule.",
        site_pages.traps,
        (
            Parameter("pattern", "Preview what excluding this pattern would affect."),
            Parameter("site", "Only on this site."),
        ),
        title="Traps",
    ),
    View(
        "alerts",
        "/alerts",
        "List the alerts; with a name, preview a new alert.",
        alerts.alerts,
        (Parameter("name", "Name of a new alert to preview."), *alerts.ALERT_PARAMETERS),
        scope=AccessScope.OPERATE,
        title="Alerts",
    ),
    View("websub", "/websub", "List WebSub subscriptions and announced pages.", alerts.websub, title="WebSub"),
    View("runs", "/runs", "List the runs, newest first.", overview.runs, (AFTER, limit()), title="Runs"),
    View("outposts", "/outposts", "List the outposts and their traffic.", administration.outposts, title="Outposts"),
    View("cluster", "/cluster", "List the workers of the cluster.", administration.cluster, title="Cluster"),
    View("settings", "/settings", "List all settings.", administration.settings, title="Settings"),
    View(
        "access",
        "/access",
        "Show tokens, password and the audit log.",
        administration.access,
        (AFTER, limit()),
        scope=AccessScope.ADMIN,
        title="Access",
    ),
    View(
        "alert",
        "/alert",
        "Show one alert and its messages.",
        alerts.alert,
        (*alerts.LOG_PARAMETERS, AFTER, limit()),
        scope=AccessScope.OPERATE,
    ),
    View("why", "/why", "Explain why a URL was or was not fetched.", crawl.why, (Parameter("url", "The URL.", "url"),)),
    View("site", "/site", "Show a site: pace, robots.txt, pages, changes.", site_pages.site, (_SITE, AFTER, limit())),
    View("load", "/load", "Show our load on a site.", site_pages.load, (_SITE,)),
    View("page", "/page", "Show a page: versions, visits, next visit.", history.page, (_URL,)),
    View("links", "/links", "List the links to and from a page.", search.links, (_URL,)),
    View(
        "diff",
        "/diff",
        "Compare two versions of a page.",
        history.diff,
        (
            _URL,
            Parameter("a", "Older version: v3, -1, or a time. Default: the one before the newest."),
            Parameter("b", "Newer version. Default: the newest."),
        ),
    ),
    View(
        "show",
        "/show",
        "Show a version: text, headers, links, and the archived page.",
        history.show,
        (_URL, Parameter("at", "Version: v3, -1, or a time. Default: the newest.")),
    ),
    View(
        "run",
        "/run",
        "Show the report of a run.",
        overview.run,
        (Parameter("id", "Number of the run.", "integer", required=True),),
    ),
)

ACTIONS: tuple[Action, ...] = (
    Action(
        "start-crawl",
        "Start a crawl.",
        crawl.start_crawl,
        (
            Parameter("urls", "Start URLs, separated by spaces. Default: what is due.", default=""),
            Parameter("forever", "Keep the collection up to date until stopped.", "bool", default=False),
            Parameter("refresh", "Visit every known page now.", "bool", default=False),
        ),
    ),
    Action("stop-crawl", "Stop the crawl that was started here.", crawl.stop_crawl),
    Action(
        "drain-worker",
        "Stop a worker of the cluster after its current requests.",
        administration.drain_worker,
        (Parameter("worker", "Start of its id, or `all`.", required=True),),
    ),
    Action("visit-page", "Visit a page as soon as its site allows.", crawl.visit_page, (_URL,)),
    Action("exclude-trap", "Exclude a URL pattern.", site_pages.exclude_trap, _RULE),
    Action("allow-trap", "Allow a URL pattern.", site_pages.allow_trap, _RULE),
    Action("undo-trap", "Remove your rule for a URL pattern.", site_pages.undo_trap, _RULE),
    Action(
        "slow-site",
        "Set a minimum delay between requests to a site.",
        site_pages.slow_site,
        (_SITE, Parameter("gap", "Seconds.", "integer", required=True, minimum=1, maximum=site_pages.MAX_DELAY_S)),
    ),
    Action("undo-slow-site", "Stop slowing a site down.", site_pages.undo_slow_site, (_SITE,)),
    Action(
        "mark-read",
        "Mark changes as read.",
        changes_page.mark_read,
        (
            Parameter("until", "`until` of the group or of the list.", "integer", required=True),
            Parameter("keys", "`keys` of the group. Default: all changes.", default=""),
            Parameter("site", "Without keys: only changes on this site."),
            Parameter("label", "Short description for the list of what was read.", default=""),
        ),
    ),
    Action(
        "undo-mark-read",
        "Mark changes as unread again.",
        changes_page.undo_mark_read,
        (Parameter("id", "Number of the read mark.", "integer", required=True),),
    ),
    Action(
        "mute-part",
        "Ignore changes in a part of a page or site.",
        changes_page.mute_part,
        (
            Parameter("pattern", "Text that stays the same in the part; * matches anything.", required=True),
            Parameter("page", "Only on this page (URL)."),
            Parameter("site", "On all pages of this site (origin)."),
        ),
    ),
    Action(
        "report-part",
        "Report changes in a part of a page or site even if they look like noise.",
        changes_page.report_part,
        (
            Parameter("pattern", "Text that stays the same in the part; * matches anything.", required=True),
            Parameter("page", "Only on this page (URL)."),
            Parameter("site", "On all pages of this site (origin)."),
        ),
    ),
    Action(
        "undo-mute",
        "Stop ignoring, or always reporting, changes in a part.",
        changes_page.undo_mute,
        (Parameter("id", "Number of the mute.", "integer", required=True),),
    ),
    Action(
        "add-alert",
        "Add an alert. The secret of a webhook is shown only once.",
        alerts.add_alert,
        (
            alerts.NAME_PARAMETER,
            *alerts.ALERT_PARAMETERS,
            Parameter("replace", "Replace an existing alert of this name.", "bool", default=False),
        ),
    ),
    Action("subscribe", "Subscribe to a page or feed at its hub.", alerts.subscribe, (_URL,)),
    Action(
        "unsubscribe",
        "Cancel a subscription.",
        alerts.unsubscribe,
        (Parameter("topic", "Topic of the subscription.", required=True),),
    ),
    Action("test-alert", "Send a test message now.", alerts.test_alert, (alerts.NAME_PARAMETER,)),
    Action("retry-alert", "Retry failed messages.", alerts.retry_alert, (alerts.NAME_PARAMETER,)),
    Action("pause-alert", "Stop the messages of an alert.", alerts.pause_alert, (alerts.NAME_PARAMETER,)),
    Action("resume-alert", "Send the messages of an alert again.", alerts.resume_alert, (alerts.NAME_PARAMETER,)),
    Action("remove-alert", "Remove an alert and its pending changes.", alerts.remove_alert, (alerts.NAME_PARAMETER,)),
    Action(
        "set-setting",
        "Change a setting that is safe to change.",
        administration.set_setting,
        (
            Parameter("key", "Name of the setting, such as revisit.budget.", required=True),
            Parameter("value", "Value as in the settings file; `none` for no value.", required=True),
        ),
        scope=AccessScope.ADMIN,
    ),
    Action(
        "add-token",
        "Create a token for programs. Its secret is shown only once.",
        administration.add_token,
        (
            Parameter("name", "What the token is for.", required=True),
            Parameter("scope", "What it may do.", "choice", default="read", choices=("read", "operate", "admin")),
        ),
        scope=AccessScope.ADMIN,
    ),
    Action(
        "revoke-token",
        "Revoke a token.",
        administration.revoke_token,
        (Parameter("id", "Number of the token.", "integer", required=True),),
        scope=AccessScope.ADMIN,
    ),
    Action(
        "set-password",
        f"Set a password of up to {MAX_PASSWORD_CHARS} characters and end all sessions.",
        administration.set_password,
        (Parameter("password", "The new password.", required=True),),
        scope=AccessScope.ADMIN,
        secret=frozenset({"password"}),
    ),
)

CHARTS = {
    "overview": overview.overview_charts,
    "site": site_pages.site_charts,
    "load": site_pages.load_charts,
    "frontier": crawl.frontier_charts,
    "page": history.page_charts,
}
"""Charts of pages, drawn from the data of their JSON."""


@dataclass(frozen=True, slots=True)
class ProtocolRoute:
    """A route of a standard protocol or a stream; `in_path` names the parameter at the end of the path."""

    name: str
    path: str
    text: str
    media_types: tuple[str, ...]
    methods: tuple[str, ...] = ("GET",)
    parameters: tuple[Parameter, ...] = ()
    body: tuple[Parameter, ...] = ()
    scope: AccessScope | None = AccessScope.READ  # None: open to everyone.
    in_path: str = ""
    statuses: Mapping[str, str] = field(default_factory=dict)
    is_archive: bool = False  # Open to everyone with `--public-archive`.

    @property
    def openapi_path(self) -> str:
        """Return the path as OpenAPI writes it."""
        return self.path.replace(":path}", "}")


PROTOCOLS: tuple[ProtocolRoute, ...] = (
    ProtocolRoute(
        "events", f"{API}/events", "Stream visits as they happen, as NDJSON or server-sent events.",
        ("application/x-ndjson", "text/event-stream"), parameters=streams.EVENT_PARAMETERS,
    ),
    ProtocolRoute(
        "crawl-log", "/crawl.log", "Download every visit, oldest first, in the format of Heritrix's crawl.log.",
        ("text/plain",), parameters=streams.LOG_PARAMETERS,
    ),
    ProtocolRoute(
        "cdx", "/cdx", "Query the stored versions as CDX.", ("text/plain", "application/x-ndjson"),
        parameters=cdx.CDX_PARAMETERS, is_archive=True,
    ),
    ProtocolRoute(
        "timemap-link", "/web/timemap/link/{url:path}", "Get the TimeMap of a URL (RFC 7089).",
        ("application/link-format",), in_path="url", is_archive=True,
    ),
    ProtocolRoute(
        "timemap-json", "/web/timemap/json/{url:path}", "Get the TimeMap of a URL as JSON.", ("application/json",),
        in_path="url", is_archive=True,
    ),
    ProtocolRoute(
        "timegate", "/web/{url:path}", "Get the version nearest to Accept-Datetime (TimeGate, RFC 7089).",
        ("text/html",), in_path="url", is_archive=True,
        statuses={"302": "The nearest version, on the origin of archived pages."},
    ),
    ProtocolRoute(
        "indexnow", "/indexnow", "Announce changed pages as the owner of a site (IndexNow).", ("text/plain",),
        methods=("GET", "POST"), parameters=announcements.INDEXNOW_PARAMETERS, body=announcements.INDEXNOW_BODY,
        scope=None, statuses={"202": "Accepted.", "422": "The URLs are not of the host or the collection."},
    ),
    ProtocolRoute(
        "websub", "/websub/{token}", "Confirm a subscription or deliver updates as a hub (WebSub).", ("text/plain",),
        methods=("GET", "POST"), parameters=announcements.WEBSUB_PARAMETERS, scope=None, in_path="token",
        statuses={"202": "Accepted.", "410": "The subscription has ended."},
    ),
    ProtocolRoute(
        "changes-atom", "/changes.atom", "Get an Atom feed of changes.", ("application/atom+xml",),
        parameters=atom_feeds.CHANGES_PARAMETERS,
    ),
    ProtocolRoute(
        "search-atom", "/search.atom", "Get an Atom feed of a search.", ("application/atom+xml",),
        parameters=atom_feeds.SEARCH_FEED_PARAMETERS,
    ),
    ProtocolRoute(
        "alert-atom", "/alert.atom", "Get the Atom feed of an alert.", ("application/atom+xml",),
        parameters=(alerts.NAME_PARAMETER,),
    ),
    ProtocolRoute("metrics", "/metrics", "Get metrics for Prometheus.", ("text/plain",)),
    ProtocolRoute("healthz", "/healthz", "Check that the process responds.", ("text/plain",), scope=None),
    ProtocolRoute("readyz", "/readyz", "Check that the collection can be read.", ("text/plain",), scope=None),
)  # fmt: skip
