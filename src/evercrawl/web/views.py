"""Every view, action and protocol route. A new page is a row here, a function in `pages/` and a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evercrawl.collection.table_view import table_columns
from evercrawl.errors import BugFound
from evercrawl.web.access_control import UPLOAD_PATH
from evercrawl.web.auth import MAX_PASSWORD_CHARS, AccessScope
from evercrawl.web.data_views import DATA_ACTIONS, DATA_RESOURCES, DATA_VIEWS
from evercrawl.web.pages import (
    add_site,
    administration,
    alerts,
    changes_page,
    crawl,
    history,
    overview,
    reports,
    search,
    site_pages,
)
from evercrawl.web.pages.field_pages import FIELD_ACTIONS, FIELD_VIEWS, field_charts
from evercrawl.web.protocols import announcements, atom_feeds, cdx, streams
from evercrawl.web.route import AFTER, API, SITE_PARAMETER, URL_PARAMETER, Action, Parameter, View, limit
from evercrawl.web.table_page import table_parameters

_URL, _SITE = URL_PARAMETER, SITE_PARAMETER
_RULE = (
    Parameter("pattern", "The pattern, as in the list.", required=True),
    Parameter("site", "Only on this site. Default: all."),
)
_PAGE_COLUMNS = table_columns("pages")


def _table(name: str, key: str) -> dict[str, Any]:
    """Return the arguments of a view that shows a table of the store."""
    columns = table_columns(name)
    return {"parameters": table_parameters(columns), "table": key, "columns": columns}


VIEWS: tuple[View, ...] = (
    View("overview", "/", "/overview", "Show the collection at a glance.", overview.overview, title="Overview"),
    View("add", "/add", "/previews", "Show a look at new sites.", add_site.add, add_site.LOOK_PARAMETERS),
    View("live", "/live", "/runs/current", "Show the running crawl and the newest visits.", overview.live,
        title="Live", group="Crawl"),
    View("changes", "/changes", "/changes", "List changes in groups, the most significant first.",
        changes_page.changes, (
        Parameter("since", "Changes since then: 7d, yesterday, 2026-11-01. Default: 7d.", "time"),
        Parameter("site", "Only on this site."),
        Parameter("noise", "Also list what the last visits called noise.", "bool", default=False), Parameter(
        "state", "Unread, read, muted, or all changes.", "choice", default="unread", choices=changes_page.STATES),
        limit(50, 200),), title="Changes"),
    View("search", "/search", "/search", "Search the text of every version.", search.search,
        (*search.SEARCH_PARAMETERS, limit(20, 100)), title="Search"),
    View("sites", "/sites", "/sites", "List the sites.", site_pages.sites, title="Sites", **_table("sites", "sites")),
    View("pages", "/pages", "/pages", "List the pages.", site_pages.pages, title="Pages", group="Crawl",
        **_table("pages", "pages")),
    View("versions", "/versions", "/versions", "List the versions of all pages.", site_pages.all_versions,
        **_table("versions", "versions")),
    View("change-list", "/change-list", "/change-list", "List single changes, newest first.",
        changes_page.change_list, **_table("change-list", "changes")),
    View("frontier", "/frontier", "/queue", "List queued and due pages.", crawl.frontier, title="Queue",
        group="Crawl", **_table("queue", "pages")),
    View("skipped", "/skipped", "/skipped", "List URLs that were not fetched, with reasons.", crawl.skipped,
        title="Skipped", group="Crawl", **_table("skipped", "skipped")),
    View("traps", "/traps", "/traps", "List crawler traps with evidence; or preview a rule.", site_pages.traps, (
        *table_parameters(site_pages.TRAP_COLUMNS),
        Parameter("preview", "Preview what excluding this pattern would affect."),
        Parameter("preview_site", "Only on this site."),), table="traps", columns=site_pages.TRAP_COLUMNS,
        title="Traps", group="Crawl"),
    View("alerts", "/alerts", "/alerts", "List the alerts; with a name, preview a new alert.", alerts.alerts,
        (Parameter("name", "Name of a new alert to preview."), *alerts.ALERT_PARAMETERS), scope=AccessScope.OPERATE,
        title="Alerts"),
    View("websub", "/websub", "/subscriptions", "List WebSub subscriptions and announced pages.", alerts.websub,
        title="WebSub", group="Advanced", is_used=alerts.has_subscriptions),
    View("runs", "/runs", "/runs", "List the runs, newest first.", overview.runs,
        table_parameters(overview.RUN_COLUMNS), table="runs", columns=overview.RUN_COLUMNS, title="Runs",
        group="Crawl"),
    View("outposts", "/outposts", "/outposts", "List the outposts and their traffic.", administration.outposts,
        title="Outposts", group="Advanced", is_used=administration.has_outposts),
    View("cluster", "/cluster", "/workers", "List the workers of the cluster.", administration.cluster,
        title="Cluster", group="Advanced", is_used=administration.has_workers),
    View("settings", "/settings", "/settings", "List all settings, changed ones first.", administration.settings,
        (Parameter("q", "Only settings with these words."),), title="Settings"),
    *DATA_VIEWS,
    View("access", "/access", "", "Show tokens, password and the audit log.", administration.access,
        (AFTER, limit()), scope=AccessScope.ADMIN, title="Access", group="Advanced"),
    View("alert", "/alert", "/alerts/{name}", "Show one alert and its messages.", alerts.alert,
        (*alerts.LOG_PARAMETERS, AFTER, limit()), scope=AccessScope.OPERATE),
    View("why", "/why", "/pages/{url}/why", "Explain why a URL was or was not fetched.", crawl.why,
        (Parameter("url", "The URL.", "url"),)),
    View("site", "/site", "/sites/{name}", "Show a site: pace, robots.txt, pages, changes.", site_pages.site,
        (_SITE, *(one for one in table_parameters(_PAGE_COLUMNS) if one.name != "site")), table="pages",
        columns=_PAGE_COLUMNS),
    View("load", "/load", "/sites/{name}/load", "Show our load on a site.", site_pages.load, (_SITE,)),
    View("page", "/page", "/pages/{url}", "Show a page: versions, visits, next visit.", history.page,
        (_URL, Parameter("checked", "A visit was requested at this time; say whether it is still to come.", "time"))),
    View("links", "/links", "/pages/{url}/links", "List the links to and from a page.", search.links, (_URL,)),
    View("diff", "/diff", "/pages/{url}/diff", "Compare two versions of a page.", history.diff,
        (_URL, *history.DIFF_PARAMETERS)),
    View("show", "/show", "/pages/{url}/versions/{at}",
        "Show a version: text, headers, links, and the archived page.", history.show,
        (_URL, Parameter("at", "Version: v3, -1, or a time. Default: the newest."))),
    View("run", "/run", "/runs/{id}", "Show the report of a run.", overview.run,
        (Parameter("id", "Number of the run.", "integer", required=True),)),
    *FIELD_VIEWS,
)  # fmt: skip

ACTIONS: tuple[Action, ...] = (
    *FIELD_ACTIONS,
    Action("start-crawl", "POST /runs", "Start a crawl.", crawl.start_crawl, (
        Parameter("urls", "Start URLs, separated by spaces. Default: what is due.", default=""),
        Parameter("forever", "Keep the collection up to date until stopped.", "bool", default=False),
        Parameter("refresh", "Visit every known page now.", "bool", default=False),), status=202),
    Action(
        "look-at-sites", "POST /previews", "Look at new sites.", add_site.look_at_sites, (add_site.URLS,), status=202),
    Action("add-sites", "POST /sites", "Add URLs to crawl.", add_site.add_sites, add_site.ADD_PARAMETERS, status=202),
    Action("stop-crawl", "DELETE /runs/current", "Stop the running crawl.", crawl.stop_crawl, status=202),
    Action("update-crawl", "PATCH /runs/current", "Pause or resume crawling, or visit every known page now.",
        crawl.update_crawl, (Parameter("paused", "Send no requests.", "bool"),
        Parameter("refresh", "Visit every known page now.", "bool", default=False),)),
    *DATA_ACTIONS,
    Action("drain-worker", "DELETE /workers/{worker}", "Stop a worker of the cluster after its current requests.",
        administration.drain_worker, (Parameter("worker", "Start of its id, or `all`.", required=True),),
        status=202),
    Action("visit-page", "POST /pages/{url}/visits", "Visit a page as soon as its site allows.", crawl.visit_page,
        (_URL,), status=202),
    Action("set-trap-rule", "POST /trap-rules", "Exclude or allow a URL pattern.", site_pages.set_trap_rule,
        (*_RULE, Parameter("action", "What to do with it.", "choice", required=True, choices=("exclude", "allow"))),
        status=201),
    Action("undo-trap", "DELETE /trap-rules", "Remove your rule for a URL pattern.", site_pages.undo_trap, _RULE,
        status=204),
    Action("slow-site", "PUT /sites/{name}/delay", "Set a minimum delay between requests to a site.",
        site_pages.slow_site,
        (_SITE, Parameter("gap", "Seconds.", "integer", required=True, minimum=1, maximum=site_pages.MAX_DELAY_S))),
    Action("undo-slow-site", "DELETE /sites/{name}/delay", "Stop slowing a site down.", site_pages.undo_slow_site,
        (_SITE,), status=204),
    Action("mark-read", "POST /read-marks", "Mark changes as read.", changes_page.mark_read, (
        Parameter("until", "`until` of the group or of the list.", "integer", required=True),
        Parameter("keys", "`keys` of the group. Default: all changes.", default=""),
        Parameter("site", "Without keys: only changes on this site."),
        Parameter("label", "Short description for the list of what was read.", default=""),), status=201),
    Action("undo-mark-read", "DELETE /read-marks/{id}", "Mark changes as unread again.",
        changes_page.undo_mark_read, (Parameter("id", "Number of the read mark.", "integer", required=True),),
        status=204),
    Action("mute-part", "POST /mutes", "Ignore changes in a part of a page or site.", changes_page.mute_part, (
        Parameter("pattern", "Text that stays the same in the part; * matches anything.", required=True),
        Parameter("page", "Only on this page (URL)."), Parameter("site", "On all pages of this site (origin)."),),
        status=201),
    Action("report-part", "POST /reported-parts",
        "Report changes in a part of a page or site even if they look like noise.", changes_page.report_part, (
        Parameter("pattern", "Text that stays the same in the part; * matches anything.", required=True),
        Parameter("page", "Only on this page (URL)."), Parameter("site", "On all pages of this site (origin)."),),
        status=201),
    Action("undo-mute", "DELETE /mutes/{id}", "Stop ignoring, or always reporting, changes in a part.",
        changes_page.undo_mute, (Parameter("id", "Number of the mute.", "integer", required=True),), status=204),
    Action("add-alert", "POST /alerts", "Add an alert. The secret of a webhook is shown only once.",
        alerts.add_alert, (alerts.NAME_PARAMETER, *alerts.ALERT_PARAMETERS,
        Parameter("replace", "Replace an existing alert of this name.", "bool", default=False),), status=201),
    Action("subscribe", "POST /subscriptions", "Subscribe to a page or feed at its hub.", alerts.subscribe, (_URL,),
        status=202),
    Action("unsubscribe", "DELETE /subscriptions/{topic}", "Cancel a subscription.", alerts.unsubscribe,
        (Parameter("topic", "Topic of the subscription.", required=True),), status=202),
    Action("test-alert", "POST /alerts/{name}/tests", "Send a test message now.", alerts.test_alert,
        (alerts.NAME_PARAMETER,)),
    Action("retry-alert", "POST /alerts/{name}/retries", "Retry failed messages.", alerts.retry_alert,
        (alerts.NAME_PARAMETER,), status=202),
    Action("update-alert", "PATCH /alerts/{name}", "Pause or resume an alert.", alerts.update_alert,
        (alerts.NAME_PARAMETER, Parameter("paused", "Send no messages.", "bool", required=True))),
    Action("remove-alert", "DELETE /alerts/{name}", "Remove an alert and its pending changes.", alerts.remove_alert,
        (alerts.NAME_PARAMETER,), status=204),
    Action("set-setting", "PATCH /settings/{key}", "Change a setting that is safe to change.",
        administration.set_setting, (
        Parameter("key", "Name of the setting, such as revisit.budget.", required=True),
        Parameter("value", "Value as in the settings file; `none` for no value.", required=True),),
        scope=AccessScope.ADMIN),
    Action("add-token", "POST /tokens", "Create a token for programs. Its secret is shown only once.",
        administration.add_token, (Parameter("name", "What the token is for.", required=True),
        Parameter("scope", "What it may do.", "choice", default="read", choices=("read", "operate", "admin")),),
        scope=AccessScope.ADMIN, status=201),
    Action("revoke-token", "DELETE /tokens/{id}", "Revoke a token.", administration.revoke_token,
        (Parameter("id", "Number of the token.", "integer", required=True),), scope=AccessScope.ADMIN, status=204),
    Action("set-password", "PUT /password",
        f"Set a password of up to {MAX_PASSWORD_CHARS} characters and end all sessions.",
        administration.set_password, (Parameter("password", "The new password.", required=True),),
        scope=AccessScope.ADMIN, secret=frozenset({"password"}), status=204),
    *site_pages.SCHEDULE_ACTIONS,
)  # fmt: skip

RESOURCES: tuple[View, ...] = (
    View("tokens", "", "/tokens", "List the tokens.", administration.tokens, scope=AccessScope.ADMIN),
    View("audit-log", "", "/audit-log", "List changes made here, newest first.", administration.audit_log,
        (AFTER, limit()), scope=AccessScope.ADMIN),
    *DATA_RESOURCES,
    View("page-versions", "", "/pages/{url}/versions", "List the versions of a page.", history.versions, (_URL,)),
    site_pages.SCHEDULE_VIEW,
    View("read-marks", "", "/read-marks", "List what was marked as read.", changes_page.read_marks),
    View("mutes", "", "/mutes", "List muted parts and parts that are always reported.", changes_page.mutes),
)  # fmt: skip
"""Views of the API alone."""


def operations(
    views: tuple[View, ...] = (*VIEWS, *RESOURCES), actions: tuple[Action, ...] = ACTIONS
) -> dict[str, dict[str, View | Action]]:
    """Return the resources of the API with their methods."""
    found: dict[str, dict[str, View | Action]] = {}
    for view in views:
        if view.resource:
            found.setdefault(view.resource, {})["GET"] = view
    for action in actions:
        if found.setdefault(action.resource, {}).setdefault(action.method, action) is not action:
            raise BugFound(f"two actions for {action.operation}")
    return found


CHARTS = {
    "overview": overview.overview_charts,
    "site": site_pages.site_charts,
    "load": site_pages.load_charts,
    "frontier": crawl.frontier_charts,
    "graph": reports.graph_charts,
    "page": history.page_charts,
    "fields": field_charts,
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
    ignores_unknown: bool = False  # Unknown parameters are no error, as its clients expect.

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
        "cdx", "/cdx", "Query the stored versions as CDX.", ("text/plain", "application/x-ndjson", "application/json"),
        parameters=cdx.CDX_PARAMETERS, is_archive=True, ignores_unknown=True,
    ),
    ProtocolRoute(
        "cdx-wayback", "/cdx/search/cdx", "Query the stored versions as in the Wayback Machine.",
        ("text/plain", "application/json"), parameters=cdx.WAYBACK_PARAMETERS, is_archive=True, ignores_unknown=True,
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
    ProtocolRoute(
        "graph-picture", "/graph.svg", "Get the structure of the collection or of a site as a picture.",
        ("image/svg+xml",), parameters=(Parameter("site", "Only this host or origin."),),
    ),
    ProtocolRoute(
        "job-file", f"{API}/jobs/{{id}}/file", "Download the file of a task.", ("application/octet-stream",),
        in_path="id",
    ),
    ProtocolRoute(
        "backup-upload", UPLOAD_PATH, "Upload the TAR file of a backup. It is checked when it is restored.",
        ("application/json",), methods=("POST",), scope=AccessScope.ADMIN, statuses={"201": "Stored."},
    ),
    ProtocolRoute(
        "backup-file", f"{API}/backups/{{name}}/file", "Download a backup as a TAR file.", ("application/x-tar",),
        in_path="name", scope=AccessScope.ADMIN,
    ),
    ProtocolRoute("metrics", "/metrics", "Get metrics for Prometheus.", ("text/plain",)),
    ProtocolRoute("healthz", "/healthz", "Check that the process responds.", ("text/plain",), scope=None),
    ProtocolRoute("readyz", "/readyz", "Check that the collection can be read.", ("text/plain",), scope=None),
)  # fmt: skip
